"""What a tool of one host is called in another. The built-in catalogs of the hosts state it under `names` of each tool."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from orgkernel.loading.formats import read_built_in_tools


@cache
def _read_names(format: str) -> Mapping[str, Mapping[str, str]]:
    """The names in other hosts of each built-in tool of a format."""
    return {tool: entry["names"] for tool, entry in read_built_in_tools(format).items() if "names" in entry}


def find_equivalent(format: str, tool: str, host: str) -> str | None:
    """The name in a host of a built-in tool of a format. None if the host has no counterpart.

    >>> find_equivalent("claude-code", "Grep", "copilot"), find_equivalent("claude-code", "WebSearch", "copilot")
    ('search/textSearch', None)
    """
    return _read_names(format).get(tool, {}).get(host)
