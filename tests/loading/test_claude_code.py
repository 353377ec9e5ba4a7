"""A folder of Claude Code subagents is an organization: it is checked, asked, reloaded and kept like any other."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from itertools import chain
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orgkernel import Kernel
from orgkernel.errors import NothingToRead
from orgkernel.loading.cache import Cache
from orgkernel.loading.files import Area, LocatedFile, Root, decode
from orgkernel.loading.formats import complete
from orgkernel.loading.formats.claude_code.agents import read_agent
from orgkernel.loading.formats.names import convert_to_id, derive_name
from orgkernel.loading.sources import LoadedFile
from orgkernel.snapshots.loader import Loader
from orgkernel.snapshots.roots import resolve_paths
from orgkernel.snapshots.snapshot import Snapshot
from tests.support.claude_trees import AGENTS, agent, well_kept
from tests.support.in_process import run_here
from tests.support.patience import PATIENCE
from tests.support.trees import change_line, write_tree

READ_AS = "note: read as Claude Code: 10 agents, 1 skill; `--from` chooses another format\n"


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A well-kept project; no test changes it."""
    return well_kept(tmp_path_factory.mktemp("projects") / "shop")


def test_a_well_kept_project_has_no_finding(kept: Path) -> None:
    """What is well made is silent, and its summary counts what is there."""
    done = run_here("check", "shop", cwd=kept.parent)
    assert (done.returncode, done.stdout) == (0, "")
    assert (
        done.stderr
        == READ_AS
        + "no findings in 1 organization, 10 roles, 12 files; 1 file skipped: not orgkernel documents\n"
    )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("manifest release-manager", ["sonnet", "agents/release-manager.md:5", "max_turns_without_progress  30 "]),
        ("dispatch --text 'the tests fail'", ["→ test-runner"]),
        ("who-can use tool:WebSearch", ["role:security-auditor"]),
        ("can role:incident-responder use tool:mcp__sentry", [f"shop/{AGENTS}/incident-responder.md:4"]),
        ("why role:database-migrator use tool:mcp__postgres__query", ["shop/.mcp.json:1", "database-migrator.md:4"]),
        ("graph", ["shop (shop), 10 roles", "api-designer"]),
        ("role orders docs-writer", ["Short sentences."]),
        ("what-can role:code-reviewer", ["tool:Bash"]),
    ],
)  # fmt: skip
def test_the_questions_work(kept: Path, words: str, said: list[str]) -> None:
    """With `--path`, as for our own documents."""
    done = run_here(*shlex.split(words), "--path", "shop", cwd=kept.parent)
    assert done.returncode == 0, done.stderr
    assert all(each in done.stdout for each in said), done.stdout
    assert done.stderr == READ_AS


def test_a_denial_says_what_to_write_in_the_file_of_the_agent(kept: Path) -> None:
    """The change is in the words of the format."""
    done = run_here("can", "role:docs-writer", "use", "tool:Bash", "--path", "shop", cwd=kept.parent)
    assert done.returncode == 1
    assert f"shop/{AGENTS}/docs-writer.md:4: write `Bash` under `tools`" in done.stdout
    assert "capabilities" not in done.stdout


def test_each_way_to_name_it_means_the_same(kept: Path, tmp_path: Path) -> None:
    """The project, its `.claude`, their `agents`, and one agent; a finding is shown where it was asked for."""
    for path in (".", ".claude", AGENTS):
        snapshot = Loader(resolve_paths([str(kept / path)], str(kept.parent)), {}).load()
        assert list(snapshot.organizations) == ["shop"]
        assert len(snapshot.organizations["shop"].records.posts) == 10
    write_tree(
        tmp_path, {f"{AGENTS}/a.md": agent("a", "Python."), f"{AGENTS}/b.md": agent("b", "Rust code.")}
    )
    done = run_here("check", f"{AGENTS}/b.md", "--format", "concise", cwd=tmp_path)
    assert [line.split(" ")[0] for line in done.stdout.splitlines()] == [f"{AGENTS}/b.md:3:14:"]


