"""`orgkernel dispatch`: which role takes this task?"""

from __future__ import annotations

from typing import Any

import click

from orgkernel.cli import completing
from orgkernel.cli.opening import add_path_options, cache_option, format_option, open_kernel, org_option
from orgkernel.cli.output import echo_answer, join_lines, list_places, render_reasons
from orgkernel.decisions.dispatch.by_domain import DispatchDecision


@click.command("dispatch")
@click.argument("domain", required=False, shell_complete=completing.domains)
@click.option("--intent", metavar="INTENT", help="Intent that a role must serve, instead of DOMAIN.")
@click.option("--text", metavar="SENTENCE", help="The task in plain words, instead of DOMAIN.")
@org_option
@add_path_options
@click.option(
    "--needs",
    multiple=True,
    metavar="TOOL",
    shell_complete=completing.tools,
    help="Tool that the role must be equipped with; repeatable.",
)
@click.option("--all", "all_considered", is_flag=True, help="List all other candidates, not only five.")
@cache_option
@format_option("text", "json")
def command(
    domain: str | None,
    intent: str | None,
    text: str | None,
    org: str,
    needs: tuple[str, ...],
    all_considered: bool,
    form: str,
    **where: Any,
) -> None:
    """Find the role that takes tasks of DOMAIN or of an intent, or the task that a sentence describes, and explain why."""
    if sum(each is not None for each in (domain, intent, text)) != 1:
        raise click.UsageError("`orgkernel dispatch` takes exactly one of DOMAIN, `--intent` and `--text`")
    kernel = open_kernel(org=org, **where)
    decision = kernel.dispatch(
        org, domain, intent=intent, text=text, needs=needs, all_considered=all_considered
    )
    echo_answer(form, decision, lambda: _render(decision))
    if domain is not None and decision.outcome != "role" and " " in domain.strip():
        click.echo(
            "help: this is a sentence, and DOMAIN is one word; ask `orgkernel dispatch --text SENTENCE`",
            err=True,
        )


def _render(decision: DispatchDecision) -> str:
    if decision.outcome == "role":
        lines = [f"{decision.asked} → {decision.role_id} ({decision.role_name})"]
    else:
        lines = [f"{decision.asked} → not applicable: no role takes this"]
    lines += render_reasons(decision.reasons)
    for label, words in (
        ("plans", decision.plans),
        ("tools", decision.tools),
        ("escalates", decision.escalation),
    ):
        if words:
            lines.append(f"  {label}: {', '.join(words)}")
    for candidate in decision.candidates if decision.role_id is None else ():
        lines.append(f"  perhaps {candidate.role_id}, score {candidate.score}")
        for reason in candidate.reasons:
            lines.append(f"    {reason.text}")
            lines += list_places(reason.why)
    for other in decision.considered if decision.role_id or not decision.candidates else ():
        lines.append(f"  not {other.role_id}: {other.text}")
        lines += list_places(other.why)
    hidden = decision.considered_count - len(decision.considered)
    if hidden > 0:
        lines.append(f"  and {hidden} more (list them with --all)")
    return join_lines(lines)
