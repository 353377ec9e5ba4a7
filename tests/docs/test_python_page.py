"""The reference of the Python API has every public name, and says of every method whether it is stable."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import orgkernel
from orgkernel.client import AsyncClient, Client
from orgkernel.toolbox import ToolContext
from tests.support.patience import PATIENCE
from tests.support.trees import REPOSITORY
from tools.python_page import list_provisional_methods, list_public_names, python_page


@cache
def get_page() -> str:
    """The page. It takes a second to write."""
    return python_page()


def test_every_public_name_has_a_section() -> None:
    """Each name of `orgkernel`, `orgkernel.client` and `orgkernel.toolbox` has one section, and a text in the index."""
    headings = re.findall(r"^## (\w+)$", get_page(), re.MULTILINE)
    assert sorted({*headings} - {"Names", "Errors"}) == sorted(list_public_names())
    rows = re.findall(r"^\| \[`(\w+)`\]\(#\w+\) \| (.*) \| `[\w.]+` \|$", get_page(), re.MULTILINE)
    assert all(text for _, text in rows)
    assert [name for name, _ in rows] == sorted(list_public_names())


def test_every_public_method_has_a_text() -> None:
    """No public method of a public class is without a docstring."""
    for name, (_, value) in list_public_names().items():
        for member, method in inspect.getmembers(value, inspect.isfunction):
            if not member.startswith("_") and method.__module__.startswith("orgkernel"):
                assert inspect.getdoc(method), f"{name}.{member}"


def test_the_methods_that_a_runtime_needs_are_stable() -> None:
    """Every method of both clients and the usual questions of `Kernel` have public types only."""
    assert list_provisional_methods(Client) == list_provisional_methods(AsyncClient) == set()
    assert {"invoke", "list", "has_tool", "handle"} & list_provisional_methods(ToolContext) == set()
    questions = {
        "open", "can", "can_with_reasons", "why", "who_can", "what_can", "envelope", "dispatch", "handoff_permission",
        "manifest", "agent_manifest", "agents", "crew", "pace", "report", "handle", "check", "reload", "as_of",
        "skill_profile", "promotion", "qualification_record", "vacancies",
    }  # fmt: skip
    provisional = list_provisional_methods(orgkernel.Kernel)
    assert questions & provisional == set()
    assert "next_steps" in provisional
    assert "### Kernel.next_steps (provisional)" in get_page()


def test_fields_of_records_are_listed() -> None:
    """A record has a table of its fields with their types and the texts from the code."""
    source = inspect.getsource(orgkernel.AccessDecision)
    (row,) = re.findall(
        r"^\| `codes` \| `tuple\[str, \.\.\.\]` \| (.+) \|$",
        get_page().partition("## AccessEnvelope")[0],
        re.MULTILINE,
    )
    assert f'codes: tuple[str, ...]\n    """{row}"""' in source


def test_a_program_of_a_user_is_checked_with_these_types(tmp_path: Path) -> None:
    """A strict check by mypy knows the type of each lazy name, and notices a misspelled field of an answer."""
    program = tmp_path / "runtime.py"
    program.write_text(
        "from orgkernel import AccessDecision, AccessRequest, Client, Kernel\n"
        "def ask(door: Kernel | Client, request: AccessRequest) -> AccessDecision:\n"
        "    decision = door.can('shop', request)\n"
        "    print(decision.outcom)\n"
        "    return decision\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--cache-dir", REPOSITORY / ".mypy_cache",
         "--config-file", REPOSITORY / "pyproject.toml", program],
        capture_output=True, text=True, timeout=PATIENCE, check=False, cwd=REPOSITORY,
    )  # fmt: skip
    assert done.stdout.count("error:") == 1, done.stdout + done.stderr
    assert '"AccessDecision" has no attribute "outcom"; maybe "outcome"?' in done.stdout


@pytest.mark.parametrize("name", orgkernel.__all__)
def test_the_home_of_a_name_is_where_the_checker_of_types_reads_it(name: str) -> None:
    """The import for types and the lazy import of a name are of the same module."""
    source = Path(orgkernel.__file__).read_text(encoding="utf-8")
    if name != "__version__":
        home = orgkernel._HOMES[name]
        assert re.search(rf"^    from {re.escape(home)} import \(?[^)]*?\b{name}\b", source, re.MULTILINE)
