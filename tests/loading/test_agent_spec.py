"""Open Agent Spec: the hierarchy of a team is a chain of command, and references lead where components stand."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from orgkernel import AccessRequest, Kernel
from orgkernel.snapshots.roots import resolve_paths
from tests.support.format_trees import SPEC, specification
from tests.support.in_process import run_here
from tests.support.trees import write_tree
from tests.support.yaml_text import read_yaml

NOTE = "note: read as Open Agent Spec: 4 agents; `--from` chooses another format\n"
MODEL = "llm_config: {component_type: VllmConfig, id: m, name: m, model_id: x, url: x}"
AGENT = f"component_type: Agent\nid: {{0}}\nname: {{0}}\ndescription: Does {{0}}\nsystem_prompt: Do {{0}}.\n{MODEL}\n".replace(
    MODEL, MODEL.replace("{", "{{").replace("}", "}}")
)
VERSION = "agentspec_version: 25.4.2\n"


@pytest.fixture(scope="module")
def paper(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A team; no test changes it."""
    return specification(tmp_path_factory.mktemp("specs") / "paper")


def test_a_well_kept_team_has_no_finding(paper: Path) -> None:
    """A file beside it that is no specification is passed over."""
    done = run_here("check", "paper", cwd=paper.parent)
    assert (done.returncode, done.stdout) == (0, "")
    counted = "no findings in 1 organization, 4 roles, 1 file; 1 file skipped: not orgkernel documents\n"
    assert done.stderr == NOTE + counted


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("graph", ["Newsroom (Newsroom), 4 roles\n└── editor  editor\n    ├── desk_chief  desk_chief\n    │   └── reporter  reporter\n"]),
        ("manifest reporter", ["desk_chief", "newsroom.yaml:13", "search_archive", "newsroom.yaml:31", "newsroom.yaml:28"]),
        ("manifest desk_chief", ["executive"]),
        ("manifest editor", ["commander of Newsroom"]),
        ("why role:fact_20_checker use tool:search_archive", ["paper/newsroom.yaml:43", "paper/newsroom.yaml:55"]),
        ("can role:reporter use tool:send_mail", ["ask: ", "paper/newsroom.yaml:36"]),
        ("role orders editor", ["You edit {{paper}}. You cut before you praise."]),
        ("dispatch --text 'compare the statements with sources'", ["→ fact_20_checker"]),
    ],
)  # fmt: skip
def test_the_questions_work(paper: Path, words: str, said: list[str]) -> None:
    """Each answer shows the line of the file that says so."""
    done = run_here(*shlex.split(words), "--path", "paper", cwd=paper.parent)
    assert [each for each in said if each not in done.stdout] == [], done.stdout
    assert done.stderr == NOTE


def test_json_says_the_same(paper: Path, tmp_path: Path) -> None:
    """The order of fields and the form of the file do not matter."""
    write_tree(tmp_path, {"newsroom.json": json.dumps(read_yaml(SPEC))})
    ours, theirs = (
        {
            role: (post.profile.name, post.profile.capabilities.tools_primary, post.profile.chain_of_command)
            for role, post in Kernel.open(folder).organization("active").snapshot.records.posts.items()
        }
        for folder in (paper, tmp_path)
    )
    assert ours == theirs


def test_components_in_other_files(tmp_path: Path) -> None:
    """A reference leads to the file that has the component; one that leads nowhere is reported, and gives nothing."""
    files = {
        "team.yaml": (
            "component_type: ManagerWorkers\nid: t\nname: Team\ngroup_manager: {$component_ref: boss}\n"
            f"workers:\n- $component_ref: hand\n{VERSION}"
        ),
        "boss.yaml": AGENT.format("boss") + VERSION,
        "hand.yaml": AGENT.format("hand")
        + "tools:\n- $component_ref: saw\n- $component_ref: axe\n"
        + VERSION,
        "saw.yaml": f"component_type: ServerTool\nid: saw\nname: cut\ndescription: Cuts.\n{VERSION}",
    }
    kernel = Kernel.open(write_tree(tmp_path, files))
    records = kernel.organization("active").snapshot.records
    assert records.organization.hierarchy["boss"].subordinates == ("hand",)
    assert records.posts["hand"].profile.capabilities.tools_primary == ("cut",)
    assert [(each.code, str(each.place).rpartition("/")[2]) for each in kernel.check()] == [
        ("ORG770", "hand.yaml:9:3")
    ]


