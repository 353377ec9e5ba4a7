"""An import gives the same answers as its source, and a later import keeps every addition and change of the user."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from orgkernel.exchange.merging import merge
from orgkernel.kernel.kernel import Kernel
from orgkernel.loading.formats import FORMATS
from orgkernel.manifest.organization import build_organization_manifest
from orgkernel.snapshots.roots import resolve_paths
from tests.support.claude_trees import AGENTS, agent, well_kept
from tests.support.crew_trees import json_crew, yaml_crew
from tests.support.format_trees import cards, skills, specification
from tests.support.in_process import run_here
from tests.support.other_trees import lay_out
from tests.support.trees import change_line, write_tree

SAMPLES: list[tuple[str, str, Callable[[Path], object]]] = [
    ("claude-code", "claude-code", well_kept),
    ("crewai", "crewai-yaml", yaml_crew),
    ("crewai", "crewai-jsonc", json_crew),
    ("a2a", "a2a", cards),
    ("agent-spec", "agent-spec", specification),
    ("skills", "skills", skills),
    ("copilot", "copilot", lambda folder: lay_out(folder, "copilot")),
    ("adk", "adk", lambda folder: lay_out(folder, "adk")),
    ("agent-framework", "agent-framework", lambda folder: lay_out(folder, "agent_framework")),
    ("agent-format", "agent-format", lambda folder: lay_out(folder, "agent_format")),
    ("autogen", "autogen", lambda folder: lay_out(folder, "autogen")),
    ("opencode", "opencode", lambda folder: lay_out(folder, "opencode")),
    ("codex", "codex", lambda folder: lay_out(folder, "codex")),
    ("gemini-cli", "gemini-cli", lambda folder: lay_out(folder, "gemini_cli")),
    ("cursor", "cursor", lambda folder: lay_out(folder, "cursor")),
    ("kiro", "kiro", lambda folder: lay_out(folder, "kiro")),
    ("roo", "roo", lambda folder: lay_out(folder, "roo")),
    ("agent-zero", "agent-zero", lambda folder: lay_out(folder, "agent_zero")),
    ("probos", "probos", lambda folder: lay_out(folder, "probos")),
    ("mcp", "mcp", lambda folder: lay_out(folder, "mcp")),
]
PLACES = frozenset({"why", "file", "line", "digest", "snapshot"})


def without_places(value: Any) -> Any:
    """An answer without where it comes from."""
    if isinstance(value, dict):
        return {key: without_places(each) for key, each in value.items() if key not in PLACES}
    if isinstance(value, list):
        return [without_places(each) for each in value]
    return value


def answers(kernel: Kernel, org: str) -> dict[str, Any]:
    """What an organization answers about everything in it."""
    view = kernel.organization(org).snapshot.index
    texts = [post.profile.description for post in view.posts if post.profile.description][:4]
    tools = [each for each, tool in view.records.tools.items() if tool.own or tool.document.format]
    return {
        "manifest": without_places(
            msgspec.json.decode(msgspec.json.encode(build_organization_manifest(view, view.roles, ())))
        ),
        "who can": {
            tool: sorted((row.subject, row.outcome) for row in kernel.who_can(org, "use", f"tool:{tool}"))
            for tool in tools
        },
        "dispatch": [kernel.dispatch(org, text=text).role_id for text in texts],
        "orders": {
            role: [each.record.body for each in view.records.orders.get(("role", role), ())]
            for role in view.roles
        },
        "skills": {name: each.record.body.strip() for name, each in view.records.cognitive_skills.items()},
    }


def test_every_format_has_a_sample() -> None:
    """A new format is imported, too."""
    assert {form for form, _, _ in SAMPLES} == FORMATS.keys()


@pytest.mark.parametrize(
    ("form", "build"), [pytest.param(form, build, id=name) for form, name, build in SAMPLES]
)
def test_what_is_imported_answers_as_its_source(
    form: str, build: Callable[[Path], object], tmp_path: Path
) -> None:
    """Read in place as the source of an organization, and imported: all answers are equal, apart from places."""
    build(tmp_path / "team")
    done = run_here("import", form, "team", "copy", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    imported = Kernel(resolve_paths(["copy"], str(tmp_path)))
    (org,) = imported.state.latest.organizations
    records = imported.state.latest.organizations[org].records
    text = f"_schema: orgkernel:organization\norg_id: {org}\norg_name: {records.organization.name}\n"
    text += f"sources: [{{format: {form}, path: ../team}}]\nhierarchy: {{}}\n"
    if records.organization.description:
        text += f"description: {msgspec.json.encode(records.organization.description).decode()}\n"
    write_tree(tmp_path, {"org/org.yaml": text})
    in_place = Kernel(resolve_paths(["org"], str(tmp_path)))
    errors = [each for each in imported.check() if each.severity.value == "error"]
    assert not errors or not imported.state.latest.organizations[org].index.roles, errors
    if imported.state.latest.organizations[org].index.roles:
        assert answers(imported, org) == answers(in_place, org)
    again = run_here("import", form, "team", "copy", "--check", cwd=tmp_path)
    assert (again.returncode, again.stdout) == (0, "")


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """A project, and a copy of it as documents of ours."""
    write_tree(
        tmp_path / "team",
        {
            f"{AGENTS}/a.md": agent("a", "Works. Use it first.", "Read, Bash(git:*)", "One.", "color: red\n"),
            f"{AGENTS}/b.md": agent("b", "Works. Use it second.", "Read, Grep", "Two."),
        },
    )
    assert run_here("import", "claude-code", "team", "copy", cwd=tmp_path).returncode == 0
    return tmp_path


def test_what_is_lost_is_told(copied: Path) -> None:
    """Each field that our documents do not have, and each word that gives nothing."""
    done = run_here("import", "claude-code", "team", "copy", cwd=copied)
    assert "`color` (1): orgkernel documents have no field for it" in done.stderr
    assert "words in lists of tools (1)" in done.stderr


def test_changes_of_both_sides_are_kept(copied: Path) -> None:
    """Additions in the copy stay, and changes of the source are merged."""
    role = copied / "copy/roles/b.yaml"
    role.write_text(role.read_text() + "crew_tier: utility\n", encoding="utf-8")
    write_tree(
        copied,
        {"copy/domains.yaml": "_schema: orgkernel:domain_catalog\ndomains: {review: {passthrough: true}}\n"},
    )
    change_line(copied / "copy/org.yaml", "  a: {}", "  a: {}  # the first")
    change_line(copied / "team" / AGENTS / "b.md", "tools: Read, Grep", "tools: Read, Grep, Glob")
    write_tree(copied, {f"team/{AGENTS}/c.md": agent("c", "Works. Use it third.", "Read")})
    checked = run_here("import", "claude-code", "team", "copy", "--check", cwd=copied)
    assert checked.returncode == 1
    assert "copy/roles/b.yaml (merged)" in checked.stdout
    assert "Glob" not in role.read_text()
    assert run_here("import", "claude-code", "team", "copy", cwd=copied).returncode == 0
    assert "    - Glob\n" in role.read_text()
    assert role.read_text().endswith("\ncrew_tier: utility\n")
    assert "  a: {}  # the first\n  b: {}\n  c: {}\n" in (copied / "copy/org.yaml").read_text()
    assert (copied / "copy/domains.yaml").exists()
    assert run_here("check", "copy", "--fail-on", "info", cwd=copied).returncode == 0
    (copied / "team" / AGENTS / "c.md").unlink()
    done = run_here("import", "claude-code", "team", "copy", cwd=copied)
    assert "copy/roles/c.yaml (removed)" in done.stdout


def test_a_conflict_changes_nothing(copied: Path) -> None:
    """A conflict is shown with the line of each side, and the user has to decide."""
    before = {path: path.read_bytes() for path in (copied / "copy").rglob("*") if path.is_file()}
    role = copied / "copy/roles/b.yaml"
    change_line(role, "    - Grep", "    - Glob")
    before[role] = role.read_bytes()
    change_line(copied / "team" / AGENTS / "b.md", "tools: Read, Grep", "tools: Read, Bash")
    change_line(
        copied / "team" / AGENTS / "a.md", "description: Works. Use it first.", "description: Another."
    )
    done = run_here("import", "claude-code", "team", "copy", cwd=copied)
    assert done.returncode == 1
    line = role.read_text().split("\n").index("    - Glob") + 1
    assert f"conflict: copy/roles/b.yaml:{line}: `- Glob`\n  team/{AGENTS}/b.md:4: `- Bash`\n" in done.stdout
    assert "nothing was written" in done.stderr
    assert {path: path.read_bytes() for path in (copied / "copy").rglob("*") if path.is_file()} == before
    assert run_here("import", "claude-code", "team", "copy", "--keep-mine", cwd=copied).returncode == 0
    assert "    - Glob" in role.read_text()
    assert "Another." in (copied / "copy/roles/a.yaml").read_text()
    assert run_here("import", "claude-code", "team", "copy", "--check", cwd=copied).returncode == 0


def test_whole_documents_can_clash(copied: Path) -> None:
    """One that was removed here and changed there, one the other way round, and one that was never imported."""
    (copied / "copy/roles/a.yaml").unlink()
    change_line(
        copied / "team" / AGENTS / "a.md", "description: Works. Use it first.", "description: Another."
    )
    role = copied / "copy/roles/b.yaml"
    role.write_text(role.read_text() + "crew_tier: utility\n", encoding="utf-8")
    (copied / "team" / AGENTS / "b.md").unlink()
    write_tree(
        copied, {f"team/{AGENTS}/c.md": agent("c", "Works. Use it third."), "copy/roles/c.yaml": "x: 1\n"}
    )
    done = run_here("import", "claude-code", "team", "copy", cwd=copied)
    assert done.returncode == 1
    said = re.findall(r"conflict: copy/roles/(.)\.yaml:1: it (was \w+|is not)", done.stdout)
    assert said == [("a", "was removed"), ("c", "is not"), ("b", "was changed")]


def test_what_cannot_be_imported(copied: Path) -> None:
    """Another source in the same folder, one with errors, one without agents, and a state that a user changed."""
    write_tree(copied, {"bad/.claude/agents/x.md": "---\nname: [\n---\n", "none/notes.txt": "x\n"})
    for words, said in (
        (("claude-code", "bad", "new"), "has errors"),
        (("claude-code", "none", "new"), "there are no agents"),
        (("claude-code", "gone", "new"), "does not exist"),
    ):
        done = run_here("import", *words, cwd=copied)
        assert (done.returncode, said in done.stderr) == (2, True), done.stderr
    well_kept(copied / "other")
    done = run_here("import", "claude-code", "other", "copy", cwd=copied)
    assert (done.returncode, "was imported from" in done.stderr) == (2, True)
    (copied / "copy/.orgkernel/import.json").write_text("{}", encoding="utf-8")
    assert run_here("import", "claude-code", "team", "copy", cwd=copied).returncode == 2
    assert not (copied / "new").exists()


LINES = st.lists(st.sampled_from("abcd"), max_size=6).map("\n".join)


@given(before=LINES, mine=LINES, now=LINES)
def test_merging_laws(before: str, mine: str, now: str) -> None:
    """Who changes nothing accepts the other side; equal changes are one; without a conflict the order does not matter."""
    assert merge(before, before, now) == (now, ())
    assert merge(before, mine, before) == (mine, ())
    assert merge(before, mine, mine) == (mine, ())
    text, conflicts = merge(before, mine, now)
    other, others = merge(before, now, mine)
    assert conflicts or others or text == other


def test_a_limit_that_became_tools_is_no_loss(tmp_path: Path) -> None:
    """An agent of Cursor that only reads is a role without the tools that write."""
    text = (
        "---\nname: a\ndescription: Looks. Use it first.\nreadonly: true\nis_background: true\n---\nLook.\n"
    )
    write_tree(tmp_path / "src", {".cursor/agents/a.md": text})
    done = run_here("import", "cursor", "src", "out", cwd=tmp_path)
    assert "`is_background` (1)" in done.stderr
    assert "readonly" not in done.stderr
    assert run_here("can", "role:a", "use", "tool:edit", "--path", "out", cwd=tmp_path).returncode == 1


def test_a_faulty_agent_is_left_out_of_the_first_import(tmp_path: Path) -> None:
    """A later import stops instead: it would remove the documents of the agent, with what their owner added."""
    tree = write_tree(
        tmp_path,
        {
            "team/.claude/agents/a.md": agent("a", "Does a. Use it.", "Read"),
            "team/.claude/agents/b.md": "---\nname: [\n---\n",
            "team/.claude/agents/c.md": agent("d", "Does c. Use it.", "Read"),
            "team/.claude/agents/d.md": agent("d", "Does d. Use it.", "Read"),
        },
    )
    done = run_here("import", "claude-code", "team", "copy", cwd=tree)
    assert done.returncode == 0, done.stderr
    assert "error[ORG217]" in done.stdout + done.stderr
    assert "note: agents and other files with errors are not imported" in done.stderr
    assert sorted(each.name for each in (tree / "copy/roles").iterdir()) == ["a.yaml"]
    again = run_here("import", "claude-code", "team", "copy", cwd=tree)
    assert (again.returncode, "so it is not imported" in again.stderr) == (2, True)
    assert (tree / "copy/roles/a.yaml").exists()


def test_a_skill_is_imported_under_a_name_of_the_standard(tmp_path: Path) -> None:
    """In a folder of this name, and skills of two plugins with one name are two files."""
    skill = "---\nname: {}\ndescription: How to look. Use when something is lost.\n---\n{}\n"
    tree = write_tree(
        tmp_path,
        {
            "team/one/.claude/agents/a.md": agent("a", "Does a. Use it.", "Read, Skill"),
            "team/one/.claude/skills/look/SKILL.md": skill.format("look-it-up", "One."),
            "team/two/.claude/agents/b.md": agent("b", "Does b. Use it.", "Read, Skill"),
            "team/two/.claude/skills/look/SKILL.md": skill.format("look-it-up", "Two."),
            "team/two/.claude/skills/rules/SKILL.md": skill.format("Writing Rules", "Write."),
        },
    )
    assert run_here("import", "claude-code", "team", "copy", cwd=tree).returncode == 0
    skills = sorted(each.name for each in (tree / "copy/skills").iterdir())
    assert skills == ["one-look-it-up", "two-look-it-up", "writing-rules"]
    assert "error" not in run_here("check", "copy", cwd=tree).stdout
