"""Laws of claims: in any order of changes, no two current claims overlap, and no token is given twice."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from orgkernel.decisions.ownership.claims import ClaimIndex
from orgkernel.decisions.ownership.overlap import do_owned_paths_overlap
from orgkernel.errors import Conflict
from tests.state.contract_of_claims import no_two_live_claims_overlap
from tests.state.opening import Clock, opened, sqlite_at

PATHS = st.lists(
    st.sampled_from(["a", "A/b.py", "a/*.py", "b/**", "b/c", "c.py", "[x]/d"]), min_size=1, max_size=2
)
HOLDERS = st.sampled_from(["agent:worf", "agent:data"])
TOKENS = st.integers(1, 6)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("claim"), HOLDERS, PATHS),
        st.tuples(st.just("extend"), HOLDERS, TOKENS),
        st.tuples(st.just("release"), HOLDERS, TOKENS),
        st.tuples(st.just("transfer"), HOLDERS, TOKENS),
        st.tuples(st.just("wait"), HOLDERS, st.integers(1, 40)),
    ),
    max_size=15,
)


@settings(max_examples=12, deadline=None)
@given(STEPS)
def test_no_two_live_claims_overlap(steps: list[tuple[str, str, object]]) -> None:
    """Through two stores on one file. What is refused overlaps with a live claim, or its token is stale."""
    clock, highest = Clock(), 0
    with tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as folder:
        place = sqlite_at(Path(folder))
        with opened(place, clock) as one, opened(place, clock) as other:
            for number, (what, holder, which) in enumerate(steps):
                claims = (one, other)[number % 2].claims
                before = claims.list("shop")
                held = {claim.token for claim in before if claim.holder == holder}
                refusal = ""
                try:
                    match what:
                        case "claim":
                            new = claims.claim("shop", holder, which, seconds=60)
                        case "extend":
                            new = claims.extend("shop", which, holder, seconds=60)
                        case "release":
                            new = claims.release("shop", which, holder)
                        case "transfer":
                            new = claims.transfer("shop", which, holder, "agent:troi")
                        case _:
                            clock.now += which
                            continue
                except Conflict as conflict:
                    refusal = conflict.code
                after = claims.list("shop")
                seen = one.read_view("shop").claims
                with opened(place, clock) as anew:
                    assert anew.read_view("shop").claims == seen
                assert tuple(each for each in seen.claims if each.expires_at > clock.now) == after
                for path in which if what == "claim" else ():
                    expected = ClaimIndex(after).find_conflicts([path])
                    assert seen.find_conflicts([path], clock.now) == expected
                assert no_two_live_claims_overlap(after)
                if what == "claim":
                    taken = [text for claim in before for text in claim.paths]
                    overlaps = any(do_owned_paths_overlap(path, text) for path in which for text in taken)
                    assert refusal == ("CLAIM_CONFLICT" if overlaps else "")
                else:
                    assert refusal == ("" if which in held else "STALE_TOKEN")
                if refusal:
                    assert after == before
                elif what in ("claim", "transfer"):
                    assert new.token > highest
                    highest = new.token
