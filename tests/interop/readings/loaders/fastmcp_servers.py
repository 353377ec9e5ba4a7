"""Reads a file of MCP servers with FastMCP. Each server counts as an agent without tools."""

from __future__ import annotations

from pathlib import Path

from fastmcp.mcp_config import MCPConfig
from lines import Agents, serve


def load(folder: Path) -> Agents:
    """The servers of the file."""
    return {name: {} for name in MCPConfig.from_file(folder / "mcp.json").mcpServers}


serve(load)
