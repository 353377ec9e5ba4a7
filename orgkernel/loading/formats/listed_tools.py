"""Reads saved answers of MCP servers to `tools/list`: each tool with its input schema.

Annotations are a server's statements about itself, so they grant nothing. Every tool is treated as destructive, and
the proposed side effects are kept next to the record for a later decision.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from orgkernel.diagnostics import catalog as row
from orgkernel.diagnostics.wording import quote
from orgkernel.documents.records import Tool, ToolCatalog
from orgkernel.loading.documents import build_diagnostic
from orgkernel.loading.files import Root, SourceText
from orgkernel.loading.formats.building import read_as
from orgkernel.loading.formats.mappings import ReadMapping
from orgkernel.loading.formats.names import MAX_TOOL_NAME_LENGTH, build_server_tool_id, build_tool_id
from orgkernel.loading.formats.servers import KIND, build_server_tool
from orgkernel.loading.input_schemas import check_input_schemas
from orgkernel.loading.marks import Marks, start_of
from orgkernel.loading.parsed import DocumentProblem, describe
from orgkernel.loading.sources import FileResult, SourceDocument

PROPOSED = "proposed"
"""Key of the proposed side effects of each tool."""
_MORE = "nextCursor"


def list_tools_in_server(server: object) -> Sequence[Any]:
    """The tools that are listed for a server, if they are more than names."""
    listed = server.get("tools") if isinstance(server, dict) else None
    return listed if isinstance(listed, tuple) and any(isinstance(each, dict) for each in listed) else ()


def read_listed(source: SourceText, root: Root, mapping: ReadMapping, fields: Sequence[str]) -> FileResult:
    """The servers under any of the `fields`, each with its listed tools."""
    reader = _Reader()
    for field in fields:
        servers = mapping.value.get(field)
        if isinstance(servers, dict):
            for name, server in servers.items():
                reader.add(name, server, mapping.marks[field][1][1][name])
        elif servers is not None:
            text = f"{quote(field)} is {describe(servers)}, not a mapping"
            reader.refuse(row.WRONG_TYPE, start_of(mapping.marks[field][1]), text)
    record = ToolCatalog(tools=reader.tools)
    marks = (mapping.start, {"tools": (mapping.start, (mapping.start, reader.marks))})
    document = read_as(
        source, root, KIND, record, marks, {PROPOSED: reader.proposed} if reader.proposed else {}
    )
    problems = [*reader.problems, *check_input_schemas(record, marks)]
    return FileResult((document,), (), tuple(build_diagnostic(source, each) for each in problems))


def read_proposed_side_effects(annotations: object) -> str | None:
    """The side effects that a server proposes for a tool. None if it proposes none. For missing hints, MCP assumes
    the worst.

    >>> read_proposed_side_effects({"readOnlyHint": True}), read_proposed_side_effects({"destructiveHint": False})
    ('read', 'write')
    >>> read_proposed_side_effects({"title": "Look"}), read_proposed_side_effects({"idempotentHint": True})
    (None, 'destructive')
    """
    if not isinstance(annotations, Mapping):
        return None
    hints = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")
    if not any(isinstance(annotations.get(each), bool) for each in hints):
        return None
    if annotations.get("readOnlyHint") is True:
        return "read"
    return "write" if annotations.get("destructiveHint") is False else "destructive"


def map_proposed_side_effects(document: SourceDocument) -> Mapping[str, str]:
    """The side effects that its server proposes, for each tool of a document."""
    return dict(next((value for route, value in document.unknown if route == (PROPOSED,)), {}))


class _Reader:
    """The tools of a file, with their marks."""

    def __init__(self) -> None:
        self.tools: dict[str, Tool] = {}
        self.marks: dict[str, tuple[int, Marks]] = {}
        self.proposed: dict[str, str] = {}
        self.problems: list[DocumentProblem] = []

    def refuse(self, kind: row.Row, mark: int, message: str, help: str = "") -> None:
        self.problems.append(DocumentProblem(kind, mark, message, help))

    def add(self, name: str, server: object, marks: tuple[int, Marks]) -> None:
        """Add a server and its listed tools."""
        own = build_server_tool_id(name)
        if own in self.tools:
            text = f"the server has the same id as another one, because both names become {quote(own)}"
            self.refuse(row.DUPLICATE_KEY, marks[0], text)
            return
        self.tools[own], self.marks[own] = build_server_tool(name), marks
        if not isinstance(server, dict):
            self.refuse(
                row.WRONG_TYPE, start_of(marks[1]), f"the server is {describe(server)}, not a mapping"
            )
            return
        listed = server.get("tools")
        if isinstance(listed, tuple):
            for tool, at in zip(listed, marks[1][1]["tools"][1][1], strict=True):
                self._add_tool(name, tool, at)
        if server.get(_MORE):
            text = f"the list of tools of server {quote(name)} is incomplete: its `nextCursor` points to another page"
            self.refuse(
                row.INCOMPLETE_TOOL_LIST,
                marks[1][1][_MORE][0],
                text,
                "save the tools of all pages in one list",
            )

    def _add_tool(self, server: str, tool: object, marks: Marks) -> None:
        at = start_of(marks)
        if isinstance(tool, str):
            tool, marks = {"name": tool}, (at, {"name": (at, at)})
            if tool["name"] == "*":
                return
        if not isinstance(tool, dict):
            self.refuse(row.WRONG_TYPE, at, f"the tool is {describe(tool)}, not a mapping")
            return
        name = tool.get("name")
        if not isinstance(name, str) or not name.strip():
            self.refuse(row.MISSING_FIELD, at, "the tool has no `name`")
            return
        tool_id = build_tool_id(server, name)
        mark = start_of(marks[1]["name"][1])
        if len(tool_id) > MAX_TOOL_NAME_LENGTH:
            self.refuse(row.MALFORMED_ID, mark, f"the name of the tool is too long: {quote(tool_id)}")
        elif tool_id in self.tools:
            text = f"the tool has the same id as another one of its server, because both names become {quote(tool_id)}"
            self.refuse(row.DUPLICATE_KEY, mark, text)
        else:
            self._keep(server, tool_id, name, tool, marks)

    def _keep(self, server: str, tool_id: str, name: str, tool: dict[str, Any], marks: Marks) -> None:
        description, title, schema = tool.get("description"), tool.get("title"), tool.get("inputSchema")
        plain = build_server_tool(server, name)
        self.tools[tool_id] = Tool(
            name=title if isinstance(title, str) else name,
            description=description if isinstance(description, str) and description else plain.description,
            type=plain.type,
            provider=server,
            side_effects=plain.side_effects,
            # Lists instead of tuples, because the JSON Schema check does not accept tuples.
            input_schema=msgspec.msgpack.decode(msgspec.msgpack.encode(schema))
            if isinstance(schema, dict)
            else None,
        )
        if schema is not None and not isinstance(schema, dict):
            text = f"`inputSchema` is {describe(schema)}, not a mapping"
            self.refuse(row.WRONG_TYPE, start_of(marks[1]["inputSchema"][1]), text)
        below = dict(marks[1])
        if "inputSchema" in below:
            below["input_schema"] = below["inputSchema"]
        self.marks[tool_id] = (start_of(below["name"][1]), (start_of(marks), below))
        proposal = read_proposed_side_effects(tool.get("annotations"))
        if proposal is not None:
            self.proposed[tool_id] = proposal
