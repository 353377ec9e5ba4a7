"""`orgkernel restriction`: leave somebody less than roles, policies and grants give."""

from __future__ import annotations

import click

from orgkernel.cli.declared import check_of, find_declared
from orgkernel.cli.giving import ending, issuing, listing_of, show_end
from orgkernel.cli.stores import echo_record, echo_records, opened, parse_until
from orgkernel.decisions.state_view import Grant
from orgkernel.records.levels import ToolLevel


@click.group("restriction")
def command() -> None:
    """Leave somebody less than roles, policies and grants give, and lift that again."""


@command.command("issue")
@issuing("none", "The most that is left.")
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
@listing_of("lifted or has expired")
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
            show_end(each, "lifted"), each.issued_by, " ".join(each.resources),
        ),
    )  # fmt: skip


command.add_command(
    ending(
        "lift",
        "restriction",
        "lifted",
        lambda store: store.restrictions.revoke,
        "Lift a restriction; its history stays.",
    )
)
