"""`orgkernel claim`: who works on which files."""

from __future__ import annotations

from typing import Any

import click

from orgkernel.cli.groups import CommandGroup
from orgkernel.cli.opening import format_option
from orgkernel.cli.stores import (
    change_options,
    echo_record,
    echo_records,
    open_current_store,
    open_operation_here,
    show_time,
    store_option,
)
from orgkernel.operations.claims import (
    claim_files,
    extend_claim,
    list_claims,
    release_claim,
    transfer_claim,
)

_seconds_option = click.option(
    "--seconds",
    type=click.FloatRange(min=1),
    metavar="N",
    help="How long the claim lasts from now. Default: one hour. Maximum: 7 days.",
)
_session_option = click.option("--session", metavar="SESSION", help="Session in which the holder works.")
_org = click.argument("org", metavar="ORG")
_token = click.argument("token", type=click.IntRange(min=1))
_holder = click.argument("holder", metavar="HOLDER")


@click.group("claim", cls=CommandGroup)
def command() -> None:
    """Claim files so that no two workers write the same file, and show who works on which."""


@command.command("list")
@click.option("--org", metavar="ORG", help="Only claims of one organization.")
@click.option("--path", metavar="PATH", help="Only claims that overlap with this path or glob.")
@store_option
@format_option("text", "json")
def list_(org: str | None, path: str | None, store: str | None, form: str) -> None:
    """List the current claims."""
    with open_current_store(store) as state:
        claims = list_claims(state, org, path)
    echo_records(
        form,
        claims,
        ("org", "token", "holder", "session", "planner", "until", "paths"),
        lambda claim: (
            claim.org_id, claim.token, claim.holder, claim.session, claim.planner, show_time(claim.expires_at),
            ", ".join(claim.paths),
        ),
    )  # fmt: skip


@command.command("add", short_help="Claim paths or globs for a holder: all of them or none.")
@_org
@_holder
@click.argument("files", nargs=-1, required=True, metavar="PATH...")
@_session_option
@click.option("--planner", metavar="SUBJECT", help="Who planned the work.")
@_seconds_option
@change_options
def add(
    org: str,
    holder: str,
    files: tuple[str, ...],
    session: str | None,
    planner: str | None,
    seconds: float | None,
    reason: str,
    form: str,
    **where: Any,
) -> None:
    """Claim each PATH, a path or a glob from the root of the project, for HOLDER: all of them or none.

    A claim is not a permission to write. Use its token to extend, release or transfer it.
    """
    with open_operation_here(**where, create=True) as context:
        made = claim_files(
            context, org, files, holder, seconds=seconds, session=session, planner=planner, reason=reason
        )
    echo_record(form, made, f"{holder} has claimed {', '.join(made.paths)} with token {made.token}")


@command.command("extend")
@_org
@_token
@_holder
@_seconds_option
@change_options
def extend(
    org: str, token: int, holder: str, seconds: float | None, reason: str, form: str, **where: Any
) -> None:
    """Extend the claim TOKEN of HOLDER. Its end is never moved back."""
    with open_operation_here(**where) as context:
        made = extend_claim(context, org, token, holder, seconds=seconds, reason=reason)
    echo_record(form, made, f"claim {token} of {holder} is extended")


@command.command("release")
@_org
@_token
@_holder
@change_options
def release(org: str, token: int, holder: str, reason: str, form: str, **where: Any) -> None:
    """Release the files of the claim TOKEN of HOLDER."""
    with open_operation_here(**where) as context:
        made = release_claim(context, org, token, holder, reason=reason)
    echo_record(form, made, f"{holder} released {', '.join(made.paths)}")


@command.command("transfer", short_help="Transfer a claim to another subject.")
@_org
@_token
@_holder
@click.argument("to", metavar="TO")
@_session_option
@change_options
def transfer(
    org: str, token: int, holder: str, to: str, session: str | None, reason: str, form: str, **where: Any
) -> None:
    """Hand the claim TOKEN of HOLDER over to the subject TO, who gets a new token."""
    with open_operation_here(**where) as context:
        made = transfer_claim(context, org, token, to, holder, session=session, reason=reason)
    echo_record(form, made, f"{to} took over {', '.join(made.paths)} from {holder} with token {made.token}")
