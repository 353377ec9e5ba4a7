"""The tools of one agent: what it is shown, what changes it, and what is remembered of its calls."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from orgkernel import Kernel
from orgkernel.decisions.evidence.state_records import AuditFilter
from orgkernel.errors import UnknownOrganization, UsageError
from orgkernel.state.audit import read_rows
from orgkernel.state.store import Store
from orgkernel.toolbox import Handover, PythonFunction
from tests.state.opening import opened, sqlite_at
from tests.toolbox.crew import TOOLS, WORKER, organization, profile, toolbox


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with opened(sqlite_at(tmp_path), time.time) as store:  # type: ignore[arg-type]
        yield store


@pytest.fixture
def kernel(tmp_path: Path) -> Kernel:
    return organization(tmp_path)


def works(**_: Any) -> str:
    return "done"


def test_an_agent_is_shown_its_tools_and_no_others(kernel: Kernel) -> None:
    """With level, letters and actions, and whether anything serves them; essential tools are among them."""
    context = toolbox(kernel, files=PythonFunction({"read": works})).context("post", "agent:ann")
    shown = {each.tool: (each.level, each.letters, each.actions, each.served) for each in context.list()}
    own = {name for name in shown if name in TOOLS}
    assert own == {"look", "ask_around", "guess", "send", "send_later", "mail", "files", "press"}
    assert shown["files"] == ("read", "OR-", ("read",), True)
    assert shown["mail"] == ("write", "ORW", ("read", "write"), False)
    assert shown["press"] == ("write", "ORW", ("use",), False)
    assert shown.keys() - own == {"response"}
    assert [each.tool for each in context.list()] == sorted(shown)
    (mail,) = [each for each in context.list() if each.tool == "mail"]
    assert mail.input_schema is not None


def test_asking_for_one_tool(kernel: Kernel) -> None:
    """By tool, and by action; a name nothing declares is no tool."""
    context = toolbox(kernel).context("post", "agent:ann")
    assert (context.has_tool("mail"), context.has_tool("mail", "write"), context.has_tool("mail", "delete")) == (
        True, True, False,
    )  # fmt: skip
    assert (context.has_tool("vault"), context.level("vault"), context.level("nothing")) == (
        False,
        "none",
        "none",
    )


def test_what_a_context_shows_is_what_it_does(kernel: Kernel, store: Store) -> None:
    """Forward and reverse agree: for every subject, tool and action, shown is allowed and not shown is refused."""
    actions = ("use", "read", "write", "delete", "send")
    tools = ("look", "ask_around", "peek", "guess", "send", "send_later", "mail", "files", "press", "vault")
    box = toolbox(kernel, store, **{tool: PythonFunction(dict.fromkeys(actions, works)) for tool in tools})
    declared = kernel.organization("post").snapshot.index.records.tools
    ran = 0
    for subject in ("agent:ann", "agent:lea", "role:chief", "role:guest"):
        context = box.context("post", subject)
        for tool in tools:
            for action in declared[tool].record.required_levels:
                result = context.invoke_blocking(tool, action=action, fallback=False)
                assert result.ok == context.has_tool(tool, action), (subject, tool, action)
                ran += result.ok
    assert ran == 12  # nine of the worker, one each of the lead, the chief and the guest


def test_a_grant_and_a_restriction_show_at_once(kernel: Kernel, store: Store) -> None:
    """Nothing has to be told for that; `refresh` says what it changed."""
    context = toolbox(kernel, store, vault=PythonFunction(works)).context("post", "agent:ann")
    assert not context.has_tool("vault")
    context.refresh()
    grant = store.grants.issue("agent:ann", ["tool:vault"], issued_by="person:user")
    store.restrictions.issue("agent:ann", ["tool:mail"], level="read", issued_by="person:user")
    store.restrictions.issue("agent:ann", ["tool:look"], issued_by="person:user")
    changed = context.refresh()
    assert (changed.gained, changed.lost, changed.changed) == (("vault",), ("look",), ("mail",))
    assert context.invoke_blocking("vault").ok
    store.grants.revoke(grant.grant_id, actor="person:user")
    assert context.invoke_blocking("vault", fallback=False).outcome == "denied"
    assert context.refresh().lost == ("vault",)


def test_a_suspended_agent_has_nothing(kernel: Kernel, store: Store) -> None:
    """And no cascade either."""
    context = toolbox(kernel, store, look=PythonFunction(works)).context("post", "agent:ann")
    store.agents.add("ann", org_id="post", actor="person:user")
    assert context.has_tool("look")
    store.agents.move("ann", "suspended", org_id="post", actor="person:user")
    assert context.list() == ()
    result = context.invoke_blocking("look")
    assert (result.outcome, result.code, len(result.steps)) == ("denied", "AGENT_INACTIVE", 1)


@pytest.mark.parametrize("stored", [False, True])
def test_a_change_of_the_documents_shows_at_once(
    stored: bool, kernel: Kernel, tmp_path: Path, store: Store
) -> None:
    """What is served is what is asked, with a store and without."""
    box = toolbox(kernel, store if stored else None, look=PythonFunction(works))
    context = box.context("post", "agent:ann")
    less = WORKER.replace("{tool: look, level: read}, ", "")
    assert less != WORKER
    (tmp_path / "post" / "roles" / "worker.yaml").write_text(profile("worker", "specialist", "lead", less))
    kernel.reload()
    assert not context.has_tool("look")
    assert context.refresh().lost == ("look",)


def test_circumstances_are_told(kernel: Kernel) -> None:
    """An emergency leaves what is essential; what there is not cannot be told."""
    context = toolbox(kernel, look=PythonFunction(works)).context("post", "agent:ann")
    assert "look" in context.refresh(pace="emergency").lost
    assert context.invoke_blocking("look", fallback=False).code == "PACE_CAP"
    assert "look" in context.refresh(pace="primary").gained
    assert "look" in context.refresh(envelope={"tool:mail": "read"}).lost
    assert context.invoke_blocking("look", fallback=False).code == "PARENT_CAP"
    for wrong in ({"weather": "fine"}, {"input": {}}, {"now": 1.0}):
        with pytest.raises(UsageError, match="unknown circumstance"):
            context.refresh(**wrong)


def test_a_denial_names_what_is_missing_and_who_has_it(kernel: Kernel) -> None:
    """With remedies, and no output."""
    result = (
        toolbox(kernel, vault=PythonFunction(works)).context("post", "agent:ann").invoke_blocking("vault")
    )
    (step,) = [each for each in result.steps if each.kind == "tool"]
    assert (step.outcome, step.code, result.output) == ("denied", "NOT_BOUND_TO_ROLE", None)
    assert step.text
    assert step.who_can == ("role:chief",)
    assert any("grant `tool:vault`" in remedy for remedy in step.remedies)


def test_every_call_is_remembered(kernel: Kernel, store: Store) -> None:
    """The decision and how it ended, linked; denials too; uses are counted for agents."""

    def fails() -> None:
        raise ValueError

    box = toolbox(kernel, store, look=PythonFunction(works), guess=PythonFunction(fails))
    ann, lead = box.context("post", "agent:ann"), box.context("post", "role:lead")
    results = [ann.invoke_blocking(tool, fallback=False) for tool in ("look", "look", "guess", "vault")]
    lead.invoke_blocking("look", fallback=False)
    uses = {use.tool_id: (use.uses, use.failures) for use in store.usage.list(("ann",))}
    assert uses == {"look": (2, 0), "guess": (1, 1)}
    decisions = list(read_rows(store.context, AuditFilter(kind="decision")))
    assert [(row.entry.subject, row.entry.resource, row.entry.activity) for row in reversed(decisions)] == [
        ("agent:ann", "tool:look", "allow"), ("agent:ann", "tool:look", "allow"), ("agent:ann", "tool:guess", "allow"),
        ("agent:ann", "tool:vault", "deny"), ("role:lead", "tool:look", "deny"),
    ]  # fmt: skip
    usage = list(read_rows(store.context, AuditFilter(kind="usage")))
    assert [(row.entry.activity, row.entry.code) for row in reversed(usage)] == [
        ("succeeded", ""), ("succeeded", ""), ("failed", "TOOL_FAILED"),
    ]  # fmt: skip
    ids = {row.audit_id for row in decisions}
    assert {row.entry.record_id for row in usage} <= ids
    assert all(result.steps[0].audit_id in ids for result in results)


def test_what_cannot_be_written_down_does_not_run(kernel: Kernel, store: Store) -> None:
    """The audit comes before the call."""
    ran: list[int] = []
    context = toolbox(kernel, store, look=PythonFunction(lambda: ran.append(1))).context("post", "agent:ann")
    store.close()
    result = context.invoke_blocking("look", fallback=False)
    assert (result.outcome, ran) == ("unavailable", [])
    assert result.code == "STORE_FAILED"


def test_without_its_store_the_whole_cascade_is_still_a_result(kernel: Kernel, store: Store) -> None:
    """Every step says that nothing could be written down, and the top is told by the host."""
    told: list[str] = []
    handover = Handover(
        reason=lambda gap: None, ask=lambda *_: "never", report=lambda top, gap: told.append(top)
    )
    context = toolbox(kernel, store, look=PythonFunction(works), handover=handover).context(
        "post", "agent:ann"
    )
    store.close()
    result = context.invoke_blocking("look")
    assert {(step.kind, step.outcome, step.code) for step in result.steps} == {
        ("tool", "unavailable", "STORE_FAILED"), ("alternative", "unavailable", "STORE_FAILED"),
        ("own_reasoning", "no_answer", "NO_ANSWER"), ("peer", "unavailable", "STORE_FAILED"),
        ("superior", "unavailable", "STORE_FAILED"), ("top", "reported", ""),
    }  # fmt: skip
    assert (result.outcome, told) == ("reported", ["person:user"])


def test_many_agents_call_at_once(kernel: Kernel, store: Store) -> None:
    """From eight threads: every call is counted."""
    box = toolbox(kernel, store, look=PythonFunction(works))

    def work(agent: str) -> None:
        context = box.context("post", agent)
        for _ in range(20):
            assert context.invoke_blocking("look").ok

    threads = [threading.Thread(target=work, args=(f"agent:{who}",)) for who in ("ann", "bob") * 4]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [(use.agent_id, use.uses) for use in store.usage.list()] == [("ann", 80), ("bob", 80)]


def test_only_agents_and_roles_have_tools(kernel: Kernel) -> None:
    """A person cannot use the toolbox, an unknown organization is an error, and an undeclared agent has no tools."""
    with pytest.raises(UsageError, match="neither an agent nor a role"):
        toolbox(kernel).context("post", "person:user")
    with pytest.raises(UnknownOrganization):
        toolbox(kernel).context("nowhere", "agent:ann")
    assert toolbox(kernel).context("post", "agent:nobody").list() == ()