def test_a_plugin_is_called_by_its_manifest(tmp_path: Path) -> None:
    """Its folder has `agents`, `skills` and a manifest."""
    files = {
        ".claude-plugin/plugin.json": '{"name": "my-tools", "description": "Tools of ours.", "mcpServers": {"web": {"command": "x"}}}\n',
        "agents/deep/finder.md": agent(
            "finder", "Finds things. Use when something is lost.", "Read, mcp__web__open"
        ),
        "skills/look/SKILL.md": "---\nname: look\ndescription: How to look.\n---\nLook.\n",
        "docs/notes.md": "no agent\n",
    }
    kernel = Kernel.open(write_tree(tmp_path, files))
    assert kernel.check() == ()
    assert list(kernel.state.served) == ["my-tools"]
    records = kernel.organization("active").snapshot.records
    assert str(records.document.place("org_name")).endswith("plugin.json:1:10")
    assert records.organization.description == "Tools of ours."
    assert records.posts["finder"].profile.capabilities.tools_primary == ("Read", "mcp__web__open")


def test_without_tools_an_agent_has_every_tool(tmp_path: Path) -> None:
    """Omission is no "none"; what is taken away is gone, and a part of a tool stands for all of it, as in Claude Code."""
    files = {
        f"{AGENTS}/all.md": "---\nname: all\ndescription: Use it.\n---\n",
        f"{AGENTS}/some.md": "---\nname: some\ndescription: Use it if.\ndisallowedTools: Task, mcp__web, Bash(rm:*)\n---\n",
        f"{AGENTS}/none.md": agent("none", "Never use it.", "[]"),
        f"{AGENTS}/part.md": agent("part", "Perhaps use it.", "Bash(git:*), Task"),
        f"{AGENTS}/own.md": agent("own", "For looking.", "mcp__mine__see", more="mcpServers:\n  - web\n  - mine: {command: m}\n"),
        f"{AGENTS}/user.md": agent("opener", "For opening.", "mcp__web__*, mcp__web__open"),
        ".mcp.json": '{"mcpServers": {"web": {}}}',
    }  # fmt: skip
    snapshot = Kernel.open(write_tree(tmp_path, files)).organization("active").snapshot
    tools = {role: post.profile.capabilities.tools_primary for role, post in snapshot.records.posts.items()}
    assert {"Agent", "Bash", "Write", "mcp__web", "mcp__web__open"} <= {*tools["all"]}
    assert "mcp__mine" not in tools["all"]
    assert {*tools["all"]} - {*tools["some"]} == {"Agent", "mcp__web", "mcp__web__open", "Bash"}
    assert tools["none"] == ()
    assert tools["part"] == ("Bash", "Agent")
    assert tools["own"] == ("mcp__mine__see",)
    assert tools["opener"] == ("mcp__web", "mcp__web__open")
    place = snapshot.records.posts["opener"].document.place("capabilities", "tools_primary", 1)
    assert (place.line, place.column) == (4, 8)
    assert snapshot.records.tools["mcp__mine"].place().line == 5


def test_names_become_ids_and_back(tmp_path: Path) -> None:
    """Every name has an id of its own."""
    names = [
        "code-reviewer",
        "Code Reviewer",
        "Code_20_Reviewer",
        "3d",
        "a_b",
        "über",
        "-x",
        "a.b",
        "_",
        "__",
        "a_5f_b",
    ]
    ids = [convert_to_id(name) for name in names]
    assert len(set(ids)) == len(names)
    assert [derive_name(each) for each in ids] == names
    write_tree(
        tmp_path,
        {
            f"{AGENTS}/{number}.md": agent(f"{name!r}", f"For {number} use.")
            for number, name in enumerate(names)
        },
    )
    kernel = Kernel.open(tmp_path)
    records = kernel.organization("active").snapshot.records
    assert {post.profile.role_name: role for role, post in records.posts.items()} == dict(
        zip(names, ids, strict=True)
    )


def test_two_agents_of_one_name(tmp_path: Path) -> None:
    """It is unknown which of them Claude Code uses, so the second name is an error."""
    write_tree(
        tmp_path,
        {f"{AGENTS}/a.md": agent("x", "For one."), f"{AGENTS}/b.md": agent("x", "Use for two more.")},
    )
    found = [each for each in Kernel.open(tmp_path).check() if each.code == "ORG217"]
    assert [str(each.place).removeprefix(str(tmp_path)) for each in found] == [f"/{AGENTS}/b.md:2:7"]


