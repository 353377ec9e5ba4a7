"""A program that is one version newer: a copy of the package, with one more migration."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from orgkernel.state.schema_version import NEWEST, VERSIONS
from tests.support.patience import PATIENCE
from tests.support.trees import REPOSITORY

NEXT = f"{int(NEWEST) + 1:04}"
_MIGRATION = f"""
import sqlalchemy as sa
from alembic import op

revision = "{NEXT}"
down_revision = "{NEWEST}"


def upgrade():
    op.add_column("restrictions", sa.Column("binds_more", sa.Text(), nullable=True))
"""


class NewerProgram:
    """The command of the newer version."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        package = folder / "orgkernel"
        shutil.copytree(REPOSITORY / "orgkernel", package)
        (package / "state/migrations/versions" / f"v{NEXT}_next.py").write_text(_MIGRATION, encoding="utf-8")
        module = package / "state/schema_version.py"
        text = module.read_text(encoding="utf-8")
        last = f'"{VERSIONS[-1]}",\n)'
        assert text.count(last) == 1
        module.write_text(text.replace(last, f'"{VERSIONS[-1]}",\n    "{NEXT}",\n)'), encoding="utf-8")

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run the command in a process of its own."""
        return subprocess.run(
            [sys.executable, "-c", "from orgkernel.cli import main; main()", *arguments], cwd=self._folder, capture_output=True, text=True,
            timeout=PATIENCE, check=False, env={**os.environ, "PYTHONPATH": str(self._folder)},
        )  # fmt: skip
