"""PACE: the tier of a role, and the role's obligations in it (docs/pace.md; specification, "PACE Plan").

Error policy: assume nominal, but name every value that was not reported. A tier's trigger is true, false or unknown:

- true: the role now holds the tier;
- false: the tier is released;
- unknown: the tier stays as it was, so a missing value neither escalates nor restores. Only an emergency ends when
  progress is reported: an agent that makes progress is not stuck, and hardly any host reports `unrecoverable_error`.

The role is in the highest tier that it holds, or in primary if it holds none. It escalates at once and is restored as
soon as every trigger is known to be false. A trigger that a host can never evaluate does not prevent that. A new task
begins with no tier held.

Standard library only: this module also runs inside hosts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from .observation import Observation
from .tiers import (
    ABORT,
    ABOVE_PRIMARY,
    ACTIONS,
    EMERGENCY,
    ESCALATE,
    FALLBACK,
    NORMAL,
    PRIMARY,
    TIERS,
)
from .triggers import TriggerTree, TriggerTreeError, Tripped, check_tree, evaluate_trigger

PROGRESS: Final = "progress was made"
"""Reason for the end of an emergency whose trigger is unknown."""
DEFAULT_MAX_TURNS: Final = 12
"""`doctrine.max_turns_without_progress` of the specification's example."""


class PlanError(ValueError):
    """Raised for a malformed compiled PACE plan. Its bundle must not be used."""


class Tier(NamedTuple):
    """One tier of a plan."""

    action: str = ""
    description: str = ""
    trigger: TriggerTree | None = None
    """The compiled condition that enters it; None is never true."""
    escalate_to: str | None = None
    """The role that takes over or is informed."""


class CompiledPacePlan(NamedTuple):
    """The PACE plan of a role. The role never enters a tier that is missing."""

    tiers: Mapping[str, Tier]
    max_turns: int = DEFAULT_MAX_TURNS
    """The role's `max_turns_without_progress`, which triggers call `max`."""


@dataclass(frozen=True, slots=True)
class Obligation:
    """An obligation of a role in its tier. The host that runs the role enforces it."""

    action: str
    """One of `ACTIONS`."""
    to: str | None
    """The role to hand over or report to. None if the plan names none."""
    text: str
    """The obligation in words, with the plan's own description."""


class PaceDecision(NamedTuple):
    """The current tier of a role, its earlier tier, and the reason."""

    tier: str
    previous: str
    held: tuple[str, ...] = ()
    """The tiers whose trigger was last known to be true. This is the whole state of the role."""
    reasons: tuple[Tripped, ...] = ()
    """The true comparisons of the tier's trigger. Empty in primary, and in a tier kept because of unknown values."""
    unknown: tuple[str, ...] = ()
    """Names that triggers read and the host did not report, and arithmetic without a value."""
    obligations: tuple[Obligation, ...] = ()
    new_task: bool = False
    progressed: bool = False
    """Whether an emergency ended because of progress although its trigger is unknown."""

    @property
    def changed(self) -> bool:
        """Whether the role is in another tier than before."""
        return self.tier != self.previous

    @property
    def raised(self) -> bool:
        """Whether the role escalated."""
        return TIERS.index(self.tier) > TIERS.index(self.previous)

    @property
    def restored(self) -> bool:
        """Whether the role is in a lower tier than before."""
        return TIERS.index(self.tier) < TIERS.index(self.previous)

    def text(self) -> str:
        """The transition, or the unchanged tier, in one sentence with the comparisons that caused it."""
        because = ", ".join(tripped.text for tripped in self.reasons)
        if self.raised:
            return f"escalated from {self.previous} to {self.tier}: {because}"
        if self.restored:
            over = PROGRESS if self.progressed else ""
            cause = "a new task began" if self.new_task else because or over or "no higher trigger is true"
            return f"restored from {self.previous} to {self.tier}: {cause}"
        if self.tier == PRIMARY:
            return f"{PRIMARY}: no trigger is true"
        return f"still {self.tier}: {because or self._name_unseen()}"

    def _name_unseen(self) -> str:
        return f"whether it is over is unknown, because of missing values: {', '.join(self.unknown)}"


class PaceMemory(NamedTuple):
    """The tiers that several roles hold, by role id. It can be stored as JSON."""

    held: Mapping[str, tuple[str, ...]] = MappingProxyType({})


