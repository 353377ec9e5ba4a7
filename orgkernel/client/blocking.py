"""A client that blocks."""

from __future__ import annotations

import copy
import ssl
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from orgkernel.client import calls
from orgkernel.client.calls import HttpCall
from orgkernel.client.connection import ServerConnections
from orgkernel.client.permit import CallPermit, state_input
from orgkernel.decisions.access.tool_input import digest_input, encode_input

if TYPE_CHECKING:
    from orgkernel.decisions.access.decision import AccessDecision, AccessExplanation, AccessRow
    from orgkernel.decisions.access.request import AccessContext, AccessRequest
    from orgkernel.decisions.dispatch.by_domain import DispatchDecision
    from orgkernel.decisions.dispatch.task_state import PreviousTask
    from orgkernel.decisions.evidence.state_records import (
        Approval,
        PermissionRequest,
        ReportReceipt,
        RequestKind,
        RequestStatus,
    )
    from orgkernel.decisions.evidence.state_view import Grant, Waiver
    from orgkernel.documents.records import ToolLevel
    from orgkernel.manifest.v1 import RoleManifest

T = TypeVar("T")

TIMEOUT = 10.0
"""Seconds for a call, unless the client says otherwise."""
MIN_PAUSE, MAX_PAUSE = 0.1, 2.0
"""Seconds between two looks at a request that waits for its answer."""


