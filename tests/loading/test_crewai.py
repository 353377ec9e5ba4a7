"""A crew of CrewAI is an organization, in YAML and in JSONC: what its files say, and nothing that they do not."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from orgkernel import Kernel
from orgkernel.loading.cache import Cache
from orgkernel.loading.jsonc_reader import parse_jsonc
from orgkernel.loading.marks import unpack_mark
from orgkernel.snapshots.loader import Loader
from orgkernel.snapshots.roots import resolve_paths
from tests.support.crew_trees import CONFIG, json_crew, yaml_crew
from tests.support.in_process import run_here
from tests.support.trees import change_line, write_tree

NEWS = "note: read as CrewAI: 3 agents; `--from` chooses another format\n"
AGENT = "  role: R\n  goal: Do it\n  backstory: B\n"


@pytest.fixture(scope="module")
def news(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A crew in YAML; no test changes it."""
    return yaml_crew(tmp_path_factory.mktemp("projects") / "news")


@pytest.fixture(scope="module")
def launch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A crew in JSONC; no test changes it."""
    return json_crew(tmp_path_factory.mktemp("projects") / "launch")


def test_a_well_kept_crew_has_no_finding(news: Path, launch: Path) -> None:
    """In either form; a file of tools beside a crew in YAML is not read."""
    done = run_here("check", "news", cwd=news.parent)
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == NEWS + "no findings in 1 organization, 3 roles, 3 files\n"
    done = run_here("check", "launch", cwd=launch.parent)
    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("graph", ["newsroom (newsroom), 3 roles", "└── desk_editor", "    ├── reporter"]),
        ("manifest reporter", ["crew.py:41", "config/agents.yaml:22", "fact_checker"]),
        ("manifest desk_editor", ["openai/gpt-4o", "max_turns_without_progress  20", "commander"]),
        ("dispatch --text 'compare the draft with its source'", ["→ fact_checker"]),
        ("who-can use tool:press_archive", ["role:reporter", "role:fact_checker"]),
        ("why role:reporter use tool:phone_book", ["crew.py:16", f"{CONFIG}/agents.yaml:22"]),
        ("role orders reporter", ["You call people back.\nYou never quote what you did not hear."]),
        ("what-can role:fact_checker", ["tool:press_archive"]),
    ],
)  # fmt: skip
def test_the_questions_work(news: Path, words: str, said: list[str]) -> None:
    """Each answer shows the line of the file that says so."""
    done = run_here(*shlex.split(words), "--path", "news", cwd=news.parent)
    assert done.returncode == 0, done.stderr
    assert [each for each in said if each not in done.stdout] == [], done.stdout
    assert done.stderr == NEWS


def test_what_a_crew_in_json_says(launch: Path) -> None:
    """Names, tools under every name that CrewAI accepts, and tasks in order are read; no agent is a superior."""
    kernel = Kernel.open(launch)
    records = kernel.organization("active").snapshot.records
    assert records.organization.name == "Launch crew"
    assert records.org_id == "Launch_20_crew"
    researcher = records.posts["researcher"].profile
    assert researcher.capabilities.tools_primary == (
        "SerperDevTool", "FileReadTool", "custom_3a_ledger", "https_3a__2f__2f_shop_2e_example_2f_mcp_23_orders",
    )  # fmt: skip
    assert researcher.capabilities.procedures == ("find",)
    assert records.posts["writer"].profile.capabilities.procedures == ("task_2",)
    assert records.posts["writer"].profile.requirements.preferred_model == "openai/gpt-4o"
    assert researcher.doctrine.max_turns_without_progress == 8
    assert {post.profile.chain_of_command.reports_to for post in records.posts.values()} == {"user"}
    assert str(records.posts["researcher"].document.place("doctrine", "max_turns_without_progress")).endswith(
        ":7:45"
    )
    assert records.tools["custom_3a_ledger"].record.side_effects == "destructive"
    assert str(records.tools["custom_3a_ledger"].place()).endswith("tools/ledger.py:1:1")


def test_a_hierarchy_is_only_what_a_file_says(tmp_path: Path) -> None:
    """A named manager is superior; one that CrewAI makes by itself is no role, and is reported."""
    json_crew(tmp_path)
    change_line(
        tmp_path / "crew.jsonc",
        '  "process": "sequential",',
        '  "process": "hierarchical", "manager_agent": "boss",',
    )
    write_tree(tmp_path, {"agents/boss.jsonc": '{"role": "Boss", "goal": "Lead", "backstory": "You led."}'})
    kernel = Kernel.open(tmp_path)
    assert kernel.check() == ()
    view = kernel.organization("active").snapshot.records.organization
    assert view.hierarchy["boss"].subordinates == ("researcher", "writer")
    change_line(
        tmp_path / "crew.jsonc",
        '  "process": "hierarchical", "manager_agent": "boss",',
        '  "process": "hierarchical", "manager_llm": "x",',
    )
    found = [(each.code, str(each.place).rpartition("/")[2]) for each in Kernel.open(tmp_path).check()]
    assert found == [("ORG703", "boss.jsonc:1:1"), ("ORG772", "crew.jsonc:19:45")]


@pytest.mark.parametrize(
    ("line", "becomes", "found"),
    [
        ('      "context": ["find"]', '      "context": ["fnd"]', ["ORG108 16:19"]),
        ('  "agents": ["researcher", "writer"],', "", ["ORG101 1:1"]),
        ('  "process": "sequential",', '  "process": "random",', ["ORG104 19:14"]),
        ('  "process": "sequential",', '  "process": "hierarchical",', ["ORG101 19:14"]),
        (
            '  "process": "sequential",',
            '  "process": "hierarchical", "manager_agent": "writer",',
            ["ORG108 19:47"],
        ),
        ('  "process": "sequential",', '  "proces": "sequential",', ["ORG102 19:3"]),
    ],
)
def test_what_a_crew_in_json_may_not_be(tmp_path: Path, line: str, becomes: str, found: list[str]) -> None:
    """What CrewAI refuses is found in the file of the crew."""
    json_crew(tmp_path)
    change_line(tmp_path / "crew.jsonc", line, becomes)
    said = [
        f"{each.code} {each.place.line}:{each.place.column}"
        for each in Kernel.open(tmp_path).check()
        if "crew.jsonc" in each.place.file and each.code != "ORG771"
    ]
    assert said == found


def test_a_flow_has_several_crews(tmp_path: Path) -> None:
    """Each is an organization, and agents of one name are different roles."""
    for crew in ("poems", "songs"):
        folder = f"src/flow/crews/{crew}"
        write_tree(tmp_path, {f"{folder}/config/agents.yaml": f"writer:\n{AGENT}"})
    kernel = Kernel.open(tmp_path)
    assert kernel.check() == ()
    assert sorted(kernel.state.served) == ["poems", "songs"]


@pytest.mark.parametrize("path", [".", "src", CONFIG, f"{CONFIG}/agents.yaml", f"{CONFIG}/tasks.yaml"])
def test_each_way_to_name_it_means_the_same(news: Path, path: str) -> None:
    """A project, its `src`, its `config` and one file."""
    request = resolve_paths([str(news / path)], str(news.parent))
    names = list(Loader(request, {}).load().organizations)
    assert names == ["newsroom"]


@pytest.mark.parametrize(
    "files",
    [
        {"package.json": "{}", "agents/a.json": "{}", "agents/b.jsonc": "{}"},
        {"config/agents.yaml": "monitoring:\n  host: a\n  role: x\n"},
        {
            "config/configuration.yaml": "homeassistant:\n  name: Home\n",
            "config/tasks.yaml": "a: {description: b}\n",
        },
        {"agents.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: agents\ngoal: x\n"},
        {"crew.json": '{"members": ["a"], "agents": 3}'},
        {"config/agents.yaml": "- role: a\n- goal: b\n"},
    ],
)
def test_other_projects_are_not_claimed(tmp_path: Path, files: dict[str, str]) -> None:
    """A file of the right name is not enough."""
    assert not resolve_paths(["."], str(write_tree(tmp_path, files))).detected


def test_a_messy_crew(tmp_path: Path) -> None:
    """Each mistake is told at its line, with the agent that it takes out of service, and the other agents are there."""
    files = {
        "config/agents.yaml": (
            f"a:\n{AGENT}  tools: [nope]\n  max_iter: 0\nb:\n  role: R\n  goal: G\nc: text\nd:\n{AGENT}  max_itr: 3\n"
            f"  allow_delegation: yes\ne:\n{AGENT}  tools: search\nf:\n{AGENT}  tools: [1]\n"
        ),
        "config/tasks.yaml": "t:\n  description: D\n  agent: nobody\nu:\n  description: D\n  expected_output: O\n  agent: d\n",
    }
    done = run_here("check", "--format", "concise", cwd=write_tree(tmp_path, files))
    found = [line.removeprefix("config/").split(" ")[:2] for line in done.stdout.splitlines()]
    assert [(at, said.partition("[")[2].rstrip("]")) for at, said in found] == [
        ("agents.yaml:6:13:", "ORG106"), ("agents.yaml:6:13:", "ORG725"),
        ("agents.yaml:7:1:", "ORG101"), ("agents.yaml:7:1:", "ORG725"),
        ("agents.yaml:10:4:", "ORG103"), ("agents.yaml:10:4:", "ORG725"),
        ("agents.yaml:15:3:", "ORG102"),
        ("agents.yaml:21:10:", "ORG103"), ("agents.yaml:21:10:", "ORG725"),
        ("agents.yaml:26:11:", "ORG103"), ("agents.yaml:26:11:", "ORG725"),
        ("tasks.yaml:1:1:", "ORG101"),
    ]  # fmt: skip
    done = run_here("graph", cwd=tmp_path)
    assert "d  R" in done.stdout


def test_every_way_of_loading_says_the_same(tmp_path: Path) -> None:
    """Cold, in a process that stays, from the cache, and after an edit of what another file says."""
    tree = yaml_crew(tmp_path / "news")
    request = resolve_paths(["."], str(tree))
    staying = Loader(request, {}, Cache(str(tmp_path / "cache")))
    digests = set()
    for line, becomes in (("    @tool", "    @tool"), ("    def phone_book(self):", "    def phone(self):")):
        change = tree / "src/newsroom/crew.py"
        if line != becomes:
            change_line(change, line, becomes)
        cold = Loader(request, {}).load()
        digests.add(cold.digest)
        for _ in range(2):
            fresh = Loader(request, {}, Cache(str(tmp_path / "cache")))
            warm = fresh.load()
            fresh.save()
            for each in (warm, staying.load()):
                assert (each.digest, each.diagnostics) == (cold.digest, cold.diagnostics)
                tools = (
                    each.organizations["newsroom"]
                    .records.posts["reporter"]
                    .profile.capabilities.tools_primary
                )
                assert ("phone_book" in tools) == (line == becomes)
    assert len(digests) == 2


def test_jsonc_keeps_places() -> None:
    """Comments and trailing commas are passed over where they are no text."""
    text = '{\n // "no"\n "a": [1, /* , */ 2, // x\n ],\r\n "u": "http://x,]", "v": "/* no */",\n}'
    parsed = parse_jsonc(text)
    assert parsed.documents[0].value == {"a": (1, 2), "u": "http://x,]", "v": "/* no */"}
    assert unpack_mark(parsed.documents[0].marks[1]["v"][1]) == (5, 26)
    assert [each.message for each in parse_jsonc('{"a": 1} /* x').problems] == [
        "not valid JSON: the comment that begins here is not closed"
    ]
    assert parse_jsonc("[1,,]").problems


@settings(max_examples=200)
@given(
    st.lists(st.sampled_from([*'{}[]",:/*\\\n 1', "//", "/*", "*/", '"a":', "true", "\t"]), max_size=30).map(
        "".join
    )
)
def test_jsonc_is_json_where_nothing_is_added(text: str) -> None:
    """What is JSON means the same, and nothing raises."""
    parsed = parse_jsonc(text)
    try:
        value = json.loads(text)
    except ValueError:
        return
    if isinstance(value, dict | list):
        assert not parsed.problems or parsed.problems[0].row.code == "ORG006"


MERGED = """\
defaults: &defaults
  llm: openai/gpt-4o
  allow_delegation: false
