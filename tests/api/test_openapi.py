"""The OpenAPI document: what clients and the golden file hold on to."""

from __future__ import annotations

import json
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from starlette.testclient import TestClient

from manifest_api import build_openapi
from tests.api.asking import ORG, ROLE
from tests.support.openapi_document import get_openapi
from tests.support.trees import REPOSITORY

GOLDEN = REPOSITORY / "tests" / "golden" / "openapi"


def walk(value: Any) -> Iterator[Any]:
    """Every value inside a value."""
    yield value
    if isinstance(value, dict):
        for each in value.values():
            yield from walk(each)
    elif isinstance(value, list):
        for each in value:
            yield from walk(each)


def operations() -> list[tuple[str, str, dict[str, Any]]]:
    """Every method, path and operation."""
    return [
        (method, path, operation)
        for path, methods in get_openapi()["paths"].items()
        for method, operation in methods.items()
    ]


def test_document_is_the_golden_files() -> None:
    """The document is the one that was reviewed, a file for each tag; `make regenerate` writes new ones."""
    parts = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in GOLDEN.glob("*.json")}
    document: dict[str, Any] = {**parts.pop("info"), "components": parts.pop("components"), "paths": {}}
    for tag, paths in parts.items():
        for path, methods in paths.items():
            assert all(operation["tags"] == [tag] for operation in methods.values())
            document["paths"].setdefault(path, {}).update(methods)
    assert get_openapi() == document


def test_document_is_the_same_every_time() -> None:
    """Building it twice gives the same bytes, and the server serves them."""
    assert json.dumps(build_openapi()) == json.dumps(get_openapi())


def test_served_document(client: TestClient) -> None:
    """The server serves the document that the function builds."""
    assert client.get("/openapi.json").json() == get_openapi()


def test_references_lead_somewhere() -> None:
    """Every reference of the document resolves, and every schema is referred to."""
    document = get_openapi()
    references = {each["$ref"] for each in walk(document) if isinstance(each, dict) and "$ref" in each}
    for reference in references:
        found = document
        for step in reference.removeprefix("#/").split("/"):
            found = found[step]
    schemes = {name for _, _, operation in operations() for each in operation["security"] for name in each}
    assert schemes == document["components"].pop("securitySchemes").keys()
    for section, definitions in document["components"].items():
        for name in definitions:
            assert f"#/components/{section}/{name}" in references


def test_schemas_are_json_schema() -> None:
    """Every schema is valid JSON Schema 2020-12, the dialect of OpenAPI 3.1."""
    document = get_openapi()
    assert document["openapi"].startswith("3.1")
    schemas = [
        each["schema"]
        for each in walk(document)
        if isinstance(each, dict) and isinstance(each.get("schema"), dict)
    ]
    for schema in [*document["components"]["schemas"].values(), *schemas]:
        Draft202012Validator.check_schema(schema)


def test_generators_read_every_schema() -> None:
    """No schema uses `items: false` or a default, every object without fields is open, and the first object of a union has a field of its own."""
    document = get_openapi()
    schemas = document["components"]["schemas"]
    nodes = [each for each in walk(schemas) if isinstance(each, dict)]
    assert not any(each.get("items") is False for each in nodes)
    for each in nodes:
        fields = [field for field in each.get("properties", {}).values() if isinstance(field, dict)]
        assert not any("default" in field for field in fields)
        if each.get("type") == "object":
            assert {"properties", "additionalProperties", "$ref"} & each.keys()
    unions = [each["anyOf"] for each in walk(document) if isinstance(each, dict) and "anyOf" in each]
    objects = [
        [schemas[one["$ref"].rpartition("/")[2]] for one in union if "$ref" in one] for union in unions
    ]
    for members in (each for each in objects if len(each) > 1):
        for number, member in enumerate(members[:-1], 1):
            assert all(set(member["required"]) - set(other["properties"]) for other in members[number:])


def test_fields_are_required_where_they_are_always_present() -> None:
    """A field of a request with a default is optional, and a field that every answer has is required."""
    schemas = get_openapi()["components"]["schemas"]
    assert schemas["TaskQuestion"]["required"] == []
    assert schemas["RequestTerms"]["required"] == ["resources"]
    assert schemas["ApprovalAnswer"]["properties"]["approval"]["description"] == "The default is `once`."
    assert schemas["RoleManifest"]["required"] == list(schemas["RoleManifest"]["properties"])
    assert schemas["Problem"]["required"] == ["type", "title", "status", "detail", "code"]


