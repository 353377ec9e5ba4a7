"""The supervisor: steers an agent when its tier changes or a subordinate reports that it needs help.

Source: specification, "Phase 2: Supervisor Loop"; docs/signals.md. In the microcosm mode (all roles in one agent) it reads the
PACE decision of the agent's own role, or that role's report if there is no decision. In the macrocosm mode (an agent for each
role) it also reads the reports of subordinates. It sends a message

- once for each change of tier, up or down, and once for each subordinate that newly needs its superior;
- at most once a turn, and only if no other layer has warned in that turn;
- not within the cool-down, which doubles each time it repeats the same message about the same role. The first message
  about an emergency does not wait.

A message that has to wait stays due, because only spoken messages are remembered. Each message carries a fingerprint
(own_text.py).

Standard library only: this module also runs inside hosts.
"""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping, Sequence
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from .own_text import mark_own_text
from .pace import Obligation, PaceDecision
from .signal_records import Signals
from .signals import WARNING, claim, write
from .steering_words import PostInChainOfCommand, say_measures, say_report, say_transition
from .tiers import ACTIONS, PRIMARY, TIERS

LAYER: Final = "supervisor"
COOL_DOWN: Final = 3
"""Turns between two steerings."""
_DOUBLINGS: Final = 5
NAMED_AT_ONCE: Final = 3
"""Maximum number of subordinates in one text. The others stay due."""
_NEEDS_SUPERIOR: Final = ("contingent", "emergency")
_LAST: Final = "emergency"


class SupervisorMemory(NamedTuple):
    """The supervisor's memory. The host stores it unchanged for each agent."""

    own: Mapping[str, str] = MappingProxyType({})
    """The tier last mentioned, by role id. A missing role is in primary."""
    reported: Mapping[str, str] = MappingProxyType({})
    """The tier last seen or, if the reporter needs help, last mentioned, keyed by reporter (organization, role, agent
    number)."""
    said: Mapping[str, int] = MappingProxyType({})
    """How often a role and tier were mentioned in this task."""
    spoken_turn: int | None = None


class Steering(NamedTuple):
    """One text for the agent. The host puts it where the model reads it next."""

    text: str
    fingerprint: str
    intervention_type: str
    """`pace_TIER` for the agent's own role, `report_TIER` for a subordinate. The own role comes first."""
    about: tuple[str, ...]
    """The roles that the text is about."""
    deferred_to: str | None = None
    """The layer that has already spoken this turn. This text must not be shown now and stays due."""


class _Notice(NamedTuple):
    """A message that is due: its subject, the tier and the sentences."""

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
    post: PostInChainOfCommand,
    *,
    failing: Sequence[str] = (),
    cool_down: int = COOL_DOWN,
) -> tuple[Steering | None, SupervisorMemory]:
    """The text for this turn, and the memory after it is shown. Malformed reports are ignored and never raise.

    Keep the memory even if there is no text, because it records new tasks and silent changes. `reports` are the
    latest reports of each role in the specification's format. If a reporter has two, the later one in the sequence is
    used. `failing` are the tools whose calls fail. Do not show a steering that has `deferred_to`.
    """
    memory, due = _find_due(signals, pace, reports, memory, post, failing, cool_down)
    if not due:
        return None, memory
    steering = _write_steering(due)._replace(deferred_to=signals.holder(LAYER))
    return steering, memory if steering.deferred_to else _remember(memory, due, signals.turn)


def supervise(
    store: MutableMapping[str, Any],
    signals: Signals,
    pace: PaceDecision | None,
    reports: Sequence[Mapping[str, Any]],
    memory: SupervisorMemory,
    post: PostInChainOfCommand,
    *,
    failing: Sequence[str] = (),
    cool_down: int = COOL_DOWN,
) -> tuple[Steering | None, SupervisorMemory]:
    """Like `steer`, but first claims the right to warn in this turn (the lane `WARNING`), and writes the layer's signals. The host
    shows the returned text.

    A host calls it at the end of a turn. If another layer has the lane, the host calls it again at the start of the next
    turn, when no other layer can have warned yet. So a layer that warns every turn cannot silence the supervisor.
    """
    memory, due = _find_due(signals, pace, reports, memory, post, failing, cool_down)
    write(store, LAYER, active=True)
    if not due or not claim(store, WARNING, LAYER, signals).granted:
        return None, memory
    steering = _write_steering(due)
    write(store, LAYER, intervention_type=steering.intervention_type)
    return steering, _remember(memory, due, signals.turn)


