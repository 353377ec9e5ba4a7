"""The MCP servers of a project (`.mcp.json`) or a plugin (`plugin.json`): each becomes one tool, `mcp__SERVER`.

Nobody says here which tools a server has. Those that agents name are added by `whole`.
"""

from __future__ import annotations

from typing import Any

from orgkernel.diagnostics import catalog as row
from orgkernel.loading.documents import diagnose, read_broken
from orgkernel.loading.files import Root, SourceText
from orgkernel.loading.formats.building import read_as
from orgkernel.loading.formats.claude_code.layout import SERVERS
from orgkernel.loading.formats.mappings import read_mapping
from orgkernel.loading.formats.names import server_tool_id
from orgkernel.loading.json_reader import parse_json
from orgkernel.loading.marks import Marks, start_of
from orgkernel.loading.parsed import Refusal, describe
from orgkernel.loading.sources import ReadFile
from orgkernel.records.tool_catalog import Tool, ToolCatalog

KIND = "tool_catalog"
FIELD = "mcpServers"


def server_tool(server: str, name: str = "") -> Tool:
    """A tool of a server. What it does is not declared here, so it is taken for the most it could do."""
    said = (
        f"The tool {name} of the MCP server {server}." if name else f"All tools of the MCP server {server}."
    )
    return Tool(description=said, type="mcp_server", provider=server, side_effects="destructive")


def read_servers(source: SourceText, root: Root) -> ReadFile:
    """The servers, and of a plugin its name and description."""
    value, marks, start, refused = read_mapping(source, parse_json)
    if refused:
        return read_broken(source, KIND, list(refused))
    refusals: list[Refusal] = []
    servers = value.get(FIELD, {})
    tools: dict[str, Tool] = {}
    below: dict[str, tuple[int, Marks]] = {}
    is_elsewhere = isinstance(servers, str) and not source.path.endswith(SERVERS)  # a plugin may name a file
    if isinstance(servers, dict):
        for name in servers:
            tools[server_tool_id(name)] = server_tool(name)
            below[server_tool_id(name)] = marks[FIELD][1][1][name]
    elif not is_elsewhere:
        text = f"`{FIELD}` is {describe(servers)}, not a mapping"
        refusals.append(Refusal(row.WRONG_TYPE, start_of(marks[FIELD][1]), text))
    record = ToolCatalog(tools=tools, description=_text(value.get("description")))
    full = (start, {**marks, "tools": (start, (start, below))})
    unknown = {"name": value["name"]} if _text(value.get("name")) else {}
    document = read_as(source, root, KIND, record, full, unknown)
    return ReadFile((document,), (), tuple(diagnose(source, each) for each in refusals))


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
