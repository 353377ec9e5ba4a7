"""`python -m benchmarks.handoff_permissions`: may a planner hand work to a worker with a brief, while others hold 10,000 claims.

By the index of claims, in codes and with texts; and by a look at all claims. A new brief is one that no question was about.
"""

from __future__ import annotations

import copy
import json
import statistics
import time
from collections.abc import Callable, Iterable, Sequence

from benchmarks.claims import CLAIMS, make_claims
from orgkernel.decisions.evidence.state_view import StateView
from orgkernel.decisions.handoff.briefs import HandoffBriefs
from orgkernel.decisions.handoff.decide import decide_handoff, decide_handoff_permission
from orgkernel.decisions.handoff.permission import HandoffQuestion
from orgkernel.decisions.ownership.claims import ClaimConflict, ClaimIndex, FileClaim
from orgkernel.decisions.ownership.overlap import do_owned_paths_overlap
from orgkernel.decisions.work.contracts.reading import ReadContract, read_contract
from orgkernel.kernel.kernel import Kernel
from orgkernel.loading.files import decode

ASKED = HandoffQuestion(sender="planner", receiver="worker", depth=2, children=0, concurrent=0)
FREE = ("src/checkout/tokens.py", "tests/checkout/test_tokens.py")
TAKEN = ("src/checkout/tokens.py", "pkg7/mod3/deep/file5.py")
_ROUNDS, _SCANS, _NEW = 4_000, 2, 500


class ScannedClaims:
    """Claims without an index, asked in the same way."""

    def __init__(self, claims: Sequence[FileClaim]) -> None:
        self.claims = claims

    def find_by_mission(self, brief: str) -> list[FileClaim]:
        """By a look at all claims."""
        return [each for each in self.claims if each.mission == brief]

    def find_conflicts(self, paths: Iterable[str], now: float = 0.0) -> tuple[ClaimConflict, ...]:
        """By a look at all claims."""
        return tuple(
            ClaimConflict(path, claim, text)
            for path in paths
            for claim in self.claims
            if claim.expires_at > now
            for text in claim.paths
            if do_owned_paths_overlap(path, text)
        )


def make_brief(number: int, files: Sequence[str], parent: int | None = None) -> ReadContract:
    """A sound brief that owns files."""
    document = {
        "_schema": "orgkernel:brief", "id": _identity(number), "mission": "Store a token in place of the card",
        "purpose": "Cards are never kept", "context": {}, "whats_done": [], "current_task": "Write tokens.py",
        "done_criteria": "The tests pass", "verify_command": "pytest -q tests/checkout", "key_decisions": [],
        "spec": {"scope": {"files_owned": [*files]}}, "relevant_memories": [], "ship": False,
        **({} if parent is None else {"parent": _identity(parent)}),
    }  # fmt: skip
    return read_contract(decode("brief", "brief", json.dumps(document).encode()))


def _identity(number: int) -> str:
    return f"6f1c1d3a-8a52-4d0e-9a3b-{number:012d}"


def measure(ask: Callable[[], object], rounds: int) -> float:
    """Median of microseconds."""
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        ask()
        times.append((time.perf_counter() - start) * 1e6)
    return statistics.median(times)


def main() -> None:
    """Compare the answers, then print a row for each way."""
    view = Kernel.open(active="omega").organization("omega").snapshot.index
    claims = make_claims(CLAIMS)
    indexed = StateView(claims=ClaimIndex(claims))
    scanned = StateView(claims=ScannedClaims(claims))  # type: ignore[arg-type]
    mission = make_brief(1, ("src/**", "tests/**", "pkg7/**"))
    free, taken = (HandoffBriefs(make_brief(2, files, 1), mission) for files in (FREE, TAKEN))
    for briefs in (free, taken):
        assert decide_handoff(view, ASKED, indexed, briefs) == decide_handoff(view, ASKED, scanned, briefs)
    print(f"{CLAIMS:,} live claims with two paths each; the brief owns two files; medians in µs")
    print(f"a pair without a brief: {measure(lambda: decide_handoff(view, ASKED, indexed), _ROUNDS):.1f}")
    for name, briefs in (("allowed", free), ("refused", taken)):
        codes = measure(lambda briefs=briefs: decide_handoff(view, ASKED, indexed, briefs), _ROUNDS)  # type: ignore[misc]
        texts = measure(
            lambda briefs=briefs: decide_handoff_permission(view, ASKED, indexed, briefs), _ROUNDS
        )  # type: ignore[misc]
        looks = measure(lambda briefs=briefs: decide_handoff(view, ASKED, scanned, briefs), _SCANS)  # type: ignore[misc]
        print(f"{name}: codes {codes:.1f}, with texts {texts:.1f}, by a look at all claims {looks:,.0f}")
    assert free.brief is not None
    read_again = iter([HandoffBriefs(copy.copy(free.brief), mission) for _ in range(_NEW)])
    again = measure(lambda: decide_handoff(view, ASKED, indexed, next(read_again)), _NEW)
    new = iter([HandoffBriefs(make_new_brief(number), mission) for number in range(_NEW)])
    print(f"a new brief about known files: {again:.1f}")
    print(
        f"a new brief about new files: {measure(lambda: decide_handoff(view, ASKED, indexed, next(new)), _NEW):.1f}"
    )


def make_new_brief(number: int) -> ReadContract:
    """A brief that owns two files that no other brief owns."""
    files = (f"src/checkout/tokens{number}.py", f"tests/checkout/test_tokens{number}.py")
    return make_brief(1_000 + number, files, 1)


if __name__ == "__main__":
    main()
