"""Birth certificates of agents: find, renew, revoke and verify them.

A certificate is verified without a store. Whether it was revoked, and whether its agent is still at work, is known only
to the store of its organization, so a verification states whether that store was asked.
"""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING, Literal

import msgspec

from orgkernel.decisions.evidence.crew_records import AgentIdentity, KeyRevocation
from orgkernel.decisions.evidence.state_view import STOPPED, Lifecycle
from orgkernel.diagnostics.wording import quote
from orgkernel.errors import BadStore, Refused
from orgkernel.operations.agents import require_agent
from orgkernel.operations.context import Context
from orgkernel.operations.organizations import choose_organization, require_one
from orgkernel.operations.rights import list_views, open_noted_store
from orgkernel.runtime.utc import as_seconds, as_utc
from orgkernel.state.certificates import (
    BAD_CERTIFICATE,
    BirthCertificate,
    decode_did,
    derive_did,
    name_certificate,
    read_certificate,
    render_certificate,
    sign_certificate,
    verify_certificate,
)
from orgkernel.state.crew import require_certificate
from orgkernel.state.identity_keys import IdentityKeys
from orgkernel.state.location import StoreLocation

if TYPE_CHECKING:
    from orgkernel.kernel.stored import Store

__all__ = [
    "CERTIFICATE_SECONDS",
    "BirthCertificate",
    "CertificateVerification",
    "find_certificate",
    "find_issuer",
    "list_ending_certificates",
    "open_identity_keys",
    "renew_certificate",
    "require_issuer",
    "revoke_certificate",
    "verify_against_store",
    "verify_birth_certificate",
]
CERTIFICATE_SECONDS = 365 * 86_400.0
"""The lifetime of a certificate, unless another end is given."""
ENDING_SECONDS = 30 * 86_400.0
"""A certificate that ends within this time is reported."""
_INACTIVE: tuple[Lifecycle, ...] = ("registered", *STOPPED)


class CertificateVerification(msgspec.Struct, frozen=True, kw_only=True):
    """A certificate that is valid as far as it was verified."""

    certificate: BirthCertificate
    issuer: Literal["trusted", "stored", "not_checked"]
    """With what `issuer` of the certificate was compared: with the key of the organization, or, where that key is not at
    hand, with the issuer of the stored certificate of the agent.
    """
    revocation: Literal["not_revoked", "not_checked"]
    """Whether the store of the organization was asked for a revocation and for the lifecycle of the agent."""


def find_certificate(context: Context, agent_id: str, *, org: str | None = None) -> BirthCertificate:
    """The birth certificate of an agent. Raises `UnknownRecord` if it was never commissioned."""
    org_id = choose_organization(context, org)
    require_one(org_id, "a certificate")
    stored_certificate = require_certificate(context.store.crew.certificate(org_id, agent_id), agent_id)
    try:
        return read_certificate(stored_certificate)
    except Refused as error:
        # Certificates of earlier versions had no end.
        help = f"`orgkernel agent renew-certificate {agent_id}` issues a new one"
        raise Refused(error.message, help, error.code) from None


def list_ending_certificates(store: Store, now: float) -> tuple[BirthCertificate, ...]:
    """The certificates that have ended or end soon, of agents that are not decommissioned."""
    certificates = []
    for content in store.crew.list_certificates():
        with contextlib.suppress(Refused):  # one of an earlier version, which is refused where it is shown
            certificates.append(read_certificate(content))
    return tuple(
        each
        for each in certificates
        if (as_seconds(each.expires_at) or 0) - now < ENDING_SECONDS
        and store.read_view(each.org_id).get_lifecycle(each.agent_id) != "decommissioned"
    )


