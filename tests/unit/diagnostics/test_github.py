"""Workflow commands, read back the way the runner of GitHub Actions reads them."""

from __future__ import annotations

import re
from string import punctuation

from hypothesis import given

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.formats.github import (
    escape_data,
    escape_markdown,
    escape_property,
    render_github,
    render_step_summary,
)
from orgkernel.diagnostics.render import sentence
from orgkernel.diagnostics.wording import clean
from tests.support.findings import TOKEN, a_finding, no_lines, several, texts

_DATA = (("%0D", "\r"), ("%0A", "\n"), ("%25", "%"))
_PROPERTY = (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%"))


def unescape(text, mappings):
    """One replacement after the other, in the runner's order."""
    for written, meant in mappings:
        text = text.replace(written, meant)
    return text


def parse(line):
    """Command, properties and message of a line."""
    assert line.startswith("::")
    head, _, message = line[2:].partition("::")
    command, _, written = head.partition(" ")
    properties = dict(pair.split("=", 1) for pair in written.split(","))
    return (
        command,
        {name: unescape(value, _PROPERTY) for name, value in properties.items()},
        unescape(message, _DATA),
    )


@given(texts)
def test_what_is_escaped_reads_back_the_same(text):
    """Every text, line breaks and percent signs included."""
    assert unescape(escape_data(text), _DATA) == text
    assert unescape(escape_property(text), _PROPERTY) == text


@given(several)
def test_an_annotation_reads_back_as_the_finding(found):
    """One command per finding whatever it says, with its file, its place and its words."""
    lines = render_github(found, no_lines).splitlines()
    assert len(lines) == len(found)
    for line, each in zip(lines, found, strict=True):
        command, properties, message = parse(line)
        assert command == {"error": "error", "warning": "warning", "info": "notice"}[each.severity.value]
        assert properties == {
            "title": f"{each.code} {each.name}",
            "file": clean(each.place.file),
            "line": str(each.place.line),
            "col": str(each.place.column),
        }
        assert message == sentence(each)


def test_an_annotation_ends_where_the_text_it_is_about_ends():
    """The whole word is marked when the line can be read."""
    line = render_github([a_finding(column=15, line=1)], lambda _: ["  reports_to: enginering_xo"])
    _, properties, _ = parse(line.rstrip("\n"))
    assert (properties["endLine"], properties["endColumn"]) == ("1", "28")


@given(texts)
def test_the_step_summary_shows_text_as_text(text):
    """Nothing a document says becomes a cell, a link, an image or an element: all punctuation is escaped."""
    escaped = escape_markdown(text)
    plain = re.sub(r"\\([!-/:-@\[-`{-~])", "", escaped)
    assert not any(character in punctuation or character == "\n" for character in plain)
    assert re.sub(r"\\(.)", r"\1", escaped) == clean(text)


def test_the_step_summary_is_a_table_with_a_row_per_finding():
    """What a reader of the run sees."""
    text = render_step_summary([a_finding(help="did you mean `codegen`?")], "1 error in 3 roles")
    assert text == (
        "### orgkernel check\n\n1 error in 3 roles\n\n"
        "| severity | rule | where | what |\n|---|---|---|---|\n"
        "| error | ORG301 unknown\\-domain | roles\\/dev\\.yaml\\:5\\:3 "
        "| role \\`dev\\` handles \\`codegn\\` \\(did you mean \\`codegen\\`\\?\\) |\n\n"
    )


def test_a_clean_step_summary_has_no_table():
    """Only the sentence."""
    assert render_step_summary([], "no findings") == "### orgkernel check\n\nno findings\n\n"


def test_a_step_summary_is_cut_before_github_drops_it():
    """1 MiB is too much; how many are missing is said."""
    text = render_step_summary([a_finding(message="x" * 1000)] * 2000, "2,000 errors")
    assert len(text.encode()) < 300_000
    assert f"{2000 - text.count('ORG301'):,} more: see the log of this step." in text


def test_secrets_are_masked():
    """In annotations and in the summary."""
    found = [a_finding(message=f"token {TOKEN}", help=TOKEN, severity=Severity.WARNING)]
    assert TOKEN not in render_github(found, no_lines)
    assert TOKEN.replace("_", "\\_") not in render_step_summary(found, "")
