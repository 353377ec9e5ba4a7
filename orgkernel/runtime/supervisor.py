"""The supervisor: steers an agent when its tier changes, or a subordinate reports that it needs help.

Source: specification, "Phase 2: Supervisor Loop"; seed 002; docs/signals.md. In the microcosm it reads the PACE
decision of the agent's own role (or, where there is none, its own report); in the macrocosm also the reports of
subordinates. It says something

- once for each transition, up or back down, and once for each subordinate that comes to need its superior;
- at most once a turn, and only when no other layer has warned in that turn;
- not again within the cool-down, which doubles each time it has to say the same of the same role; an emergency that
  was not spoken of yet does not wait.

What has to wait is still due: only what was said is remembered. Its own text carries a fingerprint (own_text.py).

Standard library only: this module also runs inside hosts.
"""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from .own_text import mark_own_text
from .pace import ACTIONS, PRIMARY, TIERS, Obligation, PaceDecision
from .signal_records import Signals
from .signals import WARNING, claim, write
from .steering_words import Post, say_measures, say_report, say_transition

LAYER: Final = "supervisor"
COOL_DOWN: Final = 3
"""Turns between two steerings."""
_DOUBLINGS: Final = 5
NAMED_AT_ONCE: Final = 3
"""Subordinates spoken of in one text; the others are due next time."""
_NEEDS_SUPERIOR: Final = ("contingent", "emergency")
_LAST: Final = "emergency"


@dataclass(frozen=True, slots=True)
class SupervisorMemory:
    """What the supervisor has said. The host keeps it for the agent, as it is."""

    own: Mapping[str, str] = field(default_factory=dict)
    """Role id to the tier last spoken of; a role that is missing is at primary."""
    reported: Mapping[str, str] = field(default_factory=dict)
    """Reporter (role, organization, agent number) to the tier last seen or, where it needs help, spoken of."""
    said: Mapping[str, int] = field(default_factory=dict)
    """How often a role and tier were spoken of in this task."""
    spoken_turn: int | None = None


@dataclass(frozen=True, slots=True)
class Steering:
    """One text for the agent, which the host puts where its model reads it next."""

    text: str
    fingerprint: str
    intervention_type: str
    """`pace_TIER` for the own role, `report_TIER` for a subordinate; the own role comes first."""
    about: tuple[str, ...]
    """The roles it speaks of."""
    deferred_to: str | None = None
    """The layer that has spoken this turn: this text must not be said now, and is due again."""


@dataclass(frozen=True, slots=True)
class _Notice:
    """Something due: whom it is about, in which tier, and the sentences."""

    own: bool
    subject: str
    role_id: str
    tier: str
    sentences: tuple[str, ...]

    @property
    def key(self) -> str:
        return f"{self.subject} {self.tier}"


def steer(
    signals: Signals,
    pace: PaceDecision | None,
    reports: Sequence[Mapping[str, Any]],
    memory: SupervisorMemory,
    post: Post,
    *,
    failing: Sequence[str] = (),
    cool_down: int = COOL_DOWN,
) -> tuple[Steering | None, SupervisorMemory]:
    """What to say this turn, and the memory after it is said. Says nothing it is not sure of; never raises for a report.

    Keep the memory also when there is nothing to say: a new task and what needs no word are noted in it.
    `reports` are the latest of each role, as the specification writes them; of two by the same reporter the later in
    the sequence counts. `failing` are the tools whose calls fail. A steering with `deferred_to` must not be said.
    """
    memory, due = _find_due(signals, pace, reports, memory, post, failing, cool_down)
    if not due:
        return None, memory
    steering = replace(_word(due), deferred_to=signals.holder(LAYER))
    return steering, memory if steering.deferred_to else _remember(memory, due, signals.turn)


def supervise(
    store: MutableMapping[str, Any],
    signals: Signals,
    pace: PaceDecision | None,
    reports: Sequence[Mapping[str, Any]],
    memory: SupervisorMemory,
    post: Post,
    *,
    failing: Sequence[str] = (),
    cool_down: int = COOL_DOWN,
) -> tuple[Steering | None, SupervisorMemory]:
    """`steer`, with the lane claimed and the layer's word written: what comes back is to be said.

    A host asks at the end of a turn. What was deferred there is best asked for again right after the next turn
    began, when nobody else can have spoken yet: so a layer that warns every turn cannot silence the supervisor.
    """
    memory, due = _find_due(signals, pace, reports, memory, post, failing, cool_down)
    write(store, LAYER, active=True)
    if not due or not claim(store, WARNING, LAYER, signals).granted:
        return None, memory
    steering = _word(due)
    write(store, LAYER, intervention_type=steering.intervention_type)
    return steering, _remember(memory, due, signals.turn)