def renew_certificate(
    context: Context,
    agent_id: str,
    *,
    expires_at: float | None = None,
    public_key: str | None = None,
    org: str | None = None,
    reason: str = "",
) -> BirthCertificate:
    """Issue a new certificate for an agent. It keeps its key, or gets a new one if its key was revoked.

    `public_key` is the new `did:key` of an agent that keeps its private key itself. Raises `Refused`, `UnknownAgent`,
    `UnknownRecord`, and `Conflict`.
    """
    org_id = choose_organization(context, org)
    require_one(org_id, "a certificate")
    what, itself = f"renew the certificate of {quote(f'agent:{agent_id}')}", "renew its own certificate"
    store = open_noted_store(context, require_agent(context, org_id, agent_id, what, itself))
    now = store.context.clock()
    ends = as_utc(now + CERTIFICATE_SECONDS if expires_at is None else expires_at)
    if ends is None or (expires_at is not None and expires_at <= now):
        raise Refused("the certificate would expire before it is issued", code="BAD_VALUE")
    keys = open_identity_keys(store, org_id)
    with keys.writing():
        view = store.read_view(org_id)
        require_certificate(store.crew.certificate(org_id, agent_id), agent_id)
        identity = view.identities[agent_id]
        did = _choose_key(store, keys, identity, public_key)
        first = min(view.commissions[agent_id], key=lambda each: each.at)
        issuer = require_issuer(store, keys, org_id)
        certificate = sign_certificate(
            BirthCertificate(
                did,
                agent_id,
                org_id,
                first.role_id,
                as_utc(first.at) or "",
                first.actor,
                first.snapshot,
                derive_did(issuer),
                ends,
            ),
            issuer,
        )
        store.crew.renew_certificate(
            org_id, identity.did, msgspec.structs.replace(identity, did=did), render_certificate(certificate),
            actor=context.actor.name, reason=reason,
        )  # fmt: skip
    return certificate


def _choose_key(store: Store, keys: IdentityKeys, identity: AgentIdentity, public_key: str | None) -> str:
    """The key of a renewed certificate."""
    if store.crew.find_revocation(identity.org_id, identity.did) is None:
        if public_key not in (None, identity.did):
            raise Refused(
                f"the agent {quote(identity.agent_id)} has the key {quote(identity.did)}",
                f"revoke that key first: `orgkernel agent revoke-certificate {identity.agent_id}`",
                "IDENTITY_CONFLICT",
            )
        return identity.did
    if public_key is not None:
        decode_did(public_key)
        return public_key
    return keys.make([identity.agent_id], {identity.did})[identity.agent_id].did


def revoke_certificate(
    context: Context, agent_id: str, *, org: str | None = None, reason: str = ""
) -> KeyRevocation:
    """Revoke the key of an agent, and all certificates for it, at once.

    Raises `Refused`, `UnknownAgent`, `UnknownRecord`, and `Conflict` if it is already revoked.
    """
    org_id = choose_organization(context, org)
    require_one(org_id, "a certificate")
    what, itself = f"revoke the certificate of {quote(f'agent:{agent_id}')}", "revoke its own certificate"
    store = open_noted_store(context, require_agent(context, org_id, agent_id, what, itself))
    return store.crew.revoke_key(org_id, agent_id, actor=context.actor.name, reason=reason)


def verify_birth_certificate(
    content: bytes | str, now: float, *, agent_id: str | None = None, issuer: str | None = None
) -> CertificateVerification:
    """Verify a certificate without a store or network: its content, its end, and the signature of its issuer.

    `now` is in seconds since 1970-01-01 UTC. `agent_id` is the agent that presents the certificate. A revocation is not
    noticed. Raises `Refused`.
    """
    certificate = read_certificate(content)
    _require_holder(certificate, agent_id, None)
    verify_certificate(certificate, now, issuer)
    return CertificateVerification(
        certificate=certificate,
        issuer="not_checked" if issuer is None else "trusted",
        revocation="not_checked",
    )


def verify_against_store(
    context: Context,
    content: bytes | str,
    *,
    agent_id: str | None = None,
    org: str | None = None,
    issuer: str | None = None,
) -> CertificateVerification:
    """Verify a certificate, and ask the store for its key, a revocation and the lifecycle of its agent.

    `agent_id` and `org` are the agent that presents the certificate, and its organization. The store of another
    organization is not asked. Without `issuer`, the key of the organization next to the store is the trusted one; where
    it is not, as on another machine with the same database, the issuer of the stored certificate. Raises `Refused`, and
    `StoreError`.
    """
    store = context.store
    certificate = read_certificate(content)
    _require_holder(certificate, agent_id, None if org is None else choose_organization(context, org))
    own_issuer = find_issuer(store.location, certificate.org_id)
    trusted = issuer or own_issuer
    stored = None if trusted is not None else store.crew.certificate(certificate.org_id, certificate.agent_id)
    expected = trusted if stored is None else read_certificate(stored).issuer
    verify_certificate(certificate, store.context.clock(), expected)
    identities = store.crew.identities(certificate.org_id)
    is_known = bool(identities) or own_issuer is not None
    if is_known:
        _refuse_ended(context, certificate, identities.get(certificate.agent_id))
    return CertificateVerification(
        certificate=certificate,
        issuer="not_checked" if expected is None else "trusted" if stored is None else "stored",
        revocation="not_revoked" if is_known else "not_checked",
    )


