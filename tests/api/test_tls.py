"""`serve` with a certificate: what it speaks, which certificates it refuses, and how one is renewed."""

from __future__ import annotations

import os
import re
import signal
import socket
import ssl
import subprocess
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import httpx2
import pytest

from manifest_api.guards.tls import TlsFiles, read_certificate
from orgkernel.errors import UsageError
from tests.api.running import until
from tests.cli.running import ORGKERNEL
from tests.support.certificates import make_certificate
from tests.support.in_process import run_here
from tests.support.trees import copy_template


class Secured(NamedTuple):
    port: int
    files: TlsFiles
    process: subprocess.Popen[str]
    log: Path

    def ask(self, path: str) -> httpx2.Response:
        trusted = ssl.create_default_context(cafile=self.files.certificate)
        with httpx2.Client(verify=trusted) as client:
            return client.get(f"https://localhost:{self.port}{path}")

    def seen(self) -> str:
        """The certificate that the server shows."""
        return ssl.get_server_certificate(("127.0.0.1", self.port))


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    """One server for all tests of this file."""
    folder = tmp_path_factory.mktemp("secured")
    copy_template(folder, "blank")
    files = make_certificate(folder)
    log = folder / "log"
    command = [
        ORGKERNEL,
        "serve",
        "--port",
        "0",
        "--tls-certificate",
        "server.pem",
        "--tls-key",
        "server.key",
    ]
    with log.open("w") as file, subprocess.Popen(command, cwd=folder, stderr=file, text=True) as process:
        try:
            said = until(log.read_text, lambda text: "Stop with Ctrl-C." in text)
            found = re.search(r"serving blank on https://127\.0\.0\.1:(\d+)\n", said)
            assert found, said
            yield Secured(int(found[1]), files, process, log)
        finally:
            process.kill()


def test_it_answers_over_https_and_says_so(server: Secured) -> None:
    """Also the addresses it publishes begin with https."""
    assert server.ask("/readyz").status_code == 200
    published = server.ask("/.well-known/authzen-configuration").json()
    assert published["policy_decision_point"].startswith("https://")


def test_versions_before_tls_1_2_are_refused(server: Secured) -> None:
    """A client that offers nothing newer is not answered."""
    old = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    old.check_hostname, old.verify_mode = False, ssl.CERT_NONE
    old.set_ciphers("ALL:@SECLEVEL=0")
    with pytest.warns(DeprecationWarning, match="TLSv1_1"):
        old.minimum_version = old.maximum_version = ssl.TLSVersion.TLSv1_1
    with socket.create_connection(("127.0.0.1", server.port), 10) as plain, pytest.raises(ssl.SSLError):
        old.wrap_socket(plain)


