"""API keys as the gate checks them: looked up by the digest the store keeps, among those of the state now."""

from __future__ import annotations

from collections.abc import Callable

from manifest_api.guards.caller import Caller
from manifest_api.store_access import StoreAccess
from orgkernel.decisions.state_records import KEY_PREFIX


class KeyRing:
    """The keys there are.

    INVARIANT: a key that was revoked opens nothing from the moment its revocation is committed, since revoking changes
    the version of the state, and every request is brought up to the version that is stored when it comes.
    """

    def __init__(self, store_access: StoreAccess, clock: Callable[[], float]) -> None:
        self._store_access = store_access
        self._clock = clock

    async def refresh(self) -> None:
        """Bring the keys up to what is stored."""
        await self._store_access.refresh()

    @property
    def has_keys(self) -> bool:
        """Whether anybody could show a key. Raises `StoreError`."""
        store = self._store_access.held()
        return store is not None and any(key.is_active(self._clock()) for key in store.keys.known[1])

    def find(self, secret: str) -> Caller | None:
        """Who shows this key; None for any text that opens nothing. Raises `StoreError`."""
        store = self._store_access.held()
        if store is None or not secret.isascii() or not secret.startswith(KEY_PREFIX) or len(secret) > 200:
            return None
        key = store.keys.find_known(secret)
        if key is None:
            return None
        return Caller(f"caller:{key.key_id}", frozenset(key.scopes), key.agent_id, key.expires_at)
