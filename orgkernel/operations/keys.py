"""Create, rotate and revoke the keys of the HTTP API. Only the owner or an operator can, because others could give
themselves scopes.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from orgkernel.decisions.evidence.state_records import ApiKey, KeyScope
from orgkernel.diagnostics.wording import did_you_mean, listing, quote
from orgkernel.errors import Refused
from orgkernel.operations.context import Context
from orgkernel.operations.organizations import NO_ORGANIZATION
from orgkernel.operations.rights import (
    UNKNOWN_NAME,
    list_declaring_organizations,
    open_noted_store,
    require_outside,
)
from orgkernel.state.keys import find_expiring

if TYPE_CHECKING:
    from orgkernel.kernel.kernel import Kernel
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
    org_ids: Collection[str] = (),
    expires_at: float | None = None,
) -> tuple[ApiKey, str]:
    """A new key and its secret, which cannot be read again.

    With an agent, the key acts as that agent, and the person is the one who runs it. With only a person, it acts as that
    person. Such a key is valid only in `org_ids`, by default for the only organization that declares the agent or
    the person.
    Without an agent and a person it is an operator's key, by default for all organizations.

    Raises `Refused`: `NO_ORGANIZATION` if the organization is not clear, `UNKNOWN_NAME` for one that does not exist.
    """
    subject = (
        f"agent:{agent_id}"
        if agent_id is not None
        else f"person:{person_id}"
        if person_id is not None
        else ""
    )
    if org_ids:
        require_organizations(context.kernel, org_ids)
    elif subject:
        org_ids = _find_organization(context.kernel, subject)
    store = open_noted_store(context, require_outside(context, "make keys"))
    return store.keys.create(
        name,
        scopes,
        created_by=context.actor.name,
        agent_id=agent_id,
        person_id=person_id,
        org_ids=org_ids,
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


def bind_keys(
    context: Context, org_ids: Mapping[str, Collection[str]], reason: str = ""
) -> tuple[ApiKey, ...]:
    """Bind keys that have no organization yet, by their ids, each to its organizations: all of them, or none.

    Raises `Refused`, `UnknownRecord`, and `Conflict` for a key that is bound already.
    """
    for each in org_ids.values():
        require_organizations(context.kernel, each)
    store = open_noted_store(context, require_outside(context, "bind keys"))
    return store.keys.bind(org_ids, actor=context.actor.name, reason=reason)


def list_unbound_keys(store: Store, now: float) -> tuple[ApiKey, ...]:
    """The valid keys of agents and people that name no organization, so they are not valid in any."""
    return tuple(key for key in store.keys.list() if key.is_unbound and key.is_active(now))


def list_expiring_keys(store: Store, now: float) -> tuple[ApiKey, ...]:
    """The keys that expire soon and have no successor."""
    return find_expiring(store.keys.list(), now, EXPIRING_SECONDS)


def revoke_key(context: Context, key_id: str, reason: str = "") -> ApiKey:
    """Revoke a key at once. Raises `Refused`, `UnknownRecord`, and `Conflict` if it is already revoked."""
    store = open_noted_store(context, require_outside(context, "revoke keys"))
    return store.keys.revoke(key_id, actor=context.actor.name, reason=reason)


def require_organizations(kernel: Kernel | None, org_ids: Collection[str]) -> None:
    """Raise `Refused` (`UNKNOWN_NAME`) if no document declares one of the organizations. Without documents, names are not checked."""
    known = () if kernel is None else (*kernel.state.served, *kernel.state.refused)
    for org_id in org_ids if kernel is not None else ():
        if org_id not in known:
            help = did_you_mean(org_id, known) or f"organizations are {listing(sorted(known))}"
            raise Refused(f"there is no organization {quote(org_id)}", help, UNKNOWN_NAME)


def _find_organization(kernel: Kernel | None, subject: str) -> tuple[str, ...]:
    """The only organization that declares a subject. Raises `Refused` (`NO_ORGANIZATION`)."""
    declaring = () if kernel is None else list_declaring_organizations(kernel.state, subject)
    if len(declaring) == 1:
        return declaring
    if declaring:
        message, help = (
            f"{listing(declaring)} declare {quote(subject)}",
            "name the one that the key is for with `--org`",
        )
    else:
        message = f"no organization here declares {quote(subject)}"
        help = "declare it first, or name the organization that will with `--org`"
    raise Refused(message, help, NO_ORGANIZATION)
