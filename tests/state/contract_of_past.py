"""What every store says of the past; part of the contract."""

from __future__ import annotations

import contextlib
import random
from typing import Any

import msgspec
import pytest

from orgkernel.decisions.access.stored import is_active
from orgkernel.decisions.evidence.crew_records import AgentIdentity, Episode, Personality
from orgkernel.decisions.evidence.skill_levels import DAY, SkillTerms
from orgkernel.decisions.evidence.state_view import StateView
from orgkernel.errors import OrgkernelError, Refused
from orgkernel.state.audit import drop_old
from orgkernel.state.crew import CommissionDraft
from orgkernel.state.store import Store
from tests.state.opening import Clock

ORG = "shop"
AGENTS = ("worf", "data")
TERMS = (SkillTerms("helm", 14), SkillTerms("maps", 7))
STEPS = 30


def one_change(store: Store, chance: random.Random) -> None:
    """Something that is stored, or revoked, raised, lowered, used or invalidated."""
    agent, terms = chance.choice(AGENTS), chance.choice(TERMS)
    org = chance.choice((ORG, ORG, "yard", "*"))
    subject = f"agent:{agent}"
    grants = [each.grant_id for each in store.grants.list() if each.revoked_at is None]
    restrictions = [each.restriction_id for each in store.restrictions.list() if each.revoked_at is None]
    results = [each.result_id for each in store.results.list() if each.invalidated_at is None]
    changes: list[Any] = [
        lambda: store.agents.add(agent, org_id=org, actor="a", trust=chance.choice((None, 0.7))),
        lambda: store.agents.set_rank(agent, chance.choice(("ensign", "commander")), org_id=org, actor="a"),
        lambda: store.agents.move(agent, chance.choice(("active", "suspended")), org_id=org, actor="a"),
        lambda: store.grants.issue(
            subject, ["tool:x"], issued_by="a", org_id=org, uses=chance.choice((None, 3))
        ),
        lambda: store.grants.issue(
            subject, ["tool:y"], issued_by="a", expires_at=chance.choice((1e6 + 5 * DAY, None))
        ),
        lambda: store.grants.revoke(chance.choice(grants), actor="a"),
        lambda: store.restrictions.issue(subject, ["tool:x"], issued_by="a", org_id=org),
        lambda: store.restrictions.revoke(chance.choice(restrictions), actor="a"),
        lambda: store.results.record(agent, "first_aid", org_id=org, score=0.8, passed=True, actor="a"),
        lambda: store.results.invalidate(chance.choice(results), org_id=ORG, actor="a", reason="a leak"),
        lambda: store.skills.acquire(agent, terms, org_id=org, actor="a", level=chance.randint(1, 7)),
        lambda: store.skills.exercise(agent, terms, org_id=ORG, actor="a"),
        lambda: store.skills.assess(agent, terms, chance.randint(1, 7), org_id=ORG, actor="a"),
        lambda: store.skills.suspend(agent, terms, org_id=ORG, actor="a"),
        lambda: store.skills.resume(agent, terms.skill, org_id=ORG, actor="a"),
        lambda: store.crew.set_status(org, "alert", chance.choice(("GREEN", "RED")), actor="a"),
        lambda: store.crew.commission(
            org,
            [CommissionDraft(agent, chance.choice(("hand", "chief")), "active", ("maps",), identity_of(agent, org, store), "{}")],
            actor="a",
            snapshot="s",
        ),
        lambda: store.crew.record_episode(
            Episode(
                str(chance.random()), ORG, agent, chance.choice(("success", "failure")), store.context.clock(),
                intent=chance.choice((None, "dock")), tools=chance.choice(((), ("radar",))),
            ),
            chance.choice(([], [terms])),
            actor="a",
        ),
        lambda: store.crew.observe(org, agent, Personality(openness=chance.random()), actor="a"),
    ]  # fmt: skip
    # There may be nothing to revoke, or it is not allowed in this state: that nothing changed is checked as well.
    with contextlib.suppress(OrgkernelError, IndexError):
        chance.choice(changes)()


def identity_of(agent: str, org: str, store: Store) -> AgentIdentity:
    return AgentIdentity(agent, org, f"did:key:z{agent}", store.context.clock())


def what_counts(state: StateView, now: float) -> dict[str, Any]:
    """A state without what decides nothing: versions, locks, and what is over."""
    return {
        "agents": dict(state.agents),
        "grants": {key: rows for key in state.grants if (rows := _active(state.grants[key], now))},
        "restrictions": {
            key: rows for key in state.restrictions if (rows := _active(state.restrictions[key], now))
        },
        "results": dict(state.results),
        "skills": dict(state.skills),
        **{
            name: dict(getattr(state, name))
            for name in ("status", "identities", "commissions", "service", "outcomes", "personalities")
        },
    }


def _active(rows: tuple[Any, ...], now: float) -> list[Any]:
    found = [each for each in rows if is_active(each, ORG, now)]
    return sorted(found, key=msgspec.json.encode)


class Past:
    @pytest.mark.parametrize("seed", range(2))
    def test_the_past_is_what_the_view_then_was(self, store: Store, clock: Clock, seed: int) -> None:
        """Whatever is changed later, a question about a time is answered as it would have been then."""
        chance = random.Random(seed)
        store.skills.acquire("worf", TERMS[0], org_id=ORG, actor="a", level=5)
        store.grants.issue("agent:worf", ["tool:x"], issued_by="a")
        seen = []
        for _ in range(STEPS):
            clock.now += chance.randint(1, 2) * DAY / 4
            one_change(store, chance)
            seen.append((clock.now, what_counts(store.read_view(ORG), clock.now)))
        assert any(then["skills"] and then["grants"] and then["agents"] for _, then in seen)
        for at, then in seen:
            assert what_counts(store.read_past(ORG, at), at) == then
        assert what_counts(store.read_past(ORG, 0.0), 0.0) == what_counts(StateView(), 0.0)

    def test_a_history_that_was_dropped_is_not_made_up(self, store: Store, clock: Clock) -> None:
        """Where the audit begins later than the time, the state of that time is refused and not guessed."""
        store.agents.add("worf", org_id=ORG, actor="a", rank="ensign")
        before = clock.now + DAY
        clock.now += 100 * DAY
        store.agents.set_rank("worf", "commander", org_id=ORG, actor="a")
        assert store.read_past(ORG, before).agents["worf"].rank == "ensign"
        drop_old(store.context, store.folder, {"decision": DAY, "history": DAY})
        with pytest.raises(Refused, match="no longer known") as refusal:
            store.read_past(ORG, before)
        assert refusal.value.code == "PAST_UNKNOWN"
        assert store.read_past(ORG, clock.now).agents["worf"].rank == "commander"

    def test_a_change_of_rank_is_past_at_its_own_time(self, store: Store, clock: Clock) -> None:
        """The list of changes agrees with the rank that the state of that time has."""
        store.agents.add("worf", org_id=ORG, actor="a", rank="ensign")
        clock.now += DAY
        store.agents.set_rank("worf", "commander", org_id=ORG, actor="a")
        assert store.read_past(ORG, clock.now).agents["worf"].rank == "commander"
        (move,) = store.list_rank_changes(ORG, "worf", "ensign", clock.now)
        assert (move.before, move.after) == ("ensign", "commander")
        assert store.list_rank_changes(ORG, "worf", "ensign", clock.now - 1) == ()
