"""What tests of exports share: a checker that is started once, and the shipped organizations."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from orgkernel.kernel.kernel import Kernel
from tests.exchange.checkers import Checker, a2a_sdk
from tests.support.trees import TEMPLATES


@pytest.fixture(scope="session")
def sdk() -> Iterator[Checker]:
    """A2A's own SDK."""
    with a2a_sdk() as checker:
        yield checker


@pytest.fixture(scope="session")
def templates() -> Kernel:
    """All shipped organizations."""
    return Kernel.open(TEMPLATES)
