"""A client that is awaited. Each call runs in a thread, so an event loop is never blocked."""

from __future__ import annotations

import asyncio
import copy
import inspect
import ssl
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, cast

from orgkernel.client import calls
from orgkernel.client.blocking import MAX_PAUSE, MIN_PAUSE, TIMEOUT
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

_GRACE = 1.0
"""Seconds that a thread has to notice that its time is up."""


class AsyncClient:
    """`Client` for an event loop: the same words, each awaited. Cancelling a call ends its waiting at once.

    >>> from orgkernel.client import AsyncClient
    >>> AsyncClient("http://127.0.0.1:8000", timeout=5.0).timeout
    5.0
    """

    def __init__(
        self, url: str, key: str | None = None, *, timeout: float = TIMEOUT, tls: ssl.SSLContext | None = None
    ) -> None:
        """The arguments are those of `Client`."""
        self._connections = ServerConnections(url, key, tls)
        self.timeout = timeout

    def within(self, seconds: float) -> AsyncClient:
        """The same client with another time limit. It shares the connections."""
        other = copy.copy(self)
        other.timeout = seconds
        return other

    async def close(self) -> None:
        """Close the connections that no call uses."""
        self._connections.close()

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def can(self, org: str, request: AccessRequest) -> AccessDecision:
        """Decide whether a subject may do something. The words are those of `Kernel.can`.

        A server with a store audits the decision. If the key has the scope `report`, an allowance by a grant with a number
        of uses is one use: ask with `why` to look without using.
        """
        return await self._send(calls.can(org, request))

    async def why(self, org: str, request: AccessRequest) -> AccessExplanation:
        """Explain a decision: its reasons, what would allow it, and who already can. As `Kernel.why`."""
        return await self._send(calls.why(org, request))

    async def who_can(
        self,
        org: str,
        action: str,
        resource: str,
        *,
        context: AccessContext | None = None,
        kinds: Iterable[str] | None = None,
    ) -> tuple[AccessRow, ...]:
        """List the subjects that may do something, must ask for it, or could in other circumstances. As `Kernel.who_can`."""
        return await self._send(calls.who_can(org, action, resource, context, kinds))

    async def what_can(
        self,
        org: str,
        subject: str,
        *,
        request: AccessRequest | None = None,
        kinds: Iterable[str] = ("tool",),
    ) -> tuple[AccessRow, ...]:
        """List what a subject may do, must ask for, or could do in other circumstances. As `Kernel.what_can`."""
        return await self._send(calls.what_can(org, subject, request, kinds))

    async def dispatch(
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
        return await self._send(
            calls.dispatch(org, domain, intent, text, needs, all_considered, as_documents, previous)
        )

    async def manifest(self, org: str, role: str) -> RoleManifest:
        """Get everything known about a role. As `Kernel.manifest`."""
        return await self._send(calls.manifest(org, role))

    async def request_permission(
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
        return await self._send(calls.request_permission(org, resources, terms))

    async def get_request(self, org: str, request_id: str) -> PermissionRequest:
        """Get a request and its status: `pending`, `approved`, `denied` or `expired`. Raises `UnknownRecord`."""
        return await self._send(calls.get_request(org, request_id))

    async def list_requests(
        self, org: str, *, status: RequestStatus | None = None, subject: str | None = None
    ) -> tuple[PermissionRequest, ...]:
        """List the requests of an organization, oldest first."""
        requests: list[PermissionRequest] = []
        cursor: str | None = None
        while True:
            page, cursor = await self._send(calls.list_requests(org, status, subject, cursor))
            requests += page
            if cursor is None:
                return tuple(requests)

    async def approve(
        self, org: str, request_id: str, approval: Approval = "once", *, reason: str = ""
    ) -> tuple[PermissionRequest, Grant | None]:
        """Approve a request `once`, for a `day` or `always`. Needs the scope `approve`, and a right over the requester.

        Returns the request and the grant. Raises `UnknownRecord`, and `Refused` with a code such as `NOT_PENDING`.
        """
        return await self._send(calls.approve(org, request_id, approval, reason))

    async def deny(self, org: str, request_id: str, *, reason: str = "") -> PermissionRequest:
        """Deny a request. Needs the scope `approve`, and a right over the requester. Raises as `approve`."""
        return await self._send(calls.deny(org, request_id, reason))

    async def wait_for_answer(self, org: str, request_id: str, *, timeout: float) -> PermissionRequest:
        """Wait until a request is answered or has expired, for at most `timeout` seconds.

        Returns the request as it is then: still `pending` if the time is up. Raises `UnknownRecord` and `NoAnswer`.
        """
        deadline = time.monotonic() + timeout
        pause = MIN_PAUSE
        while True:
            left = deadline - time.monotonic()
            limited = self if left > self.timeout else self.within(max(left, MIN_PAUSE))
            request = await limited.get_request(org, request_id)
            left = deadline - time.monotonic()
            if request.status != "pending" or left <= 0:
                return request
            await asyncio.sleep(min(pause, left))
            pause = min(pause * 2, MAX_PAUSE)

    async def report(self, org: str, salute: Mapping[str, Any]) -> ReportReceipt:
        """Submit a SALUTE report, as `Kernel.report` builds one. Needs the scope `report`. A second submission changes nothing."""
        return await self._send(calls.report(org, salute))

    async def permit(self, org: str, request: AccessRequest, tool_input: Mapping[str, Any]) -> CallPermit:
        """Ask for leave to make one call with this input, within ten seconds. Raises `NotAllowed`, whose `decision` says why.

        A grant with a number of uses is used by this if the key has the scope `report`.
        """
        decision = await self.can(org, state_input(request, tool_input))
        return CallPermit(request, decision, tool_input)

    async def invoke(
        self,
        org: str,
        request: AccessRequest,
        function: Callable[..., T | Awaitable[T]],
        tool_input: Mapping[str, Any],
        *,
        timeout: float | None = None,
    ) -> T:
        """Call a function with the input as keyword arguments, if the server allows it. The function can be `async`, and has
        `timeout` seconds then.

        Raises `NotAllowed`, `TimeoutError` and what the function raises. A function that is not async blocks the event loop.
        """
        permit = await self.permit(org, request, tool_input)
        outcome = permit.call(function)
        if inspect.isawaitable(outcome):
            return cast("T", await asyncio.wait_for(outcome, timeout))
        return cast("T", outcome)

    async def _send(self, call: HttpCall[T]) -> T:
        limit = self.timeout
        try:
            # The thread ends by the limit of its socket; the event loop waits no longer than that for it.
            return await asyncio.wait_for(
                asyncio.to_thread(self._connections.send, call, limit), limit + _GRACE
            )
        except TimeoutError as error:
            raise self._connections.build_late_error(limit) from error
