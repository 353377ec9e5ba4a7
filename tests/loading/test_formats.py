"""What holds for every format of others: which one is found, hostile text, and the same answers however it is loaded."""

from __future__ import annotations

import json
import os
import pkgutil
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import uvicorn

from manifest_api import create_app
from orgkernel import Kernel
from orgkernel.loading import formats
from orgkernel.loading.cache import Cache
from orgkernel.loading.formats import FORMATS
from orgkernel.snapshots.loader import Loader
from orgkernel.snapshots.roots import resolve_paths
from tests.support.claude_trees import well_kept
from tests.support.crew_trees import json_crew, yaml_crew
from tests.support.format_trees import cards, skills, specification
from tests.support.in_process import run_here
from tests.support.patience import PATIENCE
from tests.support.trees import write_tree

TREES: dict[str, tuple[str, Callable[[Path], Path]]] = {
    "claude-code": ("claude-code", well_kept),
    "crewai-yaml": ("crewai", yaml_crew),
    "crewai-jsonc": ("crewai", json_crew),
    "agent-spec": ("agent-spec", specification),
    "a2a": ("a2a", cards),
    "skills": ("skills", skills),
}


def test_a_format_is_called_like_its_package() -> None:
    """The word under `sources` and after `--from` finds the package, and every package with a format has its word."""
    assert {name: form.name for name, form in FORMATS.items()} == {name: name for name in FORMATS}
    packages = {each.name for each in pkgutil.iter_modules(formats.__path__) if each.ispkg}
    assert packages == {name.replace("-", "_") for name in FORMATS}


@pytest.mark.parametrize("tree", TREES)
def test_a_tree_is_of_one_format(tree: str, tmp_path: Path) -> None:
    """No other format claims it; with its name it is read alike, and no other name reads anything of it as an error."""
    name, make = TREES[tree]
    make(tmp_path)
    request = resolve_paths(["."], str(tmp_path))
    assert [root.format for root in request.roots if root.areas] == [name]
    assert Kernel.open(tmp_path).check() == ()
    assert run_here("check", "--from", name, cwd=tmp_path).returncode == 0


def test_several_formats_in_one_folder(tmp_path: Path) -> None:
    """All are read, each as an organization of its own."""
    yaml_crew(tmp_path)
    cards(tmp_path)
    skills(tmp_path)
    done = run_here("check", cwd=tmp_path)
    assert done.stderr.splitlines()[:4] == [
        "format        read      place",
        "CrewAI        3 agents  .",
        "A2A           3 agents  .",
        "Agent Skills  2 skills  .",
    ]
    assert run_here("graph", cwd=tmp_path).stderr.splitlines()[:3] == [
        "note: read as CrewAI: 3 agents; `--from` chooses another format",
        "note: read as A2A: 3 agents; `--from` chooses another format",
        "note: read as Agent Skills: 2 skills; `--from` chooses another format",
    ]
    assert "3 organizations, 6 roles" in done.stderr
    assert "read as" not in run_here("check", "--from", "a2a", cwd=tmp_path).stderr
    assert "3 roles" in run_here("check", "--from", "a2a", cwd=tmp_path).stderr
    order = ["claude-code", "crewai", "agent-spec", "a2a", "skills"]
    assert [each for each in FORMATS if each in order] == order


@pytest.mark.parametrize("tree", TREES)
def test_every_way_of_loading_says_the_same(tree: str, tmp_path: Path) -> None:
    """Cold, in a process that stays, and from the cache."""
    _, make = TREES[tree]
    make(tmp_path / "tree")
    request = resolve_paths(["."], str(tmp_path / "tree"))
    cold = Loader(request, {}).load()
    staying = Loader(request, {}, Cache(str(tmp_path / "cache")))
    seen = [staying.load(), staying.load()]
    for _ in range(2):
        fresh = Loader(request, {}, Cache(str(tmp_path / "cache")))
        seen.append(fresh.load())
        fresh.save()
    for each in seen:
        assert (each.digest, each.diagnostics) == (cold.digest, cold.diagnostics)
        for org_id, organization in cold.organizations.items():
            assert list(each.organizations[org_id].columns) == list(organization.columns)