def test_one_tool_in_two_files(tmp_path: Path) -> None:
    """What two files say alike is no contradiction, and a confirmation holds for both; another meaning is one, and takes out the agent of the file."""
    mail = "tools:\n- {component_type: ClientTool, id: m, name: mail, description: Mails., requires_confirmation: true}\n"
    files = {f"{name}.yaml": AGENT.format(name) + mail + VERSION for name in ("one", "two")}
    kernel = Kernel.open(write_tree(tmp_path, files))
    assert kernel.check() == ()
    done = [run_here("can", f"role:{name}", "use", "tool:mail", cwd=tmp_path) for name in ("one", "two")]
    assert [each.stdout[:4] for each in done] == ["ask:", "ask:"]
    write_tree(tmp_path, {"two.yaml": files["two.yaml"].replace("Mails.", "Sends letters.")})
    assert [each.code for each in Kernel.open(tmp_path).check()] == ["ORG217", "ORG725"]
    done = [run_here("can", f"role:{name}", "use", "tool:mail", cwd=tmp_path) for name in ("one", "two")]
    assert [each.stdout.partition(":")[0] for each in done] == ["ask", "deny"]


def test_a_swarm_queries_and_does_not_command(tmp_path: Path) -> None:
    """Its relationships are rights to hand over work; no agent is a superior."""
    inline = (
        "{component_type: Agent, id: %s, name: %s, description: Does %s, system_prompt: Do., " + MODEL + "}"
    )
    one, two = (inline % (name, name, name) for name in ("one", "two"))
    text = (
        f"component_type: Swarm\nid: s\nname: Swarm\nfirst_agent: {one}\n"
        f"relationships:\n- [{{$component_ref: one}}, {two}]\nagentspec_version: 25.4.2\n"
    )
    kernel = Kernel.open(write_tree(tmp_path, {"swarm.yaml": text}))
    assert kernel.check() == ()
    posts = kernel.organization("active").snapshot.records.posts
    assert posts["one"].profile.handoff.may_to == ("two",)
    assert {post.profile.chain_of_command.reports_to for post in posts.values()} == {"user"}


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        (AGENT.format("a").replace("name: a\n", ""), ["ORG101"]),
        (AGENT.format("a").replace("system_prompt: Do a.\n", ""), ["ORG101"]),
        (AGENT.format("a").replace(MODEL, ""), ["ORG101"]),
        (AGENT.format("a") + "tools: search\n", ["ORG103"]),
        ("component_type: ManagerWorkers\nid: t\nname: T\nworkers:\n- {" + AGENT.format("a").replace("\n", ", ").rstrip(", ") + "}\n", ["ORG101", "ORG725"]),
        ("component_type: ManagerWorkers\nid: t\nname: T\nworkers: []\ngroup_manager: {" + AGENT.format("a").replace("\n", ", ").rstrip(", ") + "}\n", ["ORG101", "ORG725"]),
    ],
)  # fmt: skip
def test_what_is_missing(tmp_path: Path, text: str, codes: list[str]) -> None:
    """What the loader of the format refuses is an error here."""
    kernel = Kernel.open(write_tree(tmp_path, {"a.yaml": text + VERSION}))
    assert [each.code for each in kernel.check()] == codes


