"""A SKILL.md as Claude Code writes it: the Agent Skills standard, with more fields and fewer demands."""

from __future__ import annotations

from orgkernel.loading.documents import read_broken, read_parsed_markdown
from orgkernel.loading.files import Root, SourceText
from orgkernel.loading.markdown import parse_markdown
from orgkernel.loading.sources import ReadFile, name_of_skill

# Fields that Claude Code reads and the standard does not know. None of them says who has the skill.
_MORE = (
    "agent", "argument-hint", "context", "disable-model-invocation", "effort", "hooks", "model", "user-invocable",
    "version", "when_to_use",
)  # fmt: skip
_TOOLS = "allowed-tools"


def read_skill(source: SourceText, root: Root) -> ReadFile:
    """The skill."""
    if source.refusal is not None:
        return read_broken(source, "cognitive_skill", [source.refusal])
    parsed = parse_markdown(source)
    if parsed.value is not None:
        value = {key: each for key, each in parsed.value.items() if key not in _MORE}
        tools = value.get(_TOOLS)
        if isinstance(tools, tuple) and all(isinstance(each, str) for each in tools):
            value[_TOOLS] = " ".join(tools)
        value.setdefault("name", name_of_skill(source.path))
        parsed = parsed._replace(value=value)
    return read_parsed_markdown(source, parsed, root.shared, root.context, root.format)
