"""A program that imports a public name loads no more than the name needs."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.support.patience import PATIENCE
from tests.support.trees import REPOSITORY

_HEAVY = {"asyncio", "fastapi", "http.client", "msgspec", "networkx", "pydantic", "sqlalchemy", "yaml"}


def list_loaded(code: str) -> set[str]:
    """The modules that a new process has loaded after some code."""
    program = f"{code}\nimport sys\nprint(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True, text=True, timeout=PATIENCE, check=True, cwd=REPOSITORY,
    )  # fmt: skip
    return set(done.stdout.split())


@pytest.mark.parametrize(
    ("code", "loaded"),
    [
        ("import orgkernel", set()),
        ("from orgkernel import Kernel", set()),
        ("from orgkernel import AccessDecision", {"msgspec"}),
        ("from orgkernel import Client", {"msgspec", "http.client"}),
        ("from orgkernel import AsyncClient", {"msgspec", "http.client", "asyncio"}),
    ],
)
def test_a_name_loads_what_it_needs(code: str, loaded: set[str]) -> None:
    """Of the heavy modules, an import loads only the listed ones."""
    assert list_loaded(code) & _HEAVY == loaded


def test_the_package_loads_no_types() -> None:
    """`import orgkernel` does not load `typing`, which takes as long as the start of Python."""
    assert "typing" not in list_loaded("import orgkernel")


def test_an_open_kernel_needs_no_pydantic() -> None:
    """Opening the shipped organizations and asking them loads neither pydantic nor networkx."""
    code = "from orgkernel import AccessRequest, Kernel\nkernel = Kernel.open()\nkernel.dispatch('blank', 'codegen')"
    assert list_loaded(code) & {"pydantic", "asyncio", "fastapi", "sqlalchemy"} == set()
