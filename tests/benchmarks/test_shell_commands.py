"""The measurement of labeled shell commands counts what it says."""

from __future__ import annotations

from benchmarks.shell_commands import HALVES, measure_half


def test_each_command_is_counted_once() -> None:
    """Both halves have commands of both labels, a time for each, and no miss."""
    for name in HALVES:
        found = measure_half(name)
        assert len(found.microseconds) == found.harmless + found.destructive > 250
        assert (found.misses, found.alarms) == (0, 0)
