"""Plans of subtasks with complete answers, the same through the function, the command line and HTTP."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml
from starlette.testclient import TestClient

from manifest_api import create_app
from orgkernel.decisions.work.batches.answer import plan_text
from orgkernel.decisions.work.batches.plan import plan_batches
from orgkernel.decisions.work.batches.rules import check_batch, propose
from orgkernel.documents.records import Subtask, SubtaskPlan
from orgkernel.kernel.kernel import Kernel
from orgkernel.loading.files import decode
from tests.state.opening import opened, sqlite_at
from tests.support.in_process import run_here
from tests.support.trees import TEMPLATES

CASES: list[dict[str, Any]] = yaml.safe_load(
    (Path(__file__).parent / "batch_corpus" / "cases.yaml").read_text(encoding="utf-8")
)
EXIT_CODES = {"planned": 0, "refused": 1, "cannot_tell": 2}


def shorten(plan: dict[str, Any]) -> dict[str, Any]:
    """An answer as the cases write it; what is empty is left out."""

    def held(code: str, subtasks: list[str], files: list[str]) -> str:
        return f"{code} {', '.join(subtasks)}" + (f": {', '.join(files)}" if files else "")

    waiting = {
        each["id"]: [held(wait["code"], wait["held_by"], wait["files"]) for wait in each["waits"]]
        for each in plan["waiting"]
    }
    problems = [held(each["code"], each["subtasks"], each["files"]) for each in plan["problems"]]
    return {
        "batches": [f"{each['kind']} {', '.join(each['subtasks'])}" for each in plan["batches"]],
        "at_least": f"{plan['at_least']}{'*' if plan['is_minimal'] else ''}",
        "because": plan["because"],
        "start": plan["start"],
        **({"waiting": waiting} if waiting else {}),
        **({"problems": problems} if problems else {}),
    }


def expected(case: dict[str, Any]) -> dict[str, Any]:
    names = ("batches", "at_least", "because", "start", "waiting", "problems")
    return {name: case[name] for name in names if name in case}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_complete_answer(case: dict[str, Any]) -> None:
    """Batches, the bound, what may start, what waits for whom, and codes of findings."""
    found = plan_text(
        decode("plan", "plan", json.dumps(case["plan"]).encode()),
        case.get("done", ()),
        case.get("running", ()),
    )
    if "unknown" in case:
        assert found.unknown is not None
        assert f"subtask `{found.unknown[1]}` {found.unknown[0]}" == case["unknown"]
        assert (found.outcome, found.plan) == ("cannot_tell", None)
        return
    assert [each.code for each in found.diagnostics] == case.get("findings", [])
    assert found.outcome == case.get("outcome", "planned")
    answer = {} if found.plan is None else shorten(msgspec.to_builtins(found.plan, builtin_types=()))
    assert json.loads(json.dumps(answer)) == expected(case)


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    """A server, which answers about plans whatever organizations it holds."""
    app = create_app(Kernel.open(TEMPLATES / "software_dev"), rate=100_000)
    with TestClient(app, base_url="http://localhost", client=("127.0.0.1", 50_000)) as asking:
        yield asking


def test_same_answers_on_all_surfaces(client: TestClient, tmp_path: Path) -> None:
    """The command line and HTTP give the same answer; the exit code follows from the outcome."""
    for case in CASES:
        done, running = case.get("done", []), case.get("running", [])
        body = {"plan": case["plan"], "done": done, "running": running}
        answer = client.post("/v1/orgs/active/batches/plan", json=body)
        options = [word for option, ids in (("--done", done), ("--running", running)) for name in ids for word in (option, name)]  # fmt: skip
        (tmp_path / "plan.yaml").write_text(yaml.safe_dump(case["plan"]), encoding="utf-8")
        ran = run_here("task", "plan", "plan.yaml", *options, "--format", "json", cwd=tmp_path)
        if "unknown" in case:
            assert (answer.status_code, ran.returncode) == (422, 2), case["name"]
            assert case["unknown"] in answer.json()["detail"]
            assert case["unknown"] in ran.stderr
            continue
        for given in (answer.json(), json.loads(ran.stdout)):
            assert given["outcome"] == case.get("outcome", "planned"), case["name"]
            assert ({} if given["plan"] is None else shorten(given["plan"])) == expected(case)
            assert [each["code"] for each in given["findings"]] == case.get("findings", [])
        assert ran.returncode == EXIT_CODES[case.get("outcome", "planned")], case["name"]


def test_a_plan_as_text_has_the_places_of_its_lines(
    client: TestClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Over HTTP and on standard input."""
    text = "_schema: orgkernel:subtask_plan\nsubtasks:\n  - {id: a}\n"
    (finding,) = client.post("/v1/orgs/active/batches/plan", json={"plan": text}).json()["findings"]
    assert (finding["code"], finding["line"], finding["column"]) == ("ORG679", 3, 5)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    ran = run_here("task", "plan", "-", cwd=tmp_path)
    assert "<stdin>:3:5: error[ORG679] subtask-without-files: subtask `a` lists no files" in ran.stdout
    assert ran.returncode == 1


