"""Converts names in other formats to ids, and back."""

from __future__ import annotations

import re

from orgkernel.runtime.lazy_patterns import lazy_pattern

_ID = lazy_pattern(r"[A-Za-z_][A-Za-z0-9_-]*\Z")
_ESCAPED = lazy_pattern(r"_([0-9a-f]{1,6})_")
_KEPT = lazy_pattern(r"[A-Za-z0-9-]\Z")
_LAST_CHARACTER = 0x10FFFF
MAX_NAME_LENGTH = 100
MAX_TOOL_NAME_LENGTH = 200
MCP = "mcp__"
"""Prefix of the names of MCP server tools."""
_OTHERS = lazy_pattern(r"[^A-Za-z0-9_-]")


def convert_to_id(name: str) -> str:
    """The id for a name: the name itself if it is an id, otherwise with every other character as `_HEX_`.

    >>> convert_to_id("code-reviewer"), convert_to_id("Code Reviewer"), convert_to_id("3d-artist"), convert_to_id("a_20_b")
    ('code-reviewer', 'Code_20_Reviewer', '_33_d-artist', 'a_5f_20_5f_b')
    >>> convert_to_id("build_a_bot"), convert_to_id("step_1_plan")
    ('build_a_bot', 'step_1_plan')
    """
    if _ID.match(name) and derive_name(name) == name:
        return name
    return "".join(
        each if _KEPT.match(each) and (at or each.isalpha()) else f"_{ord(each):x}_"
        for at, each in enumerate(name)
    )


def derive_name(role_id: str) -> str:
    """The name that an id is for. Characters that cannot be printed are in no name, so `_a_` is no line break.

    >>> [derive_name(convert_to_id(each)) for each in ("code-reviewer", "Code Reviewer", "a_20_b", "über", "build_a_bot")]
    ['code-reviewer', 'Code Reviewer', 'a_20_b', 'über', 'build_a_bot']
    """
    return _ESCAPED.sub(_decode, role_id)


def _decode(match: re.Match[str]) -> str:
    code = int(match[1], 16)
    return chr(code) if code <= _LAST_CHARACTER and chr(code).isprintable() else match[0]


def get_server_tool_id_of(word: str) -> str | None:
    """The id of the tool that represents the server of a tool.

    >>> get_server_tool_id_of("mcp__github__search"), get_server_tool_id_of("mcp__github"), get_server_tool_id_of("Read")
    ('mcp__github', 'mcp__github', None)
    """
    return MCP + word.removeprefix(MCP).partition("__")[0] if word.startswith(MCP) else None


def build_server_tool_id(server: str) -> str:
    """The id of the tool that represents a server."""
    return (MCP + _OTHERS.sub("_", server))[:MAX_NAME_LENGTH]


def build_tool_id(server: str, name: str) -> str:
    """The id of a server's tool, as agents name it. Characters that are not allowed in tool names become `_`.

    >>> build_tool_id("github", "list_issues"), build_tool_id("my server", "a.b")
    ('mcp__github__list_issues', 'mcp__my_server__a_b')
    """
    return f"{build_server_tool_id(server)}__{_OTHERS.sub('_', name)}"
