"""Which prompt file serves which tools: a host's tool section consists of files, not of tools."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final

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

_EXAMPLE = re.compile(r"""["']?tool_name["']?\s*:\s*["']([\w.]+)""")
_DECLARED = re.compile(r"^\s*(?:#{1,6}|-)\s+`?([\w.]+)`?(?=\s|:|$)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class ToolText:
    """The text of a file in the prompt, without blank lines around it, and the tools that it serves."""

    name: str
    text: str
    tools: frozenset[str]


def read_tool_texts(agent: Any, known: Collection[str]) -> list[ToolText]:
    """Every file about tools, read as the host reads it, with its variables filled in, longest first.

    `known` are the tools in the catalogs. A file that cannot be read is not in the host's prompt either.
    """
    extra = agent.data.get("_tool_prompt_kwargs")
    found = []
    for name in _names(agent):
        arguments = extra.get(name, {}) if isinstance(extra, Mapping) else {}
        try:
            text = agent.read_prompt(name, **arguments)
        except Exception:
            continue
        if isinstance(text, str) and text.strip():
            found.append(ToolText(name, text.strip(), served_by(name, text, known)))
    return sorted(found, key=lambda each: -len(each.text))


def served_by(name: str, text: str, known: Collection[str]) -> frozenset[str]:
    """The tools that a file serves, by its name and by the examples and headings in it. Never empty."""
    if name == _VISION:
        return frozenset({"vision_load"})
    stem = name.removeprefix(_PREFIX).removesuffix(_SUFFIX)
    examples = set(_EXAMPLE.findall(text))
    declared = {word for word in (*examples, *_DECLARED.findall(text)) if word in known}
    if stem in SERVED:
        return frozenset({*SERVED[stem], *declared})
    if stem in known:
        return frozenset({stem, *declared})
    return frozenset(examples or declared or {stem})


def _names(agent: Any) -> list[str]:
    profile = reading.profile_of(agent) or "agent0"
    project = reading.project_of(agent)
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
