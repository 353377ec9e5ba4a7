"""The `names` of the built-in tools of hosts, from the table of equivalents (`ontology/hosts/equivalents.yaml`)."""

from __future__ import annotations

import re
from pathlib import Path

from orgkernel.exchange.agents.equivalents import find_equivalent

REPOSITORY = Path(__file__).parents[1]
FORMATS = ("claude_code", "codex", "copilot", "crewai", "cursor", "gemini_cli", "kiro", "opencode", "roo")
"""The formats whose catalogs have names. Exports find the counterparts of the others in the table."""
_PLACES = {"claude_code": "ontology/hosts/claude_code_tools.yaml"}
_TARGETS = ("claude_code", "copilot", "crewai")
_ENTRY = re.compile(r"^  (?P<tool>[A-Za-z_]\w*): \{(?P<fields>.*?)(?:, names: \{[^}]*\})?\}$", re.MULTILINE)


def render_catalogs() -> dict[str, str]:
    """The catalogs by path, with the names of their tools in the hosts that are exported to."""
    return {
        path: _render(host, (REPOSITORY / path).read_text("utf-8"))
        for host in FORMATS
        for path in (_PLACES.get(host, f"orgkernel/loading/formats/{host}/tools.yaml"),)
    }


def _render(host: str, text: str) -> str:
    def add_names(entry: re.Match[str]) -> str:
        tool = entry["tool"]
        own = {host: tool}
        others = {
            target: name for target in _TARGETS if target != host and (name := find_equivalent(own, target))
        }
        names = ", ".join(f"{each}: {name}" for each, name in (own | others).items())
        return f"  {tool}: {{{entry['fields']}{f', names: {{{names}}}' if others else ''}}}"

    return _ENTRY.sub(add_names, text)
