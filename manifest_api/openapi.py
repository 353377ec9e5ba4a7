"""The OpenAPI document: paths from the routes, schemas from the structs that are encoded.

`tests/golden/openapi/` has the result of `build_openapi`, one file for each tag. A change to a file is a change of the
API.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from fastapi import APIRouter, FastAPI
from starlette.routing import Match, Route
from starlette.types import Scope

from manifest_api.authzen_shapes import KnownCircumstances
from manifest_api.client_schemas import prepare_schemas
from manifest_api.routes import (
    access,
    agent_cards,
    agent_record,
    agent_skills,
    agents,
    audit,
    authzen,
    batches,
    bills,
    capability,
    changes,
    claims,
    contracts,
    documentation,
    excerpts,
    gateway_report,
    grants,
    handoff_check,
    handoffs,
    limits,
    locks,
    mcp,
    metrics,
    organizations,
    ownership,
    page,
    registry,
    requests,
    resource_metadata,
    salute,
    shell_commands,
    sign_in,
)
from manifest_api.routes.documented import MAY_ASK, PROBLEM, REFERENCE, SECURITY_SCHEMES, SHAPES
from orgkernel import __version__
from orgkernel.manifest.v1 import build_definitions, encode

PROBES = ("/livez", "/readyz")
"""Routes that need no credential, even on a server that requires one from every caller."""
NO_CREDENTIAL: Sequence[dict[str, list[str]]] = ()
# The most used routers come first, because routes are matched in this order.
ROUTERS: tuple[APIRouter, ...] = (
    authzen.router,
    organizations.router,
    agent_cards.router,
    access.router,
    capability.router,
    agents.router,
    bills.router,
    handoff_check.router,
    handoffs.router,
    agent_skills.router,
    agent_record.router,
    agent_record.org_router,
    grants.router,
    grants.restrictions_router,
    requests.router,
    limits.router,
    locks.router,
    claims.router,
    ownership.router,
    salute.router,
    mcp.router,
    shell_commands.router,
    batches.router,
    contracts.router,
    audit.router,
    gateway_report.router,
    changes.router,
    excerpts.router,
    registry.router,
    registry.health_router,
    metrics.router,
    documentation.router,
    page.router,
    page.returning,
    sign_in.router,
    resource_metadata.router,
)
TITLE = "orgkernel"
_DESCRIPTION = """\
An organization of AI agents, declared as code. The API says who takes a task, what a role may do, and which line of a
document decides.

`{org}` is the id of an organization, or `active` for the one that the server uses by default: the one that `orgkernel.toml`
names under `active`, else the only or the main one. Every answer names the digest of its version and has a strong ETag.
Errors are problem documents (RFC 9457) with a stable `code`. A caller on loopback may ask without a key. Changes, and
requests that do not come from loopback, need `Authorization: Bearer KEY`.
"""
# Answers of the guards, before a route is reached.
_OF_EVERY_ROUTE = {
    "401": ("Unauthenticated", "The request needs a credential, or its credential is not valid."),
    "403": (
        "Refused",
        "A request without a credential does not come from loopback, or the credential does not allow the request.",
    ),
    "408": ("SlowBody", "The body did not arrive in time."),
    "413": ("TooLarge", "The body is too large."),
    "414": ("QueryTooLong", "The query string is too long."),
    "422": (
        "Invalid",
        "A parameter or field is missing, unknown, repeated or of the wrong type. `errors` lists them.",
    ),
    "429": (
        "TooMany",
        "Too many requests, or too many invalid credentials. Retry-After says how long to wait.",
    ),
    "500": ("Fault", "An internal error. The log of the server has the details."),
}


def list_methods(scope: Scope) -> tuple[str, ...]:
    """The HTTP methods of all routes that match the path of `scope`."""
    routes = (route for router in ROUTERS for route in router.routes if isinstance(route, Route))
    methods = {
        method
        for route in routes
        if route.matches(scope)[0] is not Match.NONE
        for method in route.methods or ()
    }
    return tuple(sorted(methods | ({"HEAD"} if "GET" in methods else set())))


def build_openapi() -> dict[str, Any]:
    """The OpenAPI 3.1 document, the same for every kernel."""
    app = FastAPI(
        title=TITLE,
        version=__version__,
        description=_DESCRIPTION,
        generate_unique_id_function=lambda route: route.name,
    )
    for router in ROUTERS:
        app.include_router(router)
    document = app.openapi()
    for path, operations in document["paths"].items():
        for operation in operations.values():
            _mend(operation, NO_CREDENTIAL if path in (*PROBES, sign_in.PATH) else MAY_ASK)
    document["components"] = {
        "schemas": _build_schemas(document["paths"]),
        "responses": {
            name: {"description": description, "content": PROBLEM}
            for name, description in _OF_EVERY_ROUTE.values()
        },
        "securitySchemes": SECURITY_SCHEMES,
    }
    plain: dict[str, Any] = msgspec.json.decode(
        encode(document)
    )  # lists instead of tuples, as in decoded JSON
    return plain


def _mend(operation: dict[str, Any], security: Sequence[dict[str, list[str]]]) -> None:
    """Add the responses of the guards and the credentials, which FastAPI does not know.

    Also remove `null` from the types of query parameters. `security` applies to routes that do not declare their own.
    """
    operation.setdefault("security", security)
    responses = operation["responses"]
    for status, (name, _) in _OF_EVERY_ROUTE.items():
        responses[status] = {"$ref": f"#/components/responses/{name}"}
    operation["responses"] = {status: responses[status] for status in sorted(responses)}
    for parameter in operation.get("parameters", ()):
        choices = parameter["schema"].pop("anyOf", ())
        for choice in choices:
            if choice != {"type": "null"}:
                parameter["schema"] = {**choice, **parameter["schema"]}


def _build_schemas(paths: dict[str, Any]) -> dict[str, Any]:
    """The schemas that the paths refer to."""
    shapes = (*SHAPES.values(), KnownCircumstances)
    schemas = build_definitions(shapes, REFERENCE)[1]
    operations = [operation for methods in paths.values() for operation in methods.values()]
    requests = [operation.get("requestBody") for operation in operations]
    prepare_schemas(schemas, requests, [operation["responses"] for operation in operations], shapes)
    # Without `evaluations`, the body is an `EvaluationQuestion`.
    several = schemas["EvaluationsQuestion"]
    several["required"] = ["evaluations"]
    several["properties"]["evaluations"]["minItems"] = 1
    return schemas
