"""The files that the organization's own texts refer to are looked up again when one appears or goes."""

from __future__ import annotations

from pathlib import Path

from orgkernel import Kernel
from tests.support.in_process import run_here
from tests.support.trees import write_tree

TREE = {
    "org.yaml": '{_schema: "orgkernel:organization", org_id: desk, hierarchy: {clerk: {}}}\n',
    "roles/clerk.yaml": "_schema: orgkernel:role_profile\nrole_id: clerk\ndescription: Files letters. See `rules/filing.md`.\n",
    "skills/filing/SKILL.md": "---\nname: filing\ndescription: How letters are filed.\n---\n\nSee [the table](references/table.md).\n",
}


def test_a_file_that_appears_ends_its_finding(tmp_path: Path) -> None:
    """In the running kernel, and in the check with its cache: the texts did not change, and the answer did."""
    folder = write_tree(tmp_path / "desk", TREE)
    kernel = Kernel.open(folder)

    def list_targets() -> list[str]:
        return [each.message.split("`")[3] for each in kernel.check() if each.code == "ORG748"]

    assert list_targets() == ["rules/filing.md", "references/table.md"]
    assert run_here("check", ".", cwd=folder).stdout.count("ORG748]") == 2
    write_tree(folder, {"rules/filing.md": "x\n", "skills/filing/references/table.md": "x\n"})
    kernel.reload()
    assert list_targets() == []
    assert "ORG748" not in run_here("check", ".", cwd=folder).stdout
    (folder / "rules/filing.md").unlink()
    kernel.reload()
    assert list_targets() == ["rules/filing.md"]
    assert "ORG748" in run_here("check", ".", cwd=folder).stdout
