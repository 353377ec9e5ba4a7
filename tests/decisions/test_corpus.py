"""Dispatch questions with complete answers, the same ones through every surface that answers them."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner
from starlette.testclient import TestClient

from manifest_api import create_app
from orgkernel.cli import cli
from orgkernel.decisions.dispatch.by_domain import decide_dispatch
from orgkernel.decisions.dispatch.by_intent import decide_by_intent
from orgkernel.decisions.dispatch.by_text import decide_by_text
from orgkernel.graph.questions import OrgView
from orgkernel.kernel.kernel import Kernel
from tests.cli.running import ORGKERNEL
from tests.support.trees import write_tree
from tests.support.yaml_text import read_yaml_file

CORPUS = {
    path.stem: read_yaml_file(path) for path in sorted((Path(__file__).parent / "corpus").glob("*.yaml"))
}
CASES = [
    pytest.param(name, case, id=f"{name}: {case['name']}")
    for name, file in CORPUS.items()
    for case in file["cases"]
]
# What an answer says where a case leaves it out, which only those without a role may.
NOBODY = {
    "role_id": None, "role_name": None, "plans": [], "allowed_plans": [], "tools": [], "escalation": [],
    "considered": [], "count": 0,
}  # fmt: skip


# What is said about something absent, and so rests on no line.
WITHOUT_LINES = {
    "ONLY_CANDIDATE", "NO_ROLE_EQUIPPED", "DOMAIN_UNKNOWN", "NO_ROLE_SERVES", "TEXT_SMALL_TALK", "TEXT_WITHOUT_TASK",
    "TEXT_LANGUAGE", "TEXT_TOO_WEAK",
}  # fmt: skip


class Organization:
    """One organization of the corpus, on disk and held by a kernel."""

    def __init__(self, folder: Path, file: Mapping[str, Any]) -> None:
        self.folder = write_tree(folder, file["files"])
        self.id: str = file["org"]
        self.kernel = Kernel.open(self.folder)
        self.client = TestClient(
            create_app(self.kernel), base_url="http://127.0.0.1:8000", client=("127.0.0.1", 50000)
        )


@pytest.fixture(scope="module")
def organizations(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Organization]:
    return {name: Organization(tmp_path_factory.mktemp(name), file) for name, file in CORPUS.items()}


def as_data(decision: Any) -> Any:
    return msgspec.json.decode(msgspec.json.encode(decision))


def ask_view(view: OrgView, ask: dict[str, Any]) -> Any:
    how = {"needs": ask.get("needs", ()), "all_considered": ask.get("all_considered", False)}
    if "intent" in ask:
        return as_data(decide_by_intent(view, ask["intent"], **how))
    if "text" in ask:
        return as_data(decide_by_text(view, ask["text"], **how))
    return as_data(decide_dispatch(view, ask["domain"], **how))


def ask_graph(organization: Organization, ask: dict[str, Any]) -> Any:
    return ask_view(organization.kernel.organization(organization.id).snapshot.graph, ask)


def ask_index(organization: Organization, ask: dict[str, Any]) -> Any:
    return ask_view(organization.kernel.organization(organization.id).snapshot.index, ask)


def ask_kernel(organization: Organization, ask: dict[str, Any]) -> Any:
    return as_data(organization.kernel.dispatch(organization.id, **ask))


def command_line(organization: Organization, ask: dict[str, Any]) -> list[str]:
    needs = [word for tool in ask.get("needs", ()) for word in ("--needs", tool)]
    everybody = ["--all"] * ask.get("all_considered", False)
    where = ["--org", organization.id, "--path", str(organization.folder), "--format", "json"]
    task = (
        [ask["domain"]]
        if "domain" in ask
        else [f"--{what}={ask[what]}" for what in ("intent", "text") if what in ask]
    )
    return ["dispatch", *task, *where, *needs, *everybody]


def ask_cli(organization: Organization, ask: dict[str, Any]) -> Any:
    done = CliRunner().invoke(cli, command_line(organization, ask), catch_exceptions=False)
    assert (done.exit_code, done.stderr) == (0, "")
    return json.loads(done.stdout)


def ask_process(organization: Organization, ask: dict[str, Any]) -> Any:
    return json.loads(subprocess.check_output([ORGKERNEL, *command_line(organization, ask)]))


def ask_http(organization: Organization, ask: dict[str, Any]) -> Any:
    response = organization.client.post(f"/v1/orgs/{organization.id}/dispatch", json=ask)
    assert response.status_code == 200, response.text
    return response.json()


SURFACES: dict[str, Callable[[Organization, dict[str, Any]], Any]] = {
    "graph": ask_graph, "index": ask_index, "kernel": ask_kernel, "cli": ask_cli, "http": ask_http,
}  # fmt: skip


def shown(answer: Mapping[str, Any]) -> dict[str, Any]:
    """The part of an answer that a case states in full."""
    return {
        **{key: answer[key] for key in ("outcome", "domain", "role_id", "role_name", "plans", "allowed_plans", "tools", "escalation")},
        "because": [reason["code"] for reason in answer["reasons"]],
        "considered": [[other["role_id"], other["code"]] for other in answer["considered"]],
        "count": answer["considered_count"],
    }  # fmt: skip


@pytest.mark.parametrize("surface", SURFACES)
@pytest.mark.parametrize(("name", "case"), CASES)
def test_case(organizations: dict[str, Organization], name: str, case: dict[str, Any], surface: str) -> None:
    """Every surface gives the complete expected answer, which repeats the question."""
    answer = SURFACES[surface](organizations[name], case["ask"])
    assert case["answer"].keys() | NOBODY.keys() == shown(answer).keys()
    assert shown(answer) == NOBODY | case["answer"]
    assert answer["asked"] == next(
        case["ask"][what] for what in ("domain", "intent", "text") if what in case["ask"]
    )
    listed = [each["role_id"] for each in answer["candidates"]]
    assert listed == case.get("candidates", []), listed


@pytest.mark.parametrize(("name", "case"), CASES)
def test_surfaces_agree_to_the_last_word(
    organizations: dict[str, Organization], name: str, case: dict[str, Any]
) -> None:
    """Sentences and lines included; only the folder in front of a file's name differs by how it was opened."""
    organization = organizations[name]
    first = ask_index(organization, case["ask"])
    assert ask_graph(organization, case["ask"]) == first
    assert ask_kernel(organization, case["ask"]) == first
    assert ask_http(organization, case["ask"]) == first
    assert ask_cli(organization, case["ask"]) == first


