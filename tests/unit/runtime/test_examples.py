"""The examples in the runtime are true: a host's author reads them."""

from __future__ import annotations

import doctest
from importlib import import_module
from pathlib import Path

import pytest

import orgkernel.decisions.status.pace
import orgkernel.runtime

MODULES = sorted(path.stem for path in Path(orgkernel.runtime.__path__[0]).glob("[a-z]*.py"))


@pytest.mark.parametrize(
    "name", [*(f"orgkernel.runtime.{name}" for name in MODULES), "orgkernel.decisions.status.pace"]
)
def test_examples_are_true(name: str):
    """Whatever stands after `>>>` prints what stands below it."""
    assert doctest.testmod(import_module(name)).failed == 0
