"""The cost of an answer does not grow with the number of grants of a subject."""

from __future__ import annotations

import cProfile
import pstats
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from orgkernel.decisions.access.decide import decide_access
from orgkernel.decisions.access.explain import explain_access
from orgkernel.decisions.access.listing import what_can, who_can
from orgkernel.decisions.access.request import AccessContext, AccessRequest
from orgkernel.decisions.evidence.state_view import Grant, Restriction, StateView
from orgkernel.manifest.agent import build_agent_manifest
from orgkernel.manifest.role import build_role_manifest
from tests.support.trees import TEMPLATES, read

MANY = 5_000
SUBJECTS = ("agent:clerk", "role:record_keeper")
HERE = AccessContext(now=1_000.0, peer_kind="")
TOOL = "tool:github"
VIEW = read(TEMPLATES / "household").organizations["household"].index
TOOLS = tuple(VIEW.records.tools)


def granted(number: int, **more: Callable[[int], Any]) -> tuple[Grant, ...]:
    """So many grants of one tool to each subject, each with what is said of its number."""
    plain: dict[str, Any] = {"resources": (TOOL,), "level": "read"}
    return tuple(
        Grant(f"g{each:05}", subject, **plain | {name: of(each) for name, of in more.items()})
        for subject in SUBJECTS
        for each in range(number)
    )


def spread(number: int) -> tuple[Grant, ...]:
    """So many grants, of all tools in turn."""
    return tuple(
        Grant(f"g{each:05}", subject, (f"tool:{TOOLS[each % len(TOOLS)]}",), "read")
        for subject in SUBJECTS
        for each in range(number)
    )


def restricted(number: int) -> tuple[Restriction, ...]:
    """So many restrictions of one tool."""
    return tuple(
        Restriction(f"x{each:05}", subject, (TOOL,), "observe")
        for subject in SUBJECTS
        for each in range(number)
    )


STORED: dict[str, Callable[[int], tuple[Grant | Restriction, ...]]] = {
    "one tool": granted,
    "every tool": spread,
    "different ends": lambda number: granted(number, expires_at=lambda each: 2_000.0 + each),
    "levels and waivers": lambda number: granted(
        number,
        level=lambda each: ("read", "full")[each % 2],
        waives=lambda each: ((), ("rank",))[each // 2 % 2],
    ),
    "all tools": lambda number: granted(number, resources=lambda each: ("tool:*",)),
    "restrictions": restricted,
}


def state_of(rows: Iterable[Grant | Restriction]) -> StateView:
    """A state with these rows."""
    grants: dict[str, list[Grant]] = {}
    restrictions: dict[str, list[Restriction]] = {}
    for row in rows:
        if isinstance(row, Grant):
            grants.setdefault(row.subject, []).append(row)
        else:
            restrictions.setdefault(row.subject, []).append(row)
    return StateView(
        1,
        grants={key: tuple(each) for key, each in grants.items()},
        restrictions={key: tuple(each) for key, each in restrictions.items()},
    )


def asked(subject: str, action: str) -> AccessRequest:
    """A question about the tool, here and now."""
    return AccessRequest(subject, action, TOOL, HERE)


ANSWERS: dict[str, Callable[[StateView], object]] = {
    "check": lambda state: [decide_access(VIEW, asked(each, "use"), state) for each in SUBJECTS],
    "list": lambda state: [
        what_can(VIEW, each, request=AccessRequest(each, "", "", HERE), state=state) for each in SUBJECTS
    ],
    "who can": lambda state: who_can(VIEW, "use", TOOL, context=HERE, state=state),
    "explanation": lambda state: [
        explain_access(VIEW, asked(each, action), state) for each in SUBJECTS for action in ("use", "nothing")
    ],
    "manifest of a role": lambda state: build_role_manifest(VIEW, "record_keeper", (), state, HERE),
    "manifest of an agent": lambda state: build_agent_manifest(VIEW, "clerk", (), state, HERE),
}


def calls(answer: Callable[[StateView], object], state: StateView) -> int:
    """The calls of functions that an answer takes, once what is stored is known."""
    answer(state)
    profile = cProfile.Profile()
    profile.runcall(answer, state)
    return pstats.Stats(profile).total_calls  # type: ignore[attr-defined,no-any-return]


@pytest.mark.parametrize("stored", STORED)
def test_an_answer_takes_no_more_with_many(stored: str) -> None:
    """With five thousand rows of a subject an answer takes the calls that it takes with as few as say the same."""
    few, many = (state_of(STORED[stored](number)) for number in (4 * len(TOOLS), MANY))
    for name, answer in ANSWERS.items():
        if name == "manifest of an agent" and stored == "restrictions":
            continue  # it names every restriction
        least, most = calls(answer, few), calls(answer, many)
        assert most <= 1.05 * least + 20, (name, least, most)


def test_as_many_sessions_and_parts_cost_a_check_and_an_explanation_nothing() -> None:
    """Grants for other sessions, inputs, versions of the documents and parts of the tool are not looked at."""
    kinds: tuple[dict[str, Callable[[int], Any]], ...] = (
        {"session": lambda each: f"s{each}"},
        {"input_digest": lambda each: f"{each:064}"},
        {"snapshot": lambda each: f"sha256:{each:064}"},
        {"resources": lambda each: (f"{TOOL}:src/part_{each}/**",)},
    )
    for more in kinds:
        few, many = (state_of(granted(number, **more)) for number in (20, MANY))
        for name in ("check", "explanation"):
            least, most = calls(ANSWERS[name], few), calls(ANSWERS[name], many)
            assert most <= 1.05 * least + 20, (name, least, most)
