"""An evaluation that was answered before is answered again with the same bytes, for as long as it is true."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from manifest_api import create_app
from manifest_api.response_cache import ResponseCache
from orgkernel.decisions.evidence.state_view import Restriction, StateView
from orgkernel.kernel.kernel import Kernel
from tests.api.keys import first_key, location_of
from tests.support.trees import copy_template

ORG = "software_dev"
PATH = "/access/v1/evaluation"
QUESTION = {
    "subject": {"type": "role", "id": "codegen_specialist"},
    "action": {"name": "use"},
    "resource": {"type": "tool", "id": "text_editor"},
    "context": {"org": ORG},
}


def client_of(app: Any) -> TestClient:
    """A client on loopback."""
    return TestClient(app, base_url="http://127.0.0.1:8000", client=("127.0.0.1", 50000))


def decisions_of(app: Any, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The subjects that are decided about from now on."""
    auditor, subjects = app.state.auditor, []
    begin = auditor.begin

    async def noting(org: str, request: Any, caller: Any) -> Any:
        subjects.append(request.subject)
        return await begin(org, request, caller)

    monkeypatch.setattr(auditor, "begin", noting)
    return subjects


def test_the_same_question_is_decided_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Status, headers and bytes are those of the first answer, and another question is another answer."""
    app = create_app(Kernel.open())
    decided = decisions_of(app, monkeypatch)
    client = client_of(app)
    first, again = (client.post(PATH, json=QUESTION, headers={"X-Request-ID": "one"}) for _ in range(2))
    assert (first.status_code, first.headers, first.content) == (
        again.status_code,
        again.headers,
        again.content,
    )
    other = client.post(PATH, json={**QUESTION, "subject": {"type": "role", "id": "nobody"}})
    assert (first.json()["decision"], other.json()["decision"]) == (True, False)
    assert decided == ["role:codegen_specialist", "role:nobody"]


def test_a_kept_answer_needs_a_question_that_may_be_asked() -> None:
    """Another content type, parameters and a stranger are refused although the body was answered before."""
    app = create_app(Kernel.open())
    client = client_of(app)
    body = client.post(PATH, json=QUESTION).request.content
    assert client.post(PATH, content=body, headers={"Content-Type": "text/plain"}).status_code == 400
    assert client.post(f"{PATH}?a=b", json=QUESTION).status_code == 400
    assert client.post(PATH, json=QUESTION, headers={"X-Forwarded-For": "1.2.3.4"}).status_code == 403
    assert client.post(PATH, json=QUESTION).status_code == 200


def test_other_documents_are_another_answer(tmp_path: Path) -> None:
    """After a reload nothing is answered from the version before."""
    folder = copy_template(tmp_path / ORG, ORG)
    kernel = Kernel.open(folder)
    client = client_of(create_app(kernel))
    assert client.post(PATH, json=QUESTION).json()["decision"] is True
    profile = folder / "roles" / "codegen_specialist.yaml"
    profile.write_text(
        profile.read_text(encoding="utf-8").replace("text_editor", "browser_agent"), encoding="utf-8"
    )
    kernel.reload()
    assert client.post(PATH, json=QUESTION).json()["decision"] is False


class Stored:
    """A state that another process changes."""

    def __init__(self) -> None:
        self.view = StateView()

    def read_view(self, org_id: str | None = None) -> StateView:
        """What is stored now."""
        return self.view


def test_another_state_is_another_answer() -> None:
    """What is stored by others counts from the next question on, and so does its end."""
    stored, now = Stored(), 1_000.0
    kernel = Kernel.open().with_store(stored, clock=lambda: (now, 0))
    client = client_of(create_app(kernel))

    def decision() -> bool:
        return bool(client.post(PATH, json=QUESTION).json()["decision"])

    assert decision()
    held = Restriction("r", "role:codegen_specialist", ("tool:text_editor",), expires_at=1_060.0)
    stored.view = StateView(1, restrictions={held.subject: (held,)})
    assert [decision(), decision()] == [False, False]
    now = 1_060.0
    assert decision()


def test_what_is_written_down_is_never_kept(tmp_path: Path) -> None:
    """From the moment there is a store each answer is a row of its own, also to a question answered before."""
    place = location_of(tmp_path / "state.db")
    client = client_of(create_app(Kernel.open(), store=place))
    assert "audit" not in client.post(PATH, json=QUESTION).json()["context"]
    first_key(place)
    rows = {client.post(PATH, json=QUESTION).json()["context"]["audit"] for _ in range(3)}
    assert len(rows) == 3
    assert all(rows)
    client.close()


def test_answers_kept_are_bounded() -> None:
    """The cached answers together stay within the limit of bytes."""
    app = create_app(Kernel.open())
    cache = app.state.evaluator.cache = ResponseCache(20_000)
    client = client_of(app)
    for number in range(60):
        assert (
            client.post(PATH, json={**QUESTION, "subject": {"type": "role", "id": f"r{number}"}}).status_code
            == 200
        )
    assert 0 < cache.bytes <= 20_000
    assert len(cache) < 60
