"""`orgkernel dispatch`: which role takes this task?"""

from __future__ import annotations

from typing import Any

import click

from orgkernel.cli import completing
from orgkernel.cli.opening import cache_option, format_option, open_kernel, org_option, path_option
from orgkernel.cli.output import as_text, echo_answer, places
from orgkernel.decisions.dispatch import DispatchDecision
from orgkernel.diagnostics.wording import listing
from orgkernel.kernel.kernel import Kernel


@click.command("dispatch")
@click.argument("domain", shell_complete=completing.domains)
@org_option
@path_option
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
    domain: str, org: str, needs: tuple[str, ...], all_considered: bool, form: str, **where: Any
) -> None:
    """Find the role that takes tasks of DOMAIN, and explain why."""
    kernel = open_kernel(org=org, **where)
    decision = kernel.dispatch(org, domain, needs=needs, all_considered=all_considered)
    echo_answer(form, decision, lambda: _render(decision))
    if decision.outcome != "role" and " " in domain.strip():
        click.echo(_how_to_route(kernel, org, domain), err=True)


def _how_to_route(kernel: Kernel, org: str, text: str) -> str:
    """How a sentence is routed: by the domain that its words stand for, if they stand for one."""
    from orgkernel.runtime.classification import DomainWords, build_classifier, classify

    domains = {
        domain_id: DomainWords(each.record.examples, each.record.triggers, each.record.passthrough)
        for domain_id, each in kernel.organization(org).snapshot.records.domains.items()
    }
    found = classify(build_classifier(domains), text).domains
    if found:
        asked = " or ".join(f"`orgkernel dispatch {domain}`" for domain in found)
        return f"help: this is a sentence, and `dispatch` takes a domain; by its words, try {asked}"
    return f"help: this is a sentence, and `dispatch` takes a domain; domains are {listing(domains)}"


def _render(decision: DispatchDecision) -> str:
    if decision.outcome == "role":
        lines = [f"{decision.asked} → {decision.role_id} ({decision.role_name})"]
    else:
        lines = [f"{decision.asked} → not applicable: the host continues unchanged"]
    for reason in decision.reasons:
        lines.append(f"  because {reason.text}")
        lines += places(reason.why)
    for label, words in (
        ("plans", decision.plans),
        ("tools", decision.tools),
        ("escalates", decision.escalation),
    ):
        if words:
            lines.append(f"  {label}: {', '.join(words)}")
    for other in decision.considered:
        lines.append(f"  not {other.role_id}: {other.text}")
        lines += places(other.why)
    hidden = decision.considered_count - len(decision.considered)
    if hidden > 0:
        lines.append(f"  and {hidden} more (list them with --all)")
    return as_text(lines)
