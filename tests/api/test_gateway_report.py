"""The report of a gateway over HTTP."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from orgkernel.kernel.kernel import Kernel
from tests.api.asking import client_of, problem, stored_client
from tests.api.keys import bearer, location_of, new_key
from tests.gateway.test_report import as_json
from tests.gateway.use import calling, write_shop

REPORT = "/v1/orgs/shop/gateway-report"


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a shop with calls of nine days, in which the server runs."""
    monkeypatch.chdir(tmp_path)
    write_shop(tmp_path)
    with calling(tmp_path, time.time()) as calls:
        calls.make("agent:ada", "tracker", "list_issues", "list_issues", days=9, times=3)
        calls.make("agent:bob", "tracker", "list_issues", "list_issues", days=1, times=6)
    return tmp_path


def test_the_report_is_that_of_the_command(shop: Path) -> None:
    """The tokens that each role is spared, the refusals by reason, and the proposals are the same as those that the command prints."""
    printed = as_json(shop)
    with stored_client(Kernel.open(str(shop)), location_of(shop / "state.db")) as client:
        answer = client.get(REPORT).json()
        assert {name: answer[name] for name in ("spared", "calls", "proposals", "notes", "org_id")} == {
            name: printed[name] for name in ("spared", "calls", "proposals", "notes", "org_id")
        }
        assert answer["spared"]["size"] > 0
        assert [each["refused"] for each in answer["calls"] if each["subject"] == "agent:bob"] == [
            {"NOT_BOUND_TO_ROLE": 6}
        ]
        assert "narrow" not in {each["kind"] for each in answer["proposals"]}
        assert [each["tool"] for each in answer["proposals"] if each["role"] == "dev"] == [
            "tracker", "web_search", "wiki",
        ]  # fmt: skip
        assert "diff" not in answer
        recent = client.get(REPORT, params={"days": 0.5}).json()
        assert recent["calls"] == []
        assert client.get(REPORT, params={"often": 7}).json()["proposals"] != answer["proposals"]


def test_a_server_without_accepted_tools_says_so(
    shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The problem names the file, and nothing is guessed. Without a store there is no report either."""
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    with stored_client(Kernel.open(str(shop)), location_of(shop / "state.db")) as client:
        answer = problem(client.get(REPORT), 409, "NO_GATEWAY")
        assert "gateway.lock.json" in answer["detail"]
        problem(client.get("/v1/orgs/other/gateway-report"), 404, "UNKNOWN_ORGANIZATION")
    with client_of(Kernel.open(str(shop))) as client:
        problem(client.get(REPORT), 409, "NO_STORE")


def test_a_key_of_another_organization_gets_no_report(shop: Path) -> None:
    """The calls of an organization are for those who may read it."""
    store = location_of(shop / "state.db")
    reporting = bearer(new_key(store, ["report"]))
    with stored_client(Kernel.open(str(shop)), store) as client:
        problem(client.get(REPORT, headers=reporting), 403, "SCOPE_MISSING")
