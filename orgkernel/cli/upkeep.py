"""`orgkernel store` and `orgkernel audit`: the place where everything is remembered, and what was decided and done."""

from __future__ import annotations

import csv
import io
import os
import sys
from collections.abc import Iterable
from typing import Any

import click
import msgspec

from orgkernel.cli.opening import format_option, with_options
from orgkernel.cli.output import counted, echo_indented, echo_json
from orgkernel.cli.stores import (
    echo_records,
    located,
    opened,
    parse_since,
    show_time,
    store_option,
)
from orgkernel.diagnostics.wording import printable

_COUNTS = ("senders", "policies", "decisions")
_FIELDS = (
    "row", "time", "kind", "activity", "subject", "actor", "action", "resource", "code", "org_id", "relationship",
    "channel", "sender", "session", "record_id", "level", "grants", "policies_matched", "policies_denied",
    "snapshot", "state_version", "seconds", "reason", "detail",
)  # fmt: skip


@click.group("audit")
def audit_command() -> None:
    """Ask what was decided and done, and prove that the record is whole."""


_filters = with_options(
    click.option("--since", metavar="WHEN", help="`30m`, `24h`, `7d` ago, or a date."),
    click.option("--until", metavar="WHEN", help="Rows before this."),
    click.option("--kind", metavar="KIND", help="decision, usage, grant, request, agent, key, lock …"),
    click.option("--activity", metavar="WORD", help="allow, deny, ask; created, used, revoked …"),
    click.option("--subject", metavar="SUBJECT", help="`kind:ID`, or `kind:` for all of a kind."),
    click.option("--channel", metavar="CHANNEL"),
    click.option("--record", "record_id", metavar="ID", help="A grant, request, key …"),
)


def _filter(since: str | None, until: str | None, **others: Any) -> Any:
    from orgkernel.decisions.state_records import AuditFilter

    return AuditFilter(parse_since(since), parse_since(until), **others)


@audit_command.command("query")
@_filters
@click.option("--count", "count", type=click.Choice(_COUNTS), help="Not the rows, but what they add up to.")
@click.option("--limit", type=click.IntRange(1), default=50, show_default=True)
@store_option
@format_option("text", "json")
def query_(count: str | None, limit: int, store: str | None, form: str, **filters: Any) -> None:
    """List rows, newest first; or count unknown senders, policies or decisions."""
    from orgkernel.operations.upkeep import read_audit

    with opened(store) as state:
        if count:
            _echo_counts(state, count, form, parse_since(filters["since"]))
            return
        rows = list(read_audit(state, _filter(**filters), limit))
    if form == "json":
        echo_indented([_as_record(row) for row in rows])
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

    found: Any = count_audit(state, count, since)
    if form == "json":
        echo_indented(found)
    elif count == "senders":
        echo_records(
            form,
            found,
            ("count", "last", "channel", "sender"),
            lambda each: (each.count, show_time(each.last_at), each.channel, each.sender),
        )
    elif count == "policies":
        echo_records(
            form,
            found,
            ("matched", "denied", "policy"),
            lambda each: (each.matched, each.denied, each.policy),
        )
    else:
        lines = [("all", "", outcome, number) for outcome, number in found.outcomes.items()]
        for by, names in (("subject", found.subjects), ("channel", found.channels)):
            lines += [(by, name, *each) for name, counts in names.items() for each in counts.items()]
        echo_records(form, lines, ("by", "name", "outcome", "count"), lambda line: line)


@audit_command.command("verify")
@click.option(
    "--checkpoints", metavar="FOLDER", help="Checkpoints kept elsewhere. Default: those beside the store."
)
@store_option
@format_option("text", "json")
def verify_(checkpoints: str | None, store: str | None, form: str) -> None:
    """Follow every chain: exits 1 when a row was changed, is missing, was moved, or the end was cut off."""
    from orgkernel.operations.upkeep import verify

    with opened(store) as state:
        found = verify(state, checkpoints)
    if form == "json":
        echo_indented(found)
    else:
        for finding in found.findings:
            click.echo(printable(f"{finding.problem}: {finding.message}"))
        for note in found.notes:
            click.echo(printable(f"note: {note}"), err=True)
        if found.more_findings:
            click.echo(f"and {found.more_findings:,} more")
        says = "the audit is whole" if not found.findings else "the audit is not as it was written"
        dropped = f", {found.dropped:,} dropped after their time" if found.dropped else ""
        click.echo(
            f"{says}: {counted(found.rows, 'row')} in {counted(found.chains, 'chain')}{dropped}", err=True
        )
    if found.findings:
        raise click.exceptions.Exit(1)


