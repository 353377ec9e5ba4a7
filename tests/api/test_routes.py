"""Every route in process: what it answers, and how lists are filtered and paged."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from orgkernel.kernel.kernel import Kernel
from orgkernel.manifest.v1 import encode
from tests.api.asking import ORG, ROLE, client_of, problem
from tests.support.trees import change_line, copy_template, write_tree

MANIFEST = f"/v1/orgs/{ORG}/manifest"
DISPATCH = f"/v1/orgs/{ORG}/dispatch"


def test_organizations_are_listed(client: TestClient) -> None:
    """The list has every organization with its standing."""
    answer = client.get("/v1/orgs").json()
    assert [(each["org_id"], each["standing"], each["roles"]) for each in answer["organizations"]] == [
        ("blank", "served", 1), ("household", "served", 3), ("omega", "served", 6), ("sigint_alpha", "served", 8), ("software_dev", "served", 8),
        ("starship", "served", 16),
    ]  # fmt: skip
    assert answer["active"] is None


@pytest.mark.parametrize("limit", [1, 2, 3])
def test_organizations_have_pages(client: TestClient, limit: int) -> None:
    """Following the Link from page to page yields every organization once, in order; a made-up cursor is refused."""
    everything = client.get("/v1/orgs").json()
    assert (everything["count"], everything["next"]) == (len(everything["organizations"]), None)
    url: str | None = f"/v1/orgs?limit={limit}"
    found: list[dict[str, Any]] = []
    while url is not None:
        response = client.get(url)
        found += response.json()["organizations"]
        assert response.json()["count"] == everything["count"]
        url = response.links["next"]["url"] if "link" in response.headers else None
    assert found == everything["organizations"]
    problem(client.get("/v1/orgs", params={"cursor": "nobody"}), 409, "BAD_CURSOR")


def test_organization_has_its_chart(client: TestClient, templates: Kernel) -> None:
    """An organization's chart names every role and its superior."""
    answer = client.get(f"/v1/orgs/{ORG}").json()
    lines = {role["role_id"]: role["reports_to"] for role in answer["chart"]}
    assert list(lines) == list(templates.organization(ORG).snapshot.index.roles)
    assert lines[ROLE] == "engineering_xo"
    assert answer["snapshot"] == templates.organization(ORG).snapshot.digest
    assert "code_execution_tool" in answer["tools"]
    assert {(role["crew_tier"], role["layer"], role["findings"]) for role in answer["chart"]} == {
        ("crew", None, 0)
    }
    manifests = {role: client.get(f"/v1/orgs/{ORG}/roles/{role}").json() for role in lines}
    targets = {role["role_id"]: role["handoff_targets"] for role in answer["chart"]}
    assert targets == {
        role: [each["id"] for each in manifest["handoff_targets"]] for role, manifest in manifests.items()
    }
    assert targets[ROLE] == [] != targets["engineering_xo"]


def test_an_organization_names_findings_and_agents_without_a_role(tmp_path: Path) -> None:
    """The chart counts the findings about each role, and an agent that fills none is listed."""
    copy_template(tmp_path, "starship")
    crew = tmp_path / "crew.yaml"
    crew.write_text(
        crew.read_text(encoding="utf-8") + "  idle: {callsign: Idle}\n  tool: {crew_tier: utility}\n",
        encoding="utf-8",
    )
    change_line(tmp_path / "roles/builder.yaml", "    - codegen_module", "    - codegen_modul")
    answer = client_of(Kernel.open(tmp_path)).get("/v1/orgs/starship").json()
    assert answer["agents_without_role"] == ["idle"]
    found = {role["role_id"]: role["findings"] for role in answer["chart"] if role["findings"]}
    diagnostics = client_of(Kernel.open(tmp_path)).get("/v1/diagnostics").json()["diagnostics"]
    expected = [
        each["subject"].removeprefix("role:") for each in diagnostics if each["subject"].startswith("role:")
    ]
    assert expected
    assert found == {role: expected.count(role) for role in expected}


def test_role_is_the_kernels_manifest(client: TestClient, templates: Kernel) -> None:
    """A role's answer is the kernel's manifest, byte for byte, with the digest it came from."""
    response = client.get(f"/v1/orgs/{ORG}/roles/{ROLE}")
    assert response.content == encode(templates.manifest(ORG, ROLE))
    assert response.headers["orgkernel-snapshot"] == response.json()["snapshot"]
    assert "orgkernel-stale" not in response.headers


def test_manifest_is_the_kernels(client: TestClient, templates: Kernel) -> None:
    """An organization's manifest is the kernel's, byte for byte."""
    assert client.get(MANIFEST).content == encode(templates.crew(ORG))


@pytest.mark.parametrize(
    ("name", "value", "roles"),
    [
        ("role_type", "executive", ["engineering_xo", "research_xo"]),
        ("domain", "bugfix", ["bugfix_specialist"]),
        ("plan", "no_such_plan", []),
        ("reports_to", "research_xo", ["analysis_specialist", "osint_specialist"]),
        ("layer", "no_such_layer", []),
    ],
)
def test_filter(client: TestClient, name: str, value: str, roles: list[str]) -> None:
    """A filter leaves the roles that fit."""
    answer = client.get(MANIFEST, params={name: value}).json()
    assert [role["role_id"] for role in answer["roles"]] == roles
    assert answer["count"] == len(roles)


@pytest.mark.parametrize("name", ["plan", "tool", "skill", "department"])
def test_filter_agrees_with_manifests(client: TestClient, name: str) -> None:
    """A filter by something a role has finds exactly the roles whose manifests list it."""
    manifests = client.get(MANIFEST).json()["roles"]

    def listed(role: dict[str, Any]) -> list[str]:
        if name == "department":
            return [role["department"]["id"]] if role["department"] else []
        return [item["id"] for item in role[f"{name}s"]]

    values = sorted({value for role in manifests for value in listed(role)})
    assert values
    for value in values:
        found = client.get(MANIFEST, params={name: value}).json()["roles"]
        assert [role["role_id"] for role in found] == [
            role["role_id"] for role in manifests if value in listed(role)
        ]


