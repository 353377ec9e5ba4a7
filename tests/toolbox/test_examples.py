"""Every example in the toolbox, and in what makes permits, is true."""

from __future__ import annotations

import doctest
import pkgutil
from importlib import import_module
from pathlib import Path

import pytest

import orgkernel.toolbox
from tests.architecture.test_imports import imported_by

MODULES = ["orgkernel.decisions.access.tool_input", *(each.name for each in pkgutil.walk_packages(orgkernel.toolbox.__path__, "orgkernel.toolbox."))]  # fmt: skip


@pytest.mark.parametrize("name", MODULES)
def test_examples_are_true(name: str) -> None:
    """Where a module has any."""
    assert doctest.testmod(import_module(name)).failed == 0


def test_there_are_examples() -> None:
    """At least of a permitted input, a toolbox, a result and settings."""
    found = [import_module(name) for name in MODULES]
    assert sum(doctest.testmod(module).attempted > 0 for module in found) >= 4


def test_a_toolbox_imports_what_its_tools_need_and_no_more(tmp_path: Path) -> None:
    """Neither the HTTP client nor the MCP SDK, for functions; nor the state's database where there is no store."""
    heavy = ("httpx2", "mcp", "sqlalchemy", "alembic", "fastapi", "pydantic", "networkx")
    assert imported_by("import orgkernel.toolbox, orgkernel.toolbox.toolbox", tmp_path, heavy) == set()
