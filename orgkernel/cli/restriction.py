"""`orgkernel restriction`: leave somebody less than roles, policies and grants give."""

from __future__ import annotations

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
from orgkernel.decisions.state_view import Grant
from orgkernel.records.levels import LEVELS, ToolLevel


@click.group("restriction")
def command() -> None:
    """Leave somebody less than roles, policies and grants give, and lift that again."""


@command.command("issue")
@click.argument("subject")
@click.argument("resources", nargs=-1, required=True, metavar="RESOURCE...")
@click.option(
    "--level", type=click.Choice(LEVELS), default="none", show_default=True, help="The most that is left."
)
@click.option("--org", metavar="ORG", help="Organisation it holds in. Default: all.")
@click.option("--expires", metavar="WHEN", help="`30m`, `24h`, `7d`, or a date. Default: never.")
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
    org: str | None,
    expires: str | None,
    actor: str,
    reason: str,
    paths: tuple[str, ...],
    store: str | None,
    no_cache: bool,
    form: str,
) -> None:
    """Leave SUBJECT no more than a level of RESOURCEs, such as `agent:worf tool:browser_agent`."""
    until = parse_until(expires)
    check = check_of(find_declared(paths, store, no_cache=no_cache), grants=False)
    if check is not None:  # a misspelt one would restrict nobody, and nobody would notice
        check(Grant("", subject, resources, level, org_id=org))
    with opened(store, create=True) as state:
        made = state.restrictions.issue(
            subject, resources, issued_by=actor, level=level, org_id=org, reason=reason, expires_at=until
        )
    echo_record(form, made, f"{made.restriction_id} issued")


@command.command("list")
@click.option("--subject", metavar="SUBJECT", help="Only those of one subject.")
@click.option("--all", "everything", is_flag=True, help="Also what was lifted or has expired.")
@store_option
@format_option("text", "json")
def list_(subject: str | None, everything: bool, store: str | None, form: str) -> None:
    """List restrictions."""
    with opened(store) as state:
        found = state.restrictions.list(subject, active_only=not everything)
    echo_records(
        form,
        found,
        ("restriction", "subject", "level", "until", "by", "resources"),
        lambda each: (
            each.restriction_id, each.subject, each.level,
            f"lifted {show_time(each.revoked_at)}" if each.revoked_at else show_time(each.expires_at),
            each.issued_by, " ".join(each.resources),
        ),
    )  # fmt: skip


@command.command("lift")
@click.argument("restriction_id", metavar="RESTRICTION")
@by_option
@reason_option
@store_option
@format_option("text", "json")
def lift(restriction_id: str, actor: str, reason: str, store: str | None, form: str) -> None:
    """Lift a restriction; its history stays."""
    with opened(store) as state:
        lifted = state.restrictions.revoke(restriction_id, actor=actor, reason=reason)
    echo_record(form, lifted, f"{restriction_id} lifted")
