"""`orgkernel task log`: the decision log of an organization."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import click

from orgkernel.cli.groups import CommandGroup
from orgkernel.cli.opening import format_option
from orgkernel.cli.output import join_lines
from orgkernel.cli.stores import (
    change_options,
    echo_record,
    echo_records,
    look_options,
    open_operation_here,
    open_question_here,
    org_of_documents_option,
)
from orgkernel.decisions.work.contracts.markdown import render_decision_log
from orgkernel.documents.records import DecisionEntry
from orgkernel.operations.contracts import add_decision, choose_contract_organization, read_decision_log


def _add_part_option(name: str, help: str) -> Callable[[Any], Any]:
    return click.option(name, help=help, required=True, metavar="TEXT")


@click.group("log", cls=CommandGroup)
def command() -> None:
    """Add to the decision log, and show it. Entries are never changed."""


@command.command("add")
@click.argument("title", metavar="TITLE")
@_add_part_option("--task", "The question that was decided.")
@click.option(
    "--class", "classification", type=click.Choice(("simple", "medium", "complex", "epic")), required=True
)
@_add_part_option("--decision", "The option that was chosen.")
@_add_part_option("--rationale", "The reason, in one line.")
@_add_part_option("--falsifier", "The check that would prove the decision wrong.")
@click.option("--supersedes", metavar="ID", help="The entry that this one replaces.")
@click.option("--answers", metavar="ID", help="The blocker that the decision answers.")
@click.option(
    "--written-by",
    metavar="NAME",
    help="Position of the writer: intake, planner, worker, or a role or layer.",
)
@click.option(
    "--corrects-premise", metavar="TEXT", help="The wrong premise. A worker can add an entry only with it."
)
@click.option("--session", metavar="SESSION", help="Session of the writer. A worker must name it.")
@org_of_documents_option
@change_options
def add(
    title: str,
    task: str,
    classification: Literal["simple", "medium", "complex", "epic"],
    decision: str,
    rationale: str,
    falsifier: str,
    supersedes: str | None,
    answers: str | None,
    written_by: str | None,
    corrects_premise: str | None,
    session: str | None,
    org: str | None,
    reason: str,
    form: str,
    **where: Any,
) -> None:
    """Add an entry with a TITLE and the current time."""
    entry = DecisionEntry(
        title=title, task=task, classification=classification, decision=decision, rationale=rationale,
        falsifier=falsifier, supersedes=supersedes, answers=answers, written_by=written_by,
        corrects_premise=corrects_premise, session=session,
    )  # fmt: skip
    with open_operation_here(**where, create=True) as context:
        record = add_decision(context, entry, org=org)
    echo_record(form, record, f"decision {record.record_id} is entry {record.sequence} of {record.org_id}")


@command.command("list")
@org_of_documents_option
@look_options
@format_option("text", "json")
def list_(org: str | None, form: str, **where: Any) -> None:
    """List the entries, oldest first."""
    with open_question_here(**where) as context:
        records = context.store.contracts.list(choose_contract_organization(context, org), "decision_entry")
    echo_records(
        form,
        records,
        ("time", "id", "class", "title"),
        lambda each: (
            each.body["timestamp"],
            each.record_id,
            each.body["classification"],
            each.body["title"],
        ),
    )


@command.command("export")
@org_of_documents_option
@click.option(
    "--markdown", "form", flag_value="markdown", default=True, help="As Markdown, which is the default."
)
@look_options
def export(org: str | None, form: str, **where: Any) -> None:
    """Print the log as Markdown. A log that was changed in the store is refused."""
    with open_question_here(**where) as context:
        entries = read_decision_log(context, org)
    click.echo(join_lines(render_decision_log(entries).splitlines()), nl=False)
