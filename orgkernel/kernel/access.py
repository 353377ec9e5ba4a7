"""Access questions about one organization, with the current state and time."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final

import msgspec
from msgspec.structs import replace

from orgkernel.decisions.access.decide import decide_access, decide_with_reasons
from orgkernel.decisions.access.decision import AccessDecision, AccessExplanation, AccessRow
from orgkernel.decisions.access.envelope import AccessEnvelope, decide_envelope
from orgkernel.decisions.access.explain import explain_access
from orgkernel.decisions.access.layers.file_scope import WRITE_OUT_OF_FILE_SCOPE
from orgkernel.decisions.access.layers.limits import list_charges
from orgkernel.decisions.access.layers.lock import LOCKED
from orgkernel.decisions.access.layers.policies import ASK_APPROVAL, LEFT_OPEN, PART_NOT_STATED
from orgkernel.decisions.access.listing import SUBJECT_KINDS, what_can, who_can
from orgkernel.decisions.access.policy_effect import (
    PolicyExplanation,
    PolicySummary,
    explain_policy,
    list_policies,
)
from orgkernel.decisions.access.request import AccessContext, AccessRequest
from orgkernel.decisions.access.tables import get_access_tables
from orgkernel.decisions.evidence.limit_usage import Charge
from orgkernel.decisions.evidence.state_view import EMPTY_STATE, StateView
from orgkernel.decisions.reasons import Reason
from orgkernel.diagnostics.wording import did_you_mean, listing, quote
from orgkernel.errors import UsageError
from orgkernel.graph.questions import OrgView
from orgkernel.kernel.clock import Clock, LimitSource, StateSource, add_current_time, read_clock

_WITH_A_CALL: Final = LEFT_OPEN | {LOCKED.name}
_STATED_BY_A_CALL: Final = frozenset({"path", "command", "lock", "input", "limit"})


class OrganizationAccess(msgspec.Struct, frozen=True, gc=False):
    """One organization with its state and clock, for questions about access."""

    view: OrgView
    state: StateView
    clock: Clock
    source: StateSource | None = None

    def add_current_state(self, request: AccessRequest) -> AccessRequest:
        """A request with the current time, unless it states one, and with the recorded alert and watch."""
        return get_access_tables(self.view).with_status(add_current_time(request, self.clock), self.state)

    def decide(self, request: AccessRequest) -> AccessDecision:
        """Decide whether a request is allowed."""
        timed_request = add_current_time(request, self.clock)
        return decide_access(self.view, timed_request, self._add_usage(timed_request))

    def decide_with_reasons(self, request: AccessRequest) -> tuple[AccessDecision, tuple[Reason, ...]]:
        """The decision, and a text for each of its codes."""
        timed_request = add_current_time(request, self.clock)
        return decide_with_reasons(self.view, timed_request, self._add_usage(timed_request))

    def build_current_context(self) -> AccessContext:
        """A context that states only the current time."""
        now, offset = self.clock()
        return AccessContext(now=now, utc_offset=offset)

    def envelope(self, subject: str, context: AccessContext | None) -> AccessEnvelope:
        """The permissions of a sender, and the routing of its messages."""
        request = add_current_time(AccessRequest(subject, "", "", context or AccessContext()), self.clock)
        return decide_envelope(self.view, subject, request.context, self.state)

    def explain(self, request: AccessRequest, counted: int = 0) -> AccessExplanation:
        """The decision with its explanation. The first remedies state what else they would allow."""
        timed_request = add_current_time(request, self.clock)
        return explain_access(self.view, timed_request, self._add_usage(timed_request), counted=counted)

    def list_charges(self, request: AccessRequest) -> tuple[Charge, ...]:
        """What a call takes from limits. Empty if no limit counts it."""
        return list_charges(get_access_tables(self.view), request) if self.view.records.limits else ()

    def _add_usage(self, request: AccessRequest) -> StateView:
        """The state with the usage of the limits that a request is charged to. Raises `StoreError`."""
        charges = self.list_charges(request)
        if not charges or not isinstance(self.source, LimitSource):
            return self.state
        usage = self.source.limits.read_usage(self.view.org_id, charges)
        if usage is None:
            return self.state
        return replace(self.state, usage={(each.limit_id, each.counter): each for each in usage})

    def who_can(
        self, action: str, resource: str, context: AccessContext | None, kinds: Iterable[str] | None
    ) -> tuple[AccessRow, ...]:
        """The subjects that may do this."""
        request = add_current_time(
            AccessRequest("", action, resource, context or AccessContext()), self.clock
        )
        wanted = SUBJECT_KINDS if kinds is None else kinds
        return who_can(self.view, action, resource, context=request.context, state=self.state, kinds=wanted)

    def open_to_calls(
        self, row: AccessRow, request: AccessRequest, *, names_path: bool = False
    ) -> tuple[str, ...]:
        """The actions of a row that a call could perform now.

        For a denied row, these are the actions that lack only a lock or a path, because a call takes the lock and
        states the path. A call states its paths in the `path_arguments` of the tool, or otherwise if it `names_path`.
        `request` has the circumstances of the list.
        """
        if row.outcome in ("allow", "ask"):
            return row.actions
        if row.outcome == "conditional":
            is_open = all(each.partition(":")[0] in _STATED_BY_A_CALL for each in row.conditions)
            return row.actions if is_open else ()
        if row.code not in _WITH_A_CALL:
            return ()
        row_request = replace(request, subject=row.subject, resource=row.resource)
        unstated = self._list_unstated_codes(row, names_path)
        return tuple(
            action
            for action in row.actions
            if _is_open(codes := self.decide(replace(row_request, action=action)).codes)
            and unstated.isdisjoint(codes)
        )

    def _list_unstated_codes(self, row: AccessRow, names_path: bool) -> frozenset[str]:
        """The codes that every call of a tool gets, because it has no argument that could state what is missing."""
        definition = self.view.records.tools.get(row.resource.split(":", 2)[1])
        if names_path or definition is None or definition.record.path_arguments:
            return frozenset()
        if any(each.partition(":")[0] in ("command", "input") for each in row.conditions):
            return frozenset({WRITE_OUT_OF_FILE_SCOPE.name})
        return LEFT_OPEN

    def what_can(
        self, subject: str, request: AccessRequest | None, kinds: Iterable[str]
    ) -> tuple[AccessRow, ...]:
        """The resources that a subject may use."""
        timed_request = add_current_time(request or AccessRequest(subject, "", ""), self.clock)
        return what_can(self.view, subject, request=timed_request, state=self.state, kinds=kinds)

    def list_policies(self) -> tuple[PolicySummary, ...]:
        """The declared policies, by priority and name."""
        return list_policies(self.view)

    def explain_policy(self, policy: str, context: AccessContext | None) -> PolicyExplanation:
        """What a policy changes now, for whom. Raises `UsageError` for an unknown policy."""
        policies = self.view.records.policies
        if policy not in policies:
            help = did_you_mean(policy, policies) or (f"policies are {listing(policies)}" if policies else "")
            raise UsageError(f"organization {quote(self.view.org_id)} has no policy {quote(policy)}", help)
        request = add_current_time(AccessRequest("", "", "", context or AccessContext()), self.clock)
        return explain_policy(self.view, policy, request.context, self.state)


def _is_open(codes: Collection[str]) -> bool:
    """Whether a call could be allowed although a list shows these codes."""
    missing = {*codes} - _WITH_A_CALL
    # Whether an approval is needed can depend on the path too.
    return not missing or (missing == {ASK_APPROVAL.name} and PART_NOT_STATED.name in codes)


def open_desk(view: OrgView, source: StateSource | None, clock: Clock | None) -> OrganizationAccess:
    """The organization with its current state. Raises the errors of reading the state."""
    state = EMPTY_STATE if source is None else source.read_view(view.org_id)
    return OrganizationAccess(view, state, clock or read_clock, source)
