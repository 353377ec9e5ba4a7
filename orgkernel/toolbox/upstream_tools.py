"""Tools of upstream servers, each call with a decision and a permit of its own."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import msgspec

from orgkernel.decisions.access.decision import AccessDecision
from orgkernel.decisions.access.request import AccessRequest
from orgkernel.decisions.access.tool_input import add_input
from orgkernel.diagnostics.wording import quote
from orgkernel.errors import BadStore
from orgkernel.operations.permits import Permits, settle_call
from orgkernel.toolbox.adapters.progress import OnProgress
from orgkernel.toolbox.adapters.server_logs import LEVELS, LogReceiver
from orgkernel.toolbox.adapters.server_requests import (
    AnsweringCaller,
    AnswerRequests,
    RequestDenied,
    ServerRequest,
)
from orgkernel.toolbox.adapters.upstream import CallsTools, UpstreamAdapter
from orgkernel.toolbox.adapters.upstreams import Upstream, UpstreamError, UpstreamReply
from orgkernel.toolbox.attempt import PlannedCall, call_permitted
from orgkernel.toolbox.parts import Exclusive, Handover, Parts
from orgkernel.toolbox.result import Step
from orgkernel.toolbox.server_files import DeclaredServer, read_server_files

if TYPE_CHECKING:
    from orgkernel.kernel.stored import Store

__all__ = [
    "LEVELS",
    "AnswerRequests",
    "AnsweringCaller",
    "DeclaredServer",
    "LogReceiver",
    "OnProgress",
    "RequestDenied",
    "ServerRequest",
    "Upstream",
    "UpstreamCall",
    "UpstreamError",
    "UpstreamReply",
    "UpstreamTools",
    "build_call_request",
    "open_servers",
]

_MAX_STARTS_AT_ONCE: Final = 16
"""Maximum number of concurrent starts. If a hundred servers started at once, all would time out."""


class UpstreamCall(msgspec.Struct, frozen=True):
    """A call of a server's tool, as a declared tool and one of its actions."""

    request: AccessRequest
    """The caller and its circumstances, with the action, the resource and the input."""
    tool_id: str
    tool_input: bytes
    upstream: CallsTools
    name: str
    """The name of the tool on its server."""
    about: Mapping[str, str]
    """Further audit data of the call: the server and the tool."""
    seconds: float | None = None
    on_progress: OnProgress | None = None
    actor: str = ""
    """The credential of the caller."""
    caller: AnsweringCaller | None = None
    """Answers requests of the server. Without one, they are refused."""
    log_receiver: LogReceiver | None = None
    """Takes log messages of the server. Without one, they are dropped."""


class UpstreamTools:
    """Decides about calls and makes them. A call that is not decided, or not written down, is not made."""

    def __init__(
        self,
        permits: Permits,
        store: Store | None,
        *,
        is_state_held: bool = False,
        unrecorded: Callable[[str], None] | None = None,
    ) -> None:
        """`is_state_held` and `unrecorded` have the meaning that they have in `Parts`."""
        # A store file must not be replaced: rows in a removed file would be lost.
        self._file = "" if store is None else store.location.path
        self._identity = _get_identity(self._file)
        exclusive = None if store is None else Exclusive(store)
        self._parts = Parts(
            store, permits, {}, {}, exclusive, None, Handover(), is_state_held, True, unrecorded
        )

    async def call(self, org: str, call: UpstreamCall) -> tuple[Step, Mapping[str, Any] | None]:
        """Decide, and call. Returns how it went, and the result of the tool if there is one. Raises `OrgkernelError`."""
        self._require_same_file()
        permits = self._parts.permits
        adapter = UpstreamAdapter(
            call.tool_id,
            permits.redeem,
            call.upstream,
            call.name,
            call.seconds,
            call.on_progress,
            call.caller,
            call.log_receiver,
        )
        tool = self._parts.tool(org, call.tool_id)
        is_sole = tool is not None and len(tool.required_levels) == 1
        planned = PlannedCall(
            org, call.request, call.tool_id, tool, call.tool_input, is_sole, adapter, None, call.actor, call.about,
        )  # fmt: skip
        step, reply = await call_permitted(self._parts, planned)
        return step, None if reply is None else reply.output

    async def decide(
        self, org: str, request: AccessRequest, tool_input: bytes, actor: str, about: Mapping[str, str]
    ) -> AccessDecision:
        """Decide about reading a prompt or a resource, and write it down. Raises `OrgkernelError`.

        As for a call, grants with a limited number of uses are used up.
        """
        self._require_same_file()
        permits = self._parts.permits
        ruling = await asyncio.to_thread(permits.decide, org, request, tool_input, actor=actor, about=about)
        if ruling.permit is not None:
            _, tool_id = request.resource.split(":", 1)
            permits.redeem(
                ruling.permit,
                org=org,
                subject=request.subject,
                tool_id=tool_id,
                action=request.action,
                tool_input=tool_input,
            )
        if ruling.call_id and self._parts.store is not None:
            # Reading ends with the decision: it takes no slot among the calls in progress.
            org_id = self._parts.view(org).org_id
            await asyncio.to_thread(settle_call, self._parts.store, org_id, ruling.call_id)
        return ruling.decision

    def _require_same_file(self) -> None:
        if self._file and _get_identity(self._file) != self._identity:
            raise BadStore(
                f"the store {quote(self._file)} was removed or replaced while it was open",
                "restore it, and start the gateway again",
            )


def _get_identity(path: str) -> tuple[int, int] | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def build_call_request(request: AccessRequest, tool_id: str, action: str, tool_input: bytes) -> AccessRequest:
    """Build the question whether a call may be made."""
    request_with_input = add_input(request, tool_input)
    return msgspec.structs.replace(request_with_input, action=action, resource=f"tool:{tool_id}")


def open_servers(
    paths: Sequence[str], variables: Mapping[str, str], *, has_one_caller: bool = False
) -> tuple[list[Upstream], dict[str, DeclaredServer]]:
    """The servers of some files, and those that cannot be used. Nothing is started. `has_one_caller` is whether one caller uses all of
    them. Raises `UsageError`.
    """
    declared = read_server_files(paths, variables)
    starts = asyncio.Semaphore(_MAX_STARTS_AT_ONCE)
    opened = [
        Upstream(
            name,
            each.provider,
            secrets=each.secrets,
            starts=starts,
            declaration=each.declaration,
            has_one_caller=has_one_caller,
        )
        for name, each in declared.items()
        if each.provider is not None
    ]
    return opened, {name: each for name, each in declared.items() if each.provider is None}
