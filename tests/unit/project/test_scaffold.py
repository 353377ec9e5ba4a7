"""What `new` writes is a document like any other."""

from __future__ import annotations

from operator import itemgetter
from pathlib import Path

import pytest

from orgkernel.errors import UsageError
from orgkernel.kernel.kernel import Kernel
from orgkernel.loading.shipped import list_templates
from orgkernel.project.scaffold import add_role, copy_template
from tests.support.sampling import sample
from tests.support.trees import TEMPLATES


def test_every_folder_of_templates_is_a_template() -> None:
    """An added template is offered without a list to edit."""
    assert set(list_templates()) == {path.name for path in TEMPLATES.iterdir() if path.is_dir()}


@pytest.mark.parametrize(
    ("template", "role_type"),
    sample(
        ((each, kind) for each in list_templates() for kind in ("specialist", "executive")), itemgetter(0)
    ),
)
def test_a_role_can_be_added_to_a_copy_of_every_template(
    tmp_path: Path, template: str, role_type: str
) -> None:
    """The role's superior is the root; with a crew, the only other finding is that no agent fills the role yet."""
    copy_template(template, str(tmp_path / "mine"))
    kernel = Kernel.open(tmp_path / "mine")
    added = add_role(kernel.latest(template), "reviewer", role_type, None)
    assert added.included
    kernel.reload()
    vacant = [("ORG601", "role:reviewer")] if kernel.latest(template).records.agents else []
    assert [(found.code, found.subject) for found in kernel.check()] == vacant
    root, *_ = kernel.latest(template).index.list_roots()
    assert kernel.manifest(template, "reviewer").chain_of_command[0].id == root


def test_a_role_cannot_be_added_twice(tmp_path: Path) -> None:
    """Not even by the same process."""
    copy_template("blank", str(tmp_path / "mine"))
    kernel = Kernel.open(tmp_path / "mine")
    add_role(kernel.latest("blank"), "reviewer", "specialist", None)
    with pytest.raises(UsageError, match="already has a role `reviewer`"):
        add_role(kernel.latest("blank"), "reviewer", "specialist", None)
