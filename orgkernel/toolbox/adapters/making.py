"""From what serves a tool to the adapter that calls it."""

from __future__ import annotations

from orgkernel.errors import BadToolbox
from orgkernel.toolbox.adapters.adapter import Adapter, Redeem
from orgkernel.toolbox.adapters.function import FunctionAdapter
from orgkernel.toolbox.adapters.http_api import HttpAdapter
from orgkernel.toolbox.adapters.mcp_server import McpAdapter
from orgkernel.toolbox.providers import HttpApi, McpServer, Provider, PythonFunction


def make_adapter(tool_id: str, provider: Provider, redeem: Redeem) -> Adapter:
    """The adapter of a tool; raises `BadToolbox` for what cannot serve it."""
    if isinstance(provider, PythonFunction):
        return FunctionAdapter(tool_id, provider, redeem)
    if isinstance(provider, HttpApi):
        return HttpAdapter(tool_id, provider, redeem)
    if isinstance(provider, McpServer):
        return McpAdapter(tool_id, provider, redeem)
    raise BadToolbox(
        f"what serves `{tool_id}` is a {type(provider).__name__}",
        "give a `PythonFunction`, an `HttpApi` or an `McpServer`",
    )
