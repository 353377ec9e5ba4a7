"""Agents from the roster and the store: the roster declares which agents exist, the store has their state."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from orgkernel.decisions.state_view import AgentState
from orgkernel.diagnostics.wording import did_you_mean, listing, quote
from orgkernel.errors import Refused, UnknownRecord
from orgkernel.kernel.kernel import Kernel

if TYPE_CHECKING:
    from orgkernel.state.store import Store

UNKNOWN_NAME = "UNKNOWN_NAME"


def declared_agents(kernel: Kernel | None) -> Iterator[AgentState]:
    """The agents of all rosters with their starting values, each once."""
    found: dict[str, AgentState] = {}
    for organization in kernel.state.served.values() if kernel is not None else ():
        for agent_id, definition in organization.snapshot.records.agents.items():
            member = definition.record
            found.setdefault(agent_id, AgentState(agent_id, member.rank, member.trust))
    yield from found.values()


def merged(stored: Iterable[AgentState], declared: Iterable[AgentState]) -> tuple[AgentState, ...]:
    """All agents by id. Stored values win; missing ones start as declared."""
    by_id = {each.agent_id: each for each in declared}
    for each in stored:
        start = by_id.get(each.agent_id, each)
        rank = start.rank if each.rank is None else each.rank
        trust = start.trust if each.trust is None else each.trust
        by_id[each.agent_id] = AgentState(each.agent_id, rank, trust, each.lifecycle)
    return tuple(by_id[agent_id] for agent_id in sorted(by_id))


def require_rank(kernel: Kernel | None, rank: str | None) -> None:
    """Raise `Refused` if no ladder declares the rank."""
    if kernel is None or rank is None:
        return
    ranks = dict.fromkeys(
        each.id for served in kernel.state.served.values() for each in served.snapshot.records.ranks
    )
    if rank not in ranks:
        help = did_you_mean(rank, ranks) or (f"ranks are {listing(ranks)}" if ranks else "")
        raise Refused(f"there is no rank {quote(rank)}", help, UNKNOWN_NAME)


def admit(kernel: Kernel | None, store: Store, agent_id: str, actor: str) -> None:
    """Add a roster's agent to the store, if nothing is stored about it yet. Raises `UnknownRecord`."""
    if store.agents.get(agent_id) is not None:
        return
    declared = [each.agent_id for each in declared_agents(kernel)]
    if agent_id not in declared:
        known = [*declared, *(each.agent_id for each in store.agents.list())]
        help = (
            did_you_mean(agent_id, known)
            or "list all with `orgkernel agent list`, or add one with `orgkernel agent add`"
        )
        raise UnknownRecord(f"there is no agent {quote(agent_id)}", help)
    store.agents.add(agent_id, actor=actor, reason="declared by the roster")
