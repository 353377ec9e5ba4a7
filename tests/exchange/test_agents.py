"""Exports of agents: what a format cannot say never opens, hostile texts stay texts, and the same documents give the same bytes."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from orgkernel.exchange.agents.names import MAX_NAME_LENGTH, map_names
from orgkernel.exchange.exported import ConvertedFiles
from orgkernel.exchange.formats import EXPORTS
from orgkernel.exchange.marks import Mark, find_mark
from orgkernel.graph.questions import OrgView
from tests.exchange.organizations import (
    ALL_TEMPLATES,
    TEXTS,
    guarded_documents,
    hostile_documents,
    template_view,
    view_of,
)
from tests.support.trees import REPOSITORY

AGENT_FORMATS = tuple(name for name in EXPORTS if name in ("claude-code", "copilot", "crewai", "agent-spec", "agent-framework", "skills"))  # fmt: skip


@pytest.fixture(scope="module")
def guarded(tmp_path_factory) -> OrgView:
    return view_of(tmp_path_factory.mktemp("guarded"), guarded_documents())


@pytest.fixture(scope="module")
def hostile(tmp_path_factory) -> OrgView:
    return view_of(tmp_path_factory.mktemp("hostile"), hostile_documents())


def front_of(text: str) -> dict:
    """The front matter as any YAML reader sees it."""
    begin, front, _ = text.split("---\n", 2)
    assert begin == ""
    return yaml.safe_load(front)


def lost(export: ConvertedFiles) -> dict[str, int | None]:
    return {each.what: each.count for each in export.lost}


def without_comment(text: str) -> dict:
    return json.loads(text.split("\n", 1)[1])


# -- what cannot be said does not open -------------------------------------------------------------------------------


def test_claude_code_gives_whole_tools_and_asks_for_the_others(guarded: OrgView) -> None:
    """Of all the tools that the worker lists, one is plainly its own, two are of the server, and one it must ask for."""
    export = EXPORTS["claude-code"].export(guarded)
    front = front_of(export.files[".claude/agents/worker.md"])
    assert front["tools"] == ["Read", "WebSearch", "mcp__tracker__read"]
    settings = json.loads(export.files[".claude/settings.json"])
    assert settings["permissions"] == {"deny": ["NotebookEdit"], "ask": ["WebSearch"]}
    found = lost(export)
    assert found["tools that a role may use in part"] == 1
    assert found["tools that depend on circumstances"] == 3  # by time, by path, by a lock
    assert found["tools that a role lists and may not use"] == 5
    assert found["tools that allow more in the host"] == 1
    assert (
        found["tools that share a name in the host"] == 2
    )  # `Grep` is two tools here; the server has a denied one
    # `nameless`, `star` and `argument` of the worker, and what everybody has: `response`.
    assert found["tools that have no name in the host"] == 5
    assert "tools that need approval" not in found


def test_delegation_is_to_subordinates_only(guarded: OrgView) -> None:
    """The boss may start only the worker."""
    export = EXPORTS["claude-code"].export(guarded)
    assert front_of(export.files[".claude/agents/boss.md"])["tools"] == ["Agent(worker)"]
    copilot = EXPORTS["copilot"].export(guarded)
    assert front_of(copilot.files[".github/agents/boss.agent.md"])["tools"] == []
    assert lost(copilot)["tools that call agents"] == 2  # `hands_on`, and what comes with us


def test_copilot_gives_whole_tools_only(guarded: OrgView) -> None:
    """What needs approval there or is given in part is not given at all."""
    export = EXPORTS["copilot"].export(guarded)
    front = front_of(export.files[".github/agents/worker.agent.md"])
    assert front["tools"] == ["read", "tracker/read"]
    assert lost(export)["tools that need approval"] == 1


WHOLE = {
    "star",
    "argument",
    "whole",
    "claims_less",
    "shares",
    "nameless",
    "mcp__tracker",
    "mcp__tracker__read",
    "response",
}


def test_other_formats_know_our_ids_and_give_whole_tools_only(guarded: OrgView) -> None:
    """Agent Spec can ask; the others leave out what needs approval. A tool with a counterpart in CrewAI's library is that one."""
    crew = EXPORTS["crewai"].export(guarded)
    assert set(without_comment(crew.files["agents/worker.jsonc"])["tools"]) == {
        "FileReadTool" if each == "whole" else f"custom:{each}" for each in WHOLE
    }
    assert without_comment(crew.files["agents/boss.jsonc"])["tools"] == []
    assert lost(crew)["tools of the manager"] == 1
    framework = EXPORTS["agent-framework"].export(guarded)
    tools = yaml.safe_load(framework.files["agents/worker.yaml"])["tools"]
    assert {each["name"] for each in tools} == WHOLE
    spec = yaml.safe_load(EXPORTS["agent-spec"].export(guarded).files["boss.agent-spec.yaml"])
    asks = {each["name"]: each["requires_confirmation"] for each in spec["$referenced_components"].values()}
    assert asks == {**dict.fromkeys(WHOLE, False), "asked": True}