def test_a_broken_agent_does_not_stop_the_others(tmp_path: Path) -> None:
    """It is an error of its file; the rest answers."""
    write_tree(tmp_path, {f"{AGENTS}/a.md": agent("a", "For one."), f"{AGENTS}/b.md": "---\nname: [\n---\n"})
    done = run_here("can", "role:a", "use", "tool:Read", "--path", ".", cwd=tmp_path)
    assert done.returncode == 0
    assert run_here("check", cwd=tmp_path).returncode == 1


def test_orgkernel_documents_take_precedence_without_from(tmp_path: Path) -> None:
    """Beside an organization of ours, agents are read only with `--from`."""
    org = '{_schema: "orgkernel:organization", org_id: ours, hierarchy: {}}\n'
    write_tree(tmp_path, {"org.yaml": org, f"{AGENTS}/a.md": agent("a", "For one.")})
    assert "read as" not in run_here("check", cwd=tmp_path).stderr
    forced = run_here("check", ".", "--from", "claude-code", cwd=tmp_path)
    assert forced.stderr == "no findings in 1 organization, 1 role, 1 file\n"
    os.remove(tmp_path / "org.yaml")
    ours = run_here("check", ".", "--from", "orgkernel", cwd=tmp_path)
    assert ours.returncode == 2
    assert "nothing to check" in ours.stderr


def test_a_folder_of_agents_alone(tmp_path: Path) -> None:
    """Any folder is recognized by what lies in it. With `--from`, notes are no agents either."""
    write_tree(
        tmp_path,
        {
            "agents/a.md": agent("a", "For one."),
            "pack/b.md": agent("b", "For one."),
            "notes/agents/x.md": "# Text\n",
        },
    )
    assert "read as Claude Code: 1 agent;" in run_here("check", "agents", cwd=tmp_path).stderr
    assert "read as Claude Code: 1 agent;" in run_here("check", "pack", cwd=tmp_path).stderr
    assert run_here("check", "pack", "--from", "claude-code", cwd=tmp_path).returncode == 0
    assert run_here("check", "notes/agents", cwd=tmp_path).returncode == 2
    with pytest.raises(NothingToRead):
        Kernel.open(tmp_path / "gone")


def everything(snapshot: Snapshot) -> object:
    """All that a load answers."""
    return (
        snapshot.digest,
        snapshot.diagnostics,
        {
            org_id: (each.digest, list(each.columns), each.diagnostics, each.records.posts.keys(), each.records.tools.keys())
            for org_id, each in snapshot.organizations.items()
        },
        [(each.name, each.kind, each.packed, each.unknown, each.format) for each in snapshot.tree.documents],
    )  # fmt: skip


def test_every_way_of_loading_says_the_same(tmp_path: Path) -> None:
    """Cold, in a process that stays, from the cache, and after edits of what only the whole tree shows."""
    tree = well_kept(tmp_path / "shop")
    write_tree(tree, {f"{AGENTS}/all.md": "---\nname: all\ndescription: Use it.\n---\nText\n"})
    request = resolve_paths(["."], str(tree))
    staying = Loader(request, {}, Cache(str(tmp_path / "cache")))

    def edits() -> None:
        change_line(
            tree / AGENTS / "test-runner.md", "tools: Read, Bash, Grep, Glob", "tools: Read, mcp__sentry__see"
        )
        (tree / ".mcp.json").write_text('{"mcpServers": {"sentry": {}}}', encoding="utf-8")
        (tree / AGENTS / "api-designer.md").unlink()

    seen = []
    for edit in (lambda: None, edits, (tree / ".mcp.json").unlink):
        edit()
        cold = everything(Loader(request, {}).load())
        assert everything(staying.load()) == cold
        for _ in range(2):
            fresh = Loader(request, {}, Cache(str(tmp_path / "cache")))
            assert everything(fresh.load()) == cold
            fresh.save()
        seen.append(cold)
    assert len({str(each) for each in seen}) == 3


