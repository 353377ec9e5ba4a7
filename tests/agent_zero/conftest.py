"""A host of each generation with our extension in it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.agent_zero.double import build_host, running
from tests.agent_zero.double_loader import GENERATIONS
from tests.agent_zero.installing import install


@pytest.fixture(params=GENERATIONS)
def generation(request: pytest.FixtureRequest) -> str:
    """Each of the three."""
    return str(request.param)


@pytest.fixture
def root(tmp_path: Path, generation: str) -> Path:
    """An installation with our extension, not active; the path has a space in it."""
    root = build_host(tmp_path / "agent zero", generation)
    install(root, generation)
    return root


@pytest.fixture
def started(root: Path, generation: str) -> Iterator[SimpleNamespace]:
    """That installation running."""
    with running(root, generation) as host:
        yield SimpleNamespace(host=host, root=root, generation=generation)


WHOLE_WAY = {"test_activation", "test_end_to_end", "test_installer"}
"""Modules of which `make test` runs all generations; of the others it runs the newest, and `make nightly` the older ones."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Tests of a real checkout run where `A0_ROOT` names one; elsewhere they are not there."""
    for item in items:
        generation = getattr(item, "callspec", None) and item.callspec.params.get("generation")
        if generation in GENERATIONS[:-1] and item.path.stem not in WHOLE_WAY:
            item.add_marker(pytest.mark.nightly)
    if not os.environ.get("A0_ROOT"):
        real = [item for item in items if item.get_closest_marker("real_host")]
        if real:
            config.hook.pytest_deselected(items=real)
            items[:] = [item for item in items if item not in real]
