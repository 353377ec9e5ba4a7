"""Laws of the state: an updated view equals a new view, for changes of any process in any order."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from orgkernel.errors import Refused
from orgkernel.state.store import Store
from orgkernel.state.verify import verify_audit
from tests.state.opening import Clock, opened, sqlite_at

AGENTS = st.sampled_from(["worf", "data", "troi"])
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("add"), AGENTS),
        st.tuples(st.just("rank"), AGENTS),
        st.tuples(st.just("grant"), AGENTS),
        st.tuples(st.just("everywhere"), AGENTS),
        st.tuples(st.just("sleep"), st.integers(0, 5)),
        st.tuples(st.just("wake"), st.integers(0, 5)),
        st.tuples(st.just("revoke"), st.integers(0, 5)),
        st.tuples(st.just("use"), st.integers(0, 5)),
        st.tuples(st.just("restrict"), AGENTS),
        st.tuples(st.just("lock"), AGENTS),
        st.tuples(st.just("break"), AGENTS),
        st.tuples(st.just("result"), AGENTS),
        st.tuples(st.just("wait"), st.integers(1, 100)),
        st.tuples(st.just("look"), st.integers(0, 1)),
    ),
    max_size=25,
)


def take(step: tuple[str, object], store: Store, clock: Clock) -> None:
    what, which = step
    grants = store.grants.list()
    match what:
        case "add":
            store.agents.add(which, org_id="shop", actor="a")
        case "rank":
            store.agents.set_rank(which, f"rank{clock.now:.0f}", org_id="shop", actor="a")
        case "everywhere":
            store.agents.add(which, org_id="*", actor="a", rank="ensign", lifecycle="suspended")
        case "sleep" if grants:
            store.grants.put_to_sleep([grants[which % len(grants)].grant_id], actor="a", reason="gone")
        case "wake" if grants:
            store.grants.wake(grants[which % len(grants)].grant_id, org_id="shop", actor="a")
        case "grant":
            store.grants.issue(f"agent:{which}", ["tool:x"], issued_by="a", uses=2, expires_at=clock.now + 50)
        case "revoke" if grants:
            store.grants.revoke(grants[which % len(grants)].grant_id, actor="a")
        case "use" if grants:
            from orgkernel.decisions.evidence.state_records import AuditEntry

            store.audit.write(
                AuditEntry("decision", clock.now, "allow"), uses=[grants[which % len(grants)].grant_id]
            )
        case "restrict":
            store.restrictions.issue(f"agent:{which}", ["tool:x"], issued_by="a", expires_at=clock.now + 30)
        case "lock":
            store.locks.acquire("shop", "press", f"agent:{which}", timeout=20)
        case "break":
            store.locks.break_("shop", "press", actor="a")
        case "result":
            store.results.record(which, "helm", score=1, passed=True, org_id="shop", actor="a")
        case "wait":
            clock.now += which
            store.expire()


@settings(max_examples=25)
@given(STEPS)
def test_a_patched_view_equals_one_read_anew(steps: list[tuple[str, object]]) -> None:
    """Through two stores on one file, in turns; only changes have versions, and the chains verify."""
    clock = Clock()
    with tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as folder:
        place = sqlite_at(Path(folder))
        with opened(place, clock) as one, opened(place, clock) as other:
            for number, step in enumerate(steps):
                store = (one, other)[number % 2]
                before = store.read_view()
                try:
                    take(step, store, clock)
                except Refused:
                    assert store.read_view() is before
                if step[0] == "look":
                    assert (one, other)[step[1]].read_view("shop").version <= store.read_view().version
            with opened(place, clock) as fresh:
                for org in (None, "shop", "none"):
                    assert one.read_view(org) == other.read_view(org) == fresh.read_view(org)
                assert verify_audit(fresh.context, fresh.folder).findings == ()
