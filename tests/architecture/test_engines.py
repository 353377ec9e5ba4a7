"""Engines: each has a switch, a row among the benchmarks, and a row in their documentation."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from benchmarks.rows import ROWS
from orgkernel.engines import ALL, ENGINES, SOME, EnginesOff, is_on, read_disabled
from tests.support.trees import REPOSITORY

PROGRAMS = [*(REPOSITORY / "orgkernel").rglob("*.py"), *(REPOSITORY / "manifest_api").rglob("*.py")]


def test_every_engine_is_asked_for_by_its_name() -> None:
    """Each engine has code that asks whether it is on, and nothing asks for an engine that does not exist."""
    names = {
        argument.value
        for path in PROGRAMS
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "is_on"
        for argument in node.args
        if isinstance(argument, ast.Constant)
    }
    assert names == set(ENGINES)


@pytest.mark.parametrize("name", ENGINES)
def test_every_engine_has_a_benchmark(name: str) -> None:
    """A row compares it with the plain path, and the page of benchmarks says what the row came to."""
    rows = [row for row in ROWS if row.name.startswith(f"engine {name}: ")]
    assert rows
    for row in rows:
        assert row.against is not None
        assert row.aim == 0.87
    page = (REPOSITORY / "docs/benchmarks.md").read_text(encoding="utf-8")
    assert f"\n| `{name}` | " in page


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, set()),
        ({ALL: "on"}, set()),
        ({ALL: "off"}, set(ENGINES)),
        ({ALL: " OFF ", SOME: "digests"}, set(ENGINES)),
        ({SOME: "digests"}, {"digests"}),
        ({SOME: "digests, row_inserts,"}, {"digests", "row_inserts"}),
    ],
)
def test_the_environment_switches_engines_off(environment: dict[str, str], expected: set[str]) -> None:
    """All of them, or those that are named."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read_disabled(environment) == expected


def test_a_name_that_no_engine_has_is_warned_about() -> None:
    """A misspelled name switches no engine off, and the user gets an error."""
    with pytest.warns(RuntimeWarning, match="engines that do not exist: rowinserts; engines are digests, "):
        assert "row_inserts" not in read_disabled({SOME: "rowinserts"})


def test_an_engine_is_off_only_within_the_block() -> None:
    """Blocks within blocks leave the others as they are."""
    with EnginesOff("digests"):
        with EnginesOff("digests", "fast_path"):
            assert not is_on("digests")
            assert not is_on("fast_path")
        assert not is_on("digests")
        assert is_on("fast_path")
    assert is_on("digests")


def test_a_process_without_engines_gives_the_same_answers(tmp_path: Path) -> None:
    """The switch is the environment of a process: what it prints is the same, by other modules."""
    program = (
        "import json, sys\n"
        "from orgkernel import Kernel, engines\n"
        "from orgkernel.decisions.access.listing import who_can\n"
        "from orgkernel.project.hooks.engine import digests, json_reader\n"
        "value = json_reader.parse(b'{\"a\": [1, 2.5, null]}')\n"
        "index = Kernel.open().organization('software_dev').snapshot.index\n"
        "rows = who_can(index, 'use', 'tool:text_editor')\n"
        "print(json.dumps([value, json_reader.quote('ü'), digests.sha256_hex(b'x'), [str(row) for row in rows]]))\n"
        "print(sorted(name for name in engines.ENGINES if engines.is_on(name)), file=sys.stderr)\n"
    )
    printed: list[tuple[str, str]] = []
    for environment in ({}, {ALL: "off"}):
        done = subprocess.run(
            [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True,
            env={**os.environ, "PYTHONPATH": str(REPOSITORY), **environment},
        )  # fmt: skip
        printed.append((done.stdout, done.stderr.splitlines()[-1]))
    (on, names), (off, no_names) = printed
    assert on == off
    assert len(json.loads(on)[3]) == 3
    assert (names, no_names) == (str(sorted(ENGINES)), "[]")
