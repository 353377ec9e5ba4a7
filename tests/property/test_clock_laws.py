"""Laws of the clock: a jump ahead and back leaves every later decision as it would be without the jump, or stricter."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from hypothesis import given, settings
from hypothesis import strategies as st

from orgkernel.decisions.evidence.limit_usage import Charge
from orgkernel.decisions.evidence.skill_levels import SkillTerms, compute_level, count_lapsed
from orgkernel.decisions.evidence.state_records import AuditEntry, AuditFilter
from orgkernel.errors import Refused
from orgkernel.operations import upkeep
from orgkernel.runtime.utc import as_utc
from orgkernel.state.contracts import WantedContract
from orgkernel.state.handoffs import WantedHandoff
from orgkernel.state.store import Store
from tests.state.opening import Clock, is_unexpired_pass, opened, sqlite_at
from tests.support.memory_folder import find_memory_folder

HOUR, DAY = 3_600.0, 86_400.0
NOW = 1_763_899_200.0
TERMS = SkillTerms("helm", 2, is_valid=is_unexpired_pass)
SKILLED = "worf"
LOOKS = (0.75, 1.75, 5.75, 26.75, 51.75, 7 * 24 + 0.75, 33 * 24 + 0.75)
"""Hours after the jump at which the state is compared: after the clock was believed again, and never when a term just ends."""
AHEAD = st.sampled_from([2 * HOUR, DAY, 25 * HOUR, 3 * DAY, 6.9 * DAY, 8 * DAY, 30 * DAY, 400 * DAY])
BEHIND = st.sampled_from([-2 * HOUR, -25 * HOUR, -8 * DAY, -400 * DAY, -NOW + DAY])
_DAILY = Charge("daily", "agent:worf", 5, 1, DAY)
LASTS = st.sampled_from([12.0, 68.0, 300.0])
HOURS = st.sampled_from([1, 4, 24, 50, 24 * 20])
STEP = st.one_of(
    st.tuples(st.sampled_from(["restrict", "grant", "key", "result"]), HOURS),
    st.tuples(st.sampled_from(["lock", "claim"]), st.sampled_from([60.0 / HOUR, 1, 4, 50])),
    st.tuples(st.just("request"), st.sampled_from(["access", "action"])),
    st.tuples(st.just("approve"), st.sampled_from(["once", "day", "always"])),
    st.tuples(st.sampled_from(["spend", "begin", "hand", "own"]), st.integers(1, 3)),
    st.tuples(st.sampled_from(["revoke", "lift"]), st.integers(0, 3)),
    st.tuples(st.just("report"), st.sampled_from(["primary", "emergency"])),
    st.tuples(st.sampled_from(["acquire", "assess"]), st.integers(1, 7)),
    st.tuples(st.sampled_from(["exercise", "raise", "decide", "watch", "wait"]), st.integers(0, 3)),
)
STEPS = st.lists(STEP, max_size=6)


class Facts(NamedTuple):
    """What decisions depend on at a time."""

    gives: frozenset[str]
    """Permissions, and what leads to them: less is stricter."""
    binds: frozenset[str]
    """Restrictions, locks and claims: more is stricter."""
    level: int
    """The level of a skill: lower is stricter."""
    tier: str
    watch: str
    rows: int
    """Decisions in the audit: none may be missing."""
    used: int
    """What is used up of a limit of a day: more is stricter."""
    running: int
    """Work that was handed down and has not ended: more is stricter, because its number is limited."""
    owners: frozenset[str]
    """Who holds files that several wanted: no one else may."""
    ran: frozenset[str]
    """Requests with an idempotency key that ran: no other one may."""


class World:
    """A store in which time passes, with a server that keeps house and one that starts in the middle."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self.store, self.clock, self.steady, self.number = store, clock, 0.0, 0
        self.residents = [upkeep.ClockTrust(store, clock.now, self.steady)]
        self.ran: set[str] = set()
        """Requests with an idempotency key that were not answered from the store."""
        self.issued: dict[str, dict[str, str]] = {"grant": {}, "restrict": {}}
        """Ids of what was issued, by name."""

    def pass_time(self, seconds: float) -> None:
        """Real time passes."""
        self.clock.now += seconds
        self.steady += seconds

    def keep_house(self) -> None:
        """Do what a server does at intervals."""
        for trust in self.residents:
            upkeep.note_expired(self.store, trust, self.clock.now, self.steady)
            if not trust.find_doubt(self.store, self.clock.now, self.steady):
                upkeep.prune(self.store, 90, 365)

    def take(self, step: tuple[str, Any], place: str) -> None:
        """Make one change, under a name that is the same in both worlds. A change that is refused changes nothing."""
        self.number += 1
        self.pass_time(1)
        with suppress(Refused):
            self._change(*step, f"{place}{self.number}")

    def _change(self, what: str, value: Any, name: str) -> None:
        store, now, worf = self.store, self.clock.now, f"agent:{SKILLED}"
        match what:
            case "restrict":
                self.issued[what][name] = ""
                end = now + value * HOUR
                held = store.restrictions.issue(worf, [f"tool:{name}"], issued_by="a", expires_at=end)
                self.issued[what][name] = held.restriction_id
            case "grant":
                self.issued[what][name] = ""
                given = store.grants.issue(
                    worf, [f"tool:{name}"], issued_by="a", expires_at=now + value * HOUR
                )
                self.issued[what][name] = given.grant_id
            case "key":
                store.keys.create(name, ["read"], created_by="a", expires_at=now + value * HOUR)
            case "result":
                store.results.record(
                    SKILLED, name, org_id="shop", score=1, passed=True, actor="a", expires_at=now + value * HOUR
                )  # fmt: skip
            case "raise":
                store.results.record(
                    SKILLED, name, org_id="shop", score=1, passed=True, actor="a", raises=[(TERMS, 7)]
                )
            case "lock":
                store.locks.acquire("shop", name, worf, timeout=value * HOUR)
            case "claim":
                store.claims.claim("shop", worf, [f"src/{name}.py"], seconds=value * HOUR)
            case "request":
                store.requests.create(f"agent:{name}", [f"tool:{name}"], kind=value)
            case "approve":
                asked = store.requests.create(f"agent:{name}", [f"tool:{name}"])
                store.requests.approve(asked.request_id, value, responder="person:owner")
            case "report":
                unit = {"role_id": "helm", "organization": "shop", "agent_number": 1}
                report = {
                    "unit": unit,
                    "status": {"pace_level": value},
                    "time": {"timestamp": as_utc(now)},
                    "n": name,
                }
                store.reports.record(report, actor="a")
            case "acquire":
                store.skills.acquire(SKILLED, TERMS, org_id="shop", actor="a", level=value)
            case "assess":
                store.skills.assess(SKILLED, TERMS, value, org_id="shop", actor="a")
            case "exercise":
                store.skills.exercise(SKILLED, TERMS, org_id="shop", actor="a")
            case "watch":
                store.crew.set_status("shop", "watch", f"watch{value}", actor="a")
            case "spend":
                store.limits.reserve("shop", name, [_DAILY], subject=worf, tool_id="t")
            case "begin":
                if store.idempotency_keys.begin("key:a", f"request{value}", "digest") is None:
                    self.ran.add(name)
            case "own":
                store.claims.claim("shop", f"agent:{name}", ["owned/**"], seconds=30 * HOUR)
            case "hand":
                store.handoffs.record("shop", lambda _: _hand_down(name), actor="a")
            case "revoke":
                if last := [*self.issued["grant"].values()][-1:]:
                    store.grants.revoke(last[0], actor="a")
            case "lift":
                if last := [*self.issued["restrict"].values()][-1:]:
                    store.restrictions.revoke(last[0], actor="a")
            case "decide":
                store.audit.write(AuditEntry("decision", now, "allow"))
            case "wait":
                self.pass_time(60)

    def look(self) -> Facts:
        """The facts at this time."""
        store, now = self.store, self.clock.now
        view = store.read_view("shop")
        gives = [f"grant {each.resources} {each.subject}" for each in store.grants.list(active_only=True)]
        gives += [f"request {each.requester}" for each in store.requests.list("pending")]
        gives += [f"key {each.name}" for each in store.keys.list() if _is_ahead(each.expires_at, now)]
        gives += [
            f"result {each.qualification}"
            for each in view.results.get(SKILLED, ())
            if each.invalidated_at is None and _is_ahead(each.expires_at, now)
        ]
        binds = [f"restriction {each.resources}" for each in store.restrictions.list(active_only=True)]
        binds += [f"lock {each.tool_id}" for each in store.locks.list()]
        binds += [f"claim {each.paths}" for each in store.claims.list()]
        results = view.results.get(SKILLED, ())
        levels = (
            compute_level(each, TERMS.decay_days, count_lapsed(each, results, TERMS.is_valid, now), now)
            for each in view.skills.get(SKILLED, ())
        )
        reports = view.reports.get("role:helm", ())
        watch = view.status.get("watch")
        return Facts(
            frozenset(gives), frozenset(binds),
            max(levels, default=0),
            reports[0].tier if reports else "", "" if watch is None else watch.value,
            len(list(upkeep.read_audit(store, AuditFilter(kind="decision")))),
            store.limits.read_usage("shop", [_DAILY])[0].used,
            len(store.handoffs.list("shop", is_running=True)),
            frozenset(each.holder for each in store.claims.list() if each.paths == ("owned/**",)),
            frozenset(self.ran),
        )  # fmt: skip


