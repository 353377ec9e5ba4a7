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
from jwt import PyJWK, PyJWKSet
from jwt.utils import base64url_decode

from orgkernel.diagnostics.wording import quote
from orgkernel.errors import BadProject
from orgkernel.runtime.ed25519 import find_key_fault
from orgkernel.runtime.regular_files import find_identity, read_regular

logger = logging.getLogger("orgkernel.server")

FETCH_SECONDS = 5.0
"""Seconds that a fetch may take, and that a token waits for it."""
SECONDS_AFTER_FAILURE = 1.0
"""Seconds that a valid token waits for newer keys if the last fetch failed, so that a provider that hangs slows few requests."""
BETWEEN_SECONDS = 10.0
"""Seconds between two fetches because of unknown key ids."""
RELOAD_SECONDS = 300.0
"""Seconds after which the keys are fetched again, so that revoked keys do not stay valid."""
MAX_AGE_SECONDS = 3_600.0
"""Seconds after which keys that could not be fetched again are no longer accepted."""
LOOK_SECONDS = 1.0
"""Seconds between two looks at the time of the file."""
MAX_WAITING = 64
"""Tokens that wait for a fetch. Others with unknown key ids are refused at once."""
_MAX_BYTES = 1_048_576
# Members of private and symmetric keys (RFC 7518, sections 6.2.2, 6.3.2 and 6.4.1).
_PRIVATE = frozenset({"d", "p", "q", "dp", "dq", "qi", "oth", "k"})
_MIN_BITS = 2_048


class TokenKeys(Protocol):
    """The keys of one issuer. Used from one event loop."""

    def current(self) -> PyJWKSet | None:
        """The valid keys, a new object whenever they have changed. It never waits."""

    def is_due(self) -> bool:
        """Whether the keys are so old that a valid token has to wait for newer ones. False while another fetch would be too early."""

    async def refresh(self) -> None:
        """Wait for newer keys if they are due, for `FETCH_SECONDS` at most. If there are none, the present ones stay."""

    async def renew(self) -> bool:
        """Wait for newer keys. False if there will be none soon."""


class RefusedKeys(ValueError):
    """A set of keys that no provider may publish. Trying again does not help."""


def open_keys(source: str) -> TokenKeys:
    """The keys at a path or an https URL. Raises `BadProject` for a file that cannot be used, and for a URL that answers with private
    keys or with two keys of one id. Keys of a provider that does not answer are fetched later.
    """
    if not source.startswith("https://"):
        return FileKeys(source)
    keys = FetchedKeys(source)
    keys.fetch_first()
    return keys


def find_key(keys: PyJWKSet | None, key_id: Any, algorithm: str) -> Any | None:
    """The key with an id, if it is for an algorithm. A token without an id may use the only key. A key without `alg` is for each
    algorithm of its type.
    """
    known = [] if keys is None else keys.keys
    if key_id is None:
        fitting = known if len(known) == 1 else []
    else:
        fitting = [each for each in known if each.key_id == key_id]
    return next((each.key for each in fitting if _get_stated_algorithm(each) in (None, algorithm)), None)


def _get_stated_algorithm(key: PyJWK) -> Any:
    return key._jwk_data.get("alg")


def build_key_set(document: Any) -> PyJWKSet:
    """The keys of a set that verify signatures (RFC 7517): those with another `use`, without `verify` in `key_ops`, with an RSA
    modulus of less than 2048 bits, or with an Ed25519 key that anyone can sign for are left out. Raises `RefusedKeys` for a set with
    private or symmetric keys, or with two keys of one id, `ValueError` for something else than a set, and `PyJWTError` for one that has
    no key.
    """
    listed = document.get("keys") if isinstance(document, dict) else None
    if not isinstance(listed, list):
        raise ValueError("it is not a JSON object with a list `keys`")
    taken: set[str] = set()
    kept = []
    for each in listed:
        if not isinstance(each, dict):
            raise ValueError("a key is not an object")
        if not _PRIVATE.isdisjoint(each) or each.get("kty") == "oct":
            raise RefusedKeys("it contains a private or symmetric key, which must never be there")
        if (key_id := each.get("kid")) is not None:
            if key_id in taken:
                raise RefusedKeys(f"two keys have the id {quote(key_id)}")
            taken.add(key_id)
        if _is_for_verifying(each) and _is_long(each) and _is_sound(each):
            kept.append(each)
    return PyJWKSet.from_dict({**document, "keys": kept})


def _is_for_verifying(key: dict[str, Any]) -> bool:
    operations = key.get("key_ops", ["verify"])
    return key.get("use", "sig") == "sig" and isinstance(operations, list) and "verify" in operations


def _is_sound(key: dict[str, Any]) -> bool:
    """Whether a key is not an Ed25519 key of small order or in a non-canonical encoding."""
    public = key.get("x")
    if key.get("crv") != "Ed25519" or not isinstance(public, str):
        return True
    return find_key_fault(base64url_decode(public)) is None