def _require_holder(certificate: BirthCertificate, agent_id: str | None, org_id: str | None) -> None:
    """Raise `Refused` if the certificate is for another agent or another organization."""
    if agent_id not in (None, certificate.agent_id):
        text = f"{name_certificate(certificate)} belongs to another agent than {quote(agent_id)}"
        raise Refused(text, "", BAD_CERTIFICATE)
    if org_id not in (None, certificate.org_id):
        text = f"{name_certificate(certificate)} belongs to the organization {quote(certificate.org_id)}, not to {quote(org_id)}"
        raise Refused(text, "", BAD_CERTIFICATE)


def _refuse_ended(context: Context, certificate: BirthCertificate, identity: AgentIdentity | None) -> None:
    """Raise `Refused` if the store or the documents end a certificate."""
    org_id, agent_id, name = certificate.org_id, certificate.agent_id, name_certificate(certificate)
    revocation = context.store.crew.find_revocation(org_id, certificate.did)
    if revocation is not None:
        why = f": {revocation.reason}" if revocation.reason else ""
        text = f"{name}, issued by {quote(certificate.issuer)}, was revoked at {as_utc(revocation.at)}{why}"
        raise Refused(text, "do not trust the holder of this key", BAD_CERTIFICATE)
    if identity is None:
        text = (
            f"{name} is not in the store of {quote(org_id)}, whose key {quote(certificate.issuer)} signed it"
        )
        raise Refused(text, "the store could be an old backup; commission the agent again", BAD_CERTIFICATE)
    if identity.did != certificate.did:
        raise Refused(
            f"{name} is for a former key: the agent has the key {quote(identity.did)}",
            f"`orgkernel agent certificate {agent_id}` prints the current certificate",
            BAD_CERTIFICATE,
        )
    lifecycle = context.store.read_view(org_id).get_lifecycle(agent_id)
    if lifecycle in _INACTIVE:
        text = f"{name}, issued by {quote(certificate.issuer)}, is not valid: the agent is {lifecycle}"
        raise Refused(text, f"`orgkernel agent list` shows the state of {quote(agent_id)}", BAD_CERTIFICATE)
    views = () if context.kernel is None else list_views(context.kernel.state, org_id)
    if any(agent_id not in view.records.agents for view in views):
        text = f"{name}, issued by {quote(certificate.issuer)}, is not valid: no roster of {quote(org_id)} declares the agent"
        raise Refused(text, "declare the agent in a roster, or decommission it", BAD_CERTIFICATE)


def require_issuer(store: Store, keys: IdentityKeys, org_id: str) -> bytes:
    """The key of the organization, created if it has issued no certificate. Within `IdentityKeys.writing`.

    Raises `BadStore` if its key is on another machine or was lost: a second key would make all its certificates invalid.
    """
    if keys.find_issuer() is None:
        for content in store.crew.list_certificates():
            with contextlib.suppress(Refused):
                certificate = read_certificate(content)
                if certificate.org_id == org_id:
                    raise BadStore(
                        f"the key {quote(certificate.issuer)} with which {quote(org_id)} signs certificates is not here",
                        "use the machine that has it, or restore it from a backup",
                    )
    return keys.issuer()


def open_identity_keys(store: Store, org_id: str) -> IdentityKeys:
    """The private keys of an organization, next to its store."""
    return IdentityKeys(store.location.checkpoints, org_id, store.context.tokens)


def find_issuer(location: StoreLocation, org_id: str) -> str | None:
    """The `did:key` with which an organization signs certificates next to a store; None if it has none yet."""
    seed = IdentityKeys(location.checkpoints, org_id, os.urandom).find_issuer()
    return None if seed is None else derive_did(seed)