def _find_due(
    signals: Signals,
    pace: PaceDecision | None,
    reports: Sequence[Mapping[str, Any]],
    memory: SupervisorMemory,
    post: PostInChainOfCommand,
    failing: Sequence[str],
    cool_down: int,
) -> tuple[SupervisorMemory, list[_Notice]]:
    """The messages due this turn, and the memory with the changes that need no message."""
    if pace is not None and pace.new_task:
        # The reported tiers of subordinates stay, because they do not end with the task of this role.
        memory = memory._replace(own={}, said={}, spoken_turn=None)
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


def _write_steering(due: Sequence[_Notice]) -> Steering:
    text, fingerprint = mark_own_text(" ".join(sentence for each in due for sentence in each.sentences))
    kind = f"{'pace' if due[0].own else 'report'}_{due[0].tier}"
    return Steering(text, fingerprint, kind, tuple(dict.fromkeys(each.role_id for each in due)))


def _find_own(
    pace: PaceDecision | None,
    reports: Sequence[Mapping[str, Any]],
    memory: SupervisorMemory,
    post: PostInChainOfCommand,
    failing: Sequence[str],
) -> _Notice | None:
    last_tier = memory.own.get(post.role_id, PRIMARY)
    why = ""
    if pace is None:
        mine = [report for report in reports if report["unit"]["role_id"] == post.role_id]
        if not mine:
            return None
        tier, why = _get_reported_tier(mine[-1]), say_measures(mine[-1])
        duty = Obligation(ACTIONS[TIERS.index(tier)], post.reports_to, "")
        pace = PaceDecision(tier, last_tier, obligations=(duty,))
    if pace.tier == last_tier:
        return None
    sentences = say_transition(pace, last_tier, post, failing, why)
    return _Notice(True, post.role_id, post.role_id, pace.tier, sentences)


def _find_subordinates(
    reports: Sequence[Mapping[str, Any]], memory: SupervisorMemory, post: PostInChainOfCommand
) -> tuple[SupervisorMemory, list[_Notice]]:
    """The messages due about subordinates, the worst first. Tiers that they handle alone are only recorded."""
    latest = {_get_subject(report): report for report in reports if _is_subordinate(report, post)}
    reported = dict(memory.reported)
    due: list[_Notice] = []
    for subject, report in latest.items():
        tier = _get_reported_tier(report)
        if tier not in _NEEDS_SUPERIOR or TIERS.index(tier) < TIERS.index(reported.get(subject, PRIMARY)):
            reported[subject] = tier
        elif tier != reported.get(subject, PRIMARY):
            role_id = report["unit"]["role_id"]
            due.append(_Notice(False, subject, role_id, tier, say_report(report, tier, post)))
    due.sort(key=lambda each: (-TIERS.index(each.tier), each.subject))
    return memory._replace(reported=reported), due


def _may_speak(notice: _Notice, memory: SupervisorMemory, turn: int | None, cool_down: int) -> bool:
    # If the turn is lower than the last one, the host has restarted its count.
    if turn is None or memory.spoken_turn is None or turn < memory.spoken_turn:
        return True
    if turn == memory.spoken_turn:
        return False
    times = memory.said.get(notice.key, 0)
    # The first message about an emergency does not wait. Later ones wait like others, or they would fill
    # the context.
    if notice.tier == _LAST and not times:
        return True
    return turn - memory.spoken_turn >= cool_down << min(times, _DOUBLINGS)


def _remember(memory: SupervisorMemory, taken: Sequence[_Notice], turn: int | None) -> SupervisorMemory:
    own = {**memory.own, **{each.subject: each.tier for each in taken if each.own}}
    reported = {**memory.reported, **{each.subject: each.tier for each in taken if not each.own}}
    counts = {**memory.said, **{each.key: memory.said.get(each.key, 0) + 1 for each in taken}}
    return SupervisorMemory(own, reported, counts, turn)


def _is_report(report: object) -> bool:
    """Whether a report names its role and its tier. Other reports are ignored."""
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


def _is_subordinate(report: Mapping[str, Any], post: PostInChainOfCommand) -> bool:
    unit = report["unit"]
    if unit["role_id"] == post.role_id:
        return False
    return unit.get("reports_to") == post.role_id or unit["role_id"] in post.subordinates


def _get_reported_tier(report: Mapping[str, Any]) -> str:
    return str(report["status"]["pace_level"])


def _get_subject(report: Mapping[str, Any]) -> str:
    unit = report["unit"]
    return f"{unit.get('organization') or '-'}/{unit['role_id']}/{unit.get('agent_number') or 0}"