def _is_long(key: dict[str, Any]) -> bool:
    """Whether a key is not a short RSA key."""
    modulus = key.get("n")
    if key.get("kty") != "RSA" or not isinstance(modulus, str):
        return True
    return int.from_bytes(base64url_decode(modulus), "big").bit_length() >= _MIN_BITS


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

    def is_due(self) -> bool:
        return False

    async def refresh(self) -> None:
        """Nothing to wait for: `current` reads a changed file."""

    async def renew(self) -> bool:
        return False


class FetchedKeys:
    """Keys at an https URL."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._keys: PyJWKSet | None = None
        self._read_at = self._tried_at = float("-inf")
        self._fetching: Future[PyJWKSet] | None = None
        self._has_failed = False
        self._waiting = 0

    def fetch_first(self) -> None:
        """Fetch the keys before the server starts. Raises `BadProject` if they must not be used."""
        try:
            self._keys = fetch_keys(self._url)
        except RefusedKeys as error:
            raise _build_refusal(self._url, error) from None
        except Exception as error:
            self._has_failed = True
            _log_failed_fetch(error)
        else:
            self._read_at = time.monotonic()

    def current(self) -> PyJWKSet | None:
        self._receive()
        age = time.monotonic() - self._read_at
        if self._keys is not None and age >= RELOAD_SECONDS:
            self._fetch()
            if age >= MAX_AGE_SECONDS:
                logger.error("the keys of the identity provider are too old and no longer accepted")
                self._keys = None
        return self._keys

    def is_due(self) -> bool:
        self._receive()
        now = time.monotonic()
        if now - self._read_at < RELOAD_SECONDS:
            return False
        if self._fetching is None:
            return now - self._tried_at >= BETWEEN_SECONDS
        return self._compute_wait(now) > 0

    async def refresh(self) -> None:
        if not self.is_due():
            return
        fetching = self._fetch()
        if fetching is not None:
            wait = max(0.0, self._compute_wait(time.monotonic()))
            await _wait_for(fetching, wait)
        self._receive()

    def _compute_wait(self, now: float) -> float:
        """Seconds for which a valid token still waits for the fetch that runs. The looking up of a name can take longer than a fetch may."""
        return self._tried_at + (SECONDS_AFTER_FAILURE if self._has_failed else FETCH_SECONDS) - now

    async def renew(self) -> bool:
        if self._waiting >= MAX_WAITING:
            return False
        fetching = self._fetch()
        if fetching is None:
            return False
        before = self._keys
        self._waiting += 1
        try:
            await _wait_for(fetching, FETCH_SECONDS)
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
            future.set_result(fetch_keys(self._url))
        except BaseException as error:
            future.set_exception(error)

    def _receive(self) -> None:
        if self._fetching is None or not self._fetching.done():
            return
        fetched, self._fetching = self._fetching, None
        try:
            self._keys = fetched.result()
        except Exception as error:
            self._has_failed = True
            _log_failed_fetch(error)
        else:
            self._has_failed = False
            self._read_at = time.monotonic()


async def _wait_for(fetching: Future[PyJWKSet], seconds: float) -> None:
    """Wait for the end of a fetch, whatever it is."""
    future = asyncio.wrap_future(fetching)
    # Otherwise asyncio logs an error that `_receive` logs.
    future.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
    await asyncio.wait([future], timeout=seconds)


def fetch_keys(url: str) -> PyJWKSet:
    """The key set at an https URL. Raises `OSError`, `ValueError` and `PyJWTError`."""
    return build_key_set(msgspec.json.decode(fetch(url)))


def fetch(url: str) -> bytes:
    """The bytes at an https URL. A redirect is not followed. Raises `OSError` and `ValueError`."""
    if not url.startswith("https://"):
        raise ValueError("the address of the keys is not https")
    end = time.monotonic() + FETCH_SECONDS
    content = bytearray()
    with urllib.request.build_opener(_NoRedirect).open(url, timeout=FETCH_SECONDS) as response:
        while chunk := response.read1(65_536):
            content += chunk
            if len(content) > _MAX_BYTES or time.monotonic() > end:
                raise ValueError("the answer is too large or too slow")
    return bytes(content)


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Refuse redirects, as PyJWT does: the provider must answer itself."""

    def redirect_request(self, *_: Any) -> None:
        return None


def read_keys(path: str) -> PyJWKSet:
    """The key set in a file. Raises `BadProject`."""
    try:
        return build_key_set(msgspec.json.decode(read_regular(path, _MAX_BYTES)))
    except OSError as error:
        raise BadProject(f"`[oidc]`: the keys in {quote(path)} cannot be read: {error.strerror}") from None
    except (ValueError, TypeError, KeyError, AttributeError, jwt.PyJWTError) as error:
        raise _build_refusal(path, error) from None


def _build_refusal(source: str, error: Exception) -> BadProject:
    """The error that a source of keys cannot be used."""
    return BadProject(f"`[oidc]`: {quote(source)} is not a set of public keys: {error}")


def _log_failed_fetch(error: Exception) -> None:
    logger.error("the keys of the identity provider could not be fetched: %s", error)
