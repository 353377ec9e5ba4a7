"""What every store does with claims of files; part of the contract of stores."""

from __future__ import annotations

import multiprocessing
import threading
from concurrent.futures import ProcessPoolExecutor
from itertools import combinations
from typing import Any

import pytest

from orgkernel.decisions.evidence.state_records import AuditFilter
from orgkernel.decisions.ownership.claims import FileClaim
from orgkernel.decisions.ownership.overlap import do_owned_paths_overlap
from orgkernel.errors import Conflict, Refused
from orgkernel.state.audit import read_rows
from orgkernel.state.location import StoreLocation
from orgkernel.state.store import Store
from tests.state.opening import Clock, opened


def claimed(store: Store, *paths: str, holder: str = "agent:worf", **said: Any) -> FileClaim:
    return store.claims.claim("shop", holder, paths, **{"seconds": 60, **said})


def refused_claim(store: Store, *paths: str, **said: Any) -> Conflict:
    with pytest.raises(Conflict) as refused:
        claimed(store, *paths, **said)
    assert refused.value.code == "CLAIM_CONFLICT"
    return refused.value


def no_two_live_claims_overlap(claims: tuple[FileClaim, ...]) -> bool:
    """The law: whatever was claimed in whatever order."""
    return not any(
        one.org_id == other.org_id and do_owned_paths_overlap(mine, theirs)
        for one, other in combinations(claims, 2)
        for mine in one.paths
        for theirs in other.paths
    )


WANTED = ("src/**", "src/a.py", "src/b.py", "SRC/a.py", "docs/", "docs/*.md", "tests/x.py")


