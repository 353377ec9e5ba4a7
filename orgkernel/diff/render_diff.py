"""Changes as text, as Markdown for a pull request, as annotations of GitHub, and as JSON."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any
from unicodedata import east_asian_width

from orgkernel.decisions.reasons import Why
from orgkernel.diagnostics.wording import printable
from orgkernel.diff.changes import Change, summarize
from orgkernel.runtime.secret_shapes import mask_secrets

WIDTH = 100
_SIGNS = {"widened": "+", "narrowed": "-", "unclear": "?", "neutral": "~"}
_WHOLE = ("renamed", "removed", "added", "moved")
_EFFECTS = ("widened", "unclear", "narrowed", "neutral")
# What a reviewer has to look at: it lets somebody do more, or it may.
_FLAGGED: Mapping[str, str] = {"widened": "widened", "unclear": "may widen"}
# The summary of a pull request may be a megabyte, but nobody reads that much.
_LISTED = 200
_MARKDOWN = re.compile(r"[\\`*\[\]<>|&~#@]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])|(?<=:)/")


def as_data(changes: Sequence[Change]) -> dict[str, Any]:
    """For JSON: the counts, then every change."""
    return {"summary": summarize(changes), "changes": changes}


def render_summary(changes: Sequence[Change]) -> str:
    """One line of counts."""
    if not changes:
        return "no change"
    summary = summarize(changes)
    where = f"{_count(summary.organizations, 'organization')}, {_count(summary.roles, 'role')}"
    may = f"{summary.unclear:,} may widen, " if summary.unclear else ""
    what = f"{summary.widened:,} widened, {may}{summary.narrowed:,} narrowed, {summary.neutral:,} neutral"
    return f"{_count(summary.changes, 'change')} in {where}: {what}"


def render_text(changes: Sequence[Change]) -> str:
    """Grouped by organization and role: `+` gives, `-` takes, `?` may give, `~` is neutral. At most 100 columns wide."""
    lines = []
    for (org_id, role_id), group in _group_changes(changes):
        lines.append(org_id if role_id is None else f"{org_id}/{role_id}")
        for change in group:
            text = f"{change.sentence} {_format_places(change)}".rstrip()
            lines += _wrap(_escape_text(text), f"  {_SIGNS[change.classification]} ", "      ")
        lines.append("")
    return "".join(f"{line}\n" for line in (*lines, render_summary(changes)))


def render_markdown(changes: Sequence[Change]) -> str:
    """For the summary of a pull request: a table of what is widened, then the rest."""
    lines = ["### What the roles can do now", "", f"{render_summary(changes).capitalize()}.", ""]
    widened = [change for change in changes if change.classification in _FLAGGED]
    others = [change for change in changes if change.classification not in _FLAGGED]
    if widened:
        lines += ["| organization | role | widened | where |", "|---|---|---|---|"]
        for change in _sort_changes(widened)[:_LISTED]:
            sentence = (
                change.sentence if change.classification == "widened" else f"may widen: {change.sentence}"
            )
            cells = (change.org_id, change.role_id or "", sentence, _format_places(change).strip("()"))
            lines.append(f"| {' | '.join(map(_escape_markdown, cells))} |")
        lines += [*_render_rest(len(widened), "widened"), ""]
    if others:
        lines += [f"<details><summary>{_count(len(others), 'other change')}</summary>", ""]
        for change in _sort_changes(others)[:_LISTED]:
            sign = "narrowed: " if change.classification == "narrowed" else ""
            lines.append(
                f"- {sign}{_escape_markdown(f'{change.sentence} {_format_places(change)}'.rstrip())}"
            )
        lines += [*_render_rest(len(others), "other"), "", "</details>", ""]
    return "\n".join(lines).rstrip() + "\n"


def render_github(changes: Sequence[Change]) -> str:
    """Workflow commands that mark lines of the new tree: a warning where something is widened, a notice where a role
    moves or is renamed.
    """
    return "".join(f"{line}\n" for change in _sort_changes(changes) for line in _render_annotation(change))


def _render_annotation(change: Change) -> Iterator[str]:
    if change.classification in _FLAGGED:
        level, title = "warning", _FLAGGED[change.classification]
    elif change.kind in ("moved", "renamed"):
        level, title = "notice", change.kind
    else:
        return
    properties = {"title": f"orgkernel diff: {title}"}
    if change.why_after:
        first = change.why_after[0]
        properties = {"file": first.file, "line": str(first.line), **properties}
    listed = ",".join(f"{name}={_command(value, ':,')}" for name, value in properties.items())
    yield f"::{level} {listed}::{_command(_escape_text(change.sentence))}"


def _command(text: str, more: str = "") -> str:
    """A text inside a workflow command."""
    for character in f"%\r\n{more}":
        text = text.replace(character, f"%{ord(character):02X}")
    return text


def _group_changes(changes: Iterable[Change]) -> Iterator[tuple[tuple[str, str | None], list[Change]]]:
    for key, group in groupby(_sort_changes(changes), key=lambda change: (change.org_id, change.role_id)):
        yield key, list(group)


def _sort_changes(changes: Iterable[Change]) -> list[Change]:
    """By organization and role; of a role first what happened to it as a whole, then what gives, then what takes."""
    return sorted(
        changes,
        key=lambda change: (
            change.org_id,
            change.role_id or "",
            change.kind not in _WHOLE,
            _EFFECTS.index(change.classification),
        ),
    )


def _format_places(change: Change) -> str:
    """The line on the new side, and that on the old one if it is called otherwise."""
    new, old = _place(change.why_after), _place(change.why_before)
    if not new or not old or new == old:
        return f"({new})" if new else f"(was {old})" if old else ""
    return f"({new}, was {old})"


def _place(why: Sequence[Why]) -> str:
    return f"{why[0].file}:{why[0].line}" if why else ""


def _escape_text(text: str) -> str:
    return mask_secrets(printable(text))


def _escape_markdown(text: str) -> str:
    """Text that Markdown and a table's cell show as it is, and in which nobody is mentioned."""
    return _MARKDOWN.sub(lambda match: f"&#{ord(match[0])};", _escape_text(text))


def _render_rest(count: int, what: str) -> list[str]:
    return ["", f"And {count - _LISTED:,} {what} more: `--format text` lists all."] if count > _LISTED else []


def _wrap(text: str, first: str, later: str) -> Iterator[str]:
    """Lines of at most 100 columns, broken at spaces, and inside of words only where one is longer than a line."""
    line = first
    empty = True
    for word in text.split(" "):
        piece = word if empty else f" {word}"
        if _measure_width(line + piece) > WIDTH and not empty:
            yield line
            line, piece = later, word
        line += piece
        empty = False
        while _measure_width(line) > WIDTH:
            end = len(line)
            while _measure_width(line[:end]) > WIDTH:
                end -= 1
            yield line[:end]
            line = later + line[end:]
    yield line


def _measure_width(text: str) -> int:
    """How wide a terminal shows a text; a character of unclear width counts as wide."""
    return sum(1 + (east_asian_width(character) in "WFA") for character in text)


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'s' * (number != 1)}"
