"""Edits of profiles: a tool is lowered, taken away or added, and the rest stays as it is written."""

from __future__ import annotations

import pytest

from orgkernel.documents.records import ToolLevel
from orgkernel.loading.files import SourceText
from orgkernel.project.edits.policies import add_policy, new_policies, policy_lines
from orgkernel.project.edits.roles import add_tool, limit_tool
from orgkernel.project.edits.yaml_lists import CannotEdit

PROFILE = """\
role_id: r # me
capabilities:
  # first
  tools_primary:   # what it needs
    - a
    # about x
    - x   # why x
    - b
  tools_secondary: [x, c]
  tools:
    - tool: x
    - {tool: x, level: write}
    - tool: y
      level: observe  # rarely
other: 1
"""


def source(text: str, name: str = "r.yaml") -> SourceText:
    return SourceText(f"/{name}", name, text, "")


def limited(text: str, level: ToolLevel | None, name: str = "r.yaml") -> str:
    return limit_tool(source(text, name), "r", "x", level).text


def test_a_tool_is_taken_from_every_list() -> None:
    """With the comment on its line; all other comments stay."""
    assert limited(PROFILE, None) == (
        "role_id: r # me\ncapabilities:\n  # first\n  tools_primary:   # what it needs\n    - a\n    # about x\n    - b\n"
        "  tools_secondary: [c]\n  tools:\n    - tool: y\n      level: observe  # rarely\nother: 1\n"
    )


def test_a_tool_is_lowered_in_its_own_entry() -> None:
    """One entry is left, at the new level."""
    assert limited(PROFILE, "read") == (
        "role_id: r # me\ncapabilities:\n  # first\n  tools_primary:   # what it needs\n    - a\n    # about x\n    - b\n"
        "  tools_secondary: [c]\n  tools:\n    - tool: x\n      level: read\n    - tool: y\n      level: observe  # rarely\n"
        "other: 1\n"
    )


@pytest.mark.parametrize(
    ("before", "level", "after"),
    [
        (
            "role_id: r\ncapabilities:\n  tools_primary: # c\n    - x\n  bst_domains: [a] # d\n", "read",
            "role_id: r\ncapabilities:\n  tools_primary: [] # c\n  bst_domains: [a] # d\n  tools:\n    - {tool: x, level: read}\n",
        ),
        (
            "role_id: r\ncapabilities:\n  tools_primary:\n    # why\n    - x\n", None,
            "role_id: r\ncapabilities:\n  tools_primary: []\n    # why\n",
        ),
        (
            "role_id: r\ncapabilities: {tools_primary: [x, y]}\n", "write",
            "role_id: r\ncapabilities: {tools_primary: [y], tools: [{tool: x, level: write}]}\n",
        ),
        ("role_id: r\ncapabilities: {tools_primary: [y, 'x']}\n", None, "role_id: r\ncapabilities: {tools_primary: [y]}\n"),
        (
            "role_id: r\ncapabilities:\n  tools_primary: [a,\n    b,   # why\n    x]\n", None,
            "role_id: r\ncapabilities:\n  tools_primary: [a,\n    b   # why\n    ]\n",
        ),
        (
            "role_id: r\ncapabilities:\n  tools_primary: [a,   # why\n    x,   # no more\n    # about b\n    b]\n", None,
            "role_id: r\ncapabilities:\n  tools_primary: [a,   # why\n    # about b\n    b]\n",
        ),
        (
            "role_id: r\ncapabilities:\n  tools_primary: [ # all\n    a, x, # no more\n    b, # b\n  ]\n", None,
            "role_id: r\ncapabilities:\n  tools_primary: [ # all\n    a,\n    b, # b\n  ]\n",
        ),
        (
            "role_id: r\ncapabilities:\n  tools_primary: [ # all\n    a, # a\n    x, # no more\n  ]\n", None,
            "role_id: r\ncapabilities:\n  tools_primary: [ # all\n    a, # a\n  ]\n",
        ),
        (
            "role_id: r\ncapabilities:\n  tools_primary: [ # all\n    x\n  ]\n", None,
            "role_id: r\ncapabilities:\n  tools_primary: [ # all\n  ]\n",
        ),
        (
            "role_id: r\ndescription: Over\n  two lines.\ncapabilities:\n    tools_primary:\n      -   x\n      -   y\n    intents:\n    - i\nx_a:   { b: 1,c: null }\n", "read",
            "role_id: r\ndescription: Over\n  two lines.\ncapabilities:\n    tools_primary:\n      -   y\n    intents:\n    - i\n    tools:\n      - {tool: x, level: read}\nx_a:   { b: 1,c: null }\n",
        ),
        (
            "role_id: r\r\ncapabilities:\r\n  tools_primary:\r\n  - x # why\r\n  - y", "read",
            "role_id: r\r\ncapabilities:\r\n  tools_primary:\r\n  - y\r\n  tools:\r\n    - {tool: x, level: read}  # why",
        ),
        (
            "role_id: r\ncapabilities:\n  tools:\n  - {tool: x, level: 'full'}\n  - {tool: x, level: read}\n", "read",
            "role_id: r\ncapabilities:\n  tools:\n  - {tool: x, level: read}\n",
        ),
        ("role_id: r\ncapabilities: {tools: [{tool: x, level: none}]}\n", None, "role_id: r\ncapabilities: {tools: [{tool: x, level: none}]}\n"),
        (
            "role_id: q\ncapabilities: {tools_primary: [x]}\n---\nrole_id: r\ncapabilities: {tools_primary: [x]}\n", None,
            "role_id: q\ncapabilities: {tools_primary: [x]}\n---\nrole_id: r\ncapabilities: {tools_primary: []}\n",
        ),
    ],
)  # fmt: skip
def test_every_way_of_writing_is_kept(before: str, level: ToolLevel | None, after: str) -> None:
    """Blocks, braces, quotes, ends of lines, and several documents in one file."""
    assert limited(before, level) == after


