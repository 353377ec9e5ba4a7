"""In another format, an error takes out only what its file declares, and the other agents still answer."""

from __future__ import annotations

from pathlib import Path

import pytest

from orgkernel import AccessRequest, Kernel
from tests.support.claude_trees import agent
from tests.support.in_process import run_here
from tests.support.other_trees import lay_out
from tests.support.trees import write_tree

FAULTS = {
    "not_yaml": "---\nname: c\n- x\n---\n",
    "no_name": "---\nname: ''\ndescription: Does c.\n---\n",
    "wrong_type": "---\nname: c\ndescription: Does c.\ndisallowedTools: {a: b}\n---\n",
    "unprintable": "---\nname: c\ndescription: Does \x04 c.\n---\nText.\n",
    "no_front_matter": "# Only text\n",
    "too_large": "---\nname: c\ndescription: Does c.\n---\n" + "word " * 60_000,
    "same_name": agent("a", "Does a too.", "Bash"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_one_faulty_agent_is_out_of_service(fault: str, tmp_path: Path) -> None:
    """It may do nothing, and the others answer, after reading and from the cache."""
    files = {
        ".claude/agents/a.md": agent("a", "Does a. Use it.", "Read"),
        ".claude/agents/b.md": agent("b", "Does b. Use it.", "Read"),
        ".claude/agents/c.md": FAULTS[fault],
    }
    write_tree(tmp_path, files)
    kernel = Kernel.open(tmp_path)
    org = kernel.organization("active").snapshot
    faulty = "a" if fault == "same_name" else "c"
    assert set(org.records.posts) == {"a", "b"} - {faulty}
    assert kernel.can(org.org_id, AccessRequest("role:b", "use", "tool:Read")).outcome == "allow"
    assert kernel.can(org.org_id, AccessRequest(f"role:{faulty}", "use", "tool:Read")).outcome == "deny"
    assert run_here("check", cwd=tmp_path).returncode == 1
    for _ in range(2):
        done = run_here("can", "role:b", "use", "tool:Read", cwd=tmp_path)
        assert (done.returncode, done.stdout.split(":")[0]) == (0, "allow")
        assert run_here("can", f"role:{faulty}", "use", "tool:Read", cwd=tmp_path).returncode == 1


def test_a_question_about_it_names_the_error(tmp_path: Path) -> None:
    """Not as if the role did not exist."""
    files = {".claude/agents/a.md": agent("a", "Does a."), ".claude/agents/b.md": agent("b", "Does b.")}
    files[".claude/agents/c.md"] = agent("b", "Does b too.")
    done = run_here("manifest", "b", cwd=write_tree(tmp_path, files))
    assert done.returncode == 2
    assert "is out of service: .claude/agents/c.md:2:7: role `b` is declared more than once" in done.stderr
    denied = run_here("can", "role:b", "use", "tool:Read", cwd=tmp_path)
    assert "because role `b` is out of service: role `b` is declared more than once" in denied.stdout
    assert ".claude/agents/c.md:2" in denied.stdout


def test_unreadable_permission_rules_hold_the_organization_back(tmp_path: Path) -> None:
    """What they deny is not known."""
    files = {".claude/agents/a.md": agent("a", "Does a.", "Read"), ".claude/settings.json": "{"}
    done = run_here("can", "role:a", "use", "tool:Read", cwd=write_tree(tmp_path, files))
    assert done.returncode == 2
    assert "has 1 error" in done.stderr


BROKEN = {
    "agent_format": ("broken.agf.yaml", "metadata: 1\n", "role:lead use tool:look_up"),
    "autogen": ("broken.json", '{"provider": "autogen_agentchat.agents.AssistantAgent", "config": {}}', "role:travel_agent use tool:book"),
    "adk": ("below/broken.yaml", "agent_class: LlmAgent\nname: {a: b}\n", "role:code_tutor use tool:google_search"),
    "agent_framework": ("broken.yaml", "kind: Prompt\nname: {a: b}\n", "role:Weather use tool:GetWeather"),
    "opencode": (".opencode/agents/broken.md", "---\nmode: [\n---\nx\n", "role:lead use tool:read"),
    "codex": (".codex/agents/broken.toml", 'name = "broken\n', "role:explorer use tool:spawn_agent"),
    "gemini_cli": (".gemini/agents/broken.md", "---\nname: [\n---\nx\n", "role:auditor use tool:read_file"),
    "cursor": (".cursor/agents/broken.md", "---\nname: [\n---\nx\n", "role:debugger use tool:browser"),
    "copilot": (".github/agents/broken.agent.md", "---\ntools: {a: b}\nname: [\n---\nx\n", "role:Planner use tool:search"),
    "agent_zero": ("agents/broken/agent.yaml", "title: [\n", "role:lead use tool:response"),
}  # fmt: skip
PROSE = (
    "Set `AKIAIOSFODNN7EXAMPLE` first. password = 'hunter2hunter2' and token: ghp_0123456789abcdefghijklmnopqrstuvwxyz",
    "Ask the `nobody` agent. Read `none/of/it.md`. Run the `/none` command. Never write code, then write code.",
    "word " * 9_000,
    "x: [y\n---\n" + "---\nname: other\ntools: '*'\n---\n",
)


@pytest.mark.parametrize("format", BROKEN)
def test_a_broken_file_takes_out_only_its_agent(tmp_path: Path, format: str) -> None:
    """In every format: the error is told, and the other agents answer as before."""
    name, text, question = BROKEN[format]
    tree = lay_out(tmp_path / "shop", format)
    before = run_here("can", *question.split(), cwd=tree)
    assert before.returncode in (0, 3), before.stderr
    write_tree(tree, {name: text})
    done = run_here("check", cwd=tree)
    assert (done.returncode, name in done.stdout) == (1, True), done.stdout
    assert run_here("can", *question.split(), cwd=tree).stdout == before.stdout


@pytest.mark.parametrize("prose", PROSE, ids=["secrets", "references", "length", "fences"])
@pytest.mark.parametrize("host", ["claude-code", "opencode", "gemini_cli", "cursor", "copilot"])
def test_prose_stops_nobody(tmp_path: Path, host: str, prose: str) -> None:
    """Whatever an author writes into the text of an agent, all agents answer; only a certain secret is an error."""
    if host == "claude-code":
        tree = write_tree(tmp_path, {".claude/agents/a.md": agent("a", "Does a. Use it.", "Read")})
        question = "role:a use tool:Read"
    else:
        tree, question = lay_out(tmp_path / "shop", host), BROKEN[host][2]
    folder = {
        "opencode": ".opencode/agents",
        "gemini_cli": ".gemini/agents",
        "cursor": ".cursor/agents",
        "copilot": ".github/agents",
    }
    name = f"{folder.get(host, '.claude/agents')}/z{'.agent' if host == 'copilot' else ''}.md"
    before = run_here("can", *question.split(), cwd=tree).stdout
    write_tree(tree, {name: f"---\nname: z\ndescription: Does z. Use it.\n---\n{prose}\n"})
    assert run_here("can", *question.split(), cwd=tree).stdout == before
    assert run_here("what-can", "role:z", cwd=tree).returncode == 0


SHARED = {
    "opencode": (
        {"opencode.json": '{"agent": {"a": {"description": "x"}, "c": {"description": 3}}}'},
        "bash",
    ),
    "crewai": (
        {
            "config/agents.yaml": "a: {role: A, goal: Do a, backstory: Does a.}\nc: {role: C, goal: 3}\n",
            "config/tasks.yaml": "t: {description: Do t, expected_output: T, agent: a}\n",
        },
        "",
    ),
    "codex": (
        {".codex/config.toml": "[agents.a]\ndescription = 'x'\n[agents.c]\ndescription = 3\n"},
        "shell",
    ),
}


@pytest.mark.parametrize("host", SHARED)
def test_a_faulty_entry_takes_out_only_its_agent(host: str, tmp_path: Path) -> None:
    """Also where one file declares several agents; a question about the faulty one names the error."""
    files, tool = SHARED[host]
    write_tree(tmp_path, files)
    assert run_here("check", cwd=tmp_path).returncode == 1
    assert run_here("manifest", "a", cwd=tmp_path).returncode == 0
    if tool:
        assert run_here("can", "role:a", "use", f"tool:{tool}", cwd=tmp_path).returncode == 0
    done = run_here("manifest", "c", cwd=tmp_path)
    assert done.returncode == 2
    assert "is out of service" in done.stderr