def claim_all(place: StoreLocation, number: int) -> list[int]:
    """In a process of its own: claim each path once in each of four threads; the tokens it got."""
    tokens: list[int] = []
    codes: set[str] = set()
    with opened(place, busy_seconds=30) as store:

        def work(thread: int) -> None:
            for step in range(len(WANTED)):
                path = WANTED[(number * 5 + thread * 3 + step) % len(WANTED)]
                try:
                    tokens.append(claimed(store, path, holder=f"agent:{number}-{thread}").token)
                except Conflict as conflict:
                    codes.add(conflict.code)

        threads = [threading.Thread(target=work, args=(thread,)) for thread in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert codes == {"CLAIM_CONFLICT"}
    return tokens


class ClaimsOfFiles:
    def test_files_are_claimed_by_one(self, store: Store, clock: Clock) -> None:
        """An overlapping claim is refused, with the holder and the end; another organization has its own files."""
        claim = claimed(
            store, "src/./search/", "docs/*.md", session="s-1", planner="agent:picard", reason="search"
        )
        assert claim == FileClaim(
            org_id="shop", token=1, holder="agent:worf", paths=("src/search", "docs/*.md"), session="s-1",
            planner="agent:picard", claimed_at=clock.now, expires_at=clock.now + 60, reason="search",
        )  # fmt: skip
        conflict = refused_claim(store, "README.md", "SRC/search/a.py", "docs/a.md", holder="agent:data")
        assert conflict.message == (
            "`SRC/search/a.py` overlaps with `src/search`, which is claimed by `agent:worf` "
            "(session `s-1`, planner `agent:picard`); 1 more path overlaps with claims"
        )
        assert conflict.help.startswith("claim 1 ends at ")
        refused_claim(store, "src/search/a.py")  # its holder as well: another session may work beside it
        other = claimed(store, "docs/a.txt", holder="agent:data")
        store.claims.claim("yard", "agent:data", ["src"], seconds=60)
        assert store.claims.list("shop") == (claim, other)
        assert len(store.claims.list()) == 3

    def test_all_paths_are_claimed_or_none(self, store: Store) -> None:
        """What is refused leaves nothing behind, neither a claim nor a token."""
        claimed(store, "b.py")
        refused_claim(store, "a.py", "b.py")
        assert claimed(store, "a.py").token == 2

    def test_a_lease_ends(self, store: Store, clock: Clock) -> None:
        """From its end on the files are free, its token is stale, and the audit says that it expired."""
        first = claimed(store, "src/**")
        clock.now += 60
        assert store.claims.list() == ()
        for change in (
            lambda: store.claims.release("shop", 1, "agent:worf"),
            lambda: store.claims.extend("shop", 1, "agent:worf", seconds=60),
            lambda: store.claims.transfer("shop", 1, "agent:worf", "agent:data"),
        ):
            with pytest.raises(Conflict) as refused:
                change()
            assert refused.value.code == "STALE_TOKEN"
        second = claimed(store, "src/a.py", holder="agent:data")
        assert second.token > first.token
        clock.now += 60
        store.expire()
        store.expire()
        rows = [(row.entry.activity, row.entry.subject) for row in read_rows(store.context, AuditFilter(kind="claim"))]  # fmt: skip
        assert rows[::-1] == [
            ("claimed", "agent:worf"), ("expired", "agent:worf"), ("claimed", "agent:data"), ("expired", "agent:data"),
        ]  # fmt: skip

    def test_a_claim_is_extended(self, store: Store, clock: Clock) -> None:
        """It lasts longer under the same token, and never shorter."""
        claimed(store, "src")
        clock.now += 50
        assert store.claims.extend("shop", 1, "agent:worf", seconds=60).expires_at == clock.now + 60
        assert store.claims.extend("shop", 1, "agent:worf", seconds=1).expires_at == clock.now + 60
        clock.now += 59
        refused_claim(store, "src/a.py")

    def test_a_claim_is_released_once(self, store: Store) -> None:
        """Only the holder can release it; then the files are free and the token is stale."""
        claim = claimed(store, "src")
        for token, holder in ((1, "agent:data"), (2, "agent:worf")):
            with pytest.raises(Conflict) as refused:
                store.claims.release("shop", token, holder)
            assert refused.value.code == "STALE_TOKEN"
        assert store.claims.release("shop", 1, "agent:worf") == claim
        with pytest.raises(Conflict):
            store.claims.release("shop", 1, "agent:worf")
        assert claimed(store, "src", holder="agent:data").token == 2

    def test_a_claim_is_handed_over(self, store: Store, clock: Clock) -> None:
        """The new holder gets a new token until the same end, and the old holder has nothing; no other worker can claim
        in between.
        """
        claim = claimed(store, "src", session="s-1", planner="agent:picard")
        clock.now += 10
        new = store.claims.transfer("shop", 1, "agent:worf", "agent:data", session="s-2")
        assert (new.token, new.holder, new.session, new.planner) == (2, "agent:data", "s-2", "agent:picard")
        assert (new.paths, new.claimed_at, new.expires_at) == (
            claim.paths,
            claim.claimed_at,
            claim.expires_at,
        )
        assert store.claims.list() == (new,)
        with pytest.raises(Conflict) as refused:
            store.claims.extend("shop", 1, "agent:worf", seconds=60)
        assert refused.value.code == "STALE_TOKEN"
        rows = [row.entry for row in read_rows(store.context, AuditFilter(kind="claim"))]
        row = rows[0]
        assert (row.activity, row.subject, row.actor) == ("transferred", "agent:data", "agent:worf")
        assert row.detail == {"from": "agent:worf", "token": 1}

    @pytest.mark.parametrize(
        ("paths", "said"),
        [
            ((), {}), (("../a",), {}), (("/etc",), {}), (("!a",), {}), (("**/..",), {}), (("",), {}),
            (tuple(f"{number}.py" for number in range(201)), {}),
            (("a",), {"seconds": 0}), (("a",), {"seconds": 1e9}), (("a",), {"seconds": float("nan")}),
            (("a",), {"holder": "role:x"}), (("a",), {"planner": "picard"}), (("a",), {"session": ""}),
        ],
    )  # fmt: skip
    def test_what_cannot_be_claimed(self, store: Store, paths: tuple[str, ...], said: dict[str, Any]) -> None:
        """It is refused, and nothing is stored."""
        with pytest.raises(Refused) as refused:
            claimed(store, *paths, **said)
        assert refused.value.code == "BAD_VALUE"
        assert store.claims.list() == ()

    def test_claims_of_processes_never_overlap(self, place: StoreLocation, store: Store) -> None:
        """Two processes, four threads each, the same paths: each file has one holder, and tokens are unique."""
        context = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(2, mp_context=context) as processes:
            tokens = sorted(
                token for told in processes.map(claim_all, [place] * 2, range(2)) for token in told
            )
        live = store.claims.list("shop")
        assert no_two_live_claims_overlap(live)
        assert tokens == [claim.token for claim in live] == list(range(1, len(live) + 1))
        for path in WANTED:
            refused_claim(store, path)
