"""`orgkernel dispatch`: which role takes this task?"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import click
import msgspec

from orgkernel.cli import completing
from orgkernel.cli.opening import (
    add_path_options,
    cache_option,
    format_option,
    note_out_of_service,
    open_kernel,
    org_option,
)
from orgkernel.cli.output import echo_answer, join_lines, list_places, render_reasons
from orgkernel.cli.stores import open_with_state, store_option
from orgkernel.decisions.dispatch.by_domain import DispatchDecision
from orgkernel.decisions.dispatch.task_state import PreviousTask
from orgkernel.diagnostics.wording import quote
from orgkernel.errors import UsageError
from orgkernel.prepared_types import prepared

_MAX_BYTES = 1_000_000
_WRITE_PREVIOUS = "write it with `orgkernel dispatch --text SENTENCE --format json`"


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
@click.option(
    "--as-documents", is_flag=True, help="Ignore the stored state, and name only the role, not its agents."
)
@click.option(
    "--previous",
    metavar="FILE",
    help="JSON file (`-` is the standard input) with the previous answer, whose role a follow-up keeps.",
)
@store_option
@cache_option
@format_option("text", "json")
def command(
    domain: str | None,
    intent: str | None,
    text: str | None,
    org: str,
    needs: tuple[str, ...],
    all_considered: bool,
    as_documents: bool,
    previous: str | None,
    store: str | None,
    form: str,
    **where: Any,
) -> None:
    """Find the role that takes tasks of DOMAIN or of an intent, or the task that a sentence describes, and explain why.

    If the organization declares agents, the answer also names those who can take the task now.
    """
    if sum(each is not None for each in (domain, intent, text)) != 1:
        raise click.UsageError("`orgkernel dispatch` takes exactly one of DOMAIN, `--intent` and `--text`")
    if previous is not None and text is None:
        raise click.UsageError("`--previous` is only for `--text`")
    before = _read_previous(previous) if previous is not None else None
    kernel = open_kernel(org=org, **where) if as_documents else open_with_state(org=org, store=store, **where)
    decision = kernel.dispatch(
        org, domain, intent=intent, text=text, needs=needs, all_considered=all_considered, previous=before
    )
    note_out_of_service(kernel.organization(org).snapshot)
    echo_answer(form, decision, lambda: _render(decision))
    if domain is not None and decision.outcome != "role" and " " in domain.strip():
        click.echo(
            "help: this is a sentence, and DOMAIN is one word; ask `orgkernel dispatch --text SENTENCE`",
            err=True,
        )


def _read_previous(file: str) -> PreviousTask | None:
    """The task of the previous answer. None if no role took it. Raises `UsageError` for a file that is not such an answer."""
    try:
        data = sys.stdin.buffer.read(_MAX_BYTES) if file == "-" else _read_file(file)
        answer = msgspec.json.decode(data, type=dict[str, Any])
        if "asked" not in answer:
            return msgspec.convert(answer, prepared(PreviousTask))
        if answer.get("task") is not None:
            return msgspec.convert(answer["task"], prepared(PreviousTask))
        if answer.get("role_id") is None:
            return None
        first = {"role_id": answer["role_id"], "texts": [answer["asked"]], "domain": answer.get("domain")}
        return msgspec.convert(first, prepared(PreviousTask))
    except (OSError, msgspec.MsgspecError) as error:
        problem = error.strerror if isinstance(error, OSError) else str(error)
        raise UsageError(f"{quote(file)} has no previous task: {problem}", _WRITE_PREVIOUS) from None


def _read_file(file: str) -> bytes:
    with open(file, "rb") as opened:
        return opened.read(_MAX_BYTES)


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
    lines += _render_crew(decision) if decision.crew else ()
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


def _render_crew(decision: DispatchDecision) -> Iterator[str]:
    """The agents who can take the task, best first, and those who cannot."""
    crew = decision.crew
    assert crew is not None
    for reason in crew.reasons:
        yield f"  {reason.text}"
        yield from list_places(reason.why)
    if crew.agents:
        of_role = "" if crew.acting_role == decision.role_id else f" of {crew.acting_role}"
        yield f"  agents{of_role}: {', '.join(each.agent_id for each in crew.agents)}"
    for agent in crew.agents:
        yield from render_reasons(agent.reasons)
    for other in crew.unavailable:
        for reason in other.reasons:
            yield f"  not agent {other.agent_id}: {reason.text}"
            yield from list_places(reason.why)
    hidden = crew.agent_count - len(crew.agents) + crew.unavailable_count - len(crew.unavailable)
    if hidden > 0:
        yield f"  and {hidden} more agents (list them with --all)"