def test_operations_name_their_credentials() -> None:
    """In the document, a question allows a call without a credential, a change requires one, and a probe has none."""
    credentials = [{"apiKey": []}, {"identityToken": []}]
    security = {(method, path): operation["security"] for method, path, operation in operations()}
    assert security["post", "/v1/orgs/{org}/dispatch"] == [*credentials, {}]
    assert security["post", "/v1/orgs/{org}/requests/{request_id}/approve"] == credentials
    assert security["get", "/livez"] == []
    assert all(
        each for (_, path), each in security.items() if path not in ("/livez", "/readyz", "/v1/sign-in")
    )


def test_operations_are_documented() -> None:
    """Every operation has its own id, a description, an answer with a schema and the guards' refusals."""
    found = operations()
    assert len({operation["operationId"] for _, _, operation in found}) == len(found)
    for _, path, operation in found:
        assert operation["description"].strip()
        (answer,) = (said for status, said in operation["responses"].items() if status in ("200", "201"))
        others = {"/v1/orgs/{org}/salute/stream": "text/event-stream", "/metrics": "text/plain"}
        media_type = others.get(path, "application/json")
        assert "schema" in answer["content"][media_type]
        assert {"401", "403", "413", "414", "422", "429", "500"} <= operation["responses"].keys()
        for parameter in operation.get("parameters", ()):
            assert parameter["description"]


@pytest.mark.parametrize(
    ("path", "shape"),
    [
        ("/v1/orgs", "OrganizationList"), (f"/v1/orgs/{ORG}", "OrganizationDetail"),
        (f"/v1/orgs/{ORG}/manifest", "OrganizationManifest"), (f"/v1/orgs/{ORG}/roles/{ROLE}", "RoleManifest"),
        ("/v1/diagnostics", "FindingList"), ("/v1/snapshot", "RegistrySnapshot"), ("/readyz", "Readiness"),
        ("/version", "ProgramVersion"), ("/problems/INTERNAL", "ProblemCode"),
    ],
)  # fmt: skip
def test_answers_fit_their_schemas(client: TestClient, path: str, shape: str) -> None:
    """What is answered is what is documented, every field of it."""
    document = get_openapi()
    schema = {**document, "$ref": f"#/components/schemas/{shape}"}
    answer = client.get(path).json()
    assert [error.message for error in Draft202012Validator(schema).iter_errors(answer)] == []
    assert answer.keys() == document["components"]["schemas"][shape]["properties"].keys()


def test_each_body_has_an_example_of_its_own_that_fits() -> None:
    """The page shows it, and a reader sends it."""
    document = get_openapi()
    shown = set()
    for method, path, operation in operations():
        if "requestBody" in operation:
            body = operation["requestBody"]["content"]["application/json"]
            schema = {**document, **body["schema"]}
            problems = [error.message for error in Draft202012Validator(schema).iter_errors(body["example"])]
            assert problems == [], (method, path)
            shown.add(json.dumps(body["example"]))
    assert len(shown) > 20


def test_page_loads_nothing(client: TestClient) -> None:
    """The documentation page names every route and loads nothing from another place."""
    response = client.get("/docs")
    assert response.headers["content-type"] == "text/html; charset=utf-8"
    loaded: list[str] = []
    ids: set[str] = set()
    links: set[str] = set()

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            said = dict(attrs)
            if (
                tag in ("script", "link", "img", "iframe", "object", "embed")
                or "src" in said
                or "style" in said
            ):
                loaded.append(tag)
            ids.add(said.get("id") or "")
            links.add(said.get("href") or "")

    Reader().feed(response.text)
    assert loaded == []
    assert {link.removeprefix("#") for link in links if link.startswith("#")} <= ids
    assert {link for link in links if not link.startswith("#")} == {"", "/openapi.json"}
    for method, path, _ in operations():
        assert f"{method.upper()} {path}" in response.text


def test_page_may_run_nothing(client: TestClient) -> None:
    """The page's policy allows its own style by hash and nothing else."""
    policy = client.get("/docs").headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "unsafe" not in policy
