"""SALUTE reports over HTTP: who may hand one in, what is refused, what the board, the manifest and access say then."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from orgkernel.state.location import StoreLocation
from tests.api.asking import problem
from tests.api.keys import bearer, location_of, new_key, opened
from tests.api.reporting import ORG, ROLE, following, post, report_now, reporting
from tests.api.running import Server
from tests.support.salute import salute


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server whose store the tests of this module share, each with a role of its own."""
    with reporting(tmp_path_factory.mktemp("salute")) as found:
        yield found


def key_of(server: Server, scopes: list[str], agent: str | None = None) -> str:
    return new_key(location_of(server.folder / "state.db"), scopes, agent)


def board(server: Server, query: str, org: str = "*") -> list[dict[str, Any]]:
    response = server.get(f"/v1/orgs/{org}/salute?{query}")
    assert response.status_code == 200, response.text
    lines: list[dict[str, Any]] = response.json()["lines"]
    return lines


def test_a_report_is_on_the_board(server: Server) -> None:
    """In a line, with its age and whether it can be believed; whole as the role's latest."""
    now = time.time()
    body = salute("osint_specialist", "alternate", now - 30, task="read the feeds")
    assert post(server, body).json()["outcome"] == "stored"
    (line,) = board(server, "role=osint_specialist")
    assert (line["pace_level"], line["health"], line["state"], line["progress"], line["task"]) == (
        "alternate", "degraded", "active", 0.4, "read the feeds",
    )  # fmt: skip
    assert 30 <= line["age_seconds"] < 90
    # Its doctrine says four turns between two reports; they took ten seconds each, and three reports may fail.
    assert (line["is_stale"], line["stale_after_seconds"], line["ahead_seconds"]) == (False, 120, 0)
    latest = server.get(f"/v1/orgs/{ORG}/salute/osint_specialist/latest").json()
    assert latest["report"] == body
    assert latest["number"] == line["number"]


def test_the_same_report_again_changes_nothing(server: Server) -> None:
    """A caller that missed the response may send the report again."""
    body = salute("co", at=time.time())
    first = post(server, body).json()
    assert post(server, body).json() == {"outcome": "known", "number": first["number"]}


def test_reports_need_a_key_of_their_scope(server: Server) -> None:
    """On loopback too; what may read may look at the board and hand in nothing."""
    body = salute(at=time.time())
    problem(post(server, body, key=""), 401, "KEY_REQUIRED")
    reader = key_of(server, ["read"])
    problem(post(server, body, key=reader), 403, "SCOPE_MISSING")
    assert server.get("/v1/orgs/*/salute", headers=bearer(reader)).status_code == 200
    reporter = key_of(server, ["report"])
    assert post(server, body, key=reporter).status_code == 200
    problem(server.get("/v1/orgs/*/salute", headers=bearer(reporter)), 403, "SCOPE_MISSING")
    problem(server.get("/v1/orgs/*/salute/stream", headers=bearer(reporter)), 403, "SCOPE_MISSING")


def test_an_agent_reports_for_its_own_roles(server: Server) -> None:
    """And for no others, whatever the report says."""
    key = key_of(server, ["report", "read"], "butler")
    mine = salute("steward", org="household", at=time.time())
    assert post(server, mine, key=key).json()["outcome"] == "stored"
    said = problem(post(server, salute("record_keeper", org="household"), key=key), 403, "OTHER_REPORTER")
    assert "`butler`" in said["detail"]
    assert said["help"] == "it fills `steward`, `errand_runner`"
    said = problem(post(server, salute(at=time.time()), key=key), 403, "OTHER_REPORTER")
    assert said["help"] == "it fills no role of `software_dev`"
    (line,) = board(server, "role=steward", "household")
    assert line["agent_id"] == "butler"
    manifest = server.get("/v1/orgs/household/agents/butler").json()
    assert (manifest["pace_current"], manifest["latest_report"]) == ("primary", mine)
    latest = server.get("/v1/orgs/household/salute/steward/latest?agent=butler").json()
    assert latest["report"] == mine


def without(section: str, field: str) -> dict[str, Any]:
    body = salute()
    del body[section][field]
    return body


