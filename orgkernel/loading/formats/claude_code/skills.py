"""Reads a SKILL.md of Claude Code: the Agent Skills standard, with more fields and fewer required ones."""

from __future__ import annotations

from typing import Any

from orgkernel.loading.documents import read_broken, read_parsed_markdown
from orgkernel.loading.files import Root, SourceText
from orgkernel.loading.formats.building import add_text
from orgkernel.loading.markdown import parse_markdown
from orgkernel.loading.sources import ReadFile, get_skill_name

# Fields that Claude Code reads and that are not part of the standard. None of them restricts who has the skill.
_MORE = (
    "agent", "argument-hint", "context", "disable-model-invocation", "effort", "hooks", "model", "user-invocable",
    "version", "when_to_use",
)  # fmt: skip
_TOOLS = "allowed-tools"
# These words restrict who may use the skill. They are kept next to the record.
_OPEN_TO = ("disable-model-invocation", "user-invocable")


def read_skill(source: SourceText, root: Root) -> ReadFile:
    """Read the skill."""
    if source.refusal is not None:
        return read_broken(source, "cognitive_skill", [source.refusal])
    parsed = parse_markdown(source)
    raw: dict[str, Any] = {}
    if parsed.value is not None:
        raw = {key: [each.casefold()] for key in _OPEN_TO if isinstance(each := parsed.value.get(key), str)}
        value = {key: each for key, each in parsed.value.items() if key not in _MORE}
        tools = value.get(_TOOLS)
        if isinstance(tools, tuple) and all(isinstance(each, str) for each in tools):
            value[_TOOLS] = " ".join(tools)
        value.setdefault("name", get_skill_name(source.path))
        parsed = parsed._replace(value=value)
    read = read_parsed_markdown(source, parsed, root.shared, root.context, root.format)
    return add_text(read, raw)
