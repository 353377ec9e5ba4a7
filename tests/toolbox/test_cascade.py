"""When a tool is unavailable: alternatives, the caller's own reasoning, the chain of command, the top; each a step."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from orgkernel import Kernel
from orgkernel.decisions.access.request import AccessContext
from orgkernel.decisions.evidence.state_records import AuditFilter
from orgkernel.errors import UsageError
from orgkernel.state.audit import read_rows
from orgkernel.toolbox import Gap, Handover, HttpApi, PythonFunction, ToolResult
from tests.state.opening import opened, sqlite_at
from tests.support.patience import PATIENCE
from tests.toolbox.crew import ORG, TOOLS, brief, organization, toolbox
from tests.toolbox.serving import nobody

DOWN = HttpApi(nobody(), "POST /a")


@pytest.fixture
def kernel(tmp_path: Path) -> Kernel:
    return organization(tmp_path)


def asked(kernel: Kernel, subject: str, tool: str, given: Any = None, /, handover: Any = None, **options: Any) -> ToolResult:  # fmt: skip
    calling = {name: options.pop(name) for name in ("action", "instead", "fallback", "may_repeat", "timeout") if name in options}  # fmt: skip
    box = toolbox(kernel, handover=handover or Handover(), **options)
    return box.context("post", subject).invoke_blocking(tool, given, **calling)


def works(**arguments: Any) -> Any:
    return {"found": arguments}


def test_alternatives_are_tried_in_the_order_they_are_declared_in(kernel: Kernel) -> None:
    """The first is unavailable, the second denied, and the first one's own alternative does it."""
    result = asked(
        kernel, "agent:ann", "look", {"where": "x"},
        look=DOWN, ask_around=DOWN, peek=PythonFunction(works), guess=PythonFunction(works),
    )  # fmt: skip
    assert brief(result) == [
        ("tool", "tool:look", "unavailable", "TOOL_UNAVAILABLE"),
        ("alternative", "tool:ask_around", "unavailable", "TOOL_UNAVAILABLE"),
        ("alternative", "tool:peek", "denied", "NOT_BOUND_TO_ROLE"),
        ("alternative", "tool:guess", "done", ""),
    ]
    assert (result.outcome, result.by, result.tool) == ("done", "tool:guess", "look")
    assert result.output == {"found": {"where": "x"}}
    assert [why.text for why in result.steps[1].why] == ["tool look falls back to tool ask_around"]
    assert result.steps[1].why[0].file.endswith("tools.yaml")
    assert result.steps[2].who_can == ("role:lead", "agent:lea")
    assert result.steps[2].remedies


def test_each_alternative_is_decided_about_anew(kernel: Kernel) -> None:
    """Its own action and level count, and one that is denied does not run."""
    ran: list[str] = []
    served = {tool: PythonFunction(lambda tool=tool: ran.append(tool) or tool) for tool in ("look", "peek")}
    result = asked(kernel, "role:lead", "look", **served)
    assert brief(result)[:3] == [
        ("tool", "tool:look", "denied", "NOT_BOUND_TO_ROLE"),
        ("alternative", "tool:ask_around", "denied", "NOT_BOUND_TO_ROLE"),
        ("alternative", "tool:peek", "done", ""),
    ]
    assert ran == ["peek"]


def test_an_alternative_may_be_given_another_input(kernel: Kernel) -> None:
    """Where it takes another one; else it gets the same."""
    result = asked(
        kernel, "agent:ann", "look", {"where": "x"}, look=DOWN, ask_around=PythonFunction(works),
        instead={"ask_around": {"whom": "bob"}},
    )  # fmt: skip
    assert result.output == {"found": {"whom": "bob"}}


@pytest.mark.parametrize(
    ("given", "code"), [({"id": 3}, "INPUT_INVALID"), ({"id": "3"}, "ACTION_UNKNOWN"), ({}, "ACTION_NEEDED")]
)
def test_a_mistake_of_the_caller_is_not_passed_on(given: Any, code: str, kernel: Kernel) -> None:
    """Another tool would not mend it."""
    action = {"INPUT_INVALID": "read", "ACTION_UNKNOWN": "burn"}.get(code, "")
    result = asked(kernel, "agent:ann", "mail", given, mail=PythonFunction({"read": works}), action=action)
    assert (len(result.steps), result.code) == (1, code)
    assert result.outcome in ("denied", "failed")
    unknown = asked(kernel, "agent:ann", "nothing")
    assert (unknown.outcome, unknown.code, len(unknown.steps)) == ("denied", "TOOL_UNKNOWN", 1)
    nobody = asked(kernel, "agent:nobody", "look", look=PythonFunction(works))
    assert (nobody.outcome, nobody.code, len(nobody.steps)) == ("denied", "UNKNOWN_PRINCIPAL", 1)


