"""The public keys of an identity provider, from a file or an https URL.

Keys are fetched by a thread of their own, so that a provider that is slow or gone holds up nobody. Tokens with unknown
key ids share one fetch, and there is at most one fetch in ten seconds, however many such tokens are sent.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
import urllib.request
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

import msgspec

from orgkernel.diagnostics.wording import quote
from orgkernel.errors import BadProject
from orgkernel.runtime.regular_files import FileIdentity, find_identity, read_regular

logger = logging.getLogger("orgkernel.server")

FETCH_SECONDS = 5.0
"""Seconds that a fetch may take, and that a token waits for it."""
BETWEEN_SECONDS = 10.0
"""Seconds between two fetches, or two looks at the file, because of unknown key ids."""
RELOAD_SECONDS = 300.0
"""Seconds after which the keys are fetched again, so that keys that were taken back do not stay."""
MAX_AGE_SECONDS = 3_600.0
"""Seconds after which keys that could not be fetched again count no more."""
LOOK_SECONDS = 1.0
"""Seconds between two looks at the time of the file."""
MOST_WAITING = 64
"""Tokens that wait for a fetch. Others with unknown key ids are refused at once."""
_MOST_BYTES = 1_048_576


class TokenKeys:
    """The keys of one issuer. Used from one event loop."""

    def __init__(self, jwt: Any, source: str, clock: Callable[[], float] = time.monotonic) -> None:
        """`source` is a path or an https URL. Raises `BadProject` for a file that cannot be used."""
        self._jwt = jwt
        self._source = source
        self._clock = clock
        self._is_remote = source.startswith("https://")
        self._keys: tuple[Any, ...] = ()
        self._read_at: float | None = None
        self._tried_at: float | None = None
        self._fetching: Future[bytes] | None = None
        self._waiting = 0
        self._stamp: FileIdentity | None = None
        self.version = 0
        """It changes with the keys."""
        if not self._is_remote:
            self._stamp = find_identity(source)
            self._take(read_keys(jwt, source))

    def find(self, key_id: Any) -> Any | None:
        """The key with an id. A token without an id may use the only key. It never waits."""
        self._keep_fresh()
        for key in self._keys:
            if (key_id is None and len(self._keys) == 1) or (key_id is not None and key.key_id == key_id):
                return key.key
        return None

    async def renew(self) -> bool:
        """Wait for newer keys. False if there will be none soon."""
        if not self._is_remote or self._waiting >= MOST_WAITING:
            return False
        fetching = self._fetch()
        if fetching is None:
            return False
        before = self.version
        self._waiting += 1
        try:
            await asyncio.wait([asyncio.wrap_future(fetching)], timeout=FETCH_SECONDS)
        finally:
            self._waiting -= 1
        self._receive()
        return self.version != before

    def _keep_fresh(self) -> None:
        now = self._clock()
        if not self._is_remote:
            if self._tried_at is None or now - self._tried_at >= LOOK_SECONDS:
                self._tried_at = now
                self._look_at_file()
            return
        self._receive()
        if self._read_at is not None and now - self._read_at >= RELOAD_SECONDS:
            self._fetch()
            if now - self._read_at >= MAX_AGE_SECONDS and self._keys:
                logger.error("the keys of the identity provider are too old and count no more")
                self._keys = ()
                self.version += 1

    def _look_at_file(self) -> None:
        stamp = find_identity(self._source)
        if stamp == self._stamp:
            return
        self._stamp = stamp
        try:
            self._take(read_keys(self._jwt, self._source))
        except BadProject as error:
            logger.error("the keys of the identity provider stay as they were: %s", error.message)

    def _fetch(self) -> Future[bytes] | None:
        """The fetch that runs, or a new one. None if the last one was a moment ago."""
        if self._fetching is not None:
            return self._fetching
        now = self._clock()
        if self._tried_at is not None and now - self._tried_at < BETWEEN_SECONDS:
            return None
        self._tried_at = now
        self._fetching = Future()
        threading.Thread(
            target=_fetch_into, args=(self._source, self._fetching), name="orgkernel-keys", daemon=True
        ).start()
        return self._fetching

    def _receive(self) -> None:
        if self._fetching is None or not self._fetching.done():
            return
        fetched, self._fetching = self._fetching, None
        try:
            self._take(parse_keys(self._jwt, fetched.result()))
        except Exception as error:
            logger.error("the keys of the identity provider could not be fetched: %s", error)

    def _take(self, keys: Any) -> None:
        self._keys = tuple(keys.keys)
        self._read_at = self._clock()
        self.version += 1


def fetch(url: str) -> bytes:
    """The bytes at an https URL. Raises `OSError` and `ValueError`."""
    end = time.monotonic() + FETCH_SECONDS
    opener = urllib.request.build_opener(_OnlyHttps)
    found = bytearray()
    with opener.open(url, timeout=FETCH_SECONDS) as response:
        while chunk := response.read1(65_536):
            found += chunk
            if len(found) > _MOST_BYTES or time.monotonic() > end:
                raise ValueError("the answer is too large or too slow")
    return bytes(found)


class _OnlyHttps(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, req: Any, fp: Any, code: Any, msg: Any, headers: Any, newurl: str) -> Any:
        if not newurl.startswith("https://"):
            raise ValueError("the answer leads away from https")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _fetch_into(url: str, future: Future[bytes]) -> None:
    try:
        future.set_result(fetch(url))
    except BaseException as error:
        future.set_exception(error)


def read_keys(jwt: Any, path: str) -> Any:
    """The key set in a file. Raises `BadProject`."""
    try:
        return parse_keys(jwt, read_regular(path, _MOST_BYTES))
    except OSError as error:
        raise BadProject(f"`[oidc]`: the keys in {quote(path)} cannot be read: {error.strerror}") from None
    except (ValueError, TypeError, KeyError, AttributeError, jwt.PyJWTError) as error:
        raise BadProject(f"`[oidc]`: {quote(path)} is not a set of public keys: {error}") from None


def parse_keys(jwt: Any, written: bytes) -> Any:
    """The key set in a JSON document. Raises what the decoder and PyJWT raise."""
    return jwt.PyJWKSet.from_dict(msgspec.json.decode(written))
