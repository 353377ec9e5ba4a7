"""HTTP APIs as tools, asked over a real connection."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from orgkernel import Kernel
from orgkernel.errors import BadToolbox
from orgkernel.toolbox import HttpApi, ToolContext, ToolResult
from tests.support.patience import PATIENCE
from tests.toolbox.crew import organization, toolbox
from tests.toolbox.serving import nobody, serving, silent

SECRET = "s3cr3t-v4lue-of-the-mailbox"
seen: list[dict[str, Any]] = []


async def _mails(request: Request) -> Response:
    body = await request.body()
    seen.append({
        "method": request.method, "path": request.scope["raw_path"].decode(), "query": request.url.query,
        "body": (await request.json()) if body else None,
        "authorization": request.headers.get("authorization"), "agent": request.headers.get("x-agent"),
    })  # fmt: skip
    return JSONResponse({"id": "7", "echo": request.headers.get("authorization", "")})


async def _answer(request: Request) -> Response:
    what = request.path_params["what"]
    if what.isdigit():
        return JSONResponse({"detail": f"no, because {what}"}, status_code=int(what))
    if what == "text":
        return PlainTextResponse("plain ü")
    if what == "nothing":
        return Response(status_code=204)
    if what == "wrong":
        return Response("{", media_type="application/json")
    if what == "deep":
        return Response("[" * 100_000 + "]" * 100_000, media_type="application/json")
    if what == "away":
        return RedirectResponse("/mails")
    if what == "long":
        return PlainTextResponse("x" * 2000)
    assert what == "slow"
    await asyncio.sleep(5)
    return Response()


APP = Starlette(
    routes=[
        Route("/mails", _mails, methods=["GET", "POST", "DELETE", "PUT"]),
        Route("/mails/{id:path}", _mails, methods=["GET", "POST", "DELETE", "PUT"]),
        Route("/answer/{what}", _answer),
    ]
)
ROUTES = {"read": "GET /mails/{id}", "write": "POST /mails", "delete": "DELETE /mails/{id}"}


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with serving(APP) as url:
        yield url


@pytest.fixture
def kernel(tmp_path: Path) -> Kernel:
    seen.clear()
    return organization(tmp_path)


def ann(kernel: Kernel, api: HttpApi, credentials: Any = None, tool: str = "mail") -> ToolContext:
    return toolbox(kernel, credentials=credentials, timeout=PATIENCE, **{tool: api}).context(
        "post", "agent:ann"
    )


def ask(kernel: Kernel, url: str, what: str, **options: Any) -> ToolResult:
    api = HttpApi(url, "GET /answer/{what}", **options)
    return ann(kernel, api, tool="look").invoke_blocking("look", {"what": what}, fallback=False)


def test_arguments_go_into_path_query_and_body(kernel: Kernel, url: str) -> None:
    """As the route says, with the JSON answer as the output."""
    context = ann(kernel, HttpApi(url + "/", ROUTES, {"x-agent": "ann"}))
    read = context.invoke_blocking("mail", {"id": "a b/ü?", "full": True, "part": [1, 2]}, action="read")
    wrote = context.invoke_blocking("mail", {"to": "bob", "text": "hi", "n": {"a": None}}, action="write")
    assert (read.outcome, read.output) == ("done", {"id": "7", "echo": ""})
    assert wrote.metadata == {"status": 200}
    assert [{**each, "agent": None, "authorization": None} for each in seen] == [
        {"method": "GET", "path": "/mails/a%20b%2F%C3%BC%3F", "query": "full=true&part=1&part=2", "body": None,
         "agent": None, "authorization": None},
        {"method": "POST", "path": "/mails", "query": "", "body": {"to": "bob", "text": "hi", "n": {"a": None}},
         "agent": None, "authorization": None},
    ]  # fmt: skip
    assert [each["agent"] for each in seen] == ["ann", "ann"]


def test_what_is_denied_is_not_sent(kernel: Kernel, url: str) -> None:
    """Deleting needs full, the worker has write."""
    result = ann(kernel, HttpApi(url, ROUTES)).invoke_blocking(
        "mail", {"id": "1"}, action="delete", fallback=False
    )
    assert (result.outcome, result.code) == ("denied", "NOT_BOUND_TO_ROLE")
    assert seen == []


@pytest.mark.parametrize("id", [".", "..", "", None, True, ["a"]])
def test_no_argument_leads_out_of_its_part_of_the_path(id: Any, kernel: Kernel, url: str) -> None:
    """Nor can it be left out."""
    result = ann(kernel, HttpApi(url, "GET /mails/{id}"), tool="look").invoke_blocking("look", {"id": id})
    assert (result.outcome, result.code) == ("failed", "TOOL_FAILED")
    assert seen == []


@pytest.mark.parametrize(
    "id",
    [
        "a/../../x",
        "../x",
        "%2e%2e",
        "a?b=c",
        "a#b",
        "a;b",
        "a\\..\\x",
        "/x",
        "//x.invalid/",
        "a\r\nx: y",
        "a%2fb",
        "\0",
    ],
)
def test_an_argument_is_one_part_of_the_path(id: str, kernel: Kernel, url: str) -> None:
    """Whatever is in it: the server gets a path with one part in this place, and nothing else."""
    ann(kernel, HttpApi(url, "GET /mails/{id}"), tool="look").invoke_blocking("look", {"id": id})
    for request in seen:
        prefix, part = request["path"].rsplit("/", 1)
        assert (prefix, request["query"]) == ("/mails", "")
        assert unquote(part) == id
    assert len(seen) <= 1


@pytest.mark.parametrize(
    ("what", "outcome", "said"),
    [
        ("400", "failed", 'it answered 400: {"detail":"no, because 400"}'),
        ("404", "failed", 'it answered 404: {"detail":"no, because 404"}'),
        ("429", "unavailable", 'it answered 429: {"detail":"no, because 429"}'),
        ("500", "unavailable", 'it answered 500: {"detail":"no, because 500"}'),
        ("503", "unavailable", 'it answered 503: {"detail":"no, because 503"}'),
        ("wrong", "failed", "the answer is not valid JSON"),
        ("away", "failed", "it answered with HTTP status 307, a redirect that is not followed"),
        ("long", "failed", "the answer is longer than 1000 bytes"),
    ],
)
def test_answers_that_are_none_are_results(
    what: str, outcome: str, said: str, kernel: Kernel, url: str
) -> None:
    """What the server refuses is a failure; what it cannot do now makes the tool unavailable."""
    result = ask(kernel, url, what, max_bytes=1000)
    assert (result.outcome, result.error, result.output) == (outcome, said, None)
    assert seen == []


@pytest.mark.parametrize(("what", "output"), [("text", "plain ü"), ("nothing", None)])
def test_an_answer_need_not_be_json(what: str, output: Any, kernel: Kernel, url: str) -> None:
    """A text is a text, nothing is nothing."""
    result = ask(kernel, url, what)
    assert (result.outcome, result.output) == ("done", output)


def test_a_hostile_answer_is_a_failure_of_the_tool(kernel: Kernel, url: str) -> None:
    """Lists in lists, a hundred thousand deep, are no error of the toolbox."""
    result = ask(kernel, url, "deep")
    assert (result.outcome, result.error) == ("failed", "the answer is not valid JSON")


def test_an_unreachable_server_is_a_result(kernel: Kernel) -> None:
    """It was not even asked, so that another tool can be."""
    result = ask(kernel, nobody(), "text")
    assert (result.outcome, result.code) == ("unavailable", "TOOL_UNAVAILABLE")
    assert result.error.startswith("it cannot be reached")


def test_a_server_that_does_not_answer_is_a_result(kernel: Kernel, url: str) -> None:
    """Neither a silent nor a slow server delays other callers."""
    with silent() as nowhere:
        for where in (nowhere, url):
            context = ann(kernel, HttpApi(where, "GET /answer/slow"), tool="look")
            result = context.invoke_blocking("look", timeout=0.2, fallback=False)
            assert (result.outcome, result.code) == ("timeout", "TIMEOUT")


def test_credentials_are_sent_and_never_shown(kernel: Kernel, url: str) -> None:
    """The worker may use that of the mailbox; what comes back of it is masked, also from an error."""
    headers = {"authorization": ("mailbox", "Bearer ")}
    context = ann(kernel, HttpApi(url, ROUTES, credential_headers=headers), {"mailbox": SECRET}.get)
    result = context.invoke_blocking("mail", {"id": "1"}, action="read")
    assert seen[0]["authorization"] == f"Bearer {SECRET}"
    assert result.output == {"id": "7", "echo": "Bearer ***"}
    assert SECRET not in repr(result)


def test_a_missing_credential_is_a_result(kernel: Kernel, url: str) -> None:
    """The tool is unavailable if the subject may not use its credential, or if no subject may."""
    api = HttpApi(url, ROUTES, credential_headers={"authorization": ("mailbox", "")})
    box = toolbox(kernel, mail=api, credentials={"mailbox": SECRET}.get)
    for context in (box.context("post", "role:guest"), ann(kernel, api)):
        result = context.invoke_blocking("mail", {"id": "1"}, action="read", fallback=False)
        assert (result.outcome, result.error) == ("unavailable", "the credential `mailbox` is missing")
    assert seen == []


@pytest.mark.parametrize(
    ("url", "routes"),
    [("ftp://127.0.0.1", "GET /a"), ("nowhere", "GET /a"), ("http://", "GET /a"), ("http://127.0.0.1", "FETCH /a"),
     ("http://127.0.0.1", "GET a"), ("http://127.0.0.1", {"read": "GET"})],
)  # fmt: skip
def test_addresses_and_routes_are_checked_at_once(kernel: Kernel, url: str, routes: Any) -> None:
    """When the toolbox is made."""
    with pytest.raises(BadToolbox):
        ann(kernel, HttpApi(url, routes))


def test_without_the_library_it_is_said_which(kernel: Kernel, monkeypatch: Any) -> None:
    """And how to get it."""
    monkeypatch.setitem(sys.modules, "httpx2", None)
    with pytest.raises(BadToolbox) as caught:
        ann(kernel, HttpApi("http://127.0.0.1", "GET /a"))
    assert caught.value.help == "install the extra `orgkernel[http]`"