def test_without_fallback_the_first_step_is_the_result(kernel: Kernel) -> None:
    """Nothing else is tried."""
    result = asked(kernel, "agent:ann", "look", look=DOWN, ask_around=PythonFunction(works), fallback=False)
    assert (result.outcome, len(result.steps)) == ("unavailable", 1)


def test_what_may_have_happened_is_not_done_again(kernel: Kernel) -> None:
    """A message that took too long to send may have been sent; the alternative runs only when the caller says so."""
    ran: list[str] = []

    async def slow() -> None:
        await asyncio.sleep(10 * PATIENCE)

    later = PythonFunction(lambda: ran.append("later"))
    options = {"send": PythonFunction(slow), "send_later": later, "timeout": 1.0}
    careful = asked(kernel, "agent:ann", "send", **options)
    assert brief(careful) == [
        ("tool", "tool:send", "timeout", "TIMEOUT"),
        ("alternative", "tool:send_later", "skipped", "MAY_HAVE_HAPPENED"),
        ("own_reasoning", "agent:ann", "offered", ""),
    ]
    assert ran == []
    assert asked(kernel, "agent:ann", "send", **options, may_repeat=True).outcome == "done"
    assert asked(kernel, "agent:ann", "send", send=DOWN, send_later=later).outcome == "done"
    assert ran == ["later", "later"]
    # Reading twice changes nothing.
    reading = asked(
        kernel, "agent:ann", "look", look=PythonFunction(slow), ask_around=PythonFunction(works), timeout=1.0
    )
    assert reading.by == "tool:ask_around"


def test_an_alternative_without_such_an_action_is_passed_over(tmp_path: Path) -> None:
    """If a tool has several actions, no action is guessed."""
    tools = TOOLS.replace("falls_back_to: [ask_around, peek]", "falls_back_to: [files]")
    result = asked(organization(tmp_path, tools=tools), "agent:ann", "look", look=DOWN, files=PythonFunction({"read": works}))  # fmt: skip
    assert brief(result)[1] == ("alternative", "tool:files", "skipped", "NO_SUCH_ACTION")


def test_a_tool_nothing_serves_is_unavailable(kernel: Kernel) -> None:
    """The tool is declared and has no adapter; but a denial comes first, so a caller does not learn which tools have one."""
    result = asked(kernel, "agent:ann", "look", fallback=False)
    assert (result.outcome, result.code, result.error) == (
        "unavailable", "NOTHING_SERVES", "nothing serves `look` here",
    )  # fmt: skip
    assert asked(kernel, "agent:ann", "vault", fallback=False).code == "NOT_BOUND_TO_ROLE"


def test_after_the_tools_it_is_handed_back(kernel: Kernel) -> None:
    """With what was tried, and who is next; from there the caller may go on up the chain."""
    box = toolbox(kernel, look=DOWN)
    context = box.context("post", "agent:ann")
    result = context.invoke_blocking("look", {"where": "x"})
    assert (result.outcome, result.ok, result.code) == ("handed_back", False, "TOOL_UNAVAILABLE")
    assert result.error.startswith("it cannot be reached")
    assert result.next == ("agent:bob", "role:lead", "role:chief", "person:user")
    assert brief(result)[-1] == ("own_reasoning", "agent:ann", "offered", "")
    up = asyncio.run(context.escalate(result))
    assert brief(up)[-5:] == [
        ("own_reasoning", "agent:ann", "no_answer", "NO_ANSWER"),
        ("peer", "agent:bob", "skipped", "NOT_ASKED"),
        ("superior", "role:lead", "skipped", "NOT_ASKED"),
        ("superior", "role:chief", "skipped", "NOT_ASKED"),
        ("top", "person:user", "failed", "NOT_ASKED"),
    ]
    assert up.outcome == "unavailable"
    with pytest.raises(UsageError, match="was not handed back"):
        asyncio.run(context.escalate(up))


