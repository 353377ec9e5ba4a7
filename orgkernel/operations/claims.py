"""Claim files, extend claims, release them, and transfer them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from orgkernel.decisions.ownership.claims import ClaimIndex, FileClaim
from orgkernel.operations.context import Context
from orgkernel.operations.rights import choose_subject, find_member, list_views, require_known_subject

if TYPE_CHECKING:
    from orgkernel.kernel.stored import Store

LEASE_SECONDS = 3_600.0
"""The default length of a claim in seconds."""


def claim_files(
    context: Context,
    org: str,
    paths: Sequence[str],
    holder: str | None = None,
    *,
    seconds: float | None = None,
    session: str | None = None,
    planner: str | None = None,
    reason: str = "",
) -> FileClaim:
    """Claim paths and globs for a holder, all or none. A claim is no permission to write.

    Raises `Conflict` (`CLAIM_CONFLICT`), and `Refused`.
    """
    org_id = _get_org_id(context, org)
    find_member(context.kernel, context.actor)  # raises if it is undeclared or not at work
    holder = choose_subject(context, holder, "holder", org_id)
    for each in (holder, planner):
        _require_declared(context, org_id, each)
    return context.store.claims.claim(
        org_id, holder, paths, seconds=LEASE_SECONDS if seconds is None else seconds, session=session, planner=planner,
        actor=context.actor.name, reason=reason,
    )  # fmt: skip


def extend_claim(
    context: Context,
    org: str,
    token: int,
    holder: str | None = None,
    *,
    seconds: float | None = None,
    reason: str = "",
) -> FileClaim:
    """Extend a claim, counted from now. Raises `Conflict` (`STALE_TOKEN`)."""
    org_id = _get_org_id(context, org)
    holder = _get_holder(context, holder, org_id)
    lasts = LEASE_SECONDS if seconds is None else seconds
    return context.store.claims.extend(
        org_id, token, holder, seconds=lasts, actor=context.actor.name, reason=reason
    )


def release_claim(
    context: Context, org: str, token: int, holder: str | None = None, *, reason: str = ""
) -> FileClaim:
    """Release the files of a claim. Raises `Conflict` (`STALE_TOKEN`)."""
    org_id = _get_org_id(context, org)
    holder = _get_holder(context, holder, org_id)
    return context.store.claims.release(org_id, token, holder, actor=context.actor.name, reason=reason)


def transfer_claim(
    context: Context,
    org: str,
    token: int,
    to: str,
    holder: str | None = None,
    *,
    session: str | None = None,
    reason: str = "",
) -> FileClaim:
    """Transfer a claim: the new holder gets a new token. Raises `Conflict` (`STALE_TOKEN`)."""
    org_id = _get_org_id(context, org)
    holder = _get_holder(context, holder, org_id)
    _require_declared(context, org_id, to)
    return context.store.claims.transfer(
        org_id, token, holder, to, session=session, actor=context.actor.name, reason=reason
    )


def list_claims(store: Store, org_id: str | None = None, path: str | None = None) -> tuple[FileClaim, ...]:
    """The current claims; with a path or a glob, those that overlap with it."""
    claims = store.claims.list(org_id)
    if path is None:
        return claims
    return tuple(dict.fromkeys(each.claim for each in ClaimIndex(claims).find_conflicts([path])))


def _get_holder(context: Context, holder: str | None, org_id: str) -> str:
    """The holder of a claim: the actor itself, or a role that it fills, to which work was handed down."""
    member = None if holder is None else find_member(context.kernel, context.actor)
    if holder is not None and member is not None and holder.startswith("role:") and holder in member.own:
        return holder
    return choose_subject(context, holder, "holder", org_id)


def _get_org_id(context: Context, org: str) -> str:
    return org if context.kernel is None else context.kernel.organization(org).snapshot.org_id


def _require_declared(context: Context, org_id: str, subject: str | None) -> None:
    """Raise `Refused` (`UNKNOWN_NAME`) for an agent or a person whom no document declares."""
    if context.kernel is not None and subject is not None and subject.startswith(("agent:", "person:")):
        require_known_subject(list_views(context.kernel.state, org_id), subject, context.kernel.state)
