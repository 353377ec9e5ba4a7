"""Procedures: the level at which a subject runs one, and whether its steps get their tools.

A procedure is compiled to level 1 novice, 2 guided, 3 validated, 4 autonomous or 5 expert. The agency of a rank limits the level at which its holder may run one, so a procedure runs at the lower of the two. Below
level 3 it does not run, and a model does the work. At level 3 a model confirms the result. At level 4 and above it runs
without a model.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import msgspec

from orgkernel.decisions.access.decision import Outcome
from orgkernel.decisions.access.request import AccessRequest
from orgkernel.decisions.evidence.state_view import StateView
from orgkernel.decisions.members.member import CrewMember
from orgkernel.decisions.members.tool_use import ToolUsability, decide_tool_use
from orgkernel.decisions.reasons import Reason, cite_place
from orgkernel.diagnostics.wording import quote
from orgkernel.documents.records import Procedure, ToolNeed
from orgkernel.graph.memo import PerView
from orgkernel.graph.questions import OrgView
from orgkernel.graph.records import Definition
from orgkernel.graph.schema import EdgeKind

LEVEL_NAMES = ("novice", "guided", "validated", "autonomous", "expert")
RUNS_FROM, WITHOUT_MODEL_FROM, HIGHEST = 3, 4, 5
LEVEL_OF_AGENCY: Mapping[str, int] = {"reactive": 2, "suggestive": 3, "autonomous": 4, "unrestricted": 5}
_LOWEST_AGENCY = 2


class ToolCheck(msgspec.Struct, frozen=True):
    """Whether a step gets a tool. Each call is decided again, with its input."""

    step: str
    """The step; empty for a tool that is used on its own."""
    tool: str
    action: str
    outcome: Outcome
    code: str
    replaces: str = ""
    """The tool that the step names, if `tool` replaces it."""


class RunnableProcedure(msgspec.Struct, frozen=True):
    """A procedure that a subject may run now."""

    procedure: Definition[Procedure]
    level: int
    checks: tuple[ToolCheck, ...]
    obligations: tuple[str, ...]
    replacements: tuple[Reason, ...] = ()
    """Why a tool of a step is replaced by another one."""


@PerView
def list_levels_of_ranks(view: OrgView) -> tuple[int, ...]:
    """The highest level of each rank, lowest rank first. A ladder without agency does not limit levels.

    A rank without agency has that of the next lower rank that states one.
    """
    agencies = [rank.agency for rank in view.records.ranks]
    if not any(agencies):
        return (HIGHEST,) * len(agencies)
    levels, level = [], _LOWEST_AGENCY
    for agency in agencies:
        level = level if agency is None else LEVEL_OF_AGENCY[agency]
        levels.append(level)
    return tuple(levels)


def compute_procedure_level(view: OrgView, holder: CrewMember, procedure: Procedure) -> int:
    """The level at which a subject runs a procedure."""
    levels = list_levels_of_ranks(view)
    most = levels[holder.rank] if holder.rank >= 0 else _LOWEST_AGENCY if levels else HIGHEST
    return min(procedure.compilation_level, most)


def decide_procedure(
    view: OrgView,
    state: StateView,
    holder: CrewMember,
    request: AccessRequest,
    procedure: Definition[Procedure],
) -> RunnableProcedure | Reason:
    """The procedure if a subject may run it now, else the reason why not. `request` states the circumstances."""
    record, name = procedure.record, quote(procedure.id)
    held = holder.skills.get(record.skill or "")
    if held is not None and held.suspended:
        text = f"{quote(holder.name)} holds {quote(held.skill)}, which is suspended"
        return Reason("SKILL_SUSPENDED", text, (cite_place(text, procedure.place("skill")),))
    level = compute_procedure_level(view, holder, record)
    if level < RUNS_FROM:
        compiled = record.compilation_level
        where = procedure.place("compilation_level")
        if compiled < RUNS_FROM:
            text = f"procedure {name} is compiled to level {compiled}, and runs from level {RUNS_FROM}"
            return Reason("PROCEDURE_NOT_VALIDATED", text, (cite_place(text, where),))
        text = f"the rank of {quote(holder.name)} runs procedures up to level {level}, and {name} runs from {RUNS_FROM}"
        ladder = view.records.ladder
        place = where if ladder is None else ladder.place("ranks", max(holder.rank, 0))
        return Reason("PROCEDURE_ABOVE_RANK", text, (cite_place(text, place),))
    checks: list[ToolCheck] = []
    obligations: list[str] = []
    replacements: list[Reason] = []
    for number, step in enumerate(record.steps):
        for at, need in enumerate(step.required_tools):
            for action in list_needed_actions(view, need):
                check, use = check_tool(view, state, request, name_tool(need), action, step.id)
                checks.append(check)
                obligations += use.obligations
                replacements += use.reasons[:1] if use.replaces else ()
                if check.outcome == "deny":
                    cause = use.reasons[0]
                    text = f"step {quote(step.id)} of procedure {name} needs {quote(name_tool(need))}: {cause.text}"
                    line = cite_place(text, procedure.place("steps", number, "required_tools", at))
                    return Reason("PROCEDURE_TOOL_DENIED", text, (line, *cause.why))
    if level < WITHOUT_MODEL_FROM:
        obligations.append(f"confirm:procedure:{procedure.id}")
    return RunnableProcedure(
        procedure, level, tuple(checks), tuple(dict.fromkeys(obligations)), tuple(replacements)
    )


def check_tool(
    view: OrgView, state: StateView, run_request: AccessRequest, tool: str, action: str, step: str = ""
) -> tuple[ToolCheck, ToolUsability]:
    """Whether a subject gets a tool, or one that replaces it. The call itself is decided with its path and command."""
    use = decide_tool_use(view, state, run_request, tool, action)
    return ToolCheck(step, use.tool, use.action, use.outcome, use.code, use.replaces), use


def name_tool(need: str | ToolNeed) -> str:
    """The tool that a step needs."""
    return need.tool if isinstance(need, ToolNeed) else need


def list_needed_actions(view: OrgView, need: str | ToolNeed) -> tuple[str, ...]:
    """The actions of a tool that a step needs: the named one, or all."""
    if isinstance(need, ToolNeed) and need.action is not None:
        return (need.action,)
    tool = view.records.tools.get(name_tool(need))
    return ("use",) if tool is None else tuple(tool.record.required_levels)


def find_procedures(view: OrgView, intent: str) -> Iterator[Definition[Procedure]]:
    """The procedures that serve an intent, in the order of declaration."""
    for procedure_id in dict.fromkeys(_group_by_intent(view).get(intent, ())):
        yield view.records.procedures[procedure_id]


def find_performed_procedures(view: OrgView, roles: Iterable[str]) -> frozenset[str]:
    """The procedures of roles: those that they list, and those for skills that they require."""
    return frozenset(end for role in roles for end, _ in view.list_ends_from(EdgeKind.PERFORMS, role))


@PerView
def _group_by_intent(view: OrgView) -> dict[str, tuple[str, ...]]:
    ids_by_intent: dict[str, list[str]] = {}
    for procedure in view.records.procedures.values():
        for intent in procedure.record.intents:
            ids_by_intent.setdefault(intent, []).append(procedure.id)
    return {intent: tuple(ids) for intent, ids in ids_by_intent.items()}
