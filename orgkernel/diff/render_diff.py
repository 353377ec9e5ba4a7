"""Changes as text, as Markdown for a pull request, as annotations of GitHub, and as JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import groupby
from typing import Any, NamedTuple
from unicodedata import east_asian_width

from orgkernel.decisions.reasons import Why
from orgkernel.diagnostics.wording import printable
from orgkernel.diff.changes import Change
from orgkernel.diff.report import ChangeReport, ReportedEdit, list_quiet_edits
from orgkernel.runtime.secret_shapes import mask_secrets

WIDTH = 100
_SIGNS = {"widened": "+", "narrowed": "-", "unclear": "?", "neutral": "~"}
_WHOLE = ("renamed", "removed", "added", "moved")
_EFFECTS = ("widened", "unclear", "narrowed", "neutral")
# What a reviewer has to look at: it lets a subject do more, or could.
_FLAGGED: Mapping[str, str] = {"widened": "widened", "unclear": "may widen"}
# The summary of a pull request may be a megabyte, but no reviewer reads that much.
_LISTED = 200
_GITLAB_SEVERITIES = {"widened": "major", "may widen": "minor", "moved": "info", "renamed": "info"}
_MARKDOWN = re.compile(r"[\\`*\[\]<>|&~#@]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])|(?<=:)/")


def as_data(report: ChangeReport) -> dict[str, Any]:
    """For JSON: the counts, the edits, then every change with the numbers of its edits."""
    data: dict[str, Any] = {"summary": report.summary, "edits": report.edits, "changes": report.changes}
    return {
        **data,
        "cut": report.cut,
        "without_examples": report.without_examples,
        "incomparable": report.incomparable,
    }


def render_summary(report: ChangeReport) -> str:
    """One line of counts."""
    return f"{'incomplete comparison: ' if report.incomparable else ''}{_count_changes(report)}"


def _count_changes(report: ChangeReport) -> str:
    summary, quiet = report.summary, len(list_quiet_edits(report))
    if not report.changes:
        return (
            f"no change; {_count(quiet, 'edit')} of texts and settings that no answer depends on"
            if quiet
            else "no change"
        )
    where = f"{_count(summary.organizations, 'organization')}"
    edits = f" by {_count(len(report.edits) - quiet, 'edit')}" if len(report.edits) > quiet else ""
    may = f"{summary.unclear:,} may widen, " if summary.unclear else ""
    counts = f"{summary.widened:,} widened, {may}{summary.narrowed:,} narrowed, {summary.neutral:,} neutral"
    rest = f"; {_count(quiet, 'more edit')} without effect" if quiet else ""
    return f"{_count(summary.changes, 'change')} in {where}{edits}: {counts}{rest}"


def render_text(report: ChangeReport) -> str:
    """Grouped by organization and by the edits that cause a change: `+` gives, `-` takes, `?` may give, `~` is neutral."""
    lines = []
    for org_id, changes in groupby(report.changes, key=lambda change: change.org_id):
        lines.append(org_id)
        for group in _group_by_causes(changes):
            causes = [report.edits[number] for number in group[0].causes]
            if len(group) == 1 and len(causes) == 1 and group[0].sentence == causes[0].sentence:
                lines += _render_change(group[0], f"  {_SIGNS[group[0].classification]} ", "      ")
                continue
            for edit in causes:
                text = f"{edit.sentence} {_format_places(edit)}".rstrip()
                lines += _wrap(_escape_text(text), "  ", "    ")
            margin = "    " if causes else "  "
            for change in _sort_changes(group):
                sign = f"{margin}{_SIGNS[change.classification]} "
                lines += _render_change(
                    change, sign, f"{margin}    ", with_places=_is_placed_apart(change, causes)
                )
        lines.append("")
    for sentence in _list_left_out(report):
        lines += [*_wrap(_escape_text(sentence), "", "  "), ""]
    return "".join(f"{line}\n" for line in (*lines, render_summary(report)))


def _say_cut(org_id: str) -> str:
    return (
        f"{org_id}: the edits touch too many questions, and not all were asked, so more answers could differ"
    )


def _list_left_out(report: ChangeReport) -> Iterator[str]:
    yield from map(_say_cut, report.cut)
    for org_id in report.without_examples:
        yield f"{org_id}: the declared examples were not dispatched, because the organization is too large for it"


def _group_by_causes(changes: Iterable[Change]) -> list[list[Change]]:
    """Changes with the same causes together, in the order of their first edits; those without come first."""
    groups: dict[tuple[int, ...], list[Change]] = {}
    for change in changes:
        groups.setdefault(change.causes, []).append(change)
    return [groups[causes] for causes in sorted(groups)]


def _render_change(change: Change, sign: str, later: str, *, with_places: bool = True) -> Iterator[str]:
    places = _format_places(change) if with_places else ""
    yield from _wrap(_escape_text(f"{change.sentence} {places}".rstrip()), sign, later)


def _is_placed_apart(change: Change, causes: Sequence[ReportedEdit]) -> bool:
    """Whether the lines of a change are not those of its causes, which are shown already."""
    shown = {(why.file, why.line) for edit in causes for why in (*edit.why_before, *edit.why_after)}
    return not shown or not any(
        (why.file, why.line) in shown for why in (*change.why_before, *change.why_after)
    )


def render_markdown(report: ChangeReport) -> str:
    """For the summary of a pull request: a table of what is widened, with the edits that cause it, then the rest."""
    changes = report.changes
    lines = ["### What the organization allows now", "", f"{_capitalize(render_summary(report))}.", ""]
    widened = [change for change in changes if change.classification in _FLAGGED]
    others = [change for change in changes if change.classification not in _FLAGGED]
    if widened:
        lines += ["| organization | widened | because | where |", "|---|---|---|---|"]
        for change in _sort_changes(widened)[:_LISTED]:
            sentence = (
                change.sentence if change.classification == "widened" else f"may widen: {change.sentence}"
            )
            causes = [report.edits[number] for number in change.causes]
            because = "; ".join(edit.sentence for edit in causes if edit.sentence != change.sentence)
            where = "; ".join(
                filter(None, (_format_places(each).strip("()") for each in causes or (change,)))
            )
            cells = (change.org_id, sentence, because, where)
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
    lines += [f"{_escape_markdown(sentence)}." for sentence in _list_left_out(report)]
    return "\n".join(lines).rstrip() + "\n"


def _capitalize(text: str) -> str:
    return text[:1].upper() + text[1:]


class _Annotation(NamedTuple):
    """What is said at one edited line."""

    level: str
    title: str
    file: str
    line: int | None
    """None if the line is gone."""
    text: str


def render_github(report: ChangeReport) -> str:
    """Workflow commands that mark the edited lines: a warning where something is widened, a notice where a role moves or is
    renamed.
    """
    lines = []
    for each in _annotate(report):
        places = [f"file={_command(each.file, ':,')}"] if each.file else []
        places += [f"line={each.line}"] if each.line is not None else []
        properties = ",".join((*places, f"title={_command(f'orgkernel diff: {each.title}', ':,')}"))
        lines.append(f"::{each.level} {properties}::{_command(_escape_text(each.text))}")
    lines += [
        f"::warning title=orgkernel diff%3A incomplete::{_command(_escape_text(_say_cut(org_id)))}"
        for org_id in report.cut
    ]
    return "".join(f"{line}\n" for line in lines)


def render_gitlab(report: ChangeReport) -> str:
    """The report that GitLab reads as `codequality`, with an entry for each edited line that widens or may widen something."""
    entries = [
        {
            "description": _escape_text(each.text),
            "check_name": f"orgkernel-diff-{each.title.replace(' ', '-')}",
            "fingerprint": sha256(f"{each.title}\0{each.file}\0{each.text}".encode()).hexdigest(),
            "severity": _GITLAB_SEVERITIES[each.title],
            "location": {"path": printable(each.file), "lines": {"begin": each.line or 1}},
        }
        for each in _annotate(report)
    ]
    return json.dumps(entries, indent=2, ensure_ascii=False) + "\n"


def _annotate(report: ChangeReport) -> list[_Annotation]:
    """One annotation for each edited line and level."""
    sentences: dict[tuple[str, str, str, int | None], list[str]] = {}
    for change in _sort_changes(report.changes):
        if change.classification in _FLAGGED:
            level, title = "warning", _FLAGGED[change.classification]
        elif change.kind in ("moved", "renamed"):
            level, title = "notice", change.kind
        else:
            continue
        causes = [report.edits[number] for number in change.causes]
        for file, line in _find_edited_lines(change, causes):
            listed = sentences.setdefault((level, title, file, line), [])
            if change.sentence not in listed:
                listed.append(change.sentence)
    return [_Annotation(*place, "; ".join(listed)) for place, listed in sentences.items()]


def _find_edited_lines(change: Change, causes: Sequence[ReportedEdit]) -> list[tuple[str, int | None]]:
    """The edited lines of the new tree; the file alone if the line is gone."""
    places: list[tuple[str, int | None]] = []
    for each in causes or (change,):
        if each.why_after:
            places.append((each.why_after[0].file, each.why_after[0].line))
        elif each.why_before:
            places.append((each.why_before[0].file, None))
    return list(dict.fromkeys(places)) or [("", None)]


def _command(text: str, more: str = "") -> str:
    """A text inside a workflow command."""
    for character in f"%\r\n{more}":
        text = text.replace(character, f"%{ord(character):02X}")
    return text


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


def _format_places(change: Change | ReportedEdit) -> str:
    """The line on the new side, and that on the old one if it is called otherwise."""
    new, old = _place(change.why_after), _place(change.why_before)
    if isinstance(change, ReportedEdit):
        before, after = change.before, change.after
        both = isinstance(before, list) and isinstance(after, list)
        new = "" if after is None or (both and all(each in before for each in after)) else new
        old = "" if both and all(each in after for each in before) else old
    if not new or not old or new == old:
        return f"({new})" if new else f"(was {old})" if old else ""
    return f"({new}, was {old})"


def _place(why: Sequence[Why]) -> str:
    return f"{why[0].file}:{why[0].line}" if why else ""


def _escape_text(text: str) -> str:
    return mask_secrets(printable(text))


def _escape_markdown(text: str) -> str:
    """Text that Markdown and a table's cell show as it is, and in which no `@name` notifies a person."""
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
