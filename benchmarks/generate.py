"""Organizations to measure on: any number of roles, 20 tools each, a thousand distinct triggers, findings included.

One role in a hundred reports more seldom than it may go without progress (ORG507), and most of the 18 domains have
several roles that only the order of the hierarchy tells apart (ORG306). Both are warnings: the organization is served.
"""

from __future__ import annotations

from pathlib import Path

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