def test_the_callers_own_reasoning_may_do_without_the_tool(kernel: Kernel) -> None:
    """It is told what was tried, and its answer is the output."""
    gaps: list[Gap] = []
    result = asked(
        kernel, "agent:ann", "look", {"where": "x"}, look=DOWN,
        handover=Handover(reason=lambda gap: gaps.append(gap) or "I remember"),
    )  # fmt: skip
    assert (result.outcome, result.output, result.by) == ("done", "I remember", "agent:ann")
    assert brief(result)[-1] == ("own_reasoning", "agent:ann", "done", "")
    (gap,) = gaps
    assert (gap.tool, gap.action, gap.input, gap.code) == ("look", "use", {"where": "x"}, "TOOL_UNAVAILABLE")
    assert [step.who for step in gap.steps] == ["tool:look", "tool:ask_around", "tool:peek", "tool:guess"]
    assert gap.who_can == ("role:worker", "agent:ann", "agent:bob")


async def _no_idea(*_: Any) -> None:
    """Cannot either."""


def _breaks(*_: Any) -> Any:
    raise RuntimeError("out of ideas")


def test_then_each_superior_is_asked_nearest_first(kernel: Kernel) -> None:
    """With whether it may use the tool itself and which agents fill it; its answer is the output."""
    told: list[str] = []

    async def ask(superior: str, gap: Gap) -> Any:
        told.append(superior)
        return "the chief knows" if superior == "role:chief" else None

    result = asked(
        kernel, "agent:ann", "vault", vault=PythonFunction(works), handover=Handover(reason=_no_idea, ask=ask)
    )
    assert told == ["role:lead", "role:chief"]
    assert (result.outcome, result.output, result.by) == ("done", "the chief knows", "role:chief")
    assert brief(result) == [
        ("tool", "tool:vault", "denied", "NOT_BOUND_TO_ROLE"),
        ("own_reasoning", "agent:ann", "no_answer", "NO_ANSWER"),
        ("superior", "role:lead", "no_answer", "NO_ANSWER"),
        ("superior", "role:chief", "done", ""),
    ]
    lead, chief = result.steps[2:]
    assert lead.metadata == {"may_use_the_tool": "deny", "agents": ["lea"]}
    assert chief.metadata == {"may_use_the_tool": "allow", "agents": []}
    assert [why.text for why in lead.why] == ["role worker reports to role lead"]
    assert lead.why[0].line > 0


@pytest.mark.parametrize(
    "run",
    [
        {"on_behalf_of": "person:user"},
        {"on_behalf_of": "role:guest", "via": ["role:chief", "role:lead"]},
        {"envelope": {"tool:mail": "read"}},
        {"circumstances": AccessContext(depth=9, children=9, pace="emergency")},
        {"via": ["role:lead"] * 9},
    ],
)  # fmt: skip
@pytest.mark.parametrize("strict", [False, True])
def test_no_run_keeps_an_agent_from_its_superiors(run: Any, strict: bool, tmp_path: Path) -> None:
    """The permissions of the principal limit the run, however little was passed on and however deep it is."""
    kernel = organization(tmp_path, org=f"{ORG}limits: {{delegation: strict}}\n" if strict else ORG)
    handover = Handover(reason=_no_idea, ask=lambda superior, gap: f"{superior} knows")
    box = toolbox(kernel, vault=PythonFunction(works), handover=handover)
    result = box.context("post", "agent:ann", **run).invoke_blocking("vault")
    assert brief(result)[-1] == ("superior", "role:lead", "done", "")
    assert (result.outcome, result.by) == ("done", "role:lead")


def test_what_a_superior_may_do_itself_is_asked_in_the_same_run(kernel: Kernel) -> None:
    """The subject that triggered the run limits it; the resources passed to the subject do not widen it."""
    handover = Handover(reason=_no_idea, ask=_no_idea)
    box = toolbox(kernel, vault=PythonFunction(works), handover=handover)
    for run, able in (
        ({"envelope": {"tool:mail": "read"}, "via": ["role:chief"]}, "allow"),
        ({"on_behalf_of": "role:chief"}, "allow"),
        ({"on_behalf_of": "role:guest"}, "deny"),
    ):
        result = box.context("post", "agent:ann", **run).invoke_blocking("vault")
        (chief,) = [step for step in result.steps if step.who == "role:chief"]
        assert chief.metadata["may_use_the_tool"] == able, run


