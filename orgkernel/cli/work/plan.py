"""`orgkernel task plan`: which subtasks are worked on together, and which may start now."""

from __future__ import annotations

from collections.abc import Iterator

import click

from orgkernel.cli.opening import add_path_options, cache_option, format_option, open_kernel
from orgkernel.cli.output import echo_json, join_lines, paint
from orgkernel.cli.work.contract_files import read_source
from orgkernel.decisions.work.batches.answer import PlannedText, plan_text
from orgkernel.decisions.work.batches.plan import BatchPlan
from orgkernel.diagnostics.render import convert_to_data, render_full
from orgkernel.errors import UsageError
from orgkernel.loading.marks import LINE_BREAK

_EXIT_CODES = {"planned": 0, "refused": 1, "cannot_tell": 2}


@click.command("plan", short_help="Batch the subtasks of a mission, and say what may start now.")
@click.argument("file", metavar="FILE")
@click.option("--done", multiple=True, metavar="ID", help="A subtask that is done; repeatable.")
@click.option("--running", multiple=True, metavar="ID", help="A subtask that is worked on now; repeatable.")
@click.option("--org", metavar="ORG", help="Organization whose batch size limits the plan.")
@add_path_options
@cache_option
@format_option("text", "json")
@click.pass_context
def command(
    ctx: click.Context,
    file: str,
    done: tuple[str, ...],
    running: tuple[str, ...],
    org: str | None,
    paths: tuple[str, ...],
    no_cache: bool,
    form: str,
) -> None:
    """Divide the subtasks in FILE into as few batches as possible, and say which may start now.

    `-` reads standard input.

    Narrow subtasks with disjoint files share a batch. A broad subtask has its own batch. Terminal subtasks come
    last, each in its own batch.

    Exit codes: 0 planned, 1 the plan or the running work has a problem, 2 if the file cannot be read or is not a
    plan, or an id is unknown.
    """
    source = read_source(file)
    most = None if org is None else open_kernel(paths, org, no_cache=no_cache).contract_terms(org).batch_size
    answer = plan_text(source, done, running, most)
    if answer.unknown is not None:
        problem, name, help = answer.unknown
        raise UsageError(f"subtask `{name}` {problem}", help)
    if form == "json":
        _echo_json(answer)
    else:
        lines = LINE_BREAK.split(source.text)
        click.echo(render_full(answer.diagnostics, lambda _: lines, paint), nl=False)
        if answer.plan is not None:
            click.echo(join_lines(_render_lines(answer.plan, running)), nl=False)
    ctx.exit(_EXIT_CODES[answer.outcome])


def _echo_json(answer: PlannedText) -> None:
    import msgspec

    value = {
        "outcome": answer.outcome,
        "plan": answer.plan,
        "findings": [convert_to_data(each) for each in answer.diagnostics],
    }
    echo_json(msgspec.json.format(msgspec.json.encode(value), indent=2).decode())


def _render_lines(plan: BatchPlan, running: tuple[str, ...]) -> Iterator[str]:
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
    for each in plan.waiting:
        yield f"{each.id} waits:"
        for wait in each.waits:
            yield f"  {wait.code}: {wait.text}"
