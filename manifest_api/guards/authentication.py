"""Authentication: every request is identified once, before anything is answered (docs/authentication.md).

Without a credential, a caller on loopback may ask. A request with a forwarded header or a foreign Host does not count
as loopback, and needs a credential. An invalid credential is refused, even where none is needed.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv6Address
from typing import Any

from starlette.types import Scope

from manifest_api.guards.caller import ANYBODY, VISITOR, Caller, build_scope_refusal
from manifest_api.guards.loopback import refuse_strangers
from manifest_api.guards.request_head import RequestHead
from manifest_api.guards.tokens import TokenVerifier, UnfitToken
from manifest_api.problems import (
    BAD_CREDENTIAL,
    RATE_LIMITED,
    TOO_MANY_FAILURES,
    UNAUTHENTICATED,
    RequestRefused,
    build_challenge,
)
from manifest_api.store_access import StoreAccess
from orgkernel.decisions.evidence.state_records import KEY_PREFIX

_SCHEME = b"bearer "
_WAIT = "wait for the seconds in `Retry-After`"
# An address that shows wrong credentials may go on after this many, at this many a second.
_FAILURES, _FAILURES_PER_SECOND = 20, 0.2
# Signatures verified per address. Recently verified tokens are cached and not included.
_VERIFICATIONS_PER_SECOND, _VERIFICATIONS_AT_ONCE = 200, 1_000
# Number of cached credentials and addresses. The least recently used one is dropped first.
_MAX_BUCKETS = 4_096
_KEY_CALLER = "caller:"
# Size of a burst, as seconds of the rate.
_BURST_SECONDS = 2
DEFAULT_RATE = 1_000.0
"""Requests per second for each credential, and for each address without one."""
LIVENESS = "/livez"
"""Says that the process runs. It never asks the store, so it does not check a credential: it tells nothing else."""
_PROBES = (LIVENESS, "/readyz")
"""Never limited: a supervisor that is refused would end a server that works."""


class KeyRing:
    """The API keys of the store.

    INVARIANT: a revoked key is refused from the moment its revocation is committed. Revoking changes the version of the
    state, and every request uses the version that is stored when it arrives.
    """

    def __init__(self, store_access: StoreAccess, clock: Callable[[], float]) -> None:
        self._store_access = store_access
        self._clock = clock

    async def refresh(self) -> None:
        """Read the keys again if the store has changed."""
        await self._store_access.refresh()

    @property
    def has_keys(self) -> bool:
        """Whether there is a valid key. Raises `StoreError`."""
        store = self._store_access.held()
        return store is not None and any(key.is_active(self._clock()) for key in store.keys.known[1])

    def find(self, secret: str) -> Caller | None:
        """The caller with this key. None if the key is not valid. Raises `StoreError`."""
        store = self._store_access.held()
        if store is None or not secret.isascii() or not secret.startswith(KEY_PREFIX) or len(secret) > 200:
            return None
        key = store.keys.find_known(secret)
        if key is None:
            return None
        return Caller(
            f"{_KEY_CALLER}{key.key_id}",
            frozenset(key.scopes),
            key.agent_id,
            key.expires_at,
            key.person_id,
            key.bound_to,
        )

    async def is_still_valid(self, caller: Caller) -> bool:
        """Whether the API key of a caller is valid now. True for a caller without one. Raises `StoreError`."""
        if not caller.credential.startswith(_KEY_CALLER):
            return True
        await self.refresh()
        store = self._store_access.held()
        now = self._clock()
        return store is not None and any(
            f"{_KEY_CALLER}{key.key_id}" == caller.credential and key.is_active(now)
            for key in store.keys.known[1]
        )


class Rates:
    """Token buckets that fill at a rate, up to `burst` tokens. Times are seconds of a monotonic clock."""

    def __init__(self, per_second: float, burst: float) -> None:
        self._per_second = per_second
        self._burst = burst
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, name: str, now: float) -> float:
        """Take a token. Returns 0, or the seconds until there is one."""
        left = self._count_left(name, now)
        if left < 1:
            return (1 - left) / self._per_second
        self._keep(name, left - 1, now)
        return 0.0

    def wait(self, name: str, now: float) -> float:
        """Seconds until there is a token. Takes none."""
        left = self._count_left(name, now)
        return 0.0 if left >= 1 else (1 - left) / self._per_second

    def _count_left(self, name: str, now: float) -> float:
        left, then = self._buckets.get(name, (self._burst, now))
        return min(self._burst, left + max(0.0, now - then) * self._per_second)

    def _keep(self, name: str, left: float, now: float) -> None:
        self._buckets[name] = (left, now)
        self._buckets.move_to_end(name)
        while len(self._buckets) > _MAX_BUCKETS:
            self._buckets.popitem(last=False)


@dataclass(frozen=True, slots=True)
class Authenticator:
    """Identifies callers by their credentials."""

    keys: KeyRing
    tokens: TokenVerifier | None
    clock: Callable[[], float]
    """A monotonic clock, in seconds."""
    failures: Rates
    rates: Rates
    addresses: Rates
    """Requests without a credential, by address."""
    unverified: Rates
    """Tokens that were not verified before, by address."""
    needs_key: bool = False
    """Whether loopback needs a credential too."""
    is_public: Callable[[str, str], bool] = lambda method, path: False
    """Whether a path and method need no credential."""

    async def identify(self, scope: Scope, head: RequestHead) -> Caller:
        """The caller of a request. Raises `RequestRefused`, and `StoreError` if the keys cannot be read."""
        stranger = refuse_strangers(scope, head)
        if scope["path"] == LIVENESS and (head.authorization or stranger is None):
            return ANYBODY
        if not head.authorization:
            if scope["path"] not in _PROBES:
                self._take(self.addresses, _get_address(scope), "this address")
            if stranger is None and (not self.needs_key or scope["path"] in _PROBES):
                return ANYBODY
            if self.is_public(scope["method"], scope["path"]):
                return VISITOR
            if stranger is None:
                raise RequestRefused(
                    UNAUTHENTICATED,
                    "this server requires a key for every request",
                    "send `Authorization: Bearer KEY`",
                )
            if self.tokens is None and scope["path"] != LIVENESS:
                await self.keys.refresh()
                if not self.keys.has_keys:
                    raise RequestRefused(*stranger)
            _, detail, _ = stranger
            raise RequestRefused(
                UNAUTHENTICATED, f"{detail}, so it needs a key", "send `Authorization: Bearer KEY`"
            )
        return await self._verify(scope, head.authorization)

    async def _verify(self, scope: Scope, shown: tuple[bytes, ...]) -> Caller:
        address = _get_address(scope)
        text = _read_secret(shown)
        caller = None
        if text:
            if text.startswith(KEY_PREFIX):
                caller = self.keys.find(text)
            elif self.tokens is not None:
                caller = await self._verify_token(self.tokens, text, address)
        if caller is None:
            self._refuse_after_failures(address)
            self.failures.take(address, self.clock())
            raise RequestRefused(
                BAD_CREDENTIAL,
                "the API key or token is unknown, expired or revoked",
                "send one `Authorization: Bearer KEY`; `orgkernel key list` lists the keys",
                headers={"WWW-Authenticate": build_challenge("invalid_token")},
            )
        self._take(self.rates, caller.credential, "this credential")
        return caller

    async def _verify_token(self, tokens: TokenVerifier, text: str, address: str) -> Caller | None:
        """The caller with a token, however many others of the same address have failed."""
        known = tokens.recall(text)
        if isinstance(known, Caller):
            return known
        if known is not None:
            return None
        # Verifying costs more than refusing.
        self._take(self.unverified, address, "this address")
        try:
            return await tokens.identify(text, waits=not self.failures.wait(address, self.clock()))
        except UnfitToken:
            return None

    def _take(self, rates: Rates, name: str, who: str) -> None:
        wait = rates.take(name, self.clock())
        if wait:
            raise RequestRefused(
                RATE_LIMITED,
                f"{who} sends too many requests",
                _WAIT,
                headers=_retry_after(wait),
            )

    def _refuse_after_failures(self, address: str) -> None:
        wait = self.failures.wait(address, self.clock())
        if wait:
            raise RequestRefused(
                TOO_MANY_FAILURES,
                "this address sent too many invalid credentials",
                _WAIT,
                headers=_retry_after(wait),
            )


def read_bearer(head: RequestHead) -> str:
    """The key or token of a request. Empty without one."""
    return _read_secret(head.authorization)


def _read_secret(shown: tuple[bytes, ...]) -> str:
    if len(shown) != 1 or shown[0][: len(_SCHEME)].lower() != _SCHEME:
        return ""
    return shown[0][len(_SCHEME) :].strip().decode("latin-1")


def build_authenticator(
    keys: KeyRing,
    tokens: TokenVerifier | None,
    clock: Callable[[], float],
    rate: float = DEFAULT_RATE,
    *,
    needs_key: bool = False,
    is_public: Callable[[str, str], bool] | None = None,
) -> Authenticator:
    """The authenticator with its limits. `rate` is in requests per second.

    `needs_key` is true if loopback also needs a credential. `is_public` tells which requests need no credential; by
    default none.
    """
    burst = max(1.0, rate * _BURST_SECONDS)
    failures = Rates(_FAILURES_PER_SECOND, _FAILURES)
    unverified = Rates(_VERIFICATIONS_PER_SECOND, _VERIFICATIONS_AT_ONCE)
    return Authenticator(
        keys, tokens, clock, failures, Rates(rate, burst), Rates(rate, burst), unverified, needs_key,
        is_public or (lambda method, path: False),
    )  # fmt: skip


def refuse_reading(caller: Caller, method: str) -> RequestRefused | None:
    """Why a credential may not read. Routes check the scopes for changes."""
    if method in ("GET", "HEAD") and not caller.may("read"):
        return build_scope_refusal("read")
    return None


def _get_address(scope: Scope) -> str:
    client: Any = scope.get("client")
    return get_limited_address(client[0]) if client else ""


@lru_cache(maxsize=1_024)
def get_limited_address(address: str) -> str:
    """The address to which limits apply. A client with an IPv6 address has its whole /64."""
    if ":" not in address:
        return address
    try:
        parsed = IPv6Address(address)
    except ValueError:
        return address
    if parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    return str(IPv6Address(int(parsed) >> 64 << 64))


def _retry_after(seconds: float) -> dict[str, str]:
    return {"Retry-After": str(max(1, round(seconds + 0.5)))}
