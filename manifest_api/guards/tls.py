"""TLS of `serve`: the certificate and its key, checked before they are used, and the handshake of each connection.

A certificate that clients would refuse is refused at the start: it is tried in an in-memory handshake. uvicorn
neither limits nor counts connections that have not finished their handshake, so they are taken over here: each one
has a place among the connections of the server, and so much time as the head of a request.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import ssl
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from manifest_api.guards.connections import HEAD_SECONDS, Connection, Connections, LimitedProtocol
from orgkernel.diagnostics.wording import quote
from orgkernel.errors import UsageError
from orgkernel.private_files import can_others_use
from orgkernel.runtime.regular_files import NotRegular, read_regular

logger = logging.getLogger("orgkernel.server")

_MAX_BYTES = 1024 * 1024
_BETWEEN_SECONDS = 0.1
"""Seconds to wait when no connection can be accepted."""
_CLOSING_SECONDS = 2.0
"""Seconds for a client to confirm the end of a connection."""
_DAY = 86_400.0
SOON_DAYS = 14.0
"""Days before its end at which a certificate is reported as expiring."""
_EXPIRED, _NOT_YET_VALID, _WRONG_PURPOSE = 10, 9, 26  # X509_V_ERR_… of OpenSSL


@dataclass(frozen=True, slots=True)
class TlsFiles:
    """The files of a certificate chain and of its private key."""

    certificate: str
    key: str


class Tls:
    """The certificate of a server. It can be renewed while the server runs."""

    def __init__(self, files: TlsFiles) -> None:
        """Raises `UsageError` for files that cannot be used."""
        self._files = files
        self.context, self.expires_at = read_certificate(files)

    def renew(self) -> None:
        """Use the current files for new connections. If they are invalid, raises `UsageError` and changes nothing."""
        self.context, self.expires_at = read_certificate(self._files)


def read_certificate(files: TlsFiles) -> tuple[ssl.SSLContext, float]:
    """The TLS context of a certificate, and its expiry. Raises `UsageError`."""
    written = _read(files.certificate, "certificate")
    _read(files.key, "key")
    _require_private(files.key)
    # The defaults: no version before TLS 1.2, and no weak ciphers.
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.options |= ssl.OP_NO_RENEGOTIATION
    context.set_alpn_protocols(["http/1.1"])
    try:
        context.load_cert_chain(files.certificate, files.key, password=_refuse_password)
    except _Encrypted:
        raise UsageError(
            f"the key {quote(files.key)} is encrypted, and the server cannot ask for its password",
            f"write it without a password to a file that only this user can read: `openssl pkey -in {files.key} -out FILE`",
        ) from None
    except ssl.SSLError as error:
        if error.reason == "KEY_VALUES_MISMATCH":
            raise UsageError(
                f"the key {quote(files.key)} does not belong to the certificate {quote(files.certificate)}",
                "the certificate of the server itself must be the first one in its file",
            ) from None
        raise UsageError(
            f"{quote(files.certificate)} and {quote(files.key)} are not a certificate and its key in PEM form: "
            f"{(error.reason or str(error)).lower().replace('_', ' ')}",
            "the files begin with `-----BEGIN CERTIFICATE-----` and `-----BEGIN PRIVATE KEY-----`",
        ) from None
    return context, _try(context, files.certificate, written)


def _read(path: str, what: str) -> str:
    """The content of a file. Raises `UsageError`."""
    try:
        return read_regular(path, _MAX_BYTES).decode("ascii", "replace")
    except NotRegular:
        raise UsageError(
            f"the {what} {quote(path)} is not a regular file", "name a file in PEM form"
        ) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "its name cannot be used"
        raise UsageError(
            f"the {what} {quote(path)} cannot be read: {reason.lower()}", "allow this user to read it"
        ) from None


def _require_private(path: str) -> None:
    """Raise `UsageError` if users outside the owner and the group can read the key.

    Packages and orchestrators use a group.
    """
    if can_others_use(path):
        raise UsageError(
            f"the key {quote(path)} can be read or written by other users of this machine",
            f"own it, and run `chmod 600 {path}`, or `chmod 640 {path}` for a group; if they may have read it, get a new certificate",
        )


class _Encrypted(Exception):
    """The key asks for a password."""


def _refuse_password() -> str:
    raise _Encrypted


def _try(context: ssl.SSLContext, path: str, written: str) -> float:
    """Shake hands as a client that trusts this certificate; when it expires. Raises `UsageError`."""
    trusting = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    trusting.check_hostname = False  # the names it is for are known to the clients only
    trusting.verify_flags = ssl.VERIFY_X509_PARTIAL_CHAIN
    trusting.load_verify_locations(cadata=written)
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    server = context.wrap_bio(to_server, to_client, server_side=True)
    client = trusting.wrap_bio(to_client, to_server)
    waiting = [client, server]
    try:
        while waiting:
            side = waiting.pop(0)
            try:
                side.do_handshake()
            except ssl.SSLWantReadError:
                waiting.append(side)
    except ssl.SSLCertVerificationError as error:
        says = {
            _EXPIRED: "has expired",
            _NOT_YET_VALID: "is not valid yet",
            _WRONG_PURPOSE: "is not a certificate of a server",
        }.get(error.verify_code, f"would be refused by clients: {error.verify_message}")
        help = "renew it, and check the clock of this machine" if "valid" in says or "expired" in says else ""
        raise UsageError(f"the certificate {quote(path)} {says}", help) from None
    except ssl.SSLError as error:
        reason = (error.reason or str(error)).lower().replace("_", " ")
        raise UsageError(f"the certificate {quote(path)} cannot be used: {reason}") from None
    peer_certificate: Any = client.getpeercert()
    return float(ssl.cert_time_to_seconds(peer_certificate["notAfter"]))


def count_days_left(expires_at: float) -> float:
    """Days until a certificate expires."""
    return (expires_at - time.time()) / _DAY


class SecuredListener:
    """Accepts connections, and hands each one over when its handshake is done."""

    def __init__(
        self,
        listener: socket.socket,
        tls: Tls,
        connections: Connections,
        make: Callable[[Connection], LimitedProtocol],
    ) -> None:
        """`make` creates the protocol of a connection, which takes over its place. Call this in the event loop."""
        listener.setblocking(False)
        self._listener = listener
        self._tls = tls
        self._connections = connections
        self._make = make
        self._loop = asyncio.get_running_loop()
        self._handshakes: set[Handshake] = set()
        self._accepting = self._loop.create_task(self._accept())

    def close(self) -> None:
        """Accept no more connections. Unfinished handshakes are aborted."""
        self._accepting.cancel()
        for handshake in tuple(self._handshakes):
            handshake.abort()

    async def wait_closed(self) -> None:
        """Return at once: the server closes the connections."""

    async def _accept(self) -> None:
        while True:
            try:
                accepted, address = await self._loop.sock_accept(self._listener)
            except OSError as error:  # no file descriptor is left, or the client has gone
                logger.debug("a connection was not accepted: %s", error)
                await asyncio.sleep(_BETWEEN_SECONDS)
                continue
            handshake = Handshake(str(address[0]), self._loop.time())
            if not self._connections.add(handshake, self._loop):
                accepted.close()  # the client expects TLS, so there is no way to tell it why
                continue
            self._handshakes.add(handshake)
            handshake.task = self._loop.create_task(self._shake_hands(handshake, accepted))
            handshake.task.add_done_callback(partial(self._end, handshake, accepted))
            await asyncio.sleep(0)  # however many are waiting, those that are here get their turn

    async def _shake_hands(self, handshake: Handshake, accepted: socket.socket) -> None:
        handshake.is_begun = True  # the event loop owns the socket now
        try:
            await self._loop.connect_accepted_socket(
                lambda: self._make(handshake), accepted, ssl=self._tls.context,
                ssl_handshake_timeout=HEAD_SECONDS, ssl_shutdown_timeout=_CLOSING_SECONDS,
            )  # fmt: skip
        except (
            OSError
        ) as error:  # includes SSL errors; logged for debugging only, so that clients cannot fill the log
            logger.debug("a handshake failed: %s", error)

    def _end(self, handshake: Handshake, accepted: socket.socket, _: asyncio.Task[None]) -> None:
        self._connections.remove(handshake)
        self._handshakes.discard(handshake)
        if not handshake.is_begun:
            accepted.close()


class Handshake:
    """A connection until its handshake is done."""

    def __init__(self, address: str, since: float) -> None:
        self.address = address
        self.task: asyncio.Task[None] | None = None
        self.is_begun = False
        self._since = since

    @property
    def is_waiting(self) -> bool:
        """Whether it can be closed to free a place, which is always the case."""
        return True

    @property
    def rank(self) -> tuple[bool, float]:
        """Its rank for closing, the same as for connections that never had an answer."""
        return False, self._since

    def check(self, now: float) -> None:
        """The event loop ends a handshake that takes too long."""

    def abort(self) -> None:
        """Give the handshake up, and close the connection."""
        if self.task is not None:
            self.task.cancel()
