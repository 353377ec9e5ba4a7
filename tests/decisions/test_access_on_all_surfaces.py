"""The access questions of the templates and of the corpus, the same ones through every surface that answers them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from starlette.testclient import TestClient

from manifest_api import create_app
from orgkernel.decisions.access.decide import decide_access, decide_with_reasons
from orgkernel.decisions.access.layers.grants import GRANT_EXPIRED, GRANT_OUTDATED
from orgkernel.decisions.access.listing import what_can, who_can
from orgkernel.decisions.access.request import AccessRequest
from orgkernel.documents.records import Case, Circumstances
from orgkernel.kernel.kernel import Kernel
from orgkernel.project.cases import FixedState, build_context, build_request, build_state, run_cases
from tests.mcp.calling import FixedAsker, Session
from tests.support.access_corpus import CORPUS, Organization
from tests.support.in_process import run_here
from tests.support.trees import TEMPLATES

KERNEL = Kernel.open(TEMPLATES)
DOCUMENTS = [each for each in KERNEL.state.latest.tree.documents if each.kind == "decision_cases"]


class Asked:
    """A case, and whom it is asked: a template, or an organization of the corpus."""

    def __init__(self, case: Case, kernel: Kernel, folder: Path) -> None:
        self.case, self.kernel, self.folder = case, kernel, folder

    def there(self, context: Circumstances) -> Kernel:
        """The kernel with what the case says is stored, when it says it is."""
        now = build_context(context).now
        state = FixedState(build_state(self.case.given, self.case.org))
        return self.kernel.with_store(state, lambda: (now, 0))


def all_cases() -> dict[str, list[tuple[str, int]]]:
    """The name of each case of the templates and the corpus, to where it is."""
    found: dict[str, list[tuple[str, int]]] = {}
    for number, document in enumerate(DOCUMENTS):
        for place, case in enumerate(document.record.cases):  # type: ignore[attr-defined]
            found.setdefault(case.name, []).append((str(number), place))
    for name, file in CORPUS.items():
        for place, case in enumerate(file["cases"]):
            found.setdefault(case["name"], []).append((name, place))
    return found


CASES = [pytest.param(where, id=name) for name, places in all_cases().items() for where in places]


def is_stateless(where: tuple[str, int]) -> bool:
    """Whether a case says nothing of what is stored, nor of an envelope: commands read a store, and take no envelope."""
    name, number = where
    case = (
        CORPUS[name]["cases"][number]
        if name in CORPUS
        else msgspec.to_builtins(DOCUMENTS[int(name)].record.cases[number])  # type: ignore[attr-defined]
    )
    return not case.get("given") and not any(
        each["ask"].get("envelope") is not None for each in case.get("access", ())
    )


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Organization]:
    return {name: Organization(tmp_path_factory.mktemp(name), file) for name, file in CORPUS.items()}


@pytest.fixture
def asked(corpus: dict[str, Organization], where: tuple[str, int]) -> Asked:
    name, number = where
    if name in corpus:
        return Asked(corpus[name].case(number), corpus[name].kernel, corpus[name].folder)
    case = DOCUMENTS[int(name)].record.cases[number]  # type: ignore[attr-defined]
    return Asked(case, KERNEL, TEMPLATES / case.org)


def ask_view(kind: str) -> Callable[[Asked, Any], Any]:
    def ask(asked: Asked, question: Any) -> Any:
        view = getattr(asked.kernel.organization(asked.case.org).snapshot, kind)
        state = build_state(asked.case.given, asked.case.org)
        found, reasons = decide_with_reasons(view, build_request(question), state)
        assert found == decide_access(view, build_request(question), state)
        return found.outcome, tuple(reason.code for reason in reasons), found.obligations

    return ask


def ask_kernel(asked: Asked, question: Any) -> Any:
    there = asked.there(question.context)
    found = there.why(asked.case.org, build_request(question))
    told = tuple(reason.code for reason in found.reasons)
    assert found.decision == there.can(asked.case.org, build_request(question))
    assert without_missed(told) == found.decision.codes
    return found.decision.outcome, told, found.decision.obligations


def without_missed(told: tuple[str, ...]) -> tuple[str, ...]:
    """The codes of failures. A grant that expired or is outdated is reported after them, and is not a failure."""
    return tuple(code for code in told if code not in (GRANT_EXPIRED, GRANT_OUTDATED))


def said(case: Case, question: Any, *names: str) -> dict[str, Any]:
    """The circumstances as a caller over HTTP says them; the time is the server's."""
    given = msgspec.to_builtins(question.context)
    given = {name: value for name, value in given.items() if name != "at" and value is not None}
    values = {name: msgspec.to_builtins(getattr(question, name)) for name in names}
    more = {name: value for name, value in values.items() if value not in (None, "", [])}
    return {"org": case.org} | given | more


def client_of(asked: Asked, context: Circumstances) -> TestClient:
    return TestClient(
        create_app(asked.there(context)), base_url="http://127.0.0.1:8000", client=("127.0.0.1", 50000)
    )


def entity(name: str) -> dict[str, str]:
    kind, _, rest = name.partition(":")
    return {"type": kind, "id": rest}


REFUSED = ("deny", None, None)
"""A question that a surface does not understand: as far as the caller can tell, it is not allowed."""


def is_malformed(question: Any) -> bool:
    """Whether a name has no kind or no id, which only the functions can be asked about."""
    return not all(all(entity(name).values()) for name in (question.subject, question.resource))