@pytest.mark.parametrize("target", AGENT_FORMATS)
def test_every_agent_says_which_tools_it_has(target: str, guarded: OrgView) -> None:
    """A file without the field would give every tool."""
    for path, text in EXPORTS[target].export(guarded).files.items():
        if path.endswith((".md", "r.jsonc")) and target != "skills":
            assert '"tools":' in text or "\ntools:" in text


# -- texts are data --------------------------------------------------------------------------------------------------


def test_hostile_descriptions_survive_as_they_are(hostile: OrgView) -> None:
    """In each format, what a reader of the format gets is the text of the organization."""
    wanted = [text.strip() for text in TEXTS]
    for target, name in (
        ("claude-code", ".claude/agents/role-{}.md"),
        ("copilot", ".github/agents/role-{}.agent.md"),
    ):
        files = EXPORTS[target].export(hostile).files
        fronts = [front_of(files[name.format(number)]) for number in range(len(TEXTS))]
        assert [front["description"] for front in fronts] == wanted
        assert {tuple(front["tools"]) for front in fronts} == {()}
    framework = EXPORTS["agent-framework"].export(hostile).files
    agents = [yaml.safe_load(framework[f"agents/role-{number}.yaml"]) for number in range(len(TEXTS))]
    assert [each["description"].lstrip() for each in agents] == wanted
    assert not any(text.startswith("=") for each in agents for text in _texts(each))
    spec = yaml.safe_load(EXPORTS["agent-spec"].export(hostile).files["top.agent-spec.yaml"])
    assert [each["description"] for each in spec["workers"]] == wanted
    assert not any("{{" in each["system_prompt"] for each in spec["workers"])
    crew = EXPORTS["crewai"].export(hostile).files
    goals = [without_comment(crew[f"agents/role-{number}.jsonc"])["goal"] for number in range(len(TEXTS))]
    assert [goal.replace("{ ", "{") for goal in goals] == wanted


def test_no_value_ends_the_front_matter_where_claude_code_ends_it(hostile: OrgView) -> None:
    """It ends it at the first three dashes, and an agent without `tools` would have every tool there."""
    files = EXPORTS["claude-code"].export(hostile).files
    for number, text in enumerate(TEXTS):
        content = files[f".claude/agents/role-{number}.md"]
        front = re.match(r"---\s*\n([\s\S]*?)---\s*\n?", content)
        assert front is not None
        read = yaml.safe_load(front[1])
        assert (read["description"], read["tools"]) == (text.strip(), [])


def _texts(value: object) -> list[str]:
    if isinstance(value, dict):
        return [text for each in value.values() for text in _texts(each)]
    if isinstance(value, list):
        return [text for each in value for text in _texts(each)]
    return [value] if isinstance(value, str) else []


