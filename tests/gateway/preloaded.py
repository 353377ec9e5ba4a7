"""What every gateway imports; imported once, in the process that the others are forked from."""

import mcp.server.caching
import mcp.server.lowlevel
import mcp.server.stdio
import mcp.server.streamable_http_manager
import uvicorn

import manifest_api.gateway
import manifest_api.server
import orgkernel.cli
import orgkernel.cli.hosts.gateway
import orgkernel.mcp.gateway.server
import orgkernel.toolbox.upstream_tools

__all__ = ["manifest_api", "mcp", "orgkernel", "uvicorn"]
