"""`orgkernel task check|record|list|show|next`: is a brief, a result, a blocker or another contract sound? Store it if it is."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import click
import msgspec

from orgkernel.cli.opening import add_path_options, cache_option, format_option, open_kernel
from orgkernel.cli.output import echo_indented, echo_json, format_count, join_lines, paint, render_yaml
from orgkernel.cli.stores import (
    change_options,
    echo_record,
    echo_records,
    look_options,
    open_operation_here,
    open_question_here,
    org_of_documents_option,
    show_time,
)
from orgkernel.cli.work.contract_files import read_contract_file, read_source
from orgkernel.decisions.work.contracts.handover import convert_to_document, render_brief
from orgkernel.decisions.work.contracts.reading import (
    CONTRACT_KINDS,
    CheckedContract,
    check_read_contract,
    read_contract,
)
from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.render import render_concise, render_full, render_json
from orgkernel.documents.records import Brief, SessionReport
from orgkernel.loading.marks import LINE_BREAK
from orgkernel.operations.contracts import draft_next_brief, list_contracts, record_contract

_EXIT_CODES = {"sound": 0, "unsound": 1, "cannot_tell": 2}


@click.command("check")
@click.argument("file", metavar="FILE")
@click.option(
    "--against",
    metavar="FILE",
    help="The brief, or the other contract, that this one belongs to.",
)
@click.option("--org", metavar="ORG", help="Organization whose requirements also apply.  [default: none]")
@add_path_options
@cache_option
@format_option("full", "concise", "json", "github")
@click.pass_context
def check(
    ctx: click.Context,
    file: str,
    against: str | None,
    org: str | None,
    paths: tuple[str, ...],
    no_cache: bool,
    form: str,
) -> None:
    """Check the contract in FILE; `-` reads it from standard input.

    With an organization, its lead-manager-checker modes and its phrases also apply, as when a contract is stored.

    Exit codes: 0 valid, 1 with errors, 2 if a file cannot be read or is not a contract.
    """
    if file == against == "-":
        raise click.UsageError("only one of FILE and `--against` can be `-`")
    sources = [read_source(file), *([] if against is None else [read_source(against)])]
    read = [read_contract(source) for source in sources]
    terms = None if org is None else open_kernel(paths, org, no_cache=no_cache).contract_terms(org)
    checked = check_read_contract(read[0], read[1] if against is not None else None, terms, time.time())
    _print(form, checked, {source.name: LINE_BREAK.split(source.text) for source in sources})
    click.echo(_render_summary(checked), err=True)
    ctx.exit(_EXIT_CODES[checked.outcome])


@click.command("record", short_help="Store a contract, if it is valid and agrees with the stored ones.")
@click.argument("file", metavar="FILE")
@click.option(
    "--no-audit",
    "is_unaudited",
    is_flag=True,
    help="Store a report without the ownership audit of its changes, if the governance document makes audits optional.",
)
@org_of_documents_option
@change_options
@click.pass_context
def record(
    ctx: click.Context,
    /,
    file: str,
    is_unaudited: bool,
    org: str | None,
    reason: str,
    form: str,
    **where: Any,
) -> None:
    """Store the contract in FILE, if it is valid and agrees with the stored ones. It is never changed afterwards.

    A session has exactly one result. `-` reads the contract from standard input. A clean report that states changed files
    is stored as `failed` if no clean ownership audit of them is recorded (`orgkernel ownership audit --record`).

    Exit codes: 0 stored, 1 stored as `failed` instead of `done_clean`.
    """
    checked = check_read_contract(read_contract_file(file))
    report = checked.contract if isinstance(checked.contract, SessionReport) else None
    if is_unaudited:
        if report is None or report.changes is None:
            raise click.UsageError("only a report with `changes` can leave out the audit of its changes")
        report = msgspec.structs.replace(
            report, changes=msgspec.structs.replace(report.changes, no_audit=True)
        )
        checked = replace(checked, contract=report)
    with open_operation_here(**where, create=True) as context:
        stored = record_contract(context, checked, org=org)
    is_failed = report is not None and stored.body["status"] != report.status
    text = f"{stored.kind} {stored.record_id} is contract {stored.sequence} of {stored.org_id}"
    echo_record(
        form, stored, f"{text}, stored as `failed`: {stored.body['refusal_reason']}" if is_failed else text
    )
    ctx.exit(1 if is_failed else 0)


@click.command("list")
@org_of_documents_option
@click.option("--kind", type=click.Choice(CONTRACT_KINDS), help="Only contracts of one kind.")
@click.option("--session", metavar="NAME", help="Only contracts of one session.")
@click.option("--open", "is_open", is_flag=True, help="Only blockers that no decision has answered.")
@look_options
@format_option("text", "json")
def list_(
    org: str | None, kind: str | None, session: str | None, is_open: bool, form: str, **where: Any
) -> None:
    """List the stored contracts, oldest first."""
    with open_question_here(**where) as context:
        records = list_contracts(context, org, kind=kind, session=session, is_open=is_open)
    if is_open:
        echo_records(
            form,
            records,
            ("id", "session", "by", "needs", "question"),
            lambda each: (
                each.record_id, each.session, each.body.get("agent") or each.actor, each.body.get("human_required_for"),
                each.body.get("question"),
            ),
        )  # fmt: skip
        return
    echo_records(
        form,
        records,
        ("number", "kind", "id", "session", "stored", "by"),
        lambda each: (
            each.sequence, each.kind, each.record_id, each.session, show_time(each.at), each.actor,
        ),
    )  # fmt: skip


@click.command("next", short_help="Draft a brief that is derived from a stored one.")
@click.argument("brief_id", metavar="BRIEF")
@org_of_documents_option
@look_options
@format_option("yaml", "markdown", "json")
def next_(brief_id: str, org: str | None, form: str, **where: Any) -> None:
    """Draft a brief that is derived from the stored BRIEF, from the results and decisions of its mission.

    Task, criteria, verify command and files are empty, and the sender fills them in.
    """
    with open_question_here(**where) as context:
        brief = draft_next_brief(context, brief_id, org)
    if form == "json":
        echo_indented(convert_to_document(brief))
    else:
        click.echo(
            render_brief(brief) if form == "markdown" else render_yaml(convert_to_document(brief)), nl=False
        )


@click.command("show", short_help="Print a brief as its receiver reads it.")
@click.argument("file", metavar="FILE")
@click.pass_context
def show(ctx: click.Context, file: str) -> None:
    """Print the brief in FILE as the ten sections that its receiver reads; `-` reads it from standard input.

    A brief that is not valid is not printed. Exit codes: as `task check`.
    """
    source = read_source(file)
    checked = check_read_contract(read_contract(source))
    if checked.outcome == "sound" and isinstance(checked.contract, Brief):
        click.echo(join_lines(render_brief(checked.contract).splitlines()), nl=False)
        return
    if checked.outcome == "sound":
        raise click.UsageError("the contract is not a brief")
    _print("full", checked, {source.name: LINE_BREAK.split(source.text)})
    ctx.exit(_EXIT_CODES[checked.outcome])


def _print(form: str, checked: CheckedContract, lines: dict[str, Sequence[str]]) -> None:
    diagnostics = checked.diagnostics

    def get_lines(name: str) -> Sequence[str]:
        return lines.get(name, ())

    if form == "json":
        echo_json(render_json(diagnostics))
    elif form == "github":
        from orgkernel.diagnostics.formats.github import render_github

        click.echo(render_github(diagnostics, get_lines).encode(), nl=False)
    else:
        text = (
            render_concise(diagnostics, paint)
            if form == "concise"
            else render_full(diagnostics, get_lines, paint)
        )
        click.echo(text, nl=False)


def _render_summary(checked: CheckedContract) -> str:
    count = [
        format_count(number, severity.value)
        for severity in Severity
        if (number := sum(each.severity is severity for each in checked.diagnostics))
    ]
    kind = (checked.kind or "contract").replace("_", " ")
    outcome = {"sound": "is valid", "unsound": "is not valid", "cannot_tell": "cannot be checked"}
    return f"the {kind} {outcome[checked.outcome]}" + (f": {', '.join(count)}" if count else "")