@pytest.mark.parametrize(
    ("body", "where"),
    [
        ({}, "body._schema"),
        ({**salute(), "_schema": "orgkernel:role_profile"}, "body._schema"),
        ({**salute(), "_version": "2.0"}, "body._version"),
        (without("unit", "role_id"), "body.unit.role_id"),
        (salute(state="asleep"), "body.status.state"),
        (salute(tier="panic"), "body.status.pace_level"),
        (salute(timestamp="soon"), "body.time.timestamp"),
        ({**salute(), "status": []}, "body.status"),
    ],
)
def test_a_malformed_report_is_told_what_is_wrong(server: Server, body: dict[str, Any], where: str) -> None:
    """At which field, and how to find out what fits."""
    said = problem(post(server, body), 422, "BAD_REPORT")
    assert [error["where"] for error in said["errors"]] == [where]
    assert "orgkernel schema salute_report" in said["help"]


@pytest.mark.parametrize(
    ("content", "media_type", "status", "code"),
    [
        (b"{", "application/json", 400, "BAD_JSON"),
        (b"[]", "application/json", 422, "BAD_REPORT"),
        (b'{"status": {"progress": NaN}}', "application/json", 400, "BAD_JSON"),
        (b"[" * 5_000, "application/json", 422, "BAD_REPORT"),
        (b'{"a": ' * 5_000, "application/json", 400, "BAD_JSON"),
        (b"{}", "text/plain", 415, "NOT_JSON"),
        (b'{"a": "' + b"x" * 70_000 + b'"}', "application/json", 413, "BODY_TOO_LARGE"),
    ],
)
def test_what_is_no_report_at_all_is_refused(
    server: Server, content: bytes, media_type: str, status: int, code: str
) -> None:
    """Before anything of it is looked at."""
    headers = {**bearer(server.key), "Content-Type": media_type}
    problem(server.client.post(f"/v1/orgs/{ORG}/salute", content=content, headers=headers), status, code)


def test_only_declared_roles_report(server: Server) -> None:
    """The organization may be left out where it is clear; here there are several."""
    said = problem(post(server, salute("bugfix_specialst")), 404, "UNKNOWN_ROLE")
    assert "did you mean `bugfix_specialist`?" in said["help"]
    problem(post(server, salute(org="software_deff")), 404, "UNKNOWN_ORGANIZATION")
    problem(post(server, salute(org="")), 409, "AMBIGUOUS_ACTIVE")


def test_a_report_is_handed_in_to_the_organization_that_it_names(server: Server) -> None:
    """One that names another organization is refused, and one that names none belongs to the one in the path."""
    path = f"/v1/orgs/{ORG}/salute"
    other = salute("steward", org="household", at=time.time())
    said = problem(
        server.client.post(path, json=other, headers=bearer(server.key)), 409, "OTHER_ORGANIZATION"
    )
    assert said["detail"] == f"the report is of organization `household`, but is submitted to `{ORG}`"
    unnamed = salute("analysis_specialist", org="", at=time.time())
    assert server.client.post(path, json=unnamed, headers=bearer(server.key)).status_code == 200
    (line,) = board(server, "role=analysis_specialist", ORG)
    assert line["org_id"] == ORG


def test_the_board_is_filtered_and_paged(server: Server) -> None:
    """Every line once, in the same order, however small the pages."""
    now = time.time()
    roles = ("sigint_specialist", "humint_specialist", "elint_specialist", "ops_xo")
    tiers = ("primary", "contingent", "emergency", "primary")
    for role, tier, age in zip(roles, tiers, (0, 0, 5_000, 5_000), strict=True):
        post(server, salute(role, tier, now - age, org="sigint_alpha"))
    everybody = [line["role_id"] for line in board(server, "", "sigint_alpha")]
    assert everybody == sorted(roles)
    seen: list[str] = []
    cursor = ""
    while True:
        page = server.get(f"/v1/orgs/sigint_alpha/salute?limit=1{cursor}").json()
        seen += [line["role_id"] for line in page["lines"]]
        if page["next"] is None:
            break
        cursor = f"&cursor={page['next']}"
    assert seen == everybody
    for query, found in (
        ("tier=contingent", ["humint_specialist"]),
        ("health=critical", ["elint_specialist", "humint_specialist"]),
        ("stale=true", ["elint_specialist", "ops_xo"]),
        ("stale=false&tier=primary", ["sigint_specialist"]),
        ("state=complete", []),
    ):
        assert [line["role_id"] for line in board(server, query, "sigint_alpha")] == found
    problem(server.get("/v1/orgs/*/salute?cursor=nonsense"), 409, "BAD_CURSOR")
    problem(server.get("/v1/orgs/nobody/salute"), 404, "UNKNOWN_ORGANIZATION")
    problem(server.get("/v1/orgs/*/salute?tier=panic"), 422, "INVALID_REQUEST")
    problem(server.get("/v1/orgs/*/salute?color=red"), 422, "INVALID_REQUEST")


