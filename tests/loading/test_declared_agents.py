"""Google ADK and the Microsoft Agent Framework: each file declares an agent with the tools that it lists."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.in_process import run_here
from tests.support.other_trees import lay_out
from tests.support.trees import write_tree


def decide(folder: Path, question: str) -> str:
    """The effect of an answer."""
    return run_here("can", *question.split(), "--path", ".", cwd=folder).stdout.partition(":")[0]


@pytest.mark.parametrize("name", ["adk", "agent_framework"])
def test_a_well_kept_tree_has_no_finding(tmp_path: Path, name: str) -> None:
    """Other YAML files beside the agents are skipped."""
    done = run_here("check", "shop", cwd=lay_out(tmp_path / "shop", name).parent)
    assert (done.returncode, done.stdout) == (0, "")
    assert "1 file skipped" in done.stderr


def test_sub_agents_are_a_chain_of_command(tmp_path: Path) -> None:
    """By the files that a configuration names; each agent has the tools that it lists."""
    shop = lay_out(tmp_path / "shop", "adk")
    chart = run_here("graph", cwd=shop).stdout
    assert "└── tutor  tutor\n    ├── code_tutor  code_tutor\n    └── grader  grader\n" in chart
    assert decide(shop, "role:tutor handoff role:code_tutor") == "allow"
    assert decide(shop, "role:code_tutor handoff role:tutor") == "deny"
    assert decide(shop, "role:code_tutor use tool:google_search") == "allow"
    assert decide(shop, "role:tutor use tool:tutor_2e_tools_2e_run_5f_code") == "deny"
    assert decide(shop, "role:grader use tool:google_search") == "deny"


def test_agents_of_the_agent_framework(tmp_path: Path) -> None:
    """Functions, servers and tools of the host, by their names."""
    shop = lay_out(tmp_path / "shop", "agent_framework")
    assert [
        decide(shop, f"role:Weather use tool:{tool}") for tool in ("GetWeather", "web_search", "maps")
    ] == ["allow"] * 3
    assert [
        decide(shop, f"role:Travel use tool:{tool}") for tool in ("GetWeather", "web_search", "maps")
    ] == ["deny"] * 3


@pytest.mark.parametrize(
    ("files", "code"),
    [
        ({"root_agent.yaml": "name: [x\n"}, "ORG"),
        ({"root_agent.yaml": "description: x\ninstruction: y\n"}, "ORG101"),
        ({"root_agent.yaml": "name: a\ndescription: x\n"}, "ORG101"),
        ({"root_agent.yaml": "name: a\ninstruction: x\ntools: all\n"}, "ORG103"),
        ({"a.yaml": "kind: Prompt\nname: {a: b}\n"}, "ORG103"),
        ({"a.yaml": "kind: Prompt\nname: a\nname: b\n"}, "ORG"),
    ],
)
def test_a_faulty_file_is_an_error(tmp_path: Path, files: dict[str, str], code: str) -> None:
    """With its place."""
    done = run_here("check", "--format", "json", cwd=write_tree(tmp_path, files))
    assert done.returncode == 1
    assert all(each["line"] for each in json.loads(done.stdout) if each["code"].startswith(code))
    assert any(each["code"].startswith(code) for each in json.loads(done.stdout))


def test_an_export_is_read_again(tmp_path: Path) -> None:
    """Agents that orgkernel wrote for the Agent Framework have the same tools."""
    text = "---\nname: a\ndescription: Does a. Use it first.\ntools: Read, Grep\n---\nDo it.\n"
    write_tree(tmp_path / "shop", {".claude/agents/a.md": text})
    done = run_here("export", "--to", "agent-framework", "--path", "shop", "-o", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert decide(tmp_path / "out", "role:a use tool:Read") == "allow"
    assert decide(tmp_path / "out", "role:a use tool:Bash") == "deny"
