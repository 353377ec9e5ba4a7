"""Whatever somebody sends as a file in the format of others is read or refused, and what is read keeps its places."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orgkernel.loading.files import Area, Located, Root, decode
from orgkernel.loading.formats import FORMATS, complete
from orgkernel.loading.sources import FileRead

_MARKS = [*"abn: ,[]{}()'\"|>-&*!#%@`/\t\n\r\0\u2028\ud800\x1b", "---\n", "\n  - ", "true", "\u202e"]
_FRONT = [
    "name: a\n", "\ndescription: ", "\ntools: ", "\nagents: ", "\nmodel: ", "\nhandoffs:\n  - agent: ", "\nmcp-servers: ",
    "\ninfer: ", "\norgkernel-suppressions: ", "mcp__x__y", "x/y", "{rule: ", "agent",
]  # fmt: skip
_JSON = [
    '{"mcpServers": ', '{"servers": {"s": ', '{"tools": [', '{"name": "a", ', '"inputSchema": {', '"annotations": ', '"$ref": "#"',
    '"readOnlyHint": true', '"nextCursor": "x"', "}", "]", "null", "1e999", '"type": "object"', '"result": {', '"s": ',
]  # fmt: skip
# Format, a place of its files, how a text begins and goes on, and what it is made of.
PLACES = [
    ("copilot", ".github/agents/a.agent.md", "---\n{}\n---\nText\n", _FRONT),
    ("copilot", ".vscode/mcp.json", "{}", _JSON),
    ("mcp", "mcp-tools.json", "{}", _JSON),
    (
        "agent-zero",
        "agents/a/agent.yaml",
        "{}",
        ["title: ", "\ndescription: ", "\ncontext: ", "\norgkernel-suppressions: ", "enabled: "],
    ),
    (
        "agent-zero",
        "agents/a/plugins/_tool_access/config.json",
        "{}",
        ['{"mode": "custom"', ', "default": ', '"block"', ', "allowed": [', '"mcp:a:b"', "]", "}"],
    ),
]


@pytest.mark.parametrize(
    ("form", "place", "frame", "parts"), PLACES, ids=[f"{each[0]}-{each[1]}" for each in PLACES]
)
@settings(max_examples=100)
@given(data=st.data())
def test_no_text_stops_the_reader(
    form: str, place: str, frame: str, parts: list[str], data: st.DataObject
) -> None:
    """No text raises, whatever it is made of."""
    text = "".join(data.draw(st.lists(st.sampled_from([*_MARKS, *parts * 3]), max_size=30)))
    content = frame.replace("{}", text).encode("utf-8", "surrogatepass")
    source = decode(f"/x/{place}", place, content)
    root = Root("/x", "", format=form, areas=(Area(place),))
    read = FORMATS[form].read(source, root)
    assert read.documents or read.broken
    assert not read.broken or read.diagnostics
    completion = complete(
        [FileRead(Located(source.path, source.name, root, 0), source.digest, True, False, read)]
    )
    for document in (*completion.documents, *completion.instead.values(), *read.documents):
        assert document.record
        document.place("tools", "mcp__s", "input_schema")
        document.place("capabilities", "tools_primary", 0)