def test_history_goes_back_page_by_page(server: Server) -> None:
    """Those stored last first."""
    numbers = [report_now(server, str(task), role="codegen_specialist") for task in range(5)]
    seen: list[int] = []
    path, cursor = f"/v1/orgs/{ORG}/salute/codegen_specialist/history?limit=2", ""
    while True:
        page = server.get(path + cursor).json()
        seen += [each["number"] for each in page["reports"]]
        if page["next"] is None:
            break
        cursor = f"&cursor={page['next']}"
    assert seen == numbers[::-1]
    problem(server.get(f"{path}&cursor=x"), 409, "BAD_CURSOR")


def test_who_has_not_reported_is_told_apart_from_who_is_not_there(server: Server) -> None:
    """One is a role without a report, the other no role."""
    problem(server.get(f"/v1/orgs/{ORG}/salute/research_xo/latest"), 404, "UNKNOWN_RECORD")
    problem(server.get(f"/v1/orgs/{ORG}/salute/nobody/latest"), 404, "UNKNOWN_ROLE")


def test_a_clock_that_is_ahead_is_said(server: Server) -> None:
    """The report counts as made when it came."""
    report_now(server, "future", role="engineering_xo", at=time.time() + 7_200)
    (line,) = board(server, "role=engineering_xo")
    assert 7_100 < line["ahead_seconds"] <= 7_200
    assert line["age_seconds"] < 60


def test_a_reported_tier_counts_in_manifests_and_decisions(server: Server) -> None:
    """From the next answer on, kept answers included; the reason names the report."""
    role = "devops_specialist"
    path = f"/v1/orgs/{ORG}/roles/{role}"
    question = {
        "subject": {"type": "role", "id": role},
        "action": {"name": "use"},
        "resource": {"type": "tool", "id": "code_execution_tool"},
        "context": {"org": ORG},
    }

    def decide() -> dict[str, Any]:
        answer: dict[str, Any] = server.client.post("/access/v1/evaluation", json=question).json()
        return answer

    before = server.get(path).json()
    assert (before["pace"]["current"], before["latest_report"]) == (None, None)
    assert decide()["decision"] is True
    report_now(server, "all is lost", role=role, tier="emergency")
    during = server.get(path).json()
    assert during["pace"]["current"] == "emergency"
    assert during["latest_report"]["activity"]["current_task"] == "all is lost"
    refused = decide()
    assert refused["decision"] is False
    assert "according to its SALUTE report of 20" in str(refused["context"])
    report_now(server, "all is well", role=role)
    assert decide()["decision"] is True
    with opened(location_of(server.folder / "state.db")) as store:
        assert store.read_view().raised.isdisjoint({f"role:{role}"})


def test_answers_with_reports_are_not_cached(server: Server) -> None:
    """A board is older with every second."""
    report_now(server, "any", role=ROLE)
    assert server.get("/v1/orgs/*/salute").headers["cache-control"] == "no-store"


def test_reports_in_postgresql(postgres_place: StoreLocation, tmp_path: Path) -> None:
    """Handed in once, on the board, in the manifest and in access, and followed from a place: as with a file."""
    with reporting(tmp_path, postgres_place) as server:
        body = salute(ROLE, "emergency", time.time(), task="fix the parser")
        first = post(server, body).json()
        assert post(server, body).json() == {"outcome": "known", "number": first["number"]}
        (line,) = board(server, f"role={ROLE}")
        assert (line["pace_level"], line["task"]) == ("emergency", "fix the parser")
        manifest = server.get(f"/v1/orgs/{ORG}/roles/{ROLE}", headers=bearer(server.key)).json()
        assert manifest["pace"]["current"] == "emergency"
        assert manifest["latest_report"] == body
        with following(server, after=first["number"]) as events:
            number = report_now(server, "mended")
            event = next(events)
            assert (event.number, event.data["task"]) == (number, "mended")
