"""The public keys of an identity provider, from a file or an https URL. Importing this needs PyJWT.

A separate thread fetches keys, so a slow or unavailable provider blocks no request. Tokens with unknown key ids
share one fetch, and there is at most one fetch in ten seconds, however many such tokens are sent.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
import urllib.request
from concurrent.futures import Future
from typing import Any, Protocol

import jwt
import msgspec
from jwt import PyJWKClient, PyJWKSet

from orgkernel.diagnostics.wording import quote
from orgkernel.errors import BadProject
from orgkernel.runtime.regular_files import find_identity, read_regular

logger = logging.getLogger("orgkernel.server")

FETCH_SECONDS = 5.0
"""Seconds that a fetch may take, and that a token waits for it."""
BETWEEN_SECONDS = 10.0
"""Seconds between two fetches because of unknown key ids."""
RELOAD_SECONDS = 300.0
"""Seconds after which the keys are fetched again, so that revoked keys do not stay valid."""
MAX_AGE_SECONDS = 3_600.0
"""Seconds after which keys that could not be fetched again are no longer accepted."""
LOOK_SECONDS = 1.0
"""Seconds between two looks at the time of the file."""
MOST_WAITING = 64
"""Tokens that wait for a fetch. Others with unknown key ids are refused at once."""
_MOST_BYTES = 1_048_576


class TokenKeys(Protocol):
    """The keys of one issuer. Used from one event loop."""

    def current(self) -> PyJWKSet | None:
        """The valid keys, a new object whenever they have changed. It never waits."""

    async def renew(self) -> bool:
        """Wait for newer keys. False if there will be none soon."""


def open_keys(source: str) -> TokenKeys:
    """The keys at a path or an https URL. Raises `BadProject` for a file that cannot be used."""
    return FetchedKeys(source) if source.startswith("https://") else FileKeys(source)


def find_key(keys: PyJWKSet | None, key_id: Any) -> Any | None:
    """The key with an id. A token without an id may use the only key."""
    known = [] if keys is None else keys.keys
    if key_id is None:
        return known[0].key if len(known) == 1 else None
    return next((each.key for each in known if each.key_id == key_id), None)


class FileKeys:
    """Keys in a file, which is read again when it changes."""

    def __init__(self, path: str) -> None:
        """Raises `BadProject`."""
        self._path = path
        self._stamp = find_identity(path)
        self._looked_at = time.monotonic()
        self._keys = read_keys(path)

    def current(self) -> PyJWKSet:
        now = time.monotonic()
        if now - self._looked_at >= LOOK_SECONDS:
            self._looked_at = now
            stamp = find_identity(self._path)
            if stamp != self._stamp:
                self._stamp = stamp
                self._read_again()
        return self._keys

    def _read_again(self) -> None:
        try:
            self._keys = read_keys(self._path)
        except BadProject as error:
            logger.error("the keys of the identity provider were not replaced: %s", error.message)

    async def renew(self) -> bool:
        return False


class KeyClient(PyJWKClient):
    """PyJWT's client with limits that its own fetch lacks: on bytes, and on the time for the whole answer."""

    def fetch_data(self) -> Any:
        return msgspec.json.decode(fetch(self.uri))


class FetchedKeys:
    """Keys at an https URL."""

    def __init__(self, url: str) -> None:
        self._client = KeyClient(url)
        self._keys: PyJWKSet | None = None
        self._read_at = self._tried_at = float("-inf")
        self._fetching: Future[PyJWKSet] | None = None
        self._waiting = 0

    def current(self) -> PyJWKSet | None:
        self._receive()
        age = time.monotonic() - self._read_at
        if self._keys is not None and age >= RELOAD_SECONDS:
            self._fetch()
            if age >= MAX_AGE_SECONDS:
                logger.error("the keys of the identity provider are too old and no longer accepted")
                self._keys = None
        return self._keys

    async def renew(self) -> bool:
        if self._waiting >= MOST_WAITING:
            return False
        fetching = self._fetch()
        if fetching is None:
            return False
        before = self._keys
        self._waiting += 1
        try:
            await asyncio.wait([asyncio.wrap_future(fetching)], timeout=FETCH_SECONDS)
        finally:
            self._waiting -= 1
        self._receive()
        return self._keys is not before

    def _fetch(self) -> Future[PyJWKSet] | None:
        """The fetch that runs, or a new one. None if the last one was a moment ago."""
        if self._fetching is not None:
            return self._fetching
        now = time.monotonic()
        if now - self._tried_at < BETWEEN_SECONDS:
            return None
        self._tried_at = now
        self._fetching = Future()
        # INVARIANT: no thread of a pool. Answers need those, and one that hangs would keep the server from ending.
        threading.Thread(
            target=self._fetch_into, args=(self._fetching,), name="orgkernel-keys", daemon=True
        ).start()
        return self._fetching

    def _fetch_into(self, future: Future[PyJWKSet]) -> None:
        try:
            future.set_result(self._client.get_jwk_set(refresh=True))
        except BaseException as error:
            future.set_exception(error)

    def _receive(self) -> None:
        if self._fetching is None or not self._fetching.done():
            return
        fetched, self._fetching = self._fetching, None
        try:
            self._keys = fetched.result()
        except Exception as error:
            logger.error("the keys of the identity provider could not be fetched: %s", error)
        else:
            self._read_at = time.monotonic()


def fetch(url: str) -> bytes:
    """The bytes at an https URL. A redirect is not followed. Raises `OSError` and `ValueError`."""
    if not url.startswith("https://"):
        raise ValueError("the address of the keys is not https")
    end = time.monotonic() + FETCH_SECONDS
    content = bytearray()
    with urllib.request.build_opener(_NoRedirect).open(url, timeout=FETCH_SECONDS) as response:
        while chunk := response.read1(65_536):
            content += chunk
            if len(content) > _MOST_BYTES or time.monotonic() > end:
                raise ValueError("the answer is too large or too slow")
    return bytes(content)


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Refuse redirects, as PyJWT does: the provider must answer itself."""

    def redirect_request(self, *_: Any) -> None:
        return None


def read_keys(path: str) -> PyJWKSet:
    """The key set in a file. Raises `BadProject`."""
    try:
        return PyJWKSet.from_dict(msgspec.json.decode(read_regular(path, _MOST_BYTES)))
    except OSError as error:
        raise BadProject(f"`[oidc]`: the keys in {quote(path)} cannot be read: {error.strerror}") from None
    except (ValueError, TypeError, KeyError, AttributeError, jwt.PyJWTError) as error:
        raise BadProject(f"`[oidc]`: {quote(path)} is not a set of public keys: {error}") from None
