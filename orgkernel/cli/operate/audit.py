"""`orgkernel audit`: list decisions and changes, and verify that none was changed."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Iterable
from typing import Any

import click
import msgspec

from orgkernel.cli.groups import CommandGroup
from orgkernel.cli.opening import add_path_options, cache_option, format_option, with_options
from orgkernel.cli.output import echo_indented, echo_json, format_count
from orgkernel.cli.stores import (
    by_option,
    change_options,
    echo_records,
    open_current_store,
    open_operation_alone,
    parse_duration,
    parse_since,
    reason_option,
    show_time,
    store_option,
)
from orgkernel.diagnostics.wording import printable
from orgkernel.runtime.progress import show_stage

_COUNTS = ("senders", "policies", "decisions")
_FIELDS = (
    "row", "time", "kind", "activity", "subject", "actor", "action", "resource", "code", "org_id", "relationship",
    "channel", "sender", "session", "record_id", "level", "grants", "policies_matched", "policies_denied",
    "snapshot", "state_version", "seconds", "reason", "detail",
)  # fmt: skip


@click.group("audit", cls=CommandGroup)
def command() -> None:
    """List decisions and changes, and verify that the audit log is unchanged."""


_filters = with_options(
    click.option("--since", metavar="WHEN", help="Only rows since `30m`, `24h`, `7d` ago, or a date."),
    click.option("--until", metavar="WHEN", help="Rows before this."),
    click.option(
        "--kind",
        metavar="KIND",
        help="Only rows of this kind: decision, usage, grant, request, agent, key, lock …",
    ),
    click.option(
        "--activity",
        metavar="WORD",
        help="Only rows with this outcome: allow, deny, ask, created, used, revoked …",
    ),
    click.option(
        "--subject", metavar="SUBJECT", help="Only rows about `KIND:ID`, or about all of a kind with `KIND:`."
    ),
    click.option("--channel", metavar="CHANNEL", help="Only rows of this channel."),
    click.option("--record", "record_id", metavar="ID", help="Only rows about this grant, request or key."),
)


def _filter(since: str | None, until: str | None, **others: Any) -> Any:
    from orgkernel.decisions.evidence.state_records import AuditFilter

    return AuditFilter(parse_since(since), parse_since(until), **others)


@command.command("query", short_help="List rows, newest first, or count them.")
@_filters
@click.option("--count", "count", type=click.Choice(_COUNTS), help="Print counts instead of rows.")
@click.option(
    "--limit", type=click.IntRange(1), default=50, show_default=True, help="Maximum number of rows."
)
@store_option
@format_option("text", "json")
def query_(count: str | None, limit: int, store: str | None, form: str, **filters: Any) -> None:
    """List rows, newest first, or count unknown senders, policies or decisions."""
    from orgkernel.operations.upkeep import read_audit

    with open_current_store(store) as state:
        if count:
            _echo_counts(state, count, form, parse_since(filters["since"]))
            return
        rows = list(read_audit(state, _filter(**filters), limit))
    if form == "json":
        echo_indented([_build_record(row) for row in rows])
        return
    echo_records(
        form,
        rows,
        ("time", "kind", "activity", "subject", "resource", "code", "row"),
        lambda row: (
            show_time(row.entry.at), row.entry.kind, row.entry.activity, row.entry.subject, row.entry.resource,
            row.entry.code, row.audit_id,
        ),
    )  # fmt: skip


def _echo_counts(state: Any, count: Any, form: str, since: float | None) -> None:
    from orgkernel.operations.upkeep import count_audit

    audit_counts: Any = count_audit(state, count, since)
    if form == "json":
        echo_indented(audit_counts)
    elif count == "senders":
        echo_records(
            form,
            audit_counts,
            ("count", "last", "channel", "sender"),
            lambda each: (each.count, show_time(each.last_at), each.channel, each.sender),
        )
    elif count == "policies":
        echo_records(
            form,
            audit_counts,
            ("matched", "denied", "policy"),
            lambda each: (each.matched, each.denied, each.policy),
        )
    else:
        lines = [("all", "", outcome, number) for outcome, number in audit_counts.outcomes.items()]
        for by, names in (("subject", audit_counts.subjects), ("channel", audit_counts.channels)):
            lines += [(by, name, *each) for name, counts in names.items() for each in counts.items()]
        echo_records(form, lines, ("by", "name", "outcome", "count"), lambda line: line)


_checkpoints_option = click.option(
    "--checkpoints",
    multiple=True,
    metavar="FOLDER",
    help="Further folder of checkpoints: of another machine, or a copy. Repeatable.",
)
_VERDICTS = {
    "whole": "the audit is unchanged",
    "unproven": "the audit cannot be proven",
    "changed": "the audit was changed",
}


_HOW_TO_GO_ON = (
    "help: find out what happened, and restore what is missing if you can; "
    "`orgkernel audit accept --reason TEXT` accepts the rest"
)


@command.command("verify")
@_checkpoints_option
@store_option
@format_option("text", "json")
def verify_(checkpoints: tuple[str, ...], store: str | None, form: str) -> None:
    """Verify every chain.

    Exits 1 if a row was changed, moved or removed, if a checkpoint is missing that would prove that none was, and if a row is not
    signed. Rows that a killed process signed one by one, without a checkpoint, are listed as open.
    """
    from orgkernel.operations.upkeep import verify

    with open_current_store(store) as state, show_stage("verifying the audit log"):
        verification = verify(state, checkpoints)
    if form == "json":
        echo_indented(verification)
    else:
        _echo_findings(verification)
        for each in verification.accepted:
            why = f" ({each.reason})" if each.reason else ""
            note = f"note: {each.actor} accepted at {show_time(each.at)}: {each.problem}: {each.message}{why}"
            click.echo(printable(note), err=True)
        for rest in verification.open:
            note = f"note: open: {rest.rows:,} signed after the last checkpoint, from {rest.first} to {rest.last}"
            click.echo(note, err=True)
        says = _VERDICTS[verification.verdict]
        accepted = (
            f", except for {format_count(len(verification.accepted), 'accepted finding')}"
            if verification.accepted
            else ""
        )
        dropped = f", {verification.dropped:,} deleted by retention" if verification.dropped else ""
        rows = f"{format_count(verification.rows, 'row')} in {format_count(verification.chains, 'chain')}"
        number = sum(each.rows for each in verification.open)
        still_open = f", {format_count(number, 'row')} still open" if number else ""
        click.echo(f"{says}{accepted}: {rows}{dropped}{still_open}", err=True)
        if verification.findings:
            click.echo(_HOW_TO_GO_ON, err=True)
    if verification.verdict != "whole":
        raise click.exceptions.Exit(1)


@command.command("accept", short_help="Accept what `verify` finds now.")
@_checkpoints_option
@change_options
def accept_(checkpoints: tuple[str, ...], reason: str, form: str, **where: Any) -> None:
    """Accept what `verify` finds now, for example after a restoration.

    Later verifications report only new problems. The audit log records who accepted what, and why.
    """
    from orgkernel.operations.upkeep import accept

    with open_operation_alone(**where) as context:
        verification = accept(context, checkpoints, reason)
    if form == "json":
        echo_indented(verification.findings)
        return
    _echo_findings(verification)
    click.echo(f"{format_count(len(verification.findings), 'finding')} accepted", err=True)


@command.command("rotate-key")
@click.option(
    "--overlap",
    default="24h",
    show_default=True,
    metavar="TIME",
    help="How long signatures of the old key remain valid.",
)
@by_option
@reason_option
@with_options(add_path_options, store_option, cache_option)
def rotate_key_(overlap: str, reason: str, **where: Any) -> None:
    """Sign checkpoints with a new key. Checkpoints that exist are signed again.

    A server that runs signs its own with its next row, so it needs no restart.
    """
    from orgkernel.operations.upkeep import rotate_signing

    seconds = parse_duration(overlap)
    with open_operation_alone(**where) as context:
        until = rotate_signing(context, seconds, reason)
    click.echo(f"signing with a new key; the old one is valid until {show_time(until)}", err=True)


def _echo_findings(verification: Any) -> None:
    for finding in verification.findings:
        click.echo(printable(f"{finding.problem}: {finding.message}"))
    if verification.more_findings:
        click.echo(f"and {verification.more_findings:,} more")


@command.command("export", short_help="Print complete rows as CSV or JSON lines.")
@_filters
@store_option
@format_option("csv", "jsonl")
def export_(store: str | None, form: str, **filters: Any) -> None:
    """Print complete rows, newest first, as CSV or as one JSON object per line."""
    from orgkernel.operations.upkeep import read_audit

    with open_current_store(store) as state:
        rows = (_build_record(row) for row in read_audit(state, _filter(**filters)))
        _write_csv(rows) if form == "csv" else _write_lines(rows)


@command.command("prune", short_help="Delete old rows.")
@click.option(
    "--decisions", type=click.IntRange(1), default=90, show_default=True, metavar="DAYS",
    help="Maximum age of decisions to keep.",
)  # fmt: skip
@click.option(
    "--history", type=click.IntRange(1), default=365, show_default=True, metavar="DAYS",
    help="Maximum age of other rows to keep.",
)  # fmt: skip
@click.option(
    "--trust-clock", is_flag=True, help="Delete rows although the clock is far beyond the newest one."
)
@store_option
def prune_(decisions: int, history: int, trust_clock: bool, store: str | None) -> None:
    """Delete old rows: decisions and usage, and the history of grants, requests, ranks, keys and locks.

    Whole segments at the beginning of a chain are sealed and deleted. Their signed checkpoints are kept, so that
    `verify` can still verify the rest. Rows that are not proven are not deleted. If the clock is more than a week beyond the newest row, nothing is deleted.
    """
    from orgkernel.operations.upkeep import prune, require_believable_clock

    with open_current_store(store) as state:
        if not trust_clock:
            require_believable_clock(state)
        rows, segments = prune(state, decisions, history)
    click.echo(f"{format_count(rows, 'row')} dropped in {format_count(segments, 'segment')}", err=True)


def _build_record(row: Any) -> dict[str, Any]:
    return {"row": row.audit_id, "time": show_time(row.entry.at), **msgspec.structs.asdict(row.entry)}


def _write_csv(rows: Iterable[dict[str, Any]]) -> None:
    buffer = io.StringIO()
    writer = csv.DictWriter(buffer, _FIELDS, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({name: _format_cell(row.get(name)) for name in _FIELDS})
        sys.stdout.write(buffer.getvalue())
        buffer.seek(0)
        buffer.truncate()
    sys.stdout.write(buffer.getvalue())


def _write_lines(rows: Iterable[dict[str, Any]]) -> None:
    for row in rows:
        echo_json(msgspec.json.encode(row).decode())


def _format_cell(value: Any) -> str:
    """A cell that no spreadsheet reads as a formula."""
    if value is None:
        return ""
    if isinstance(value, tuple):
        text = " ".join(map(str, value))
    elif isinstance(value, dict):
        text = msgspec.json.encode(value).decode()
    else:
        text = str(value)
    is_formula = text.startswith(("=", "+", "-", "@", "\t", "\r")) and not isinstance(value, int | float)
    return f"'{text}" if is_formula else text
