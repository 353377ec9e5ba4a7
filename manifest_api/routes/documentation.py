"""The documentation of the server: problem codes, the OpenAPI document, and a page of it.

The page has no script and loads nothing, so it works on a closed network.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from html import escape
from typing import Annotated, Any

from fastapi import APIRouter, Path, Request
from starlette.responses import Response

from manifest_api.answering import AnswersOfApp
from manifest_api.problems import KINDS, UNKNOWN_PROBLEM, RequestRefused
from manifest_api.routes.documented import PROBLEM, build_content
from manifest_api.shapes import ProblemCode
from orgkernel.diagnostics.wording import did_you_mean, listing, quote
from orgkernel.manifest.v1 import encode

router = APIRouter(tags=["documentation"], default_response_class=Response)
_STYLE = """
body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1b1f24;background:#fff}
code,pre{font-family:ui-monospace,monospace;font-size:.9em}
pre{background:#f4f5f7;padding:.75rem;overflow-x:auto}
section{border-top:1px solid #d5d9de;margin-top:1.5rem}
table{border-collapse:collapse;width:100%}
th,td{text-align:left;vertical-align:top;padding:.25rem .75rem .25rem 0;border-bottom:1px solid #e6e8eb}
th{font-weight:600}
@media (prefers-color-scheme:dark){body{color:#e6e8eb;background:#14171a}pre{background:#20252a}a{color:#8ab4f8}
section,th,td{border-color:#3a4148}}
"""
_STYLE_HASH = "sha256-" + base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
"""The hash of the page's style, for its security policy."""


@router.get(
    "/problems/{code}",
    responses={
        200: {"description": "What the code means.", "content": build_content(ProblemCode)},
        404: {"description": "The code does not exist.", "content": PROBLEM},
    },
)
async def get_problem(
    code: Annotated[str, Path(description="Code of a problem.", examples=["UNKNOWN_ROLE"])],
) -> Response:
    """Explain a problem code. The `type` of a problem refers to this route."""
    if code not in KINDS:
        hint = did_you_mean(code.upper(), KINDS) or f"codes are {listing(KINDS)}"
        raise RequestRefused(UNKNOWN_PROBLEM, f"the problem code {quote(code)} does not exist", hint)
    return Response(encode(KINDS[code]), media_type="application/json", headers={"Cache-Control": "no-cache"})


@router.get("/openapi.json", include_in_schema=False)
async def get_openapi_document(request: Request, answers: AnswersOfApp) -> Response:
    """The OpenAPI document."""
    document, _ = _build_documents(request.app.openapi)
    return answers.respond_with(request, document, "application/json", None, answers.answer_version)


@router.get("/docs", include_in_schema=False)
async def get_docs(request: Request, answers: AnswersOfApp) -> Response:
    """The OpenAPI document as a page."""
    _, page = _build_documents(request.app.openapi)
    policy = f"default-src 'none'; style-src '{_STYLE_HASH}'; base-uri 'none'; frame-ancestors 'none'"
    headers = {"Content-Security-Policy": policy}
    return answers.respond_with(request, page, "text/html", headers, answers.answer_version)


@cache
def _build_documents(build: Callable[[], dict[str, Any]]) -> tuple[bytes, bytes]:
    """The document and its page, built once."""
    document = build()
    return encode(document), render_docs(document).encode()


def render_docs(document: dict[str, Any]) -> str:
    """The page."""
    info = document["info"]
    body = "\n".join(
        [
            f"<h1>{_render_text(info['title'])} {_render_text(info['version'])}</h1>",
            *(f"<p>{_render_text(paragraph)}</p>" for paragraph in info["description"].strip().split("\n\n")),
            '<p>The same for programs: <a href="/openapi.json">/openapi.json</a></p>',
            "<h2>Routes</h2>",
            *_render_contents(document),
            *_render_operations(document),
            "<h2>Schemas</h2>",
            *_render_schemas(document["components"]["schemas"]),
        ]
    )
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>{_render_text(info['title'])}</title><style>{_STYLE}</style></head>\n<body>\n{body}\n</body></html>\n"
    )


def _render_text(text: object) -> str:
    """Render a string as HTML. Parts in backticks become code."""
    parts = escape(str(text)).split("`")
    return "".join(f"<code>{part}</code>" if number % 2 else part for number, part in enumerate(parts))


def _list_operations(document: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            yield method.upper(), path, operation


def _render_contents(document: dict[str, Any]) -> Iterator[str]:
    yield "<ul>"
    for method, path, operation in _list_operations(document):
        link = f'<a href="#{escape(operation["operationId"])}"><code>{method} {escape(path)}</code></a>'
        yield f"<li>{link} {_render_text(operation['description'].splitlines()[0])}</li>"
    yield "</ul>"


def _render_operations(document: dict[str, Any]) -> Iterator[str]:
    for method, path, operation in _list_operations(document):
        yield f'<section id="{escape(operation["operationId"])}"><h3><code>{method} {escape(path)}</code></h3>'
        yield from (f"<p>{_render_text(part)}</p>" for part in operation["description"].split("\n\n"))
        yield f"<pre>{escape(_render_example(method, path, operation))}</pre>"
        if parameters := operation.get("parameters"):
            yield from _render_table(
                ("Parameter", "In", "Value", "Meaning"), map(_render_parameter, parameters)
            )
        if body := operation.get("requestBody"):
            yield f"<p>Body: {_render_type(body['content']['application/json']['schema'])}</p>"
        yield from _render_table(("Status", "Answer", "When"), _render_responses(document, operation))
        yield "</section>"


def _render_example(method: str, path: str, operation: dict[str, Any]) -> str:
    for parameter in operation.get("parameters", ()):
        if parameter["in"] == "path":
            value = parameter["schema"].get("examples", [parameter["name"]])[0]
            path = path.replace(f"{{{parameter['name']}}}", value)
    data = " -H 'content-type: application/json' -d '{\"domain\": \"bugfix\"}'" if method == "POST" else ""
    return f"curl -s http://127.0.0.1:8000{path}{data}"


def _render_responses(document: dict[str, Any], operation: dict[str, Any]) -> Iterator[tuple[str, ...]]:
    shared = document["components"]["responses"]
    for status, declared_response in operation["responses"].items():
        response = (
            shared[declared_response["$ref"].rpartition("/")[2]]
            if "$ref" in declared_response
            else declared_response
        )
        schemas = [each["schema"] for each in response.get("content", {}).values()]
        yield status, ", ".join(map(_render_type, schemas)), _render_text(response["description"])


def _render_parameter(parameter: dict[str, Any]) -> tuple[str, ...]:
    name = _render_text(f"`{parameter['name']}`")
    return (
        name,
        parameter["in"],
        _render_type(parameter["schema"]),
        _render_text(parameter.get("description", "")),
    )


def _render_schemas(schemas: dict[str, Any]) -> Iterator[str]:
    for name, schema in schemas.items():
        yield f'<section id="schema-{escape(name)}"><h3>{escape(name)}</h3><p>{_render_text(schema.get("description", ""))}</p>'
        required = schema.get("required", ())
        rows = (
            (_render_text(f"`{field}`"), _render_type(value), "always" if field in required else "")
            for field, value in schema.get("properties", {}).items()
        )
        yield from _render_table(("Field", "Value", "Present"), rows)
        yield "</section>"


def _render_table(heads: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    """A table. Its cells are HTML."""
    yield f"<table><tr>{''.join(f'<th>{head}</th>' for head in heads)}</tr>"
    for row in rows:
        yield f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>"
    yield "</table>"


def _render_type(schema: dict[str, Any]) -> str:
    """A short description of a schema, as HTML. A named schema is a link."""
    if "$ref" in schema:
        name = escape(schema["$ref"].rpartition("/")[2])
        return f'<a href="#schema-{name}">{name}</a>'
    if "anyOf" in schema:
        return " or ".join(map(_render_type, schema["anyOf"]))
    if "enum" in schema:
        return ", ".join(_render_text(f"`{value}`") for value in schema["enum"])
    if schema.get("type") == "array":
        items = schema.get("items")
        return "list of " + _render_type(items) if isinstance(items, dict) else "list"
    words = [schema.get("type", "any")]
    words += [f"from {schema['minimum']}"] if "minimum" in schema else []
    words += [f"to {schema['maximum']}"] if "maximum" in schema else []
    words += [f"(else {schema['default']})"] if schema.get("default") not in (None, "") else []
    return _render_text(" ".join(words))
