"""`orgkernel grant`: permissions in addition to what roles and policies give."""

from __future__ import annotations

from typing import Any, get_args

import click

from orgkernel.cli.giving import ending, issuing, listing_of, show_end
from orgkernel.cli.stores import acting, echo_record, echo_records, find_declared, opened, parse_until
from orgkernel.decisions.state_view import Waiver
from orgkernel.operations.drafts import GrantDraft
from orgkernel.operations.grants import issue_grant, revoke_grant


@click.group("grant")
def command() -> None:
    """Give permissions in addition to roles and policies, and take them back."""


@command.command("issue")
@issuing(
    "full",
    "What is given.",
    click.option(
        "--waive",
        "waives",
        multiple=True,
        type=click.Choice(get_args(Waiver)),
        help="Cap it lifts; repeatable.",
    ),
    click.option("--channel", metavar="CHANNEL", help="Channel it holds in. Default: all."),
    click.option("--session", metavar="SESSION", help="Session it holds in. Default: all."),
    click.option(
        "--uses",
        type=click.IntRange(1),
        metavar="N",
        help="How often it can be used. Default: without limit.",
    ),
)
def issue(
    expires: str | None, actor: str, paths: tuple[str, ...], store: str | None, no_cache: bool, form: str, org: str | None,
    **draft: Any,
) -> None:  # fmt: skip
    """Give SUBJECT a permission on RESOURCEs, such as `agent:worf tool:browser_agent`.

    What no document declares is not given. A role or an agent (`--by`) gives what its `may_grant` names.
    """
    until = parse_until(expires)
    kernel = find_declared(paths, no_cache=no_cache)
    with acting(actor, store, kernel, create=True) as context:
        grant = issue_grant(context, GrantDraft(expires_at=until, org_id=org, **draft))
    echo_record(form, grant, f"{grant.grant_id} issued")


@command.command("list")
@listing_of("revoked, used up or has expired")
def list_(subject: str | None, everything: bool, store: str | None, form: str) -> None:
    """List grants, and how often they were used."""
    with opened(store) as state:
        grants = state.grants.list(subject, active_only=not everything)
        uses = state.grants.count_uses()

    def row(grant: Any) -> tuple[Any, ...]:
        left = "" if grant.uses_left is None else f", {grant.uses_left} left"
        used = f"{uses.get(grant.grant_id, 0)}{left}"
        return (
            grant.grant_id,
            grant.subject,
            grant.level,
            show_end(grant, "revoked"),
            used,
            grant.issued_by,
            " ".join(grant.resources),
        )

    headings = ("grant", "subject", "level", "until", "used", "by", "resources")
    echo_records(form, grants, headings, row)


command.add_command(
    ending("revoke", "grant", "revoked", revoke_grant, "Take a grant back; its history stays.")
)
