"""No reason code is declared that nothing can be answered with: each is expected by a case or a test."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from orgkernel.decisions.access.decide import EVALUATION_ERROR
from orgkernel.decisions.access.layers import ORDER

ROOT = Path(__file__).parents[2]
WORD = re.compile(r"[A-Z]+(_[A-Z]+)+")
# Where reasons of an answer are made. The codes of problems over HTTP and of errors are no reasons.
MADE_IN = ("orgkernel/decisions/**/*.py", "orgkernel/operations/decisions.py")
# The oracle shares the codes, and this file speaks of them: neither shows that one is answered.
NO_EVIDENCE = ("tests/reference/", "tests/meta/test_reason_codes.py", "tests/benchmarks/")


def codes_in(file: Path) -> Iterator[str]:
    """The words of a module's code that look like reason codes."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and WORD.fullmatch(node.value):
            yield node.value


def declared() -> set[str]:
    made = {code for files in MADE_IN for file in ROOT.glob(files) for code in codes_in(file)}
    return made | {*ORDER.codes, *ORDER.besides, EVALUATION_ERROR}


def texts_in(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from texts_in(each)


def compared() -> set[str]:
    """The words of cases in YAML, which are all run, and of assertions and their parameters: a comment is no evidence."""
    texts: list[str] = []
    for file in (ROOT / "tests").rglob("*.yaml"):
        for document in yaml.safe_load_all(file.read_text(encoding="utf-8")):
            texts += texts_in(document)
    for file in (ROOT / "tests").rglob("*.py"):
        if file.relative_to(ROOT).as_posix().startswith(NO_EVIDENCE):
            continue
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            is_parameters = isinstance(node, ast.Call) and ast.unparse(node.func).endswith("parametrize")
            if isinstance(node, ast.Assert) or is_parameters:
                values = (each.value for each in ast.walk(node) if isinstance(each, ast.Constant))
                texts += (each for each in values if isinstance(each, str))
    return {word for text in texts for word in re.findall(r"\w+", text)}


COMPARED = compared()


@pytest.mark.parametrize("code", sorted(declared()))
def test_every_code_is_compared_with_an_answer(code: str) -> None:
    """As a case's `because`, or in an assertion."""
    assert code in COMPARED


def test_the_docs_tell_the_layers_in_their_order() -> None:
    """The table of `docs/access.md` names every layer once, in the order in which they are evaluated."""
    page = (ROOT / "docs/access.md").read_text(encoding="utf-8")
    rows = page.partition("| layer | what it does |\n|---|---|\n")[2].partition("\n\n")[0].splitlines()
    named = [name for row in rows for name in row.split("|")[1].strip().lower().split(", ")]
    assert named == [layer.name for layer in ORDER.layers]


def test_every_code_of_access_has_a_sentence_and_a_layer() -> None:
    """A code nobody can put into words could only be answered by a fault of ours."""
    assert all(callable(code.say) for code in ORDER.codes.values())
    assert set(ORDER.layer_of) == {*ORDER.codes, *ORDER.besides}
    assert set(ORDER.layer_of.values()) <= {layer.name for layer in ORDER.layers}
