"""`orgkernel salute`: the reports of roles, from the store or from a folder of report files."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

import click
import msgspec

from orgkernel.cli.groups import CommandGroup
from orgkernel.cli.opening import add_path_options, format_option, open_kernel
from orgkernel.cli.output import echo_json
from orgkernel.cli.stores import echo_record, echo_records, open_current_store, parse_since, store_option
from orgkernel.diagnostics.wording import did_you_mean, listing, printable, quote
from orgkernel.errors import NothingToRead, StoreError, UnknownRecord, UsageError

if TYPE_CHECKING:
    from orgkernel.decisions.evidence.state_view import StoredReport
    from orgkernel.kernel.stored import Store
    from orgkernel.operations.reports.board import BoardLine, Intervals, ReportDetail
    from orgkernel.operations.reports.collecting import CollectedFile

_LOOK_SECONDS = 0.5
_HEADINGS = ("role", "tier", "health", "state", "progress", "age", "marks", "task")
_SECTIONS = (
    ("status", "S  status"),
    ("activity", "A  activity"),
    ("location", "L  location"),
    ("unit", "U  unit"),
    ("time", "T  time"),
    ("environment", "E  environment"),
)
_WIDTH = 28

reports_option = click.option(
    "--reports", "folder", metavar="DIR", help="Read the report files of a folder instead of the store."
)
org_option = click.option("--org", metavar="ORG", help="Only one organization.")


@click.group("salute", cls=CommandGroup)
def command() -> None:
    """Show, follow and collect the reports of roles."""


@command.command("board")
@org_option
@click.option("--role", metavar="ROLE", help="Only one role.")
@reports_option
@add_path_options
@store_option
@format_option("text", "json")
def board(org: str | None, role: str | None, paths: tuple[str, ...], form: str, **where: Any) -> None:
    """Show one line for the latest report of each agent in each role."""
    from orgkernel.operations.reports.board import build_board

    lines = build_board(_read_latest(org, role, **where), _read_intervals(paths), time.time())
    _echo_board(form, lines)


@command.command("show")
@click.argument("role", metavar="ROLE")
@org_option
@reports_option
@add_path_options
@store_option
@format_option("text", "json")
def show(role: str, org: str | None, paths: tuple[str, ...], form: str, **where: Any) -> None:
    """Show the latest report of a ROLE in full."""
    from orgkernel.operations.reports.board import build_detail

    reports = _read_latest(org, None, **where)
    role_reports = [report for report in reports if report.role_id == role]
    if not role_reports:
        roles = list(dict.fromkeys(report.role_id for report in reports))
        help = did_you_mean(role, roles) or (
            f"roles with reports are {listing(roles)}" if roles else "there are no reports"
        )
        raise UnknownRecord(f"there is no report of role {quote(role)}", help)
    organizations = sorted({report.org_id for report in role_reports})
    if len(organizations) > 1:
        raise UsageError(f"role {quote(role)} reports in {listing(organizations)}", "choose one with `--org`")
    newest = max(role_reports, key=lambda report: (report.at, report.number))
    detail = build_detail(newest, _read_intervals(paths)(newest.org_id, role), time.time())
    echo_record(form, detail, "") if form == "json" else click.echo(_render_report(detail), nl=False)


@command.command("watch")
@org_option
@click.option("--role", metavar="ROLE", help="Only one role.")
@click.option(
    "--since", metavar="WHEN", help="Begin with reports stored `30m`, `24h`, `7d` ago, or at a date."
)
@click.option("--count", type=click.IntRange(1), help="End after this number of reports.")
@add_path_options
@store_option
@format_option("text", "json")
def watch(
    org: str | None,
    role: str | None,
    since: str | None,
    count: int | None,
    paths: tuple[str, ...],
    store: str | None,
    form: str,
) -> None:
    """Print each new report, until interrupted. As JSON, each report is an object on a line of its own."""
    from orgkernel.operations.reports.board import build_detail

    begin, intervals = parse_since(since), _read_intervals(paths)
    with open_current_store(store) as state:
        for report in islice(_follow(state, org, role, begin), count):
            detail = build_detail(report, intervals(report.org_id, report.role_id), time.time())
            if form == "json":
                echo_json(msgspec.json.encode(detail).decode())
            else:
                click.echo(_render_line(detail))


def _follow(state: Store, org: str | None, role: str | None, begin: float | None) -> Iterator[StoredReport]:
    """Yield reports stored after a time, or only new ones. Waits for new reports without end."""
    last = 0 if begin is not None else state.reports.last_number()
    while True:
        reports = state.reports.after(last, org, role)
        for report in reports:
            last = report.number
            if begin is None or report.received_at >= begin:
                yield report
        if not reports:
            time.sleep(_LOOK_SECONDS)


@command.command("collect", short_help="Store the report files that a host writes to a folder.")
@click.argument("folder", metavar="DIR")
@click.option("--follow", is_flag=True, help="Continue until interrupted.")
@click.option(
    "--every",
    type=click.FloatRange(0.05, 3_600),
    default=1.0,
    show_default=True,
    metavar="SECONDS",
    help="Seconds between two searches with `--follow`.",
)
@click.option("--agent", "agent_id", default="", metavar="AGENT", help="Agent that the folder belongs to.")
@click.option(
    "--org", "org_id", default="", metavar="ORG", help="Organization of reports that do not name one."
)
@store_option
@format_option("text", "json")
def collect(
    folder: str, follow: bool, every: float, agent_id: str, org_id: str, store: str | None, form: str
) -> None:
    """Store the report files that a host writes to DIR, each exactly once. Other files are set aside."""
    from orgkernel.operations.reports.collecting import SETTLE_SECONDS
    from orgkernel.operations.reports.submission import build_collector

    counts: Counter[str] = Counter()
    with open_current_store(store, create=True) as state:
        collector = build_collector(state, folder, time.monotonic, agent_id=agent_id, org_id=org_id)
        failing = ""
        while True:
            try:
                for each in collector.collect():
                    counts[each.outcome] += 1
                    _echo_collected(form, each, follow=follow)
                failing = ""
            except (StoreError, NothingToRead) as error:
                if not follow:
                    raise
                if error.message != failing:
                    click.echo(printable(f"waiting: {error.message}"), err=True)
                failing = error.message
            if follow:
                time.sleep(every)
            elif collector.is_waiting:
                time.sleep(SETTLE_SECONDS)
            else:
                break
    if form == "text":
        outcomes = ("stored", "known", "expired", "rejected")
        click.echo(", ".join(f"{counts[outcome]} {outcome}" for outcome in outcomes))
    if counts["rejected"]:
        raise SystemExit(1)


@command.command("drop")
@click.option(
    "--older",
    required=True,
    metavar="WHEN",
    help="Age such as `1h` or `7d`. The latest report of an agent is never deleted.",
)
@store_option
def drop(older: str, store: str | None) -> None:
    """Delete old reports now. Otherwise they are deleted when their agent reports again."""
    begin = parse_since(older)
    assert begin is not None
    from orgkernel.operations.reports.submission import drop_reports

    with open_current_store(store) as state:
        dropped = drop_reports(state, max(0.0, time.time() - begin))
    click.echo(f"{dropped} dropped")


def _read_latest(
    org: str | None, role: str | None, folder: str | None, store: str | None
) -> Sequence[StoredReport]:
    if folder is None:
        with open_current_store(store) as state:
            return state.reports.latest(org, role)
    if store is not None:
        raise UsageError("`--reports` and `--store` cannot be used together", "use one of them")
    from orgkernel.operations.reports.report_folder import read_latest

    reports, unfit = read_latest(folder)
    for name, why in unfit:
        click.echo(printable(f"{name}: {why.code}: {why.text}"), err=True)
    return [each for each in reports if org in (None, each.org_id) and role in (None, each.role_id)]


def _read_intervals(paths: tuple[str, ...]) -> Intervals:
    """The reporting intervals from the doctrine of roles, if there are documents."""
    from orgkernel.operations.reports.board import get_intervals

    try:
        return get_intervals(open_kernel(paths).state)
    except NothingToRead:
        if paths:
            raise
        return get_intervals(None)


def _echo_collected(form: str, each: CollectedFile, *, follow: bool) -> None:
    if form == "json":
        echo_json(msgspec.json.encode(each).decode())
    if each.outcome == "rejected":
        where = f", moved to {each.moved_to}" if each.moved_to else ", left where it is"
        click.echo(printable(f"{each.file}: {each.code}: {each.text}{where}"), err=True)
    elif follow and form == "text" and each.outcome == "stored":
        click.echo(printable(f"stored {each.file}"))


def _show_age(seconds: int) -> str:
    """A time span in its two largest units.

    >>> _show_age(7), _show_age(200), _show_age(7_260), _show_age(180_000)
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


