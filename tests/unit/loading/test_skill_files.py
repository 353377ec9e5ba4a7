"""Files beside a skill: what is listed, and what no name leads to."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from orgkernel.loading.skill_files import MAX_BYTES, MAX_FILES, MAX_LEVELS, FileRefused, list_files, read_file
from tests.support.trees import write_tree

FILES = {
    "skills/pricing/SKILL.md": "---\nname: pricing\n---\n",
    "skills/pricing/references/prices.md": "1 €\n",
    "skills/pricing/scripts/count.py": "print(1)\n",
    "skills/pricing/.secret": "hidden",
    "skills/pricing/.git/config": "hidden",
    "skills/other/notes.md": "of another skill",
    "secret.txt": "outside",
}


@pytest.fixture
def skill(tmp_path: Path) -> str:
    """The path of a SKILL.md."""
    folder = write_tree(tmp_path, FILES) / "skills" / "pricing"
    (folder / "link.md").symlink_to(tmp_path / "secret.txt")
    (folder / "above").symlink_to(tmp_path)
    os.mkfifo(folder / "pipe")
    return str(folder / "SKILL.md")


def test_regular_files_are_listed_by_name(skill: str) -> None:
    """No hidden file, no link, no pipe, and not the skill itself."""
    assert list_files(skill) == (("references/prices.md", 6), ("scripts/count.py", 9))
    assert list_files(skill.replace("pricing", "gone")) == ()


def test_a_file_is_read_with_its_digest(skill: str) -> None:
    """The bytes as they are now."""
    found = read_file(skill, "references/prices.md")
    assert found.content.decode() == "1 €\n"
    assert found.sha256 == hashlib.sha256(found.content).hexdigest()


@pytest.mark.parametrize(
    "path",
    [
        "../other/notes.md", "references/../../other/notes.md", "/etc/hostname", "./references/prices.md", "",
        "references//prices.md", "..", ".secret", ".git/config", "link.md", "above/secret.txt", "SKILL.md",
        "references\\prices.md", "references/prices.md\0", "pipe", "references", "/".join("a" * (MAX_LEVELS + 1)),
    ],
)  # fmt: skip
def test_no_name_leads_elsewhere(skill: str, path: str) -> None:
    """Whatever it is called."""
    with pytest.raises(FileRefused) as refused:
        read_file(skill, path)
    assert refused.value.why in ("unsafe", "unknown")


def test_a_large_file_is_refused_and_many_files_are_cut(skill: str) -> None:
    """Agents read files whole."""
    folder = Path(skill).parent
    with (folder / "large.bin").open("wb") as file:
        file.truncate(MAX_BYTES + 1)
    with pytest.raises(FileRefused, match="1024 KiB"):
        read_file(skill, "large.bin")
    for number in range(MAX_FILES):
        (folder / f"f{number}").touch()
    assert len(list_files(skill)) == MAX_FILES