@pytest.mark.parametrize(
    "files",
    [
        {"a.yaml": "component_type: sensor\nplatform: x\n"},
        {"a.yaml": "apiVersion: v1\nkind: Pod\nmetadata: {labels: {component_type: web}}\n"},
        {"a.json": '{"agentspec_version": "1"}'},
    ],
)
def test_other_files_are_not_claimed(tmp_path: Path, files: dict[str, str]) -> None:
    """A specification names a component and its version."""
    assert not resolve_paths(["."], str(write_tree(tmp_path, files))).detected


def _write_agent(name: str) -> str:
    return AGENT.format(name)


def _write_team(manager: str, *workers: str) -> str:
    listed = ", ".join(f"{{$component_ref: {each}}}" for each in workers)
    return (
        f"component_type: ManagerWorkers\n{VERSION}name: team of {manager}\n"
        f"group_manager: {{$component_ref: {manager}}}\nworkers: [{listed}]\n"
    )


@pytest.mark.parametrize(
    "further",
    [
        {"special.yaml": f"component_type: SpecializedAgent\n{VERSION}name: checker\nagent: {{$component_ref: b}}\n"},
        {"other.yaml": _write_team("c", "d")},
        {"other.yaml": _write_team("b", "c", "d")},
        {"other.yaml": _write_team("a", "d")},
        {"special.yaml": f"component_type: SpecializedAgent\n{VERSION}name: checker\nagent:\n"
                         + "".join(f"  {line}\n" for line in _write_agent("e").splitlines())},
    ],
)  # fmt: skip
def test_several_teams_of_a_folder_are_one_chain(tmp_path: Path, further: dict[str, str]) -> None:
    """Teams and specialized agents lie in files of their own, beside the agents that they name."""
    agents = {f"{name}.yaml": VERSION + _write_agent(name) for name in "abcd"}
    write_tree(tmp_path / "desk", {"team.yaml": _write_team("a", "b"), **agents, **further})
    assert run_here("check", "desk", cwd=tmp_path).returncode == 0
    chart = run_here("graph", "--path", "desk", cwd=tmp_path).stdout
    assert "└── b  b" in chart or "├── b  b" in chart
    manifest = run_here("manifest", "b", "--path", "desk", cwd=tmp_path).stdout
    assert re.search(r"^superiors +a ", manifest, re.MULTILINE), manifest


def test_one_component_in_two_notations_is_one_agent(tmp_path: Path) -> None:
    """The same in YAML and in JSON, as tools write both; another agent of this name is still a contradiction."""
    text = AGENT.format("one") + VERSION
    write_tree(tmp_path, {"one.yaml": text, "one.json": json.dumps(read_yaml(text))})
    kernel = Kernel.open(tmp_path)
    assert [each.code for each in kernel.check()] == []
    orders = run_here("role", "orders", "one", cwd=tmp_path).stdout
    assert orders.count("Do one.") == 1
    write_tree(tmp_path, {"one.json": json.dumps(read_yaml(text.replace("Does one", "Does two")))})
    assert [each.code for each in Kernel.open(tmp_path).check()] == ["ORG217", "ORG725"]


def test_a_confirmation_holds_in_a_union(tmp_path: Path) -> None:
    """For the tool of its own folder, which gets another id because the other folder has one of this name."""
    mail = "tools:\n- {component_type: ClientTool, id: m, name: mail, description: %s, requires_confirmation: %s}\n"
    files = {
        "post/one.yaml": AGENT.format("one") + mail % ("Mails.", "true") + VERSION,
        "chat/two.yaml": AGENT.format("two") + mail % ("Sends letters.", "false") + VERSION,
    }
    kernel = Kernel.open(write_tree(tmp_path, files))
    assert kernel.check() == ()
    answers = {
        role: kernel.can("active", AccessRequest(f"role:{role}", "use", f"tool:{tool}")).outcome
        for role, tool in (("one", "post__mail"), ("two", "chat__mail"))
    }
    assert answers == {"one": "ask", "two": "allow"}
