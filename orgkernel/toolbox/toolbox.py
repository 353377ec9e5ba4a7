"""A toolbox: the declared tools of an organization and their providers. The only code that calls a tool."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from orgkernel.decisions.access.request import AccessContext, AccessRequest
from orgkernel.diagnostics.wording import quote
from orgkernel.errors import BadToolbox, UsageError
from orgkernel.operations.permits import SECONDS, Permits
from orgkernel.toolbox.adapters.adapter import Adapter, Redeem
from orgkernel.toolbox.adapters.function import FunctionAdapter
from orgkernel.toolbox.adapters.http_api import HttpAdapter
from orgkernel.toolbox.adapters.mcp_server import McpAdapter
from orgkernel.toolbox.context import ToolContext
from orgkernel.toolbox.parts import Credentials, Exclusive, Handover, Parts
from orgkernel.toolbox.providers import HttpApi, McpServer, Provider, PythonFunction

if TYPE_CHECKING:
    from orgkernel.documents.records import ToolLevel
    from orgkernel.kernel.kernel import Kernel
    from orgkernel.kernel.stored import Store

TIMEOUT = 30.0
"""Default timeout of a call in seconds."""


class Toolbox:
    """Gives each agent its tools. One toolbox per process is enough; any thread and any event loop can use it.

    >>> from orgkernel import Kernel
    >>> from orgkernel.toolbox import PythonFunction, Toolbox
    >>> toolbox = Toolbox(Kernel.open(), {"search_engine": PythonFunction(lambda query: [f"a page on {query}"])})
    >>> tools = toolbox.context("software_dev", "role:osint_specialist")
    >>> tools.invoke_blocking("search_engine", {"query": "kernels"}).output
    ['a page on kernels']
    >>> toolbox.context("software_dev", "role:codegen_specialist").has_tool("search_engine")
    False
    """

    def __init__(
        self,
        kernel: Kernel,
        providers: Mapping[str, Provider],
        *,
        store: Store | None = None,
        credentials: Credentials | None = None,
        handover: Handover = Handover(),  # noqa: B008  (frozen)
        timeout: float | None = TIMEOUT,
        permit_seconds: float = SECONDS,
    ) -> None:
        """Raises `BadToolbox` for an invalid provider.

        With a store, decisions depend on its state, and decisions, uses, locks and gaps are audited. Exclusive tools
        need a store. `credentials` returns the value of a credential for a call that may use it.
        """
        permits = Permits(kernel, store, seconds=permit_seconds)
        adapters = {
            tool: make_adapter(tool, provider, permits.redeem) for tool, provider in providers.items()
        }
        exclusive = None if store is None else Exclusive(store)
        self._parts = Parts(store, permits, dict(providers), adapters, exclusive, credentials, handover)
        self._timeout = timeout

    def context(
        self,
        org: str,
        subject: str,
        circumstances: AccessContext = AccessContext(),  # noqa: B008  (frozen)
        *,
        on_behalf_of: str | None = None,
        via: Sequence[str] = (),
        envelope: Mapping[str, ToolLevel] | None = None,
    ) -> ToolContext:
        """The tools of `agent:ID`, or of a holder of `role:ID`.

        `on_behalf_of` triggered the run, `via` lists the senders, and `envelope` is what they passed on. Raises
        `UnknownOrganization`, `NotServed`, and `UsageError` for any other subject.
        """
        if not subject.startswith(("agent:", "role:")):
            raise UsageError(
                f"{quote(subject)} is neither an agent nor a role", "write `agent:ID` or `role:ID`"
            )
        request = AccessRequest(subject, "", "", circumstances, on_behalf_of, tuple(via), envelope)
        return ToolContext(self._parts, org, request, self._timeout)


def make_adapter(tool_id: str, provider: Provider, redeem: Redeem) -> Adapter:
    """The adapter of a tool. Raises `BadToolbox` for an invalid provider."""
    if isinstance(provider, PythonFunction):
        return FunctionAdapter(tool_id, provider, redeem)
    if isinstance(provider, HttpApi):
        return HttpAdapter(tool_id, provider, redeem)
    if isinstance(provider, McpServer):
        return McpAdapter(tool_id, provider, redeem)
    raise BadToolbox(
        f"what serves `{tool_id}` has the type {type(provider).__name__}",
        "give a `PythonFunction`, an `HttpApi` or an `McpServer`",
    )
