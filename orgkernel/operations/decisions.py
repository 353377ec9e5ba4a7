"""Make decisions and record them: the audit row, and the uses of grants.

A use of a grant with a limited number of uses counts only when it is recorded for a credential that may report. If
asking did not use up such a grant, it would be unlimited for other callers; if it did, any caller on this machine could
use up the grants of others. So the answer is `ask` if everything depends on such a grant and the credential may not
report, or belongs to a subject without a right over the holder of the grant.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct
from msgspec.structs import replace

from orgkernel.decisions.access.decision import AccessDecision, AccessRow
from orgkernel.decisions.access.request import AccessRequest
from orgkernel.decisions.access.stored_index import find_limited_grants
from orgkernel.decisions.access.tables import get_access_tables
from orgkernel.decisions.evidence.state_records import AuditEntry
from orgkernel.decisions.reasons import Reason
from orgkernel.errors import Conflict
from orgkernel.graph.questions import OrgView
from orgkernel.kernel.access import OrganizationAccess
from orgkernel.kernel.kernel import Kernel
from orgkernel.operations.authority import has_authority
from orgkernel.operations.context import Actor

if TYPE_CHECKING:
    from orgkernel.kernel.stored import Store
    from orgkernel.state.writer import PendingWrite

TRIES = 3
NEEDS_REPORT: Final = "GRANT_NEEDS_REPORT"
"""The code of an answer that rests on a grant for a number of uses, which this way of asking does not use up."""
_NEEDS_REPORT = Reason(
    NEEDS_REPORT,
    "it rests on a grant for a number of uses, which only a credential with the scope `report` can use up",
)
_USED_UP = Reason("GRANT_USED_UP", "another caller used up the grant it needs in the meantime")
_OF_ANOTHER = Reason(
    "GRANT_OF_ANOTHER",
    "it rests on a grant for a number of uses, which only its holder, a superior of the holder, the owner or an operator "
    "can use up",
)
_CONSUME = "consume_grant:"
# Texts of callers are truncated in the audit, so a request cannot fill the store.
_MAX_LENGTH = 500

Answered = tuple[AccessDecision, tuple[Reason, ...], str]
"""A decision, its reasons, and the name of its audit row; empty if it was not stored."""


class DecidedRequest(Struct, frozen=True):
    """A decided request, whose audit row is being written."""

    org: str
    asked: AccessRequest
    actor: Actor
    decision: AccessDecision
    reasons: tuple[Reason, ...]
    pending: PendingWrite | None
    """The row that is being written; None if there is no store."""

    def answer(self, row: str = "") -> Answered:
        """The answer after its row was written, without the obligations that this has met."""
        used = {f"{_CONSUME}{grant}" for grant in self.decision.grants} if self.actor.uses_grants else set()
        if not used:
            return self.decision, self.reasons, row
        left = tuple(each for each in self.decision.obligations if each not in used)
        return replace(self.decision, obligations=left), self.reasons, row

    def answer_used_up(self) -> Answered:
        """The answer if other callers used up the grant each time."""
        code, decision = _USED_UP.code, self.decision
        denied = AccessDecision(
            "deny", code, (code,), decision.level_required, "none", (), decision.snapshot, decision.state_version
        )  # fmt: skip
        return denied, (_USED_UP,), ""


def decide(
    kernel: Kernel, store: Store | None, org: str, request: AccessRequest, actor: Actor
) -> DecidedRequest:
    """Decide, and submit the audit row. Raises as `Kernel.can`, and `StoreError`."""
    began = time.perf_counter()
    org_access = kernel.access(org)
    request = org_access.add_current_state(request)
    decision, reasons = org_access.decide_with_reasons(request)
    withheld = _find_withheld_reason(kernel, org_access, decision, actor)
    if withheld is not None:
        decision, reasons = _convert_to_ask(decision, withheld, request), (withheld,)
    if store is None:
        return DecidedRequest(org, request, actor, decision, reasons, None)
    entry = build_entry(
        org_access.view, request, decision, at=request.context.now, actor=actor.name,
        seconds=time.perf_counter() - began,
    )  # fmt: skip
    pending = store.audit.submit(entry, decision.grants if actor.uses_grants else ())
    return DecidedRequest(org, request, actor, decision, reasons, pending)


def decide_and_wait(kernel: Kernel, store: Store, org: str, request: AccessRequest, actor: Actor) -> Answered:
    """Decide, and return the answer after the row is on disk. Raises as `decide`."""
    for _ in range(TRIES):
        decided = decide(kernel, store, org, request, actor)
        assert decided.pending is not None
        try:
            return decided.answer(decided.pending.result())
        except Conflict:
            store.read_view()  # another caller used up the grant, so the answer has changed
    return decided.answer_used_up()


def list_rows_as_decided(
    kernel: Kernel,
    org_access: OrganizationAccess,
    rows: Sequence[AccessRow],
    base_request: AccessRequest,
    actor: Actor,
) -> Sequence[AccessRow]:
    """The rows of a list as a decision about each of them would be answered."""
    if actor.uses_grants and not actor.member:
        return rows
    if next(find_limited_grants(org_access.state.grants), None) is None:
        return rows

    def withheld(request: AccessRequest) -> Reason | None:
        return _find_withheld_reason(kernel, org_access, org_access.decide(request), actor)

    return [visible_row for row in rows for visible_row in _decide_row(row, base_request, withheld)]


def build_entry(
    view: OrgView,
    request: AccessRequest,
    decision: AccessDecision,
    *,
    at: float,
    actor: str = "",
    seconds: float | None = None,
    detail: Mapping[str, Any] | None = None,
) -> AuditEntry:
    """The audit entry of a decision; `actor` is the credential of the caller."""
    context = request.context
    holder = get_access_tables(view).find_subject(request.subject)
    matched: tuple[str, ...] = ()
    denied: tuple[str, ...] = ()
    if holder is None or holder.identity.kind == "unknown":
        relationship = "unknown"
    else:
        relationship = holder.identity.relationship or ""
    if holder is not None and holder.policies:
        matched = tuple(policy.id for policy in holder.find_matching(context))
        denied = tuple(policy.id for policy in holder.get_policy_set(context).policies if policy.denies)
    is_sender = request.subject.startswith("sender:")
    return AuditEntry(
        "decision",
        at,
        decision.outcome,
        subject=holder.subject if holder is not None else _cut(request.subject),
        actor=actor,
        action=_cut(request.action),
        resource=_cut(request.resource),
        code=decision.code,
        org_id=view.org_id,
        relationship=relationship,
        channel=_cut(context.channel or ""),
        sender=_cut(request.subject.partition(":")[2]) if is_sender else "",
        session=_cut(context.session or ""),
        level=decision.level_effective,
        grants=decision.grants,
        policies_matched=matched,
        policies_denied=denied,
        snapshot=decision.snapshot,
        state_version=decision.state_version,
        seconds=seconds,
        detail=detail,
    )


def _cut(text: str) -> str:
    return text if len(text) <= _MAX_LENGTH else f"{text[:_MAX_LENGTH]}… ({len(text)} characters)"


def _convert_to_ask(decision: AccessDecision, reason: Reason, request: AccessRequest) -> AccessDecision:
    """The decision for a caller that cannot use up the grant it depends on."""
    return replace(
        decision, outcome="ask", code=reason.code, codes=(reason.code,), obligations=(f"approval:{request.resource}",),
        grants=(),
    )  # fmt: skip


def _decide_row(
    row: AccessRow, request: AccessRequest, withheld: Callable[[AccessRequest], Reason | None]
) -> Iterator[AccessRow]:
    if row.outcome != "allow":
        yield row
        return
    reasons = {
        action: withheld(replace(request, subject=row.subject, action=action, resource=row.resource))
        for action in row.actions
    }
    codes = {None if reason is None else reason.code: None for reason in reasons.values()}
    for code in codes:
        actions = tuple(
            action for action, reason in reasons.items() if code == (None if reason is None else reason.code)
        )
        yield (
            replace(row, actions=actions)
            if code is None
            else replace(row, actions=actions, outcome="ask", code=code)
        )


def _find_withheld_reason(
    kernel: Kernel, org_access: OrganizationAccess, decision: AccessDecision, actor: Actor
) -> Reason | None:
    """The reason why a caller cannot use up the grants that a decision depends on; None if it can, or if there are none."""
    if not decision.grants:
        return None
    used = {each.removeprefix(_CONSUME) for each in decision.obligations if each.startswith(_CONSUME)}
    if not used:
        return None
    if not actor.uses_grants:
        return _NEEDS_REPORT
    if not actor.member:
        return None
    holders = {
        grant.subject for grant in find_limited_grants(org_access.state.grants) if grant.grant_id in used
    }
    may = all(has_authority(kernel, actor, holder, org_access.view.org_id) for holder in holders)
    return None if may else _OF_ANOTHER
