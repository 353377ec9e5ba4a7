"""The rules for paths (ADR 0070): what an organization has is under its path, and a list is written where it is read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click
import pytest
from starlette.testclient import TestClient

from orgkernel.cli import cli
from tests.api.asking import problem
from tests.support.openapi_document import get_openapi

DOCUMENT = get_openapi()
INSIDE = "/v1/orgs/{org}"
# What belongs to the registry, the store or the server, and the places that standards give.
OUTSIDE = {
    "/v1/orgs", "/v1/snapshot", "/v1/diagnostics", "/v1/audit", "/v1/audit/verification", "/v1/commands/check",
    "/v1/commands/explain", "/v1/rules", "/v1/rules/{code}", "/v1/sign-in",
    "/access/v1/evaluation", "/access/v1/evaluations", "/access/v1/search/subject", "/access/v1/search/resource",
    "/access/v1/search/action", "/.well-known/authzen-configuration", "/.well-known/agent-card.json",
    "/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp", "/.well-known/ai-catalog.json", "/.well-known/jwks.json", "/api/ontology/crew-manifest",
    "/livez", "/readyz", "/version", "/metrics", "/problems/{code}",
}  # fmt: skip
# They change nothing in the store, and need the scope `read`.
QUESTIONS = {
    *(path for path in OUTSIDE if path.startswith(("/access/", "/v1/commands/"))),
    *(
        f"{INSIDE}/{name}"
        for name in (
            "why", "who-can", "what-can", "envelope", "dispatch", "handoffs/check", "grant-preview", "handle", "batches/plan", "contracts/check",
            "ownership/audit", "commands/check", "commands/explain", "bills/{bill}/fill", "bills/{bill}/next", "agents/{agent}/certificate/verify",
        )
    ),
}  # fmt: skip
# What is done to one record, or to the organization itself. Nothing is added to a list.
ACTS = {
    *(f"{INSIDE}/{name}" for name in ("alert", "watch", "agents/{agent}/rank", "agents/{agent}/lifecycle")),
    *(
        f"{INSIDE}/agents/{{agent}}/skills/{{skill}}/{act}"
        for act in ("exercise", "assess", "suspend", "resume")
    ),
    f"{INSIDE}/agents/{{agent}}/results/{{result}}/invalidate",
    *(f"{INSIDE}/agents/{{agent}}/certificate/{act}" for act in ("renew", "revoke")),
    *(f"{INSIDE}/grants/{{grant}}/{act}" for act in ("revoke", "wake")),
    f"{INSIDE}/restrictions/{{restriction}}/lift",
    *(f"{INSIDE}/requests/{{request_id}}/{act}" for act in ("approve", "deny")),
    *(f"{INSIDE}/locks/{{tool}}/{act}" for act in ("release", "break")),
    *(f"{INSIDE}/claims/{{token}}/{act}" for act in ("extend", "release", "transfer")),
}


def posts() -> dict[str, Any]:
    """The operations that are asked for with POST, by their paths."""
    return {path: methods["post"] for path, methods in DOCUMENT["paths"].items() if "post" in methods}


def test_what_an_organization_has_is_under_its_path() -> None:
    """Every other path is one of the listed ones."""
    found = {path for path in DOCUMENT["paths"] if path != INSIDE and not path.startswith(f"{INSIDE}/")}
    assert found == OUTSIDE


def test_a_list_is_written_where_it_is_read() -> None:
    """A POST is a question, an act on one record, or it adds to what GET at the same path answers."""
    lists = posts().keys() - QUESTIONS - ACTS
    assert [path for path in lists if "get" not in DOCUMENT["paths"][path]] == []
    assert posts().keys() >= QUESTIONS | ACTS
    made = {path for path, operation in posts().items() if "201" in operation["responses"]}
    assert made <= lists


def test_the_organization_is_named_in_the_path_only() -> None:
    """No route takes another one in its query or its body."""

    def names(path: str, operation: dict[str, Any]) -> Iterator[str]:
        yield from (each["name"] for each in operation.get("parameters", ()) if each["in"] == "query")
        if "requestBody" in operation:
            schema = operation["requestBody"]["content"]["application/json"]["schema"]
            for reference in schema.get("anyOf", [schema]):
                name = reference["$ref"].rpartition("/")[2]
                yield from DOCUMENT["components"]["schemas"][name]["properties"]

    for path, methods in DOCUMENT["paths"].items():
        for method, operation in methods.items():
            assert not {"org", "org_id", "organization"} & {*names(path, operation)}, (method, path)


@pytest.mark.parametrize("name", ["why", "who-can", "what-can", "dispatch", "handle"])
def test_a_question_has_the_name_of_its_command(name: str) -> None:
    """A reader who knows one finds the other."""
    assert f"{INSIDE}/{name}" in QUESTIONS
    assert cli.get_command(click.Context(cli), name) is not None


@pytest.mark.parametrize(
    "path",
    [
        "agents", "claims", "contracts", "handoffs", "envelope", "explain", "grants", "locks", "requests", "restrictions",
        "salute", "what-can", "who-can", "batches/plan", "contracts/check", "agents/clerk", "locks/household/shell/release",
        "orgs/household/files/audit",
    ],
)  # fmt: skip
def test_former_paths_do_not_exist(local: TestClient, path: str) -> None:
    """There are no aliases and no redirects."""
    problem(local.post(f"/v1/{path}", json={}), 404, "UNKNOWN_ROUTE")
