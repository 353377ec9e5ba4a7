"""Hand-offs one after the other: what the log knows counts, and not what is stated."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from orgkernel.decisions.evidence.state_records import HandoffRecord
from orgkernel.decisions.handoff.briefs import HandoffBriefs
from orgkernel.decisions.handoff.permission import HandoffQuestion
from orgkernel.decisions.work.contracts.reading import (
    CheckedContract,
    ReadContract,
    check_read_contract,
    read_contract,
)
from orgkernel.errors import Refused
from orgkernel.kernel.kernel import Kernel
from orgkernel.loading.files import decode
from orgkernel.operations.context import Actor, Context
from orgkernel.operations.contracts import record_contract
from orgkernel.operations.handoffs import HandoffOrder, record_handoff
from tests.operations.surfaces import place_in
from tests.state.opening import Clock, opened
from tests.support.contracts import as_text, changed
from tests.support.trees import copy_template

CREW = """
_schema: orgkernel:crew_roster
agents:
  ada: {callsign: Ada, rank: ensign, assignments: [{role: planner}]}
  max: {callsign: Max, rank: ensign, assignments: [{role: planner}]}
  wanda: {callsign: Wanda, rank: ensign, assignments: [{role: worker}]}
"""


JUNE = 1_780_272_000.0  # 2026-06-01T00:00:00Z


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Kernel:
    """Omega, with two planners and a worker."""
    folder = copy_template(tmp_path_factory.mktemp("omega") / "omega", "omega")
    (folder / "crew.yaml").write_text(CREW, encoding="utf-8")
    kernel = Kernel.open(folder)
    assert [each.message for each in kernel.check() if each.severity.value == "error"] == []
    return kernel


@pytest.fixture
def clock() -> Clock:
    """A time after those that the contracts state."""
    return Clock(JUNE)


@pytest.fixture
def context(kernel: Kernel, clock: Clock, quick_folder: Path) -> Iterator[Context]:
    """An operator, and a human who has handed work to the intake."""
    with opened(place_in(quick_folder), clock) as store:
        there = kernel.with_store(store, lambda: (clock(), 0))
        context = Context(there, store, Actor("system:cli"))
        hand_down(context, "human", "intake", session="shop", depth=0)
        yield context


def text_of(contract: dict[str, Any]) -> ReadContract:
    return read_contract(decode("contract", "contract", as_text(contract).encode()))


def brief(number: int, *files: str, parent: int | None = None) -> ReadContract:
    above = {} if parent is None else {"parent": identity(parent)}
    owned = {"spec.scope.files_owned": [*files], "spec.scope.destructive": []}
    return text_of(changed("brief", {"audit_gates": [], "id": identity(number), **owned, **above}))


def done(number: int, session: str) -> CheckedContract:
    """The result of a session, by a brief."""
    gates = {"audit.gates_required": [], "audit.gates_passed": []}
    said = {"brief": identity(number), "session": session, "agent": "wanda", **gates}
    return check_read_contract(text_of(changed("result", said)))


def identity(number: int) -> str:
    return f"6f1c1d3a-8a52-4d0e-9a3b-{number:012d}"


def hand_down(
    context: Context, sender: str, to: str, read: ReadContract | None = None, **said: Any
) -> HandoffRecord:
    stated = {name: said.pop(name) for name in ("depth", "children", "on_behalf_of", "pace") if name in said}
    question = HandoffQuestion(sender="", receiver="", **stated)
    return record_handoff(context, HandoffOrder(sender=sender, to=to, question=question, **said), read)


def mission(context: Context, **said: Any) -> HandoffRecord:
    """The intake hands a mission over `src` to a planner."""
    return hand_down(
        context,
        "intake",
        "planner",
        brief(1, "src/**"),
        **{"from_session": "shop", "session": "plan", **said},
    )


def refusal(context: Context, *what: Any, **said: Any) -> str:
    with pytest.raises(Refused) as refused:
        hand_down(context, *what, **said)
    return f"{refused.value.code} {refused.value.message}"


def test_the_log_knows_depth_session_and_mission(context: Context) -> None:
    """The values come from the hand-off of the parent brief; the sender does not state them."""
    first = mission(context)
    second = hand_down(context, "planner", "worker", brief(2, "src/a.py", parent=1), session="w-1")
    assert [each.depth for each in (first, second)] == [1, 2]
    assert (second.from_session, second.mission, second.token) == ("plan", identity(1), 2)
    claims = context.store.claims.list("omega")
    assert [(each.holder, each.paths, each.planner) for each in claims] == [
        ("role:planner", ("src/**",), "role:intake"),
        ("role:worker", ("src/a.py",), "role:planner"),
    ]
    assert "DEPTH_EXCEEDED" in refusal(context, "planner", "worker", brief(3, "src/b.py", parent=1), depth=4)


def test_a_folder_of_the_parent_holds_the_files_below(context: Context) -> None:
    """A path without wildcards is a folder with all its content, as in an audit; another folder is not in it."""
    hand_down(context, "intake", "planner", brief(1, "src", "docs/"), from_session="shop", session="plan")
    assert "`srcs/a.py`" in refusal(context, "planner", "worker", brief(3, "srcs/a.py", parent=1))
    child = brief(2, "src/a.py", "docs/*.md", parent=1)
    assert hand_down(context, "planner", "worker", child, session="w-1").token == 2


def test_what_cannot_be_recorded_is_not_valid_either(context: Context) -> None:
    """The record, the check of the pair and the check of the contract refuse with one code."""
    for path in ("", "../a.py", "~/a.py", "C:/a.py", "!a.py", "a\0.py", "src/{a,b}*.py", "/etc/passwd"):
        read = brief(5, path)
        assert context.kernel is not None
        said = refusal(context, "intake", "planner", read, from_session="shop", session="plan")
        assert said.startswith("HANDOFF_REFUSED"), path
        assert "OWNED_FILE_UNREADABLE" in said, path
        checked = context.kernel.handoff_permission(
            "omega", HandoffQuestion(sender="intake", receiver="planner", depth=1), HandoffBriefs(read)
        )
        assert checked.code == "OWNED_FILE_UNREADABLE", path
        codes = [each.code for each in check_read_contract(read).diagnostics]
        assert codes == ["ORG791"], path


def test_only_the_receiver_of_a_brief_hands_it_on(context: Context) -> None:
    """Another planner cannot hand it on, and its claim conflicts with the claims of all others."""
    mission(context, holder="agent:ada")
    child = brief(2, "src/a.py", parent=1)
    said = refusal(context, "agent:max", "worker", child)
    assert said.endswith("was handed down to `agent:ada` and not to `agent:max`")
    assert refusal(context, "agent:max", "worker", brief(3, "src/a.py"), depth=2).startswith(
        "CLAIM_CONFLICT the brief owns `src/a.py`, which overlaps with `src/**`, claimed by `agent:ada`"
    )
    assert hand_down(context, "agent:ada", "worker", child, session="w-1").sender == "agent:ada"
    assert "not to `role:intake`" in refusal(context, "intake", "worker", brief(4, "src/b.py", parent=1))


def test_no_session_is_made_up(context: Context) -> None:
    """A sender that names a session other than that of its brief is refused, and an unknown session does not
    bypass the limit.
    """
    mission(context)
    child = brief(2, "src/a.py", parent=1)
    said = refusal(context, "planner", "worker", child, from_session="elsewhere")
    assert said.endswith("was handed down into session `plan`, not into `elsewhere`")
    for number in range(4):
        read = brief(10 + number, f"src/{number}.py", parent=1)
        hand_down(context, "planner", "worker", read, session=f"w-{number}")
    record_contract(context, check_read_contract(brief(7, "docs/**")))
    said = refusal(context, "planner", "worker", brief(8, "docs/a.md", parent=7), from_session="new", depth=2)
    assert "CHILD_LIMIT" in said


def test_an_agent_makes_no_brief_for_itself(context: Context) -> None:
    """What it stores does not bound what it hands down; what was handed down to it does."""
    record_contract(context, check_read_contract(brief(7, "**")))
    agent = Context(context.kernel, context.store, Actor("caller:k", "agent:ada"))
    child = brief(8, "src/a.py", parent=7)
    assert refusal(agent, "agent:ada", "worker", child, depth=2).endswith("was never handed down")
    mission(context, holder="agent:ada")
    assert hand_down(agent, "agent:ada", "worker", brief(2, "src/a.py", parent=1)).actor == "caller:k"
    said = refusal(agent, "role:planner", "worker", brief(3, "src/b.py", parent=1))
    assert said.startswith("OTHER_REQUESTER")


def test_what_runs_counts_and_not_what_is_stated(context: Context) -> None:
    """Four workers at a time. When one is done, the next may start."""
    mission(context)
    for number in range(4):
        files = f"src/{number}.py"
        child = brief(10 + number, files, parent=1)
        hand_down(context, "planner", "worker", child, session=f"w-{number}", holder="agent:wanda")
    fifth = brief(20, "src/9.py", parent=1)
    said = refusal(context, "planner", "worker", fifth, children=0, session="w-9")
    assert "CHILD_LIMIT" in said
    assert "BATCH_TOO_LARGE" in said
    record_contract(context, done(10, "w-0"))
    assert [each.paths for each in context.store.claims.list("omega")][1] == ("src/1.py",)
    assert hand_down(context, "planner", "worker", fifth, session="w-9").number == 7


def test_a_role_gives_back_what_was_handed_down_to_it(context: Context) -> None:
    """A stored result of the session ends its claim, whichever agent holds the claim."""
    mission(context)
    hand_down(context, "planner", "worker", brief(2, "src/a.py", parent=1), session="w-1")
    record_contract(context, done(2, "w-1"))
    assert [each.session for each in context.store.claims.list("omega")] == ["plan"]


def test_the_principal_goes_with_the_work(context: Context) -> None:
    """Work for two principals is never merged: whom a mission is for cannot be stated anew."""
    mission(context, on_behalf_of="role:human")
    child = brief(2, "src/a.py", parent=1)
    said = refusal(context, "planner", "worker", child, on_behalf_of="role:overseer")
    assert said.endswith("the work of `role:planner` is for `role:human`, not for `role:overseer`")
    made = hand_down(context, "planner", "worker", child)
    assert made.on_behalf_of == "role:human"
    assert made.session == "agent:worker:subtask:planner:for:role:human"


def test_an_expired_claim_limits_no_worker(context: Context, clock: Clock) -> None:
    """Its files are free, and the brief may be handed to another worker."""
    mission(context)
    hand_down(context, "planner", "worker", brief(2, "src/a.py", parent=1), session="w-1", seconds=10)
    clock.now += 20
    assert hand_down(context, "planner", "worker", brief(2, "src/a.py", parent=1), session="w-2").token == 3


def test_a_planner_that_lost_its_claim_conflicts_with_the_next_one(context: Context, clock: Clock) -> None:
    """Its files went to another mission: what it hands down is refused."""
    mission(context, seconds=10)
    clock.now += 20
    other = brief(5, "src/**")
    hand_down(context, "intake", "planner", other, from_session="shop", session="plan-2", holder="agent:max")
    assert refusal(context, "planner", "worker", brief(2, "src/a.py", parent=1)).startswith("CLAIM_CONFLICT")


def test_a_stopped_agent_hands_nothing_down(context: Context) -> None:
    """What was decided before counts no more."""
    mission(context, holder="agent:ada")
    context.store.agents.add("ada", org_id="omega", actor="person:owner", lifecycle="suspended")
    said = refusal(context, "agent:ada", "worker", brief(2, "src/a.py", parent=1))
    assert "AGENT_INACTIVE" in said


def test_a_layer_with_several_roles_is_no_receiver(kernel: Kernel, quick_folder: Path) -> None:
    """A row of the log has one sender and one receiver."""
    household = Kernel.open(active="household")
    with opened(place_in(quick_folder)) as store:
        context = Context(household, store, Actor("system:cli"))
        assert refusal(context, "front", "back", depth=0) == "HANDOFF_REFUSED layer `back` has 2 roles"
