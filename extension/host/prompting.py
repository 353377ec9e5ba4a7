"""The role's effect on the system prompt: the tool section keeps only the role's tools, and the role's brief is added.

Each file of a tool that is not allowed is cut out of the section, exactly as it was read. An entry that contains no file
as it was read has an unknown form and is left alone. A file that serves both allowed and other tools stays; calls of the
others are refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from .gate import may_use
from .memory import AgentMemory
from .organization import Active
from .runtime import bundle as bundles
from .saying import say_once
from .tool_texts import ToolText, read_tool_texts

_MOST_KEPT = 64
_MCP_ENTRY = re.compile(r'\A## "Remote \(MCP Server\) Agent Tools" available:')
_MCP_SERVER = re.compile(r"^### ([\w-]+)$", re.MULTILINE)
_MCP_TOOL = re.compile(r"^### ([\w-]+)\.([^\n]+):$", re.MULTILINE)


def shape_prompt(
    active: Active, memory: AgentMemory, agent: Any, role: bundles.BundleRole, entries: Sequence[str]
) -> list[str]:
    """The entries of the system prompt for the role, with its brief at the end."""
    shaped = _trim(active, memory, agent, role, entries)
    brief = role.brief.strip()
    # A subordinate with the profile of the role already has the brief in its main prompt.
    if brief and not any(isinstance(entry, str) and brief in entry for entry in shaped):
        shaped.append(brief)
    own = memory.roles.get(role.role_id)
    if own is not None and own.duty:
        shaped.append(own.duty)
    return shaped


def would_hide(
    active: Active, memory: AgentMemory, agent: Any, role: bundles.BundleRole, entries: Sequence[str]
) -> int:
    """The number of characters that trimming would remove."""
    shaped = _trim(active, memory, agent, role, entries)
    return sum(map(len, entries)) - sum(map(len, shaped))


def _trim(
    active: Active, memory: AgentMemory, agent: Any, role: bundles.BundleRole, entries: Sequence[str]
) -> list[str]:
    question = (active.bundle.checksum, role.role_id, active.settings.unlisted_tools)
    if memory.sections_for != question or len(memory.sections) > _MOST_KEPT:
        memory.sections, memory.sections_for = {}, question
        memory.tool_texts = None
    if any(entry not in memory.sections for entry in entries):
        _trim_new(active, memory, agent, role, entries)
    shown = [(entry, memory.sections.get(entry, entry)) for entry in entries]
    return [text for entry, text in shown if text or not entry]


def _trim_new(
    active: Active, memory: AgentMemory, agent: Any, role: bundles.BundleRole, entries: Sequence[str]
) -> None:
    """Trim the entries that are new. The host's files are read once a turn."""

    def allowed(tool: str) -> bool:
        return may_use(active, role, tool)

    if memory.tool_texts is None:
        memory.tool_texts = read_tool_texts(agent, active.bundle.tools.keys())
    texts: list[ToolText] = memory.tool_texts
    recognized = False
    for entry in entries:
        holds = [text for text in texts if text.text in entry]
        recognized = recognized or bool(holds)
        if entry not in memory.sections:
            hidden = [text for text in holds if not any(map(allowed, text.tools))]
            # A text inside the text of another file belongs to that file.
            hidden = [
                text
                for text in hidden
                if not any(text.text in other.text for other in texts if other is not text)
            ]
            shown = _without(entry, hidden)
            memory.sections[entry] = _trim_remote(shown, allowed) if _MCP_ENTRY.match(shown) else shown
    if not recognized:
        say_once(
            agent,
            memory,
            "The tool section of the prompt has an unknown form and was not trimmed",
            kind="warning",
        )


def _without(entry: str, hidden: list[ToolText]) -> str:
    """The entry without the files that occur in it exactly once, as a block of their own."""
    for text in hidden:
        start = entry.find(text.text)
        end = start + len(text.text)
        if start < 0 or entry.find(text.text, start + 1) >= 0:
            continue
        before, after = entry[:start], entry[end:]
        if (before and not before.endswith("\n")) or (after and not after.startswith("\n")):
            continue
        entry = before.rstrip("\n") + after if not after.strip("\n") else before + after.lstrip("\n")
    return entry


def _trim_remote(entry: str, allowed: Callable[[str], bool]) -> str:
    """The entry about remote tools, with only the allowed ones. Empty if no tool is left."""
    servers = set(_MCP_SERVER.findall(entry))
    heads = [found for found in _MCP_TOOL.finditer(entry) if found[1] in servers]
    # The block of a tool ends where the next tool or server begins.
    borders = sorted(
        {
            *(found.start() for found in heads),
            *(found.start() for found in _MCP_SERVER.finditer(entry)),
            len(entry),
        }
    )
    kept, place, shown = [], 0, 0
    for found in heads:
        end = next(border for border in borders if border > found.start())
        if allowed(f"{found[1]}.{found[2]}"):
            shown += 1
        else:
            kept.append(entry[place : found.start()])
            place = end
    return "".join((*kept, entry[place:])) if shown or not heads else ""