def test_plain_http_is_not_answered_and_not_logged(server: Secured) -> None:
    """Plain HTTP and failed handshakes get no answer and write no line to the log."""
    before = server.log.read_text()
    for said in (b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n", b"\x16\x03\x01" + b"\0" * 400, b""):
        with socket.create_connection(("127.0.0.1", server.port), 10) as plain:
            plain.sendall(said)
            plain.shutdown(socket.SHUT_WR)
            with suppress(ConnectionError):
                assert b"HTTP" not in plain.recv(4_096)
    assert server.ask("/livez").status_code == 200
    assert server.log.read_text() == before


def test_a_request_that_comes_with_the_handshake_is_answered(server: Secured) -> None:
    """Many clients at once, each of which sends as early as it can."""
    context = ssl.create_default_context(cafile=server.files.certificate)
    for _ in range(20):
        with (
            socket.create_connection(("127.0.0.1", server.port), 10) as plain,
            context.wrap_socket(plain, server_hostname="localhost") as secured,
        ):
            secured.sendall(b"GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            assert secured.recv(4_096).startswith(b"HTTP/1.1 200")


def test_a_renewed_certificate_is_used_after_sighup(server: Secured) -> None:
    """A certificate that cannot be used changes nothing, and the log says why."""
    first = server.seen()
    folder = Path(server.files.certificate).parent
    make_certificate(folder, ends=30)
    server.process.send_signal(signal.SIGHUP)
    second = until(server.seen, lambda seen: seen != first)
    Path(server.files.certificate).write_text("nothing")
    server.process.send_signal(signal.SIGHUP)
    until(server.log.read_text, lambda text: "the certificate was not replaced" in text)
    assert server.seen() == second
    Path(server.files.certificate).write_text(second)
    assert server.ask("/livez").status_code == 200


def mixed(folder: Path) -> TlsFiles:
    one, two = folder / "one", folder / "two"
    one.mkdir()
    two.mkdir()
    return TlsFiles(make_certificate(one).certificate, make_certificate(two).key)


def changed(change: Callable[[Path, Path], object]) -> Callable[[Path], TlsFiles]:
    def build(folder: Path) -> TlsFiles:
        files = make_certificate(folder)
        change(Path(files.certificate), Path(files.key))
        return files

    return build


def swap_for_pipe(certificate: Path, key: Path) -> None:
    key.unlink()
    os.mkfifo(key, 0o600)


@pytest.mark.parametrize(
    ("build", "says", "helps"),
    [
        (lambda folder: make_certificate(folder, password=b"secret"), "is encrypted", "without a password"),
        (lambda folder: make_certificate(folder, begins=-9, ends=-1), "has expired", "renew it"),
        (lambda folder: make_certificate(folder, begins=1), "is not valid yet", "check the clock"),
        (lambda folder: make_certificate(folder, is_for_servers=False), "is not a certificate of a server", ""),
        (mixed, "does not belong to the certificate", "must be the first one"),
        (changed(lambda certificate, key: key.unlink()), "cannot be read: no such file", "allow this user"),
        (changed(lambda certificate, key: key.chmod(0o644)), "can be read or written by other", "chmod 600"),
        (changed(lambda certificate, key: key.chmod(0o620)), "can be read or written by other", "chmod 600"),
        (changed(swap_for_pipe), "is not a regular file", "PEM"),
        (changed(lambda certificate, key: certificate.write_text("-")), "are not a certificate and its key", "BEGIN"),
        (changed(lambda certificate, key: key.write_bytes(os.urandom(99))), "are not a certificate", "BEGIN"),
    ],
)  # fmt: skip
def test_what_clients_would_refuse_is_refused_at_the_start(
    tmp_path: Path, build: Callable[[Path], TlsFiles], says: str, helps: str
) -> None:
    """With a sentence that says what to do, and never with the key."""
    with pytest.raises(UsageError) as refused:
        read_certificate(build(tmp_path))
    assert says in refused.value.message
    assert helps in refused.value.help
    assert "PRIVATE" not in refused.value.message


@pytest.mark.skipif(os.getuid() != 0, reason="only the administrator can give files away")
def test_a_key_of_another_user_is_refused(tmp_path: Path) -> None:
    """Its owner can write it, whatever its mode is."""
    files = make_certificate(tmp_path)
    os.chown(files.key, 12345, 12345)
    with pytest.raises(UsageError, match="can be read or written by other users"):
        read_certificate(files)


def test_a_group_may_read_the_key(tmp_path: Path) -> None:
    """As packages and orchestrators arrange it."""
    files = make_certificate(tmp_path)
    os.chmod(files.key, 0o640)
    context, _ = read_certificate(files)
    assert context.minimum_version is ssl.TLSVersion.TLSv1_2


def test_one_option_without_the_other_is_refused(tmp_path: Path) -> None:
    """A certificate without a key, or a key without a certificate, is refused, so the server never falls back to plain
    HTTP.
    """
    copy_template(tmp_path, "blank")
    for option in ("--tls-certificate", "--tls-key"):
        done = run_here("serve", option, "server.pem", cwd=tmp_path)
        assert done.returncode == 2
        assert "belong together" in done.stderr
