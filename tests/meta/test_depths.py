"""Which tests run in `make quick`, `make test` and `make nightly`."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.patience import PATIENCE
from tests.support.trees import REPOSITORY

SAMPLE = """
import pytest
from hypothesis import given, settings, strategies as st
from tests.support.depth import DEPTH
from tests.support.sampling import sample, sample_every

@given(st.integers())
@settings(max_examples=40)
def test_law(number):
    print("example")

@pytest.mark.deep
def test_search(): print("rounds", DEPTH)

@pytest.mark.parametrize(("kind", "case"), sample([("a", 1), ("a", 2), ("b", 3)], lambda each: each[0]))
def test_corpus(kind, case): pass

@pytest.mark.parametrize("number", sample_every(range(4), 3))
def test_numbers(number): pass
"""
REPRESENTATIVES = {"test_corpus[a-1]", "test_corpus[b-3]", "test_numbers[0]", "test_numbers[3]"}
OTHERS = {"test_corpus[a-2]", "test_numbers[1]", "test_numbers[2]"}
SEARCHES = {"test_law", "test_search"}
QUICK = "not nightly and (not deep or hypothesis)"


@pytest.mark.parametrize(
    ("depth", "options", "tests", "examples"),
    [
        ("0", ["-m", QUICK], REPRESENTATIVES | {"test_law"}, 4),
        ("1", [], REPRESENTATIVES | SEARCHES, 6),
        ("2", ["-m", ""], OTHERS | SEARCHES, 80),
    ],
    ids=["quick", "test", "nightly"],
)
def test_what_runs_when(
    tmp_path: Path, depth: str, options: list[str], tests: set[str], examples: int
) -> None:
    """One case of each kind runs in `make test`, the others in `make nightly`, and none of them is skipped."""
    (tmp_path / "test_sample.py").write_text(SAMPLE, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-c", "pyproject.toml", "--rootdir", ".", "-p", "tests.conftest", "-p", "no:cacheprovider",
         "-n", "0", "-vs", tmp_path, *options],
        cwd=REPOSITORY, env={**os.environ, "ORGKERNEL_DEPTH": depth, "ORGKERNEL_REFUSE_SKIPS": "1"},
        capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    lines = [line.split()[0] for line in done.stdout.splitlines() if "::" in line]
    assert {line.rpartition("::")[2] for line in lines} == tests
    assert done.stdout.count("example\n") == examples
    assert "skipped" not in done.stdout


def test_the_targets_choose_so() -> None:
    """The Makefile gives each target its depth and its marks."""
    recipes = (REPOSITORY / "Makefile").read_text(encoding="utf-8")
    assert f'ORGKERNEL_DEPTH=0 $(BIN)/pytest -q -n 2 --dist worksteal -m "{QUICK}"' in recipes
    assert 'ORGKERNEL_DEPTH=$(DEPTH) $(BIN)/pytest -m "" ' in recipes
