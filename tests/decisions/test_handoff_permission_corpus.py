"""Hand-off permissions with complete answers, the same ones through every surface."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec
import pytest
from sqlalchemy import insert
from starlette.testclient import TestClient

from manifest_api import create_app
from orgkernel.decisions.access.request import AccessContext
from orgkernel.decisions.evidence.state_view import StateView
from orgkernel.decisions.handoff.briefs import HandoffBriefs
from orgkernel.decisions.handoff.decide import decide_handoff_permission
from orgkernel.decisions.handoff.permission import HandoffQuestion
from orgkernel.decisions.ownership.claims import ClaimIndex, FileClaim
from orgkernel.decisions.work.contracts.reading import read_contract
from orgkernel.documents.records import Given
from orgkernel.kernel.kernel import Kernel
from orgkernel.kernel.stored import open_store
from orgkernel.loading.files import decode
from orgkernel.project.cases import FixedState, build_state
from orgkernel.state.location import parse_location
from orgkernel.state.rows import encode_row
from orgkernel.state.tables import file_claims
from orgkernel.state.writer import Transaction
from tests.support.in_process import run_here
from tests.support.trees import copy_template, write_tree
from tests.support.yaml_text import read_yaml_file

CORPUS = {
    path.stem: read_yaml_file(path)
    for path in sorted((Path(__file__).parent / "handoff_permission_corpus").glob("*.yaml"))
}
CASES = [
    pytest.param(name, case, id=f"{name}: {case['name']}")
    for name, file in CORPUS.items()
    for case in file["cases"]
]
EXIT = {"allow": 0, "deny": 1, "cannot_tell": 2}
NOW = 1000.0


class Organization:
    """One organization of the corpus, on disk and held by a kernel."""

    def __init__(self, folder: Path, file: Mapping[str, Any]) -> None:
        self.id: str = file["org"]
        self.briefs: Mapping[str, str] = file.get("briefs", {})
        self.beside = folder.with_name(f"{folder.name}_briefs")
        write_tree(self.beside, {f"{name}.yaml": text for name, text in self.briefs.items()})
        self.folder = (
            copy_template(folder, file["template"])
            if "template" in file
            else write_tree(folder, file["files"])
        )
        self.kernel = Kernel.open(self.folder)
        assert [each.message for each in self.kernel.check() if each.severity.value == "error"] == []
        self._clients: dict[str, TestClient] = {}

    def state(self, case: Mapping[str, Any]) -> StateView:
        state = build_state(msgspec.convert(case.get("given", {}), Given), self.id)
        return msgspec.structs.replace(state, claims=ClaimIndex(self.claims(case)))

    def claims(self, case: Mapping[str, Any]) -> Iterator[FileClaim]:
        """What a case says is claimed; the lease of what has `ended` has run out."""
        for token, said in enumerate(case.get("claims", ()), 1):
            ends = NOW if said.get("ended") else NOW + 60
            rest = {name: value for name, value in said.items() if name != "ended"}
            known = {"org_id": self.id, "token": token, "claimed_at": 0.0, "expires_at": ends}
            yield msgspec.convert({**known, **rest}, FileClaim)

    def store(self, case: Mapping[str, Any]) -> Iterator[str]:
        """Options that name a store with what a case says is claimed."""
        with TemporaryDirectory(dir=self.beside) as folder:
            place = f"{folder}/state.db"
            with open_store(parse_location(place, folder)) as store:
                for claim in self.claims(case):
                    gone = claim.expires_at <= NOW
                    lasts = time.time() + (-1 if gone else 600)
                    row = {**encode_row(claim), "expires_at": lasts, "version": 1}
                    store.context.change(partial(insert_row, row))
            yield place

    def there(self, case: Mapping[str, Any]) -> Kernel:
        """The kernel at the time of the cases, with what a case says is stored."""
        return self.kernel.with_store(FixedState(self.state(case)), lambda: (NOW, 0))

    def texts(self, case: Mapping[str, Any]) -> dict[str, str]:
        """The briefs that a case states."""
        return {part: self.briefs[case[part]] for part in ("brief", "parent_brief") if part in case}

    def read(self, case: Mapping[str, Any]) -> HandoffBriefs:
        """The same, read."""
        found = {
            part: read_contract(decode(part, part, text.encode())) for part, text in self.texts(case).items()
        }
        return HandoffBriefs(found.get("brief"), found.get("parent_brief"))

    def client(self, case: Mapping[str, Any]) -> TestClient:
        given = json.dumps([case.get("given", {}), case.get("claims", [])], sort_keys=True)
        if given not in self._clients:
            self._clients[given] = TestClient(
                create_app(self.there(case)), base_url="http://127.0.0.1:8000", client=("127.0.0.1", 50000)
            )
        return self._clients[given]


@pytest.fixture(scope="module")
def organizations(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Organization]:
    return {name: Organization(tmp_path_factory.mktemp(name), file) for name, file in CORPUS.items()}


def question_of(case: Mapping[str, Any]) -> HandoffQuestion:
    return msgspec.convert(case["ask"], HandoffQuestion)


def as_data(answer: Any) -> Any:
    return msgspec.json.decode(msgspec.json.encode(answer))


def ask_view(kind: str) -> Callable[[Organization, Mapping[str, Any]], Any]:
    def ask(organization: Organization, case: Mapping[str, Any]) -> Any:
        view = getattr(organization.kernel.state.latest.organizations[organization.id], kind)
        asked, state = question_of(case), organization.state(case)
        asked = msgspec.structs.replace(asked, context=AccessContext(now=NOW))
        return as_data(decide_handoff_permission(view, asked, state, organization.read(case)))

    return ask


def ask_kernel(organization: Organization, case: Mapping[str, Any]) -> Any:
    kernel = organization.there(case)
    return as_data(kernel.handoff_permission(organization.id, question_of(case), organization.read(case)))


def ask_http(organization: Organization, case: Mapping[str, Any]) -> Any:
    response = organization.client(case).post(
        f"/v1/orgs/{organization.id}/handoffs/check", json={**case["ask"], **organization.texts(case)}
    )
    assert response.status_code == 200, response.text
    return response.json()


def insert_row(row: dict[str, Any], transaction: Transaction) -> None:
    """A claim as a case writes it, whatever else is claimed."""
    transaction.touch()
    transaction.connection.execute(insert(file_claims).values(**row))


def ask_cli(organization: Organization, case: Mapping[str, Any]) -> Any:
    with contextmanager(organization.store)(case) if "claims" in case else nullcontext() as place:
        return run_cli(organization, case, [] if place is None else ["--store", place])


def run_cli(organization: Organization, case: Mapping[str, Any], store: list[str]) -> Any:
    asked = dict(case["ask"])
    words = [asked.pop("from"), asked.pop("to")]
    asked |= {part: organization.beside / f"{case[part]}.yaml" for part in organization.texts(case)}
    for name, value in asked.items():
        words += [f"--{name.replace('_', '-')}", *([] if value is True else [str(value)])]
    done = run_here(
        "task",
        "handoff",
        "check",
        *words,
        *store,
        "--org",
        organization.id,
        "--path",
        ".",
        "--format",
        "json",
        cwd=organization.folder,
    )
    answer = json.loads(done.stdout)
    assert (done.returncode, done.stderr) == (EXIT[answer["outcome"]], "")
    return answer


SURFACES = {
    "graph": ask_view("graph"),
    "index": ask_view("index"),
    "kernel": ask_kernel,
    "http": ask_http,
    "cli": ask_cli,
}


def shown(answer: Mapping[str, Any]) -> dict[str, Any]:
    """The part of an answer that a case states in full; what is empty is left out."""
    said = {
        "outcome": answer["outcome"],
        "code": answer["code"],
        "because": [reason["code"] for reason in answer["reasons"]],
        "findings": [[each["step"], each["code"]] for each in answer["findings"]],
        "obligations": answer["obligations"],
        "routing": answer["routing"] and [answer["routing"]["queue_mode"], answer["routing"]["session_key"]],
        "depth_left": answer["depth_left"],
    }
    return {name: value for name, value in said.items() if value not in (None, [])}


@pytest.mark.parametrize("surface", SURFACES)
@pytest.mark.parametrize(("name", "case"), CASES)
def test_case(organizations: dict[str, Organization], name: str, case: dict[str, Any], surface: str) -> None:
    """Every surface gives this answer, complete."""
    if surface == "cli" and "given" in case:
        return  # a command reads a store, and no case makes one
    assert shown(SURFACES[surface](organizations[name], case)) == case["answer"]


@pytest.mark.parametrize(("name", "case"), CASES)
def test_every_line_an_answer_rests_on_is_there(
    organizations: dict[str, Organization], name: str, case: dict[str, Any]
) -> None:
    """Each `why` leads to a line of a file of the organization."""
    organization = organizations[name]
    texts = organization.texts(case)
    for why in whys(ask_kernel(organization, case)):
        text = texts.get(why["file"]) or (organization.folder / why["file"]).read_text(encoding="utf-8")
        assert 0 < why["line"] <= len(text.splitlines()) + 1


def whys(answer: Any) -> Iterator[dict[str, Any]]:
    if isinstance(answer, dict):
        yield from answer.get("why", ())
    for each in answer.values() if isinstance(answer, dict) else answer if isinstance(answer, list) else ():
        yield from whys(each)


def test_seven_pairs_of_layers_may_hand_off() -> None:
    """No more and no fewer, whatever the file of cases says of each."""
    allowed = [
        (case["ask"]["from"], case["ask"]["to"])
        for case in CORPUS["pairs_of_omega"]["cases"]
        if case["answer"]["outcome"] == "allow"
    ]
    assert len(CORPUS["pairs_of_omega"]["cases"]) == 36
    assert allowed == [
        ("L0", "L2"), ("L0", "L3"), ("L1", "L2"), ("L1", "L3"), ("L2", "L3"), ("L3", "L4"), ("L4", "L5"),
    ]  # fmt: skip
