"""Google ADK and the Microsoft Agent Framework: each file declares an agent with the tools that it lists."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from orgkernel import Kernel
from tests.support.in_process import run_here
from tests.support.other_trees import lay_out
from tests.support.trees import write_tree


def decide(folder: Path, question: str) -> str:
    """The effect of an answer."""
    return run_here("can", *question.split(), "--path", ".", cwd=folder).stdout.partition(":")[0]


@pytest.mark.parametrize("name", ["adk", "agent_framework", "agent_format", "autogen"])
def test_a_well_kept_tree_has_no_finding(tmp_path: Path, name: str) -> None:
    """Other YAML files beside the agents are skipped."""
    done = run_here("check", "shop", cwd=lay_out(tmp_path / "shop", name).parent)
    assert (done.returncode, done.stdout) == (0, "")
    assert "1 file skipped" in done.stderr or name == "agent_format"  # which reads only its own files


def test_sub_agents_are_a_chain_of_command(tmp_path: Path) -> None:
    """By the files that a configuration names; each agent has the tools that it lists."""
    shop = lay_out(tmp_path / "shop", "adk")
    chart = run_here("graph", cwd=shop).stdout
    assert "└── tutor  tutor\n    ├── code_tutor  code_tutor\n    └── grader  grader\n" in chart
    assert decide(shop, "role:tutor handoff role:code_tutor") == "allow"
    assert decide(shop, "role:code_tutor handoff role:tutor") == "allow"
    assert decide(shop, "role:grader handoff role:tutor") == "deny"  # it has no model that could
    assert decide(shop, "role:code_tutor use tool:google_search") == "allow"
    assert decide(shop, "role:tutor use tool:tutor_2e_tools_2e_run_5f_code") == "deny"
    assert decide(shop, "role:grader use tool:google_search") == "deny"


def test_transfers_of_adk(tmp_path: Path) -> None:
    """A sub-agent may transfer work to its superior and its siblings, unless its file disallows it."""
    text = "name: {0}\nmodel: g\ndescription: Does {0}. Use it for {0}.\ninstruction: x\n"
    shop = write_tree(
        tmp_path,
        {
            "root_agent.yaml": text.format("root")
            + "sub_agents: [{config_path: a.yaml}, {config_path: b.yaml}, {config_path: c.yaml}]\n",
            "a.yaml": text.format("a") + "sub_agents: [{config_path: d.yaml}]\n",
            "b.yaml": text.format("b") + "disallow_transfer_to_parent: true\n",
            "c.yaml": text.format("c")
            + "disallow_transfer_to_parent: yes\ndisallow_transfer_to_peers: 'on'\n",
            "d.yaml": text.format("d"),
        },
    )
    pairs = {
        f"{one}>{other}"
        for one in ("root", *"abcd")
        for other in ("root", *"abcd")
        if decide(shop, f"role:{one} handoff role:{other}") == "allow"
    }
    # The one at the top commands all others, at any depth.
    assert pairs == {
        "root>a",
        "root>b",
        "root>c",
        "root>d",
        "a>root",
        "a>b",
        "a>c",
        "a>d",
        "b>a",
        "b>c",
        "d>a",
    }
    assert run_here("check", ".", cwd=shop).returncode == 0
    (shop / "b.yaml").write_text(text.format("b") + "disallow_transfer_to_parent: maybe\n")
    assert (
        "`disallow_transfer_to_parent` of agent `b` is the string `maybe`, not `true` or `false`"
        in run_here("check", ".", cwd=shop).stdout
    )


def test_a_sub_agent_that_is_not_there_is_told(tmp_path: Path) -> None:
    """Also one that is outside of the folder; its agent goes on answering."""
    text = "name: root\nmodel: g\ndescription: r\ninstruction: x\nsub_agents:\n  - config_path: {}\n"
    tree = write_tree(
        tmp_path,
        {
            "a/root_agent.yaml": text.format("missing.yaml"),
            "b/root_agent.yaml": text.format("../c/x.yaml"),
            "c/x.yaml": "name: x\n",
        },
    )
    for folder, word in (("a", "missing.yaml"), ("b", "../c/x.yaml")):
        done = run_here("check", "--format", "concise", folder, cwd=tree)
        assert (
            f"agent `root` names the sub-agent `{word}`, which is not among the agents that were read"
            in done.stdout
        )
        assert done.stdout.startswith(f"{folder}/root_agent.yaml:6:18: warning[ORG759]")


def test_agents_of_the_agent_framework(tmp_path: Path) -> None:
    """Functions, servers and tools of the host, by their names."""
    shop = lay_out(tmp_path / "shop", "agent_framework")
    assert [
        decide(shop, f"role:Weather use tool:{tool}") for tool in ("GetWeather", "web_search", "maps")
    ] == ["allow"] * 3
    assert [
        decide(shop, f"role:Travel use tool:{tool}") for tool in ("GetWeather", "web_search", "maps")
    ] == ["deny"] * 3


def test_agents_of_the_agent_format(tmp_path: Path) -> None:
    """An approval asks, a server gives the tools that are allowed, and local agents are a chain of command."""
    shop = lay_out(tmp_path / "shop", "agent_format")
    effects = {
        tool: decide(shop, f"role:lead use tool:{tool}")
        for tool in ("book", "look_up", "mcp__maps__route", "mcp__maps__pay", "mcp__maps__other", "mcp__mail")
    }
    assert effects == {
        "book": "ask", "look_up": "allow", "mcp__maps__route": "allow", "mcp__maps__pay": "ask", "mcp__maps__other": "deny",
        "mcp__mail": "allow",
    }  # fmt: skip
    assert decide(shop, "role:finder use tool:book") == "deny"
    assert decide(shop, "role:lead handoff role:finder") == "allow"
    assert decide(shop, "role:finder handoff role:lead") == "deny"
    text = (shop / "lead.agf.yaml").read_text()
    (shop / "lead.agf.yaml").write_text(
        text.replace("source: sub/finder.agf.yaml}", "source: sub/finder.agf.yaml, approval: true}")
    )
    assert decide(shop, "role:lead handoff role:finder") == "deny"


def test_components_of_autogen(tmp_path: Path) -> None:
    """Participants of a team, with the tools of their workbenches; a hand-off is to the agents that are named."""
    shop = lay_out(tmp_path / "shop", "autogen")
    questions = {
        "role:travel_agent use tool:book": "allow", "role:travel_agent use tool:refund": "deny", "role:refunder use tool:refund": "allow",
        "role:refunder use tool:book": "deny", "role:travel_agent handoff role:refunder": "allow",
        "role:refunder handoff role:travel_agent": "deny",
    }  # fmt: skip
    assert {each: decide(shop, each) for each in questions} == questions
    assert "user_proxy" not in run_here("graph", cwd=shop).stdout


def test_a_nested_team_of_autogen(tmp_path: Path) -> None:
    """The agents of an inner team, and what an agent has by its class."""
    inner = {
        "provider": "autogen_agentchat.agents.CodeExecutorAgent",
        "config": {"name": "runner", "description": "Runs code."},
    }
    server = {
        "provider": "autogen_ext.tools.mcp.McpWorkbench",
        "label": "files",
        "config": {"server_params": {"command": "files-mcp"}},
    }
    writer = {
        "provider": "autogen_agentchat.agents.AssistantAgent",
        "config": {"name": "writer", "workbench": server},
    }
    team = {
        "provider": "autogen_agentchat.teams.RoundRobinGroupChat",
        "config": {"participants": [inner, writer]},
    }
    society = {
        "provider": "autogen_agentchat.agents.SocietyOfMindAgent",
        "config": {"name": "society", "team": team},
    }
    outer = {"provider": "autogen_agentchat.teams.SelectorGroupChat", "config": {"participants": [society]}}
    shop = write_tree(tmp_path, {"team.json": json.dumps(outer)})
    assert decide(shop, "role:runner use tool:code_executor") == "allow"
    assert decide(shop, "role:writer use tool:mcp__files") == "allow"
    assert decide(shop, "role:society use tool:code_executor") == "deny"


@pytest.mark.parametrize(
    ("files", "code"),
    [
        ({"root_agent.yaml": "name: [x\n"}, "ORG"),
        ({"root_agent.yaml": "description: x\ninstruction: y\n"}, "ORG101"),
        ({"root_agent.yaml": "name: a\ndescription: x\n"}, "ORG101"),
        ({"root_agent.yaml": "name: a\ninstruction: x\ntools: all\n"}, "ORG103"),
        ({"a.yaml": "kind: Prompt\nname: {a: b}\n"}, "ORG103"),
        ({"a.yaml": "kind: Prompt\nname: a\nname: b\n"}, "ORG"),
        ({"a.agf.yaml": "schema_version: '1'\n"}, "ORG101"),
        ({"a.agf.yaml": "metadata: {id: a, name: a}\naction_space: all\n"}, "ORG101"),
        ({"a.agf.yaml": "metadata: {id: a, name: a}\naction_space: {local_tools: all}\n"}, "ORG101"),
        ({"a.json": '{"provider": "autogen_agentchat.agents.AssistantAgent", "config": {}}'}, "ORG101"),
        ({"a.json": '{"provider": "autogen_agentchat.agents.AssistantAgent"}'}, "ORG101"),
        ({"a.json": '{"provider": "autogen_agentchat.agents.AssistantAgent", "config": {'}, "ORG"),
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


def test_samples_of_the_agent_framework_can_share_a_name(tmp_path: Path) -> None:
    """Each file is loaded alone, so none is out of service; a warning tells under which name orgkernel keeps it."""
    text = "kind: Prompt\nname: Assistant\ndescription: {0} answers.\ninstructions: Answer with {0}.\n"
    files = {f"samples/{name}.yaml": text.format(name) for name in ("azure", "local")}
    kernel = Kernel.open(write_tree(tmp_path, files))
    assert [each.code for each in kernel.check()] == ["ORG787"]
    assert set(kernel.organization("active").snapshot.records.posts) == {"Assistant", "local"}


def _build_agent(name: str, message: str = "Help.") -> dict[str, object]:
    """A component of AutoGen."""
    config = {"name": name, "description": f"Does {name}.", "system_message": message}
    return {
        "provider": "autogen_agentchat.agents.AssistantAgent",
        "component_type": "agent",
        "config": config,
    }


def test_a_gallery_of_autogen_studio(tmp_path: Path) -> None:
    """Its agents and those of its teams are roles: the same agent once, and another one of the same name with its team."""
    teams = [
        {"provider": "autogen_agentchat.teams.RoundRobinGroupChat", "label": label, "config": {"participants": agents}}
        for label, agents in (
            ("Desk", [_build_agent("helper"), _build_agent("planner")]),
            ("Field", [_build_agent("helper", "Travel.")]),
        )
    ]  # fmt: skip
    gallery = {"id": "g", "name": "G", "metadata": {}, "components": {"agents": [_build_agent("helper")], "teams": teams, "models": []}}  # fmt: skip
    write_tree(tmp_path / "desk", {"gallery.json": json.dumps(gallery)})
    done = run_here("check", "desk", cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    chart = run_here("graph", "--path", "desk", cwd=tmp_path).stdout
    assert [line.split()[1] for line in chart.splitlines()[1:]] == ["helper", "planner", "Field-helper"]


@pytest.mark.parametrize("name", ["", "b c"])
def test_one_broken_agent_of_a_team_is_out_of_service(tmp_path: Path, name: str) -> None:
    """The others of the same file answer."""
    team = {
        "provider": "autogen_agentchat.teams.Swarm",
        "config": {
            "participants": [_build_agent("a"), _build_agent(name), {"label": "nothing"}, _build_agent("d")]
        },
    }
    write_tree(tmp_path, {"team.json": json.dumps(team)})
    assert run_here("check", cwd=tmp_path).returncode == 1
    for role in ("a", "d"):
        assert run_here("manifest", role, cwd=tmp_path).returncode == 0


def test_workflows_and_hosted_agents_are_named(tmp_path: Path) -> None:
    """They run agents by name, or have their tools in code."""
    files = {
        "flows/ask.yaml": "# Asks.\nkind: Workflow\ntrigger:\n  kind: OnConversationStart\n",
        "hosted/agent.yaml": "kind: hosted\nname: echo\n",
        ".github/workflows/ci.yaml": "on: push\njobs: {}\n",
    }
    told = run_here("list", cwd=write_tree(tmp_path, files)).stderr
    assert "left out `flows/ask.yaml`: it is a workflow of the Agent Framework" in told
    assert "left out `hosted/agent.yaml`: it is a hosted agent of the Agent Framework" in told
    assert "ci.yaml" not in told


def test_folders_of_hosts_without_agents_are_named(tmp_path: Path) -> None:
    """With what they contain, in a tree without agents."""
    write_tree(
        tmp_path,
        {".openhands/microagents/repo.md": "Run the tests.\n", ".continue/agents/a.yaml": "name: a\n"},
    )
    told = run_here("list", cwd=tmp_path).stderr
    assert "left out `.openhands/microagents`: microagents of OpenHands are texts for its one agent" in told
    assert "left out `.continue/agents`: agents of Continue are configurations" in told
