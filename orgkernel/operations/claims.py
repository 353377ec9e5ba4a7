"""Claim files, extend claims, release them, and transfer them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from orgkernel.decisions.ownership.claim_terms import (
    ClaimTerms,
    explain_broad_path,
    find_uncovered,
    get_claim_terms,
    is_free,
)
from orgkernel.decisions.ownership.claims import ClaimIndex, FileClaim
from orgkernel.decisions.work.contracts.bindings import SubjectNames, name_subject
from orgkernel.diagnostics.wording import quote
from orgkernel.documents.records import Brief
from orgkernel.errors import Refused
from orgkernel.operations.bindings import find_writer
from orgkernel.operations.context import Context
from orgkernel.operations.rights import choose_subject, find_member, list_views, require_known_subject
from orgkernel.prepared_types import prepared
from orgkernel.state.claims import (
    CLAIM_LIMIT,
    ClaimPermit,
    build_lease_refusal,
    count_claims,
    require_paths,
    require_seconds,
)
from orgkernel.state.handoffs import HandoffRows

if TYPE_CHECKING:
    from orgkernel.kernel.stored import Store
    from orgkernel.state.writer import Transaction

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
    """Claim paths and globs for a holder, all or none. A claim does not give permission to write.

    An agent claims only files of a brief that was handed down to it, unless its role may claim without a hand-off. Raises
    `Conflict` (`CLAIM_CONFLICT`), and `Refused` (`CLAIM_WITHOUT_HANDOFF`, `CLAIM_LIMIT`).
    """
    org_id = _get_org_id(context, org)
    writer = find_writer(context, org_id)  # raises if it is undeclared or not at work
    holder = choose_subject(context, holder, "holder", org_id)
    for each in (holder, planner):
        _require_declared(context, org_id, each)
    terms = find_claim_terms(context, org_id)
    lasts = choose_lease(seconds, terms)
    paths = require_paths(paths)
    if problem := explain_broad_path(paths, terms.min_fixed_names):
        raise Refused(problem, "claim a folder or files in it", CLAIM_LIMIT)

    def permit(transaction: Transaction) -> ClaimPermit:
        if count_claims(transaction, org_id, holder) >= terms.max_claims:
            message = f"{quote(holder)} has {terms.max_claims} claims, and may not have more"
            raise Refused(message, "release one of them", CLAIM_LIMIT)
        if writer is None or is_free(writer, terms):
            return ClaimPermit()
        return _find_covering_work(HandoffRows(transaction, org_id), writer, paths, session)

    return context.store.claims.claim(
        org_id, holder, paths, seconds=lasts, session=session, planner=planner,
        actor=context.actor.name, reason=reason, permit=permit,
    )  # fmt: skip


def find_claim_terms(context: Context, org_id: str) -> ClaimTerms:
    """The terms of an organization for claims, or the default ones if there are no documents."""
    return ClaimTerms() if context.kernel is None else get_claim_terms(context.kernel.access(org_id).view)


def choose_lease(seconds: float | None, terms: ClaimTerms) -> float:
    """How long a claim lasts: the requested seconds, or an hour. Raises `Refused` (`CLAIM_LIMIT`)."""
    if seconds is None:
        return min(LEASE_SECONDS, terms.max_seconds)
    require_seconds(seconds)
    if seconds > terms.max_seconds:
        raise build_lease_refusal(seconds, terms.max_seconds)
    return seconds


def _find_covering_work(
    log: HandoffRows, writer: SubjectNames, paths: Sequence[str], session: str | None
) -> ClaimPermit:
    """The work of the writer whose brief covers all paths. Raises `Refused` (`CLAIM_WITHOUT_HANDOFF`)."""
    outside = paths[0] if paths else ""
    for work in reversed(log.list_running_of(writer)):
        brief = None if work.brief is None else log.contracts.find(work.brief, "brief")
        if brief is None or session not in (None, work.session):
            continue
        uncovered = find_uncovered(paths, msgspec.convert(brief.body, prepared(Brief)).files_owned)
        if uncovered is None:
            return ClaimPermit(work.session, frozenset(() if work.token is None else (work.token,)))
        outside = uncovered
    raise Refused(
        f"no brief that was handed down to {name_subject(writer)} and is still being worked on covers {quote(outside)}",
        "ask your sender for a brief with these files, or report them as a pending action",
        "CLAIM_WITHOUT_HANDOFF",
    )


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
    terms = find_claim_terms(context, org_id)
    lasts = choose_lease(seconds, terms)
    return context.store.claims.extend(
        org_id, token, holder, seconds=lasts, actor=context.actor.name, reason=reason,
        max_total_seconds=terms.max_total_seconds,
    )  # fmt: skip


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