def test_filters_combine(client: TestClient) -> None:
    """Every filter has to hold."""
    answer = client.get(MANIFEST, params={"role_type": "specialist", "reports_to": "engineering_xo"}).json()
    assert [role["role_id"] for role in answer["roles"]] == [
        "codegen_specialist", "bugfix_specialist", "devops_specialist",
    ]  # fmt: skip


@pytest.mark.parametrize("limit", [1, 3, 7, 8])
def test_pages_lose_nothing(client: TestClient, templates: Kernel, limit: int) -> None:
    """Following the Link from page to page yields every role once, in order."""
    url: str | None = f"{MANIFEST}?limit={limit}"
    roles: list[str] = []
    while url is not None:
        response = client.get(url)
        answer = response.json()
        assert len(answer["roles"]) <= limit
        roles += [role["role_id"] for role in answer["roles"]]
        assert ("link" in response.headers) == (answer["next"] is not None)
        url = response.links["next"]["url"] if "link" in response.headers else None
    assert roles == list(templates.organization(ORG).snapshot.index.roles)


def test_link_keeps_the_filters(client: TestClient) -> None:
    """The next page asks the same question."""
    first = client.get(MANIFEST, params={"role_type": "specialist", "limit": "2"})
    second = client.get(first.links["next"]["url"]).json()
    assert {role["role_type"] for role in second["roles"]} == {"specialist"}
    assert second["count"] == first.json()["count"]


def test_crew_manifest_is_the_active_organizations() -> None:
    """The name the specification uses answers with the manifest of the active organization."""
    kernel = Kernel.open(Path(__file__).parents[2] / "templates", active=ORG)
    with client_of(kernel) as client:
        assert client.get("/api/ontology/crew-manifest").content == client.get(MANIFEST).content
        assert client.get("/v1/orgs/active").json()["org_id"] == ORG
        assert client.get("/v1/orgs").json()["active"] == ORG


def test_dispatch(client: TestClient, templates: Kernel) -> None:
    """A dispatch is the kernel's decision, byte for byte, and not to be kept."""
    response = client.post(DISPATCH, json={"domain": "bugfix"})
    assert response.content == encode(templates.dispatch(ORG, "bugfix"))
    assert response.headers["cache-control"] == "no-store"
    assert "etag" not in response.headers


def test_dispatch_with_needs(client: TestClient, templates: Kernel) -> None:
    """Needs and the wish for all candidates reach the decision."""
    body = {"domain": "codegen", "needs": ["no_such_tool"], "all_considered": True}
    response = client.post(DISPATCH, json=body)
    assert response.json()["outcome"] == "not_applicable"
    wanted = templates.dispatch(ORG, "codegen", needs=["no_such_tool"], all_considered=True)
    assert response.content == encode(wanted)


def test_dispatch_of_an_unknown_domain_passes_through(client: TestClient) -> None:
    """An unknown domain gets the outcome `not_applicable`, not an error."""
    answer = client.post(DISPATCH, json={"domain": "bugfx"}).json()
    assert answer["outcome"] == "not_applicable"
    assert [reason["code"] for reason in answer["reasons"]] == ["DOMAIN_UNKNOWN"]


@pytest.mark.parametrize(
    "path",
    ["/v1/orgs", f"/v1/orgs/{ORG}", MANIFEST, f"/v1/orgs/{ORG}/roles/{ROLE}", "/v1/diagnostics", "/v1/snapshot", "/livez",
     "/readyz", "/version", "/", "/page/page.js", "/docs", "/openapi.json", "/problems/UNKNOWN_ROLE"],
)  # fmt: skip
def test_head(client: TestClient, path: str) -> None:
    """HEAD answers as GET does, without the body."""
    same = {"X-Request-ID": "one"}
    got, asked = client.get(path, headers=same), client.head(path, headers=same)
    assert (asked.status_code, asked.content) == (200, b"")
    assert asked.headers == got.headers
    assert got.content


def test_diagnostics_have_pages(tmp_path: Path) -> None:
    """Pages of findings lose nothing, and a cursor of another version is refused."""
    files = {f"roles/r{number}.yaml": "_schema: orgkernel:role_profile\nrole_id: 5\n" for number in range(7)}
    kernel = Kernel.open(write_tree(tmp_path, files))
    client = client_of(kernel)
    everything = client.get("/v1/diagnostics").json()
    assert everything["count"] == len(everything["diagnostics"]) == len(kernel.check()) >= 7
    found: list[dict[str, Any]] = []
    url: str | None = "/v1/diagnostics?limit=3"
    last = ""
    while url is not None:
        response = client.get(url)
        found += response.json()["diagnostics"]
        last = response.json()["next"] or last
        url = response.links["next"]["url"] if "link" in response.headers else None
    assert found == everything["diagnostics"]
    for cursor in ("x", "-1", "0", f"{last}0", "é-3", "9" * 100):
        problem(client.get("/v1/diagnostics", params={"cursor": cursor}), 409, "BAD_CURSOR")
    (tmp_path / "roles/r0.yaml").write_text("", encoding="utf-8")
    kernel.reload()
    problem(client.get("/v1/diagnostics", params={"cursor": last}), 409, "BAD_CURSOR")


def test_version(client: TestClient) -> None:
    """The version names the program and the manifest's format."""
    assert client.get("/version").json().keys() == {"program", "version", "crew_manifest"}
