"""Kernels and clients that several files share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from orgkernel.kernel.kernel import Kernel
from tests.api.asking import ORG, client_of
from tests.support.trees import TEMPLATES, copy_template


@pytest.fixture(scope="session")
def templates() -> Kernel:
    """All shipped organisations, none of them active."""
    return Kernel.open(TEMPLATES)


@pytest.fixture
def client(templates: Kernel) -> Iterator[TestClient]:
    """A client of the shipped organisations."""
    with client_of(templates) as asking:
        yield asking


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of one organisation, to be edited."""
    return copy_template(tmp_path / ORG, ORG)
