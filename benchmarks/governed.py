"""Organizations to decide about: any number of roles, twenty tools each, and every layer that needs no state.

Everything follows from numbers, and so does the right answer to every question: `expected` works it out with nothing of
ours, and each engine has to give it before it is timed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

TOOLS = 200
RANKS = 5
DEPARTMENTS = 8
WIDE_EVERY = 100
"""One role in so many has a hundred tools."""
LEVELS = ("none", "observe", "read", "write", "full")
ACTIONS = {"look": 2, "change": 3, "own": 4}
"""Action to the step of the level it requires, the same for every tool."""
# Lowest rank first: the most it may do with a tool that ranks matter for.
_MATRIX = (2, 2, 3, 3, 4)
_DENIED_ROLES = 16

Question = tuple[int, int, str]
"""The numbers of a role and a tool, and an action."""


def governed(folder: Path) -> Path:
    """The organization beside a generated one, with as many roles; written when it is first asked for."""
    place = folder.parent / "governed"
    if not place.exists():
        write(place, role_count(folder))
    return place


def role_count(folder: Path) -> int:
    """The roles of a generated organization."""
    return sum(1 for _ in (folder / "roles").iterdir())


def write(folder: Path, roles: int) -> None:
    """The documents: one file a role."""
    (folder / "roles").mkdir(parents=True)
    span = "".join(
        f"  role_{number}: {{subordinates: [{', '.join(f'role_{each}' for each in range(1, roles))}]}}\n"
        if not number
        else f"  role_{number}: {{}}\n"
        for number in range(roles)
    )
    departments = ", ".join(f"d{number}: {{}}" for number in range(DEPARTMENTS))
    (folder / "org.yaml").write_text(
        "_schema: orgkernel:organization\norg_id: governed\nlimits: {span_of_control: 1000000}\n"
        f"departments: {{{departments}}}\nhierarchy:\n{span}"
    )
    documents = {
        "ranks": {
            "_schema": "orgkernel:rank_ladder",
            "ranks": [{"id": f"k{step}", "trust_from": step / RANKS} for step in range(RANKS)],
        },
        "qualifications": {"_schema": "orgkernel:qualification_catalog", "qualifications": {"q0": {}}},
        "tools": {
            "_schema": "orgkernel:tool_catalog",
            "tools": {f"tool_{number}": _tool(number) for number in range(TOOLS)},
        },
        "policies": {"_schema": "orgkernel:access_policies", "policies": dict(_policies())},
    }
    for name, document in documents.items():
        (folder / f"{name}.json").write_text(json.dumps(document))
    for number in range(roles):
        (folder / "roles" / f"role_{number}.yaml").write_text(_profile(number))


def levels_of(role: int) -> dict[int, int]:
    """The tools of a role, each with the step of its level; only such as its department sees."""
    wanted = 100 if is_wide(role) else 20
    found: dict[int, int] = {}
    for step in range(TOOLS):
        tool = (role * 7 + step * 3) % TOOLS
        if sees(role, tool):
            found[tool] = 2 + (role + step) % 3
        if len(found) == wanted:
            break
    return found


def is_wide(role: int) -> bool:
    """Whether a role has a hundred tools."""
    return role % WIDE_EVERY == 7


def department_of(role: int) -> int:
    """The department of a role."""
    return role % DEPARTMENTS


def rank_of(role: int) -> int:
    """The step of the rank a role starts at."""
    return role // 3 % RANKS


def departments_of(tool: int) -> tuple[int, ...]:
    """The departments that see a tool; none for all of them."""
    return tuple((tool + step) % DEPARTMENTS for step in range(6)) if tool % 5 == 1 else ()


def sees(role: int, tool: int) -> bool:
    """Whether a role's department sees a tool."""
    return not departments_of(tool) or department_of(role) in departments_of(tool)


def has_ranks(tool: int) -> bool:
    """Whether ranks matter for a tool."""
    return tool % 5 == 2