@pytest.mark.parametrize("target", AGENT_FORMATS)
def test_no_file_holds_a_control_character(target: str, hostile: OrgView) -> None:
    """Nor anything that makes a line look like another; every line break is one of ours."""
    for text in EXPORTS[target].export(hostile).files.values():
        assert not set(text.replace("\n", "").replace("\t", "")) & {
            "\x07",
            "\x1b",
            "\x85",
            "\r",
            "\u2028",
            "\u202e",
        }
        assert text.endswith("\n")


@pytest.mark.parametrize("target", [*AGENT_FORMATS, "cedar"])
def test_every_file_is_marked_as_ours(target: str, hostile: OrgView) -> None:
    """Whatever its texts say."""
    export = EXPORTS[target].export(hostile)
    marks = {path: find_mark(text) for path, text in export.files.items()}
    assert {mark for path, mark in marks.items() if path not in export.unmarked} <= {Mark("hostile", target)}
    assert all(marks[path] is None for path in export.unmarked)


# -- names -----------------------------------------------------------------------------------------------------------


def test_no_two_ids_have_one_name() -> None:
    """Names depend on the set of ids, not on their order, and are never longer than hosts allow."""
    ids = [
        "a_b",
        "a-b",
        "A_b",
        "a__b",
        "_a",
        "x5f",
        "a_x2d_b",
        "builder",
        "Code_20_Reviewer",
        "a_",
        "9",
        "x5f_a",
        "a-b-648fa9",
        "a" * 90,
        "a" * 91,
        "_5ba1_",
        "_67e5_",
    ]
    names = map_names(ids)
    assert len(set(names.values())) == len(ids)
    assert map_names(reversed(ids)) == names
    assert (names["a-b"], names["builder"]) == ("a-b", "builder")
    assert all(
        name == name.casefold()
        and "--" not in name
        and name.strip("-") == name
        and len(name) <= MAX_NAME_LENGTH
        for name in names.values()
    )


def test_names_are_readable() -> None:
    """A name that people gave is recognized in the file name."""
    ids = ["SE_3a__20_Playwright_20_Tester", "_dc_ber_20_Pr_fc_fer", "C_2b__2b__20_Expert", "code_reviewer"]
    assert list(map_names(ids).values()) == [
        "se-playwright-tester",
        "uber-prufer",
        "c-expert",
        "code-reviewer",
    ]


# -- the same documents, the same bytes ------------------------------------------------------------------------------


@pytest.mark.parametrize("template", ALL_TEMPLATES)
def test_every_line_has_its_place(template: str) -> None:
    """For each format, as many places as lines, and each in a file of the organization."""
    view = template_view(template)
    for target in AGENT_FORMATS:
        export = EXPORTS[target].export(view)
        for path, text in export.files.items():
            assert len(export.places[path]) == text.count("\n"), path
            assert all(each is not None and each.line > 0 for each in export.places[path])


def test_bytes_depend_on_documents_alone() -> None:
    """Not on the seed of hashes, and not on the order in which files are read."""
    program = (
        "import hashlib,json,sys\n"
        "from tests.exchange.organizations import template_view\n"
        "from orgkernel.exchange.formats import EXPORTS\n"
        f"names={AGENT_FORMATS!r}\n"
        "view=template_view('starship')\n"
        "print(json.dumps({n:hashlib.sha256(json.dumps(dict(EXPORTS[n].export(view).files)).encode()).hexdigest() for n in names}))\n"
    )
    said = {
        subprocess.run(
            [sys.executable, "-c", program],
            env=os.environ | {"PYTHONHASHSEED": seed},
            cwd=REPOSITORY,
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(said) == 1


@pytest.mark.parametrize("target", AGENT_FORMATS)
def test_where_documents_lie_changes_nothing(target: str, tmp_path: Path) -> None:
    """Files of other names, in another order: the same bytes."""
    documents = guarded_documents()
    one = view_of(tmp_path / "one", documents)
    moved = {name if name == "org.json" else f"z{number}/{name}": each for number, (name, each) in enumerate(reversed(documents.items()))}  # fmt: skip
    assert EXPORTS[target].export(view_of(tmp_path / "two", moved)).files == EXPORTS[target].export(one).files