def _show_marks(line: BoardLine) -> str:
    """Warnings about a report: it is stale, or its clock is ahead."""
    marks = ["stale"] if line.is_stale else []
    marks += [f"clock {_show_age(line.ahead_seconds)} ahead"] if line.ahead_seconds else []
    return ", ".join(marks)


def _show_unit(line: BoardLine, lines: Sequence[BoardLine]) -> str:
    """The role, with its organization and agent if that distinguishes lines."""
    name = line.role_id if len({each.org_id for each in lines}) == 1 else f"{line.org_id}/{line.role_id}"
    same = [each for each in lines if (each.org_id, each.role_id) == (line.org_id, line.role_id)]
    agent = line.agent_id or f"agent {line.agent_number}"
    return name if len(same) == 1 else f"{name} ({agent})"


def _render_line(line: BoardLine) -> str:
    """A report as one log line."""
    marks = _show_marks(line)
    parts = (
        line.at, f"{line.org_id}/{line.role_id}", line.pace_level, line.health, line.state, f"{line.progress:.0%}",
        *([f"[{marks}]"] if marks else []), line.task,
    )  # fmt: skip
    return printable("  ".join(part for part in parts if part))


def _render_report(detail: ReportDetail) -> str:
    """A report in full, section by section."""
    marks = _show_marks(detail)
    head = f"{detail.role_name} ({detail.org_id}/{detail.role_id}), {_show_age(detail.age_seconds)} ago"
    lines = [f"{head}{f': {marks}' if marks else ''}"]
    for section, title in _SECTIONS:
        fields = detail.report.get(section, {})
        lines += ["", title, *(f"   {name.ljust(_WIDTH)}  {_show(value)}" for name, value in fields.items())]
    return "\n".join(map(printable, lines)) + "\n"


def _show(value: Any) -> str:
    if value is None or value in ("", [], ()):
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _echo_board(form: str, lines: Sequence[BoardLine]) -> None:
    """Print a board, one line per report."""
    echo_records(
        form,
        lines,
        _HEADINGS,
        lambda line: (
            _show_unit(line, lines), line.pace_level, line.health, line.state, f"{line.progress:.0%}",
            _show_age(line.age_seconds), _show_marks(line), line.task,
        ),
    )  # fmt: skip
