"""SKILL.md beside the reference library of the Agent Skills standard: what it refuses, we report, and the other way round."""

from __future__ import annotations

from pathlib import Path

import pytest
from skills_ref import read_properties, validate

from orgkernel.documents.records import CognitiveSkill
from orgkernel.loading.files import Root
from orgkernel.loading.tree import read_tree
from orgkernel.rules.crew.org621_nonstandard_skill import RULE
from tests.support.trees import write_tree

NAME, TEXT = "name: pricing\n", "description: Prices goods.\n"
# Front matter of a skill in the folder `pricing`.
SAME = {
    "least": NAME + TEXT,
    "everything": NAME + TEXT + "license: MIT\ncompatibility: needs git\nallowed-tools: Read Bash(git:*)\n"
    "metadata:\n  author: me\n  version: 1.10\n  orgkernel-min-proficiency: 3\n",
    "quoted": "name: 'pricing'\ndescription: \"a: b\"\n",
    "block": NAME + "description: >\n  Prices\n  goods.\n",
    "no name": TEXT,
    "no description": NAME,
    "empty description": NAME + "description: ''\n",
    "capitals": "name: Pricing\n" + TEXT,
    "underscore": "name: pri_cing\n" + TEXT,
    "hyphen first": "name: -pricing\n" + TEXT,
    "hyphen last": "name: pricing-\n" + TEXT,
    "two hyphens": "name: pri--cing\n" + TEXT,
    "other folder": "name: prices\n" + TEXT,
    "long name": f"name: {'a' * 65}\n" + TEXT,
    "long description": NAME + f"description: {'d' * 1025}\n",
    "longest description": NAME + f"description: {'d' * 1024}\n",
    "long compatibility": NAME + TEXT + f"compatibility: {'c' * 501}\n",
    "unknown field": NAME + TEXT + "argument-hint: a price\n",
    "a list": "- name\n",
    "not YAML": "name: [\n",
}
# We are stricter (the standard says that values of metadata are text), or read more of YAML.
STRICTER = {"nested metadata": NAME + TEXT + "metadata:\n  a:\n    b: c\n"}
WIDER = {"flow style": NAME + TEXT + "metadata: {author: me}\n"}


def findings(folder: Path) -> list[str]:
    """The codes of what we find in a skill."""
    tree = read_tree([Root(str(folder), "")])
    found = [each.code for each in tree.diagnostics]
    return found + [each.code for document in tree.documents for each in RULE.run(document)]


def lay_out(folder: Path, front: str) -> Path:
    return write_tree(folder, {"skills/pricing/SKILL.md": f"---\n{front}---\nText.\n"}) / "skills" / "pricing"


@pytest.mark.parametrize("front", SAME.values(), ids=SAME)
def test_both_find_the_same_skills_valid(front: str, tmp_path: Path) -> None:
    """And read the same name and description of a valid one."""
    skill = lay_out(tmp_path, front)
    refused = validate(skill)
    assert bool(refused) is bool(findings(tmp_path)), refused
    if not refused:
        theirs = read_properties(skill)
        record = read_tree([Root(str(tmp_path), "")]).documents[0].record
        assert isinstance(record, CognitiveSkill)
        assert (record.name, record.description.strip()) == (theirs.name, theirs.description.strip())
        assert record.metadata == dict(theirs.metadata or {})


@pytest.mark.parametrize("front", STRICTER.values(), ids=STRICTER)
def test_what_only_we_refuse(front: str, tmp_path: Path) -> None:
    """Values of metadata are text."""
    assert (validate(lay_out(tmp_path, front)), findings(tmp_path)) == ([], ["ORG103"])


@pytest.mark.parametrize("front", WIDER.values(), ids=WIDER)
def test_what_only_they_refuse(front: str, tmp_path: Path) -> None:
    """The library reads a part of YAML, the standard speaks of all of it."""
    assert validate(lay_out(tmp_path, front))
    assert findings(tmp_path) == []