def test_json_stays_json() -> None:
    """What is written has its quotes."""
    before = '{"role_id": "r", "capabilities": {"tools_primary": ["a", "x"], "tools": []}}\n'
    assert limited(before, "read", "r.json") == (
        '{"role_id": "r", "capabilities": {"tools_primary": ["a"], "tools": [{"tool": "x", "level": "read"}]}}\n'
    )
    assert limited(
        '{\n  "role_id": "r",\n  "capabilities": {\n    "tools_primary": ["a",\n      "x"]\n  }\n}\n',
        None,
        "r.json",
    ) == ('{\n  "role_id": "r",\n  "capabilities": {\n    "tools_primary": ["a"]\n  }\n}\n')
    assert limited('{"role_id": "r", "capabilities": {"tools": [{"tool": "x"}]}}', "read", "r.json") == (
        '{"role_id": "r", "capabilities": {"tools": [{"tool": "x", "level": "read"}]}}'
    )


@pytest.mark.parametrize(
    "text",
    [
        "role_id: q\ncapabilities: {tools_primary: [x]}\n",
        "role_id: r\ncapabilities:\n  tools_primary: [x]\n  bst_domains: *b\n",
        "role_id: r\ncapabilities:\n  tools_primary: &t\n  - x\n  intents: *t\n",
        "role_id: r\ncapabilities:\n  tools: [x]\n",
    ],
)
def test_what_would_change_something_else_is_not_edited(text: str) -> None:
    """The profile of another role, text that is no YAML, a list that stands for another one too, and another shape."""
    with pytest.raises(CannotEdit):
        limited(text, None)


def test_a_tool_is_added_where_there_is_no_list_yet() -> None:
    """Also to a profile without any abilities."""
    assert add_tool(source("role_id: r # me\nrole_name: R\n"), "r", "x", "read").text == (
        "role_id: r # me\ncapabilities:\n  tools:\n    - {tool: x, level: read}\nrole_name: R\n"
    )
    before = "role_id: r\ncapabilities:\n  tools:\n    - {tool: y} # z\nother: 1\n"
    assert add_tool(source(before), "r", "x", "read").text == (
        "role_id: r\ncapabilities:\n  tools:\n    - {tool: y} # z\n    - {tool: x, level: read}\nother: 1\n"
    )


def test_a_policy_stands_first_in_its_document() -> None:
    """The comments of the others stay where they are, and an id that is taken is not written again."""
    text = (
        "_schema: orgkernel:access_policies\npolicies: # all of them\n  # about p\n  p:\n    effect: deny\n"
    )
    lines = policy_lines("ask-r-x", "r", "x")
    after = add_policy(source(text), "ask-r-x", lines).text
    assert after.startswith(
        "_schema: orgkernel:access_policies\npolicies: # all of them\n  ask-r-x:\n    description: "
    )
    assert after.endswith("      tools: [x]\n  # about p\n  p:\n    effect: deny\n")
    with pytest.raises(CannotEdit):
        add_policy(source(after), "ask-r-x", lines)
    with pytest.raises(CannotEdit):
        add_policy(
            source("_schema: orgkernel:access_policies\npolicies: {p: {effect: deny}}\n"), "ask-r-x", lines
        )
    again = add_policy(source(new_policies(lines)), "ask-r-y", policy_lines("ask-r-y", "r", "y")).text
    assert again.index("ask-r-y:") < again.index("ask-r-x:")
