"""`orgkernel restriction`: leave somebody less than roles, policies and grants give."""

from __future__ import annotations

from typing import Any

import click

from orgkernel.cli.giving import ending, issuing, listing_of, show_end
from orgkernel.cli.stores import acting, echo_record, echo_records, find_declared, opened, parse_until
from orgkernel.operations.drafts import RestrictionDraft
from orgkernel.operations.restrictions import issue_restriction, lift_restriction


@click.group("restriction")
def command() -> None:
    """Leave somebody less than roles, policies and grants give, and lift that again."""


@command.command("issue")
@issuing("none", "The most that is left.")
def issue(
    expires: str | None, actor: str, paths: tuple[str, ...], store: str | None, no_cache: bool, form: str, org: str | None,
    **draft: Any,
) -> None:  # fmt: skip
    """Leave SUBJECT no more than a level of RESOURCEs, such as `agent:worf tool:browser_agent`.

    A role or an agent (`--by`) restricts what its `may_grant` names, and only others.
    """
    until = parse_until(expires)
    kernel = find_declared(paths, no_cache=no_cache)
    with acting(actor, store, kernel, create=True) as context:
        made = issue_restriction(context, RestrictionDraft(expires_at=until, org_id=org, **draft))
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
    ending("lift", "restriction", "lifted", lift_restriction, "Lift a restriction; its history stays.")
)
