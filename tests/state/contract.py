"""What every store does. A test module per engine inherits it and says where its stores are (fixture `place`)."""

from __future__ import annotations

import threading

import pytest

from orgkernel.decisions.evidence.state_records import AuditEntry
from orgkernel.decisions.evidence.state_view import AgentState, Grant, StateView
from orgkernel.errors import Conflict, Refused, StoreError, TooManyRequests, UnknownRecord
from orgkernel.state.audit import (
    DAY,
    AuditFilter,
    PolicyCount,
    SenderCount,
    count_decisions,
    count_policies,
    count_unknown_senders,
    drop_old,
    read_rows,
)
from orgkernel.state.location import StoreLocation
from orgkernel.state.requests import RequestLimits
from orgkernel.state.store import Store
from orgkernel.state.verify import verify_audit
from tests.state.contract_of_claims import ClaimsOfFiles
from tests.state.contract_of_connections import Connections
from tests.state.contract_of_contracts import ContractsOnce
from tests.state.contract_of_crew import CrewRecords
from tests.state.contract_of_handoffs import HandoffsOnce
from tests.state.contract_of_limits import LimitsOfCalls
from tests.state.contract_of_past import Past
from tests.state.contract_of_reports import Reports
from tests.state.contract_of_skills import Evidence, Skills
from tests.state.opening import Clock, opened
from tests.support.patience import PATIENCE


def decision(at: float = 1.0, outcome: str = "allow", **more: object) -> AuditEntry:
    return AuditEntry("decision", at, outcome, **{"subject": "agent:worf", **more})


def history(store: Store, kind: str) -> list[tuple[str, str]]:
    """What was written down about records of a kind, oldest first."""
    rows = read_rows(store.context, AuditFilter(kind=kind))
    return [(row.entry.activity, row.entry.record_id) for row in rows][::-1]


def findings(store: Store) -> list[str]:
    return [each.message for each in verify_audit(store.context, store.folder).findings]


class Agents:
    def test_an_agent_is_added_once(self, store: Store) -> None:
        """A second one of that id is a conflict, and nothing of it is kept."""
        agent = store.agents.add("worf", org_id="shop", actor="person:picard", rank="ensign", trust=0.5)
        assert (
            agent == AgentState("worf", "ensign", 0.5, "active", "shop") == store.agents.get("shop", "worf")
        )
        with pytest.raises(Conflict, match="`worf` already exists"):
            store.agents.add("worf", org_id="shop", actor="person:picard", rank="commander")
        assert store.agents.list() == (agent,)
        assert history(store, "agent") == [("created", "worf")]

    def test_rank_and_trust_change(self, store: Store) -> None:
        """Other values stay, and an unknown agent gets no rank."""
        store.agents.add("worf", org_id="shop", actor="a", rank="ensign")
        store.agents.set_rank("worf", "lieutenant", org_id="shop", actor="a")
        assert store.agents.set_trust("worf", 0.75, org_id="shop", actor="a") == AgentState(
            "worf", "lieutenant", 0.75, "active", "shop"
        )
        with pytest.raises(UnknownRecord):
            store.agents.set_rank("nobody", "ensign", org_id="shop", actor="a")
        with pytest.raises(Refused, match="out of range"):
            store.agents.set_trust("worf", 1.5, org_id="shop", actor="a")
        assert [what for what, _ in history(store, "agent")] == ["created", "ranked", "trusted"]

    def test_lifecycle_moves_as_the_facts_say(self, store: Store) -> None:
        """Registered, probationary, active and suspended to and fro; decommissioned is the end."""
        store.agents.add("worf", org_id="shop", actor="a", lifecycle="registered")
        with pytest.raises(Conflict) as refusal:
            store.agents.move("worf", "active", org_id="shop", actor="a")
        assert refusal.value.code == "MOVE_NOT_ALLOWED"
        for step in ("probationary", "active", "suspended", "active", "decommissioned"):
            assert store.agents.move("worf", step, org_id="shop", actor="a").lifecycle == step
        for step in ("registered", "probationary", "active", "suspended", "decommissioned"):
            with pytest.raises(Conflict):
                store.agents.move("worf", step, org_id="shop", actor="a")

    def test_probation_ends_with_enough_trust(self, store: Store) -> None:
        """From 0.65 on, where the trust is known."""
        store.agents.add("worf", org_id="shop", actor="a", lifecycle="probationary", trust=0.64)
        with pytest.raises(Conflict) as refusal:
            store.agents.move("worf", "active", org_id="shop", actor="a")
        assert refusal.value.code == "TRUST_TOO_LOW"
        store.agents.set_trust("worf", 0.65, org_id="shop", actor="a")
        assert store.agents.move("worf", "active", org_id="shop", actor="a").lifecycle == "active"