@pytest.mark.parametrize("name", ["broader", "needs"])
def test_a_real_process_answers_the_same(organizations: dict[str, Organization], name: str) -> None:
    """What is tested in this process holds for the console script."""
    case = CORPUS[name]["cases"][3]
    assert ask_process(organizations[name], case["ask"]) == ask_cli(organizations[name], case["ask"])


@pytest.mark.parametrize(("name", "case"), CASES)
def test_every_line_an_answer_rests_on_is_there_and_says_so(
    organizations: dict[str, Organization], name: str, case: dict[str, Any]
) -> None:
    """Each `why` leads to a line that holds a word of its sentence; only statements about what is absent have none."""
    answer = ask_kernel(organizations[name], case["ask"])
    tree = organizations[name].kernel.state.latest.tree
    of_candidates = [reason for each in answer["candidates"] for reason in each["reasons"]]
    for statement in (*answer["reasons"], *answer["considered"], *of_candidates):
        may_be_bare = statement["code"] in WITHOUT_LINES
        assert statement["why"] or may_be_bare, statement["code"]
        for why in statement["why"]:
            line = Path(tree.paths[why["file"]]).read_text(encoding="utf-8").split("\n")[why["line"] - 1]
            words = re.findall(r"\w+", why["text"])
            said = any(re.search(rf"\b{word}\b", line) for word in words if word not in ("role", "domain"))
            assert said or why["text"].endswith(" by default"), (why, line)


def test_the_corpus_exercises_every_reason() -> None:
    """Every reason code is expected by at least one case; a code without a case is untested."""
    expected = {code for param in CASES for code in param.values[1]["answer"]["because"]}
    expected |= {code for param in CASES for _, code in param.values[1]["answer"].get("considered", ())}
    assert expected == {
        "ALIAS", "BROADER_DOMAIN", "HANDLES_DOMAIN", "ONLY_CANDIDATE", "EXACT_DOMAIN", "ROLE_TYPE", "DOMAIN_ROUTING",
        "FEWER_DOMAINS", "DECLARED_FIRST", "LACKS_TOOL", "NO_ROLE_EQUIPPED", "NO_ROLE_HANDLES", "DOMAIN_UNMAPPED",
        "DOMAIN_UNKNOWN", "SERVES_INTENT", "NO_ROLE_SERVES", "TEXT_FITS", "HIGHER_SCORE", "LOWER_SCORE", "TEXT_AMBIGUOUS",
        "TEXT_TOO_WEAK", "TEXT_WITHOUT_TASK", "TEXT_SMALL_TALK", "TEXT_LANGUAGE",
    }  # fmt: skip
