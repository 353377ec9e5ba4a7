"""Every export is what its ecosystem's own checker accepts: one process for all formats, organizations and templates."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from skills_ref import validate

from orgkernel.exchange.agents.roster import build_roster
from orgkernel.exchange.formats import EXPORTS
from orgkernel.graph.questions import OrgView
from tests.exchange.organizations import (
    ALL_TEMPLATES,
    guarded_documents,
    hostile_documents,
    template_view,
    view_of,
)
from tests.support.depth import DEPTH
from tests.support.sampling import sample_every
from tests.support.trees import REPOSITORY, write_tree

PROGRAM = Path(__file__).with_name("checker_programs.py")
INTEROP, CREWAI = (REPOSITORY / ".venv" / name / "bin" / "python" for name in ("interop", "crewai"))
FORMATS = ("agent-spec", "agent-framework", "claude-code", "copilot", "skills")
Views = dict[str, OrgView]


@pytest.fixture(scope="module")
def views(tmp_path_factory) -> Views:
    """The templates, and the organizations made for exports."""
    folder = tmp_path_factory.mktemp("organizations")
    made = {
        "hostile": view_of(folder / "hostile", hostile_documents()),
        "guarded": view_of(folder / "guarded", guarded_documents()),
    }
    return {**{name: template_view(name) for name in ALL_TEMPLATES}, **made}


@pytest.fixture(scope="module")
def exported(views: Views, tmp_path_factory) -> Path:
    """All exports: `FORMAT/ORGANIZATION/…`."""
    folder = tmp_path_factory.mktemp("exports")
    for target in (*FORMATS, "crewai"):
        for name, view in views.items():
            (folder / target / name).mkdir(parents=True)
            write_tree(folder / target / name, EXPORTS[target].export(view).files)
    return folder


def said_by(python: Path, exported: Path, *formats: str) -> dict[str, Any]:
    command = [python, "-I", PROGRAM, exported, *formats]
    home = exported / "home"
    home.mkdir(exist_ok=True)
    environment = {"PATH": os.environ["PATH"], "HOME": str(home)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=home, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def answers(exported: Path) -> dict[str, Any]:
    if not INTEROP.exists():
        pytest.skip("the checkers of other ecosystems are not installed: run `make .venv/interop.stamp`")
    return said_by(INTEROP, exported, *FORMATS)


@pytest.mark.parametrize("target", sample_every(["claude-code", "copilot", "skills"], 3))
def test_the_linter_of_agents_has_no_word_against_them(target: str, answers: dict, views: Views) -> None:
    """Errors and warnings of skillsaw, but for its taste in descriptions, which are the organization's own words."""
    said = {name: [each.split(" ")[0] for each in found] for name, found in answers[target].items()}
    # What it says of the hostile texts is true: a direction mark is still in a description.
    assert set(said.pop("hostile")) <= {"security-invisible-unicode"}
    assert said == {name: [] for name in views if name != "hostile"}, answers[target]


def test_agent_spec_reads_the_chain_of_command(answers: dict, views: Views) -> None:
    """Every file is read, no text became a placeholder, and who manages whom is who commands whom."""
    for name, view in views.items():
        said = {key: each for key, each in answers["agent-spec"].items() if key.startswith(f"{name}/")}
        roster = build_roster(view)
        assert set(said) == {f"{name}/{roster.names[root]}.agent-spec.yaml" for root in roster.roots}
        below: dict[str, str] = {}
        for component in said.values():
            _collect(component, below)
        superiors = {role: each.superior for role, each in roster.roles.items() if each.superior}
        assert below == {roster.names[role]: roster.names[superior] for role, superior in superiors.items()}


def _collect(component: Any, below: dict[str, str]) -> str:
    assert isinstance(component, dict), component
    if "manager" not in component:
        assert component["inputs"] == []
        return component["name"]
    manager = _collect(component["manager"], below)
    for worker in component["workers"]:
        below[_collect(worker, below)] = manager
    return manager


def test_agent_framework_makes_each_agent(answers: dict, views: Views) -> None:
    """With its own factory; nothing is taken for an expression."""
    assert "expressions" not in answers["agent-framework"]
    agents = answers["agent-framework"]
    for name, view in views.items():
        for role in build_roster(view).roles.values():
            agent = agents[f"{name}/agents/{role.name}.yaml"]
            assert isinstance(agent, dict), agent
            assert agent["name"] == role.name
            assert agent["description"].lstrip() == role.description
            assert agent["tools"] == [each.id for each in role.held("given") if not each.delegates]


def test_skills_are_valid_by_the_reference_library(exported: Path) -> None:
    """Block style only, known fields only, and the name of the folder."""
    found = {str(path): validate(path.parent) for path in (exported / "skills").glob("*/skills/*/SKILL.md")}
    assert len(found) > 20
    assert {path: errors for path, errors in found.items() if errors} == {}


AGENT_FIELDS = {"role", "goal", "backstory", "allow_delegation", "tools", "llm"}


def test_a_crew_says_what_crewai_reads(exported: Path, views: Views) -> None:
    """The form that CrewAI's own checker wants. That one runs every night: with it comes a gigabyte of packages."""
    for name, view in views.items():
        folder = exported / "crewai" / name
        crew, *agents = (
            json.loads(path.read_text("utf-8").split("\n", 1)[1])
            for path in (folder / "crew.jsonc", *sorted(folder.glob("agents/*.jsonc")))
        )
        assert set(crew) <= {"name", "process", "agents", "tasks", "manager_agent"}
        members = {*crew["agents"], *([crew["manager_agent"]] if "manager_agent" in crew else [])}
        assert members == {path.stem for path in folder.glob("agents/*.jsonc")}
        assert members == set(build_roster(view).names.values())
        assert (crew["process"] == "hierarchical") == ("manager_agent" in crew)
        assert all({"description", "expected_output"} <= set(task) for task in crew["tasks"])
        assert all(AGENT_FIELDS - {"llm"} <= set(agent) <= AGENT_FIELDS for agent in agents)
        assert not any(agent["allow_delegation"] for agent in agents)


if DEPTH > 1:

    @pytest.mark.deep
    def test_crewai_accepts_each_crew(exported: Path, views: Views) -> None:
        """By its own checker."""
        if not CREWAI.exists():
            pytest.skip("CrewAI is not installed: run `make .venv/crewai.stamp`")
        agents = {name: sorted(build_roster(view).names.values()) for name, view in views.items()}
        assert said_by(CREWAI, exported, "crewai")["crewai"] == agents