class Grants:
    def test_an_agent_is_another_one_in_another_organization(self, store: Store) -> None:
        """What is stored for all of them can stop it in each and lower its rank, and gives nothing."""
        store.agents.add("worf", org_id="shop", actor="a", rank="senior")
        assert store.read_view("yard").agents == {}
        store.agents.add("worf", org_id="yard", actor="a")
        store.agents.move("worf", "suspended", org_id="yard", actor="a")
        assert store.read_view("shop").agents["worf"] == AgentState("worf", "senior", None, "active", "shop")
        everywhere = store.agents.add("worf", org_id="*", actor="a", rank="ensign", lifecycle="registered")
        assert store.read_view("shop").agents["worf"] == AgentState("worf", "senior", None, "registered", "*")
        assert store.read_view("yard").agents["worf"] == AgentState("worf", "ensign", None, "suspended", "*")
        assert store.read_view("dock").agents["worf"] == everywhere
        assert store.read_view().agents == {"worf": everywhere}

    def test_results_belong_to_an_organization(self, store: Store) -> None:
        """Passing a test of one organization says nothing about the test of that name in another."""
        store.results.record("worf", "helm", score=1, passed=True, org_id="shop", actor="a")
        assert set(store.read_view("shop").results) == {"worf"}
        assert store.read_view("yard").results == {}

    def test_a_grant_sleeps_until_it_is_woken(self, store: Store, place: StoreLocation) -> None:
        """A suspended grant cannot be used, even by a caller with an older view; suspending it twice changes nothing."""
        grant = store.grants.issue("role:co", ["tool:x"], issued_by="a", org_id="shop", uses=2)
        with opened(place) as other:
            assert other.read_view("shop").grants == {"role:co": (grant,)}
            (asleep,) = store.grants.put_to_sleep([grant.grant_id], actor="b", reason="gone")
            assert store.grants.put_to_sleep([grant.grant_id], actor="b", reason="gone") == ()
            with pytest.raises(Conflict, match="is asleep"):
                other.audit.write(AuditEntry("decision", 1.0, "allow"), uses=[grant.grant_id])
            assert other.read_view("shop").grants == {}
            assert other.read_view("shop").asleep == {"role:co": (asleep,)}
        assert store.grants.list(active_only=True) == (asleep,)
        assert store.grants.wake(grant.grant_id, org_id="shop", actor="a", reason="meant") == grant
        with pytest.raises(Conflict, match="is awake"):
            store.grants.wake(grant.grant_id, org_id="shop", actor="a")
        assert store.read_view("shop").grants == {"role:co": (grant,)}
        assert {what for what, _ in history(store, "grant")} == {"created", "slept", "woken"}

    def test_a_revoked_grant_is_neither_put_to_sleep_nor_woken(self, store: Store) -> None:
        """What has ended stays ended."""
        grant = store.grants.issue("role:co", ["tool:x"], issued_by="a", org_id="shop")
        store.grants.revoke(grant.grant_id, actor="a")
        assert store.grants.put_to_sleep([grant.grant_id], actor="b", reason="gone") == ()
        with pytest.raises(Conflict, match="is already revoked"):
            store.grants.wake(grant.grant_id, org_id="shop", actor="a")

    def test_an_approval_is_bound_to_what_was_asked(self, store: Store) -> None:
        """The organization, the action, the input and the version of the documents of the request are those of the grant."""
        bonds = {"action": "write", "input_digest": "0" * 64, "snapshot": f"sha256:{'1' * 64}"}
        asked = store.requests.create("agent:worf", ["tool:x"], org_id="shop", **bonds)
        _, grant = store.requests.approve(asked.request_id, "once", responder="person:picard")
        for record in (asked, grant, store.requests.get(asked.request_id), store.grants.get(grant.grant_id)):
            assert {name: getattr(record, name) for name in bonds} == bonds
        assert (grant.org_id, grant.uses_left) == ("shop", 1)
        assert store.read_view("shop").grants == {"agent:worf": (grant,)}
        rows = read_rows(store.context, AuditFilter())
        created = [row.entry.detail or {} for row in rows if row.entry.activity == "created"]
        assert [{name: each[name] for name in bonds} for each in created] == [bonds, bonds]
        for wrong in (
            {"input_digest": "abc"},
            {"snapshot": "1" * 64},
            {"snapshot": "sha256:abc"},
            {"snapshot": ""},
        ):
            with pytest.raises(Refused, match=r"is not (a|the) digest"):
                store.requests.create("agent:worf", ["tool:x"], org_id="shop", **wrong)
            with pytest.raises(Refused, match=r"is not (a|the) digest"):
                store.grants.issue("agent:worf", ["tool:x"], issued_by="a", org_id="shop", **wrong)

    def test_the_same_for_another_input_or_organization_is_not_the_same(self, store: Store) -> None:
        """So it may be asked for at once, also for another version of the documents."""
        for org, digest in (("shop", None), ("shop", "0" * 64), ("shop", "1" * 64), ("yard", None)):
            store.requests.create("agent:worf", ["tool:x"], org_id=org, input_digest=digest)
        edited = {"org_id": "yard", "snapshot": f"sha256:{'1' * 64}"}
        store.requests.create("agent:worf", ["tool:x"], **edited)
        with pytest.raises(TooManyRequests, match="asked for the same"):
            store.requests.create("agent:worf", ["tool:x"], **edited)
        with pytest.raises(TooManyRequests, match="asked for the same"):
            store.requests.create("agent:worf", ["tool:x"], org_id="shop", input_digest="1" * 64)

    def test_a_grant_is_kept_as_it_was_issued(self, store: Store, clock: Clock) -> None:
        """With everything it says, and the time of the store."""
        grant = store.grants.issue(
            "relationship:partner", ["tool:exec:/bin/*", "credential:github"], issued_by="person:o", level="read",
            waives=["rank", "visibility"], org_id="shop", channel="slack", session="s", reason="für Jörg",
            expires_at=clock.now + 60, uses=3,
        )  # fmt: skip
        assert grant == Grant(
            grant.grant_id, "relationship:partner", ("tool:exec:/bin/*", "credential:github"), "read",
            ("rank", "visibility"), "shop", "slack", "s", "für Jörg", "person:o", clock.now, clock.now + 60, None, 3,
        )  # fmt: skip
        assert store.grants.get(grant.grant_id) == grant
        assert store.grants.list() == store.grants.list("relationship:partner") == (grant,)
        assert store.grants.list("agent:other") == ()

    def test_revoking_is_soft_and_final(self, store: Store, clock: Clock) -> None:
        """The row and its history stay; a second time is a conflict."""
        grant = store.grants.issue("agent:worf", ["tool:x"], issued_by="a")
        clock.now += 5
        assert store.grants.revoke(grant.grant_id, actor="b").revoked_at == clock.now
        with pytest.raises(Conflict) as refusal:
            store.grants.revoke(grant.grant_id, actor="b")
        assert refusal.value.code == "ALREADY_REVOKED"
        assert [each.grant_id for each in store.grants.list()] == [grant.grant_id]
        assert store.grants.list(active_only=True) == ()
        assert history(store, "grant") == [("created", grant.grant_id), ("revoked", grant.grant_id)]

    def test_expiry_is_noted_once(self, store: Store, clock: Clock) -> None:
        """It ends at its exact second, whether or not its end was recorded."""
        grant = store.grants.issue("agent:worf", ["tool:x"], issued_by="a", expires_at=clock.now + 10)
        assert store.grants.expire() == ()
        clock.now += 10
        assert store.grants.list(active_only=True) == ()
        assert [each.grant_id for each in store.grants.expire()] == [grant.grant_id]
        assert store.grants.expire() == ()
        assert [what for what, _ in history(store, "grant")] == ["created", "expired"]

    def test_uses_are_counted_with_the_decision_that_used_them(self, store: Store) -> None:
        """In one transaction: when the grant is used up, the decision is not written."""
        grant = store.grants.issue("agent:worf", ["tool:x"], issued_by="a", uses=2)
        names = [store.audit.write(decision(), uses=[grant.grant_id]) for _ in range(2)]
        with pytest.raises(Conflict) as refusal:
            store.audit.write(decision(), uses=[grant.grant_id])
        assert refusal.value.code == "GRANT_USED_UP"
        assert [use.audit_id for use in store.grants.uses(grant.grant_id)] == names
        assert store.grants.count_uses() == {grant.grant_id: 2}
        assert store.grants.list(active_only=True) == ()
        assert len(list(read_rows(store.context, AuditFilter(kind="decision")))) == 2
        assert findings(store) == []

    def test_one_use_goes_to_one_of_many(self, store: Store) -> None:
        """The caller that commits first gets the last use; all others get an error."""
        grant = store.grants.issue("agent:worf", ["tool:x"], issued_by="a", uses=1)
        tickets = [store.audit.submit(decision(), uses=[grant.grant_id]) for _ in range(20)]
        outcomes = []
        for ticket in tickets:
            try:
                outcomes.append(ticket.result(PATIENCE))
            except Conflict:
                outcomes.append("refused")
        assert outcomes.count("refused") == 19
        assert len(store.grants.uses(grant.grant_id)) == 1

    def test_what_cannot_be_a_grant_is_refused(self, store: Store, clock: Clock) -> None:
        """Kinds, levels, waivers, times, numbers, and giving oneself a permission."""
        wrong = [
            {"subject": "worf"},
            {"subject": "robot:worf"},
            {"subject": "agent:"},
            {"subject": "agent:worf\0"},
            {"subject": "agent:" + "x" * 300},
            {"resources": []},
            {"resources": ["x"]},
            {"level": "some"},
            {"waives": ["policy"]},
            {"expires_at": clock.now},
            {"uses": 0},
            {"issued_by": "agent:worf"},
        ]
        for each in wrong:
            given = {"subject": "agent:worf", "resources": ["tool:x"], "issued_by": "a", **each}
            with pytest.raises(Refused):
                store.grants.issue(given.pop("subject"), given.pop("resources"), **given)
        assert store.grants.list() == ()
        assert store.read_view().version == 0

    def test_restrictions_are_issued_and_lifted(self, store: Store, clock: Clock) -> None:
        """Apart from grants."""
        cap = store.restrictions.issue(
            "agent:worf", ["tool:x"], issued_by="a", level="read", expires_at=clock.now + 9
        )
        other = store.restrictions.issue("tag:vip", ["data:full"], issued_by="a")
        assert store.restrictions.list() == tuple(sorted((cap, other), key=lambda each: each.restriction_id))
        store.restrictions.revoke(other.restriction_id, actor="a")
        clock.now += 9
        assert store.restrictions.list(active_only=True) == ()
        assert [each.restriction_id for each in store.restrictions.expire()] == [cap.restriction_id]
        assert {what for what, _ in history(store, "restriction")} == {"created", "revoked", "expired"}
        with pytest.raises(UnknownRecord):
            store.restrictions.revoke("x-none", actor="a")


