"""The audit of changed files over HTTP says what the decision says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from manifest_api import create_app
from orgkernel.kernel.kernel import Kernel
from tests.support.contracts import changed
from tests.support.trees import copy_template

A, B = (f"6f1c1d3a-8a52-4d0e-9a3b-5d1b1a1c000{number}" for number in (1, 2))


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> TestClient:
    folder: Path = copy_template(tmp_path_factory.mktemp("files") / "acme", "omega")
    return TestClient(
        create_app(Kernel.open(folder)), base_url="http://127.0.0.1:8000", client=("127.0.0.1", 50000)
    )


def brief(id: str, *owned: str) -> dict[str, Any]:
    values = {
        "id": id,
        "spec.scope.files_owned": list(owned),
        "spec.scope.destructive": [],
        "audit_gates": [],
    }
    return changed("brief", values)


def ask(client: TestClient, **body: Any) -> Any:
    done = client.post("/v1/orgs/omega/ownership/audit", json=body)
    return done.status_code, done.json()


def test_each_worker_is_checked_against_its_brief(client: TestClient) -> None:
    """Commits are those of a branch or of the brief that they name, and sacred files are held."""
    workers = [
        {"name": "one", "brief": brief(A, "src/**")},
        {"name": "two", "brief": brief(B, "docs/**"), "has_branch": True},
    ]
    files = [{"path": path, "change": "modified"} for path in ("src/a.py", "docs/b.md", "src/auth/c.py")]
    commits = [
        {"id": "1", "paths": ["src/a.py", "docs/b.md"], "briefs": [A]},
        {"id": "2", "paths": ["src/auth/c.py"], "branches": ["two"]},
    ]
    status, answer = ask(client, files=files, commits=commits, workers=workers)
    assert (status, answer["outcome"], answer["code"]) == (200, "violations", "FILE_OWNED_BY_OTHER")
    assert [(each["code"], each["path"], each["worker"]) for each in answer["findings"]] == [
        ("FILE_OWNED_BY_OTHER", "docs/b.md", "one"),
        ("FILE_OWNED_BY_OTHER", "src/auth/c.py", "two"),
        ("SACRED_SCOPE_LOCKED", "src/auth/c.py", "two"),
    ]
    assert answer["findings"][2]["why"][0]["file"].endswith("governance.yaml")
    status, answer = ask(
        client, files=files[:1], commits=[{"id": "1", "paths": ["src/a.py"], "briefs": [A]}], workers=workers
    )
    assert (status, answer["outcome"], answer["findings"]) == (200, "clean", [])


def test_what_cannot_be_asked(client: TestClient) -> None:
    """Each has the status of what is wrong with it."""
    one = {"name": "one", "brief": brief(A, "src/**")}
    assert ask(client, files=[], workers=[])[0] == 422
    assert ask(client, files=[], workers=[one, one])[0] == 400
    assert ask(client, files=[], workers=[{"name": "one", "brief": {"_schema": "orgkernel:brief"}}])[0] == 400
    assert ask(client, files=[{"path": "a", "change": "strange"}], workers=[one])[0] == 422
    assert (
        client.post("/v1/orgs/nowhere/ownership/audit", json={"files": [], "workers": [one]}).status_code
        == 404
    )
