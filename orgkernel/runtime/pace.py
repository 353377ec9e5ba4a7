"""PACE: the tier a role is in, and what it then has to do (design §6 "PACE."; specification, "PACE Plan").

Error policy: assume nominal, but name what was not seen. A tier's trigger is true, false or unknown:

- true: the tier is held from now on;
- false: it is let go;
- unknown: it stays as it was, so what a host does not report neither raises nor restores.

The role is in the highest tier held, and in primary when none is. So it escalates at once, comes back as soon as every
trigger is seen to be false, and a trigger that a host can never evaluate does not keep it from coming back. A new task
begins with nothing held.

The state of one role is `PaceDecision.held`; `PaceMemory` keeps it for several roles. Standard library only: this
module also runs inside hosts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from .observation import Observation
from .tiers import (
    ABORT,
    ABOVE_PRIMARY,
    ACTIONS,
    ESCALATE,
    FALLBACK,
    NO_NEW_DISPATCH,
    NO_NEW_WORK,
    NORMAL,
    PRIMARY,
    TIERS,
)
from .triggers import TriggerTree, TriggerTreeError, Tripped, check_tree, evaluate_trigger

__all__ = [
    "ABORT", "ACTIONS", "ESCALATE", "FALLBACK", "NORMAL", "NO_NEW_DISPATCH", "NO_NEW_WORK", "PRIMARY", "TIERS",
    "Obligation", "PaceDecision", "PaceMemory", "PacePlan", "PlanError", "Tier", "advance", "decide_pace", "obligations_of", "read_plan",
]  # fmt: skip

DEFAULT_MAX_TURNS: Final = 12
"""`doctrine.max_turns_without_progress` of the specification's example."""


class PlanError(ValueError):
    """A compiled PACE plan is not one; the bundle that holds it must not be used."""


@dataclass(frozen=True, slots=True)
class Tier:
    """One tier of a plan."""

    action: str = ""
    description: str = ""
    trigger: TriggerTree | None = None
    """The compiled condition that enters it; None is never true."""
    escalate_to: str | None = None
    """Who takes over or is told."""


@dataclass(frozen=True, slots=True)
class PacePlan:
    """What a role does when things go wrong. A tier that is missing is never entered."""

    tiers: Mapping[str, Tier]
    max_turns: int = DEFAULT_MAX_TURNS
    """The role's `max_turns_without_progress`, which triggers call `max`."""


@dataclass(frozen=True, slots=True)
class Obligation:
    """What a role has to do in its tier; whoever runs the role sees to it."""

    action: str
    """One of `ACTIONS`."""
    to: str | None
    """Whom to hand over or report to; None where the plan names nobody."""
    text: str
    """The same in words, with the plan's own description."""


@dataclass(frozen=True, slots=True)
class PaceDecision:
    """The tier of a role now, the tier it was in, and why."""

    tier: str
    previous: str
    held: tuple[str, ...] = ()
    """The tiers whose trigger was last seen to be true: the whole state of the role."""
    reasons: tuple[Tripped, ...] = ()
    """The comparisons that are true of the tier's own trigger; none where it is primary, or kept by what is unknown."""
    unknown: tuple[str, ...] = ()
    """What triggers read and the host did not report, and arithmetic without a value."""
    obligations: tuple[Obligation, ...] = ()
    new_task: bool = False

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
        """The transition, or the tier that stays, in one sentence with the comparisons behind it."""
        because = ", ".join(tripped.text for tripped in self.reasons)
        if self.raised:
            return f"{self.tier}, up from {self.previous}: {because}"
        if self.restored:
            cause = "a new task began" if self.new_task else because or "no trigger above holds"
            return f"{self.tier}, restored from {self.previous}: {cause}"
        if self.tier == PRIMARY:
            return f"{PRIMARY}: nothing tripped"
        return f"{self.tier}, as before: {because or self._unseen()}"

    def _unseen(self) -> str:
        return f"not known to be over without {', '.join(self.unknown)}"


@dataclass(frozen=True, slots=True)
class PaceMemory:
    """What several roles hold: role id to tiers. Plain enough to be kept as JSON."""

    held: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def tier_of(self, role_id: str) -> str:
        """The tier a role was last seen in."""
        return _highest(self.held.get(role_id, ()))


