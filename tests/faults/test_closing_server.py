"""A server that is told to end: not ready, then closed, in a bounded time."""

from __future__ import annotations

import signal
import socket
import time
from pathlib import Path

import pytest

from manifest_api.server import DRAIN_SECONDS, serve
from orgkernel.errors import UsageError
from orgkernel.kernel.kernel import Kernel
from tests.api.asking import client_of, problem, stored_client
from tests.api.keys import bearer, first_key, location_of
from tests.api.running import running, until
from tests.support.patience import PATIENCE
from tests.support.trees import TEMPLATES, copy_template


def test_it_is_not_ready_before_it_closes(tmp_path: Path) -> None:
    """Meanwhile it answers everything else, on new connections too; a client that hangs does not hold it."""
    with (
        running(tmp_path, TEMPLATES / "blank", drain=DRAIN_SECONDS) as server,
        socket.create_connection(("127.0.0.1", server.port), PATIENCE) as hanging,
    ):
        hanging.sendall(
            b"POST /v1/orgs/x/dispatch HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n{"
        )
        begun = time.monotonic()
        server.process.send_signal(signal.SIGTERM)
        said = until(lambda: server.get("/readyz"), lambda answer: answer.status_code == 503)
        problem(said, 503, "DRAINING")
        assert server.get("/v1/orgs").status_code == 200
        assert server.process.wait(PATIENCE) == 0
        assert time.monotonic() - begun >= DRAIN_SECONDS


def test_a_second_signal_closes_at_once(tmp_path: Path) -> None:
    """No client has to wait for the end of the drain phase."""
    with running(tmp_path, TEMPLATES / "blank", drain=10 * PATIENCE) as server:
        server.process.send_signal(signal.SIGTERM)
        until(lambda: server.get("/readyz").status_code, lambda status: status == 503)
        assert server.stop(signal.SIGTERM) == 0


FORWARDING = ("Forwarded", "X-Forwarded-For", "X-Real-IP", "Via", "X-Client-IP", "True-Client-IP", "CF-Connecting-IP",
              "X-Cluster-Client-IP", "X-Original-Host", "X-Envoy-External-Address", "X-Forwarded")  # fmt: skip


@pytest.mark.parametrize("header", FORWARDING)
def test_what_a_proxy_has_passed_on_is_not_loopback(templates: Kernel, header: str) -> None:
    """Whatever the proxy calls the address that it speaks for."""
    problem(client_of(templates).get("/v1/orgs", headers={header: "1"}), 403, "FORWARDED")


@pytest.fixture(scope="module")
def templates() -> Kernel:
    return Kernel.open(TEMPLATES / "blank")


def test_loopback_can_need_a_key_too(templates: Kernel, tmp_path: Path) -> None:
    """A probe without a key still learns whether the server is up."""
    file = location_of(tmp_path / "state.db")
    secret = first_key(file)
    with stored_client(templates, file, needs_key=True) as client:
        problem(client.get("/v1/orgs"), 401, "UNAUTHENTICATED")
        problem(client.get("/docs"), 401, "UNAUTHENTICATED")
        assert client.get("/v1/orgs", headers=bearer(secret)).status_code == 200
        assert client.get("/livez").status_code == client.get("/readyz").status_code == 200


def test_a_server_that_wants_keys_does_not_start_without_one(templates: Kernel, tmp_path: Path) -> None:
    """A server that requires keys does not start before a key exists."""
    with pytest.raises(UsageError, match="every request needs a key") as caught:
        serve(templates, port=0, store=location_of(tmp_path / "state.db"), needs_key=True)
    assert "key create" in caught.value.help


def test_a_broken_organization_says_ten_findings_and_where_the_others_are(tmp_path: Path) -> None:
    """However many there are, the problem stays small."""
    folder = copy_template(tmp_path / "blank", "blank")
    lines = "".join(f"wrong_{number}: 1\n" for number in range(40))
    (folder / "org.yaml").write_text(f"_schema: orgkernel:organization\norg_id: blank\n{lines}", "utf-8")
    with client_of(Kernel.open(folder)) as client:
        answer = client.get("/v1/orgs/blank")
        said = problem(answer, 503, "NOT_SERVED")
        assert len(said["diagnostics"]) == 10
        assert "/v1/diagnostics" in said["help"]
        assert answer.headers["link"] == '</v1/diagnostics>; rel="describedby"'
