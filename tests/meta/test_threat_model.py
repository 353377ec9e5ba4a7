"""The threat model names tests that exist, and no attack that is tested is missing from it."""

from __future__ import annotations

import ast
import re

from tests.support.trees import REPOSITORY

PAGE = (REPOSITORY / "docs/threat-model.md").read_text(encoding="utf-8")
TESTS = REPOSITORY / "tests"


def names_in(name: str) -> set[str]:
    tree = ast.parse((TESTS / name).read_text(encoding="utf-8"))
    functions = (each for each in ast.walk(tree) if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef))
    return {each.name for each in functions if each.name.startswith("test_")}


def test_every_test_that_is_named_exists() -> None:
    """By its file and its name."""
    named = re.findall(r"`([\w/]+\.py)(?:::(\w+))?`", PAGE)
    assert len(named) > 80
    for file, name in named:
        assert (TESTS / file).is_file(), file
        assert not name or name in names_in(file), f"{file}::{name}"


def test_every_attack_has_a_test() -> None:
    """A row without one is a promise."""
    attacks = [line for line in PAGE.splitlines() if line.startswith("| ") and not line.startswith("| the")]
    for line in attacks:
        if not re.match(r"\| (they try to|it tries to|their mistake) \|", line):
            assert re.search(r"`[\w/]+\.py(?:::\w+)?`[^|]* \|$", line), line


def test_every_file_of_attacks_is_named() -> None:
    """What is attacked in `tests/faults` is told to readers."""
    for path in (TESTS / "faults").glob("test_*.py"):
        assert f"`faults/{path.name}" in PAGE, path.name


def test_each_attacker_is_told_what_is_not_defended() -> None:
    """An honest list below each table."""
    sections = re.split(r"(?m)^## ", PAGE)[1:]
    for section in sections[:-1]:
        title = section.partition("\n")[0]
        assert "\n| " in section, title
        assert "\nNot defended: " in section, title
    assert sections[-1].startswith("Not defended\n")
