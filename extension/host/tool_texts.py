"""Map prompt files to tools: a host's tool section consists of files, not of tools."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Collection, Mapping
from typing import Any, Final, NamedTuple

from . import places, reading

_ROOT = os.path.dirname(os.path.dirname(places.ORGANIZATIONS))
_PREFIX, _SUFFIX = "agent.system.tool.", ".md"
_VISION = "agent.system.tools_vision.md"
_FOLDERS = ("prompts", "usr/prompts", "plugins/*/prompts", "usr/plugins/*/prompts")
_FOLDERS_OF_PROFILE = (
    "agents/{0}/prompts",
    "usr/agents/{0}/prompts",
    "plugins/*/agents/{0}/prompts",
    "usr/plugins/*/agents/{0}/prompts",
)
_FOLDERS_OF_PROJECT = ("usr/projects/{1}/.a0proj/prompts", "usr/projects/{1}/.a0proj/agents/{0}/prompts")

SERVED: Final[Mapping[str, tuple[str, ...]]] = {
    "behaviour": ("behaviour_adjustment",),
    "browser": ("browser_agent",),
    "call_sub": ("call_subordinate",),
    "code_exe": ("code_execution_tool",),
    "memory": ("memory_load", "memory_save", "memory_delete", "memory_forget"),
    "skills": ("skills_tool",),
}
"""Files whose names differ from the tools that they serve."""

EXAMPLE = re.compile(r"""["']?tool_name["']?\s*:\s*["']([\w.]+)""")
_LANGUAGES = frozenset(
    {"json", "json5", "yaml", "python", "bash", "sh", "text", "markdown", "md", "xml", "html"}
)
"""Text that can follow a fence. It remains when a host strips fences that do not match."""
_HEADING = re.compile(r"^\s*#{1,6}\s+`?([\w.]+)`?(?=\s|:|$)", re.MULTILINE)
_DECLARED = re.compile(r"^\s*(?:#{1,6}|-)\s+`?([\w.]+)`?(?=\s|:|$)", re.MULTILINE)


class ToolText(NamedTuple):
    """A file about tools: the lines with words in it, and the tools that it serves."""

    name: str
    keys: tuple[str, ...]
    tools: frozenset[str]


def normalize_line(line: str) -> str:
    """The form of a line for comparison, without fences. Empty for a line that hosts could change or leave out."""
    key = line.replace("~~~", "").replace("```", "").strip()
    return "" if key in _LANGUAGES else key


def read_tool_texts(agent: Any, known: Collection[str]) -> list[ToolText]:
    """Every file about tools, read as the host reads it, with its variables filled in, the longest first.

    `known` are the tools in the catalogs. A file that cannot be read is not in the host's prompt either.
    """
    extra = agent.data.get("_tool_prompt_kwargs")
    tool_texts = []
    for name in _list_file_names(agent):
        arguments = extra.get(name, {}) if isinstance(extra, Mapping) else {}
        try:
            text = agent.read_prompt(name, **arguments)
        except Exception:
            continue
        keys = tuple(filter(None, map(normalize_line, text.splitlines()))) if isinstance(text, str) else ()
        if keys:
            tool_texts.append(ToolText(name, keys, list_served_tools(name, text, known)))
    return sorted(tool_texts, key=lambda each: -len(each.keys))


def list_served_tools(name: str, text: str, known: Collection[str]) -> frozenset[str]:
    """The tools that a file serves: those that its name and its headings define. Never empty.

    An example in the file can call another tool. So an example defines a tool only if the name and the headings
    define none.
    """
    if name == _VISION:
        return frozenset({"vision_load"})
    stem = name.removeprefix(_PREFIX).removesuffix(_SUFFIX)
    named = SERVED.get(stem) or ((stem,) if stem in known else ())
    if named:
        return frozenset({*named, *(word for word in _HEADING.findall(text) if word in known)})
    examples = set(EXAMPLE.findall(text))
    return frozenset(examples or {word for word in _DECLARED.findall(text) if word in known} or {stem})


def _list_file_names(agent: Any) -> list[str]:
    profile = reading.read_profile(agent) or "agent0"
    project = reading.read_project(agent)
    patterns = [*_FOLDERS, *_FOLDERS_OF_PROFILE, *(_FOLDERS_OF_PROJECT if project else ())]
    names = {
        os.path.basename(path)
        for pattern in patterns
        for path in glob.glob(
            os.path.join(
                glob.escape(_ROOT),
                pattern.format(glob.escape(profile), glob.escape(project)),
                f"{_PREFIX}*{_SUFFIX}",
            )
        )
    }
    return [*sorted(names), _VISION]
