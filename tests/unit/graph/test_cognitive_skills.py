"""Gates of SKILL.md files that are misspelled or misplaced: the skill is withheld from every role, with a finding."""

from __future__ import annotations

from pathlib import Path

import pytest

from orgkernel.graph.cognitive_skills import open_skills
from orgkernel.kernel.kernel import Kernel
from tests.support.trees import write_tree

SKILL = "---\nname: write-posts\ndescription: Writes posts.\n{}\n---\nWrite.\n"
ORG = "_schema: orgkernel:organization\norg_id: demo\ndepartments: {newsroom: {}}\nhierarchy: {writer: {}}\n"


def find_skills(folder: Path, front_matter: str) -> tuple[list[str], int]:
    """The names of the open skills, and the number of findings about the file of the skill."""
    files = {
        "org.yaml": ORG,
        "roles/writer.yaml": "_schema: orgkernel:role_profile\nrole_id: writer\ndepartment: newsroom\n",
        "skills/write-posts/SKILL.md": SKILL.format(front_matter),
    }
    kernel = Kernel.open(write_tree(folder, files))
    records = kernel.organization("demo").snapshot.records
    findings = [each for each in kernel.check() if "SKILL.md" in str(each.place)]
    return [definition.record.name for definition, _ in open_skills(records)], len(findings)


@pytest.mark.parametrize(
    "front_matter",
    [
        "metadata:\n  orgkernel-department: newsrom", "metadata:\n  orgkernel-departement: newsroom", "metadata:\n  orgkernel_department: newsroom",
        "metadata:\n  OrgKernel-Department: newsroom", "metadata:\n  org-kernel-department: newsroom", "metadata:\n  orgkernel-department: ''",
        "orgkernel-department: newsroom", "Metadata:\n  orgkernel-department: newsroom", "meta-data:\n  orgkernel-department: newsroom",
        "metadata:\n  orgkernel:\n    department: newsroom", "metadata: orgkernel-department newsroom",
    ],
)  # fmt: skip
def test_a_gate_that_cannot_be_read_withholds_the_skill(tmp_path: Path, front_matter: str) -> None:
    """No misspelling of a gate, of its prefix or of its place opens the skill to all, and each is a finding."""
    names, findings = find_skills(tmp_path, front_matter)
    assert (names, findings > 0) == ([], True)


@pytest.mark.parametrize(
    "front_matter",
    [
        "metadata:\n  orgkernel-department: newsroom",
        "metadata:\n  department: of another program\n  organization: x",
    ],
)
def test_gates_and_metadata_of_others_leave_the_skill_open(tmp_path: Path, front_matter: str) -> None:
    """A skill with a valid gate is open to the roles that pass it, and other metadata restricts nothing."""
    assert find_skills(tmp_path, front_matter) == (["write-posts"], 0)
