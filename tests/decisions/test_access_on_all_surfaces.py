"""Access questions of users' own cases, the same ones through every surface that answers them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner
from starlette.testclient import TestClient

from manifest_api import create_app
from orgkernel.cli import cli
from orgkernel.decisions.access.decide import decide_access
from orgkernel.decisions.access.listing import what_can, who_can
from orgkernel.decisions.access.request import AccessRequest
from orgkernel.kernel.case_state import FixedState, build_context, build_request, build_state
from orgkernel.kernel.cases import run_cases
from orgkernel.kernel.kernel import Kernel
from orgkernel.records.decision_cases import Case, Circumstances
from tests.support.trees import TEMPLATES

KERNEL = Kernel.open(TEMPLATES)
DOCUMENTS = [each for each in KERNEL.state.latest.tree.documents if each.kind == "decision_cases"]
CASES: list[Case] = [case for document in DOCUMENTS for case in document.record.cases]  # type: ignore[attr-defined]
ACCESS = [
    pytest.param(case, asked, id=f"{case.name}: {asked.ask.subject} {asked.ask.action} {asked.ask.resource}")
    for case in CASES
    for asked in case.access
]
LISTS = [pytest.param(case, id=case.name) for case in CASES if case.who_can or case.what_can]


def there(case: Case, context: Circumstances) -> Kernel:
    """The kernel with what the case says is stored, when it says it is."""
    now = build_context(context).now
    return KERNEL.with_store(FixedState(build_state(case.given, case.org)), lambda: (now, 0))


def ask_view(kind: str) -> Callable[[Case, Any], Any]:
    def ask(case: Case, question: Any) -> Any:
        view = getattr(KERNEL.organization(case.org).snapshot, kind)
        found = decide_access(view, build_request(question), build_state(case.given, case.org))
        return found.outcome, found.codes, found.obligations

    return ask


def ask_kernel(case: Case, question: Any) -> Any:
    found = there(case, question.context).decide(case.org, build_request(question))
    return found.outcome, found.codes, found.obligations


def said(case: Case, question: Any, *names: str) -> dict[str, Any]:
    """The circumstances as a caller over HTTP says them; the time is the server's."""
    given = msgspec.to_builtins(question.context)
    given = {name: value for name, value in given.items() if name != "at" and value is not None}
    more = {name: msgspec.to_builtins(getattr(question, name)) for name in names if getattr(question, name)}
    return {"org": case.org} | given | more


def client_of(case: Case, context: Circumstances) -> TestClient:
    return TestClient(
        create_app(there(case, context)), base_url="http://127.0.0.1:8000", client=("127.0.0.1", 50000)
    )


def entity(name: str) -> dict[str, str]:
    kind, _, rest = name.partition(":")
    return {"type": kind, "id": rest}


def ask_http(case: Case, question: Any) -> Any:
    response = client_of(case, question.context).post(
        "/access/v1/evaluation",
        json={
            "subject": entity(question.subject),
            "action": {"name": question.action},
            "resource": entity(question.resource),
            "context": said(case, question, "on_behalf_of", "via", "envelope"),
        },
    )
    assert response.status_code == 200, response.text
    answer = response.json()
    context = answer["context"]
    assert answer["decision"] is (context["outcome"] == "allow")
    assert [reason["code"] for reason in context["reasons"]] == context["codes"]
    return context["outcome"], tuple(context["codes"]), tuple(context.get("obligations", ()))


def ask_cli(case: Case, question: Any) -> Any:
    if case.given != type(case.given)() or question.envelope:
        pytest.skip("what is stored is asked for in the tests of the commands; they take no envelope")
    context = msgspec.to_builtins(build_context(question.context))
    words = [
        "can",
        question.subject,
        question.action,
        question.resource,
        "--org",
        case.org,
        "--format",
        "json",
    ]
    words += ["--path", str(TEMPLATES / case.org), "--context", json.dumps(context)]
    words += ["--on-behalf-of", question.on_behalf_of] if question.on_behalf_of else []
    words += [word for each in question.via for word in ("--via", each)]
    done = CliRunner().invoke(cli, words)
    found = json.loads(done.stdout)
    assert done.exit_code == {"allow": 0, "deny": 1, "ask": 3}[found["outcome"]]
    return found["outcome"], tuple(found["codes"]), tuple(found["obligations"])


SURFACES = {
    "graph": ask_view("graph"), "index": ask_view("index"), "kernel": ask_kernel, "http": ask_http, "cli": ask_cli,
}  # fmt: skip


@pytest.mark.parametrize("surface", SURFACES)
@pytest.mark.parametrize(("case", "asked"), ACCESS)
def test_every_surface_gives_the_expected_answer(case: Case, asked: Any, surface: str) -> None:
    """The outcome, and the codes and obligations where the case states them."""
    outcome, codes, obligations = SURFACES[surface](case, asked.ask)
    assert outcome == asked.outcome
    assert asked.because in (None, codes)
    assert asked.obligations in (None, obligations)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: str(Path(document.name)))
def test_the_cases_of_the_templates_hold(document: Any) -> None:
    """As `orgkernel test` runs them."""
    results = list(run_cases(KERNEL, document))
    assert results
    assert [result for result in results if result.failures] == []


@pytest.mark.parametrize("case", LISTS)
def test_lists_agree_on_every_surface(case: Case) -> None:
    """Rows from functions, kernel and HTTP are the same to the last word."""
    snapshot = KERNEL.organization(case.org).snapshot
    state = build_state(case.given, case.org)
    for who in case.who_can:
        context = build_context(who.context)
        rows = [
            msgspec.to_builtins(
                who_can(view, who.action, who.resource, context=context, state=state, kinds=who.kinds)
            )
            for view in (snapshot.graph, snapshot.index)
        ]
        body = {"org": case.org, "action": who.action, "resource": who.resource, "kinds": list(who.kinds)}
        answer = client_of(case, who.context).post("/v1/who-can", json=body | {"context": said(case, who)})
        assert rows[0] == rows[1]
        assert answer.json()["rows"] == msgspec.json.decode(msgspec.json.encode(rows[0]))
    for what in case.what_can:
        request = AccessRequest(what.subject, "", "", build_context(what.context), what.on_behalf_of)
        rows = [
            msgspec.to_builtins(what_can(view, what.subject, request=request, state=state, kinds=what.kinds))
            for view in (snapshot.graph, snapshot.index)
        ]
        body = {"org": case.org, "subject": what.subject, "kinds": list(what.kinds)}
        context = said(case, what, "on_behalf_of")
        answer = client_of(case, what.context).post("/v1/what-can", json=body | {"context": context})
        assert rows[0] == rows[1]
        assert answer.json()["rows"] == msgspec.json.decode(msgspec.json.encode(rows[0]))
