"""What a change of a SKILL.md gives a role, or takes from it."""

from __future__ import annotations

from pathlib import Path

import pytest

from orgkernel.kernel.kernel import Kernel
from orgkernel.manifest.organization import build_organization_manifest
from tests.support.compared import OrganizationVersion, compare_versions
from tests.support.reverse_changes import reverse
from tests.support.trees import write_tree

FILES = {
    "org.yaml": "_schema: orgkernel:organization\norg_id: press\nhierarchy: {writer: {}}\ndepartments: {desk: {}, hall: {}}\n",
    "roles/writer.yaml": "_schema: orgkernel:role_profile\nrole_id: writer\nrole_type: commander\ndescription: Writes.\n"
    "department: desk\nentry_rank: commander\ncapabilities: {skills: [communication]}\n",
}


def version(folder: Path, metadata: str) -> OrganizationVersion:
    """The organization with one skill that has this metadata."""
    lines = "".join(f"  orgkernel-{line}\n" for line in metadata.split("; ") if line)
    front = "name: write\ndescription: Writes.\n" + (f"metadata:\n{lines}" if lines else "")
    skill = {"skills/write/SKILL.md": f"---\n{front}---\nWrite.\n"}
    view = Kernel.open(write_tree(folder, FILES | skill)).organization("press").snapshot.index
    return OrganizationVersion(build_organization_manifest(view, view.roles, ()), view=view)


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("department: hall", "department: desk", ["widened"]),
        ("", "min-rank: senior", ["narrowed"]),
        ("skill-id: communication", "skill-id: communication; min-rank: commander", ["unclear"]),
        ("min-rank: commander; intents: mail", "min-rank: commander; intents: mail", []),
    ],
)
def test_the_direction_of_a_change(tmp_path: Path, before: str, after: str, expected: list[str]) -> None:
    """A role gains or loses the skill; another gate of a skill that it keeps may let others in. Turned round, the inverse."""
    old, new = version(tmp_path / "old", before), version(tmp_path / "new", after)
    found = compare_versions({"press": old}, {"press": new})
    about = [each for each in found if "cognitive_skills" in each.path]
    assert [each.classification for each in about] == expected
    assert reverse(found) == compare_versions({"press": new}, {"press": old})
