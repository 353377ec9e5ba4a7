"""A folder of skills without agents is checked as skills, and is an organization without roles."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from orgkernel import Kernel
from orgkernel.snapshots.roots import resolve_paths
from tests.support.claude_trees import AGENTS, agent
from tests.support.format_trees import skills
from tests.support.in_process import run_here
from tests.support.trees import write_tree

SKILL = "---\nname: {}\ndescription: Does it. Use when it is to be done.\n---\nText\n"
ORG = '{_schema: "orgkernel:organization", org_id: ours, hierarchy: {}}\n'


@pytest.mark.parametrize("place", ["skills", ".agents/skills", ".claude/skills", "."])
def test_where_skills_lie(tmp_path: Path, place: str) -> None:
    """In the folders of hosts, or directly in the folder; other files next to a skill are not skills."""
    skills(tmp_path / "made")
    pack = tmp_path / "pack"
    (pack / place).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / "made" / "skills").rename(pack if place == "." else pack / place)
    done = run_here("check", "pack", cwd=tmp_path)
    note = "note: read as Agent Skills: 2 skills; `--from` chooses another format\n"
    assert (done.returncode, done.stdout, done.stderr) == (
        0, "", note + "no findings in 1 organization, 0 roles, 2 files\n",
    )  # fmt: skip
    records = Kernel.open(pack).organization("active").snapshot.records
    assert sorted(records.cognitive_skills) == ["incident", "release"]


def test_questions_are_answered_without_roles(tmp_path: Path) -> None:
    """There is no error, and no subject may do anything."""
    skills(tmp_path)
    assert ", 0 roles" in run_here("graph", cwd=tmp_path).stdout
    done = run_here("dispatch", "--text", "cut a release", cwd=tmp_path)
    assert "not applicable" in done.stdout
    done = run_here("who-can", "use", "tool:bash", cwd=tmp_path)
    assert "no subject is allowed to do this" in done.stderr


def test_the_rules_of_the_standard_apply(tmp_path: Path) -> None:
    """Name and folder, unknown fields, front matter: at the line of the skill."""
    files = {
        "a/SKILL.md": SKILL.format("b"),
        "c/SKILL.md": SKILL.format("c").replace("---\nText", "shade: red\n---\nText"),
        "d/SKILL.md": "No front matter.\n",
        "e/SKILL.md": SKILL.format("e").replace("Does it", "[bad").replace("done.", "done: now"),
        "e/scripts/x/SKILL.md": "not looked at\n",
    }
    done = run_here("check", "--format", "concise", cwd=write_tree(tmp_path, files))
    found = [
        (at, code.partition("]")[0])
        for at, _, code in (line.partition(" ") for line in done.stdout.splitlines())
    ]
    assert [(at, code.partition("[")[2].rstrip("]")) for at, code in found] == [
        ("a/SKILL.md:2:7:", "ORG621"), ("c/SKILL.md:4:1:", "ORG102"), ("d/SKILL.md:1:1:", "ORG024"),
        ("e/SKILL.md:4:1:", "ORG005"),
    ]  # fmt: skip


def test_skills_of_an_organization_are_its_own(tmp_path: Path) -> None:
    """Below an organization of ours, and beside agents of Claude Code, they are not read as a folder of skills."""
    write_tree(tmp_path / "ours", {"org.yaml": ORG, "skills/a/SKILL.md": SKILL.format("a")})
    for path in ("ours", "ours/skills", "ours/skills/a"):
        assert not resolve_paths([path], str(tmp_path)).detected, path
    write_tree(
        tmp_path / "theirs",
        {f"{AGENTS}/a.md": agent("a", "For one."), ".claude/skills/a/SKILL.md": SKILL.format("a")},
    )
    request = resolve_paths(["theirs"], str(tmp_path))
    assert [root.format for root in request.roots if root.areas] == ["claude-code"]


def test_one_skill(tmp_path: Path) -> None:
    """A folder with nothing but a skill is that skill; a project with one deeper is not looked through."""
    write_tree(tmp_path, {"pack/a/SKILL.md": SKILL.format("a"), "web/src/x/y/SKILL.md": "no"})
    done = run_here("check", "pack/a", cwd=tmp_path)
    assert done.returncode == 0
    assert "1 skill;" in done.stderr
    assert run_here("check", "web", cwd=tmp_path).returncode == 2


@pytest.mark.parametrize(
    ("front", "codes"),
    [
        ("allowed-tools: [Bash, Read]", []),
        ("allowed-tools:\n  - Bash\n  - Read", []),
        ("argument-hint: FILE\nuser-invocable: false\nwhen_to_use: often", []),
        ("metadata: {version: 1.2}", []),
        ("metadata: {requires: [git, make]}", ["ORG102"]),
        ("metadata: {orgkernel-department: [sales]}", ["ORG103"]),
        ("allowed-tools: {Bash: yes}", ["ORG103"]),
    ],
)
def test_fields_are_read_as_hosts_read_them(tmp_path: Path, front: str, codes: list[str]) -> None:
    """Lists of tools, and metadata of any form; keys that restrict the skill stay strict."""
    text = f"---\nname: ship\ndescription: Ships. Use it last.\n{front}\n---\nShip.\n"
    write_tree(tmp_path, {"skills/ship/SKILL.md": text})
    done = run_here("check", "--format", "json", cwd=tmp_path)
    assert [each["code"] for each in json.loads(done.stdout)] == codes


def test_a_folder_of_another_name_is_a_warning(tmp_path: Path) -> None:
    """Hosts load such a skill, so roles have it. In orgkernel documents it stays an error."""
    text = "---\nname: ship-it\ndescription: Ships. Use it last.\n---\nShip.\n"
    agent = "---\nname: a\ndescription: Use it first.\ntools: Read\n---\nDo.\n"
    write_tree(tmp_path, {".claude/skills/ship/SKILL.md": text, ".claude/agents/a.md": agent})
    done = run_here("check", "--format", "json", cwd=tmp_path)
    assert [(each["code"], each["severity"]) for each in json.loads(done.stdout)] == [("ORG621", "warning")]
    assert "ship-it" in run_here("manifest", "a", cwd=tmp_path).stdout


def test_a_long_description_of_a_host_is_a_warning(tmp_path: Path) -> None:
    """Hosts load it. In orgkernel documents it stays an error."""
    text = f"---\nname: ship\ndescription: Ships. {'Use it last. ' * 90}\n---\nShip.\n"
    write_tree(
        tmp_path / "a",
        {
            ".claude/skills/ship/SKILL.md": text,
            ".claude/agents/a.md": "---\nname: a\ndescription: Use it first.\ntools: Read\n---\nDo.\n",
        },
    )
    done = run_here("check", "--select", "ORG621", "--format", "json", cwd=tmp_path / "a")
    assert [each["severity"] for each in json.loads(done.stdout)] == ["warning"]
    org = "_schema: orgkernel:organization\norg_id: a\nhierarchy: {}\n"
    write_tree(tmp_path / "b", {"skills/ship/SKILL.md": text, "org.yaml": org})
    done = run_here("check", "--select", "ORG621", "--format", "json", cwd=tmp_path / "b")
    assert [each["severity"] for each in json.loads(done.stdout)] == ["error"]


def test_front_matter_that_is_no_yaml_is_read_as_hosts_do(tmp_path: Path) -> None:
    """A colon in a description is a warning, the skill is there, and fields that describe it are known."""
    text = (
        "---\nname: look\ndescription: Looks things up: use it first.\ntags: [a, b]\nauthor: Us\n---\nLook.\n"
    )
    write_tree(
        tmp_path,
        {
            "skills/look/SKILL.md": text,
            "skills/find/SKILL.md": text.replace("look", "find").replace("up: use", "up, use"),
        },
    )
    done = run_here("check", "--format", "concise", cwd=tmp_path)
    assert done.returncode == 0
    assert [line.split()[1] for line in done.stdout.splitlines()] == ["warning[ORG025]"]
    broken = "---\nname: look\n- item\n---\nLook.\n"
    write_tree(tmp_path, {"skills/look/SKILL.md": broken})
    assert "error[ORG005]" in run_here("check", "--format", "concise", cwd=tmp_path).stdout


@pytest.mark.parametrize(
    "text",
    ["# Watch\n\nWatches a request\nuntil it is merged.\n\nMore.\n", "---\nargument-hint: [n]\n---\nWatches a request until it is merged.\n"],
)  # fmt: skip
def test_every_field_of_a_claude_skill_is_optional(tmp_path: Path, text: str) -> None:
    """The name is that of the folder, and the description the first paragraph; elsewhere the standard requires both."""
    write_tree(
        tmp_path, {".claude/skills/watch/SKILL.md": text, f"{AGENTS}/a.md": agent("a", "Use it first.")}
    )
    assert "no findings" in run_here("check", cwd=tmp_path).stderr
    listed = run_here("skill", "list", "--subject", "role:a", cwd=tmp_path).stdout
    assert "watch  Watches a request until it is merged." in listed
    other = run_here("check", cwd=write_tree(tmp_path / "other", {"skills/watch/SKILL.md": text}))
    assert other.returncode == 1


def test_fields_of_the_user_are_not_reported(tmp_path: Path) -> None:
    """Those that begin with `x-`, and those that say where a skill comes from."""
    text = SKILL.format("a").replace(
        "---\nText", "x-kind: b\nx_kind: b\norigin: us\nhomepage: here\n---\nText"
    )
    assert "no findings" in run_here("check", cwd=write_tree(tmp_path, {"skills/a/SKILL.md": text})).stderr
