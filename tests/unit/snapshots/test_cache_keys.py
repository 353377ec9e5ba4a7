"""The key of a cached snapshot depends on everything that makes a snapshot."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from orgkernel.snapshots.cache_keys import _PACKAGE, _PARTS
from tests.support.trees import REPOSITORY, TEMPLATES

_AROUND = {"engines", "errors", "prepared_types", "version"}


def test_every_module_that_makes_a_snapshot_is_in_the_key(tmp_path: Path) -> None:
    """A changed rule, record or reader must not be answered for by what the one before it left in the cache."""
    program = (
        "import sys\n"
        "from orgkernel.snapshots.loader import Loader\n"
        "from orgkernel.snapshots.roots import resolve_paths\n"
        f"Loader(resolve_paths([{str(TEMPLATES / 'starship')!r}], '/'), {{}}).load()\n"
        "print(*{name.split('.')[1] for name in sys.modules if name.startswith('orgkernel.')})\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, env={"PYTHONPATH": str(REPOSITORY)},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert set(done.stdout.split()) - _AROUND == set(_PARTS)
    assert all((Path(_PACKAGE) / part).is_dir() for part in _PARTS)