@audit_command.command("export")
@_filters
@store_option
@format_option("csv", "jsonl")
def export_(store: str | None, form: str, **filters: Any) -> None:
    """Print rows with everything in them, newest first, as CSV or as one JSON object a line."""
    from orgkernel.operations.upkeep import read_audit

    with opened(store) as state:
        rows = (_as_record(row) for row in read_audit(state, _filter(**filters)))
        _write_csv(rows) if form == "csv" else _write_lines(rows)


@audit_command.command("prune")
@click.option("--decisions", type=click.IntRange(1), default=90, show_default=True, metavar="DAYS")
@click.option("--history", type=click.IntRange(1), default=365, show_default=True, metavar="DAYS")
@store_option
def prune_(decisions: int, history: int, store: str | None) -> None:
    """Drop what is older: decisions and usage, and the history of grants, requests, ranks, keys and locks.

    Whole stretches from the beginning of a chain are sealed and dropped; their signed ends stay, so that `verify` still
    proves the rest.
    """
    from orgkernel.operations.upkeep import prune

    with opened(store) as state:
        rows, segments = prune(state, decisions, history)
    click.echo(f"{counted(rows, 'row')} dropped in {counted(segments, 'segment')}", err=True)


def _as_record(row: Any) -> dict[str, Any]:
    return {"row": row.audit_id, "time": show_time(row.entry.at), **msgspec.structs.asdict(row.entry)}


def _write_csv(rows: Iterable[dict[str, Any]]) -> None:
    buffer = io.StringIO()
    writer = csv.DictWriter(buffer, _FIELDS, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({name: _cell(row.get(name)) for name in _FIELDS})
        sys.stdout.write(buffer.getvalue())
        buffer.seek(0)
        buffer.truncate()
    sys.stdout.write(buffer.getvalue())


def _write_lines(rows: Iterable[dict[str, Any]]) -> None:
    for row in rows:
        echo_json(msgspec.json.encode(row).decode())


def _cell(value: Any) -> str:
    """A cell no spreadsheet takes for a formula."""
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


@click.group("store")
def store_command() -> None:
    """Upgrade, back up and describe the store."""


@store_command.command("upgrade")
@store_option
def upgrade(store: str | None) -> None:
    """Bring a store to the version this program needs; a new one is made."""
    from orgkernel.operations import upkeep

    before, after = upkeep.upgrade(located(store))
    if before == after:
        click.echo(f"version {after}, nothing to do", err=True)
    else:
        click.echo(f"version {before or 'none'} → {after}", err=True)


@store_command.command("backup")
@click.argument("target", metavar="FILE")
@store_option
def backup(target: str, store: str | None) -> None:
    """Copy the store to FILE and its checkpoints to FILE.audit, while others may write."""
    from orgkernel.operations.upkeep import copy_store

    with opened(store) as state:
        copy_store(state, os.path.abspath(target))
    click.echo(
        printable(f"copied to {target} and {target}.audit, which holds the key: keep both private"), err=True
    )


@store_command.command("info")
@store_option
@format_option("text", "json")
def info(store: str | None, form: str) -> None:
    """Say where the store is, its version, and how much is in it."""
    from orgkernel.operations.upkeep import describe_store

    with opened(store) as state:
        found = describe_store(state)
    if form == "json":
        echo_indented(found)
        return
    size = "–" if found.bytes is None else f"{found.bytes:,} bytes"
    facts: list[tuple[str, Any]] = [
        ("engine", found.engine),
        ("place", found.place),
        ("version", found.version),
        ("state version", found.state_version),
        ("size", size),
        ("checkpoints", found.checkpoints),
    ]
    facts += [(f"rows of {name}", f"{number:,}") for name, number in found.rows.items()]
    echo_records("text", facts, ("what", "value"), lambda fact: fact)
