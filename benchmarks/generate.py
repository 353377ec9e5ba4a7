"""Organizations to measure on: any number of roles, 20 tools each, a thousand distinct triggers, findings included.

One role in a hundred reports more seldom than it may go without progress (ORG507), and most of the 18 domains have
several roles that only the order of the hierarchy tells apart (ORG306). Both are warnings: the organization is served.

`generate_mixed` writes the same roles as people and programs really write them: a third in block style with comments and
texts over several lines, a third in flow style, a third as JSON or as block style with everything in quotes. No two of
its roles share a text.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

_DOMAINS = (
    "codegen", "refactor", "bugfix", "agentic", "file_ops", "analysis", "osint", "skill_building", "git_ops",
    "docker_ops", "config_edit", "prompt_engineering", "log_analysis", "pdf_ops", "data_transform",
    "api_integration", "dependency_mgmt", "conversational",
)  # fmt: skip
_TOOLS = tuple(f"tool_{number}" for number in range(200))
_SPAN = 6
_FINDING_EVERY = 100


def generate(folder: Path, roles: int) -> None:
    """Write an organization of so many roles, one file each."""
    (folder / "roles").mkdir(parents=True)
    below: dict[int, list[str]] = {number: [] for number in range(roles)}
    for number in range(1, roles):
        below[_superior(number, roles)].append(f"role_{number}")
    hierarchy = "".join(
        f"  role_{number}: {{subordinates: [{', '.join(those)}]}}\n" for number, those in below.items()
    )
    (folder / "org.yaml").write_text(
        "_schema: orgkernel:organization\norg_id: measured\nlimits: {span_of_control: 1000000}\n"
        f"hierarchy:\n{hierarchy}"
    )
    tools = "".join(
        f"  {tool}: {{type: deterministic_function, description: A tool., side_effects: read}}\n"
        for tool in _TOOLS
    )
    (folder / "tools.yaml").write_text(f"_schema: orgkernel:tool_catalog\ntools:\n{tools}")
    for number in range(roles):
        (folder / "roles" / f"role_{number}.yaml").write_text(_profile(number, roles))


def is_expected(findings: int, roles: int) -> bool:
    """Whether so many findings are those that were put into an organization of so many roles."""
    return 0 <= findings - roles // _FINDING_EVERY <= len(_DOMAINS)


def expected_taker(domain: str, needs: tuple[str, ...], roles: int) -> str | None:
    """Who takes a task, worked out from how the organization is made and by nothing of ours."""
    fitting = (
        (len(set(_domains(number))), number)
        for start, end in ((_executives(roles) + 1, roles), (1, _executives(roles) + 1), (0, 1))
        for number in range(start, end)
        if domain in _domains(number) and set(needs) <= set(_tools(number))
    )
    found: dict[str, tuple[int, int]] = {}
    for domains, number in fitting:
        kind = _role_type(number, roles)
        found[kind] = min(found.get(kind, (domains, number)), (domains, number))
    best = found.get("specialist") or found.get("executive") or found.get("commander")
    return f"role_{best[1]}" if best else None


def domains_and_tools() -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Every domain and every tool that can be asked for."""
    return _DOMAINS, _TOOLS


def _tools(number: int) -> list[str]:
    return [_TOOLS[(number * 7 + step * 3) % 200] for step in range(20)]


def _role_type(number: int, roles: int) -> str:
    return "commander" if not number else "executive" if number <= _executives(roles) else "specialist"


def _domains(number: int) -> tuple[str, str]:
    return _DOMAINS[number % 18], _DOMAINS[(number * 5 + 3) % 18]