class Requests:
    def test_once_is_a_grant_of_one_use(self, store: Store, clock: Clock) -> None:
        """With the request it answers, and an end."""
        request = store.requests.create(
            "agent:worf", ["tool:x"], waives=["rank"], reason="repair", kind="action"
        )
        done, grant = store.requests.approve(request.request_id, "once", responder="person:picard")
        assert (done.status, done.response, done.grant_id) == ("approved", "once", grant.grant_id)
        assert (grant.uses_left, grant.request_id, grant.waives) == (1, request.request_id, ("rank",))
        assert grant.expires_at == clock.now + 3_600
        assert history(store, "request") == [
            ("created", request.request_id),
            ("approved", request.request_id),
        ]

    def test_a_day_and_always(self, store: Store, clock: Clock) -> None:
        """24 hours, and no end."""
        for number, (approval, until) in enumerate((("day", clock.now + 86_400), ("always", None))):
            request = store.requests.create("agent:worf", [f"tool:{number}"])
            _, grant = store.requests.approve(request.request_id, approval, responder="person:picard")
            assert (grant.expires_at, grant.uses_left) == (until, None)

    def test_only_a_pending_request_is_answered(self, store: Store, clock: Clock) -> None:
        """Approved, denied and expired are final, and an answer to them is a conflict."""
        answered = store.requests.create("agent:worf", ["tool:a"])
        store.requests.deny(answered.request_id, responder="person:picard")
        expired = store.requests.create("agent:worf", ["tool:b"], kind="command")
        clock.now += 120
        for request in (answered, expired):
            with pytest.raises(Conflict) as refusal:
                store.requests.approve(request.request_id, "always", responder="person:picard")
            assert refusal.value.code == "NOT_PENDING"
            with pytest.raises(Conflict):
                store.requests.deny(request.request_id, responder="person:picard")
        with pytest.raises(UnknownRecord):
            store.requests.deny("r-none", responder="person:picard")
        assert store.grants.list() == ()

    @pytest.mark.parametrize(("kind", "seconds"), [("access", 86_400), ("command", 120), ("action", 3_600)])
    def test_silence_is_a_denial(self, store: Store, clock: Clock, kind, seconds) -> None:
        """A request expires at its time, whether or not that was recorded; it is recorded once."""
        request = store.requests.create("agent:worf", ["tool:x"], kind=kind)
        clock.now += seconds - 1
        assert store.requests.get(request.request_id).status == "pending"
        clock.now += 1
        assert store.requests.get(request.request_id).status == "expired"
        assert store.requests.list("pending") == ()
        assert (store.requests.expire(), store.requests.expire()) == (1, 0)
        assert [what for what, _ in history(store, "request")] == ["created", "expired"]

    def test_a_requester_cannot_approve_for_itself(self, store: Store) -> None:
        """Not even when everything else is right."""
        request = store.requests.create("agent:worf", ["tool:x"])
        with pytest.raises(Refused) as refusal:
            store.requests.approve(request.request_id, "once", responder="agent:worf")
        assert refusal.value.code == "SELF_GRANT"

    def test_twenty_five_may_be_pending(self, store: Store, clock: Clock) -> None:
        """The next one is refused until one is answered or expires; others may ask."""
        first, *_ = [store.requests.create("agent:worf", [f"tool:{number}"]) for number in range(25)]
        with pytest.raises(TooManyRequests) as refusal:
            store.requests.create("agent:worf", ["tool:more"])
        assert refusal.value.code == "TOO_MANY_PENDING"
        store.requests.create("agent:data", ["tool:more"])
        store.requests.deny(first.request_id, responder="person:picard")
        store.requests.create("agent:worf", ["tool:more"])
        with pytest.raises(TooManyRequests):
            store.requests.create("agent:worf", ["tool:still_more"])
        clock.now += 86_400
        store.requests.create("agent:worf", ["tool:still_more"])

    def test_the_same_is_not_asked_within_a_minute(self, store: Store, clock: Clock) -> None:
        """Something else is."""
        store.requests.create("agent:worf", ["tool:x"])
        clock.now += 59
        with pytest.raises(TooManyRequests) as refusal:
            store.requests.create("agent:worf", ["tool:x"])
        assert refusal.value.code == "REQUEST_COOLDOWN"
        store.requests.create("agent:worf", ["tool:y"])
        clock.now += 1
        store.requests.create("agent:worf", ["tool:x"])

    def test_three_denials_in_a_day_are_enough(self, store: Store, clock: Clock) -> None:
        """After that nothing can be asked until they are a day old."""
        for number in range(3):
            request = store.requests.create("agent:worf", [f"tool:{number}"])
            store.requests.deny(request.request_id, responder="person:picard")
            clock.now += 100
        with pytest.raises(TooManyRequests) as refusal:
            store.requests.create("agent:worf", ["tool:more"])
        assert refusal.value.code == "REQUESTS_BLOCKED"
        clock.now += 86_400 - 299
        store.requests.create("agent:worf", ["tool:more"])

    def test_a_denial_from_a_clock_ahead_does_not_block_requests(self, store: Store, clock: Clock) -> None:
        """What was asked and denied while it was a day ahead is not recent."""
        clock.now += 86_400
        for number in range(3):
            request = store.requests.create("agent:worf", [f"tool:{number}"])
            store.requests.deny(request.request_id, responder="person:picard")
        for number in range(5):
            store.requests.create("agent:data", [f"tool:{number}"])
        clock.now -= 86_400
        store.requests.create("agent:worf", ["tool:0"])
        store.requests.create("agent:data", ["tool:0"])

    def test_limits_are_settings(self, place: StoreLocation, clock: Clock) -> None:
        """All of them."""
        limits = RequestLimits(pending=1, pending_in_all=2, cooldown=0, denials=1, denial_window=10)
        with opened(place, clock, limits=limits) as store:
            request = store.requests.create("agent:worf", ["tool:x"])
            with pytest.raises(TooManyRequests):
                store.requests.create("agent:worf", ["tool:x"])
            store.requests.create("agent:worf", ["tool:y"])
            with pytest.raises(TooManyRequests):
                store.requests.create("agent:worf", ["tool:z"])
            store.requests.deny(request.request_id, responder="p")
            with pytest.raises(TooManyRequests):
                store.requests.create("agent:worf", ["tool:x"])
            clock.now += 10
            store.requests.create("agent:worf", ["tool:x"])

    def test_requests_from_a_clock_ahead_do_not_use_up_the_limit(self, store: Store, clock: Clock) -> None:
        """What was asked far in the future is not recent."""
        request = store.requests.create("agent:worf", ["tool:x"])
        store.requests.deny(request.request_id, responder="p")
        clock.now -= 10 * 86_400
        store.requests.create("agent:worf", ["tool:x"])
        assert findings(store) == []

    def test_secrets_are_masked_before_they_are_stored(self, store: Store) -> None:
        """In the request, its context, and the audit of it."""
        secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
        request = store.requests.create(
            "agent:worf", ["tool:x"], reason=f"with {secret}", original_message=secret,
            context={"headers": {"authorization": secret}, "password": "vX9$kQ2!mZ7pLw4R"},
        )  # fmt: skip
        stored = store.requests.get(request.request_id)
        rows = list(read_rows(store.context, AuditFilter()))
        assert secret[4:] not in repr((request, stored, rows))
        assert "vX9$kQ2" not in repr((request, stored))
        assert stored == request
        assert stored.reason == "with [a GitHub token, masked]"


