"""The log: one format for the server and for requests, the request and its caller in each line, and no secrets."""

from __future__ import annotations

import asyncio
import io
import json
import logging
import re
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx2
import pytest
import uvicorn
from starlette.testclient import TestClient

from manifest_api import create_app
from manifest_api.answering import Answers
from manifest_api.current_request import REQUEST_ID, copy_context_without_request, set_current
from manifest_api.log_lines import JsonLines, TextLines
from manifest_api.server import build_config
from orgkernel.kernel.kernel import Kernel
from orgkernel.state.location import StoreLocation
from tests.api.asking import ORG, ROLE, client_of
from tests.api.keys import bearer, first_key, new_key
from tests.cli.running import ORGKERNEL
from tests.support.patience import PATIENCE, until
from tests.support.trees import REPOSITORY, copy_template

QUESTION = {
    "subject": {"type": "role", "id": "codegen_specialist"},
    "action": {"name": "use"},
    "resource": {"type": "tool", "id": "text_editor"},
    "context": {"org": ORG},
}
Lines = Callable[[], list[dict[str, Any]]]


def listen(formatter: logging.Formatter) -> Iterator[io.StringIO]:
    """What is logged, as `serve` writes it."""
    written = io.StringIO()
    handler = logging.StreamHandler(written)
    handler.setFormatter(formatter)
    ours, theirs = logging.getLogger("orgkernel"), logging.getLogger("uvicorn.error")
    before = ours.level
    ours.setLevel(logging.INFO)
    for each in (ours, theirs):
        each.addHandler(handler)
    try:
        yield written
    finally:
        ours.setLevel(before)
        for each in (ours, theirs):
            each.removeHandler(handler)


@pytest.fixture
def log() -> Iterator[Lines]:
    """The lines as JSON, and that each of them is one."""
    listening = listen(JsonLines())
    written = next(listening)
    yield lambda: [json.loads(line) for line in written.getvalue().splitlines()]
    listening.close()


@pytest.fixture
def text() -> Iterator[io.StringIO]:
    """The lines as text."""
    yield from listen(TextLines())


def local_client(templates: Kernel, **options: Any) -> TestClient:
    """A client on loopback of an application that logs requests."""
    app = create_app(templates, access_log=True, **options)
    return TestClient(
        app, base_url="http://127.0.0.1:8000", client=("127.0.0.1", 50000), raise_server_exceptions=False
    )


def test_the_page_shows_a_line(templates: Kernel, log: Lines) -> None:
    """With all of its fields in their order."""
    page = (REPOSITORY / "docs/how-to/observe.md").read_text(encoding="utf-8")
    shown = json.loads(page.partition("```json\n")[2].partition("```")[0])
    local_client(templates).get("/v1/orgs")
    assert list(shown) == list(log()[0])


def test_off_by_default(templates: Kernel, log: Lines) -> None:
    """Without the option, no request is logged."""
    client_of(templates).get("/v1/orgs")
    assert log() == []


def test_every_request_has_a_line(templates: Kernel, log: Lines) -> None:
    """Answers from the cache, refusals and problems as well, with what was sent and the template of the path."""
    client = local_client(templates)
    url = f"/v1/orgs/{ORG}/roles/{ROLE}"
    answers = [
        client.get(url, headers={"accept-encoding": "identity"}),
        client.get(url, headers={"accept-encoding": "identity"}),
        client.head(url),
        client.get("/v1/orgs?limit=0"),
        client.get("/nope", headers={"host": "example.org"}),
        client.post("/access/v1/evaluation", json=QUESTION),
    ]
    said = log()
    role = "/v1/orgs/{org}/roles/{role}"
    assert [
        (each["method"], each["path"], each["route"], each["query_bytes"], each["status"], each["problem"])
        for each in said
    ] == [
        ("GET", url, role, 0, 200, ""), ("GET", url, role, 0, 200, ""), ("HEAD", url, role, 0, 200, ""),
        ("GET", "/v1/orgs", "/v1/orgs", 7, 422, "INVALID_REQUEST"), ("GET", "/nope", "none", 0, 403, "FOREIGN_HOST"),
        ("POST", "/access/v1/evaluation", "/access/v1/evaluation", 0, 200, ""),
    ]  # fmt: skip
    assert [each["bytes"] for each in said] == [len(each.content) for each in answers]
    assert [each["request"] for each in said] == [each.headers["x-request-id"] for each in answers]
    assert [each["caller"] for each in said] == [*["loopback"] * 4, "", "loopback"]
    assert {each["client"] for each in said} == {"127.0.0.1"}
    assert {(each["level"], each["logger"]) for each in said} == {("INFO", "orgkernel.access")}
    assert all(each["milliseconds"] >= 0 and each["time"].endswith("+00:00") for each in said)


