"""Sides of a comparison, as their texts name them."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from orgkernel.kernel.settings import Project
from orgkernel.project import versions
from orgkernel.project.compare import compare_trees
from orgkernel.snapshots import roots
from tests.support.trees import REPOSITORY, change_line


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with the shared ontology and a template, as that of orgkernel itself."""
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    folder = tmp_path / "checkout"
    shutil.copytree(REPOSITORY / "ontology", folder / "ontology")
    shutil.copytree(REPOSITORY / "templates/software_dev", folder / "templates/software_dev")
    identity = ("-c", "user.name=A", "-c", "user.email=a@example.org")
    for arguments in (["init", "--quiet"], ["add", "."], ["commit", "--quiet", "-m", "x"]):
        subprocess.run(["git", *identity, *arguments], cwd=folder, check=True)
    for module in (versions, roots):
        monkeypatch.setattr(module, "get_shipped_folder", lambda name: str(folder / name))
    return folder


def test_the_shared_ontology_of_a_revision(checkout: Path) -> None:
    """Where the repository holds the shared catalogs, a revision is read with those of that revision."""
    project = Project(str(checkout), ("ontology", "templates"))
    assert compare_trees("git:HEAD", None, project, str(checkout)).report.changes == ()
    change_line(checkout / "ontology/tools.yaml", "    name: Web search", "    name: Search")
    (change,) = compare_trees("git:HEAD", None, project, str(checkout)).report.changes
    assert change.sentence.startswith("tool search_engine: name is `Search` instead of `Web search`, for ")
    assert change.why_before[0].file == change.why_after[0].file == "ontology/tools.yaml"


def test_what_lies_above_a_repository_is_not_looked_at(checkout: Path) -> None:
    """What lies above a repository belongs to no revision of it."""
    shutil.copy(checkout / "templates/software_dev/org.yaml", checkout.parent / "org.yaml")
    project = Project(str(checkout), ("templates",))
    assert (
        compare_trees("git:HEAD:templates", "git:HEAD:templates", project, str(checkout)).report.changes == ()
    )
