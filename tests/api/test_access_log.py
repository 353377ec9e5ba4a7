"""The access log: off unless asked for, one line of JSON for whatever was answered."""

from __future__ import annotations

import json
import logging
from typing import Any

import pytest
from starlette.testclient import TestClient

from manifest_api import create_app
from orgkernel.kernel.kernel import Kernel
from tests.api.asking import ORG, ROLE, client_of


def lines(caplog: pytest.LogCaptureFixture) -> list[dict[str, Any]]:
    """What the log says."""
    return [json.loads(each.getMessage()) for each in caplog.records if each.name == "orgkernel.access"]


def test_off_by_default(templates: Kernel, caplog: pytest.LogCaptureFixture) -> None:
    """Nothing is logged of a request that nobody asked to log."""
    caplog.set_level(logging.INFO, "orgkernel.access")
    client_of(templates).get("/v1/orgs")
    assert lines(caplog) == []


def test_every_request_has_a_line(templates: Kernel, caplog: pytest.LogCaptureFixture) -> None:
    """Answers from the cache, refusals and problems as well, with what was sent."""
    caplog.set_level(logging.INFO, "orgkernel.access")
    app = create_app(templates, access_log=True)
    client = TestClient(app, base_url="http://127.0.0.1:8000", client=("127.0.0.1", 50000))
    url = f"/v1/orgs/{ORG}/roles/{ROLE}"
    answers = [
        client.get(url, headers={"accept-encoding": "identity"}),
        client.get(url, headers={"accept-encoding": "identity"}),
        client.head(url),
        client.get("/v1/orgs?limit=0"),
        client.get("/nope", headers={"host": "example.org"}),
    ]
    said = lines(caplog)
    assert [(each["method"], each["path"], each["query_bytes"], each["status"]) for each in said] == [
        ("GET", url, 0, 200), ("GET", url, 0, 200), ("HEAD", url, 0, 200), ("GET", "/v1/orgs", 7, 422),
        ("GET", "/nope", 0, 403),
    ]  # fmt: skip
    assert [each["bytes"] for each in said] == [len(each.content) for each in answers]
    assert [each["request"] for each in said] == [each.headers["x-request-id"] for each in answers]
    assert [each["caller"] for each in said] == ["loopback"] * 4 + [""]
    assert {each["client"] for each in said} == {"127.0.0.1"}
    assert all(each["milliseconds"] >= 0 and each["time"].endswith("+00:00") for each in said)


def test_no_request_writes_a_line_of_its_own(templates: Kernel, caplog: pytest.LogCaptureFixture) -> None:
    """Line ends and control characters of a path stay inside the string, and a long path is cut."""
    caplog.set_level(logging.INFO, "orgkernel.access")
    client = TestClient(create_app(templates, access_log=True), base_url="http://127.0.0.1:8000")
    client.get("/v1/orgs/a%0A%7B%22status%22:200%7D%1b[31m")
    client.get("/" + "x" * 5_000)
    messages = [each.getMessage() for each in caplog.records if each.name == "orgkernel.access"]
    assert len(messages) == 2
    assert all("\n" not in each and "\x1b" not in each and len(each) < 900 for each in messages)
    assert lines(caplog)[0]["path"] == '/v1/orgs/a\n{"status":200}\x1b[31m'