@pytest.mark.parametrize(
    ("tree", "words", "said"),
    [
        ("crewai-yaml", "who-can use tool:phone_book", "role:reporter"),
        ("agent-spec", "manifest reporter", "desk_chief"),
        ("a2a", "graph", "Route_20_Planner"),
        ("skills", "graph", "tree (tree), 0 roles"),
    ],
)
def test_the_command_answers(tree: str, words: str, said: str, tmp_path: Path) -> None:
    """In a process of its own, as in a shell."""
    TREES[tree][1](tmp_path / "tree")
    done = subprocess.run(
        [sys.executable, "-c", "from orgkernel.cli import main; main()", *words.split(), "--path", "tree"],
        cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert said in done.stdout


def test_a_server_answers_about_crews_and_cards(tmp_path: Path) -> None:
    """Real HTTP: the organizations, and a question about access, whose reason is the line of the crew."""
    yaml_crew(tmp_path / "news")
    cards(tmp_path / "agency")
    kernel = Kernel.open(tmp_path / "news", tmp_path / "agency")
    server = uvicorn.Server(uvicorn.Config(create_app(kernel), port=0, log_level="error"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        thread.join(0.01)
        assert thread.is_alive()
    port = server.servers[0].sockets[0].getsockname()[1]

    def ask(path: str, body: object = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        asked = urllib.request.Request(
            f"http://127.0.0.1:{port}{path}", data, {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(asked, timeout=PATIENCE) as answer:
            return json.load(answer)

    try:
        assert "Route_20_Planner" in json.dumps(ask("/v1/orgs/agency"))
        question = {
            "subject": {"type": "role", "id": "reporter"}, "action": {"name": "use"},
            "resource": {"type": "tool", "id": "phone_book"}, "context": {"org": "newsroom"},
        }  # fmt: skip
        answer = ask("/access/v1/evaluation", question)
        assert answer["decision"] is True
        assert "agents.yaml" in json.dumps(answer)
        question["subject"]["id"] = "desk_editor"
        assert ask("/access/v1/evaluation", question)["decision"] is False
    finally:
        server.should_exit = True
        thread.join(PATIENCE)


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("crew.jsonc", '{"agents": ["a"], "tasks": ' + "[" * 5000),
        ("crew.jsonc", '{"agents": ["a"], "tasks": [{}]' + "," * 200_000),
        ("crew.jsonc", "/*" * 200_000 + '"agents": "tasks":'),
        ("config/agents.yaml", "".join(f"a{number}:\n  role: r\n  goal: g\n" for number in range(3000))),
        ("config/agents.yaml", "a: &a\n  role: r\n  goal: g\n  backstory: b\n  tools: *a\n"),
        ("agent-card.json", '{"url": "u", "skills": [' + ",".join(['{"id": "a"}'] * 5000) + "]}"),
        ("agent-card.json", '{"url": "u", "skills": [], ' + ",".join(f'"x{number}": 1' for number in range(5000)) + "}"),
        ("a.yaml", "component_type: ManagerWorkers\nagentspec_version: 1\nname: t\nid: t\ngroup_manager: {$component_ref: t}\nworkers: [{$component_ref: t}]\n"),
    ],
)  # fmt: skip
def test_hostile_files(tmp_path: Path, file: str, text: str) -> None:
    """Depth, size, cycles and thousands of mistakes are refused, in time, with a bounded number of findings."""
    write_tree(tmp_path, {file: text})
    found = Kernel.open(tmp_path).check()
    assert len(found) <= 6100


def test_a_link_out_of_the_project_is_refused(tmp_path: Path) -> None:
    """As in any tree."""
    yaml_crew(tmp_path / "a")
    tasks = tmp_path / "a/src/newsroom/config/tasks.yaml"
    tasks.rename(tmp_path / "tasks.yaml")
    os.symlink(tmp_path / "tasks.yaml", tasks)
    assert [each.code for each in Kernel.open(tmp_path / "a").check()] == ["ORG023"]
