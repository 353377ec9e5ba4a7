"""The calls of the HTTP API: what is sent, and how the answer is read. Both clients send them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from urllib.parse import quote, urlencode

import msgspec

from orgkernel.decisions.access.decision import AccessDecision, AccessExplanation, AccessRow, Outcome
from orgkernel.decisions.access.request import AccessContext, AccessRequest
from orgkernel.decisions.evidence.state_records import (
    Approval,
    PermissionRequest,
    ReportReceipt,
    RequestStatus,
)
from orgkernel.decisions.evidence.state_view import Grant
from orgkernel.errors import UsageError
from orgkernel.prepared_types import prepared

if TYPE_CHECKING:
    from orgkernel.decisions.dispatch.by_domain import DispatchDecision
    from orgkernel.decisions.dispatch.task_state import PreviousTask
    from orgkernel.manifest.v1 import RoleManifest

T = TypeVar("T")
_NO_CONTEXT = AccessContext()
_OF_THE_SERVER = ("now", "utc_offset")
"""Circumstances that a server knows itself."""


class HttpCall(Generic[T]):
    """A call, and the function that reads its answer."""

    __slots__ = ("body", "method", "path", "read")

    def __init__(
        self, method: str, path: str, read: Callable[[bytes], T], body: Mapping[str, Any] | None = None
    ) -> None:
        self.method = method
        self.path = path
        self.read = read
        self.body = None if body is None else msgspec.json.encode(body)


class _EvaluationContext(msgspec.Struct, frozen=True):
    outcome: Outcome
    code: str
    codes: tuple[str, ...]
    level_required: str = ""
    level_effective: str = ""
    obligations: tuple[str, ...] = ()
    snapshot: str = ""
    state_version: int = 0


class _Evaluation(msgspec.Struct, frozen=True):
    context: _EvaluationContext


class _Rows(msgspec.Struct, frozen=True):
    rows: tuple[AccessRow, ...]


class _Approved(msgspec.Struct, frozen=True):
    request: PermissionRequest
    grant: Grant | None


class _RequestPage(msgspec.Struct, frozen=True):
    requests: tuple[PermissionRequest, ...]
    next: str | None = None


def can(org: str, request: AccessRequest) -> HttpCall[AccessDecision]:
    """A decision, which the server audits."""
    body = {
        "subject": _build_entity(request.subject),
        "action": {"name": request.action},
        "resource": _build_entity(request.resource),
        "context": {**_build_circumstances(request), "org": org},
    }
    return HttpCall("POST", "/access/v1/evaluation", _read_evaluation, body)


def why(org: str, request: AccessRequest) -> HttpCall[AccessExplanation]:
    """A decision with its reasons."""
    body = {
        "subject": request.subject,
        "action": request.action,
        "resource": request.resource,
        "context": _build_circumstances(request),
    }
    return HttpCall("POST", _in_org(org, "why"), _reader(AccessExplanation), body)


def who_can(
    org: str, action: str, resource: str, context: AccessContext | None, kinds: Iterable[str] | None
) -> HttpCall[tuple[AccessRow, ...]]:
    """The subjects that may do something."""
    circumstances = _build_circumstances(AccessRequest("", "", "", context or _NO_CONTEXT))
    body = {"action": action, "resource": resource, "context": circumstances, **_choose_kinds(kinds)}
    return HttpCall("POST", _in_org(org, "who-can"), _read_rows, body)


def what_can(
    org: str, subject: str, request: AccessRequest | None, kinds: Iterable[str]
) -> HttpCall[tuple[AccessRow, ...]]:
    """The permissions of a subject."""
    circumstances = {} if request is None else _build_circumstances(request)
    body = {"subject": subject, "context": circumstances, **_choose_kinds(kinds)}
    return HttpCall("POST", _in_org(org, "what-can"), _read_rows, body)


def dispatch(
    org: str,
    domain: str | None,
    intent: str | None,
    text: str | None,
    needs: Sequence[str],
    all_considered: bool,
    as_documents: bool,
    previous: PreviousTask | None = None,
) -> HttpCall[DispatchDecision]:
    """The role that takes a task."""
    from orgkernel.decisions.dispatch.by_domain import DispatchDecision

    task = {
        name: value
        for name, value in (("domain", domain), ("intent", intent), ("text", text))
        if value is not None
    }
    if len(task) != 1:
        raise TypeError("dispatch takes exactly one of `domain`, `intent` and `text`")
    body = {**task, "needs": list(needs), "all_considered": all_considered, "as_documents": as_documents}
    if previous is not None:
        body["context"] = {"previous": previous}
    return HttpCall("POST", _in_org(org, "dispatch"), _reader(DispatchDecision), body)


def manifest(org: str, role: str) -> HttpCall[RoleManifest]:
    """Everything known about a role."""
    from orgkernel.manifest.v1 import RoleManifest

    return HttpCall("GET", _in_org(org, "roles", role), _reader(RoleManifest))


def request_permission(
    org: str, resources: Sequence[str], terms: Mapping[str, Any]
) -> HttpCall[PermissionRequest]:
    """A request for a permission. `terms` has the fields of `RequestTerms`, and None for those that are left out."""
    stated = {name: value for name, value in terms.items() if value is not None}
    body = {"resources": list(resources), **stated}
    return HttpCall("POST", _in_org(org, "requests"), _reader(PermissionRequest), body)


def get_request(org: str, request_id: str) -> HttpCall[PermissionRequest]:
    """A request and its status."""
    return HttpCall("GET", _in_org(org, "requests", request_id), _reader(PermissionRequest))


def list_requests(
    org: str, status: RequestStatus | None, subject: str | None, cursor: str | None
) -> HttpCall[tuple[tuple[PermissionRequest, ...], str | None]]:
    """A page of requests, oldest first, and the cursor of the next page."""
    query = urlencode(
        {
            name: value
            for name, value in (("status", status), ("subject", subject), ("cursor", cursor))
            if value
        }
    )
    path = _in_org(org, "requests")
    return HttpCall("GET", f"{path}?{query}" if query else path, _read_page)


def approve(
    org: str, request_id: str, approval: Approval, reason: str
) -> HttpCall[tuple[PermissionRequest, Grant | None]]:
    """An approval. The answer has the request and the grant that it became."""
    body = {"approval": approval, "reason": reason}
    return HttpCall("POST", _in_org(org, "requests", request_id, "approve"), _read_approved, body)


def deny(org: str, request_id: str, reason: str) -> HttpCall[PermissionRequest]:
    """A denial."""
    return HttpCall(
        "POST", _in_org(org, "requests", request_id, "deny"), _reader(PermissionRequest), {"reason": reason}
    )


def report(org: str, salute: Mapping[str, Any]) -> HttpCall[ReportReceipt]:
    """A SALUTE report."""
    return HttpCall("POST", _in_org(org, "salute"), _reader(ReportReceipt), salute)


def _in_org(org: str, *parts: str) -> str:
    return "/".join(["/v1/orgs", *(quote(part, safe="*") for part in (org, *parts))])


def _build_entity(name: str) -> dict[str, str]:
    """`KIND:ID` in the words of AuthZEN."""
    kind, _, identity = name.partition(":")
    if not identity:
        raise UsageError(
            f"`{name}` does not name its kind", "write `KIND:ID`, such as `role:co` or `tool:browser_agent`"
        )
    return {"type": kind, "id": identity}


def _build_circumstances(request: AccessRequest) -> dict[str, Any]:
    """The circumstances of a request. Raises `UsageError` for a time, because a server decides at its own."""
    circumstances: dict[str, Any] = msgspec.to_builtins(request.context)
    if any(circumstances.pop(name, 0) for name in _OF_THE_SERVER):
        raise UsageError("a server decides at its own time", "leave out `now` and `utc_offset`")
    if request.on_behalf_of is not None:
        circumstances["on_behalf_of"] = request.on_behalf_of
    if request.via:
        circumstances["via"] = list(request.via)
    if request.envelope is not None:
        circumstances["envelope"] = dict(request.envelope)
    return circumstances


def _choose_kinds(kinds: Iterable[str] | None) -> dict[str, list[str]]:
    return {} if kinds is None else {"kinds": list(kinds)}


def _reader(shape: type[T]) -> Callable[[bytes], T]:
    return msgspec.json.Decoder(prepared(shape)).decode


def _read_evaluation(body: bytes) -> AccessDecision:
    context = msgspec.json.decode(body, type=prepared(_Evaluation)).context
    return AccessDecision(
        context.outcome, context.code, context.codes, context.level_required, context.level_effective,
        context.obligations, context.snapshot, context.state_version,
    )  # fmt: skip


def _read_rows(body: bytes) -> tuple[AccessRow, ...]:
    return msgspec.json.decode(body, type=prepared(_Rows)).rows


def _read_approved(body: bytes) -> tuple[PermissionRequest, Grant | None]:
    approved = msgspec.json.decode(body, type=prepared(_Approved))
    return approved.request, approved.grant


def _read_page(body: bytes) -> tuple[tuple[PermissionRequest, ...], str | None]:
    page = msgspec.json.decode(body, type=prepared(_RequestPage))
    return page.requests, page.next