def ask_http(asked: Asked, question: Any) -> Any:
    response = client_of(asked, question.context).post(
        "/access/v1/evaluation",
        json={
            "subject": entity(question.subject),
            "action": {"name": question.action},
            "resource": entity(question.resource),
            "context": said(asked.case, question, "on_behalf_of", "via", "envelope"),
        },
    )
    if is_malformed(question):
        assert response.status_code == 400, response.text
        return REFUSED
    assert response.status_code == 200, response.text
    answer = response.json()
    context = answer["context"]
    assert answer["decision"] is (context["outcome"] == "allow")
    told = tuple(reason["code"] for reason in context["reasons"])
    assert without_missed(told) == tuple(context["codes"])
    if context["codes"] == ["GRANT_NEEDS_REPORT"]:  # who asks without a key cannot use a grant up (ADR 0011)
        instead = ask_kernel(asked, question)
        assert any(each.startswith("consume_grant:") for each in instead[2])
        return instead
    return context["outcome"], told, tuple(context.get("obligations", ()))


def ask_cli(asked: Asked, question: Any) -> Any:
    case = asked.case
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
    words += ["--path", str(asked.folder), "--context", json.dumps(context)]
    words += ["--on-behalf-of", question.on_behalf_of] if question.on_behalf_of else []
    words += [word for each in question.via for word in ("--via", each)]
    done = run_here(*words, cwd=asked.folder)
    if is_malformed(question):
        assert done.returncode == 2, done.stderr
        return REFUSED
    found = json.loads(done.stdout)
    assert done.returncode == {"allow": 0, "deny": 1, "ask": 3, "conditional": 4}[found["outcome"]]
    told = tuple(reason["code"] for reason in found["reasons"])
    assert without_missed(told) == tuple(found["codes"])
    return found["outcome"], told, tuple(found["obligations"])


MCP = Session()


@pytest.fixture(scope="module", autouse=True)
def session() -> Iterator[None]:
    """One client for all cases."""
    yield
    MCP.close()


def ask_mcp(asked: Asked, question: Any) -> Any:
    there = asked.there(question.context)
    base = AccessRequest(
        question.subject,
        "",
        "",
        on_behalf_of=question.on_behalf_of,
        via=question.via,
        envelope=question.envelope,
    )
    context = said(asked.case, question)
    del context["org"]
    asker = FixedAsker(there, asked.case.org, base)
    found = MCP.call(asker, "can", resource=question.resource, action=question.action, context=context)
    if found.is_error:
        assert not all(entity(question.resource).values())
        return REFUSED
    answer = found.structured_content
    assert found.content[0].text.startswith(f"{answer['outcome']}: ")
    told = tuple(reason["code"] for reason in answer["reasons"])
    assert without_missed(told) == tuple(answer["codes"])
    if answer["codes"] == ["GRANT_NEEDS_REPORT"]:  # asking uses nothing up (ADR 0060)
        return ask_kernel(asked, question)
    return answer["outcome"], told, tuple(answer.get("obligations", ()))


SURFACES = {
    "graph": ask_view("graph"), "index": ask_view("index"), "kernel": ask_kernel, "http": ask_http, "cli": ask_cli,
    "mcp": ask_mcp,
}  # fmt: skip


@pytest.mark.parametrize(
    ("where", "surface"),
    [
        pytest.param(*case.values, surface, id=f"{case.id}-{surface}")
        for case in CASES
        for surface in SURFACES
        if surface != "cli" or is_stateless(case.values[0])
    ],
)
def test_every_surface_gives_the_expected_answer(asked: Asked, surface: str) -> None:
    """The outcome, and the codes and obligations where the case states them."""
    for expected in asked.case.access:
        outcome, codes, obligations = SURFACES[surface](asked, expected.ask)
        assert outcome == expected.outcome
        if (outcome, codes, obligations) != REFUSED:
            assert expected.because in (None, codes)
            assert expected.obligations in (None, obligations)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: str(Path(document.name)))
def test_the_cases_of_the_templates_hold(document: Any) -> None:
    """As `orgkernel test` runs them."""
    results = list(run_cases(KERNEL, [document]))
    assert results
    assert [result for result in results if result.failures] == []


@pytest.mark.parametrize("where", CASES)
def test_lists_agree_on_every_surface(asked: Asked) -> None:
    """Rows from functions, kernel and HTTP are the same to the last word."""
    case = asked.case
    snapshot = asked.kernel.organization(case.org).snapshot
    state = build_state(case.given, case.org)
    for who in case.who_can:
        context = build_context(who.context)
        rows = [
            msgspec.to_builtins(
                who_can(view, who.action, who.resource, context=context, state=state, kinds=who.kinds)
            )
            for view in (snapshot.graph, snapshot.index)
        ]
        body = {"action": who.action, "resource": who.resource, "kinds": list(who.kinds)}
        answer = client_of(asked, who.context).post(
            f"/v1/orgs/{case.org}/who-can", json=body | {"context": said(case, who)}
        )
        assert rows[0] == rows[1]
        assert answer.json()["rows"] == msgspec.json.decode(msgspec.json.encode(rows[0]))
    for what in case.what_can:
        request = AccessRequest(what.subject, "", "", build_context(what.context), what.on_behalf_of)
        rows = [
            msgspec.to_builtins(what_can(view, what.subject, request=request, state=state, kinds=what.kinds))
            for view in (snapshot.graph, snapshot.index)
        ]
        body = {"subject": what.subject, "kinds": list(what.kinds)}
        context = said(case, what, "on_behalf_of")
        answer = client_of(asked, what.context).post(
            f"/v1/orgs/{case.org}/what-can", json=body | {"context": context}
        )
        assert rows[0] == rows[1]
        assert answer.json()["rows"] == msgspec.json.decode(msgspec.json.encode(rows[0]))