def test_a_suspension_in_the_run_ends_the_cascade(kernel: Kernel, tmp_path: Path) -> None:
    """No other tool is tried and no other agent is asked."""
    with opened(sqlite_at(tmp_path)) as store:
        store.agents.add("lea", org_id="post", actor="person:user", lifecycle="suspended")
        box = toolbox(kernel, store, look=PythonFunction(works), handover=Handover(reason=_no_idea))
        result = box.context("post", "agent:ann", via=["agent:lea"]).invoke_blocking("look")
        assert brief(result) == [("tool", "tool:look", "denied", "AGENT_INACTIVE")]
        assert result.error == "agent `lea`, who is on the path of delegation, is suspended"
        assert box.context("post", "agent:ann").invoke_blocking("look").outcome == "done"


def test_a_peer_who_can_use_the_tool_is_asked_before_a_superior(kernel: Kernel) -> None:
    """Its answer is the output, and the step names the line that assigns its role."""
    handover = Handover(reason=_no_idea, ask=lambda helper, gap: f"{helper} did {gap.tool}")
    result = asked(kernel, "agent:ann", "look", look=DOWN, handover=handover)
    assert (result.outcome, result.by, result.output) == ("done", "agent:bob", "agent:bob did look")
    peer = result.steps[-1]
    assert (peer.kind, peer.metadata["may_use_the_tool"]) == ("peer", "allow")
    assert peer.why[0].file.endswith("crew.yaml")


def test_at_last_the_top_is_told(kernel: Kernel, tmp_path: Path) -> None:
    """Through the host and in the audit; what fails on the way is a step too."""
    reports: list[tuple[str, str]] = []
    handover = Handover(reason=_breaks, ask=_breaks, report=lambda top, gap: reports.append((top, gap.text)))
    with opened(sqlite_at(tmp_path)) as store:
        box = toolbox(kernel, store, look=DOWN, handover=handover)
        result = box.context("post", "agent:ann").invoke_blocking("look")
        assert brief(result)[-5:] == [
            ("own_reasoning", "agent:ann", "failed", "NO_ANSWER"),
            ("peer", "agent:bob", "failed", "NO_ANSWER"),
            ("superior", "role:lead", "failed", "NO_ANSWER"),
            ("superior", "role:chief", "failed", "NO_ANSWER"),
            ("top", "person:user", "reported", ""),
        ]
        assert result.outcome == "reported"
        assert result.steps[-2].text == "RuntimeError: out of ideas"
        assert [top for top, _ in reports] == ["person:user"]
        (row,) = read_rows(store.context, AuditFilter(activity="reported"))
        assert row.audit_id == result.steps[-1].audit_id
        assert (row.entry.subject, row.entry.actor, row.entry.resource, row.entry.code) == (
            "agent:ann", "person:user", "tool:look", "TOOL_UNAVAILABLE",
        )  # fmt: skip


def test_a_report_without_a_receiver_is_stated(kernel: Kernel) -> None:
    """Then no superior learns of it, and the result says so."""
    result = asked(kernel, "agent:ann", "look", look=DOWN, handover=Handover(reason=_no_idea, report=_breaks))
    assert (result.outcome, brief(result)[-1]) == (
        "unavailable", ("top", "person:user", "failed", "NOT_ASKED"),
    )  # fmt: skip


def test_a_role_at_the_top_reports_to_the_user(kernel: Kernel) -> None:
    """The role has no superior to ask."""
    told: list[str] = []
    handover = Handover(reason=_no_idea, ask=_breaks, report=lambda top, gap: told.append(top))
    result = asked(kernel, "role:chief", "look", look=DOWN, handover=handover)
    assert brief(result)[-2:] == [
        ("own_reasoning", "role:chief", "no_answer", "NO_ANSWER"), ("top", "person:user", "reported", ""),
    ]  # fmt: skip
    assert told == ["person:user"]


def test_an_approval_that_is_missing_is_waited_for(tmp_path: Path) -> None:
    """No other tool bypasses the denial."""
    kernel = organization(tmp_path)
    (tmp_path / "post" / "policies.yaml").write_text(
        "_schema: orgkernel:access_policies\npolicies:\n  look_asks:\n    match: {principal: {role: worker}}\n"
        "    effect: ask\n    permissions: {tools: [look]}\n"
    )
    kernel.reload()
    assert [str(found) for found in kernel.check() if found.place.file.endswith("policies.yaml")] == []
    result = asked(kernel, "agent:ann", "look", look=PythonFunction(works), ask_around=PythonFunction(works))
    assert (result.outcome, result.code, len(result.steps)) == ("ask", "ASK_APPROVAL", 1)
