"""Make, rotate and revoke the keys of the HTTP API. Only the owner or an operator can: others could give themselves scopes."""

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
"""A key that expires within this time is told."""


def create_key(
    context: Context,
    name: str,
    scopes: Sequence[KeyScope],
    *,
    agent_id: str | None = None,
    person_id: str | None = None,
    expires_at: float | None = None,
) -> tuple[ApiKey, str]:
    """A new key and its secret, which nobody can read again; raises `Refused`.

    With an agent it acts as that agent, and the person is the one who runs it; with a person alone it acts as that person.
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
    """A new key with the same rights, the old one with its new end, and the new secret.

    Raises `Refused`, `UnknownRecord`, and `Conflict` if the old key does not hold any more.
    """
    store = open_noted_store(context, require_outside(context, "rotate keys"))
    return store.keys.rotate(
        key_id, actor=context.actor.name, overlap=overlap, expires_at=expires_at, reason=reason
    )


def list_expiring_keys(store: Store, now: float) -> tuple[ApiKey, ...]:
    """The keys that expire soon and have no successor."""
    return find_expiring(store.keys.list(), now, EXPIRING_SECONDS)


def revoke_key(context: Context, key_id: str, reason: str = "") -> ApiKey:
    """Make a key useless at once; raises `Refused`, `UnknownRecord`, and `Conflict` when it is revoked already."""
    store = open_noted_store(context, require_outside(context, "revoke keys"))
    return store.keys.revoke(key_id, actor=context.actor.name, reason=reason)
