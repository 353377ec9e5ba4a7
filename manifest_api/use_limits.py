"""Grants for a number of uses, and whoever cannot use them up (policies and governance §4.9, §4.11).

A use counts only when it is written down under a credential with the scope `report`. To anybody else such a grant would
be one without limit, since nothing is ever used up by asking; and if asking used it up, anybody on this machine could
take what was given to somebody else. So whoever does not report is answered `ask` where everything hangs on such a grant.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec.structs import replace

from manifest_api.guards.caller import Caller
from orgkernel.decisions.access.decision import AccessDecision, AccessRow
from orgkernel.decisions.access.request import AccessRequest
from orgkernel.decisions.reasons import Reason
from orgkernel.kernel.access import AccessDesk

NEEDS_REPORT = Reason(
    "GRANT_NEEDS_REPORT",
    "it rests on a grant for a number of uses, which only a credential with the scope `report` can use up",
)
_CONSUME = "consume_grant:"


def uses_of(decision: AccessDecision, caller: Caller) -> tuple[str, ...]:
    """The grants an answer uses up."""
    return decision.grants if caller.is_known and caller.may("report") else ()


def as_told(
    decision: AccessDecision, reasons: tuple[Reason, ...], request: AccessRequest, caller: Caller
) -> tuple[AccessDecision, tuple[Reason, ...]]:
    """A decision as it holds for whoever asks."""
    if not _is_withheld(decision, caller):
        return decision, reasons
    code = NEEDS_REPORT.code
    asks = replace(
        decision, outcome="ask", code=code, codes=(code,), obligations=(f"approval:{request.resource}",), grants=()
    )  # fmt: skip
    return asks, (NEEDS_REPORT,)


def rows_as_told(
    desk: AccessDesk, rows: Sequence[AccessRow], asked: AccessRequest, caller: Caller
) -> Sequence[AccessRow]:
    """The rows of a list as evaluating each of them would answer."""
    given: Iterable[bool] = (
        grant.uses_left is not None for grants in desk.state.grants.values() for grant in grants
    )
    if caller.may("report") or not any(given):
        return rows
    return [told for row in rows for told in _told(desk, row, asked, caller)]


def _told(desk: AccessDesk, row: AccessRow, asked: AccessRequest, caller: Caller) -> Iterator[AccessRow]:
    if row.outcome != "allow":
        yield row
        return
    requests = (
        replace(asked, subject=row.subject, action=action, resource=row.resource) for action in row.actions
    )
    withheld = tuple(request.action for request in requests if _is_withheld(desk.decide(request), caller))
    left = tuple(action for action in row.actions if action not in withheld)
    if left:
        yield replace(row, actions=left)
    if withheld:
        yield replace(row, actions=withheld, outcome="ask", code=NEEDS_REPORT.code)


def _is_withheld(decision: AccessDecision, caller: Caller) -> bool:
    return (
        bool(decision.grants)
        and not uses_of(decision, caller)
        and any(each.startswith(_CONSUME) for each in decision.obligations)
    )
