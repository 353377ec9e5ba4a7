"""The organizations whose manifests are looked at."""

from __future__ import annotations

import pytest

from orgkernel.kernel.kernel import Kernel
from tests.support.trees import write_tree
from tests.unit.manifest.everything import EVERYTHING


@pytest.fixture(scope="session")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Kernel:
    """The organization that uses every field."""
    return Kernel.open(write_tree(tmp_path_factory.mktemp("whole"), EVERYTHING))


@pytest.fixture(scope="session")
def shipped() -> Kernel:
    """The templates."""
    return Kernel.open()