def test_what_is_not_sound_is_never_planned() -> None:
    """The function refuses plans with findings and unknown ids; its callers ask beforehand."""
    plan = SubtaskPlan(subtasks=(Subtask(id="a"),))
    with pytest.raises(ValueError, match="the plan is not valid"):
        plan_batches(plan)
    with pytest.raises(ValueError, match="b is not a subtask of the plan"):
        plan_batches(plan, ["b"])


CREW = """
_schema: orgkernel:organization
org_id: pharmacy
hierarchy: {head: {subordinates: [compounder, courier]}}
---
{_schema: "orgkernel:domain_catalog", domains: {mixing: {}, delivery: {}, purchase: {passthrough: true}}}
---
{_schema: "orgkernel:tool_catalog", tools: {scale: {type: browser}}}
---
{_schema: "orgkernel:role_profile", role_id: head, role_type: commander}
---
_schema: orgkernel:role_profile
role_id: compounder
capabilities: {bst_domains: [mixing], tools_primary: [scale]}
---
{_schema: "orgkernel:role_profile", role_id: courier, capabilities: {bst_domains: [delivery]}}
---
_schema: orgkernel:crew_roster
agents:
  ada: {assignments: [{role: compounder}]}
  bo: {assignments: [{role: compounder}]}
  cy: {assignments: [{role: courier}]}
  hal: {assignments: [{role: head}]}
"""
WORK: dict[str, Any] = {
    "_schema": "orgkernel:subtask_plan",
    "batch_size": 4,
    "subtasks": [
        {"id": "salve", "files": ["salve.md"], "domain": "mixing", "needs": ["scale"]},
        {"id": "syrup", "files": ["syrup.md"], "domain": "mixing"},
        {"id": "drops", "files": ["drops.md"], "domain": "mixing"},
        {"id": "order", "files": ["order.md"], "domain": "purchase"},
        {"id": "ward", "files": ["ward.md"], "domain": "delivery"},
        {"id": "notes", "files": ["notes.md"]},
    ],
}