def _executives(roles: int) -> int:
    return max(1, roles // _SPAN)


def _superior(number: int, roles: int) -> int:
    """One commander, executives below it, specialists below them: authority has three levels."""
    return 0 if number <= _executives(roles) else 1 + number % _executives(roles)


def _profile(number: int, roles: int) -> str:
    superior = f"role_{_superior(number, roles)}" if number else "user"
    role_type = _role_type(number, roles)
    domains = _domains(number)
    interval = 15 if number % _FINDING_EVERY == _FINDING_EVERY - 1 else 5
    tools = _tools(number)
    return f"""\
_schema: orgkernel:role_profile
_version: "1.0"
role_id: role_{number}
role_name: Role {number}
role_type: {role_type}
description: Does the work of role {number} and reports what it finds.
chain_of_command:
  reports_to: {superior}
capabilities:
  bst_domains:
    - {domains[0]}
    - {domains[1]}
  tools_primary:
{_listed(tools[:10])}  tools_secondary:
{_listed(tools[10:])}pace_plan:
  primary:
    description: Normal work
    action: normal_execution
  alternate:
    description: Recover
    action: fallback_chain
    trigger: consecutive_tool_failures >= {3 + number % 7}
  contingent:
    description: Hand over
    action: escalate
    trigger: consecutive_tool_failures >= {11 + number % 1000} OR context_fill > 0.85
    escalate_to: {superior}
  emergency:
    description: Stop
    action: abort_and_report
    trigger: unrecoverable_error OR turns_without_progress > max * 1.5
    escalate_to: {superior}
doctrine:
  salute_interval_turns: {interval}
  max_turns_without_progress: 12
"""


def _listed(tools: list[str]) -> str:
    return "".join(f"    - {tool}\n" for tool in tools)


_WORDS = (
    "reads", "compares", "sorts", "repairs", "watches", "collects", "explains", "measures", "merges", "drafts",
    "every", "broken", "new", "late", "signed", "shared", "nightly", "public", "stale", "large",
    "ticket", "release", "archive", "invoice", "contract", "dataset", "pipeline", "manual", "mirror", "backlog",
)  # fmt: skip
_UNKNOWN_FIELD_EVERY = 2


def generate_mixed(folder: Path, roles: int, *, many_findings: bool = False) -> None:
    """Write the same organization in the styles that are met outside; with `many_findings`, some 2.5 for each role."""
    generate(folder, roles)
    for number in range(roles):
        path = folder / "roles" / f"role_{number}.yaml"
        write = _STYLES[number % len(_STYLES)]
        content = write(_value(number, roles, many_findings), number)
        if write is _as_json:
            path.unlink()
            path = path.with_suffix(".json")
        path.write_text(content)


def expected_in_mixed(roles: int, *, many_findings: bool = False) -> tuple[int, int]:
    """The least and the most findings of `generate_mixed`."""
    if not many_findings:
        return roles // _FINDING_EVERY, roles // _FINDING_EVERY + len(_DOMAINS)
    # An interval beyond the limit and an undeclared plan in each, an unknown field in every second.
    least = 2 * roles + -(-roles // _UNKNOWN_FIELD_EVERY)
    return least, least + len(_DOMAINS)


def _value(number: int, roles: int, many_findings: bool) -> dict[str, Any]:
    superior = f"role_{_superior(number, roles)}" if number else "user"
    tools = _tools(number)
    few = number % _FINDING_EVERY == _FINDING_EVERY - 1
    value = {
        "_schema": "orgkernel:role_profile",
        "_version": "1.0",
        "role_id": f"role_{number}",
        "role_name": f"Role {number}",
        "role_type": _role_type(number, roles),
        "description": _sentence(number, 18),
        "chain_of_command": {"reports_to": superior},
        "capabilities": {
            "bst_domains": list(_domains(number)),
            "tools_primary": tools[:10],
            "tools_secondary": tools[10:],
        },
        "pace_plan": {
            "primary": {"description": _sentence(number + 1, 4), "action": "normal_execution"},
            "alternate": {
                "description": _sentence(number + 2, 4),
                "action": "fallback_chain",
                "trigger": f"consecutive_tool_failures >= {3 + number % 7}",
            },
            "contingent": {
                "description": _sentence(number + 3, 4),
                "action": "escalate",
                "trigger": f"consecutive_tool_failures >= {11 + number % 1000} OR context_fill > 0.85",
                "escalate_to": superior,
            },
            "emergency": {
                "description": _sentence(number + 4, 4),
                "action": "abort_and_report",
                "trigger": "unrecoverable_error OR turns_without_progress > max * 1.5",
                "escalate_to": superior,
            },
        },
        "doctrine": {
            "salute_interval_turns": 15 if few or many_findings else 5,
            "max_turns_without_progress": 12,
        },
    }
    if many_findings:
        value["capabilities"]["htn_plans"] = [f"plan_of_{number}"]
        if number % _UNKNOWN_FIELD_EVERY == 0:
            value["color"] = f"shade {number}"
    return value


def _sentence(number: int, length: int) -> str:
    """Words that follow from a number; no two numbers give the same sentence."""
    words = [_WORDS[(number * 31 + step * (7 + number % 11)) % len(_WORDS)] for step in range(length)]
    return f"Case {number} {' '.join(words)}."


def _as_block(value: dict[str, Any], number: int) -> str:
    lines = [f"# Role {number}, written by hand.", *_block(value, 0, _plain)]
    for at, line in enumerate(lines):
        if line.startswith("description: "):
            words = line.removeprefix("description: ").split(" ")
            half = len(words) // 2
            folded = [f"  {' '.join(words[:half])}", f"  {' '.join(words[half:])}"]
            lines[at : at + 1] = ["description: >-", *folded, ""]
        elif line.startswith("  tools_"):
            lines[at] = f"{line}  # in order of preference"
    return "\n".join(lines) + "\n"


def _as_quoted_block(value: dict[str, Any], number: int) -> str:
    return "\n".join(["---", *_block(value, 0, json.dumps)]) + "\n"


def _as_flow(value: dict[str, Any], number: int) -> str:
    top = [f"{name}: {_flow(item)}" for name, item in value.items()]
    return f"# {_sentence(number, 6)}\n" + "\n".join(top) + "\n"


def _as_json(value: dict[str, Any], number: int) -> str:
    return json.dumps(value, indent=2 if number % 2 else None) + "\n"


def _plain(value: Any) -> str:
    return (
        json.dumps(value) if value in ("1.0",) or (isinstance(value, str) and " > " in value) else str(value)
    )


def _block(value: dict[str, Any], indent: int, scalar: Callable[[Any], str]) -> list[str]:
    space, lines = " " * indent, []
    for name, item in value.items():
        if isinstance(item, dict):
            lines += [f"{space}{name}:", *_block(item, indent + 2, scalar)]
        elif isinstance(item, list):
            lines += [f"{space}{name}:", *(f"{space}  - {scalar(each)}" for each in item)]
        else:
            lines.append(f"{space}{name}: {scalar(item)}")
    return lines


def _flow(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name}: {_flow(item)}" for name, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_flow, value)) + "]"
    return _plain(value)


_STYLES = (_as_block, _as_flow, _as_json, _as_block, _as_flow, _as_quoted_block)
