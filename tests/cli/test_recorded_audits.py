"""Recorded ownership audits on real git: a clean report of changed files needs one, on the command line and over HTTP."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from manifest_api import create_app
from orgkernel.kernel.kernel import Kernel
from orgkernel.kernel.stored import open_store
from orgkernel.state.location import parse_location
from tests.support.contracts import as_text, changed
from tests.support.git_repository import GitRepository
from tests.support.in_process import run_here
from tests.support.trees import copy_template

MISSION, WORK = (f"6f1c1d3a-8a52-4d0e-9a3b-00000000000{number}" for number in (1, 2))
CREW = """\
_schema: orgkernel:crew_roster
org: omega
agents:
  intake_1: {callsign: Intake, assignments: [{role: intake}]}
  planner_1: {callsign: Planner, assignments: [{role: planner}]}
  worker_1: {callsign: Worker, assignments: [{role: worker}]}
"""


class Shop:
    """A repository with an organization beside it, and a mission that was handed down to a planner and a worker."""

    def __init__(self, folder: Path, governance: str = "") -> None:
        self.folder = folder
        self.documents = folder / "acme" / "omega"
        copy_template(self.documents, "omega")
        (self.documents / "crew.yaml").write_text(CREW, encoding="utf-8")
        with (self.documents / "governance.yaml").open("a", encoding="utf-8") as file:
            file.write(governance)
        self.repository = GitRepository(folder / "shop")
        self.base = self.repository.commit({"src/cart.py": "", "src/search.py": "", "src/mail.py": ""})
        self.store = str(folder / "state.db")
        mission = self.write_brief("mission", MISSION, None, ["src/**"])
        work = self.write_brief("work", WORK, MISSION, ["src/cart.py", "src/many/**"])
        begun = ("L1", "intake", "--holder", "agent:intake_1", "--session", "i", "--depth", "0")
        assert self.run("task", "handoff", "record", *begun).returncode == 0
        for sender, layer, holder, brief, session, origin in (
            ("agent:intake_1", "L4", "agent:planner_1", mission, "p", "i"),
            ("agent:planner_1", "L5", "agent:worker_1", work, "w", "p"),
        ):
            words = ("--holder", holder, "--brief", brief, "--session", session, "--from-session", origin)
            done = self.run("task", "handoff", "record", sender, layer, *words)
            assert done.returncode == 0, done.stderr

    def write_brief(self, name: str, id: str, parent: str | None, owned: list[str]) -> str:
        values = {"id": id, "parent": parent, "mission": f"Do {name}", "verify_command": "make it", "audit_gates": [], "spec.scope.destructive": [], "spec.scope.files_owned": owned}  # fmt: skip
        path = self.folder / f"{name}.yaml"
        path.write_text(as_text(changed("brief", values)), encoding="utf-8")
        return str(path)

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        return run_here(
            *words, "--store", self.store, "--path", str(self.documents), cwd=self.repository.folder
        )

    def audit(self, *words: str, base: str | None = None) -> subprocess.CompletedProcess[str]:
        brief = str(self.folder / "work.yaml")
        return self.run(
            "ownership", "audit", "--base", base or self.base, "--brief", brief, "--org", "omega", *words
        )

    def build_report(self, head: str, files: list[str], **more: Any) -> dict[str, Any]:
        return {
            "_schema": "orgkernel:result", "agent": "worker_1", "session": "w", "status": "done_clean", "mission": "Do work",
            "started_at": "2026-05-17T12:00:00Z", "finished_at": "2026-05-17T12:10:00Z",
            "evidence": {"verify_command": "make it", "verify_exit_code": 0},
            "changes": {"base": self.base, "head": head, "files": files}, **more,
        }  # fmt: skip

    def report(self, report: dict[str, Any], *words: str) -> tuple[int, dict[str, Any] | str]:
        path = self.folder / "report.yaml"
        path.write_text(as_text(report), encoding="utf-8")
        done = self.run("task", "record", str(path), "--by", "agent:worker_1", "--format", "json", *words)
        return done.returncode, json.loads(done.stdout)["body"] if done.stdout else done.stderr

    def record(self, contract: dict[str, Any], by: str) -> dict[str, Any]:
        """Store a contract; the stored one."""
        path = self.folder / "contract.yaml"
        path.write_text(as_text(contract), encoding="utf-8")
        done = self.run("task", "record", str(path), "--by", by, "--format", "json")
        assert done.stdout, done.stderr
        body: dict[str, Any] = json.loads(done.stdout)["body"]
        return body


def correct(report: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """A correction of the result of the session."""
    return (
        report | {"_schema": "orgkernel:correction", "original": "w", "reason": "It was audited."} | changes
    )


def test_a_clean_result_of_changed_files_needs_a_clean_audit(tmp_path: Path) -> None:
    """Without one it is stored as failed; so it is after a violation, for other commits, and for unknown files."""
    shop = Shop(tmp_path)
    head = shop.repository.commit({"src/cart.py": "cart\n"})
    report = shop.build_report(head, ["src/cart.py"])
    code, stored = shop.report(report)
    assert isinstance(stored, dict)
    assert (code, stored["status"]) == (1, "failed")
    assert stored["refusal_reason"] == "ORG792 no ownership audit of the work is recorded"

    # The worker cannot audit its own work; its planner can.
    own = shop.audit("--record", "--by", "agent:worker_1")
    assert own.returncode == 2
    assert "ORG790 `agent:planner_1` handed the work down to `agent:worker_1`; `agent:worker_1` has no part in it" in own.stderr  # fmt: skip
    assert shop.audit("--record", "--by", "agent:planner_1").returncode == 0
    code, stored = shop.report(correct(report))
    assert isinstance(stored, dict)
    assert (code, stored["status"]) == (0, "done_clean")

    # The last audit counts, and it finds a file of others.
    other = shop.repository.commit({"src/mail.py": "mail\n"})
    assert shop.audit("--record").returncode == 1
    code, stored = shop.report(correct(report))
    assert isinstance(stored, dict)
    assert (code, stored["status"]) == (1, "failed")
    assert "ORG793 audit `" in stored["refusal_reason"]
    assert "found violations: WRITE_NOT_OWNED: `src/mail.py` is changed" in stored["refusal_reason"]
    # It also fails a report that states no changes.
    assert shop.report({name: value for name, value in correct(report).items() if name != "changes"})[0] == 1

    # The change is undone, and the report is still about the earlier commits.
    shop.repository.git("revert", "--no-edit", other)
    last = shop.repository.git("rev-parse", "HEAD")
    assert shop.audit("--record").returncode == 0
    code, stored = shop.report(correct(report))
    assert isinstance(stored, dict)
    assert f"and the report about `{shop.base[:12]}` to `{head[:12]}`" in stored["refusal_reason"]
    code, stored = shop.report(correct(shop.build_report(last, ["src/mail.py"])))
    assert isinstance(stored, dict)
    assert stored["refusal_reason"].endswith("found no change of `src/mail.py`")
    assert shop.report(correct(shop.build_report(last, ["src/cart.py"])))[0] == 0

    # A brief that was widened in the file is not the stored one.
    shop.write_brief("work", WORK, MISSION, ["src/**"])
    assert "is not the stored one" in shop.audit("--record").stderr
    assert run_here("audit", "verify", "--store", shop.store, cwd=tmp_path).returncode == 0


def test_only_the_governance_document_makes_audits_optional(tmp_path: Path) -> None:
    """`--no-audit` is refused by default, and `always` holds for reports that state no changes."""
    shop = Shop(tmp_path / "stated")
    head = shop.repository.commit({"src/cart.py": "cart\n"})
    report = shop.build_report(head, ["src/cart.py"])
    code, text = shop.report(report, "--no-audit")
    assert (code, "ORG794" in text) == (2, True)
    optional = Shop(tmp_path / "optional", "ownership_audits: optional\n")
    report = optional.build_report(optional.base, [])
    code, stored = optional.report(report, "--no-audit")
    assert isinstance(stored, dict)
    assert (code, stored["status"], stored["changes"]["no_audit"]) == (0, "done_clean", True)
    always = Shop(tmp_path / "always", "ownership_audits: always\n")
    report = {name: value for name, value in report.items() if name != "changes"}
    code, stored = always.report(report)
    assert isinstance(stored, dict)
    assert (code, stored["status"]) == (1, "failed")
    assert "ORG792 the brief owns files" in stored["refusal_reason"]


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    return Shop(tmp_path)


def test_two_thousand_files_are_audited_over_http_in_pages(shop: Shop) -> None:
    """No page is too large, a missing page is not clean, and the report of the worker is stored as it says."""
    files: dict[str, str | bytes | None] = {
        f"src/many/of_them/file_{number:05}.py": "x\n" for number in range(2_000)
    }
    head = shop.repository.commit(files)
    printed = shop.audit("--format", "pages")
    pages = printed.stdout.splitlines()
    assert len(pages) > 4
    assert max(map(len, pages)) < 64 * 1024
    place = parse_location("state.db", str(shop.folder))
    with open_store(place) as store:
        keys = {
            agent: store.keys.create(agent, ["report"], created_by="test", agent_id=agent, org_ids=["omega"])[
                1
            ]
            for agent in ("planner_1", "worker_1")
        }
    app = create_app(Kernel.open(shop.documents), store=place)
    with TestClient(app, base_url="http://127.0.0.1:8000", client=("127.0.0.1", 1)) as client:
        while client.get("/readyz").status_code != 200:
            pass

        def post(agent: str, path: str, body: str) -> tuple[int, Any]:
            headers = {"Authorization": f"Bearer {keys[agent]}", "Content-Type": "application/json"}
            done = client.post(f"/v1/orgs/omega/{path}", content=body, headers=headers)
            return done.status_code, done.json()

        status, answer = post("worker_1", "ownership/audits", pages[0])
        assert (status, answer["code"]) == (409, "CONTRACT_UNBOUND")
        outcomes = [post("planner_1", "ownership/audits", page)[1]["outcome"] for page in pages[:-1]]
        assert set(outcomes) == {"incomplete"}
        report = json.dumps({"contract": shop.build_report(head, sorted(files)[:500])})
        status, answer = post("worker_1", "contracts", report)
        assert (status, answer["body"]["status"]) == (201, "failed")
        assert f"has no page {len(pages)} of {len(pages)}" in answer["body"]["refusal_reason"]
        status, answer = post("planner_1", "ownership/audits", pages[-1])
        assert (status, answer["outcome"]) == (201, "clean")
        correction = correct(shop.build_report(head, sorted(files)[:500]))
        status, answer = post("worker_1", "contracts", json.dumps({"contract": correction}))
        assert (status, answer["body"]["status"]) == (201, "done_clean")
        # A worker cannot store an audit as a contract.
        forged = {"_schema": "orgkernel:ownership_audit", "audit": "a", "brief": WORK}
        assert post("worker_1", "contracts", json.dumps({"contract": forged}))[0] >= 400


def build_close(shop: Shop, head: str) -> dict[str, Any]:
    """The close of the mission, with the files that it changed."""
    return {
        "_schema": "orgkernel:mission_close", "brief": MISSION, "agent": "planner_1", "session": "p", "status": "done_clean",
        "mission": "Do mission", "started_at": "2026-05-17T12:00:00Z", "finished_at": "2026-05-17T12:30:00Z",
        "evidence": {"verify_command": "make it", "verify_exit_code": 0}, "consensus_score": 95, "regressions": [],
        "verdict": "satisfied", "workers": [{"session": "w", "agent": "worker_1", "status": "done_clean"}],
        "changes": {"base": shop.base, "head": head, "files": ["src/cart.py"]},
    }  # fmt: skip


def test_a_mission_with_changed_files_is_closed_after_its_audit(tmp_path: Path) -> None:
    """From the result of the worker to the close of the planner, on the command line and over HTTP; before its audit, a close is failed."""
    for surface in ("command", "http"):
        shop = Shop(tmp_path / surface)
        head = shop.repository.commit({"src/cart.py": "cart\n"}, brief=WORK)
        assert shop.audit("--record", "--by", "agent:planner_1").returncode == 0
        assert shop.report(shop.build_report(head, ["src/cart.py"]))[0] == 0
        close = build_close(shop, head)
        whole = (*("--brief", str(shop.folder / "mission.yaml")), "--record", "--by", "agent:intake_1")
        if surface == "command":
            early = shop.record(close, "agent:planner_1")
            assert (early["status"], "no ownership audit of the work" in early["refusal_reason"]) == ("failed", True)  # fmt: skip
            assert shop.audit(*whole).returncode == 0
            coherence = ("consensus_score", "verdict", "workers")
            corrected = {name: value for name, value in close.items() if name not in coherence}
            corrected |= {"_schema": "orgkernel:correction", "original": "p", "reason": "It was audited."}
            assert shop.record(corrected, "agent:planner_1")["status"] == "done_clean"
        else:
            assert shop.audit(*whole).returncode == 0
            place = parse_location("state.db", str(shop.folder))
            with open_store(place) as store:
                key = store.keys.create(
                    "planner", ["report"], created_by="test", agent_id="planner_1", org_ids=["omega"]
                )[1]
            app = create_app(Kernel.open(shop.documents), store=place)
            with TestClient(app, base_url="http://127.0.0.1:8000", client=("127.0.0.1", 1)) as client:
                while client.get("/readyz").status_code != 200:
                    pass
                for contract, expected in ((close, "done_clean"), (close, None)):
                    done = client.post(
                        "/v1/orgs/omega/contracts", json={"contract": contract}, headers={"Authorization": f"Bearer {key}"}
                    )  # fmt: skip
                    assert done.json().get("body", {}).get("status") == expected, done.json()
                assert done.status_code == 409, "the session has ended"
        assert shop.run("claim", "list").stdout.strip() in ("", "none")
