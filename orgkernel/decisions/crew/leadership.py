"""Who is asked and delegated to, counted from the recorded hand-offs: an observation of leadership as it emerges.

It decides nothing: no rank, right or dispatch reads it.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from orgkernel.decisions.evidence.state_records import HandoffRecord
from orgkernel.graph.questions import OrgView


class LeadershipCount(msgspec.Struct, frozen=True, kw_only=True):
    """The hand-offs to and from one subject."""

    subject: str
    """`agent:ID` or `role:ID`."""
    received: int
    """Hand-offs that it worked on."""
    senders: int
    """The number of different subjects that handed work to it."""
    received_outside_chain: int
    """Of those, the ones whose sender is not above its role in the chain of command."""
    passed_on: int
    """Hand-offs that it sent."""
    receivers: int
    """The number of different subjects that it handed work to."""


class LeadershipObservation(msgspec.Struct, frozen=True, kw_only=True):
    """The subjects of all recorded hand-offs of an organization, those with the most senders first."""

    org_id: str
    handoffs: int
    counts: tuple[LeadershipCount, ...]
    snapshot: str


def observe_leadership(view: OrgView, handoffs: Iterable[HandoffRecord]) -> LeadershipObservation:
    """Count the hand-offs of each subject. The chain of command is the current one."""
    records = tuple(handoffs)
    subjects = dict.fromkeys(subject for each in records for subject in (each.holder, each.sender))
    counts = []
    for subject in subjects:
        received = [each for each in records if each.holder == subject]
        sent = [each for each in records if each.sender == subject]
        counts.append(
            LeadershipCount(
                subject=subject,
                received=len(received),
                senders=len({each.sender for each in received}),
                received_outside_chain=sum(not _is_from_above(view, each) for each in received),
                passed_on=len(sent),
                receivers=len({each.holder for each in sent}),
            )
        )
    counts.sort(key=lambda each: (-each.senders, -each.received, each.subject))
    return LeadershipObservation(
        org_id=view.org_id, handoffs=len(records), counts=tuple(counts), snapshot=view.digest
    )


def _is_from_above(view: OrgView, handoff: HandoffRecord) -> bool:
    """Whether the sender of a hand-off is, or fills, a role above the receiving one."""
    kind, _, name = handoff.sender.partition(":")
    roles = {edge.target for edge in view.list_roles_filled_by(name)} if kind == "agent" else {name}
    receiver = handoff.receiver.removeprefix("role:")
    return view.is_role(receiver) and not roles.isdisjoint(view.list_superiors_above(receiver))
