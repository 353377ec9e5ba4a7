"""What every store does with alerts, commissions, episodes and personalities; part of the contract."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from orgkernel.decisions.evidence.crew_records import AgentIdentity, Episode, Personality
from orgkernel.decisions.evidence.skill_levels import SkillTerms
from orgkernel.decisions.evidence.state_records import AuditFilter
from orgkernel.errors import Conflict, OrgkernelError, Refused, UnknownRecord
from orgkernel.state.audit import read_rows
from orgkernel.state.crew import CommissionDraft
from orgkernel.state.location import StoreLocation
from orgkernel.state.store import Store
from tests.state.opening import Clock, opened

HELM = SkillTerms("helm", 14)


def draft(agent: str, role: str = "hand", *skills: str, did: str = "") -> CommissionDraft:
    identity = AgentIdentity(agent, "shop", did or f"did:key:z{agent}", 5.0)
    return CommissionDraft(agent, role, "active", skills or ("helm",), identity, '{"signed": true}')


def commission(store: Store, *drafts: CommissionDraft):
    return store.crew.commission("shop", drafts, actor="a", snapshot="s")


def episode(name: str, outcome: Any = "success", **more: Any) -> Episode:
    return Episode(name, "shop", "worf", outcome, 7.0, **more)


def audited(store: Store, kind: str) -> list[tuple[str, str]]:
    return [
        (row.entry.activity, row.entry.record_id) for row in read_rows(store.context, AuditFilter(kind=kind))
    ]


class CrewRecords:
    def test_the_alert_and_the_watch_are_recorded(self, store: Store, clock: Clock) -> None:
        """Of an organization; the same again changes nothing, and the audit has each change."""
        store.crew.set_status("shop", "alert", "RED", actor="a", reason="smoke")
        store.crew.set_status("shop", "watch", "beta", actor="a")
        since = clock.now
        version = store.read_view("shop").version
        clock.now += 5
        assert store.crew.set_status("shop", "alert", "RED", actor="b").set_by == "a"
        view = store.read_view("shop")
        assert view.version == version
        assert {kind: each.value for kind, each in view.status.items()} == {"alert": "RED", "watch": "beta"}
        assert (view.status["alert"].since, view.status["alert"].reason) == (since, "smoke")
        assert store.read_view("yard").status == {} == store.read_view().status
        store.crew.set_status("shop", "alert", "GREEN", actor="a")
        assert store.read_view("shop").status["alert"].value == "GREEN"
        assert sorted(audited(store, "status")) == [("alert", "GREEN"), ("alert", "RED"), ("watch", "beta")]

    def test_commissioning_again_changes_nothing(self, store: Store) -> None:
        """An agent keeps what it already has, with its history; a second role adds what it needs."""
        (first,) = commission(store, draft("worf", "hand", "maps", "helm"))
        assert (first.added, first.born, first.assigned, first.skills) == (True, True, True, ("maps", "helm"))
        store.skills.assess("worf", HELM, 4, org_id="shop", actor="a")
        version = store.read_view("shop").version
        (again,) = commission(store, draft("worf", "hand", "maps", "helm", did="did:key:zother"))
        assert (again.added, again.born, again.assigned, again.skills) == (False, False, False, ())
        assert again.identity.did == "did:key:zworf"
        assert store.read_view("shop").version == version
        (second,) = commission(store, draft("worf", "chief", "helm", "talk"))
        assert (second.assigned, second.skills) == (True, ("talk",))
        view = store.read_view("shop")
        assert [each.role_id for each in view.commissions["worf"]] == ["chief", "hand"]
        assert {each.skill: each.proficiency for each in view.skills["worf"]} == {
            "helm": 4,
            "maps": 1,
            "talk": 1,
        }
        assert audited(store, "agent") == [("commissioned", "worf")] * 2
        assert [each.skill for each in store.skills.history("shop", "worf")].count("helm") == 2
        assert store.crew.certificate("shop", "worf") == '{"signed": true}'
        assert store.crew.certificate("shop", "data") is None

    def test_all_are_commissioned_or_none(self, store: Store) -> None:
        """A key belongs to one agent; where one of many is refused, nothing of the others is stored."""
        with pytest.raises(Conflict, match="belongs to the agent `data`"):
            commission(store, draft("data"), draft("worf", did="did:key:zdata"))
        view = store.read_view("shop")
        assert (view.agents, view.identities, view.skills, audited(store, "agent")) == ({}, {}, {}, [])

    def test_two_commission_the_same_agent_at_once(self, place: StoreLocation) -> None:
        """One of them is first, the other finds everything there."""
        with opened(place) as one, opened(place) as other:
            done = []

            def put(store: Store, did: str) -> None:
                done.extend(commission(store, draft("worf", did=did)))

            threads = [
                threading.Thread(target=put, args=each)
                for each in ((one, "did:key:z1"), (other, "did:key:z2"))
            ]
            for each in threads:
                each.start()
            for each in threads:
                each.join()
            assert sorted(each.born for each in done) == [False, True]
            assert len({each.identity.did for each in done}) == 1
            assert one.read_view("shop").identities == other.read_view("shop").identities

    def test_a_revoked_key_is_renewed_by_another(self, store: Store, place: StoreLocation) -> None:
        """Each change names the key that it replaces, so of two at once one is told; no revoked key comes back."""
        commission(store, draft("worf"), draft("data"))
        born = store.read_view("shop").identities["worf"]
        store.crew.renew_certificate("shop", born.did, born, "second", actor="a")
        assert store.crew.certificate("shop", "worf") == "second"
        assert store.crew.find_revocation("shop", born.did) is None
        revoked = store.crew.revoke_key("shop", "worf", actor="a", reason="copied")
        assert (revoked.did, revoked.agent_id, revoked.reason) == (born.did, "worf", "copied")
        assert store.crew.find_revocation("shop", born.did) == revoked
        assert store.crew.find_revocation("yard", born.did) is None
        new = AgentIdentity("worf", "shop", "did:key:znew", born.born_at)
        with pytest.raises(Conflict, match=r"`did:key:zworf` .* is already revoked"):
            store.crew.revoke_key("shop", "worf", actor="a")
        with pytest.raises(Conflict, match=r"`did:key:zworf` .* is already revoked"):
            store.crew.renew_certificate("shop", born.did, born, "third", actor="a")
        taken = AgentIdentity("worf", "shop", "did:key:zdata", born.born_at)
        with pytest.raises(Conflict, match="belongs to the agent `data`"):
            store.crew.renew_certificate("shop", born.did, taken, "third", actor="a")
        with pytest.raises(UnknownRecord, match="has no certificate"):
            store.crew.revoke_key("shop", "picard", actor="a")
        with opened(place) as other:
            other.crew.renew_certificate("shop", born.did, new, "third", actor="a")
        with pytest.raises(Conflict, match=r"now has the key `did:key:znew`, not `did:key:zworf`"):
            store.crew.renew_certificate("shop", born.did, new, "fourth", actor="a")
        assert store.read_view("shop").identities["worf"] == new
        assert store.crew.certificate("shop", "worf") == "third"
        with pytest.raises(Conflict, match="is already revoked"):
            commission(store, draft("picard", did=born.did))
        store.agents.move("data", "decommissioned", org_id="shop", actor="a")
        data = store.read_view("shop").identities["data"]
        with pytest.raises(Conflict, match="`data` is decommissioned"):
            store.crew.renew_certificate("shop", data.did, data, "second", actor="a")
        rows = audited(store, "agent")
        assert rows.count(("certificate_renewed", "worf")) == 2
        assert rows.count(("key_revoked", "worf")) == 1

    def test_an_episode_is_one_write(self, store: Store, clock: Clock) -> None:
        """It exercises, counts trust and outcomes, and is audited; the same again changes nothing."""
        commission(store, draft("worf"))
        clock.now += 3
        told = episode(
            "e1",
            role_id="hand",
            intent="dock",
            skills=("helm",),
            tools=("radar", "radar"),
            reference="s3://x",
            digest="3f" * 32,
        )
        stored, is_new = store.crew.record_episode(told, [HELM], actor="a")
        assert (stored.number > 0, is_new) == (True, True)
        version = store.read_view("shop").version
        assert store.crew.record_episode(told, [HELM], actor="a") == (stored, False)
        assert store.read_view("shop").version == version
        with pytest.raises(Conflict) as refusal:
            store.crew.record_episode(episode("e1", "failure"), [], actor="a")
        assert refusal.value.code == "EPISODE_CONFLICT"
        store.crew.record_episode(episode("e2", "failure", intent="dock"), [], actor="a")
        view = store.read_view("shop")
        assert (view.agents["worf"].successes, view.agents["worf"].failures) == (1, 1)
        counts = [(each.kind, each.name, each.successes, each.failures) for each in view.outcomes["worf"]]
        assert counts == [("intent", "dock", 1, 1), ("tool", "radar", 1, 0)]
        assert (view.service["worf"].recent, view.service["worf"].episodes) == ("+-", 2)
        (helm,) = view.skills["worf"]
        assert (helm.exercises, helm.last_exercised_at) == (1, clock.now)
        assert audited(store, "episode") == [("failure", "e2"), ("success", "e1")]
        page = store.crew.episodes("shop", "worf", limit=1)
        assert [each.episode_id for each in page] == ["e2"]
        rest = store.crew.episodes("shop", "worf", before=page[0].number)
        assert rest == (stored,)
        assert store.read_view("yard").outcomes == {} == store.read_view().service

    def test_what_cannot_be_exercised_leaves_nothing_of_an_episode(self, store: Store) -> None:
        """The episode, its counts and its audit are one transaction."""
        commission(store, draft("worf"))
        before = store.read_view("shop")
        with pytest.raises(UnknownRecord, match="does not have the skill `maps`"):
            store.crew.record_episode(
                episode("e1", skills=("helm", "maps")), [HELM, SkillTerms("maps", 14)], actor="a"
            )
        assert store.read_view("shop") == before
        assert store.crew.episodes("shop", "worf") == ()
        assert audited(store, "episode") == []

    def test_only_so_many_outcomes_are_kept_in_their_order(self, store: Store) -> None:
        """The counts go on."""
        for number in range(23):
            outcome = "failure" if number < 5 else "success"
            store.crew.record_episode(episode(f"e{number}", outcome), [], actor="a")
        service = store.read_view("shop").service["worf"]
        assert (service.recent, service.successes, service.failures) == ("--" + "+" * 18, 18, 5)

    def test_personalities_are_observed(self, store: Store, clock: Clock) -> None:
        """The view has the latest, the past those before; a trait lies between 0 and 1."""
        first = store.crew.observe("shop", "worf", Personality(openness=0.7), actor="a")
        clock.now += 1
        latest = store.crew.observe("shop", "worf", Personality(openness=0.9), actor="b", reason="weekly")
        assert store.read_view("shop").personalities == {"worf": latest}
        assert store.read_past("shop", first.at).personalities == {"worf": first}
        with pytest.raises(Refused, match="`neuroticism` is 2"):
            store.crew.observe("shop", "worf", Personality(neuroticism=2), actor="a")

    @pytest.mark.parametrize(
        "wrong", [{"digest": "xyz"}, {"intent": ""}, {"tools": ("t",) * 65}, {"outcome": "great"}], ids=str
    )
    def test_what_no_episode_is(self, store: Store, wrong: dict) -> None:
        """It is refused, and nothing is stored."""
        more = {"outcome": "success", **wrong}
        with pytest.raises(OrgkernelError):
            store.crew.record_episode(episode("e1", **more), [], actor="a")
        assert store.crew.episodes("shop", "worf") == ()

    def test_a_view_read_anew_is_the_patched_one(self, store: Store, place: StoreLocation) -> None:
        """In whatever order things were stored."""
        commission(store, draft("worf", "hand"), draft("data"))
        store.read_view("shop")
        commission(store, draft("worf", "chief"))
        store.crew.record_episode(episode("e1", intent="dock", tools=("radar",)), [HELM], actor="a")
        store.crew.set_status("shop", "watch", "beta", actor="a")
        store.crew.observe("shop", "worf", Personality(), actor="a")
        with opened(place) as other:
            assert other.read_view("shop") == store.read_view("shop")
