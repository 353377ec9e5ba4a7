"""A real server on a real port: start, requests, edits on disk, signals, faults."""

from __future__ import annotations

import re
import shutil
import signal
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from manifest_api.guards.connections import HEAD_SECONDS
from manifest_api.server import serve
from orgkernel.errors import UsageError
from orgkernel.kernel.kernel import Kernel
from orgkernel.manifest.v1 import encode
from orgkernel.snapshots.roots import resolve_paths
from tests.api.asking import BAD_LINE, GOOD_LINE, ORG, ORG_FILE, ROLE, ROLE_FILE, problem
from tests.api.running import Server, running, until
from tests.support.patience import PATIENCE
from tests.support.trees import TEMPLATES, change_line, copy_template, write_tree

ROLE_URL = f"/v1/orgs/{ORG}/roles/{ROLE}"
NAME = "role_name: Codegen Specialist"


@pytest.fixture(scope="module")
def still(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server whose documents do not change."""
    folder = tmp_path_factory.mktemp("still")
    with running(folder, TEMPLATES) as server:
        yield server


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    """A server over an organization at `tmp_path/documents`."""
    copy_template(tmp_path / "documents" / ORG, ORG)
    copy_template(tmp_path / "documents" / "blank", "blank")
    with running(tmp_path, tmp_path / "documents") as found:
        yield found


@pytest.fixture
def role_file(tmp_path: Path) -> Path:
    """The file of the role the tests edit."""
    return tmp_path / "documents" / ORG / ROLE_FILE


def raw(server: Server, request: bytes, *, timeout: float = 20.0) -> bytes:
    """Everything the server says to some bytes until it closes the connection."""
    with socket.create_connection(("127.0.0.1", server.port), timeout) as connection:
        connection.sendall(request)
        said = b""
        while more := connection.recv(65536):
            said += more
        return said


def role_name(server: Server) -> str:
    """The name the server gives to the role that is edited."""
    name: str = server.get(ROLE_URL).json()["role_name"]
    return name


def readiness(server: Server) -> str:
    """The standing of the edited organization."""
    organizations = server.get("/readyz").json()["organizations"]
    return next(each["standing"] for each in organizations if each["org_id"] == ORG)


def test_answers_over_http(still: Server) -> None:
    """The first request after the start is answered, with the bytes the kernel encodes."""
    kernel = Kernel(resolve_paths([str(TEMPLATES)], str(still.folder)))
    assert still.get(ROLE_URL).content == encode(kernel.manifest(ORG, ROLE))
    assert still.get("/readyz").json()["status"] == "ready"
    assert still.url == f"http://127.0.0.1:{still.port}"


def test_server_does_not_name_itself(still: Server) -> None:
    """No header says which software or version answers."""
    assert "server" not in still.get("/livez").headers


def test_every_loopback_name(still: Server) -> None:
    """The server answers to `localhost` as well."""
    assert httpx2.get(f"http://localhost:{still.port}/livez", timeout=PATIENCE).status_code == 200


@pytest.mark.parametrize(
    ("name", "value", "code"),
    [("Host", "example.org", "FOREIGN_HOST"), ("X-Forwarded-For", "127.0.0.1", "FORWARDED"),
     ("Forwarded", "for=127.0.0.1", "FORWARDED"), ("X-Real-IP", "127.0.0.1", "FORWARDED")],
)  # fmt: skip
def test_only_loopback_may_ask(still: Server, name: str, value: str, code: str) -> None:
    """A foreign Host and a forwarded request are refused by the running server."""
    problem(still.get("/v1/orgs", headers={name: value}), 403, code)


def test_missing_host(still: Server) -> None:
    """A request without a Host is refused."""
    assert b" 403 " in raw(still, b"GET /v1/orgs HTTP/1.0\r\n\r\n").split(b"\r\n")[0]


def test_two_hosts(still: Server) -> None:
    """A request with two Hosts is refused."""
    said = raw(still, b"GET /v1/orgs HTTP/1.1\r\nHost: localhost\r\nHost: a.b\r\nConnection: close\r\n\r\n")
    assert said.split(b"\r\n")[0].split()[1] in (b"400", b"403")


def test_ten_megabytes(still: Server) -> None:
    """A body of 10 MB is refused, announced or not, and the server goes on."""
    body = b"x" * 10_000_000
    headers = {"content-type": "application/json"}
    url = f"/v1/orgs/{ORG}/dispatch"
    problem(still.client.post(url, content=body, headers=headers), 413, "BODY_TOO_LARGE")
    chunks = (body[start : start + 65536] for start in range(0, len(body), 65536))
    problem(still.client.post(url, content=chunks, headers=headers), 413, "BODY_TOO_LARGE")
    assert still.get("/livez").status_code == 200


def test_large_body_is_refused_before_it_is_sent(still: Server) -> None:
    """The refusal comes on the announcement alone."""
    request = f"POST /v1/orgs/{ORG}/dispatch HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10000000\r\n\r\n"
    with socket.create_connection(("127.0.0.1", still.port), 20) as connection:
        connection.sendall(request.encode())
        assert b" 413 " in connection.recv(65536)


@pytest.mark.parametrize(
    "name", ["a%2Fb", "%2e%2e%2f", "r%C3%B4le", "%F0%9F%A6%84", "x" * 10_000, "%00", "%ff"]
)
def test_hostile_ids(still: Server, name: str) -> None:
    """Whatever stands where an id should is 404."""
    for path in (f"/v1/orgs/{name}", f"/v1/orgs/{ORG}/roles/{name}"):
        said = raw(still, f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
        assert b" 404 " in said.split(b"\r\n")[0]
        assert b"application/problem+json" in said


@pytest.mark.parametrize(
    "request_",
    [b"\x16\x03\x01\x02\x00\x01\x00", b"GET\r\n\r\n", b"GET /\xff\xfe HTTP/1.1\r\nHost: localhost\r\n\r\n"],
)
def test_not_http(still: Server, request_: bytes) -> None:
    """What is not HTTP is 400 or nothing, and the server goes on."""
    said = raw(still, request_)
    assert said == b"" or b" 400 " in said.split(b"\r\n")[0]
    assert still.get("/livez").status_code == 200


def test_slow_clients_do_not_delay_others(still: Server) -> None:
    """While clients dribble headers and bodies, others are answered."""
    slow = [socket.create_connection(("127.0.0.1", still.port), 20) for _ in range(20)]
    try:
        for number, connection in enumerate(slow):
            connection.sendall(b"POST /v1/orgs/x/dispatch HTTP/1.1\r\nHost: localhost\r\n")
            if number % 2:
                connection.sendall(b"Content-Length: 100\r\n\r\n{")
        begun = time.monotonic()
        assert still.get("/v1/orgs").status_code == 200
        assert time.monotonic() - begun < HEAD_SECONDS
    finally:
        for connection in slow:
            connection.close()


def test_slow_body_ends(still: Server) -> None:
    """A body that does not arrive is given up on."""
    request = b"POST /v1/orgs/x/dispatch HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\nConnection: close\r\n\r\n{"
    said = raw(still, request)
    assert b" 408 " in said.split(b"\r\n")[0]


def test_keep_alive(still: Server) -> None:
    """One connection carries many requests, refused ones among them."""
    one = b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n"
    bad = b"GET /nope HTTP/1.1\r\nHost: localhost\r\n\r\n"
    last = b"GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    said = raw(still, one + bad + one + last)
    assert re.findall(rb"HTTP/1.1 (\d+)", said) == [b"200", b"404", b"200", b"200"]


def test_kept_answers_on_one_connection(still: Server) -> None:
    """GET, HEAD, a condition and gzip in turn on one connection: each whole, none in the way of the next."""
    etag = still.get(ROLE_URL, headers={"accept-encoding": "identity"}).headers["etag"]
    size = len(still.get(ROLE_URL, headers={"accept-encoding": "identity"}).content)

    def request(method: str, more: str = "") -> bytes:
        return f"{method} {ROLE_URL} HTTP/1.1\r\nHost: localhost\r\n{more}\r\n".encode()

    said = raw(
        still,
        request("HEAD")
        + request("GET", f"If-None-Match: {etag}\r\n")
        + request("GET", "Accept-Encoding: gzip\r\n")
        + request("HEAD", "Accept-Encoding: gzip\r\n")
        + request("GET", "Connection: close\r\n"),
    )
    assert re.findall(rb"HTTP/1.1 (\d+)", said) == [b"200", b"304", b"200", b"200", b"200"]
    lengths = [int(each) for each in re.findall(rb"content-length: (\d+)", said)]
    assert lengths == [size, lengths[1], lengths[1], size]
    heads = len(re.sub(rb"(HTTP/1.1.*?\r\n\r\n)", b"", said, flags=re.DOTALL))
    assert heads == lengths[1] + size


def test_good_edit_swaps_in(server: Server, role_file: Path) -> None:
    """A good edit is answered from soon, whole, and the log says so."""
    first = server.get(ROLE_URL).headers["orgkernel-snapshot"]
    change_line(role_file, NAME, "role_name: Code Writer")
    until(lambda: role_name(server), lambda name: name == "Code Writer")
    assert server.get(ROLE_URL).headers["orgkernel-snapshot"] != first
    server.until_logged(f"updated: organization `{ORG}`")


def test_edit_right_after_the_start(tmp_path: Path) -> None:
    """An edit in the moment the server says it is ready is not missed."""
    copy_template(tmp_path / "documents" / ORG, ORG)
    with running(tmp_path, tmp_path / "documents") as server:
        change_line(tmp_path / "documents" / ORG / ROLE_FILE, NAME, "role_name: Code Writer")
        until(lambda: role_name(server), lambda name: name == "Code Writer")


def test_edit_by_rename(server: Server, role_file: Path) -> None:
    """An editor that writes beside and renames over is noticed, every time."""
    text = role_file.read_text(encoding="utf-8")
    for name in ("One", "Two", "Three"):
        beside = role_file.with_name(".codegen_specialist.yaml.swp")
        beside.write_text(text.replace(NAME, f"role_name: {name}"), encoding="utf-8")
        beside.replace(role_file)
        until(lambda: role_name(server), lambda found, name=name: found == name)


def test_folder_is_replaced(server: Server, tmp_path: Path) -> None:
    """A watched folder that is replaced by another of its name is watched on."""
    documents = tmp_path / "documents"
    for name in ("One", "Two"):
        other = tmp_path / f"other-{name}"
        shutil.copytree(documents, other)
        change = (other / ORG / ROLE_FILE).read_text(encoding="utf-8").splitlines()
        change[[line.startswith("role_name:") for line in change].index(True)] = f"role_name: {name}"
        (other / ORG / ROLE_FILE).write_text("\n".join(change), encoding="utf-8")
        documents.rename(tmp_path / f"old-{name}")
        other.rename(documents)
        until(lambda: role_name(server), lambda found, name=name: found == name)


def test_edit_behind_a_link(tmp_path: Path) -> None:
    """Documents that lie elsewhere and are linked in are watched where they lie."""
    copy_template(tmp_path / "elsewhere" / ORG, ORG)
    (tmp_path / "documents").mkdir()
    (tmp_path / "documents" / ORG).symlink_to(tmp_path / "elsewhere" / ORG)
    with running(tmp_path, tmp_path / "documents", tmp_path / "elsewhere") as server:
        for before, after in ((NAME, "role_name: One"), ("role_name: One", "role_name: Two")):
            change_line(tmp_path / "elsewhere" / ORG / ROLE_FILE, before, after)
            until(lambda: role_name(server), lambda name, after=after: after.endswith(name))


def test_mounted_folder_is_swapped(tmp_path: Path) -> None:
    """Files behind a link that is swapped at once, as Kubernetes mounts them, are noticed."""
    mount = tmp_path / "mount"
    for version in ("..v1", "..v2"):
        copy_template(mount / version, "blank")
    change_line(mount / "..v2" / "org.yaml", "org_name: My Organization", "org_name: Other")
    (mount / "..data").symlink_to("..v1")
    for name in ("org.yaml", "roles"):
        (mount / name).symlink_to(f"..data/{name}")
    with running(tmp_path, mount) as server:
        assert server.get("/v1/orgs/blank").json()["org_name"] == "My Organization"
        (mount / "..data_tmp").symlink_to("..v2")
        (mount / "..data_tmp").rename(mount / "..data")
        until(lambda: server.get("/v1/orgs/blank").json()["org_name"], lambda name: name == "Other")


def test_folder_vanishes(server: Server, tmp_path: Path) -> None:
    """While the watched folder is away the last good versions answer and say so."""
    (tmp_path / "documents").rename(tmp_path / "away")
    until(lambda: readiness(server), lambda standing: standing == "stale")
    assert server.get(ROLE_URL).headers["orgkernel-stale"] == "true"
    (tmp_path / "away").rename(tmp_path / "documents")
    until(lambda: readiness(server), lambda standing: standing == "served")


def test_bad_edit_keeps_the_last_good_version(server: Server, role_file: Path) -> None:
    """After a bad edit the old version answers, says so everywhere, and recovers with the next good edit."""
    fresh = server.get(ROLE_URL)
    change_line(role_file.parents[1] / ORG_FILE, GOOD_LINE, BAD_LINE)
    until(lambda: readiness(server), lambda standing: standing == "stale")
    stale = server.get(ROLE_URL)
    assert stale.content == fresh.content
    assert stale.headers["orgkernel-stale"] == "true"
    assert "orgkernel-stale" not in server.get("/v1/orgs/blank").headers
    found = server.get("/v1/diagnostics").json()
    assert [(each["code"], each["line"]) for each in found["diagnostics"]] == [("ORG103", 7)]
    assert [each["org_id"] for each in found["not_fresh"]] == [ORG]
    server.until_logged(f"kept: organization `{ORG}` answers from its last good version")
    assert "ORG103" in server.log
    change_line(role_file.parents[1] / ORG_FILE, BAD_LINE, GOOD_LINE)
    until(lambda: readiness(server), lambda standing: standing == "served")
    assert "orgkernel-stale" not in server.get(ROLE_URL).headers
    assert server.get("/readyz").json()["status"] == "ready"
    assert server.get("/v1/diagnostics").json()["count"] == 0
    server.until_logged(f"updated: organization `{ORG}`")


def test_organizations_move_on_without_the_bad_one(server: Server, role_file: Path, tmp_path: Path) -> None:
    """While one organization is kept, others take their edits."""
    change_line(role_file.parents[1] / ORG_FILE, GOOD_LINE, BAD_LINE)
    until(lambda: readiness(server), lambda standing: standing == "stale")
    blank = tmp_path / "documents" / "blank" / "org.yaml"
    change_line(blank, "org_name: My Organization", "org_name: Other")
    until(lambda: server.get("/v1/orgs/blank").json()["org_name"], lambda name: name == "Other")
    assert readiness(server) == "stale"


def test_organization_is_removed_and_added(server: Server, tmp_path: Path) -> None:
    """A folder that goes is gone, one that comes is served, and the log says both."""
    shutil.rmtree(tmp_path / "documents" / "blank")
    until(lambda: server.get("/v1/orgs/blank").status_code, lambda status: status == 404)
    server.until_logged("removed: organization `blank`")
    copy_template(tmp_path / "documents" / "sigint_alpha", "sigint_alpha")
    until(lambda: server.get("/v1/orgs/sigint_alpha").status_code, lambda status: status == 200)


def test_start_on_a_bad_organization(tmp_path: Path) -> None:
    """A start on one bad organization serves the rest, and the bad one as soon as it is mended."""
    documents = tmp_path / "documents"
    copy_template(documents / ORG, ORG)
    copy_template(documents / "blank", "blank")
    change_line(documents / ORG / ORG_FILE, GOOD_LINE, BAD_LINE)
    with running(tmp_path, documents) as server:
        said = problem(server.get(ROLE_URL), 503, "NOT_SERVED")
        assert [each["code"] for each in said["diagnostics"]] == ["ORG103"]
        assert server.get("/v1/orgs/blank").status_code == 200
        assert server.get("/readyz").json()["status"] == "degraded"
        change_line(documents / ORG / ORG_FILE, BAD_LINE, GOOD_LINE)
        until(lambda: server.get(ROLE_URL).status_code, lambda status: status == 200)
        assert server.get("/readyz").json()["status"] == "ready"


def test_single_file(tmp_path: Path) -> None:
    """A server over one file notices its edits."""
    folder = copy_template(tmp_path / "blank", "blank")
    with running(tmp_path, folder / "org.yaml") as server:
        change_line(folder / "org.yaml", "org_name: My Organization", "org_name: Other")
        until(lambda: server.get("/v1/orgs/blank").json()["org_name"], lambda name: name == "Other")


def test_hangup_reads_again(server: Server, role_file: Path) -> None:
    """SIGHUP reads the documents again and ends nothing."""
    change_line(role_file, NAME, "role_name: Code Writer")
    server.process.send_signal(signal.SIGHUP)
    until(lambda: role_name(server), lambda name: name == "Code Writer")
    assert server.process.poll() is None


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_end_it_cleanly(tmp_path: Path, number: int) -> None:
    """A signal ends the server with exit code 0 and no traceback, open connections notwithstanding."""
    with running(tmp_path, TEMPLATES / "blank") as server:
        server.get("/livez")
        assert server.stop(number) == 0
        assert "Traceback" not in server.log


def test_two_interrupts(tmp_path: Path) -> None:
    """Ctrl-C pressed twice ends it at once, without a traceback."""
    with (
        running(tmp_path, TEMPLATES / "blank") as server,
        socket.create_connection(("127.0.0.1", server.port), PATIENCE) as open_,
    ):
        open_.sendall(b"POST /v1/orgs/x/dispatch HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n{")
        server.get("/livez")
        server.process.send_signal(signal.SIGINT)
        until(lambda: refuses_connections(server), lambda refused: refused)
        assert server.stop(signal.SIGINT) == 0
        assert "Traceback" not in server.log


def refuses_connections(server: Server) -> bool:
    """Whether the server has stopped listening."""
    try:
        socket.create_connection(("127.0.0.1", server.port), 5).close()
    except OSError:
        return True
    return False


def test_kill_during_reload(tmp_path: Path) -> None:
    """Killed while it reads, and started again, the server answers from what is on disk."""
    documents = tmp_path / "documents"
    copy_template(documents / ORG, ORG)
    filler = {
        f"extra_{number}/org.yaml": f"_schema: orgkernel:organization\norg_id: extra_{number}\n"
        for number in range(150)
    }
    write_tree(documents, filler)
    role = documents / ORG / ROLE_FILE
    lines = role.read_text(encoding="utf-8").replace(NAME, "role_name: {}")
    for attempt in range(4):  # each but the first answers from what the killed one before was reading
        with running(tmp_path, documents) as server:
            if attempt:
                response = server.get(ROLE_URL)
                assert response.json()["role_name"] == f"Edit {attempt - 1}"
                assert "orgkernel-stale" not in response.headers
            if attempt == 3:
                break
            role.write_text(lines.replace("{}", f"Edit {attempt}", 1), encoding="utf-8")
            time.sleep(0.12 + 0.05 * attempt)  # anywhere between the edit and the end of the reload
            assert server.stop(signal.SIGKILL) == -signal.SIGKILL


def test_port_in_use(still: Server, templates: Kernel) -> None:
    """A port that is taken is a message, not a traceback."""
    with pytest.raises(UsageError, match=f"port {still.port} of `127.0.0.1` is in use") as caught:
        serve(templates, port=still.port)
    assert "--port" in caught.value.help


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "", "192.0.2.1", "10.0.0.1", "2001:db8::1"])
def test_other_hosts_are_refused(templates: Kernel, host: str) -> None:
    """Without keys the server does not listen beyond loopback, and says why."""
    with pytest.raises(UsageError, match="not a loopback address") as caught:
        serve(templates, host, 0)
    assert "without an API key" in caught.value.help


@pytest.mark.parametrize("host", ["no..host", "x" * 300])
def test_unknown_host(templates: Kernel, host: str) -> None:
    """A name that is not an address is a message."""
    with pytest.raises(UsageError, match="is not an address of this machine"):
        serve(templates, host, 0)
