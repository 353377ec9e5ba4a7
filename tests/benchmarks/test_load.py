"""`make load`: what it says grows, and that it asks a real server."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.load.__main__ import MIB, Sample, find_growth, sample, serving


def samples(memory: list[float], files: list[float]) -> list[Sample]:
    """Samples in turn, memory in MiB."""
    return [
        Sample(at, used * MIB, opened, 0, 0, 0)
        for at, (used, opened) in enumerate(zip(memory, files, strict=True))
    ]


@pytest.mark.parametrize(
    ("memory", "files", "found"),
    [
        ([80, 95, 100, 101] * 4, [90] * 16, []),
        ([80] * 4 + [100] * 4 + [101] * 4 + [105] * 4, [90] * 16, []),
        ([80] * 4 + [100] * 4 + [120] * 4 + [140] * 4, [90] * 16, ["memory grew from 100.0 to 140.0 MiB"]),
        ([100] * 16, [20, 90, 90, 90, 90, 95, 100, 105, *range(110, 150, 5)], ["open files grew from 98 to 138"]),
        ([100] * 3, [20] * 3, ["the load was too short to say what grows"]),
    ],
)  # fmt: skip
def test_growth_is_told_from_warming_up(memory: list[float], files: list[float], found: list[str]) -> None:
    """The first quarter may take what it needs."""
    assert find_growth(samples(memory, files)) == found


def test_a_sample_is_what_the_server_says(tmp_path: Path) -> None:
    """Of a server that is started and ended here."""
    with serving(tmp_path) as (url, key):
        found = sample(url, key, tmp_path, 1.0)
    assert found.memory > 20 * MIB
    assert found.files > 5
    assert found.queue == 0
