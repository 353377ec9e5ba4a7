"""The process that gateways are forked from ends with the tests."""

from __future__ import annotations

from collections.abc import Iterator
from multiprocessing import forkserver

import pytest


@pytest.fixture(scope="package", autouse=True)
def _end_of_forking() -> Iterator[None]:
    yield
    forkserver._forkserver._stop()  # type: ignore[attr-defined]