def reaches_by_rank(rank: int) -> int:
    """The step of the level that a rank reaches with a tool that ranks matter for."""
    return _MATRIX[rank]


def is_tested(tool: int) -> bool:
    """Whether a tool needs a qualification, which no role has."""
    return tool % 10 == 3


def is_denied(role: int, tool: int) -> bool:
    """Whether a policy denies a role a tool: one about everybody, and some about one role."""
    return tool in (50, 51) or (role < _DENIED_ROLES and tool % 20 == role)


def is_asked(tool: int) -> bool:
    """Whether somebody has to be asked."""
    return tool == 60


def expected(question: Question) -> tuple[str, tuple[str, ...]]:
    """Outcome, and every failing reason in the order of the layers; for an allowance its source."""
    role, tool, action = question
    required = ACTIONS[action]
    failing = [
        code
        for code, fails in (
            ("NOT_VISIBLE", not sees(role, tool)),
            ("NOT_BOUND_TO_ROLE", levels_of(role).get(tool, 0) < required),
            ("RANK_TOO_LOW", has_ranks(tool) and _MATRIX[rank_of(role)] < required),
            ("QUALIFICATION_MISSING", is_tested(tool)),
            ("POLICY_DENY", is_denied(role, tool)),
            ("ASK_APPROVAL", is_asked(tool)),
        )
        if fails
    ]
    if not failing:
        return "allow", ("BOUND_TO_ROLE",)
    return ("ask" if failing == ["ASK_APPROVAL"] else "deny"), tuple(failing)


def questions(roles: int, count: int) -> dict[str, list[Question]]:
    """So many different questions that are allowed, and as many that are denied, over the whole organization."""
    found: dict[str, list[Question]] = {"allow": [], "deny": []}
    turn = 0
    while min(map(len, found.values())) < count:
        turn += 1
        role = turn * 7919 % roles
        if is_wide(role):
            continue
        own = tuple(levels_of(role))
        tool = own[turn % len(own)] if len(found["allow"]) < count else (turn * turn * 13 + turn // 7) % TOOLS
        question = role, tool, tuple(ACTIONS)[turn % 3]
        outcome = expected(question)[0]
        if outcome in found and len(found[outcome]) < count:
            found[outcome].append(question)
    return found


def _tool(number: int) -> dict[str, object]:
    tool: dict[str, object] = {
        "type": "browser",
        "description": "A tool.",
        "actions": {action: LEVELS[step] for action, step in ACTIONS.items()},
    }
    if departments_of(number):
        tool["departments"] = [f"d{each}" for each in departments_of(number)]
    if has_ranks(number):
        tool["rank_matrix"] = {f"k{step}": LEVELS[top] for step, top in enumerate(_MATRIX)}
    if is_tested(number):
        tool["qualifications"] = ["q0"]
    return tool


def _policies() -> Iterator[tuple[str, dict[str, object]]]:
    for role in range(_DENIED_ROLES):
        tools = [f"tool_{tool}" for tool in range(TOOLS) if tool % 20 == role]
        match = {"principal": {"role": f"role_{role}"}}
        yield f"deny_{role}", {"effect": "deny", "match": match, "permissions": {"tools": tools}}
    everybody = {"principal": {"role": "*"}}
    yield (
        "deny_all",
        {"effect": "deny", "match": everybody, "permissions": {"tools": ["tool_50", "tool_51"]}},
    )
    yield "ask_all", {"effect": "ask", "match": everybody, "permissions": {"tools": ["tool_60"]}}


def _profile(number: int) -> str:
    tools = "".join(
        f"    - {{tool: tool_{tool}, level: {LEVELS[step]}}}\n" for tool, step in levels_of(number).items()
    )
    return f"""\
_schema: orgkernel:role_profile
_version: "1.0"
role_id: role_{number}
role_type: {"specialist" if number else "commander"}
description: Does the work of role {number}.
department: d{department_of(number)}
entry_rank: k{rank_of(number)}
capabilities:
  tools:
{tools}"""
