"""`/metrics`: what was asked, answered and refused, and the state of the server, under names that come from us."""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse_openmetrics
from prometheus_client.parser import text_string_to_metric_families

from manifest_api import create_app
from orgkernel.kernel.kernel import Kernel
from orgkernel.state.location import StoreLocation
from tests.api.asking import (
    BAD_LINE,
    GOOD_LINE,
    ORG,
    ORG_FILE,
    client_of,
    problem,
    stored_client,
)
from tests.api.keys import bearer, first_key, location_of, new_key
from tests.api.running import Server, running, until
from tests.support.trees import REPOSITORY, copy_template
from tests.support.yaml_text import read_yaml_file

QUESTION = {
    "subject": {"type": "role", "id": "codegen_specialist"},
    "action": {"name": "use"},
    "resource": {"type": "tool", "id": "text_editor"},
}
Values = dict[tuple[str, frozenset[tuple[str, str]]], float]


class Watched:
    """A server with a store, and a key for it."""

    def __init__(self, server: Server, key: str) -> None:
        self.server = server
        self.key = bearer(key)

    def values(self) -> Values:
        """All samples, by name and labels."""
        return values_of(self.server.get("/metrics", headers=self.key).text)


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    """One server for the module. Each test looks at what its own requests add."""
    folder = tmp_path_factory.mktemp("metrics")
    copy_template(folder / ORG, ORG)
    key = first_key(location_of(folder / "state.db"))
    with running(folder, folder / ORG, store=folder / "state.db") as server:
        yield Watched(server, key)


def values_of(text: str) -> Values:
    """The samples of an answer."""
    return {
        (each.name, frozenset(each.labels.items())): each.value
        for family in text_string_to_metric_families(text)
        for each in family.samples
    }


def get(values: Values, name: str, **labels: str) -> float:
    """A sample; 0 if there is none."""
    return values.get((name, frozenset(labels.items())), 0.0)


def test_requests_and_decisions_are_counted(watched: Watched) -> None:
    """By the template of the path, the status, the outcome and the surface; from the cache as well."""
    server, key = watched.server, watched.key
    before = watched.values()
    role = f"/v1/orgs/{ORG}/roles/codegen_specialist"
    for _ in range(3):
        assert server.get(role, headers=key).status_code == 200
    assert server.client.head(role, headers=key).status_code == 200
    assert server.get("/v1/orgs/nobody", headers=key).status_code == 404
    ask = {"headers": key, "json": QUESTION}
    assert server.client.post("/access/v1/evaluation", **ask).status_code == 200
    several = {"evaluations": [QUESTION, QUESTION, {"subject": 1}]}
    assert server.client.post("/access/v1/evaluations", headers=key, json=several).status_code == 200
    why = {"subject": "role:codegen_specialist", "action": "use", "resource": "tool:nothing"}
    assert server.client.post("/v1/orgs/active/why", headers=key, json=why).status_code == 200
    task = {"domain": "bugfix"}
    assert server.client.post("/v1/orgs/active/dispatch", headers=key, json=task).status_code == 200
    after = watched.values()

    def added(name: str, **labels: str) -> float:
        return get(after, name, **labels) - get(before, name, **labels)

    template = "/v1/orgs/{org}/roles/{role}"
    requests, seconds = "orgkernel_http_requests_total", "orgkernel_http_request_duration_seconds"
    assert added(requests, method="GET", route=template, status="200") == 3
    assert added(requests, method="HEAD", route=template, status="200") == 1
    assert added(requests, method="GET", route="/v1/orgs/{org}", status="404") == 1
    assert added(requests, method="POST", route="/access/v1/evaluation", status="200") == 1
    assert (
        added(f"{seconds}_count", route=template)
        == added(f"{seconds}_bucket", route=template, le="+Inf")
        == 4
    )
    assert added(f"{seconds}_sum", route=template) > 0
    assert added("orgkernel_problems_total", code="UNKNOWN_ORGANIZATION") == 1
    decisions = "orgkernel_decisions_total"
    assert added(decisions, outcome="allow", surface="evaluation") == 1
    assert added(decisions, outcome="allow", surface="evaluations") == 2
    assert added(decisions, outcome="error", surface="evaluations") == 1
    assert added(decisions, outcome="deny", surface="why") == 1
    assert added(decisions, outcome="role", surface="dispatch") == 1
    assert added("orgkernel_cache_hits_total", cache="responses") >= 2


