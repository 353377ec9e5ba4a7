"""Kernels and clients that several files share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from orgkernel.kernel.kernel import Kernel
from orgkernel.state.location import StoreLocation
from tests.api.asking import ORG, client_of, stored_client
from tests.api.keys import location_of
from tests.support.trees import TEMPLATES, copy_template


@pytest.fixture(scope="session")
def templates() -> Kernel:
    """All shipped organizations, none of them active."""
    return Kernel.open(TEMPLATES)


@pytest.fixture
def client(templates: Kernel) -> Iterator[TestClient]:
    """A client of the shipped organizations."""
    with client_of(templates) as asking:
        yield asking


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of one organization, to be edited."""
    return copy_template(tmp_path / ORG, ORG)


@pytest.fixture(scope="session")
def household() -> Kernel:
    """The organization that declares people, policies and an exclusive tool."""
    return Kernel.open(TEMPLATES / "household")


@pytest.fixture
def file(tmp_path: Path) -> StoreLocation:
    """A place for a store of one file."""
    return location_of(tmp_path / "state.db")


@pytest.fixture(params=["sqlite", "postgresql"])
def store(request: pytest.FixtureRequest, file: StoreLocation) -> StoreLocation:
    """Where the state is: routes are asked over both engines."""
    place: StoreLocation = (
        request.getfixturevalue("postgres_place") if request.param == "postgresql" else file
    )
    return place


@pytest.fixture
def local(household: Kernel, store: StoreLocation) -> Iterator[TestClient]:
    """A client on loopback."""
    with stored_client(household, store) as client:
        yield client