more: &more {verbose: true, llm: other/model}
writer:
  <<: *defaults
  role: Writer
  goal: Write
  backstory: Writes.
editor:
  role: Editor
  goal: Edit
  backstory: Edits.
  llm: own/model
  <<: [*defaults, *more]
"""


def test_merge_keys_are_followed(tmp_path: Path) -> None:
    """As CrewAI's own parser does: own fields win, then the first mapping of a list. Templates are no agents."""
    files = {"config/agents.yaml": MERGED, "config/tasks.yaml": TASKS_OF_MERGED}
    kernel = Kernel.open(write_tree(tmp_path, files))
    assert [each.code for each in kernel.check() if each.severity == "error"] == []
    posts = kernel.organization("active").snapshot.records.posts
    models = {role: post.profile.requirements.preferred_model for role, post in posts.items()}
    host = yaml.safe_load(MERGED)
    assert models == {role: host[role]["llm"] for role in ("writer", "editor")}
    assert posts["writer"].place("requirements", "preferred_model").line == 2


TASKS_OF_MERGED = """\
draft: {description: Draft it, expected_output: A draft, agent: writer}
polish: {description: Polish it, expected_output: A text, agent: editor}
"""


@pytest.mark.parametrize("merged", ["<<: text", "<<: [1]"])
def test_a_merge_of_no_mapping_is_an_error(merged: str, tmp_path: Path) -> None:
    """CrewAI's parser refuses it too."""
    text = f"writer:\n  {merged}\n  role: Writer\n  goal: Write\n  backstory: Writes.\n"
    with pytest.raises(yaml.YAMLError):
        yaml.safe_load(text)
    files = {"config/agents.yaml": text, "config/tasks.yaml": TASKS_OF_MERGED}
    assert "ORG008" in {each.code for each in Kernel.open(write_tree(tmp_path, files)).check()}