def test_no_label_is_a_word_of_a_request(watched: Watched) -> None:
    """Requests with many different paths, methods, roles and tools create no new series."""

    def ask(number: int) -> None:
        name = f"secretname{number}"
        server.get(f"/{name}/{name}", headers=key)
        server.get(f"/v1/orgs/{name}/roles/{name}?limit={name}", headers={**key, "x-request-id": name})
        server.client.request("PROPFIND", f"/v1/orgs/{name}", headers=key)
        words = {part: {"type": name, "id": name} for part in ("subject", "resource")}
        server.client.post("/access/v1/evaluation", headers=key, json={**words, "action": {"name": name}})

    server, key = watched.server, watched.key
    ask(0)
    known = set(watched.values())
    for number in range(1, 15):
        ask(number)
    found = set(watched.values())
    assert found == known
    assert not [each for each in found if "secretname" in str(each)]
    assert {dict(labels)["method"] for name, labels in found if name == "orgkernel_http_requests_total"} <= {
        "GET", "HEAD", "POST", "other",
    }  # fmt: skip


def test_the_state_of_the_server_is_shown(watched: Watched) -> None:
    """Organizations, findings, store, connections and the process."""
    values = watched.values()
    assert get(values, "orgkernel_organizations", standing="served") == 1
    assert get(values, "orgkernel_roles") == 8
    assert get(values, "orgkernel_store_readable") == 1
    assert get(values, "orgkernel_store_budget_bytes") == 4096 * 1024 * 1024
    assert get(values, "orgkernel_store_disk_free_bytes") > 0
    assert ("orgkernel_audit_queue_length", frozenset()) in values
    assert 1 <= get(values, "orgkernel_connections") <= get(values, "orgkernel_connections_limit")
    assert get(values, "process_resident_memory_bytes") > 10_000_000
    assert get(values, "process_open_fds") > 3


def test_a_connection_that_is_closed_at_a_limit_is_counted(watched: Watched) -> None:
    """Although no request came of it."""
    before = watched.values()
    with socket.create_connection(("127.0.0.1", watched.server.port), 10) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nX: " + b"x" * 200_000)
        assert b" 431 " in connection.recv(65_536)
    name = "orgkernel_connections_closed_total"
    after = watched.values()
    assert get(after, name, reason="HEAD_TOO_LARGE") == get(before, name, reason="HEAD_TOO_LARGE") + 1


def test_a_broken_edit_shows(watched: Watched) -> None:
    """As a finding, a stale organization, and a reload that took some time."""
    before = watched.values()
    file = watched.server.folder / ORG / ORG_FILE
    good = file.read_text(encoding="utf-8")
    file.write_text(good.replace(GOOD_LINE, BAD_LINE), encoding="utf-8")
    until(lambda: get(watched.values(), "orgkernel_organizations", standing="stale"), bool)
    after = watched.values()
    assert get(after, "orgkernel_findings", severity="error") >= 1
    assert get(after, "orgkernel_reloads_total", result="ok") > get(
        before, "orgkernel_reloads_total", result="ok"
    )
    loaded, seconds = "orgkernel_last_load_timestamp_seconds", "orgkernel_reload_duration_seconds_count"
    assert get(after, loaded) > get(before, loaded)
    assert get(after, seconds) > get(before, seconds)
    file.write_text(good, encoding="utf-8")
    until(lambda: get(watched.values(), "orgkernel_organizations", standing="served"), bool)


def test_the_formats_of_prometheus(watched: Watched) -> None:
    """Its own text, and OpenMetrics for those who accept it."""
    plain = watched.server.get("/metrics", headers=watched.key)
    assert plain.headers["content-type"].startswith("text/plain; version=")
    accept = {"accept": "application/openmetrics-text;version=1.0.0,text/plain;q=0.5"}
    modern = watched.server.get("/metrics", headers={**watched.key, **accept})
    assert modern.headers["content-type"].startswith("application/openmetrics-text")
    names = {family.name for family in parse_openmetrics(modern.text)}
    assert {"orgkernel_http_requests", "orgkernel_decisions"} <= names


def names_in(expression: str) -> set[str]:
    """The metrics that an expression of Prometheus reads."""
    return set(re.findall(r"\b(?:orgkernel|process)_[a-z_]+\b", expression)) - {"process_", "orgkernel_"}


def expressions() -> dict[str, list[str]]:
    """What the alert rules and the dashboard ask Prometheus."""
    rules = read_yaml_file(REPOSITORY / "deploy/prometheus/alerts.yaml")
    board = json.loads((REPOSITORY / "deploy/grafana/orgkernel.json").read_text(encoding="utf-8"))
    return {
        "alerts": [rule["expr"] for group in rules["groups"] for rule in group["rules"]],
        "dashboard": [target["expr"] for panel in board["panels"] for target in panel["targets"]],
    }


