"""Patterns that are compiled when they are first used."""

from __future__ import annotations

import copy
import pkgutil
import re
from importlib import import_module

import pytest

import orgkernel
from orgkernel.runtime.lazy_patterns import _LazyPattern, lazy_pattern


def find_patterns() -> list[tuple[str, _LazyPattern]]:
    """Every lazy pattern that a module names, or holds in a tuple."""
    found = []
    for module in pkgutil.walk_packages(orgkernel.__path__, "orgkernel."):
        if (
            module.name.endswith("__main__")
            or ".migrations" in module.name
            or ".claude_hook.run" in module.name
        ):
            continue
        for name, value in vars(import_module(module.name)).items():
            rows = value if isinstance(value, tuple) else (value,)
            parts = [part for row in rows for part in (row if isinstance(row, tuple) else (row,))]
            found += [(f"{module.name}.{name}", part) for part in parts if isinstance(part, _LazyPattern)]
    return found


def test_every_pattern_can_be_compiled() -> None:
    """A mistake in one is found here, because importing its module no longer finds it."""
    patterns = find_patterns()
    assert len(patterns) > 150
    for name, pattern in patterns:
        assert isinstance(re.compile(*pattern._source), re.Pattern), name


@pytest.mark.parametrize("text", ["", "a", "ab12", "12 AB"])
def test_it_answers_as_a_compiled_pattern(text: str) -> None:
    """Every method and attribute, before and after it was compiled."""
    compiled, lazy = (
        re.compile("[a-z]+(?P<n>[0-9]*)", re.IGNORECASE),
        lazy_pattern("[a-z]+(?P<n>[0-9]*)", re.IGNORECASE),
    )
    for _ in range(2):
        assert lazy.findall(text) == compiled.findall(text)
        assert [each.span() for each in lazy.finditer(text)] == [
            each.span() for each in compiled.finditer(text)
        ]
        assert lazy.sub("x", text) == compiled.sub("x", text)
        assert lazy.split(text) == compiled.split(text)
        assert bool(lazy.match(text)) == bool(compiled.match(text))
        assert bool(lazy.search(text)) == bool(compiled.search(text))
        assert bool(lazy.fullmatch(text)) == bool(compiled.fullmatch(text))
        assert (lazy.pattern, lazy.flags, lazy.groupindex) == (
            compiled.pattern,
            compiled.flags,
            compiled.groupindex,
        )
    assert copy.copy(lazy).findall(text) == compiled.findall(text)
