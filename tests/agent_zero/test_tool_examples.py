"""What a role is shown of the files about its own tools: no lines about other tools, and no example twice."""

from __future__ import annotations

import pytest

from extension.host.tool_section import trim_section
from extension.host.tool_texts import ToolText, list_served_tools, normalize_line

KNOWN = ("shell", "keep", "forget")
SHELL = """\
### shell
- use `shell:wait` for running work
1 list files
~~~json
{"thoughts": ["…"], "tool_name": "shell", "tool_args": {"code": "ls", "session": 0}}
~~~

2 wait for output
~~~json
{"tool_name": "shell:wait", "tool_args": {"session": 0}}
~~~

3 list them again
~~~json
{
  "headline": "Listing",
  "tool_name": "shell",
  "tool_args": {
    "code": "ls",
    "session": 0,
  }
}
~~~

4 print a date
~~~json
{"tool_name": "shell", "tool_args": {"code": "date"}}
~~~
"""
NOTES = """\
## notes
- `keep`: arg `text`
- `forget`: arg `id`
- forget nothing that matters
"""
ENTRY = f"## available tools\n\n{SHELL}\n\n{NOTES}"


def trim(examples: str, *own: str) -> str:
    """The entry for a role with these tools."""
    files = (("agent.system.tool.shell.md", SHELL), ("agent.system.tool.notes.md", NOTES))
    texts = [
        ToolText(
            name,
            tuple(filter(None, map(normalize_line, text.splitlines()))),
            list_served_tools(name, text, KNOWN),
        )
        for name, text in files
    ]
    return trim_section(ENTRY, texts, KNOWN, set(own).__contains__, examples).text


@pytest.mark.parametrize(
    ("examples", "shown", "left_out"),
    [
        ("all", ("1 list files", "2 wait", "4 print a date"), ("3 list them again", '"headline"')),
        (
            "first",
            ("1 list files", "2 wait"),
            ("3 list them again", '"headline"', "4 print a date", '"date"'),
        ),
    ],
)
def test_a_call_is_shown_once_or_once_for_each_method(examples, shown, left_out):
    """Two examples are the same if only thoughts, headline and layout differ."""
    text = trim(examples, "shell", "keep", "forget")
    assert [each for each in (*shown, *left_out) if each in text] == list(shown)
    assert text.count("~~~") == 2 * len(shown)
    assert text.endswith(NOTES)


def test_a_line_of_a_list_about_another_tool_is_left_out_of_a_file_that_stays():
    """Only if the line begins with the name as code. Prose that begins with the same word stays."""
    text = trim("all", "keep")
    assert "`keep`" in text
    assert "`forget`" not in text
    assert "forget nothing that matters" in text
    assert "shell" not in text
