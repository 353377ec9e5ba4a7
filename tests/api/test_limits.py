"""Limits of calls over HTTP and MCP: the server reads the usage from its store, and lists what is left."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from jsonschema import Draft202012Validator
from starlette.testclient import TestClient

from manifest_api import build_openapi
from orgkernel import AccessRequest, Kernel
from orgkernel.cli import cli
from orgkernel.decisions.access.tool_input import encode_input
from orgkernel.operations.permits import Permits
from orgkernel.state.location import StoreLocation
from tests.api.asking import stored_client
from tests.api.keys import bearer, first_key, new_key, opened
from tests.toolbox.crew import organization

LIMITS = """\
_schema: orgkernel:access_policies
limits:
  mails: {tools: [mail], each: subject, calls: 2, per: 1h}
"""
ANN = AccessRequest("agent:ann", "read", "tool:mail")
QUESTION = {
    "subject": {"type": "agent", "id": "ann"}, "action": {"name": "read"}, "resource": {"type": "tool", "id": "mail"},
}  # fmt: skip


@pytest.fixture
def limited(tmp_path: Path) -> Kernel:
    """An organization whose agents may read two mails an hour."""
    organization(tmp_path)
    (file,) = list(tmp_path.rglob("org.yaml"))
    (file.parent / "limits.yaml").write_text(LIMITS)
    return organization(tmp_path)


@pytest.fixture
def asked(limited: Kernel, store: StoreLocation) -> Iterator[TestClient]:
    """A client of a server with a store."""
    first_key(store)
    with stored_client(limited, store) as client:
        yield client


def charge(kernel: Kernel, place: StoreLocation) -> None:
    """Another process permits one call."""
    with opened(place) as store:
        ruling = Permits(kernel, store).decide("post", ANN, encode_input({"id": "1"}))
        assert ruling.permit is not None


def test_an_evaluation_knows_what_other_processes_used(
    limited: Kernel, asked: TestClient, store: StoreLocation
) -> None:
    """Allowed while something is left, and denied with the code of the limit afterwards, alone or among others."""

    def ask() -> list[Any]:
        one = asked.post("/access/v1/evaluation", json=QUESTION).json()
        several = asked.post("/access/v1/evaluations", json={"evaluations": [QUESTION]}).json()["evaluations"]
        return [(each["decision"], each["context"]["code"]) for each in (one, *several)]

    charge(limited, store)
    assert [decision for decision, _ in ask()] == [True, True]
    charge(limited, store)
    assert ask() == [(False, "LIMIT_REACHED")] * 2


def test_an_explanation_says_what_is_left(limited: Kernel, asked: TestClient, store: StoreLocation) -> None:
    """The line of the limits in the trace has the number, without asking taking anything."""
    question = {"subject": "agent:ann", "action": "read", "resource": "tool:mail"}
    charge(limited, store)
    for _ in range(2):
        trace = asked.post("/v1/orgs/post/why", json=question).json()["trace"]
        (line,) = [each["statement"] for each in trace if each["access_layer"] == "limits"]
        assert line == "limit `mails` has 1 of 2 left before this call"


def test_mcp_knows_the_usage(limited: Kernel, asked: TestClient, store: StoreLocation) -> None:
    """`can` answers an agent as the evaluation does."""
    key = bearer(new_key(store, ["read"], agent="ann", orgs=("post",)))
    call = {
        "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": "can", "arguments": {"action": "read", "resource": "tool:mail"}},
    }  # fmt: skip
    headers = {**key, "Accept": "application/json, text/event-stream"}

    def ask() -> Any:
        return asked.post("/mcp?org=post", json=call, headers=headers).json()["result"]["structuredContent"]

    assert ask()["outcome"] == "allow"
    charge(limited, store)
    charge(limited, store)
    assert (ask()["outcome"], ask()["code"]) == ("deny", "LIMIT_REACHED")


def test_the_list_has_a_row_for_each_counter(
    limited: Kernel, asked: TestClient, store: StoreLocation
) -> None:
    """A limit that counts nothing now has one row without a counter, and pages continue."""
    (unused,) = asked.get("/v1/orgs/post/limits").json()["limits"]
    assert (unused["counter"], unused["used"], unused["left"], unused["refills_at"]) == (None, 0, 2, None)
    charge(limited, store)
    (used,) = asked.get("/v1/orgs/post/limits?limit=1").json()["limits"]
    assert (used["limit_id"], used["counter"], used["allows"]) == ("mails", "agent:ann", "2 calls per 1h")
    assert (used["used"], used["left"], used["why"]["line"]) == (1, 1, 3)
    assert used["refills_at"] > 0
    assert Draft202012Validator(
        {**build_openapi(), "$ref": "#/components/schemas/LimitStanding"}
    ).is_valid(used)  # fmt: skip


def test_the_command_lists_the_same(limited: Kernel, store: StoreLocation, tmp_path: Path) -> None:
    """`orgkernel limit list` shows the rows of the store that it is given."""
    first_key(store)
    charge(limited, store)
    where = ["--store", store.url or store.path, "--org", "post", "--path", str(tmp_path)]
    ran = CliRunner().invoke(cli, ["limit", "list", *where])
    assert (ran.exit_code, ran.output.splitlines()[0].split()) == (
        0, ["limit", "counter", "allows", "used", "left", "refills"],
    )  # fmt: skip
    assert "mails  agent:ann  2 calls per 1h  1     1" in ran.output
