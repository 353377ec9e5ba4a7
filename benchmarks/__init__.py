"""Benchmarks: ours beside what a user would take instead, in one run, as ratios of medians."""