def test_an_error_names_the_request_and_the_key(
    templates: Kernel, file: StoreLocation, log: Lines, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wherever it is logged: on the event loop, in a thread that uses the store, or in a refusal of the scope."""
    admin, narrow = first_key(file), new_key(file, ["report"])

    def fail(*_: object, **__: object) -> None:
        logging.getLogger("orgkernel.server").warning("in a thread")
        raise RuntimeError("broken")

    monkeypatch.setattr("manifest_api.routes.requests.describe_request", fail)
    with local_client(templates, store=file) as client:
        headers = {**bearer(admin), "x-request-id": "mine-1"}
        assert client.get("/v1/orgs/active/requests/req_1/widening", headers=headers).status_code == 500
        assert client.get("/v1/orgs", headers={**bearer(narrow), "x-request-id": "mine-2"}).status_code == 403
    warned, failed, first, second = log()
    assert {each["request"] for each in (warned, failed, first)} == {"mine-1"}
    assert {each["caller"] for each in (warned, failed, first)} == {first["caller"]}
    assert first["caller"].startswith("caller:")
    assert (warned["message"], failed["level"], first["status"]) == ("in a thread", "ERROR", 500)
    assert "RuntimeError: broken" in failed["exception"]
    assert (second["request"], second["problem"]) == ("mine-2", "SCOPE_MISSING")
    assert second["caller"].startswith("caller:")
    assert second["caller"] != first["caller"]


def test_an_error_of_uvicorn_names_the_request(templates: Kernel, log: Lines) -> None:
    """Half an answer was sent, so only uvicorn can end it."""

    class Half:
        """An answer that breaks off."""

        async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
            if scope["type"] == "lifespan":
                await receive()
                await send({"type": "lifespan.startup.complete"})
                await receive()
                await send({"type": "lifespan.shutdown.complete"})
                return
            await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"9")]})
            raise RuntimeError("broken off")

    app = create_app(templates)
    app.once = Half()
    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(build_config(app))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    try:
        with socket.create_connection(listener.getsockname(), 10) as asking:
            asking.sendall(b"GET /v1/orgs HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Request-ID: mine\r\n\r\n")
            while asking.recv(65_536):
                pass
    finally:
        server.should_exit = True
        thread.join(PATIENCE)
        listener.close()
    (line,) = (each for each in log() if each["logger"] == "uvicorn.error" and each["level"] == "ERROR")
    assert (line["request"], line["caller"]) == ("mine", "loopback")
    assert "RuntimeError: broken off" in line["exception"]


def test_work_that_no_request_waits_for_names_none(templates: Kernel, log: Lines) -> None:
    """A task that outlives the request which began it, and whatever happens outside."""
    logger = logging.getLogger("orgkernel.server")

    async def background() -> None:
        logger.info("background")

    class Tasks:
        """A route that begins work for later."""

        async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
            logger.info("inside")
            await asyncio.create_task(background(), context=copy_context_without_request())
            await send({"type": "http.response.start", "status": 204, "headers": []})
            await send({"type": "http.response.body", "body": b""})

    app = create_app(templates)
    app.once = Tasks()
    TestClient(app, base_url="http://127.0.0.1:8000", client=("127.0.0.1", 50000)).get("/v1/orgs")
    logger.info("outside")
    assert [(each["message"], "request" in each) for each in log()] == [
        ("inside", True), ("background", False), ("outside", False),
    ]  # fmt: skip


def test_no_secret_and_no_query_is_logged(templates: Kernel, file: StoreLocation, log: Lines) -> None:
    """The log contains no query, and no secret from a header, a path, an id or an exception."""
    secret = first_key(file)
    with local_client(templates, store=file) as client:
        client.get(f"/v1/orgs/{secret}?key={secret}", headers=bearer(secret))
        client.get(f"/v1/orgs?{secret}", headers={**bearer(secret), "x-request-id": secret})
        client.get("/v1/orgs", headers=bearer(f"{secret[:-1]}x"))
    try:
        raise RuntimeError(f"Authorization: Bearer {secret}")
    except RuntimeError:
        logging.getLogger("orgkernel.server").exception("with %s", secret)
    said = json.dumps(log())
    assert len(log()) == 4
    assert secret not in said
    assert secret[8:] not in said


@pytest.mark.parametrize("name", ["log", "text"])
def test_no_request_writes_a_line_of_its_own(
    templates: Kernel, name: str, request: pytest.FixtureRequest
) -> None:
    """Line ends and control characters of a path or an id are written out, and a long path is cut."""
    written = request.getfixturevalue(name)
    client = local_client(templates)
    hostile = 'a%0A{"status":200}%1b[31m%c2%85%e2%80%a8%c2%9b'
    client.get(f"/v1/orgs/{hostile}")
    client.get("/" + "x" * 5_000)
    scope = {"type": "http", REQUEST_ID: "id\x85\x9b[31m\t".encode("latin-1") * 500}
    context = copy_context_without_request()
    context.run(set_current, scope)
    context.run(logging.getLogger("orgkernel.server").error, "a line")
    lines = [json.dumps(each) for each in written()] if name == "log" else written.getvalue().splitlines()
    assert len(lines) == 3
    assert all(each.isprintable() and len(each) < 2_000 for each in lines)
    assert "orgs/a" in lines[0]


def test_text_is_for_people(templates: Kernel, text: io.StringIO) -> None:
    """A text line states the request, the status, the caller and the request id."""
    local_client(templates).get("/v1/orgs?limit=1", headers={"x-request-id": "mine"})
    line = text.getvalue()
    assert " INFO GET /v1/orgs 200, " in line
    assert line.endswith(" from 127.0.0.1 request=mine caller=loopback\n")


def test_the_log_of_a_failed_reload_names_no_request(
    templates: Kernel, log: Lines, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A failed reload belongs to no request, so its line has none."""
    app = create_app(templates)
    answers: Answers = app.state.answers

    def fail() -> None:
        raise RuntimeError("no disk")

    monkeypatch.setattr(type(answers.kernel), "reload", lambda self: fail())
    asyncio.run(app.state.reloader.reload())
    (line,) = log()
    assert (line["level"], "request" in line) == ("ERROR", False)
    assert "no disk" in line["exception"]


@pytest.mark.parametrize("is_logged", [False, True])
def test_what_a_server_writes_for_requests(tmp_path: Path, is_logged: bool) -> None:
    """The installed command: one line for each request without its query with `--access-log`, and none without. Malformed requests
    write none, and an error of a caller none of its own.
    """
    copy_template(tmp_path, "blank")
    log = tmp_path / "log"
    command = [ORGKERNEL, "serve", "--port", "0", *(["--access-log"] if is_logged else [])]
    with log.open("w") as file, subprocess.Popen(command, cwd=tmp_path, stderr=file) as process:
        try:
            begin = until(log.read_text, lambda text: "Stop with Ctrl-C." in text)
            port = int(re.findall(r"http://127\.0\.0\.1:(\d+)", begin)[0])
            with httpx2.Client(base_url=f"http://127.0.0.1:{port}", timeout=PATIENCE) as client:
                for path in (
                    "/v1/orgs?limit=1&x=S3CRET",
                    "/v1/orgs/none",
                    "/v1/orgs?limit=S3CRET",
                    "/a%0d%0ab",
                ):
                    client.get(path)
                client.get("/v1/orgs", headers={"authorization": "Bearer S3CRET"})
                client.post("/access/v1/evaluation", content=b"{S3CRET")
            for malformed in (
                b"\x16\x03\x01" + b"\0" * 400,
                b"GET\r\n\r\n",
                b"G" * 40_000,
                b"GET / HTTP/9\r\n\r\n",
            ):
                with socket.create_connection(("127.0.0.1", port), 10) as plain, suppress(ConnectionError):
                    plain.sendall(malformed)
                    plain.shutdown(socket.SHUT_WR)
                    while plain.recv(4_096):
                        pass
            with httpx2.Client(base_url=f"http://127.0.0.1:{port}", timeout=PATIENCE) as client:
                client.get("/v1/orgs/last")
            if is_logged:
                until(log.read_text, lambda text: "/v1/orgs/last" in text)
        finally:
            process.terminate()
            process.wait(PATIENCE)
    written = [
        line for line in log.read_text().removeprefix(begin).splitlines() if "/" in line or "HTTP" in line
    ]
    assert "S3CRET" not in str(written)
    assert len(written) == (7 if is_logged else 0), written
