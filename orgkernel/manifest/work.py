"""Parts of a manifest about current work: the depth of hand-offs, claimed files, open blockers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from orgkernel.decisions.evidence.state_view import StateView
from orgkernel.graph.questions import OrgView
from orgkernel.manifest.v1 import BlockerItem, ClaimItem, Fact
from orgkernel.manifest.why import build_facts
from orgkernel.runtime.utc import as_utc

_LIMIT = "max_spawn_depth"


def build_depth_limit(view: OrgView, *, hands_off: bool) -> Fact | None:
    """The depth limit of the organization, if the role can hand work down."""
    if not hands_off:
        return None
    limit = view.records.organization.limits.max_spawn_depth
    (fact,) = build_facts(view.records.get_declaring_document("limits", _LIMIT), ("limits",), {_LIMIT: limit})
    return Fact(id="depth_left", value=limit, why=fact.why)


def list_claims_of(state: StateView, holders: Iterable[str], now: float) -> Iterator[ClaimItem]:
    """The current claims of these holders."""
    for holder in holders:
        for claim in state.claims.find_by_holder(holder):
            if claim.expires_at > now:
                yield ClaimItem(
                    id=str(claim.token), why=(), holder=holder, paths=claim.paths, session=claim.session,
                    expires_at=as_utc(claim.expires_at),
                )  # fmt: skip


def list_blockers_of(state: StateView, agents: Iterable[str]) -> Iterator[BlockerItem]:
    """The open blockers of these agents."""
    for agent_id in agents:
        for each in state.blockers.get(agent_id, ()):
            yield BlockerItem(
                id=each.blocker_id, why=(), agent=agent_id, session=each.session, question=each.question,
                fallback_action=each.fallback_action, human_required_for=each.human_required_for, since=as_utc(each.at),
            )  # fmt: skip
