"""`python -m benchmarks.claims`: which of 10,000 live claims a path overlaps, by the index and by a look at all of them."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

from orgkernel.decisions.ownership.claims import ClaimIndex, FileClaim
from orgkernel.decisions.ownership.overlap import do_owned_paths_overlap

CLAIMS = 10_000
ASKED = (
    "free/9/main.py",
    "pkg7/mod3/deep/file5.py",
    "pkg7/mod3/**",
    "pkg12/mod41/file2.py",
    "PKG9/mod9/a.md",
)
_ROUNDS, _SCANS = 2_000, 3


def make_claims(count: int) -> list[FileClaim]:
    """Claims that do not overlap: files, folders and globs of packages, two paths each."""
    return [
        FileClaim(
            org_id="shop", token=number + 1, holder=f"agent:a{number}", claimed_at=0, expires_at=1,
            paths=_paths(number // 100, number % 100, number % 3),
        )
        for number in range(count)
    ]  # fmt: skip


def _paths(package: int, module: int, kind: int) -> tuple[str, str]:
    folder = f"pkg{package}/mod{module}"
    return (
        f"{folder}/" if kind == 0 else f"{folder}/**/*.py" if kind == 1 else f"{folder}/file1.py",
        f"docs/{folder}.md",
    )


def scan(claims: list[FileClaim], path: str) -> list[tuple[int, str]]:
    """What the index finds, by a look at all claims."""
    return [
        (each.token, text) for each in claims for text in each.paths if do_owned_paths_overlap(path, text)
    ]


def measure(ask: Callable[[str], object], rounds: int) -> float:
    """Median of microseconds for a path."""
    times = []
    for _ in range(rounds):
        for path in ASKED:
            start = time.perf_counter()
            ask(path)
            times.append((time.perf_counter() - start) * 1e6)
    return statistics.median(times)


def main() -> None:
    """Compare the answers, then print a row for each way."""
    claims = make_claims(CLAIMS)
    start = time.perf_counter()
    index = ClaimIndex(claims)
    index.find_conflicts(["a"])  # the first question builds it
    built = (time.perf_counter() - start) * 1e3
    for path in ASKED:
        assert [(each.claim.token, each.claimed) for each in index.find_conflicts([path])] == scan(
            claims, path
        )
    print(f"{CLAIMS:,} live claims with two paths each; the index is built in {built:.0f} ms")
    print(f"index: median {measure(lambda path: index.find_conflicts([path]), _ROUNDS):.1f} µs a path")
    print(f"scan: median {measure(lambda path: scan(claims, path), _SCANS):,.0f} µs a path")


if __name__ == "__main__":
    main()
