"""`orgkernel task handoff`: hand work down for the record, and show who handed work to whom."""

from __future__ import annotations

from typing import Any

import click

from orgkernel.cli import completing
from orgkernel.cli.circumstances import context_option, parse_context
from orgkernel.cli.groups import CommandGroup
from orgkernel.cli.opening import bare_path_option, cache_option, format_option, with_options
from orgkernel.cli.stores import (
    change_options,
    echo_record,
    echo_records,
    open_operation_here,
    open_question_here,
    org_of_documents_option,
    show_time,
    store_option,
)
from orgkernel.cli.work.contract_files import read_contract_file
from orgkernel.cli.work.handoff_check import circumstance_options
from orgkernel.decisions.handoff.permission import HandoffQuestion
from orgkernel.operations.contracts import choose_contract_organization
from orgkernel.operations.handoffs import HandoffOrder, list_handoffs, record_handoff


@click.group("handoff", cls=CommandGroup, places={"check": "work.handoff_check"})
def command() -> None:
    """Check, record and list hand-offs. Recording one claims the files of its brief; the log is never changed."""


@command.command("record")
@click.argument("sender", metavar="FROM", shell_complete=completing.subjects)
@click.argument("receiver", metavar="TO", shell_complete=completing.subjects)
@click.option("--brief", metavar="FILE", help="Brief that is handed down; `-` reads it from standard input.")
@click.option(
    "--holder", metavar="SUBJECT", help="Agent that does the work.  [default: any agent in the role]"
)
@click.option("--session", metavar="SESSION", help="Session that does it.  [default: the one of the edge]")
@click.option(
    "--from-session", metavar="SESSION", help="Session of FROM.  [default: the one it got its brief in]"
)
@circumstance_options
@context_option
@click.option(
    "--seconds",
    type=click.FloatRange(min=1),
    metavar="N",
    help="How long the files are claimed. Default: one hour. Maximum: 7 days.",
)
@org_of_documents_option
@change_options
def record(
    sender: str,
    receiver: str,
    brief: str | None,
    holder: str | None,
    session: str | None,
    from_session: str | None,
    context_json: str,
    seconds: float | None,
    org: str | None,
    actor: str,
    paths: tuple[str, ...],
    store: str | None,
    no_cache: bool,
    reason: str,
    form: str,
    **stated: Any,
) -> None:
    """Record that FROM hands work to TO, if it is permitted. FROM is a role, a layer with one role, or an agent.

    The files that the brief owns are claimed in the same change. The brief of FROM must be stored, as it is after a
    recorded hand-off. If the log contains depth, children and principal, it takes precedence over the options.
    """
    question = HandoffQuestion(sender="", receiver="", **stated, context=parse_context(context_json))
    order = HandoffOrder(
        to=receiver, sender=sender, holder=holder, session=session, from_session=from_session, question=question,
        seconds=seconds, reason=reason,
    )  # fmt: skip
    read = None if brief is None else read_contract_file(brief)
    with open_operation_here(actor, paths, store, no_cache, create=True) as context:
        made = record_handoff(context, order, read, org=org)
    claimed = "" if made.token is None else f", with claim {made.token} until {show_time(made.expires_at)}"
    text = f"hand-off {made.number}: {made.sender} to {made.holder} in session {made.session}{claimed}"
    echo_record(form, made, text)


@command.command("list")
@org_of_documents_option
@click.option("--session", metavar="SESSION", help="Only hand-offs from or into one session.")
@click.option("--from", "sender", metavar="SUBJECT", help="Only hand-offs by one subject, such as `role:ID`.")
@click.option("--to", "receiver", metavar="SUBJECT", help="Only hand-offs to one role or agent.")
@click.option("--brief", metavar="ID", help="Only hand-offs of one brief, or of briefs derived from it.")
@click.option("--running", is_flag=True, help="Only hand-offs whose work has not ended.")
@with_options(bare_path_option, store_option, cache_option)
@format_option("text", "json")
def list_(
    org: str | None,
    session: str | None,
    sender: str | None,
    receiver: str | None,
    brief: str | None,
    running: bool,
    form: str,
    **where: Any,
) -> None:
    """List the hand-offs, oldest first. A log that was changed in the store is refused."""
    with open_question_here(**where) as context:
        handoffs = list_handoffs(
            context.store, choose_contract_organization(context, org), session=session, sender=sender, receiver=receiver,
            brief=brief, is_running=running,
        )  # fmt: skip
    echo_records(
        form,
        handoffs,
        ("number", "time", "from", "to", "session", "claim", "brief"),
        lambda each: (
            each.number, show_time(each.at), each.sender, each.holder, each.session, each.token, each.brief,
        ),
    )  # fmt: skip