@pytest.mark.parametrize("where", ["alerts", "dashboard"])
def test_every_metric_of_alerts_and_dashboard_exists(watched: Watched, where: str) -> None:
    """Every metric and label that an alert or the dashboard uses is measured."""
    watched.server.get("/nope", headers=watched.key)
    text = watched.server.get("/metrics", headers=watched.key).text
    sampled = {name for name, _ in values_of(text)}
    # A counter that has counted nothing yet has a header only.
    declared = set(re.findall(r"^# TYPE (\S+) ", text, re.MULTILINE))
    asked = expressions()[where]
    assert len(asked) > 10
    for expression in asked:
        names = names_in(expression)
        assert names or expression.startswith("up{"), expression
        assert names <= sampled | declared, expression
        assert expression.count("(") == expression.count(")"), expression


def test_the_page_lists_every_metric(watched: Watched) -> None:
    """And no other."""
    text = watched.server.get("/metrics", headers=watched.key).text
    page = (REPOSITORY / "docs/how-to/observe.md").read_text(encoding="utf-8")
    rows = [line.split("|")[1] for line in page.splitlines() if line.startswith("| `orgkernel_")]
    listed = {name for row in rows for name in re.findall(r"`(\w+)`", row)}
    declared = set(re.findall(r"^# TYPE (orgkernel_\S+) ", text, re.MULTILINE))
    assert listed == {name for name in declared if not name.endswith("_created")}


def test_every_alert_says_what_to_do() -> None:
    """Severity, a summary and an action."""
    rules = read_yaml_file(REPOSITORY / "deploy/prometheus/alerts.yaml")
    for group in rules["groups"]:
        for rule in group["rules"]:
            assert rule["labels"]["severity"] in ("critical", "warning")
            assert set(rule["annotations"]) == {"summary", "action"}, rule["alert"]


def test_every_code_and_word_of_the_alerts_exists() -> None:
    """Codes of problems and standings are ours."""
    from manifest_api.problems import KINDS

    said = " ".join(expressions()["alerts"])
    codes = [code for found in re.findall(r'code=~?"([^"]+)"', said) for code in found.split("|")]
    assert codes
    assert set(codes) <= set(KINDS)


def test_who_may_read_them(household: Kernel, file: StoreLocation) -> None:
    """A caller on loopback may read the metrics, and so may a key with the key scope `read` from any address."""
    reading, reporting = new_key(file, ["read"]), new_key(file, ["report"])
    with stored_client(household, file) as local:
        assert local.get("/metrics").status_code == 200
        problem(local.get("/metrics", headers={"x-forwarded-for": "10.0.0.1"}), 401, "UNAUTHENTICATED")
        problem(local.get("/metrics", headers=bearer(reporting)), 403, "SCOPE_MISSING")
        assert "orgkernel_roles" in local.get("/metrics", headers=bearer(reading)).text
        problem(local.get("/metrics?x=1"), 422, "INVALID_REQUEST")
    with stored_client(household, file, address="10.0.0.9") as stranger:
        problem(stranger.get("/metrics"), 401, "UNAUTHENTICATED")
        assert stranger.get("/metrics", headers=bearer(reading)).status_code == 200
    with stored_client(household, file, needs_key=True) as locked:
        problem(locked.get("/metrics"), 401, "UNAUTHENTICATED")


def test_a_store_that_cannot_be_read_shows_and_hides_nothing_else(household: Kernel, tmp_path: Path) -> None:
    """The metrics are what an operator looks at then."""
    (tmp_path / "state.db").write_bytes(b"no store" * 1_000)
    with stored_client(household, location_of(tmp_path / "state.db")) as local:
        values = values_of(local.get("/metrics").text)
    assert values["orgkernel_store_readable", frozenset()] == 0
    assert get(values, "orgkernel_organizations", standing="served") == 1


def test_without_a_store_and_without_our_server(templates: Kernel) -> None:
    """What is not known has no value, instead of a wrong one."""
    values: Any = values_of(client_of(templates).get("/metrics").text)
    names = {name for name, _ in values}
    assert not names & {"orgkernel_store_readable", "orgkernel_audit_queue_length", "orgkernel_connections"}
    assert create_app(templates).state.metrics is not create_app(templates).state.metrics