def decide_pace(
    plan: PacePlan,
    observation: Observation,
    previous: str | Iterable[str] = PRIMARY,
    *,
    new_task: bool = False,
) -> PaceDecision:
    """The tier of a role. `previous` is the tier it was in, or better the tiers it `held`.

    Never raises for what a host reports; a word that is no tier counts as primary. Raises `TriggerTreeError` for a
    plan whose triggers were never checked and are ill-formed.
    """
    before = (previous,) if isinstance(previous, str) else tuple(previous)
    measures = observation.measures(plan.max_turns)
    held: list[str] = []
    reasons: dict[str, tuple[Tripped, ...]] = {}
    unknown: dict[str, None] = {}
    for name in ABOVE_PRIMARY:
        tier = plan.tiers.get(name)
        if tier is None or tier.trigger is None:
            continue
        verdict = evaluate_trigger(tier.trigger, measures)
        unknown.update(dict.fromkeys((*verdict.unknown, *verdict.undefined)))
        reasons[name] = verdict.tripped
        if verdict.value or (verdict.value is None and name in before and not new_task):
            held.append(name)
    now = _highest(held)
    return PaceDecision(
        now, _highest(before), tuple(held), reasons.get(now, ()), tuple(unknown), obligations_of(plan, now), new_task
    )  # fmt: skip


def advance(
    memory: PaceMemory, role_id: str, plan: PacePlan, observation: Observation, *, new_task: bool = False
) -> tuple[PaceDecision, PaceMemory]:
    """The decision for one role of several, and the memory after it. Other roles keep their tiers."""
    decision = decide_pace(plan, observation, memory.held.get(role_id, ()), new_task=new_task)
    others = {other: held for other, held in memory.held.items() if other != role_id}
    return decision, PaceMemory({**others, role_id: decision.held} if decision.held else others)


def obligations_of(plan: PacePlan, tier: str) -> tuple[Obligation, ...]:
    """What a role has to do in a tier; an action nobody knows (ORG509) counts as the one usual for the tier."""
    declared = plan.tiers.get(tier, Tier())
    action = declared.action if declared.action in ACTIONS else ACTIONS[TIERS.index(tier)]
    to = declared.escalate_to if action in (ESCALATE, ABORT) else None
    whom = f" to {to}" if to else ""
    text = {
        NORMAL: "go on as planned",
        FALLBACK: "use the fallback of the tool that fails, or take a smaller step",
        ESCALATE: f"hand over{whom}",
        ABORT: f"stop, preserve the state and report{whom}",
    }[action]
    return (Obligation(action, to, f"{text}: {declared.description}" if declared.description else text),)


def read_plan(data: Mapping[str, Any]) -> PacePlan:
    """The plan of a role as a bundle holds it: `pace` {tier: …}, `max_turns`, `reports_to`.

    A tier that hands over or aborts without saying to whom does so to the superior. Raises `PlanError`.
    """
    tiers = data.get("pace")
    if tiers is None:
        tiers = {}
    if not isinstance(tiers, Mapping):
        raise PlanError("`pace` is no mapping of tiers")
    for name in tiers:
        if name not in TIERS:
            raise PlanError(f"`{str(name)[:40]}` is no PACE tier")
    max_turns = data.get("max_turns", DEFAULT_MAX_TURNS)
    if type(max_turns) is not int or max_turns < 1:
        raise PlanError("`max_turns` is no number of turns")
    superior = data.get("reports_to")
    return PacePlan({name: _read_tier(name, tier, superior) for name, tier in tiers.items()}, max_turns)


def _read_tier(name: str, data: object, superior: object) -> Tier:
    if not isinstance(data, Mapping):
        raise PlanError(f"`pace/{name}` is no mapping")
    trigger = data.get("trigger")
    if trigger is not None:
        try:
            check_tree(trigger)
        except TriggerTreeError as error:
            raise PlanError(f"`pace/{name}/trigger`: {error}") from error
    words = {key: data.get(key) or "" for key in ("action", "description")}
    to = data.get("escalate_to") or superior
    if not all(isinstance(word, str) for word in words.values()) or not isinstance(to, str | None):
        raise PlanError(f"`pace/{name}` has a value that is no text")
    return Tier(words["action"], words["description"], trigger, to or None)


def _highest(held: Iterable[str]) -> str:
    return max((name for name in held if name in TIERS), key=TIERS.index, default=PRIMARY)
