"""`orgkernel request`: somebody asks for a permission, somebody else answers."""

from __future__ import annotations

from typing import Any, get_args

import click

from orgkernel.cli.opening import format_option
from orgkernel.cli.stores import (
    acting,
    acting_here,
    by_option,
    change_options,
    echo_record,
    echo_records,
    opened,
    reason_option,
    show_time,
    store_option,
)
from orgkernel.decisions.state_records import Approval
from orgkernel.decisions.state_view import Waiver
from orgkernel.operations.drafts import RequestDraft
from orgkernel.operations.permissions import approve, ask, deny
from orgkernel.records.levels import LEVELS

_KINDS = ("access", "command", "action")
_STATES = ("pending", "approved", "denied", "expired")


@click.group("request")
def command() -> None:
    """Ask for a permission, and answer such requests."""


@command.command("create")
@click.argument("requester", metavar="SUBJECT")
@click.argument("resources", nargs=-1, required=True, metavar="RESOURCE...")
@click.option(
    "--kind", type=click.Choice(_KINDS), default="access", show_default=True,
    help="Answered within 24 h, 2 min or 1 h; else expired.",
)  # fmt: skip
@click.option("--level", type=click.Choice(LEVELS), default="full", show_default=True)
@click.option(
    "--waive", "waives", multiple=True, type=click.Choice(get_args(Waiver)), help="Cap to lift; repeatable."
)
@click.option("--org", "org_id", metavar="ORG", help="Organization it is for. Default: all.")
@change_options
def create(
    actor: str, paths: tuple[str, ...], store: str | None, no_cache: bool, form: str, **draft: Any
) -> None:
    """Ask for a permission on RESOURCEs in the name of SUBJECT. Nobody can ask for what no document declares.

    An agent (`--by`) asks for itself and for nobody else.
    """
    with acting_here(actor, paths, store, no_cache, create=True) as context:
        asked = ask(context, RequestDraft(**draft))
    until = show_time(asked.expires_at)
    echo_record(form, asked, f"{asked.request_id} is pending until {until}")


@command.command("approve")
@click.argument("request_id", metavar="REQUEST")
@click.argument("approval", type=click.Choice(("once", "day", "always")), default="once")
@change_options
def approve_(request_id: str, approval: Approval, reason: str, form: str, **where: Any) -> None:
    """Say yes to a request: once (the default), for a day, or always.

    A role or an agent (`--by`) says yes to what its `may_grant` names.
    """
    with acting_here(**where) as context:
        request, grant = approve(context, request_id, approval, reason)
    echo_record(form, request, f"{request_id} approved {approval}: {grant.grant_id}")


@command.command("deny")
@click.argument("request_id", metavar="REQUEST")
@by_option
@reason_option
@store_option
@format_option("text", "json")
def deny_(request_id: str, actor: str, reason: str, store: str | None, form: str) -> None:
    """Say no to a request."""
    with acting(actor, store) as context:
        request = deny(context, request_id, reason)
    echo_record(form, request, f"{request_id} denied")


@command.command("list")
@click.option("--status", type=click.Choice(_STATES), help="Only those in this state.")
@click.option("--subject", metavar="SUBJECT", help="Only those of one requester.")
@store_option
@format_option("text", "json")
def list_(status: str | None, subject: str | None, store: str | None, form: str) -> None:
    """List requests, oldest first."""
    with opened(store) as state:
        requests = state.requests.list(status, subject)  # type: ignore[arg-type]  # click has checked it
    echo_records(
        form,
        requests,
        ("request", "subject", "status", "until", "grant", "resources"),
        lambda each: (
            each.request_id, each.requester, each.status, show_time(each.expires_at), each.grant_id,
            " ".join(each.resources),
        ),
    )  # fmt: skip