def decide_pace(
    plan: CompiledPacePlan,
    observation: Observation,
    previous: str | Iterable[str] = PRIMARY,
    *,
    new_task: bool = False,
) -> PaceDecision:
    """Decide the tier of a role. `previous` is either the tiers that it `held`, or only the tier that it was in.

    Never raises for reported values. An unknown tier is treated as primary. Raises `TriggerTreeError` if a trigger of
    the plan is malformed and was never checked.
    """
    before = (previous,) if isinstance(previous, str) else tuple(previous)
    measures = observation.measures(plan.max_turns)
    held: list[str] = []
    reasons: dict[str, tuple[Tripped, ...]] = {}
    unknown: dict[str, None] = {}
    progressed = False
    for name in ABOVE_PRIMARY:
        tier = plan.tiers.get(name)
        if tier is None or tier.trigger is None:
            continue
        verdict = evaluate_trigger(tier.trigger, measures)
        unknown.update(dict.fromkeys((*verdict.unknown, *verdict.undefined)))
        reasons[name] = verdict.tripped
        stays = verdict.value is None and name in before and not new_task
        if stays and name == EMERGENCY and _has_progressed(observation):
            stays, progressed = False, True
        if verdict.value or stays:
            held.append(name)
    now = _find_highest_tier(held)
    return PaceDecision(
        now, _find_highest_tier(before), tuple(held), reasons.get(now, ()), tuple(unknown), list_obligations(plan, now), new_task,
        progressed,
    )  # fmt: skip


def _has_progressed(observation: Observation) -> bool:
    """Whether the last model call made progress."""
    turns = observation.turns_without_progress
    return type(turns) in (int, float) and turns == 0


def advance(
    memory: PaceMemory,
    role_id: str,
    plan: CompiledPacePlan,
    observation: Observation,
    *,
    new_task: bool = False,
) -> tuple[PaceDecision, PaceMemory]:
    """Decide the tier of one of several roles. Returns the decision and the new memory. Other roles keep their tiers."""
    decision = decide_pace(plan, observation, memory.held.get(role_id, ()), new_task=new_task)
    others = {other: held for other, held in memory.held.items() if other != role_id}
    return decision, PaceMemory({**others, role_id: decision.held} if decision.held else others)


def list_obligations(plan: CompiledPacePlan, tier: str) -> tuple[Obligation, ...]:
    """The obligations of a role in a tier. An unknown action (ORG509) is treated as the default action of the tier."""
    declared = plan.tiers.get(tier, Tier())
    action = declared.action if declared.action in ACTIONS else ACTIONS[TIERS.index(tier)]
    to = declared.escalate_to if action in (ESCALATE, ABORT) else None
    whom = f" to {to}" if to else ""
    text = {
        NORMAL: "continue as planned",
        FALLBACK: "use the fallback of the failing tool, or take a smaller step",
        ESCALATE: f"hand over{whom}",
        ABORT: f"stop, preserve the state and report{whom}",
    }[action]
    return (Obligation(action, to, f"{text}: {declared.description}" if declared.description else text),)


def read_plan(data: Mapping[str, Any]) -> CompiledPacePlan:
    """Read the plan of a role in a bundle: `pace` {tier: …}, `max_turns`, `reports_to`.

    If a tier escalates or aborts without a target, the target is the superior. Raises `PlanError`.
    """
    tiers = data.get("pace")
    if tiers is None:
        tiers = {}
    if not isinstance(tiers, Mapping):
        raise PlanError("`pace` is not a mapping of tiers")
    for name in tiers:
        if name not in TIERS:
            raise PlanError(f"`{str(name)[:40]}` is not a PACE tier")
    max_turns = data.get("max_turns", DEFAULT_MAX_TURNS)
    if type(max_turns) is not int or max_turns < 1:
        raise PlanError("`max_turns` is not a number of turns")
    superior = data.get("reports_to")
    return CompiledPacePlan(
        {name: _read_tier(name, tier, superior) for name, tier in tiers.items()}, max_turns
    )


def _read_tier(name: str, data: object, superior: object) -> Tier:
    if not isinstance(data, Mapping):
        raise PlanError(f"`pace/{name}` is not a mapping")
    trigger = data.get("trigger")
    if trigger is not None:
        try:
            check_tree(trigger)
        except TriggerTreeError as error:
            raise PlanError(f"`pace/{name}/trigger`: {error}") from error
    words = {key: data.get(key) or "" for key in ("action", "description")}
    to = data.get("escalate_to") or superior
    if not all(isinstance(word, str) for word in words.values()) or not isinstance(to, str | None):
        raise PlanError(f"`pace/{name}` has a value that is not a string")
    return Tier(words["action"], words["description"], trigger, to or None)


def _find_highest_tier(held: Iterable[str]) -> str:
    return max((name for name in held if name in TIERS), key=TIERS.index, default=PRIMARY)