def test_each_subtask_of_a_batch_has_its_own_agent(tmp_path: Path) -> None:
    """Dispatch names who takes each subtask, on every surface; a suspended or a busy agent takes none, and what nobody takes
    leaves its place to other work.
    """
    (tmp_path / "org.yaml").write_text(CREW, encoding="utf-8")
    (tmp_path / "work.yaml").write_text(yaml.safe_dump(WORK), encoding="utf-8")
    location = sqlite_at(tmp_path)
    with (
        opened(location) as store,
        TestClient(
            create_app(Kernel.open(tmp_path / "org.yaml"), store=location, rate=100_000),
            base_url="http://localhost",
            client=("127.0.0.1", 50_000),
        ) as asking,
    ):

        def plan() -> tuple[dict[str, str], dict[str, list[str]]]:
            answer = asking.post("/v1/orgs/pharmacy/batches/plan", json={"plan": WORK}).json()
            ran = run_here(
                "task", "plan", "work.yaml", "--org", "pharmacy", "--path", "org.yaml", "--format", "json",
                "--store", location.path, cwd=tmp_path,
            )  # fmt: skip
            printed = json.loads(ran.stdout)
            for each in (*printed["assignments"], *answer["assignments"]):
                assert each.pop("reasons")[0]["why"][0]["line"] in (14, 16)
            assert printed["assignments"] == answer["assignments"]
            assert printed["plan"] == answer["plan"]
            takers = {each["subtask"]: each["agent_id"] for each in answer["assignments"]}
            assert [each for each in answer["plan"]["start"] if each in takers] == list(takers)
            assert ("notes" in answer["plan"]["start"]) == ("notes" not in takers)
            return takers, shorten(answer["plan"])["waiting"]

        assert plan() == (
            {"salve": "ada", "syrup": "bo", "ward": "cy"},
            {"drops": ["AGENT_HAS_OTHER_SUBTASK salve, syrup", "BATCH_TOO_LARGE salve, syrup, ward, notes"],
             "order": ["NO_ROLE ", "BATCH_TOO_LARGE salve, syrup, ward, notes"]},
        )  # fmt: skip
        store.agents.add("ada", org_id="pharmacy", actor="a", lifecycle="active")
        store.agents.move("ada", "suspended", org_id="pharmacy", actor="a")
        takers, waiting = plan()
        assert takers == {"salve": "bo", "ward": "cy"}
        assert list(waiting) == ["syrup", "drops", "order"]
        store.agents.add("bo", org_id="pharmacy", actor="a", lifecycle="active")
        store.agents.move("bo", "suspended", org_id="pharmacy", actor="a")
        takers, waiting = plan()
        assert takers == {"salve": "hal", "ward": "cy"}
        assert waiting["syrup"] == ["AGENT_HAS_OTHER_SUBTASK salve"]
        for agent in ("cy", "hal"):
            store.agents.add(agent, org_id="pharmacy", actor="a", lifecycle="active")
            store.agents.move(agent, "suspended", org_id="pharmacy", actor="a")
        takers, waiting = plan()
        assert (takers, waiting["ward"]) == ({}, ["NO_AGENT "])


@pytest.mark.parametrize(
    ("files", "codes"),
    [
        ("src/*.py", []),
        ("docs/**", ["BATCH_OVERLAP"]),
        ("DOCS", ["BATCH_OVERLAP"]),
        ("*.py", ["BROAD_NOT_ALONE", "BATCH_OVERLAP"]),
        ("../docs/a.md", ["BROAD_NOT_ALONE", "BATCH_OVERLAP"]),
        ("!docs/a.md", ["BROAD_NOT_ALONE", "BATCH_OVERLAP"]),
        ("docs/**/../b.md", ["BROAD_NOT_ALONE", "BATCH_OVERLAP"]),
        ("docs/b*", []),
    ],
)
def test_a_proposed_batch_may_own_globs(files: str, codes: list[str]) -> None:
    """A brief in a proposed batch may own globs. It is broad if its files may be anywhere, or if it is unknown
    where they are.
    """
    found = check_batch([propose("one", (files,)), propose("other", ("docs/a.md",))])
    assert [each.code for each in found] == codes
    assert all(each.files == (files, "docs/a.md") for each in found if each.code == "BATCH_OVERLAP")


def test_proposed_package_manifests_come_alone() -> None:
    """The kind follows from the files, as in a plan."""
    found = check_batch([propose("one", ("web/package.json",)), propose("other", ("docs/a.md",))])
    assert [each.code for each in found] == ["TERMINAL_NOT_LAST"]
