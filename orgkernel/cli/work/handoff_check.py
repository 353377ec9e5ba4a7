"""`orgkernel task handoff check`: may a role or a layer hand work to another, and what keeps it from doing so."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from orgkernel.cli import completing
from orgkernel.cli.circumstances import context_option, parse_context
from orgkernel.cli.opening import add_path_options, cache_option, format_option, org_option, with_options
from orgkernel.cli.output import echo_answer, join_lines, list_places, render_reasons
from orgkernel.cli.stores import open_with_state, store_option
from orgkernel.cli.work.contract_files import read_contract_file
from orgkernel.decisions.handoff.briefs import HandoffBriefs
from orgkernel.decisions.handoff.permission import HandoffPermission, HandoffQuestion
from orgkernel.decisions.work.contracts.reading import ReadContract
from orgkernel.errors import UsageError
from orgkernel.runtime.tiers import TIERS

_EXIT = {"allow": 0, "deny": 1, "cannot_tell": 2}


circumstance_options = with_options(
    click.option("--depth", type=click.IntRange(0), help="Number of hand-offs above the sender."),
    click.option(
        "--children", type=click.IntRange(0), help="Agents the sender handed work to that have not ended."
    ),
    click.option("--concurrent", type=click.IntRange(0), help="Number of them that run now."),
    click.option(
        "--pace", type=click.Choice(TIERS), help="PACE tier of the sender.  [default: its latest report]"
    ),
    click.option("--on-behalf-of", metavar="SUBJECT", help="Subject that triggered the run."),
    click.option("--budget-guard", is_flag=True, help="A budget guard has fired."),
)
"""The options that state the circumstances of a hand-off."""


@click.command("check")
@click.argument("sender", metavar="FROM", shell_complete=completing.subjects)
@click.argument("receiver", metavar="TO", shell_complete=completing.subjects)
@circumstance_options
@click.option("--brief", metavar="FILE", help="Brief that is handed down; `-` reads it from standard input.")
@click.option("--parent-brief", metavar="FILE", help="Brief that FROM itself follows.")
@with_options(
    context_option, org_option, add_path_options, store_option, cache_option, format_option("text", "json")
)
@click.pass_context
def command(
    ctx: click.Context,
    /,
    org: str,
    paths: tuple[str, ...],
    store: str | None,
    no_cache: bool,
    context_json: str,
    form: str,
    brief: str | None,
    parent_brief: str | None,
    **options: Any,
) -> None:
    """Check whether FROM may hand work to TO. Both are roles or layers, such as `oracle` or `L4`.

    FROM can also be a subject such as `agent:ID` or `person:ID`. A layer means all of its roles. The stored state is
    used. If no brief is given, the answer applies to the pair, and missing briefs or circumstances are listed as
    obligations.

    Exit codes: 0 allowed, 1 refused, 2 cannot tell.
    """
    question = HandoffQuestion(**options, context=parse_context(context_json))
    if brief == parent_brief == "-":
        raise UsageError("two briefs cannot be read from standard input", "write one of them to a file")
    briefs = HandoffBriefs(_read(brief), _read(parent_brief))
    permission = open_with_state(paths, org, store, no_cache=no_cache).handoff_permission(
        org, question, briefs
    )
    echo_answer(form, permission, lambda: join_lines(_render_lines(permission)))
    ctx.exit(_EXIT[permission.outcome])


def _read(file: str | None) -> ReadContract | None:
    return None if file is None else read_contract_file(file)


def _render_lines(permission: HandoffPermission) -> Iterator[str]:
    yield f"{permission.outcome.replace('_', ' ')}: {permission.sender} handoff {permission.receiver}"
    if permission.findings:
        for finding in permission.findings:
            yield f"  {finding.step}: {finding.code}: {finding.text}"
            yield from list_places(finding.why)
            yield from (f"      {remedy}" for remedy in finding.remedies)
    else:
        yield from render_reasons(permission.reasons)
    if permission.obligations:
        yield f"  obligations: {', '.join(permission.obligations)}"
    if permission.routing is not None:
        yield f"  queue {permission.routing.queue_mode}, session {permission.routing.session_key}"
        yield from list_places(permission.routing.why)
