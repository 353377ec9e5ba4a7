"""Claims of files: the check for overlap and the write are one change, under the lock of every change.

A claim has a lease, so that the files of a stopped worker become free, and a fencing token that increases with every
claim of the organization. A former holder is refused by its token. Rows stay when a claim ends, so tokens keep
increasing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import msgspec
from sqlalchemy import Connection, Select, func, insert, select, update

from orgkernel.decisions.evidence.state_records import AuditEntry
from orgkernel.decisions.ownership.claim_terms import MAX_CLAIM_SECONDS, MAX_PATHS
from orgkernel.decisions.ownership.claims import ClaimConflict, ClaimIndex, FileClaim
from orgkernel.decisions.ownership.overlap import explain_unreadable, read_owned_path
from orgkernel.decisions.ownership.paths import BadPath
from orgkernel.decisions.refusals import say_claim_end
from orgkernel.diagnostics.wording import quote
from orgkernel.errors import Conflict, Refused
from orgkernel.runtime.utc import as_utc
from orgkernel.state.chain import clean_text
from orgkernel.state.clock_gap import measure_gap
from orgkernel.state.known_claims import KnownClaims
from orgkernel.state.locks import HOLDERS
from orgkernel.state.rows import StoreContext, decode_record, encode_row, require_id, require_reference
from orgkernel.state.tables import file_claims
from orgkernel.state.writer import Transaction

CLAIM_LIMIT = "CLAIM_LIMIT"


class WantedClaim(msgspec.Struct, frozen=True, kw_only=True):
    """Files to claim, with parts that can be stored."""

    holder: str
    paths: tuple[str, ...]
    seconds: float
    session: str | None = None
    planner: str | None = None
    reason: str = ""
    brief: str | None = None
    mission: str | None = None
    within: frozenset[int] = frozenset()
    """Tokens of claims that it may overlap: those of its mission."""


class ClaimPermit(msgspec.Struct, frozen=True):
    """The work for which files may be claimed."""

    session: str | None = None
    """The session of the work."""
    within: frozenset[int] = frozenset()
    """The tokens of the claims of this work."""


class Claims:
    """The claims of a store."""

    def __init__(self, context: StoreContext) -> None:
        self._context = context

    def claim(
        self,
        org_id: str,
        holder: str,
        paths: Sequence[str],
        *,
        seconds: float,
        session: str | None = None,
        planner: str | None = None,
        actor: str = "",
        reason: str = "",
        permit: Callable[[Transaction], ClaimPermit] = lambda _: ClaimPermit(),
    ) -> FileClaim:
        """Claim paths and globs, all or none.

        `permit` returns the work for which they are claimed, or raises, in the same change. Raises `Conflict`
        (`CLAIM_CONFLICT`) with the holder of an overlapping claim.
        """
        require_id("the organization", org_id)
        _require_holder(holder, session, planner)
        require_seconds(seconds)
        wanted = WantedClaim(
            holder=holder, paths=require_paths(paths), seconds=seconds, session=session, planner=planner, reason=reason
        )  # fmt: skip

        def change(transaction: Transaction) -> FileClaim:
            work = permit(transaction)
            permitted = msgspec.structs.replace(wanted, session=session or work.session, within=work.within)
            return add_claim(self._context.claims, transaction, org_id, permitted, actor)

        return self._context.change(change)

    def extend(
        self,
        org_id: str,
        token: int,
        holder: str,
        *,
        seconds: float,
        actor: str = "",
        reason: str = "",
        max_total_seconds: float | None = None,
    ) -> FileClaim:
        """Let a claim last `seconds` from now; its end is never moved back. Raises `Conflict` (`STALE_TOKEN`).

        `max_total_seconds` counts from the begin of the claim. Raises `Refused` (`CLAIM_LIMIT`) for a later end.
        """
        require_seconds(seconds)

        def change(transaction: Transaction) -> FileClaim:
            claim = _require_live(transaction, org_id, token, holder)
            # A caller whose clock or request is late must not shorten a lease that another call extended.
            until = max(claim.expires_at, transaction.now + seconds)
            if max_total_seconds is not None and until > claim.claimed_at + max_total_seconds:
                raise build_lease_refusal(until - claim.claimed_at, max_total_seconds)
            _update(transaction, claim, expires_at=until)
            claim = msgspec.structs.replace(claim, expires_at=until)
            _note(transaction, claim, "extended", actor, reason, {"seconds": seconds})
            return claim

        return self._context.change(change)

    def release(
        self, org_id: str, token: int, holder: str, *, actor: str = "", reason: str = ""
    ) -> FileClaim:
        """Give the files back. Raises `Conflict` (`STALE_TOKEN`)."""

        def change(transaction: Transaction) -> FileClaim:
            claim = _require_live(transaction, org_id, token, holder)
            _update(transaction, claim, ended_at=transaction.now)
            _note(transaction, claim, "released", actor, reason)
            return claim

        return self._context.change(change)

    def transfer(
        self,
        org_id: str,
        token: int,
        holder: str,
        to: str,
        *,
        session: str | None = None,
        actor: str = "",
        reason: str = "",
    ) -> FileClaim:
        """Hand the files over: the new claim has a new token and the same end. Raises `Conflict` (`STALE_TOKEN`)."""
        _require_holder(to, session, None)

        def change(transaction: Transaction) -> FileClaim:
            old = _require_live(transaction, org_id, token, holder)
            # The old token becomes stale, so the former holder can no longer use it.
            _update(transaction, old, ended_at=transaction.now)
            claim = msgspec.structs.replace(
                old, token=_take_next_token(transaction.connection, org_id), holder=to, session=session,
                reason=clean_text(reason),
            )  # fmt: skip
            _insert(transaction, claim)
            _note(
                transaction, claim, "transferred", actor or holder, reason, {"from": holder, "token": token}
            )
            return claim

        return self._context.change(change)

    def expire(self) -> None:
        """Record expired leases in the audit. Expired claims have no effect even before that."""
        # Most of the time nothing is due, and reading does not wait for writers.
        with self._context.reading() as connection:
            due = (file_claims.c.ended_at.is_(None), file_claims.c.expires_at <= self._context.clock())
            orgs = connection.scalars(select(file_claims.c.org_id).where(*due).distinct()).all()
        for org_id in orgs:
            self._context.change(partial(end_expired, org_id=org_id))

    def list(self, org_id: str | None = None) -> tuple[FileClaim, ...]:
        """The live claims, by organization and token."""
        query = select(file_claims).where(
            file_claims.c.ended_at.is_(None), file_claims.c.expires_at > self._context.clock()
        )
        if org_id is not None:
            query = query.where(file_claims.c.org_id == org_id)
        return self._context.read(FileClaim, query.order_by(file_claims.c.org_id, file_claims.c.token))


def add_claim(
    known: KnownClaims, transaction: Transaction, org_id: str, wanted: WantedClaim, actor: str
) -> FileClaim:
    """Within a change: claim files, all or none. Raises `Conflict` (`CLAIM_CONFLICT`)."""
    # Ended first, so the audit has the end of an old claim before the new one on the same files.
    _end_surely_expired(transaction, org_id)
    # The index is kept between claims: comparing the globs of all claims for each new one would be slow.
    live = known.read(transaction.connection, transaction.version, org_id)
    overlaps = live.find_conflicts(wanted.paths, transaction.now)
    conflicts = [each for each in overlaps if each.claim.token not in wanted.within]
    if conflicts:
        raise _build_conflict(conflicts)
    claim = FileClaim(
        org_id=org_id, token=_take_next_token(transaction.connection, org_id), holder=wanted.holder, paths=wanted.paths,
        session=wanted.session, planner=wanted.planner, claimed_at=transaction.now,
        expires_at=transaction.now + wanted.seconds, reason=clean_text(wanted.reason), brief=wanted.brief,
        mission=wanted.mission,
    )  # fmt: skip
    _insert(transaction, claim)
    detail = {"paths": list(wanted.paths), "seconds": wanted.seconds}
    _note(transaction, claim, "claimed", actor, wanted.reason, detail)
    return claim


def release_session(
    transaction: Transaction, org_id: str, session: str, holder: str, brief: str | None, actor: str
) -> None:
    """Within a change: release the claims of a holder in a session that ended well.

    Claims for a role belong to the worker that followed the same brief in the session.
    """
    for row in transaction.connection.execute(
        _select_live(transaction, org_id).where(file_claims.c.session == session)
    ).all():
        claim = decode_record(FileClaim, row)
        of_role = claim.holder.startswith("role:") and claim.brief is not None and claim.brief == brief
        if claim.holder == holder or of_role:
            _update(transaction, claim, ended_at=transaction.now)
            _note(transaction, claim, "released", actor, "the session is done")


def find_claims_for(transaction: Transaction, org_id: str, brief: str) -> tuple[FileClaim, ...]:
    """The current claims for a brief."""
    rows = transaction.connection.execute(
        _select_live(transaction, org_id).where(file_claims.c.brief == brief)
    )
    return tuple(decode_record(FileClaim, row) for row in rows)


def _select_held(org_id: str) -> Select[Any]:
    """Select the claims that were not ended, by token."""
    query = select(file_claims).where(file_claims.c.org_id == org_id, file_claims.c.ended_at.is_(None))
    return query.order_by(file_claims.c.token)


def _select_live(transaction: Transaction, org_id: str) -> Select[Any]:
    """Select the claims that hold now, by token."""
    return _select_held(org_id).where(file_claims.c.expires_at > transaction.now)


def _end_surely_expired(transaction: Transaction, org_id: str) -> None:
    """End claims that ran out before the newest row of the audit that proves a time.

    Later ones are only ignored, because a clock that is ahead must not end a lease for good.
    """
    end_expired(transaction, org_id, measure_gap(transaction.connection, transaction.now))


def end_expired(transaction: Transaction, org_id: str, since: float = 0.0) -> None:
    """End every claim whose lease ran out, at least `since` seconds ago, and write so into the audit."""
    query = _select_held(org_id).where(file_claims.c.expires_at <= transaction.now - since)
    for row in transaction.connection.execute(query).all():
        claim = decode_record(FileClaim, row)
        _update(transaction, claim, ended_at=transaction.now)
        _note(transaction, claim, "expired", "", "")


def find_older_claim(transaction: Transaction, row: Any) -> FileClaim | None:
    """Within a change: an earlier claim of another worker that holds now, and overlaps with the claim of a row."""
    claim = decode_record(FileClaim, row)
    query = _select_live(transaction, claim.org_id).where(
        file_claims.c.token < claim.token, file_claims.c.claimed_at < claim.claimed_at, file_claims.c.holder != claim.holder
    )  # fmt: skip
    older = [decode_record(FileClaim, each) for each in transaction.connection.execute(query).all()]
    # A mission and the pieces of its work may claim the same files.
    others = [each for each in older if each.brief is None or each.brief not in (claim.mission, claim.brief)]
    conflicts = ClaimIndex(others).find_conflicts(claim.paths, transaction.now)
    return conflicts[0].claim if conflicts else None


def end_claim(transaction: Transaction, row: Any, reason: str) -> None:
    """Within a change: end the claim of a row."""
    claim = decode_record(FileClaim, row)
    _update(transaction, claim, ended_at=transaction.now)
    _note(transaction, claim, "released", "", reason)


def _take_next_token(connection: Connection, org_id: str) -> int:
    # Tokens only grow, even after claims ended: a worker that kept an old token must not hold a new claim by accident.
    query = select(func.max(file_claims.c.token)).where(file_claims.c.org_id == org_id)
    last: int | None = connection.scalar(query)
    return 1 if last is None else last + 1


def _require_live(transaction: Transaction, org_id: str, token: int, holder: str) -> FileClaim:
    where = (file_claims.c.org_id == org_id, file_claims.c.token == token)
    row = transaction.connection.execute(select(file_claims).where(*where)).first()
    if row is None:
        raise Conflict(
            f"there is no claim {token} in organization {quote(org_id)}",
            "list the claims with `orgkernel claim list`",
            code="STALE_TOKEN",
        )
    # The worker may have slept past its lease. Then another one could have the files, so the token is refused.
    if row.holder != holder or row.ended_at is not None or row.expires_at <= transaction.now:
        raise Conflict(
            f"claim {token} is {'not' if row.holder != holder else 'no longer'} held by {quote(holder)}",
            "claim the files again; another worker could have changed them in the meantime",
            code="STALE_TOKEN",
        )
    return decode_record(FileClaim, row)


def _build_conflict(conflicts: Sequence[ClaimConflict]) -> Conflict:
    # If a mission and a piece of its work both claim the file, the work is named.
    first = [each for each in conflicts if each.path == conflicts[0].path][-1]
    claim, others = first.claim, len({each.path for each in conflicts}) - 1
    parties = [f"session {quote(claim.session)}"] if claim.session else []
    parties += [f"planner {quote(claim.planner)}"] if claim.planner else []
    more = (
        f"; {others} more {'path overlaps' if others == 1 else 'paths overlap'} with claims" if others else ""
    )
    whom = f" ({', '.join(parties)})" if parties else ""
    return Conflict(
        f"{quote(first.path)} overlaps with {quote(first.claimed)}, which is claimed by {quote(claim.holder)}"
        f"{whom}{more}",
        say_claim_end(claim.token, as_utc(claim.expires_at)),
        code="CLAIM_CONFLICT",
    )


def _require_holder(holder: str, session: str | None, planner: str | None) -> None:
    require_reference("the holder", holder, HOLDERS)
    if session is not None:
        require_id("the session", session)
    if planner is not None:
        require_reference("the planner", planner, HOLDERS)


def require_seconds(seconds: float) -> None:
    """Raise `Refused` for an invalid or too long lease."""
    if not 0 < seconds <= MAX_CLAIM_SECONDS:
        raise Refused(
            f"a claim cannot last {seconds:g} seconds", f"it lasts at most {MAX_CLAIM_SECONDS:g}", "BAD_VALUE"
        )


def build_lease_refusal(seconds: float, most: float) -> Refused:
    """The refusal of a claim that would last longer than the organization allows."""
    return Refused(
        f"the claim would last {seconds:.0f} seconds, more than the {most:g} that the organization allows",
        "finish the work, or hand it down again",
        CLAIM_LIMIT,
    )


def count_claims(transaction: Transaction, org_id: str, holder: str) -> int:
    """How many claims a holder has now that no hand-off made."""
    live = _select_live(transaction, org_id).where(
        file_claims.c.holder == holder, file_claims.c.brief.is_(None)
    )
    count: int = transaction.connection.execute(
        select(func.count()).select_from(live.subquery())
    ).scalar_one()
    return count


def require_paths(paths: Iterable[str]) -> tuple[str, ...]:
    """The paths in one form, each once; raises `Refused`."""
    scope_texts: dict[str, None] = {}
    for path in paths:
        owned = read_owned_path(path)
        if isinstance(owned, BadPath) or (problem := explain_unreadable(path)):
            raise Refused(
                f"{quote(path)} {owned.problem if isinstance(owned, BadPath) else problem}",
                "write a path or a glob from the root of the project",
                "BAD_VALUE",
            )
        # A path is shown to other workers as it is, so it is refused instead of being masked.
        if clean_text(owned.text) != owned.text:
            raise Refused(f"the path {quote(path)} cannot be stored", "it looks like a secret", "BAD_VALUE")
        scope_texts[owned.text] = None
    if not 0 < len(scope_texts) <= MAX_PATHS:
        raise Refused(
            f"a claim cannot have {len(scope_texts)} paths", f"it has 1 to {MAX_PATHS}", "BAD_VALUE"
        )
    return tuple(scope_texts)


def _insert(transaction: Transaction, claim: FileClaim) -> None:
    values = {**encode_row(claim), "version": transaction.touch()}
    transaction.connection.execute(insert(file_claims).values(**values))


def _update(transaction: Transaction, claim: FileClaim, **values: Any) -> None:
    where = (file_claims.c.org_id == claim.org_id, file_claims.c.token == claim.token)
    query = update(file_claims).where(*where)
    transaction.connection.execute(query.values(version=transaction.touch(), **values))


def _note(
    transaction: Transaction,
    claim: FileClaim,
    activity: str,
    actor: str,
    reason: str,
    detail: dict[str, Any] | None = None,
) -> None:
    transaction.audit(
        AuditEntry(
            "claim", transaction.now, activity, subject=claim.holder, actor=actor,
            org_id=claim.org_id, session=claim.session or "", record_id=f"claim#{claim.token}", reason=reason,
            detail=detail,
        )
    )  # fmt: skip