def _hand_down(name: str) -> WantedHandoff:
    """Work of two days for a session of its own."""
    return WantedHandoff(
        sender="role:co", receiver="role:dev", holder="agent:data", session=name, queue_mode="followup",
        session_key=name, code="ALLOWED", snapshot="sha256:" + "0" * 64, seconds=50 * HOUR, from_session="s",
        brief=WantedContract("brief", {"id": name, "mission": "Do it"}, str),
    )  # fmt: skip


def _is_ahead(end: float | None, now: float) -> bool:
    return end is None or end > now


@contextmanager
def new_world() -> Iterator[World]:
    with tempfile.TemporaryDirectory(dir=find_memory_folder()) as folder:
        clock = Clock(NOW)
        with opened(sqlite_at(Path(folder)), clock) as store:
            yield World(store, clock)


def live(
    world: World, ahead: float, lasts: float, before: Any, inside: Any, after: Any, looks: Any
) -> list[Facts]:
    """The facts at all looks, of a life with a jump of so many seconds."""
    world.keep_house()
    for step in before:
        world.take(step, "before")
    world.pass_time(HOUR)
    world.store.audit.write(AuditEntry("decision", world.clock.now, "allow"))
    world.pass_time(HOUR)
    world.keep_house()
    begun = world.steady
    world.clock.now += ahead
    world.residents.append(upkeep.ClockTrust(world.store, world.clock.now, world.steady))
    for step in inside:
        world.take(step, "inside")
        world.keep_house()
    world.pass_time(max(0.0, lasts - (world.steady - begun)))
    world.keep_house()
    world.residents.pop()
    world.clock.now -= ahead
    world.residents.append(upkeep.ClockTrust(world.store, world.clock.now, world.steady))
    for seconds in (60, 601, 60):
        world.pass_time(seconds)
        world.keep_house()
    for step in after:
        world.take(step, "after")
    facts = []
    for hours in looks:
        world.pass_time(2 * HOUR + hours * HOUR - world.steady)
        world.keep_house()
        facts.append(world.look())
    return facts


