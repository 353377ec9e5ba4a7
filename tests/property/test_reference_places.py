"""References are looked for near the words that each one has. This finds the same as looking everywhere."""

from __future__ import annotations

from collections.abc import Iterator

from hypothesis import given
from hypothesis import strategies as st

from orgkernel.loading.formats import references
from orgkernel.loading.formats.references import COMMAND, TOOL, TextReference, find_references

# What references and the examples around them are made of.
PARTS = (
    "use ", "Use the ", "via ", "with your ", "USE ", "`Read`", "`mcp__a-b_c`", "**Edit** tool", "Bash tool", " tool",
    "tools", "agent", "subagent", "the code-reviewer agent", "@agent-x", 'subagent_type: "a"', "`x` agent", "**x** sub-agent",
    "```", "~~~", "````", "`````", "  ```py", "<example>", "</example>", "\n", "\r\n", " ", "\t", "not ", "Use Run tool",
    "a", "é", "-", "`a/b.md`", "[x](a/b.md)", "see ", " Read ", "`/x` command", "command `/go-on`", "a-b-" * 20,
)  # fmt: skip


def find_everywhere(text: str) -> Iterator[TextReference]:
    """The references of a text, with each pattern applied to all of it."""
    for match in references._AGENT.finditer(text):
        group = str(match.lastgroup)
        yield TextReference(references._AGENT_KINDS[group], match.start(group), match[group])
    text = blank_examples(text)
    for match in references._TOOL.finditer(text):
        if not references.is_denied(text, match.start()):
            group = str(match.lastgroup)
            yield TextReference(TOOL, match.start(group), match[group])
    yield from references._find_files(text)
    for match in references._COMMAND.finditer(text):
        group = str(match.lastgroup)
        yield TextReference(COMMAND, match.start(group), match[group])


def blank_examples(text: str) -> str:
    """The text with spaces in the place of code and examples, found with one pattern."""
    parts, end = [], 0
    while (opening := references._OPENING.search(text, end)) is not None:
        start, fence = opening.start(), opening["fence"]
        parts.append(text[end:start])
        if fence:
            end = references._find_end_of_fence(text, fence, opening.end())
        else:
            end = references._find_end_of_example(text, start)
        parts.append("\n".join(" " * len(line) for line in text[start:end].split("\n")))
    return "".join((*parts, text[end:]))


@given(st.lists(st.sampled_from(PARTS), max_size=40).map("".join))
def test_nothing_is_missed(text: str) -> None:
    """Any text has the same references, in the same order of kinds."""
    assert list(find_references(text)) == list(find_everywhere(text))
