"""API keys: 256 random bits shown once, of which the store keeps the SHA-256 (docs/authentication.md).

A plain digest is enough: there is nothing to guess in 256 random bits, and a check has to be cheap.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from hashlib import sha256
from math import inf

import msgspec
from sqlalchemy import insert, select, update

from orgkernel.decisions.evidence.state_records import KEY_PREFIX, SCOPES, ApiKey, AuditEntry, KeyScope
from orgkernel.decisions.evidence.state_view import ALL_ORGANIZATIONS
from orgkernel.diagnostics.wording import listing, quote
from orgkernel.errors import Conflict, Refused
from orgkernel.state.rows import (
    StoreContext,
    clean_record,
    decode_record,
    encode_row,
    require_id,
    require_record,
    require_time,
    require_word,
)
from orgkernel.state.tables import api_keys
from orgkernel.state.writer import Transaction

_BYTES = 32
NO_ORGANIZATION = "NO_ORGANIZATION"
_LIST = "`orgkernel key list` lists all keys"


class Keys:
    """The keys of a store."""

    def __init__(self, context: StoreContext, version: Callable[[], int]) -> None:
        self._context = context
        self._version = version
        self._known: tuple[int, dict[str, ApiKey]] = (-1, {})
        """A state version and the keys at it, by their digests: every request over HTTP asks for one."""
        self._expired: set[str] = set()
        """Keys that were found expired: a clock that is set back does not bring them back."""

    def create(
        self,
        name: str,
        scopes: Sequence[KeyScope],
        *,
        created_by: str,
        agent_id: str | None = None,
        person_id: str | None = None,
        org_ids: Collection[str] = (),
        expires_at: float | None = None,
    ) -> tuple[ApiKey, str]:
        """A new key and its secret, which is shown only once.

        The key of an agent or a person needs the organizations that declare it. Raises `Refused`.
        """
        require_id("the name", name)
        require_time("the end", expires_at)
        for scope in scopes:
            require_word("the scope", scope, SCOPES)
        if not scopes:
            raise Refused("a key without a scope cannot be used", code="BAD_VALUE")
        if agent_id is not None:
            require_id("the agent", agent_id)
        if person_id is not None:
            require_id("the person", person_id)
        secret = self._draw()
        held = tuple(scope for scope in SCOPES if scope in scopes)
        draft = ApiKey(
            self._context.new_id("k"), name, held, 0.0, agent_id, created_by, expires_at, person_id=person_id,
            org_ids=_clean_organizations(org_ids),
        )  # fmt: skip
        if draft.is_unbound:
            raise Refused(
                "the key of an agent or a person needs an organization, because another one can declare the same name",
                "name the organization that declares it with `--org`",
                NO_ORGANIZATION,
            )
        return self._context.change(lambda transaction: _insert(transaction, draft, secret)), secret

    def rotate(
        self, key_id: str, *, actor: str, overlap: float, expires_at: float | None = None, reason: str = ""
    ) -> tuple[ApiKey, ApiKey, str]:
        """A new key with the same rights, the old one, which expires after `overlap` seconds, and the new secret.

        If no end is given, the new key gets the lifetime of the old one. Raises `UnknownRecord`, and `Conflict` if
        the old key is no longer valid.
        """
        require_time("the end", expires_at)
        if not 0 <= overlap < inf:
            raise Refused("the overlap is not a number of seconds", code="BAD_VALUE")
        secret, new_id = self._draw(), self._context.new_id("k")

        def change(transaction: Transaction) -> tuple[ApiKey, ApiKey]:
            now = transaction.now
            old = require_record(transaction, ApiKey, api_keys, key_id, "key", _LIST)
            if not old.is_active(now):
                says = "is already revoked" if old.revoked_at is not None else "has expired"
                raise Conflict(
                    f"the key {quote(key_id)} {says}",
                    "create a new key with `orgkernel key create`",
                    "ALREADY_REVOKED" if old.revoked_at is not None else "KEY_EXPIRED",
                )
            end = expires_at
            if end is None and old.expires_at is not None:
                end = now + old.expires_at - old.created_at
            draft = msgspec.structs.replace(old, key_id=new_id, created_by=actor, expires_at=end)
            new = _insert(transaction, draft, secret, {"replaces": key_id})
            # A rotation must never extend the life of the old secret.
            until = min(now + overlap, old.expires_at if old.expires_at is not None else inf)
            ends = update(api_keys).where(api_keys.c.key_id == key_id).values(expires_at=until)
            transaction.connection.execute(ends)
            transaction.touch()
            old = msgspec.structs.replace(old, expires_at=until)
            _note(transaction, old, "rotated", actor, reason, {"replaced_by": new_id})
            return new, old

        return (*self._context.change(change), secret)

    def bind(
        self, org_ids: Mapping[str, Collection[str]], *, actor: str, reason: str = ""
    ) -> tuple[ApiKey, ...]:
        """Bind keys without an organization, by their ids, to organizations: all of them, or none.

        Raises `Refused`, `UnknownRecord`, and `Conflict` (`ALREADY_BOUND`) for a key that has an organization.
        """
        wanted = {key_id: _clean_organizations(each) for key_id, each in org_ids.items()}
        for key_id, each in wanted.items():
            if not each:
                raise Refused(f"the key {quote(key_id)} gets no organization", code=NO_ORGANIZATION)

        def change(transaction: Transaction) -> tuple[ApiKey, ...]:
            return tuple(_bind(transaction, key_id, each, actor, reason) for key_id, each in wanted.items())

        return self._context.change(change)

    def revoke(self, key_id: str, *, actor: str, reason: str = "") -> ApiKey:
        """Revoke a key. Raises `UnknownRecord`, and `Conflict` if it is already revoked."""

        def change(transaction: Transaction) -> ApiKey:
            key = require_record(transaction, ApiKey, api_keys, key_id, "key", _LIST)
            if key.revoked_at is not None:
                raise Conflict(f"the key {quote(key_id)} is already revoked", code="ALREADY_REVOKED")
            revoked = update(api_keys).where(api_keys.c.key_id == key_id).values(revoked_at=transaction.now)
            transaction.connection.execute(revoked)
            transaction.touch()
            _note(transaction, key, "revoked", actor, reason)
            return msgspec.structs.replace(key, revoked_at=transaction.now)

        return self._context.change(change)

    def _draw(self) -> str:
        return KEY_PREFIX + base64.urlsafe_b64encode(self._context.tokens(_BYTES)).rstrip(b"=").decode()

    def find(self, secret: str) -> ApiKey | None:
        """The active key with a secret. None for any other string."""
        if not secret.startswith(KEY_PREFIX):
            return None
        self.refresh(self._version())
        return self.find_known(secret)

    def refresh(self, version: int) -> None:
        """Read the keys, unless they were read at this version of the state."""
        if self._known[0] != version:
            # Read after the version: a later key is found too, never an earlier state.
            with self._context.reading() as connection:
                rows = connection.execute(select(api_keys).where(api_keys.c.revoked_at.is_(None))).all()
            self._known = (version, {row.digest: decode_record(ApiKey, row) for row in rows})

    def find_known(self, secret: str) -> ApiKey | None:
        """Like `find`, for the keys that were read last, without reading the store."""
        key = self._known[1].get(_compute_digest(secret))
        if key is None or key.key_id in self._expired:
            return None
        if not key.is_active(self._context.clock()):
            self._expired.add(key.key_id)
            return None
        return key

    @property
    def known(self) -> tuple[int, Collection[ApiKey]]:
        """The version of the state at which keys were read last, and those that were not revoked then."""
        return self._known[0], self._known[1].values()

    def list(self) -> tuple[ApiKey, ...]:
        """All keys, oldest first."""
        query = select(api_keys).order_by(api_keys.c.created_at, api_keys.c.key_id)
        return self._context.read(ApiKey, query)


def find_expiring(keys: Iterable[ApiKey], now: float, within: float) -> tuple[ApiKey, ...]:
    """The keys that expire soon and have no successor: no younger key for the same holder that lasts longer."""

    def rights(key: ApiKey) -> object:
        return key.name, key.scopes, key.agent_id, key.person_id, key.org_ids

    active = [key for key in keys if key.is_active(now)]
    soon = [key for key in active if key.expires_at is not None and key.expires_at - now < within]
    return tuple(
        key
        for key in soon
        if not any(rights(other) == rights(key) and _get_end(other) > _get_end(key) for other in active)
    )


def _get_end(key: ApiKey) -> float:
    return inf if key.expires_at is None else key.expires_at


def _clean_organizations(org_ids: Collection[str]) -> tuple[str, ...]:
    """The organizations in order, each once. Raises `Refused`."""
    for org_id in org_ids:
        require_id("the organization", org_id)
        if org_id == ALL_ORGANIZATIONS:
            raise Refused(
                "a key cannot be bound to `*`",
                "name each organization, or leave them out for an operator's key, which is good for all",
                "BAD_VALUE",
            )
    return tuple(sorted(set(org_ids)))


def _bind(transaction: Transaction, key_id: str, org_ids: tuple[str, ...], actor: str, reason: str) -> ApiKey:
    key = require_record(transaction, ApiKey, api_keys, key_id, "key", _LIST)
    if key.org_ids:
        raise Conflict(
            f"the key {quote(key_id)} is bound to {listing(key.org_ids)} already",
            "create another key with `orgkernel key create`",
            "ALREADY_BOUND",
        )
    bound = clean_record(msgspec.structs.replace(key, org_ids=org_ids))
    values = update(api_keys).where(api_keys.c.key_id == key_id).values(org_ids=encode_row(bound)["org_ids"])
    transaction.connection.execute(values)
    transaction.touch()
    _note(transaction, bound, "bound", actor, reason)
    return bound


def _insert(
    transaction: Transaction, draft: ApiKey, secret: str, detail: Mapping[str, str] | None = None
) -> ApiKey:
    key = msgspec.structs.replace(clean_record(draft), created_at=transaction.now)
    if key.expires_at is not None and key.expires_at <= transaction.now:
        raise Refused("the key would expire before it is created", code="BAD_VALUE")
    transaction.connection.execute(insert(api_keys).values(**encode_row(key), digest=_compute_digest(secret)))
    transaction.touch()
    _note(transaction, key, "created", key.created_by, "", detail)
    return key


def _compute_digest(secret: str) -> str:
    return sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def _note(
    transaction: Transaction,
    key: ApiKey,
    activity: str,
    actor: str,
    reason: str,
    detail: Mapping[str, str] | None = None,
) -> None:
    transaction.audit(
        AuditEntry(
            "key",
            transaction.now,
            activity,
            subject=f"agent:{key.agent_id}"
            if key.agent_id
            else f"person:{key.person_id}"
            if key.person_id
            else "",
            actor=actor,
            record_id=key.key_id,
            reason=reason,
            detail={
                "name": key.name,
                "scopes": list(key.scopes),
                "expires_at": key.expires_at,
                "person": key.person_id,
                "organizations": list(key.org_ids),
                **(detail or {}),
            },
        )
    )
