"""The mark of an exported file: who made it, from which organization and for which format."""

from __future__ import annotations

import re
from typing import NamedTuple

_MARK = re.compile(
    r'\s*(?:#|//|"\$comment":)\s*"?Made by orgkernel from organization ([A-Za-z0-9_.-]+) for ([a-z0-9-]+)\.'
)
_DASHES = re.compile("-(?=--)")
_LOOKED_AT = 5
"""Number of first lines that are searched. Strings of the organization that quote a mark are below these lines."""


class Mark(NamedTuple):
    """The content of a mark."""

    org_id: str
    target: str


def render_mark(org_id: str, target: str) -> str:
    """The words of a mark, which are written as a comment of the format.

    >>> find_mark("# " + render_mark("acme", "crewai"))
    Mark(org_id='acme', target='crewai')

    Three dashes would end the front matter of a Markdown file for some hosts, so ids with three are written with dots.

    >>> render_mark("a---b", "crewai")[:44], find_mark("# " + render_mark("a---b", "crewai")).org_id
    ('Made by orgkernel from organization a-.--b f', 'a---b')
    """
    written = _DASHES.sub("-.", org_id)
    return f"Made by orgkernel from organization {written} for {target}. Change the organization and export again."


def find_mark(text: str) -> Mark | None:
    """The mark of a file; None if it has none."""
    for line in text.split("\n", _LOOKED_AT)[:_LOOKED_AT]:
        match = _MARK.match(line)
        if match is not None:
            return Mark(match[1].replace(".", ""), match[2])
    return None
