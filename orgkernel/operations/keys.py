"""Create, rotate and revoke the keys of the HTTP API. Only the owner or an operator can, because others could give
themselves scopes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from orgkernel.decisions.evidence.state_records import ApiKey, KeyScope
from orgkernel.operations.context import Context
from orgkernel.operations.rights import open_noted_store, require_outside
from orgkernel.state.keys import find_expiring

if TYPE_CHECKING:
    from orgkernel.kernel.stored import Store

EXPIRING_SECONDS = 7 * 86_400.0
"""A key that expires within this time is reported."""


def create_key(
    context: Context,
    name: str,
    scopes: Sequence[KeyScope],
    *,
    agent_id: str | None = None,
    person_id: str | None = None,
    expires_at: float | None = None,
) -> tuple[ApiKey, str]:
    """A new key and its secret, which cannot be read again. Raises `Refused`.

    With an agent, the key acts as that agent, and the person is the one who runs it. With only a person, it acts as that
    person.
    """
    store = open_noted_store(context, require_outside(context, "make keys"))
    return store.keys.create(
        name,
        scopes,
        created_by=context.actor.name,
        agent_id=agent_id,
        person_id=person_id,
        expires_at=expires_at,
    )


def rotate_key(
    context: Context, key_id: str, *, overlap: float, expires_at: float | None = None, reason: str = ""
) -> tuple[ApiKey, ApiKey, str]:
    """A new key with the same rights, the old key with its new expiry, and the new secret.

    Raises `Refused`, `UnknownRecord`, and `Conflict` if the old key is no longer valid.
    """
    store = open_noted_store(context, require_outside(context, "rotate keys"))
    return store.keys.rotate(
        key_id, actor=context.actor.name, overlap=overlap, expires_at=expires_at, reason=reason
    )


def list_expiring_keys(store: Store, now: float) -> tuple[ApiKey, ...]:
    """The keys that expire soon and have no successor."""
    return find_expiring(store.keys.list(), now, EXPIRING_SECONDS)


def revoke_key(context: Context, key_id: str, reason: str = "") -> ApiKey:
    """Revoke a key at once. Raises `Refused`, `UnknownRecord`, and `Conflict` if it is revoked already."""
    store = open_noted_store(context, require_outside(context, "revoke keys"))
    return store.keys.revoke(key_id, actor=context.actor.name, reason=reason)
