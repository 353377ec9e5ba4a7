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
        (
            "arguments",
            ("1 list files", "2 wait", "4 print a date"),
            ("3 list them again", '"headline"'),
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


RUN = """\
### run
- `mode`: `terminal` or `python`
1 terminal
~~~json
{
    "thoughts": [
        "Need to [list]...",
        "So I...",
    ],
    "headline": "Listing",
    "tool_name": "run",
    "tool_args": {
        "mode": "terminal",
        "code": "ls -l",
        "session": 0
    }
}
~~~

2 python
~~~json
{
    "thoughts": ["I can use..."],
    "headline": "Printing",
    "tool_name": "run",
    "tool_args": {
        "mode": "python",
        "code": "print(1)"
    }
}
~~~

3 poll
~~~json
{
    "thoughts": ["Waiting..."],
    "headline": "Waiting",
    "tool_name": "run",
    "tool_args": {
        "mode": "output"
    }
}
~~~

4 poll again
~~~json
{
    "thoughts": ["Waiting..."],
    "headline": "Waiting",
    "tool_name": "run",
    "tool_args": {
        "mode": "output",
        "timeout": {"seconds": 3}
    }
}
~~~
"""


def test_an_example_stays_if_only_it_shows_an_argument_or_the_name_of_a_mode():
    """By default. What the words of the file or an earlier example show is left out, and the frame is shown once."""
    lines = tuple(filter(None, map(normalize_line, RUN.splitlines())))
    texts = [ToolText("agent.system.tool.run.md", lines, frozenset({"run"}))]
    text = trim_section(f"## available tools\n\n{RUN}", texts, ("run",), lambda _: True).text
    shown = [
        each for each in ("1 terminal", "2 python", "3 poll", "4 poll again", '"timeout"') if each in text
    ]
    assert shown == ["1 terminal", "3 poll", "4 poll again", '"timeout"']
    assert [text.count(each) for each in ('"thoughts"', '"headline"', "    ...\n", "So I...")] == [1, 1, 2, 1]
    assert text.count('"tool_name": "run"') == 3
    assert text.index("So I...") < text.index("3 poll")


def test_an_example_in_another_layout_keeps_its_frame():
    """A frame is found line by line, as published hosts write it. Anything else stays as it is."""
    odd = RUN.replace('"thoughts": ["Waiting..."],', '"headline": "Waiting", "thoughts": ["Waiting..."],')
    lines = tuple(filter(None, map(normalize_line, odd.splitlines())))
    texts = [ToolText("agent.system.tool.run.md", lines, frozenset({"run"}))]
    text = trim_section(odd, texts, ("run",), lambda _: True).text
    assert text.count('"headline": "Waiting", "thoughts": ["Waiting..."],') == 2
