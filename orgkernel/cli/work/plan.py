"""`orgkernel task plan`: which subtasks are worked on together, and which may start now."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import click

from orgkernel.cli.opening import add_path_options, cache_option, format_option
from orgkernel.cli.output import echo_json, join_lines, list_places, paint
from orgkernel.cli.stores import open_with_state, store_option
from orgkernel.cli.work.contract_files import read_source
from orgkernel.decisions.work.batches.answer import PlannedText, plan_text
from orgkernel.decisions.work.batches.assignment import SubtaskAssignment
from orgkernel.decisions.work.batches.plan import BatchPlan
from orgkernel.diagnostics.render import convert_to_data, render_full
from orgkernel.errors import UsageError
from orgkernel.loading.marks import LINE_BREAK

_EXIT_CODES = {"planned": 0, "refused": 1, "cannot_tell": 2}


@click.command("plan", short_help="Batch the subtasks of a mission, and say what may start now.")
@click.argument("file", metavar="FILE")
@click.option("--done", multiple=True, metavar="ID", help="A subtask that is done; repeatable.")
@click.option("--running", multiple=True, metavar="ID", help="A subtask that is worked on now; repeatable.")
@click.option("--org", metavar="ORG", help="Organization that limits the batch size, and takes the subtasks.")
@add_path_options
@store_option
@cache_option
@format_option("text", "json")
@click.pass_context
def command(
    ctx: click.Context,
    /,
    file: str,
    done: tuple[str, ...],
    running: tuple[str, ...],
    org: str | None,
    store: str | None,
    form: str,
    **where: Any,
) -> None:
    """Divide the subtasks in FILE into as few batches as possible, and say which may start now.

    `-` reads standard input.

    Narrow subtasks with disjoint files share a batch. A broad subtask has its own batch. Terminal subtasks come
    last, each in its own batch.

    With `--org`, a subtask that states its `domain` is given to an agent who can take it now. Without such an agent, it waits.

    Exit codes: 0 planned, 1 the plan or the running work has a problem, 2 if the file cannot be read or is not a
    plan, or an id is unknown.
    """
    source = read_source(file)
    if org is None:
        answer = plan_text(source, done, running)
    else:
        kernel = open_with_state(org=org, store=store, **where)
        answer = kernel.plan_batches(org, source, done, running)
    if answer.unknown is not None:
        problem, name, help = answer.unknown
        raise UsageError(f"subtask `{name}` {problem}", help)
    if form == "json":
        _echo_json(answer)
    else:
        lines = LINE_BREAK.split(source.text)
        click.echo(render_full(answer.diagnostics, lambda _: lines, paint), nl=False)
        if answer.plan is not None:
            click.echo(join_lines(_render_lines(answer.plan, answer.assignments, running)), nl=False)
    ctx.exit(_EXIT_CODES[answer.outcome])


def _echo_json(answer: PlannedText) -> None:
    import msgspec

    value = {
        "outcome": answer.outcome,
        "plan": answer.plan,
        "assignments": answer.assignments,
        "findings": [convert_to_data(each) for each in answer.diagnostics],
    }
    echo_json(msgspec.json.format(msgspec.json.encode(value), indent=2).decode())


def _render_lines(
    plan: BatchPlan, assignments: Sequence[SubtaskAssignment], running: tuple[str, ...]
) -> Iterator[str]:
    for number, batch in enumerate(plan.batches, 1):
        yield f"batch {number} ({batch.kind}): {', '.join(batch.subtasks)}"
    fewest = (
        "no fewer are possible" if plan.is_minimal else f"perhaps not the fewest: at least {plan.at_least}"
    )
    yield f"{fewest}: {plan.because}"
    for problem in plan.problems:
        yield f"problem: {problem.code} {problem.text}"
    beside = f", together with {', '.join(running)}" if running else ""
    yield f"may start now{beside}: {', '.join(plan.start) or 'nothing'}"
    for assignment in assignments:
        by = assignment.agent_id or assignment.role_id
        acting = "" if assignment.agent_id is None else f" ({assignment.acting_role})"
        yield f"  {assignment.subtask} → {by}{acting}"
        for reason in assignment.reasons:
            yield f"    {reason.text}"
            yield from list_places(reason.why)
    for each in plan.waiting:
        yield f"{each.id} waits:"
        for wait in each.waits:
            yield f"  {wait.code}: {wait.text}"
