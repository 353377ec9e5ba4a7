"""Profiles of Agent-Zero are an organization: what they are, what they are told, and which tools they have."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from orgkernel import Kernel
from orgkernel.snapshots.loader import Loader
from orgkernel.snapshots.roots import resolve_paths
from tests.support.in_process import run_here
from tests.support.other_trees import lay_out
from tests.support.trees import write_tree

READ_AS = "note: read as Agent-Zero: 2 agents; `--from` chooses another format\n"
POLICY = "plugins/_tool_access/config.json"


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A well-kept host; no test changes it."""
    return lay_out(tmp_path_factory.mktemp("hosts") / "a0", "agent_zero")


def test_well_kept_profiles_have_no_finding(kept: Path) -> None:
    """What is well made is silent."""
    done = run_here("check", "a0", cwd=kept.parent)
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == READ_AS + "no findings in 1 organization, 2 roles, 5 files\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("manifest lead", ["Lead (lead)", "lead/agent.yaml:"]),
        ("dispatch --text 'write the code of a change'", ["→ writer"]),
        ("who-can use tool:code_execution_tool", ["role:writer"]),
        ("what-can role:lead", ["tool:call_subordinate", "tool:mcp__tracker__list_issues", "tool:response"]),
        ("role orders writer", ["Small commits."]),
        ("graph", ["a0 (a0), 2 roles"]),
    ],
)
def test_the_questions_work(kept: Path, words: str, said: list[str]) -> None:
    """With `--path`, as for our own documents."""
    done = run_here(*shlex.split(words), "--path", "a0", cwd=kept.parent)
    assert done.returncode == 0, done.stderr
    assert all(each in done.stdout for each in said), done.stdout
    assert done.stderr == READ_AS


def test_each_way_to_name_it_means_the_same(kept: Path) -> None:
    """The host, its `agents`, a profile and its file."""
    for path in (".", "agents", "agents/lead", "agents/lead/agent.yaml"):
        snapshot = Loader(resolve_paths([str(kept / path)], str(kept.parent)), {}).load()
        assert [len(each.records.posts) for each in snapshot.organizations.values()] == [2], path


def test_profiles_of_the_user_and_of_the_first_generation(tmp_path: Path) -> None:
    """Those of the user are read, not those that come with the host; the first generation has one file for both."""
    files = {
        "usr/agents/mine/agent.yaml": "title: Mine\ndescription: Works for me.\n",
        "usr/agents/mine/prompts/agent.system.main.specifics.md": "Work.\n",
        "agents/stock/agent.yaml": "title: Stock\n",
        "agents/stock/prompts/agent.system.main.role.md": "Work.\n",
    }
    kernel = Kernel.open(write_tree(tmp_path / "new", files))
    assert list(kernel.organization("active").snapshot.records.posts) == ["mine"]
    files = {
        "agents/old/_context.md": "Works for all.\n",
        "agents/old/prompts/agent.system.main.role.md": "Work.\n",
    }
    kernel = Kernel.open(write_tree(tmp_path / "old", files))
    assert kernel.organization("active").snapshot.records.posts["old"].profile.description == "Works for all."


@pytest.mark.parametrize(
    ("policy", "has", "lacks"),
    [
        (None, {"code_execution_tool", "response"}, set()),
        ({"mode": "inherit", "default": "block"}, {"code_execution_tool"}, set()),
        ({"mode": "custom", "default": "allow", "blocked": ["local:text_editor"]}, {"input"}, {"text_editor"}),
        ({"mode": "custom", "default": "block", "allowed": ["local:wait"]}, {"wait", "response"}, {"input"}),
        ({"mode": "custom", "default": "block", "allowed": ["plugin:mail:send"], "blocked": ["plugin:mail:send"]}, {"response"}, {"send"}),
        ({"mode": "custom", "default": "allow", "mcp_default": "block", "blocked": ["mcp:web:open"]}, {"input"}, {"mcp__web__open"}),
        ({"mode": "custum"}, {"response"}, set()),
        ({"mode": "custom", "allowed": 3}, {"response"}, {"input"}),
    ],
)  # fmt: skip
def test_what_a_tool_policy_leaves(policy: object, has: set[str], lacks: set[str], tmp_path: Path) -> None:
    """What it blocks is gone, `response` never is, and what cannot be read closes."""
    files = {"agents/a/agent.yaml": "title: A\n", "agents/a/prompts/agent.system.main.role.md": "Work.\n"}
    if policy is not None:
        files[f"agents/a/{POLICY}"] = json.dumps(policy)
    snapshot = Loader(resolve_paths(["."], str(write_tree(tmp_path, files))), {}).load()
    (organization,) = snapshot.organizations.values()
    tools = {*organization.records.posts["a"].profile.capabilities.tools_primary}
    assert has <= tools
    assert not lacks & tools


@pytest.mark.parametrize(
    "files",
    [
        {"agents/a/agent.json": "{}", "agents/a/main.py": "print()\n"},
        {"agents/a/agent.yaml": "name: a\n"},
        {"src/prompts/agent.system.main.md": "x\n"},
    ],
)
def test_other_projects_are_not_claimed(files: dict[str, str], tmp_path: Path) -> None:
    """An `agent.yaml` without prompts or a policy of Agent-Zero can belong to any program."""
    done = run_here("check", cwd=write_tree(tmp_path, files))
    assert done.returncode == 2
    assert "nothing to check" in done.stderr


def test_the_role_and_the_specifics_of_a_profile_are_one_text(tmp_path: Path) -> None:
    """As the host puts both into its prompt, the role first."""
    files = {
        "agents/coder/agent.yaml": "title: Coder\ndescription: Writes code. Use it first.\n",
        "agents/coder/prompts/agent.system.main.role.md": "You write code.\n",
        "agents/coder/prompts/agent.system.main.specifics.md": "Write little.\n",
    }
    kernel = Kernel.open(write_tree(tmp_path, files))
    assert [each.code for each in kernel.check() if each.severity == "error"] == []
    (order,) = kernel.organization("active").snapshot.records.orders["role", "coder"]
    assert order.record.body == "You write code.\n\nWrite little.\n"