def test_another_process_answers_from_the_cache(kept: Path, tmp_path: Path) -> None:
    """What it says is the same, to the place."""
    command = [
        sys.executable,
        "-c",
        "from orgkernel.cli import main; main()",
        "manifest",
        "all",
        "--path",
        "shop",
        "--format",
        "json",
    ]
    tree = well_kept(tmp_path / "shop")
    write_tree(tree, {f"{AGENTS}/all.md": "---\nname: all\ndescription: Use it.\n---\nText\n"})
    said = []
    for _ in range(2):
        done = subprocess.run(
            command, cwd=tmp_path, capture_output=True, text=True, check=True, timeout=PATIENCE,
            env={**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")},
        )  # fmt: skip
        said.append(json.loads(done.stdout))
    assert said[0] == said[1]
    assert list((tmp_path / "cache").rglob("*"))


def test_a_running_kernel_follows_the_files(tmp_path: Path) -> None:
    """A reload takes a new agent, and the folders to watch are those of the format."""
    tree = well_kept(tmp_path / "shop")
    kernel = Kernel.open(tree)
    assert f"{tree}/{AGENTS}" in kernel.watched
    assert str(tree) not in kernel.watched
    write_tree(tree, {f"{AGENTS}/new.md": agent("newcomer", "For new work.")})
    assert kernel.reload().updated == ("shop",)
    assert "newcomer" in kernel.organization("active").snapshot.records.posts
    change_line(tree / AGENTS / "new.md", "name: newcomer", "name: [")
    kernel.reload()
    assert "newcomer" not in kernel.organization("active").snapshot.records.posts


def test_two_trees_and_two_revisions_are_compared(tmp_path: Path) -> None:
    """What an agent gained, with the line that gives it; a repository is called as its folder."""
    tree = well_kept(tmp_path / "shop")

    def git(*words: str) -> None:
        subprocess.run(
            ["git", "-c", "user.name=a", "-c", "user.email=a@b", *words],
            cwd=tree,
            check=True,
            capture_output=True,
        )

    git("init")
    git("add", "-A")
    git("commit", "-m", "one")
    change_line(
        tree / AGENTS / "docs-writer.md",
        "tools: Read, Edit, Write, Grep, Glob",
        "tools: Read, Edit, Write, Grep, Glob, Bash",
    )
    done = run_here("diff", "git:HEAD", ".", cwd=tree)
    assert done.returncode == 0, done.stderr
    assert "Bash" in done.stdout
    assert f"{AGENTS}/docs-writer.md:4" in done.stdout
    assert "api-designer" not in done.stdout
    assert run_here("diff", "git:HEAD", ".", "--exit-code", "--from", "claude-code", cwd=tree).returncode == 1


def test_decision_cases_name_its_roles(kept: Path, tmp_path: Path) -> None:
    """Cases of our own, kept elsewhere, hold a project of others to what its author expects."""
    case = (
        "_schema: orgkernel:decision_cases\ncases:\n  - name: reviewers do not write\n    org: shop\n    access:\n"
        "      - ask: {subject: role:code-reviewer, action: use, resource: tool:Write}\n        outcome: deny\n"
    )
    write_tree(tmp_path, {"cases.yaml": case})
    done = run_here("test", "cases.yaml", "--path", str(kept), cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed" in done.stderr


def test_ours_and_theirs_do_not_see_one_another(kept: Path, tmp_path: Path) -> None:
    """Read together, each has its own tools."""
    org = '{_schema: "orgkernel:organization", org_id: ours, hierarchy: {a: {}}}\n'
    role = '{_schema: "orgkernel:role_profile", role_id: a, description: Works., capabilities: {tools_primary: [code_execution_tool]}}\n'
    write_tree(tmp_path, {"org/org.yaml": org, "org/roles/a.yaml": role})
    kernel = Kernel.open(tmp_path / "org", kept)
    assert kernel.check() == ()
    ours, theirs = (kernel.organization(each).snapshot.records.tools for each in ("ours", "shop"))
    assert "Bash" in theirs
    assert "code_execution_tool" in ours
    assert not ours.keys() & theirs.keys()


def test_a_messy_project(tmp_path: Path) -> None:
    """All mistakes are reported at their lines. While files are broken, no agent is reported as missing."""
    files = {
        ".mcp.json": '{"mcpServers": {"github": {}}}\n',
        f"{AGENTS}/a.md": "---\nname: coder\ndescription: Writes code\ntool: Read\n---\nAsk @agent-nobody.\n",
        f"{AGENTS}/b.md": agent("coder", "Writes code. Use when asked: always.", "read, mcp__githob__x", more="skills: nope\n"),
        f"{AGENTS}/c.md": "---\nname: other\n---\n",
        f"{AGENTS}/d.md": "Just text.\n",
        f"{AGENTS}/e.md": "---\nname: [\n---\n",
        f"{AGENTS}/f.md": agent("tester", "Use after writes, code!", "Bash(git:*)"),
        f"{AGENTS}/g.md": agent("tester-two", "Use after code, writes.", "Bash", more="maxTurns: -1\n"),
    }  # fmt: skip
    done = run_here("check", "--format", "concise", cwd=write_tree(tmp_path, files))
    assert done.returncode == 1
    found = [line.removeprefix(f"{AGENTS}/").split(" ")[:2] for line in done.stdout.splitlines()]
    assert [(at, said.partition("[")[2].rstrip("]")) for at, said in found] == [
        ("a.md:2:7:", "ORG750"), ("a.md:3:14:", "ORG756"), ("a.md:4:1:", "ORG102"),
        ("b.md:2:7:", "ORG217"), ("b.md:2:7:", "ORG725"), ("b.md:3:41:", "ORG025"), ("c.md:2:1:", "ORG101"),
        ("d.md:1:1:", "ORG024"), ("e.md:3:1:", "ORG005"), ("f.md:4:8:", "ORG755"), ("g.md:3:14:", "ORG751"),
        ("g.md:5:11:", "ORG106"), ("g.md:5:11:", "ORG725"),
    ]  # fmt: skip


PARTS = [*"abn: ,[]{}()'\"|>-&*!#%@`\t\n\r\0\u2028\ud800", "---\n", "name: a\n", "\ntools: ", "\nskills: ", "\nmaxTurns: "]  # fmt: skip
PARTS += [
    "\nmcpServers: ",
    "\norgkernel-suppressions: ",
    "\ndisallowedTools: ",
    "Bash",
    "Task",
    "mcp__x__y",
    "{rule: ",
]
FRONT = st.lists(st.sampled_from(PARTS), max_size=30).map("".join)


@settings(max_examples=300)
@given(front=FRONT, body=st.text(max_size=20))
def test_no_text_stops_the_reader(front: str, body: str) -> None:
    """Any file in the place of an agent is read or refused, and values keep their source positions."""
    content = f"---\nname: x\ndescription: y\n{front}\n---\n{body}".encode("utf-8", "surrogatepass")
    source = decode("/x/.claude/agents/a.md", "a.md", content)
    root = Root("/x", "", format="claude-code", areas=(Area(AGENTS, r".*\.md"),))
    read = read_agent(source, root)
    assert read.documents or read.broken
    located = LocatedFile(source.path, source.name, root, 0)
    completion = complete([LoadedFile(located, source.digest, True, False, read)])
    for document in (*completion.documents, *chain(*completion.instead.values()), *read.documents):
        assert document.record
        document.place("capabilities", "tools_primary", 0)


def test_a_star_in_parentheses_is_the_whole_tool(tmp_path: Path) -> None:
    """`Bash(*)` means `Bash` to the host: in a list of tools, and in a rule, which is no rule about part of a tool."""
    files = {
        ".claude/agents/a.md": agent("a", "Does a. Use it.", "Read, Bash(*)"),
        ".claude/agents/b.md": agent("b", "Does b. Use it.", "Read, Bash"),
        "other/.claude/settings.json": '{"permissions": {"deny": ["Bash(*)"]}}',
        "other/.claude/agents/c.md": agent("c", "Does c. Use it.", "Read, Bash"),
    }
    write_tree(tmp_path, files)
    done = run_here("check", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "")
    for role, outcome in (("a", "allow"), ("b", "allow"), ("c", "deny")):
        asked = run_here("can", f"role:{role}", "use", "tool:Bash", cwd=tmp_path)
        assert asked.stdout.partition(":")[0] == outcome
