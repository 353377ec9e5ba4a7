"""Calls one tool over a connection that is kept. The output is the complete result, as the server sent it."""

from __future__ import annotations

from typing import Any, Literal, Protocol

from orgkernel.toolbox.adapters.adapter import Adapter, Call, Redeem, Reply
from orgkernel.toolbox.adapters.progress import OnProgress
from orgkernel.toolbox.adapters.server_logs import LogReceiver
from orgkernel.toolbox.adapters.server_requests import AnsweringCaller
from orgkernel.toolbox.adapters.upstreams import UpstreamReply

_FAILED = "the tool reported an error"


class CallsTools(Protocol):
    """A server whose tools can be called."""

    async def call(
        self, name: str, arguments: dict[str, Any], *, seconds: float | None, on_progress: OnProgress | None,
        caller: AnsweringCaller | None = None, log_receiver: LogReceiver | None = None,
    ) -> UpstreamReply:  # fmt: skip
        """Call one of its tools."""


class UpstreamAdapter(Adapter):
    """Calls one tool of an upstream server, for one call."""

    def __init__(
        self,
        tool_id: str,
        redeem: Redeem,
        upstream: CallsTools,
        name: str,
        seconds: float | None = None,
        on_progress: OnProgress | None = None,
        caller: AnsweringCaller | None = None,
        log_receiver: LogReceiver | None = None,
    ) -> None:
        super().__init__(tool_id, redeem)
        self._upstream = upstream
        self._name = name
        self._seconds = seconds
        self._on_progress = on_progress
        self._caller = caller
        self._log_receiver = log_receiver

    async def _call(self, call: Call) -> Reply:
        reply = await self._upstream.call(
            self._name,
            call.arguments,
            seconds=self._seconds,
            on_progress=self._on_progress,
            caller=self._caller,
            log_receiver=self._log_receiver,
        )
        if reply.result is None:
            outcome: Literal["failed", "unavailable"] = "failed" if reply.kind == "failed" else "unavailable"
            about = {"kind": reply.kind, "uncertain": reply.is_uncertain}
            return Reply(outcome, error=reply.error, metadata=about, is_uncertain=reply.is_uncertain)
        if reply.result.get("isError"):
            return Reply("failed", reply.result, _FAILED, is_uncertain=True)
        return Reply("done", reply.result)