@settings(max_examples=32, deadline=None)
@given(AHEAD, LASTS, STEPS, STEPS, STEPS)
def test_a_jump_ahead_and_back_opens_and_destroys_nothing(
    ahead: float, lasts: float, before: Any, inside: Any, after: Any
) -> None:
    """Restrictions, grants, requests, approvals, locks, claims, hand-offs, limits, idempotency keys, reports, skills, results,
    keys, the watch and the audit: what was stored without the jump is unchanged, and what was stored in it gives no more and
    binds no less.
    """
    compare_lives(ahead, lasts, before, inside, after)


@settings(max_examples=24, deadline=None)
@given(BEHIND, LASTS, STEPS, STEPS, STEPS)
def test_a_clock_that_was_behind_opens_and_destroys_nothing(
    behind: float, lasts: float, before: Any, inside: Any, after: Any
) -> None:
    """The same of a clock that is behind for minutes, to the year 1970 too, after a server had believed the right one."""
    compare_lives(behind, lasts, before, inside, after)


def compare_lives(ahead: float, lasts: float, before: Any, inside: Any, after: Any) -> None:
    """Live the same life without and with a jump, and compare all looks."""
    with new_world() as calm, new_world() as jumped:
        # Also soon after the moment to which the clock had jumped.
        soon = max(0.0, ahead // HOUR)
        looks = sorted({*LOOKS, soon + 0.75, soon + 1.75})
        expected = live(calm, 0.0, lasts, before, inside, after, looks)
        found = live(jumped, ahead, lasts, before, inside, after, looks)
    for hours, want, have in zip(looks, expected, found, strict=True):
        assert have.gives <= want.gives
        assert have.binds >= want.binds
        assert have.level <= want.level
        assert have.tier == want.tier
        assert have.watch == want.watch
        assert have.rows == want.rows
        # In a store that was idle for a week, a window is full until something happens.
        assert have.used >= want.used or hours > 6 * 24
        assert have.running >= want.running
        assert have.owners <= want.owners
        assert have.ran <= want.ran
