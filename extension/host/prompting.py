"""The role's effect on the system prompt: the tool section keeps only the role's tools, and the role's brief is added.

A file that serves both allowed and other tools stays; calls of the others are refused. Results are kept for the process,
because hosts build the same prompt again and again: as long as nothing changes, no file is read and nothing is searched.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from . import effect, reading
from .gate import may_use, sort_tools
from .memory import AgentMemory
from .organization import Active
from .runtime import bundle as bundles
from .saying import say_once
from .tool_section import Trimmed, trim_section
from .tool_texts import ToolText, read_tool_texts

_MAX_ENTRIES = 32
_MAX_QUESTIONS = 32
_SHOWN = 6
_MCP_ENTRY = re.compile(r'\A## "Remote \(MCP Server\) Agent Tools" available:')
_SKILLS_ENTRY = re.compile(r"\A\s*#+ (?:available )?skills\s[^#]*\bskills_tool\b", re.IGNORECASE)
"""The list of skills, which only `skills_tool` can load."""
_MCP_SERVER = re.compile(r"^### ([\w-]+)$", re.MULTILINE)
_MCP_TOOL = re.compile(r"^### ([\w-]+)\.([^\n]+):$", re.MULTILINE)

PromptKey = tuple[str, ...]
"""The organization, whose tools are searched for, and the profile and the project, which decide where prompt files
are.
"""

_trimmed: dict[tuple[object, ...], dict[str, Trimmed]] = {}
_texts: dict[PromptKey, list[ToolText]] = {}


def shape_prompt(
    active: Active, memory: AgentMemory, agent: Any, role: bundles.BundleRole, entries: Sequence[str]
) -> list[str]:
    """The entries of the system prompt for the role, with its brief at the end."""
    shaped = _shape(active, memory, agent, role, entries)
    own = memory.roles.get(role.role_id)
    if own is not None and own.duty:
        shaped.append(own.duty)
    memory.prompt.left = list(shaped)
    effect.note_prompt(agent, memory, role.role_id, _measure_length(entries) - _measure_length(shaped))
    return shaped


def count_hidden_characters(
    active: Active, memory: AgentMemory, agent: Any, role: bundles.BundleRole, entries: Sequence[str]
) -> int:
    """The number of characters that trimming would remove."""
    shaped = _shape(active, memory, agent, role, entries)
    effect.note_prompt(agent, memory, role.role_id, _measure_length(entries) - _measure_length(shaped))
    return _measure_length(entries) - _measure_length(memory.prompt.after or ())


def trim_again(
    active: Active, memory: AgentMemory, agent: Any, role: bundles.BundleRole, system: Any
) -> None:
    """Trim the prompt again if another extension changed it after `shape_prompt`, and add the brief if it is
    missing.
    """
    left = memory.prompt.left
    if left is None or not isinstance(system, list) or system == left:
        return
    changed = [entry for entry in system if isinstance(entry, str) and entry not in left]
    results = _trim(active, memory, agent, role, changed, whole=False)
    after = [results[each].text if isinstance(each, str) and each in results else each for each in system]
    if _is_gone(role.brief, left, after):
        after.append(role.brief.strip())
    rewritten = any(entry not in system for entry in memory.prompt.sections)
    if rewritten or any(each.recognized for each in results.values()):
        _report_left(memory, agent, role, list(results.values()))
    system[:] = after
    memory.prompt.left = list(after)


def report_change(
    active: Active, memory: AgentMemory, agent: Any, role: bundles.BundleRole, system: Any
) -> None:
    """Say that another extension had the last word on the prompt, if it shows more tools because of that."""
    left, memory.prompt.left = memory.prompt.left, None
    if left is None or not isinstance(system, list) or system == left:
        return
    changed = [entry for entry in system if isinstance(entry, str) and entry not in left]
    results = _trim(active, memory, agent, role, changed, whole=False)
    hidden = sum(len(entry) - len(each.text) for entry, each in results.items())
    unknown = any(section not in system for section in memory.prompt.sections) and not any(
        each.recognized for each in results.values()
    )
    if hidden > 0 or unknown or _is_gone(role.brief, left, system):
        say_once(
            agent,
            memory,
            "Another extension changed the tool section after orgkernel",
            content=f"It could show {role.role_name} tools that are refused to it ({hidden:,} characters). Give the other "
            "extension a name that sorts before `_96_`, or remove it.",
            kind="warning",
        )


def _is_gone(brief: str, left: Sequence[str], now: Sequence[object]) -> bool:
    text = brief.strip()
    return bool(text) and text in left and text not in now


def _measure_length(entries: Sequence[str]) -> int:
    return sum(map(len, entries))


def _shape(
    active: Active, memory: AgentMemory, agent: Any, role: bundles.BundleRole, entries: Sequence[str]
) -> list[str]:
    question = (*_build_cache_key(active, role), role.brief, *_place(agent))
    last = memory.prompt
    if last.question != question or last.before != entries or last.shaped is None:
        last.shaped = _shape_new(active, memory, agent, role, entries)
        last.question, last.before = question, list(entries)
    return list(last.shaped)


def _shape_new(
    active: Active, memory: AgentMemory, agent: Any, role: bundles.BundleRole, entries: Sequence[str]
) -> list[str]:
    results = _trim(active, memory, agent, role, entries)
    after = [results[entry].text if entry in results else entry for entry in entries]
    shaped = [text for text, entry in zip(after, entries, strict=True) if text or not entry]
    memory.prompt.after = shaped
    memory.prompt.sections = [each.text for each in results.values() if each.recognized]
    shaped = list(shaped)
    brief = role.brief.strip()
    # A subordinate with the profile of the role already has the brief in its main prompt.
    if brief and not any(isinstance(entry, str) and brief in entry for entry in shaped):
        shaped.append(brief)
    if not _is_clean(results):
        _report_left(memory, agent, role, list(results.values()))
        # The prompt shows tools of other roles, so the brief has to say which ones are its own.
        shaped.append(
            f"Your tools: {', '.join(f'`{tool}`' for tool in sort_tools(active, role))}, `response`."
        )
    return shaped


def _report_left(
    memory: AgentMemory, agent: Any, role: bundles.BundleRole, results: Sequence[Trimmed]
) -> None:
    """Say what could not be removed from the prompt."""
    if not any(each.recognized for each in results):
        if results:
            say_once(
                agent,
                memory,
                "The tool section of the prompt has an unknown form and was not trimmed",
                content="No file about tools was found in it as the host reads it. Calls are still refused.",
                kind="warning",
            )
        return
    left = list(dict.fromkeys(name for each in results for name in each.left))
    if left:
        names = ", ".join(f"`{name}`" for name in left[:_SHOWN])
        more = f" and {len(left) - _SHOWN} more" if len(left) > _SHOWN else ""
        characters = sum(each.left_characters for each in results if each.left)
        say_once(
            agent,
            memory,
            "A part of the tool section was not recognized and stays in the prompt",
            content=f"{characters:,} characters, about tools that are refused to {role.role_name}: {names}{more}.",
            kind="warning",
        )


def _is_clean(results: dict[str, Trimmed], *, whole: bool = True) -> bool:
    """Whether the files account for the entries. With `whole`, one of the entries must be the tool section."""
    has_section = not whole or any(each.recognized for each in results.values())
    return has_section and not any(each.left for each in results.values())


def _build_cache_key(active: Active, role: bundles.BundleRole) -> tuple[object, ...]:
    """The facts that decide which tools are shown. In a run for superiors, a role can have fewer tools than alone."""
    settings = active.settings
    return active.bundle.checksum, role.role_id, role.host_tools, settings.unlisted_tools, settings.examples


def _place(agent: Any) -> tuple[str, str]:
    return reading.read_profile(agent) or "agent0", reading.read_project(agent)


def _trim(
    active: Active,
    memory: AgentMemory,
    agent: Any,
    role: bundles.BundleRole,
    entries: Sequence[str],
    *,
    whole: bool = True,
) -> dict[str, Trimmed]:
    """Pair each entry with its trimmed form.

    The host's files are read again, once per message, if they do not explain the entries.
    """
    place = (active.bundle.checksum, *_place(agent))
    question = (*_build_cache_key(active, role), *place)
    if memory.tool_texts is None:
        memory.texts_read = place not in _texts
        memory.tool_texts = _read(active, agent, place) if memory.texts_read else _texts[place]
    known = _trimmed.get(question)
    if known is None or len(known) > _MAX_ENTRIES:
        if len(_trimmed) > _MAX_QUESTIONS:
            _trimmed.clear()
        known = _trimmed[question] = {}
    results = _trim_all(active, memory, role, entries, known)
    if (
        not memory.texts_read
        and not _is_clean(results, whole=whole)
        and any(entry not in known for entry in entries)
    ):
        memory.texts_read, memory.tool_texts = True, _read(active, agent, place)
        results = _trim_all(active, memory, role, entries, known)
    # A result with old files is kept only if it is clean. Otherwise the next message reads the files.
    if memory.texts_read or _is_clean(results, whole=whole):
        known.update(results)
    return results


def _read(active: Active, agent: Any, place: PromptKey) -> list[ToolText]:
    if len(_texts) > _MAX_QUESTIONS:
        _texts.clear()
    _texts[place] = read_tool_texts(agent, active.bundle.tools.keys())
    return _texts[place]


def _trim_all(
    active: Active,
    memory: AgentMemory,
    role: bundles.BundleRole,
    entries: Sequence[Any],
    known: dict[str, Trimmed],
) -> dict[str, Trimmed]:
    texts: list[ToolText] = memory.tool_texts
    names = {*active.bundle.tools, *(tool for text in texts for tool in text.tools)}

    def allowed(tool: str) -> bool:
        return may_use(active, role, tool)

    results = {}
    for entry in entries:
        if not isinstance(entry, str):
            continue
        if entry in known:
            results[entry] = known[entry]
        elif _MCP_ENTRY.match(entry):
            results[entry] = Trimmed(_trim_remote(entry, allowed))
        elif _SKILLS_ENTRY.match(entry) and not allowed("skills_tool"):
            results[entry] = Trimmed("")
        else:
            results[entry] = trim_section(entry, texts, names, allowed, active.settings.examples)
    return results


def _trim_remote(entry: str, allowed: Callable[[str], bool]) -> str:
    """The entry about remote tools, with only the allowed ones. Empty if no tool is left."""
    servers = set(_MCP_SERVER.findall(entry))
    heads = [match for match in _MCP_TOOL.finditer(entry) if match[1] in servers]
    # The block of a tool ends where the next tool or server begins.
    borders = sorted(
        {
            *(match.start() for match in heads),
            *(match.start() for match in _MCP_SERVER.finditer(entry)),
            len(entry),
        }
    )
    kept, place, shown = [], 0, 0
    for match in heads:
        end = next(border for border in borders if border > match.start())
        if allowed(f"{match[1]}.{match[2]}"):
            shown += 1
        else:
            kept.append(entry[place : match.start()])
            place = end
    return "".join((*kept, entry[place:])) if shown or not heads else ""