class LocksAndTheRest:
    def test_a_tool_has_one_holder(self, store: Store) -> None:
        """Another one is told who; in another organization it is another tool."""
        store.locks.acquire("shop", "press", "agent:worf", reason="printing")
        with pytest.raises(Conflict, match="locked by `agent:worf`") as refusal:
            store.locks.acquire("shop", "press", "agent:data")
        assert refusal.value.code == "TOOL_LOCKED"
        store.locks.acquire("yard", "press", "agent:data")
        assert [(lock.org_id, lock.holder) for lock in store.locks.list()] == [
            ("shop", "agent:worf"),
            ("yard", "agent:data"),
        ]

    def test_tokens_rise_with_every_lock(self, store: Store, clock: Clock) -> None:
        """After a release, a break and a timeout; the old token is refused everywhere."""
        tokens = []
        lock = store.locks.acquire("shop", "press", "agent:a")
        tokens.append(lock.token)
        store.locks.release("shop", "press", "agent:a", lock.token)
        tokens.append(store.locks.acquire("shop", "press", "agent:b").token)
        assert store.locks.break_("shop", "press", actor="person:picard").holder == "agent:b"
        tokens.append(store.locks.acquire("shop", "press", "agent:c", timeout=30).token)
        clock.now += 30
        tokens.append(store.locks.acquire("shop", "press", "agent:d").token)
        tokens.append(store.locks.acquire("shop", "press", "agent:d").token)
        assert tokens == [1, 2, 3, 4, 5]
        assert store.locks.check("shop", "press", "agent:d", 5).token == 5
        for holder, token in (("agent:c", 3), ("agent:d", 4), ("agent:a", 5)):
            for refused in (store.locks.check, store.locks.release):
                with pytest.raises(Conflict) as refusal:
                    refused("shop", "press", holder, token)
                assert refusal.value.code == "STALE_TOKEN"
        assert [what for what, _ in history(store, "lock")] == [
            "acquired", "released", "acquired", "broken", "acquired", "timed_out", "acquired", "acquired",
        ]  # fmt: skip

    def test_a_lock_is_acquired_only_if_it_is_free(self, store: Store, clock: Clock) -> None:
        """Then its holder does not get it again either, until the time of the lock is over."""
        store.locks.acquire("shop", "press", "agent:a", timeout=30, only_free=True)
        with pytest.raises(Conflict) as refusal:
            store.locks.acquire("shop", "press", "agent:a", only_free=True)
        assert refusal.value.code == "TOOL_LOCKED"
        clock.now += 30
        assert store.locks.acquire("shop", "press", "agent:a", only_free=True).token == 2

    def test_an_expired_lock_has_no_holder(self, store: Store, clock: Clock) -> None:
        """The lock is not listed, and its token is stale, although no other caller has acquired the lock."""
        lock = store.locks.acquire("shop", "press", "agent:a", timeout=30)
        clock.now += 30
        assert store.locks.list() == ()
        with pytest.raises(Conflict, match="has expired"):
            store.locks.check("shop", "press", "agent:a", lock.token)

    def test_only_held_locks_can_be_broken(self, store: Store) -> None:
        """Neither a tool that was never locked nor one that was released."""
        with pytest.raises(UnknownRecord):
            store.locks.break_("shop", "press", actor="a")
        lock = store.locks.acquire("shop", "press", "agent:a")
        store.locks.release("shop", "press", "agent:a", lock.token)
        with pytest.raises(UnknownRecord):
            store.locks.break_("shop", "press", actor="a")

    def test_only_the_lock_that_was_looked_at_is_broken(self, store: Store) -> None:
        """Another agent has acquired the lock, and the caller that breaks it could have no right over this agent."""
        first = store.locks.acquire("shop", "press", "agent:a")
        store.locks.release("shop", "press", "agent:a", first.token)
        store.locks.acquire("shop", "press", "agent:b")
        with pytest.raises(Conflict) as refusal:
            store.locks.break_("shop", "press", actor="a", token=first.token)
        assert refusal.value.code == "STALE_TOKEN"
        assert store.locks.list()[0].holder == "agent:b"

    def test_one_of_many_gets_the_tool(self, store: Store) -> None:
        """Twenty threads, one holder."""
        outcomes: list[str] = []

        def race(number: int) -> None:
            try:
                outcomes.append(store.locks.acquire("shop", "press", f"agent:{number}").holder)
            except Conflict:
                outcomes.append("refused")

        threads = [threading.Thread(target=race, args=(number,)) for number in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert outcomes.count("refused") == 19

    def test_results_are_kept_in_order(self, store: Store, clock: Clock) -> None:
        """Of each agent, oldest first."""
        for score in (0.4, 0.9):
            store.results.record(
                "worf",
                "helm",
                score=score,
                passed=score > 0.5,
                org_id="shop",
                actor="a",
                expires_at=clock.now + 1,
            )
            clock.now += 1
        store.results.record("data", "helm", score=1, passed=True, org_id="shop", actor="a")
        assert [each.score for each in store.results.list("worf")] == [0.4, 0.9]
        assert store.read_view("shop").results["worf"] == store.results.list("worf")
        with pytest.raises(Refused):
            store.results.record("worf", "helm", score=7, passed=True, org_id="shop", actor="a")
        assert {what for what, _ in history(store, "result")} == {"passed", "failed"}

    def test_usage_adds_up(self, store: Store, clock: Clock) -> None:
        """Calls, failures and seconds of each agent and tool; each call is a row of the audit too."""
        begun = clock.now
        for ok in (True, False, True):
            clock.now += 1
            store.usage.record("worf", "press", ok=ok, seconds=0.5, decision="w:decision:1").result()
        store.usage.record("data", "press").result()
        (worf,) = store.usage.list(("worf",))
        assert (worf.uses, worf.failures, worf.seconds) == (3, 1, 1.5)
        assert (worf.first_at, worf.last_at) == (begun + 1, begun + 3)
        assert len(store.usage.list()) == 2
        rows = list(read_rows(store.context, AuditFilter(kind="usage", subject="agent:worf")))
        assert [row.entry.activity for row in rows] == ["succeeded", "failed", "succeeded"]
        assert store.read_view().version == 0

    def test_a_key_is_shown_once_and_found_by_its_secret(self, store: Store, clock: Clock) -> None:
        """The store keeps a digest; wrong, expired and revoked secrets find nothing."""
        key, secret = store.keys.create(
            "ci",
            ["read", "admin"],
            created_by="a",
            agent_id="worf",
            org_ids=["ship"],
            expires_at=clock.now + 9,
        )
        assert key.scopes == ("read", "admin")
        assert len(secret) == 48
        assert store.keys.find(secret) == key == store.keys.list()[0]
        for wrong in (secret[:-1], secret + "x", secret.upper(), "", "orgk_", "orgk_\ud800", key.key_id):
            assert store.keys.find(wrong) is None
        everything = repr((store.keys.list(), list(read_rows(store.context, AuditFilter()))))
        assert secret[5:] not in everything
        clock.now += 9
        assert store.keys.find(secret) is None
        clock.now -= 9
        store.keys.revoke(key.key_id, actor="a")
        assert store.keys.find(secret) is None
        assert [what for what, _ in history(store, "key")] == ["created", "revoked"]

    def test_an_expired_key_stays_expired(self, store: Store, clock: Clock) -> None:
        """In a process that has seen it, also when the clock is set back."""
        _, secret = store.keys.create("key", ["read"], created_by="a", expires_at=clock.now + 10)
        clock.now += 10
        assert store.keys.find(secret) is None
        clock.now -= 5
        assert store.keys.find(secret) is None

    def test_a_key_revoked_elsewhere_opens_nothing(
        self, place: StoreLocation, store: Store, clock: Clock
    ) -> None:
        """Keys are remembered between two requests, and the state version says for how long."""
        key, secret = store.keys.create("ci", ["read"], created_by="a")
        assert store.keys.find(secret) == key
        with opened(place, clock) as other:
            second, newer = other.keys.create("cd", ["read"], created_by="a")
            assert store.keys.find(newer) == second
            other.keys.revoke(key.key_id, actor="a")
        assert store.keys.find(secret) is None
        assert store.keys.find(newer) == second


class Views:
    def test_nothing_stored_is_the_empty_state(self, store: Store) -> None:
        """Also for an organization."""
        assert store.read_view() == store.read_view("shop") == StateView()

    def test_a_view_is_the_same_object_until_something_changes(self, store: Store) -> None:
        """Decisions, usage and refused changes are no change."""
        store.agents.add("worf", org_id="shop", actor="a")
        view, of_shop = store.read_view(), store.read_view("shop")
        store.audit.write(decision())
        store.usage.record("worf", "x").result()
        with pytest.raises(Conflict):
            store.agents.add("worf", org_id="shop", actor="a")
        assert store.read_view() is view
        assert store.read_view("shop") is of_shop
        store.agents.add("data", org_id="shop", actor="a")
        assert store.read_view() is not view
        assert set(of_shop.agents) == {"worf"}

    def test_a_view_holds_what_decisions_read(self, store: Store, clock: Clock) -> None:
        """By whom and what it is about; what was revoked is gone, what was noted as expired stands aside until then."""
        agent = store.agents.add("worf", org_id="shop", actor="a")
        kept = store.grants.issue("agent:worf", ["tool:x"], issued_by="a")
        gone = store.grants.issue("agent:worf", ["tool:y"], issued_by="a")
        late = store.grants.issue("role:co", ["tool:y"], issued_by="a", expires_at=clock.now + 1)
        cap = store.restrictions.issue("agent:worf", ["tool:z"], issued_by="a")
        mine = store.locks.acquire("shop", "press", "agent:worf")
        theirs = store.locks.acquire("yard", "press", "agent:data")
        view = store.read_view("shop")
        assert view.grants == {
            "agent:worf": tuple(sorted((kept, gone), key=lambda each: each.grant_id)),
            "role:co": (late,),
        }
        store.grants.revoke(gone.grant_id, actor="a")
        clock.now += 1
        store.expire()
        view = store.read_view("shop")
        assert view.agents == {"worf": agent}
        assert view.grants == {"agent:worf": (kept,)}
        assert view.expired == {"role:co": (late,)}
        assert view.restrictions == {"agent:worf": (cap,)}
        assert view.locks == {"press": mine}
        assert store.read_view("yard").locks == {"press": theirs}
        store.locks.release("shop", "press", "agent:worf", mine.token)
        store.grants.revoke(late.grant_id, actor="a")
        assert store.read_view("shop").locks == {}
        assert store.read_view("shop").expired == {}

    def test_two_processes_see_each_others_changes(
        self, place: StoreLocation, store: Store, clock: Clock
    ) -> None:
        """By the version; a view that was patched equals one that was read anew."""
        with opened(place, clock) as other:
            store.agents.add("worf", org_id="shop", actor="a")
            grant = store.grants.issue("agent:worf", ["tool:x"], issued_by="a", uses=2)
            assert other.read_view() == store.read_view()
            other.agents.set_rank("worf", "ensign", org_id="shop", actor="a")
            other.audit.write(decision(), uses=[grant.grant_id])
            assert store.read_view() == other.read_view()
            assert store.read_view().grants["agent:worf"][0].uses_left == 1
            with opened(place, clock) as third:
                assert third.read_view() == store.read_view()
                assert findings(third) == []

    def test_whether_a_view_is_current_is_told_without_waiting(
        self, place: StoreLocation, store: Store, clock: Clock
    ) -> None:
        """A file says so; a server, which would have to be waited for, never does; what others changed is never missed."""
        assert not store.is_current()
        store.refresh()
        is_file = bool(place.path)
        assert store.is_current() is is_file
        with opened(place, clock) as other:
            other.keys.create("one", ["read"], created_by="a")
            assert not store.is_current()
            store.refresh()
            assert [key.name for key in store.keys.known[1]] == ["one"]
            assert store.is_current() is is_file
            other.locks.acquire("shop", "press", "agent:worf")
            assert not store.is_current()
            assert store.get_last_view("shop").locks == {}
            store.refresh()
            assert store.get_last_view("shop").locks["press"].holder == "agent:worf"
            assert store.get_last_view("other").locks == {}

    def test_the_last_view_is_had_without_a_look(
        self, place: StoreLocation, store: Store, clock: Clock
    ) -> None:
        """The view stays the same until it is read again."""
        assert store.get_last_view() == StateView()
        store.agents.add("worf", org_id="shop", actor="a")
        assert store.get_last_view() == StateView()
        view = store.read_view()
        assert store.get_last_view() is view

    def test_a_view_cannot_be_changed(self, store: Store) -> None:
        """It is shared by all who decide."""
        store.agents.add("worf", org_id="shop", actor="a")
        with pytest.raises(TypeError):
            store.read_view("shop").agents["worf"] = AgentState("worf", "senior")


class Audit:
    def test_rows_are_asked_for_in_many_ways(self, store: Store) -> None:
        """Newest first, page by page."""
        names = [
            store.audit.write(
                decision(float(number), "deny" if number % 2 else "allow", subject=f"agent:{number % 3}", channel="slack" if number < 4 else "")
            )
            for number in range(10)
        ]  # fmt: skip

        def ask(limit=None, after=None, **wanted):
            rows = read_rows(store.context, AuditFilter(**wanted), limit, after)
            return [names.index(row.audit_id) for row in rows]

        assert ask() == [9, 8, 7, 6, 5, 4, 3, 2, 1, 0]
        assert ask(activity="deny") == [9, 7, 5, 3, 1]
        assert ask(subject="agent:2") == [8, 5, 2]
        assert ask(subject="agent:", channel="slack") == [3, 2, 1, 0]
        assert ask(subject="person:") == []
        assert ask(since=3, until=6) == [5, 4, 3]
        assert ask(limit=3) == [9, 8, 7]
        assert ask(limit=3, after=names[7]) == [6, 5, 4]
        with pytest.raises(UnknownRecord):
            ask(after="w:decision:99")
        with pytest.raises(UnknownRecord):
            ask(after="nonsense")

    def test_rows_add_up(self, store: Store) -> None:
        """Decisions by outcome, policies by effect, and unknown senders."""
        unknown = {"relationship": "unknown", "channel": "slack", "sender": "u1", "subject": "person:unknown"}
        for entry in (
            decision(1, policies_matched=("owner", "quiet")),
            decision(2, "deny", policies_matched=("owner",), policies_denied=("night",)),
            decision(3, "deny", **unknown),
            decision(4, "deny", **unknown),
        ):
            store.audit.write(entry)
        stats = count_decisions(store.context)
        assert stats.outcomes == {"allow": 1, "deny": 3}
        assert stats.subjects == {"agent:worf": {"allow": 1, "deny": 1}, "person:unknown": {"deny": 2}}
        assert stats.channels == {"slack": {"deny": 2}}
        assert count_decisions(store.context, since=3).outcomes == {"deny": 2}
        assert count_policies(store.context) == (
            PolicyCount("night", 0, 1), PolicyCount("owner", 2, 0), PolicyCount("quiet", 1, 0),
        )  # fmt: skip
        assert count_unknown_senders(store.context) == (SenderCount("slack", "u1", 2, 4.0),)

    def test_anything_can_be_written_down(self, store: Store) -> None:
        """Texts no database takes as they are, very long ones, deep ones; only what is not valid JSON is refused, alone."""
        names = [
            store.audit.submit(decision(subject="agent:" + text, reason=text, detail={text: text}))
            for text in ("\0", "\ud800", "x" * 100_000, "🖖" * 3_000, "'; DROP TABLE audit; --", "\u202e")
        ]
        deep: dict[str, object] = {}
        for _ in range(100):
            deep = {"a": deep}
        names.append(store.audit.submit(decision(detail=deep)))
        wrong = store.audit.submit(decision(detail={"a": object()}))
        names.append(store.audit.submit(decision()))
        assert len({ticket.result(PATIENCE) for ticket in names}) == 8
        with pytest.raises(StoreError, match="cannot be written"):
            wrong.result(PATIENCE)
        assert findings(store) == []

    @pytest.mark.parametrize(
        "text", ["\0", "\ud800", "x" * 100_000, "🖖" * 3_000, "';--", "\u202e", "", "a\nb"]
    )
    def test_no_text_breaks_a_store(self, store: Store, text: str) -> None:
        """It is stored cleaned, or refused; in every place a text can come to, and beside what others hand in."""
        beside = store.audit.defer(decision())
        store.agents.add("worf", org_id="shop", actor=text, reason=text)
        anywhere = [
            lambda: store.agents.add(text, org_id="shop", actor="a"),
            lambda: store.agents.set_rank("worf", text, org_id="shop", actor=text),
            lambda: store.agents.get("shop", text),
            lambda: store.grants.issue(f"agent:{text}", [f"tool:{text}"], issued_by=text),
            lambda: store.grants.issue("agent:worf", ["tool:x"], issued_by=text, channel=text, session=text, reason=text),
            lambda: store.grants.issue("agent:worf", ["tool:x"], issued_by="a", org_id=text, action=text, input_digest=text),
            lambda: store.grants.revoke(text, actor=text),
            lambda: store.grants.list(text),
            lambda: store.restrictions.issue("agent:worf", ["tool:x"], issued_by=text, reason=text),
            lambda: store.restrictions.issue("agent:worf", ["tool:x"], issued_by="a", org_id=text),
            lambda: store.agents.add("data", org_id=text, actor="a"),
            lambda: store.requests.create("agent:worf", ["tool:x"], org_id=text),
            lambda: store.requests.create("agent:worf", ["tool:y"], channel=text, session=text, reason=text,
                                          summary=text, original_message=text, tool_call_id=text, context={text: [text]}),
            lambda: store.requests.deny(store.requests.list("pending")[0].request_id, responder=text, reason=text),
            lambda: store.requests.list(None, text),
            lambda: store.results.record("worf", text, score=1, passed=True, org_id="shop", actor=text, reason=text),
            lambda: store.locks.acquire(text, text, f"agent:{text}"),
            lambda: store.locks.acquire("shop", "press", "agent:worf", reason=text),
            lambda: store.locks.break_("shop", "press", actor=text, reason=text),
            lambda: store.locks.check(text, text, text, 1),
            lambda: store.usage.record("worf", "x", action=text, code=text, org_id=text, decision=text).result(PATIENCE),
            lambda: store.keys.create(text, ["read"], created_by=text, agent_id=text, org_ids=[text]),
            lambda: store.keys.create("ci", ["read"], created_by=text),
            lambda: store.keys.find(f"orgk_{text}"),
            lambda: list(read_rows(store.context, AuditFilter(subject=text, channel=text, record_id=text))),
            lambda: list(read_rows(store.context, AuditFilter(), after=f"{text}:{text}:1")),
        ]  # fmt: skip
        for attempt in anywhere:
            try:
                attempt()
            except Refused:
                continue
        beside.result(PATIENCE)
        view = store.read_view()
        assert len(view.grants["agent:worf"]) == 1
        assert set(view.grants["agent:worf"]) <= set(store.grants.list())
        assert findings(store) == []

    def test_no_number_breaks_a_store(self, store: Store) -> None:
        """What is not a valid time is not stored as "never", what is too large is refused."""
        nan, infinite = float("nan"), float("inf")
        for number in (nan, infinite, -infinite, 1e300):
            for attempt in (
                lambda end=number: store.grants.issue(
                    "agent:worf", ["tool:x"], issued_by="a", expires_at=end
                ),
                lambda end=number: store.restrictions.issue(
                    "agent:worf", ["tool:x"], issued_by="a", expires_at=end
                ),
                lambda end=number: store.keys.create("ci", ["read"], created_by="a", expires_at=end),
                lambda end=number: store.locks.acquire("shop", "press", "agent:worf", timeout=end),
                lambda end=number: store.results.record(
                    "worf", "q", score=1, passed=True, org_id="shop", actor="a", expires_at=end
                ),
                lambda end=number: store.results.record(
                    "worf", "q", score=end, passed=True, org_id="shop", actor="a"
                ),
                lambda end=number: store.usage.record("worf", "x", seconds=end),
            ):
                with pytest.raises(Refused):
                    attempt()
            if number != 1e300:
                with pytest.raises(StoreError):
                    store.audit.write(decision(number))
        with pytest.raises(Refused):
            store.grants.issue("agent:worf", ["tool:x"], issued_by="a", uses=10**30)
        assert store.read_view() == StateView()
        assert findings(store) == []

    def test_many_callers_lose_nothing(self, store: Store) -> None:
        """Rows of 16 threads, each with a name of its own, in an unbroken chain."""
        names: list[str] = []

        def call() -> None:
            names.extend([store.audit.write(decision()) for _ in range(25)])

        threads = [threading.Thread(target=call) for _ in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        rows = {row.audit_id for row in read_rows(store.context, AuditFilter())}
        assert rows == set(names)
        assert len(names) == 400
        assert findings(store) == []

    def test_a_refused_change_takes_nothing_with_it(self, store: Store) -> None:
        """Of what was handed in together, only the refused one is missing, also from the chain."""
        store.agents.add("worf", org_id="shop", actor="a")
        tickets = [store.context.writer.submit(decision(float(number))) for number in range(3)]
        with pytest.raises(Conflict):
            store.agents.add("worf", org_id="shop", actor="a")
        tickets += [store.context.writer.submit(decision(9.0))]
        assert len({ticket.result(PATIENCE) for ticket in tickets}) == 4
        assert findings(store) == []

    def test_many_make_a_store_at_once(self, place: StoreLocation) -> None:
        """One of them makes its tables, and all can use it."""
        names: list[str] = []

        def use(number: int) -> None:
            with opened(place, busy_seconds=30) as store:
                names.append(store.audit.write(decision(float(number))))

        threads = [threading.Thread(target=use, args=(number,)) for number in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        with opened(place) as store:
            assert {row.audit_id for row in read_rows(store.context, AuditFilter())} == set(names)
            assert len(names) == 6
            assert findings(store) == []

    def test_a_closed_store_says_so(self, place: StoreLocation) -> None:
        """Submitted writes are completed; later ones are refused, and no caller waits."""
        store = opened(place)
        ticket = store.audit.defer(decision())
        store.close()
        assert ticket.is_done
        assert ticket.result(0).endswith(":decision:1")
        with pytest.raises(StoreError, match="closed"):
            store.audit.defer(decision()).result(PATIENCE)
        store.close()

    def test_a_chain_is_continued_by_who_comes_next(self, place: StoreLocation) -> None:
        """One after the other they share a chain; two at once have one each."""
        for _ in range(3):
            with opened(place) as store:
                store.audit.write(decision())
        with opened(place) as one, opened(place) as other:
            first, second = one.audit.write(decision()), other.audit.write(decision())
            assert first.split(":")[0] != second.split(":")[0]
            assert first.endswith(":4")
            assert findings(one) == []

    def test_old_rows_leave_in_sealed_segments(self, store: Store, clock: Clock) -> None:
        """Decisions after 90 days and history after a year; what is left still verifies, and the newest row stays."""
        for _ in range(5):
            store.audit.write(decision(clock.now))
        store.agents.add("worf", org_id="shop", actor="a")
        clock.now += 89 * DAY
        store.audit.write(decision(clock.now))
        assert drop_old(store.context, store.folder) == ()
        clock.now += 2 * DAY
        (segment,) = drop_old(store.context, store.folder)
        assert (segment.stream, segment.first, segment.last) == ("decision", 1, 5)
        found = verify_audit(store.context, store.folder)
        assert (found.findings, found.dropped) == ((), 5)
        clock.now += 400 * DAY
        drop_old(store.context, store.folder)
        kinds = [row.entry.kind for row in read_rows(store.context, AuditFilter())]
        assert sorted(kinds) == ["audit", "audit", "decision"]
        store.audit.write(decision(clock.now))
        assert findings(store) == []


class StoreContract(
    Agents, Grants, Requests, LocksAndTheRest, Reports, Skills, CrewRecords, ClaimsOfFiles, ContractsOnce, HandoffsOnce, Evidence, Views, Audit, Past, Connections, LimitsOfCalls
):  # fmt: skip
    """All of it."""