def _find_due(
    signals: Signals,
    pace: PaceDecision | None,
    reports: Sequence[Mapping[str, Any]],
    memory: SupervisorMemory,
    post: Post,
    failing: Sequence[str],
    cool_down: int,
) -> tuple[SupervisorMemory, list[_Notice]]:
    """What could be said this turn, and the memory with what needs no word."""
    if pace is not None and pace.new_task:
        memory = replace(memory, own={}, said={}, spoken_turn=None)
    reports = [report for report in reports if _is_report(report)]
    memory, subordinates = _find_subordinates(reports, memory, post)
    own = _find_own(pace, reports, memory, post, failing)
    due = [
        notice
        for notice in ([own] if own else []) + subordinates
        if _may_speak(notice, memory, signals.turn, cool_down)
    ]
    return memory, [
        *(each for each in due if each.own),
        *[each for each in due if not each.own][:NAMED_AT_ONCE],
    ]


def _word(due: Sequence[_Notice]) -> Steering:
    text, fingerprint = mark_own_text(" ".join(sentence for each in due for sentence in each.sentences))
    kind = f"{'pace' if due[0].own else 'report'}_{due[0].tier}"
    return Steering(text, fingerprint, kind, tuple(dict.fromkeys(each.role_id for each in due)))


def _find_own(
    pace: PaceDecision | None,
    reports: Sequence[Mapping[str, Any]],
    memory: SupervisorMemory,
    post: Post,
    failing: Sequence[str],
) -> _Notice | None:
    told = memory.own.get(post.role_id, PRIMARY)
    why = ""
    if pace is None:
        mine = [report for report in reports if report["unit"]["role_id"] == post.role_id]
        if not mine:
            return None
        tier, why = _tier_of(mine[-1]), say_measures(mine[-1])
        duty = Obligation(ACTIONS[TIERS.index(tier)], post.reports_to, "")
        pace = PaceDecision(tier, told, obligations=(duty,))
    if pace.tier == told:
        return None
    sentences = say_transition(pace, told, post, failing, why)
    return _Notice(True, post.role_id, post.role_id, pace.tier, sentences)


def _find_subordinates(
    reports: Sequence[Mapping[str, Any]], memory: SupervisorMemory, post: Post
) -> tuple[SupervisorMemory, list[_Notice]]:
    """What is due of subordinates, the worst first; tiers in which they help themselves are only noted."""
    latest = {_subject_of(report): report for report in reports if _is_subordinate(report, post)}
    reported = dict(memory.reported)
    due: list[_Notice] = []
    for subject, report in latest.items():
        tier = _tier_of(report)
        if tier not in _NEEDS_SUPERIOR or TIERS.index(tier) < TIERS.index(reported.get(subject, PRIMARY)):
            reported[subject] = tier
        elif tier != reported.get(subject, PRIMARY):
            role_id = report["unit"]["role_id"]
            due.append(_Notice(False, subject, role_id, tier, say_report(report, tier, post)))
    due.sort(key=lambda each: (-TIERS.index(each.tier), each.subject))
    return replace(memory, reported=reported), due


def _may_speak(notice: _Notice, memory: SupervisorMemory, turn: int | None, cool_down: int) -> bool:
    if turn is None or memory.spoken_turn is None or turn < memory.spoken_turn:
        return True
    if turn == memory.spoken_turn:
        return False
    times = memory.said.get(notice.key, 0)
    if notice.tier == _LAST and not times:
        return True
    return turn - memory.spoken_turn >= cool_down << min(times, _DOUBLINGS)


def _remember(memory: SupervisorMemory, taken: Sequence[_Notice], turn: int | None) -> SupervisorMemory:
    own = {**memory.own, **{each.subject: each.tier for each in taken if each.own}}
    reported = {**memory.reported, **{each.subject: each.tier for each in taken if not each.own}}
    said = {**memory.said, **{each.key: memory.said.get(each.key, 0) + 1 for each in taken}}
    return SupervisorMemory(own, reported, said, turn)


def _is_report(report: object) -> bool:
    """Whether a report says who it is of and in which tier; another one is nobody's to act on."""
    if not isinstance(report, Mapping):
        return False
    unit, status = report.get("unit"), report.get("status")
    return (
        isinstance(unit, Mapping)
        and isinstance(unit.get("role_id"), str)
        and isinstance(status, Mapping)
        and isinstance(status.get("pace_level"), str)
        and status["pace_level"] in TIERS
    )


def _is_subordinate(report: Mapping[str, Any], post: Post) -> bool:
    unit = report["unit"]
    if unit["role_id"] == post.role_id:
        return False
    return unit.get("reports_to") == post.role_id or unit["role_id"] in post.subordinates


def _tier_of(report: Mapping[str, Any]) -> str:
    return str(report["status"]["pace_level"])


def _subject_of(report: Mapping[str, Any]) -> str:
    unit = report["unit"]
    return f"{unit.get('organization') or '-'}/{unit['role_id']}/{unit.get('agent_number') or 0}"
