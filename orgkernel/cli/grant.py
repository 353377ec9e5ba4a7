"""`orgkernel grant`: permissions in addition to what roles and policies give."""

from __future__ import annotations

from typing import Any, get_args

import click

from orgkernel.cli.declared import check_of, find_declared
from orgkernel.cli.opening import cache_option, format_option, path_option
from orgkernel.cli.stores import (
    by_option,
    echo_record,
    echo_records,
    opened,
    parse_until,
    reason_option,
    show_time,
    store_option,
)
from orgkernel.decisions.state_view import Waiver
from orgkernel.records.levels import LEVELS, ToolLevel


@click.group("grant")
def command() -> None:
    """Give permissions in addition to roles and policies, and take them back."""


@command.command("issue")
@click.argument("subject")
@click.argument("resources", nargs=-1, required=True, metavar="RESOURCE...")
@click.option("--level", type=click.Choice(LEVELS), default="full", show_default=True)
@click.option(
    "--waive", "waives", multiple=True, type=click.Choice(get_args(Waiver)), help="Cap it lifts; repeatable."
)
@click.option("--org", metavar="ORG", help="Organisation it holds in. Default: all.")
@click.option("--channel", metavar="CHANNEL", help="Channel it holds in. Default: all.")
@click.option("--session", metavar="SESSION", help="Session it holds in. Default: all.")
@click.option("--expires", metavar="WHEN", help="`30m`, `24h`, `7d`, or a date. Default: never.")
@click.option(
    "--uses", type=click.IntRange(1), metavar="N", help="How often it can be used. Default: without limit."
)
@by_option
@reason_option
@path_option
@store_option
@cache_option
@format_option("text", "json")
def issue(
    subject: str,
    resources: tuple[str, ...],
    level: ToolLevel,
    waives: tuple[Waiver, ...],
    org: str | None,
    channel: str | None,
    session: str | None,
    expires: str | None,
    uses: int | None,
    actor: str,
    reason: str,
    paths: tuple[str, ...],
    store: str | None,
    no_cache: bool,
    form: str,
) -> None:
    """Give SUBJECT a permission on RESOURCEs, such as `agent:worf tool:browser_agent`.

    What no document declares is not given. A role or an agent (`--by`) gives what its `may_grant` names.
    """
    until = parse_until(expires)
    kernel = find_declared(paths, store, no_cache=no_cache)
    with opened(store, create=True, check=check_of(kernel)) as state:
        grant = state.grants.issue(
            subject,
            resources,
            issued_by=actor,
            level=level,
            waives=waives,
            org_id=org,
            channel=channel,
            session=session,
            reason=reason,
            expires_at=until,
            uses=uses,
        )
    echo_record(form, grant, f"{grant.grant_id} issued")


@command.command("list")
@click.option("--subject", metavar="SUBJECT", help="Only those of one subject.")
@click.option("--all", "everything", is_flag=True, help="Also what was revoked, used up or has expired.")
@store_option
@format_option("text", "json")
def list_(subject: str | None, everything: bool, store: str | None, form: str) -> None:
    """List grants, and how often they were used."""
    with opened(store) as state:
        grants = state.grants.list(subject, active_only=not everything)
        uses = state.grants.count_uses()

    def row(grant: Any) -> tuple[Any, ...]:
        until = f"revoked {show_time(grant.revoked_at)}" if grant.revoked_at else show_time(grant.expires_at)
        left = "" if grant.uses_left is None else f", {grant.uses_left} left"
        used = f"{uses.get(grant.grant_id, 0)}{left}"
        return (
            grant.grant_id,
            grant.subject,
            grant.level,
            until,
            used,
            grant.issued_by,
            " ".join(grant.resources),
        )

    headings = ("grant", "subject", "level", "until", "used", "by", "resources")
    echo_records(form, grants, headings, row)


@command.command("revoke")
@click.argument("grant_id", metavar="GRANT")
@by_option
@reason_option
@store_option
@format_option("text", "json")
def revoke(grant_id: str, actor: str, reason: str, store: str | None, form: str) -> None:
    """Take a grant back; its history stays."""
    with opened(store) as state:
        grant = state.grants.revoke(grant_id, actor=actor, reason=reason)
    echo_record(form, grant, f"{grant_id} revoked")
