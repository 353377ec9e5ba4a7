"""A gateway in this process: servers that exist in memory, and a caller with the state of a test."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from orgkernel.decisions.access.decision import AccessDecision, AccessExplanation, AccessRow
from orgkernel.decisions.access.request import AccessContext, AccessRequest
from orgkernel.decisions.evidence.state_view import EMPTY_STATE, StateView
from orgkernel.graph.questions import OrgView
from orgkernel.kernel.access import OrganizationAccess
from orgkernel.kernel.kernel import Kernel
from orgkernel.mcp.gateway.approvals import FormAnswer
from orgkernel.mcp.gateway.caller import GatewayCaller
from orgkernel.mcp.gateway.calling import call_tool
from orgkernel.mcp.gateway.gateway import McpGateway
from orgkernel.mcp.gateway.listing import list_tools
from orgkernel.mcp.gateway.pins import Pins
from orgkernel.operations.context import Context
from orgkernel.operations.decisions import Answered
from orgkernel.operations.permits import Permits
from orgkernel.toolbox.upstream_tools import Upstream, UpstreamReply, UpstreamTools

NOON = 1_763_899_200.0


class _Status:
    state = "running"


class MemoryServer:
    """A server that notes each call and answers with the name of the tool."""

    def __init__(
        self, name: str, tools: Iterable[str | dict[str, Any]], folder: str | None = os.getcwd()
    ) -> None:
        self.name = name
        self.folder = folder
        self.may_ask = self.has_sessions = self.exchanges_tokens = False
        self.declaration = name.encode()
        self.status = _Status()
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.listed: tuple[dict[str, Any], ...] = tuple(
            {"name": each, "inputSchema": {"type": "object"}} if isinstance(each, str) else each
            for each in tools
        )

    async def tools(self) -> tuple[dict[str, Any], ...]:
        """What it lists."""
        return self.listed

    async def prompts(self) -> tuple[dict[str, Any], ...]:
        """It has no prompts and no resources."""
        return ()

    resources = resource_templates = prompts

    def follow_changes(self, on_change: Callable[[str], None]) -> None:
        """Its list does not change."""

    async def call(self, name: str, arguments: dict[str, Any], **_: Any) -> UpstreamReply:
        """The name of the tool as its result."""
        self.calls.append((name, arguments))
        return UpstreamReply({"content": [{"type": "text", "text": name}]})

    async def aclose(self) -> None:
        """End."""


class _Served:
    def __init__(self, view: OrgView) -> None:
        self.snapshot = self
        self.index = view


class DeskKernel:
    """What a gateway asks of a kernel, answered for one view and one state, whatever rules say of its documents."""

    def __init__(self, view: OrgView, state: StateView = EMPTY_STATE, now: float = NOON) -> None:
        self.desk = OrganizationAccess(view, state, lambda: (now, 0))

    def organization(self, org: str) -> _Served:
        return _Served(self.desk.view)

    def access(self, org: str) -> OrganizationAccess:
        return self.desk

    def can(self, org: str, request: AccessRequest) -> AccessDecision:
        return self.desk.decide(request)

    def why(self, org: str, request: AccessRequest, counted: int = 0) -> AccessExplanation:
        return self.desk.explain(request, counted)

    def what_can(
        self, org: str, subject: str, *, request: AccessRequest, kinds: Iterable[str]
    ) -> tuple[AccessRow, ...]:
        return self.desk.what_can(subject, request, kinds)

    def who_can(self, org: str, action: str, resource: str) -> tuple[AccessRow, ...]:
        return self.desk.who_can(action, resource, None, None)

    @property
    def state(self) -> Any:
        """No candidates for a grant are searched."""
        return SimpleNamespace(served={})


class MemoryCaller(GatewayCaller):
    """A subject with the state of a test and without a store, so that nothing is written down."""

    def __init__(self, kernel: DeskKernel, subject: str) -> None:
        now = kernel.desk.clock()[0]
        base = AccessRequest(subject, "", "", AccessContext(now=now))
        super().__init__(kernel.desk.view.org_id, subject, frozenset({"read", "report"}), base)
        self.kernel = kernel

    async def ask(self, question: Callable[[Kernel], Any]) -> Any:
        """Ask at once."""
        return question(cast(Kernel, self.kernel))

    async def decide(self, request: AccessRequest) -> Answered:
        """Not asked by a gateway."""
        raise NotImplementedError

    async def operate(self, operation: Callable[[Context], Any]) -> Any:
        """Nothing is changed here."""
        raise NotImplementedError

    async def tools(self) -> UpstreamTools:
        """What decides and calls."""
        return UpstreamTools(Permits(cast(Kernel, self.kernel)), None)


async def no_form(message: str, request_id: str) -> FormAnswer | None:
    """A host without forms."""
    return None


class MemoryGateway:
    """A gateway before servers in memory."""

    def __init__(
        self, folder: Path, servers: Iterable[MemoryServer], *, require_review: bool = False
    ) -> None:
        self.servers = {each.name: each for each in servers}
        self.said: list[str] = []
        self.pins = Pins(str(folder / "gateway.lock.json"), require_review=require_review)
        self.gateway = McpGateway(cast(list[Upstream], [*self.servers.values()]), self.pins, self.said.append)

    def list(self, caller: GatewayCaller) -> list[dict[str, Any]]:
        """The tools that a caller sees."""
        return asyncio.run(list_tools(self.gateway, caller)).items

    def call(
        self, caller: GatewayCaller, exposed: str, arguments: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """The result of a call."""
        return asyncio.run(
            call_tool(self.gateway, caller, exposed, dict(arguments or {}), form_asker=no_form)
        )
