"""SALUTE reports as text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from orgkernel.cli.output import echo_json
from orgkernel.cli.stores import echo_records
from orgkernel.diagnostics.wording import printable
from orgkernel.reports.board import BoardLine, ReportDetail

HEADINGS = ("role", "tier", "health", "state", "progress", "age", "marks", "task")
_SECTIONS = (
    ("status", "S  status"),
    ("activity", "A  activity"),
    ("location", "L  location"),
    ("unit", "U  unit"),
    ("time", "T  time"),
    ("environment", "E  environment"),
)
_WIDTH = 28


def show_age(seconds: int) -> str:
    """A time span in its two largest units.

    >>> show_age(7), show_age(200), show_age(7_260), show_age(180_000)
    ('7s', '3m 20s', '2h 1m', '2d 2h')
    """
    parts: list[str] = []
    for unit, length in (("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1)):
        number, seconds = divmod(seconds, length)
        if number or (unit == "s" and not parts):
            parts.append(f"{number}{unit}")
        elif parts:
            break
    return " ".join(parts[:2])


def show_marks(line: BoardLine) -> str:
    """Marks of a report that may not be true: stale, or from a clock that is ahead."""
    marks = []
    if line.is_stale:
        marks.append("stale")
    if line.ahead_seconds:
        marks.append(f"clock {show_age(line.ahead_seconds)} ahead")
    return ", ".join(marks)


def show_unit(line: BoardLine, lines: Sequence[BoardLine]) -> str:
    """The role, with its organization and agent if that distinguishes lines."""
    name = line.role_id if len({each.org_id for each in lines}) == 1 else f"{line.org_id}/{line.role_id}"
    same = [each for each in lines if (each.org_id, each.role_id) == (line.org_id, line.role_id)]
    agent = line.agent_id or f"agent {line.agent_number}"
    return name if len(same) == 1 else f"{name} ({agent})"


def render_line(line: BoardLine) -> str:
    """A report as one line of a log."""
    marks = show_marks(line)
    said = (
        line.at, f"{line.org_id}/{line.role_id}", line.pace_level, line.health, line.state, f"{line.progress:.0%}",
        *([f"[{marks}]"] if marks else []), line.task,
    )  # fmt: skip
    return printable("  ".join(part for part in said if part))


def render_report(detail: ReportDetail) -> str:
    """A report in full, section by section."""
    marks = show_marks(detail)
    head = f"{detail.role_name} ({detail.org_id}/{detail.role_id}), {show_age(detail.age_seconds)} ago"
    lines = [f"{head}{f': {marks}' if marks else ''}"]
    for section, title in _SECTIONS:
        lines += ["", title, *_fields(detail.report.get(section, {}))]
    return "\n".join(map(printable, lines)) + "\n"


def _fields(values: Mapping[str, Any]) -> Iterator[str]:
    for name, value in values.items():
        yield f"   {name.ljust(_WIDTH)}  {_show(value)}"


def _show(value: Any) -> str:
    if value is None or value in ("", [], ()):
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def echo_board(form: str, lines: Sequence[BoardLine]) -> None:
    """Print a board, one line per report."""
    if form == "json":
        echo_json(msgspec.json.format(msgspec.json.encode(lines), indent=2).decode())
        return
    echo_records(
        form,
        lines,
        HEADINGS,
        lambda line: (
            show_unit(line, lines), line.pace_level, line.health, line.state, f"{line.progress:.0%}",
            show_age(line.age_seconds), show_marks(line), line.task,
        ),
    )  # fmt: skip
