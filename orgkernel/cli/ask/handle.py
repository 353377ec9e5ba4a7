"""`orgkernel handle`: by a procedure, a skill, a tool, reasoning, or not at all?"""

from __future__ import annotations

from collections.abc import Iterator

import click

from orgkernel.cli import completing
from orgkernel.cli.circumstances import context_option, parse_context
from orgkernel.cli.named import choose_reference
from orgkernel.cli.opening import add_path_options, cache_option, format_option, org_option
from orgkernel.cli.output import echo_answer, join_lines, list_places, render_reasons
from orgkernel.cli.stores import open_with_state, store_option
from orgkernel.decisions.work.capability.handling import HandlingDecision, HandlingRequest


@click.command("handle")
@click.argument("intent", shell_complete=completing.intents)
@click.option(
    "--subject",
    required=True,
    metavar="SUBJECT",
    shell_complete=completing.subjects,
    help="Who is to handle it: `role:ID` or `agent:ID`.",
)
@org_option
@add_path_options
@click.option(
    "--failed",
    multiple=True,
    metavar="TIER:NAME",
    help="What failed in this run, such as `executable_skill:publish`; repeatable.",
)
@click.option("--text", default="", metavar="TEXT", help="The task in words, for the triggers of skills.")
@click.option("--on-behalf-of", metavar="SUBJECT", help="Subject that triggered the run.")
@click.option(
    "--via",
    multiple=True,
    metavar="SUBJECT",
    help="Subjects that handed the work down, first to last; repeatable.",
)
@context_option
@store_option
@cache_option
@format_option("text", "json")
def command(
    intent: str,
    subject: str,
    org: str,
    paths: tuple[str, ...],
    failed: tuple[str, ...],
    text: str,
    on_behalf_of: str | None,
    via: tuple[str, ...],
    context_json: str,
    store: str | None,
    no_cache: bool,
    form: str,
) -> None:
    """Find out how SUBJECT handles INTENT: by a procedure, a cognitive skill, a tool, or its own reasoning.

    Exits 0 if there is a way, 1 if the subject declines, 2 if it cannot run.
    """
    kernel = open_with_state(paths, org, store, no_cache=no_cache)
    subject = choose_reference(kernel, org, subject)
    handling_request = HandlingRequest(
        subject, intent, parse_context(context_json), on_behalf_of, via, text=text, failed=failed
    )
    decision = kernel.handle(org, handling_request)
    echo_answer(form, decision, lambda: join_lines(_render_lines(decision)))
    raise click.exceptions.Exit(int(decision.tier == "decline"))


def _render_lines(decision: HandlingDecision) -> Iterator[str]:
    named = f" {decision.name}" if decision.name else ""
    level = f", level {decision.level}" if decision.level else ""
    without = ", without a model" if decision.without_model else ""
    yield f"{decision.intent} → {decision.tier.replace('_', ' ')}{named}{level}{without}"
    yield from render_reasons(decision.reasons)
    for check in decision.tools:
        step = f"step {check.step}: " if check.step else ""
        yield f"  {step}tool {check.tool} {check.action}: {check.outcome}"
    if decision.augmented_by:
        yield f"  augmented by: {', '.join(decision.augmented_by)}"
    if decision.obligations:
        yield f"  obligations: {', '.join(decision.obligations)}"
    for each in decision.passed_over:
        for reason in each.reasons:
            yield f"  not {each.tier.replace('_', ' ')} {each.name}: {reason.text}".replace("  :", ":")
            yield from list_places(reason.why)
    if decision.fallbacks:
        yield "  if it fails: " + ", ".join(
            f"{each.tier.replace('_', ' ')} {each.name}" for each in decision.fallbacks
        )