class Client:
    """Asks a server, and changes what its key may change. Safe to use from several threads.

    Every call has a time limit. The errors are those of `Kernel`, and besides them `NoAnswer` if the server does not answer in
    time or cannot be reached.

    >>> from orgkernel.client import Client
    >>> client = Client("http://127.0.0.1:8000", "orgk_…", timeout=5.0)
    >>> client.within(0.5).timeout
    0.5
    """

    def __init__(
        self, url: str, key: str | None = None, *, timeout: float = TIMEOUT, tls: ssl.SSLContext | None = None
    ) -> None:
        """`key` is an API key or a token of the identity provider; on loopback it can be left out for questions. `timeout` is in
        seconds. `tls` has the certificates of a server with an authority of its own. Raises `UsageError` for an invalid URL.
        """
        self._connections = ServerConnections(url, key, tls)
        self.timeout = timeout

    def within(self, seconds: float) -> Client:
        """The same client with another time limit. It shares the connections."""
        other = copy.copy(self)
        other.timeout = seconds
        return other

    def close(self) -> None:
        """Close the connections that no call uses."""
        self._connections.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def can(self, org: str, request: AccessRequest) -> AccessDecision:
        """Decide whether a subject may do something. The words are those of `Kernel.can`.

        A server with a store audits the decision. If the key has the scope `report`, an allowance by a grant with a number
        of uses is one use: ask with `why` to look without using.
        """
        return self._send(calls.can(org, request))

    def why(self, org: str, request: AccessRequest) -> AccessExplanation:
        """Explain a decision: its reasons, what would allow it, and who already can. As `Kernel.why`."""
        return self._send(calls.why(org, request))

    def who_can(
        self,
        org: str,
        action: str,
        resource: str,
        *,
        context: AccessContext | None = None,
        kinds: Iterable[str] | None = None,
    ) -> tuple[AccessRow, ...]:
        """List the subjects that may do something, must ask for it, or could in other circumstances. As `Kernel.who_can`."""
        return self._send(calls.who_can(org, action, resource, context, kinds))

    def what_can(
        self,
        org: str,
        subject: str,
        *,
        request: AccessRequest | None = None,
        kinds: Iterable[str] = ("tool",),
    ) -> tuple[AccessRow, ...]:
        """List what a subject may do, must ask for, or could do in other circumstances. As `Kernel.what_can`."""
        return self._send(calls.what_can(org, subject, request, kinds))

    def dispatch(
        self,
        org: str,
        domain: str | None = None,
        *,
        intent: str | None = None,
        text: str | None = None,
        needs: Sequence[str] = (),
        all_considered: bool = False,
        as_documents: bool = False,
        previous: PreviousTask | None = None,
    ) -> DispatchDecision:
        """Choose the role that takes a task: of a domain, of an intent, or described in plain words. As `Kernel.dispatch`."""
        return self._send(
            calls.dispatch(org, domain, intent, text, needs, all_considered, as_documents, previous)
        )

    def manifest(self, org: str, role: str) -> RoleManifest:
        """Get everything known about a role. As `Kernel.manifest`."""
        return self._send(calls.manifest(org, role))

    def request_permission(
        self,
        org: str,
        resources: Sequence[str],
        *,
        requester: str | None = None,
        level: ToolLevel | None = None,
        action: str | None = None,
        tool_input: Mapping[str, Any] | None = None,
        kind: RequestKind | None = None,
        waives: Sequence[Waiver] | None = None,
        session: str | None = None,
        reason: str = "",
    ) -> PermissionRequest:
        """Request a permission for resources such as `tool:browser_agent`. Needs the scope `request`.

        The key of an agent requests for that agent, and other keys name the `requester`. `action` and `tool_input` narrow the
        request to one action and one input. Raises `TooManyRequests` and `Refused`.
        """
        digest = None if tool_input is None else digest_input(encode_input(tool_input))
        terms = {
            "requester": requester, "level": level, "action": action, "input_digest": digest, "kind": kind,
            "waives": waives, "session": session, "reason": reason,
        }  # fmt: skip
        return self._send(calls.request_permission(org, resources, terms))

    def get_request(self, org: str, request_id: str) -> PermissionRequest:
        """Get a request and its status: `pending`, `approved`, `denied` or `expired`. Raises `UnknownRecord`."""
        return self._send(calls.get_request(org, request_id))

    def list_requests(
        self, org: str, *, status: RequestStatus | None = None, subject: str | None = None
    ) -> tuple[PermissionRequest, ...]:
        """List the requests of an organization, oldest first."""
        requests: list[PermissionRequest] = []
        cursor: str | None = None
        while True:
            page, cursor = self._send(calls.list_requests(org, status, subject, cursor))
            requests += page
            if cursor is None:
                return tuple(requests)

    def approve(
        self, org: str, request_id: str, approval: Approval = "once", *, reason: str = ""
    ) -> tuple[PermissionRequest, Grant | None]:
        """Approve a request `once`, for a `day` or `always`. Needs the scope `approve`, and a right over the requester.

        Returns the request and the grant. Raises `UnknownRecord`, and `Refused` with a code such as `NOT_PENDING`.
        """
        return self._send(calls.approve(org, request_id, approval, reason))

    def deny(self, org: str, request_id: str, *, reason: str = "") -> PermissionRequest:
        """Deny a request. Needs the scope `approve`, and a right over the requester. Raises as `approve`."""
        return self._send(calls.deny(org, request_id, reason))

    def wait_for_answer(self, org: str, request_id: str, *, timeout: float) -> PermissionRequest:
        """Wait until a request is answered or has expired, for at most `timeout` seconds.

        Returns the request as it is then: still `pending` if the time is up. Raises `UnknownRecord` and `NoAnswer`.
        """
        deadline = time.monotonic() + timeout
        pause = MIN_PAUSE
        while True:
            left = deadline - time.monotonic()
            limited = self if left > self.timeout else self.within(max(left, MIN_PAUSE))
            request = limited.get_request(org, request_id)
            left = deadline - time.monotonic()
            if request.status != "pending" or left <= 0:
                return request
            time.sleep(min(pause, left))
            pause = min(pause * 2, MAX_PAUSE)

    def report(self, org: str, salute: Mapping[str, Any]) -> ReportReceipt:
        """Submit a SALUTE report, as `Kernel.report` builds one. Needs the scope `report`. A second submission changes nothing."""
        return self._send(calls.report(org, salute))

    def permit(self, org: str, request: AccessRequest, tool_input: Mapping[str, Any]) -> CallPermit:
        """Ask for leave to make one call with this input, within ten seconds. Raises `NotAllowed`, whose `decision` says why.

        A grant with a number of uses is used by this if the key has the scope `report`.
        """
        decision = self.can(org, state_input(request, tool_input))
        return CallPermit(request, decision, tool_input)

    def invoke(
        self,
        org: str,
        request: AccessRequest,
        function: Callable[..., T],
        tool_input: Mapping[str, Any],
    ) -> T:
        """Call a function with the input as keyword arguments, if the server allows it: `permit` and `CallPermit.call` in one.

        Raises `NotAllowed` and what the function raises.
        """
        answer: T = self.permit(org, request, tool_input).call(function)
        return answer

    def _send(self, call: HttpCall[T]) -> T:
        return self._connections.send(call, self.timeout)
