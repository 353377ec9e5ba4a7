"""The threat model names tests that exist, and no attack that is tested is missing from it."""

from __future__ import annotations

import ast
import re

from tests.support.trees import REPOSITORY
from tests.support.yaml_text import read_yaml_file

PAGE = (REPOSITORY / "docs/threat-model.md").read_text(encoding="utf-8")
TESTS = REPOSITORY / "tests"
TESTS_BY_ATTEMPT: dict[str, list[str]] = read_yaml_file(TESTS / "threats.yaml")
NAMED = [name for names in TESTS_BY_ATTEMPT.values() for name in names]


def names_in(name: str) -> set[str]:
    tree = ast.parse((TESTS / name).read_text(encoding="utf-8"))
    functions = (each for each in ast.walk(tree) if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef))
    return {each.name for each in functions if each.name.startswith("test_")}


def test_every_test_that_is_named_exists() -> None:
    """By its file and its name."""
    assert len(NAMED) > 80
    for name in NAMED:
        file, _, function = name.partition("::")
        assert (TESTS / file).is_file(), file
        assert not function or function in names_in(file), name


def test_every_attack_has_a_test() -> None:
    """Each row of the page has a number of its own, and each number has tests: a row without one is a promise."""
    header = re.compile(r"\| no\. \| (they try to|it tries to|their mistake) \| what happens \|$")
    rows = [line for line in PAGE.splitlines() if line.startswith("| ") and not header.match(line)]
    assert all(re.fullmatch(r"\| T\d+ \| [^|]+ \| [^|]+ \|", row) for row in rows)
    numbers = [row.split()[1] for row in rows]
    assert sorted(set(numbers)) == sorted(numbers) == sorted(TESTS_BY_ATTEMPT)
    assert all(TESTS_BY_ATTEMPT.values())


def test_every_file_of_attacks_is_named() -> None:
    """What is attacked in `tests/faults` is told to readers."""
    files = {name.partition("::")[0] for name in NAMED}
    for path in (TESTS / "faults").glob("test_*.py"):
        assert f"faults/{path.name}" in files, path.name


def test_each_attacker_is_told_what_is_not_defended() -> None:
    """An honest list below each table."""
    sections = re.split(r"(?m)^## ", PAGE)[1:]
    for section in sections[:-1]:
        title = section.partition("\n")[0]
        assert "\n| " in section, title
        assert "\nNot defended: " in section, title
    assert sections[-1].startswith("Not defended\n")
