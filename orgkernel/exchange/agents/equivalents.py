"""What a tool of one host is called in another. The built-in catalogs of the hosts state it under `names` of each tool."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from orgkernel.loading.files import read_text
from orgkernel.loading.formats import FORMATS
from orgkernel.loading.yaml_reader import parse_yaml


@cache
def _read_names(format: str) -> Mapping[str, Mapping[str, str]]:
    """The names in other hosts of each built-in tool of a format."""
    path = FORMATS[format].catalog
    (document,) = parse_yaml(read_text(path, path).text).documents
    catalog: Any = document.value
    return {tool: entry["names"] for tool, entry in catalog["tools"].items() if "names" in entry}


def find_equivalent(format: str, tool: str, host: str) -> str | None:
    """The name in a host of a built-in tool of a format. None if the host has no counterpart.

    >>> find_equivalent("claude-code", "Grep", "copilot"), find_equivalent("claude-code", "WebSearch", "copilot")
    ('search/textSearch', None)
    """
    return _read_names(format).get(tool, {}).get(host)
