"""Each sentence that refuses or explains is in the code once; other modules import it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tests.support.trees import REPOSITORY

# Where answers and refusals are worded: decisions, what runs inside a host, hooks, MCP, operations, and the HTTP guards.
ROOMS = (
    "orgkernel/decisions", "orgkernel/runtime", "orgkernel/project/hooks", "orgkernel/mcp", "orgkernel/operations",
    "extension/host", "manifest_api/guards", "manifest_api/problems.py", "manifest_api/questions.py",
    "manifest_api/refusals.py", "manifest_api/auditing.py", "manifest_api/store_access.py",
    "manifest_api/store_requests.py",
)  # fmt: skip
LEAST_WORDS = 5
_WORD = re.compile(r"[A-Za-z][A-Za-z'-]+")


def sentences_in(source: str) -> Iterator[tuple[str, int]]:
    """The texts of a module with at least five words, docstrings left out, each with its line; values in them as `{}`."""
    tree = ast.parse(source)
    skipped = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            skipped |= {id(part) for part in node.values}
            text = "".join(
                str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values
            )
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in skipped:
            text = node.value
        else:
            continue
        if sum(bool(_WORD.search(word)) for word in text.split()) >= LEAST_WORDS:
            yield text, node.lineno


def meaning_of(sentence: str) -> str:
    """What makes two sentences the same: their words, whatever is quoted and however they begin."""
    return re.sub(r"\{[^}]*\}", "{}", sentence).replace("`", "").strip(" .").casefold()


def modules() -> Iterator[Path]:
    for room in ROOMS:
        path = REPOSITORY / room
        yield from [path] if path.suffix else sorted(path.rglob("*.py"))


def test_no_sentence_stands_twice() -> None:
    """In two modules, or in two places of one."""
    places: dict[str, list[str]] = {}
    for module in modules():
        for sentence, line in sentences_in(module.read_text(encoding="utf-8")):
            places.setdefault(meaning_of(sentence), []).append(f"{module.relative_to(REPOSITORY)}:{line}")
    twice = {sentence: found for sentence, found in places.items() if len(found) > 1}
    assert twice == {}
    assert len(places) > 500


def test_a_sentence_that_stands_twice_is_noticed() -> None:
    """Whatever it quotes, and however it begins."""
    source = """
first = f"role `{name}` may not use tool {tool}"
second = f"Role {name} may not use tool `{other(tool)}`."
"""
    assert len({meaning_of(sentence) for sentence, _ in sentences_in(source)}) == 1
