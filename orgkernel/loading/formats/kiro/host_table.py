"""What names of tools mean in agents of Kiro, from the table of the host (`host.yaml`) and its catalog."""

from __future__ import annotations

import os
from functools import cache
from typing import Any

from orgkernel.loading.formats.coding_agents import ToolNames
from orgkernel.loading.formats.names import MCP
from orgkernel.loading.shipped_tables import read_shipped_table

_FOLDER = os.path.dirname(__file__)
BUILT_IN, SERVERS = "@builtin", "@mcp"
SHELL, STARTER = "shell", "subagent"


@cache
def read_host_table() -> dict[str, Any]:
    """The table of the host. Callers must not change it."""
    table: dict[str, Any] = read_shipped_table(os.path.join(_FOLDER, "host.yaml"))
    return table


@cache
def get_names() -> ToolNames:
    """How Kiro names tools."""
    tools = tuple(read_shipped_table(os.path.join(_FOLDER, "tools.yaml"))["tools"])
    return ToolNames(
        server_prefix="@",
        separator="/",
        groups={**read_host_table()["names"], BUILT_IN: tools, SERVERS: (f"{MCP}*",)},
        starter=STARTER,
        command_tool=SHELL,
        is_project_final=True,
    )
