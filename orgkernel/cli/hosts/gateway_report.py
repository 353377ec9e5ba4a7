"""`orgkernel gateway report`: what each role is spared, how tools were used, and a diff that narrows roles to their use."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Final

import click

from orgkernel.cli.opening import add_path_options, cache_option, format_option, open_kernel, org_option
from orgkernel.cli.output import echo_indented, format_count
from orgkernel.cli.stores import (
    does_store_exist,
    open_current_store,
    parse_duration,
    parse_since,
    store_option,
)
from orgkernel.diagnostics.wording import listing, printable, quote
from orgkernel.errors import UsageError

if TYPE_CHECKING:
    from orgkernel.mcp.gateway.report import GatewayReport

LOCK_FILE: Final = "gateway.lock.json"
lock_option = click.option(
    "--lock", "lock_file", default=LOCK_FILE, show_default=True, metavar="FILE",
    help="File of the accepted tools.",
)  # fmt: skip
_MAX_CODES = 3


@click.command("report", short_help="Report how tools were used, and propose narrower roles.")
@org_option
@click.option("--role", metavar="ROLE", help="Only this role.")
@lock_option
@click.option(
    "--since",
    default="30d",
    show_default=True,
    metavar="WHEN",
    help="Calls since `24h`, `30d` ago, or a date.",
)
@click.option(
    "--at-least", default="7d", show_default=True, metavar="TIME",
    help="Propose no removal for a role whose first call is more recent.",
)  # fmt: skip
@click.option(
    "--often", type=click.IntRange(1), default=5, show_default=True, metavar="N",
    help="Number of refusals of a tool after which to propose asking for it.",
)  # fmt: skip
@click.option(
    "--asks", is_flag=True, help="Include proposals that ask for approval in the diff. They allow more."
)
@add_path_options
@store_option
@cache_option
@format_option("text", "json", "diff")
def command(
    org: str,
    role: str | None,
    lock_file: str,
    since: str,
    at_least: str,
    often: int,
    asks: bool,
    paths: tuple[str, ...],
    store: str | None,
    no_cache: bool,
    form: str,
) -> None:
    """Report how the tools of the gateway were used, and propose to narrow roles accordingly.

    Shows how many tools `tools/list` leaves out for each role, the calls of each role, and the refused calls with
    reasons. Proposes to remove or lower tools that no agent in a role called, as a diff for `git apply`, and to ask
    for tools that are often refused to a role. It starts no server and changes nothing. Tokens are estimated as four
    bytes each. This needs `orgkernel[mcp]`.
    """
    from orgkernel.mcp.server import require_sdk

    require_sdk("listing tools as the gateway does")
    began, history = parse_since(since), parse_duration(at_least)
    assert began is not None
    kernel = open_kernel(paths, org, no_cache=no_cache)
    snapshot = kernel.organization(org).snapshot
    if role is not None:
        snapshot.require_role(role)
    if not os.path.exists(lock_file):
        raise UsageError(
            f"there is no file {quote(lock_file)}",
            "start the gateway once, run `orgkernel gateway accept`, or name another file with `--lock`",
        )
    from orgkernel.decisions.evidence.state_records import AuditFilter
    from orgkernel.mcp.gateway.pins import Pins
    from orgkernel.mcp.gateway.report import ReportTerms, build_report
    from orgkernel.operations.upkeep import read_audit

    terms = ReportTerms(
        since=began, now=time.time(), at_least=history, often=often, role=role, asks=asks, folder=os.getcwd()
    )
    pins = Pins(lock_file)
    with ExitStack() as stack:
        if does_store_exist(store):
            state = stack.enter_context(open_current_store(store))
            kernel = kernel.with_store(state)
            decisions = read_audit(state, AuditFilter(since=began, kind="decision"))
            uses = read_audit(state, AuditFilter(since=began, kind="usage"))
        else:
            click.echo("note: there is no store, so nothing is known about calls", err=True)
            decisions = uses = iter(())
        report = build_report(kernel, snapshot.org_id, pins, decisions, uses, terms)
    _echo(report, form)


def _echo(report: GatewayReport, form: str) -> None:
    if form == "json":
        echo_indented(report)
        return
    if form == "text":
        for line in _render_lines(report):
            click.echo(printable(line))
        if report.diff:
            click.echo()
    # The bytes as in the files, for `git apply`; always UTF-8.
    click.echo(report.diff.encode(), nl=False)
    if form == "diff":
        for note in report.notes:
            click.echo(f"note: {printable(note)}", err=True)
        if left := sum(bool(each.by_hand) for each in report.proposals):
            click.echo(
                f"note: not in the diff: {format_count(left, 'proposal')}; `--format text` says why", err=True
            )
    if report.diff and report.folder != os.curdir:
        click.echo(f"note: apply it in {quote(report.folder)}", err=True)
    for finding in report.findings:
        click.echo(f"note: new finding after this diff: {printable(finding)}", err=True)


def _render_lines(report: GatewayReport) -> Iterator[str]:
    spared = report.spared
    servers = f" of {format_count(len(spared.servers), 'server')}" if spared.servers else ""
    yield f"{format_count(spared.tools, 'tool')}{servers}: about {spared.size:,} tokens in every prompt of a host without the gateway"
    yield from _render_table(
        ("role", "tools", "tokens", "spared"),
        [
            (each.role, each.tools, f"{each.size:,}", f"{each.spared:,}{_share(each.spared, spared.size)}")
            for each in spared.roles
        ],
    )
    yield ""
    yield f"calls since {report.since}: the audit covers {report.days:g} days"
    yield from _render_table(
        ("subject", "tool", "calls", "asked", "failed", "refused"),
        [
            (
                each.subject, f"{each.server}/{each.tool}", each.calls, each.asked, _group_by_code(each.failed), _group_by_code(each.refused),
            )
            for each in report.calls
        ],
    )  # fmt: skip
    yield from (f"note: {each}" for each in report.notes)
    if report.proposals:
        yield ""
        yield "proposals:"
    for proposal in report.proposals:
        place = f" ({proposal.file}:{proposal.line})" if proposal.file else ""
        yield f"- {proposal.text}: {proposal.because}{place}"
        if proposal.by_hand:
            yield f"    not in the diff: {proposal.by_hand}"
        if proposal.commands:
            who = (
                f", by {listing(proposal.grantors)} or an operator"
                if proposal.grantors
                else ", by an operator"
            )
            yield f"    or grant it{who}: {'; '.join(proposal.commands)}"


def _share(part: int, whole: int) -> str:
    return f" ({part * 100 // whole}%)" if whole else ""


def _group_by_code(codes: dict[str, int]) -> str:
    if not codes:
        return "0"
    first = ", ".join(f"{code} {count}" for code, count in list(codes.items())[:_MAX_CODES])
    more = len(codes) - _MAX_CODES
    return f"{sum(codes.values())} ({first}{f' and {more} more' if more > 0 else ''})"


def _render_table(headings: Sequence[str], rows: Sequence[Sequence[object]]) -> Iterator[str]:
    if not rows:
        return
    cells = [list(headings), *([printable(str(cell)) for cell in row] for row in rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(headings))]
    for row in cells:
        yield "  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
