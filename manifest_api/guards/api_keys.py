"""API keys as the gate checks them: looked up by the digest the store keeps, once for each version of the state."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256

from manifest_api.guards.caller import Caller
from manifest_api.remembered import Remembered
from orgkernel.state.records import ApiKey

PREFIX = "orgk_"
_MOST = 1_024


class KeyRing:
    """The keys that were shown lately.

    INVARIANT: a key that was revoked opens nothing from the moment its revocation is committed, since revoking changes
    the version of the state and every check reads that version.
    """

    def __init__(self, remembered: Remembered, clock: Callable[[], float]) -> None:
        self._remembered = remembered
        self._clock = clock
        self._version = -1
        self._known: dict[bytes, ApiKey] = {}

    @property
    def has_keys(self) -> bool:
        """Whether anybody could show a key. Raises `StoreError`."""
        store = self._remembered.open()
        return store is not None and any(key.is_active(self._clock()) for key in store.keys.list())

    def find(self, secret: str) -> Caller | None:
        """Who shows this key; None for any text that opens nothing. Raises `StoreError`."""
        store = self._remembered.open()
        if store is None or not secret.isascii() or not secret.startswith(PREFIX) or len(secret) > 200:
            return None
        version = store.read_view().version
        if version != self._version:
            self._known = {}
            self._version = version
        digest = sha256(secret.encode()).digest()
        key = self._known.get(digest)
        if key is None:
            key = store.keys.find(secret)
            if key is None:
                return None
            if len(self._known) >= _MOST:
                self._known = {}
            self._known[digest] = key
        if not key.is_active(self._clock()):
            return None
        return Caller(f"caller:{key.key_id}", frozenset(key.scopes), key.agent_id, key.expires_at)
