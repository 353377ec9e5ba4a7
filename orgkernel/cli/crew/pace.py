"""`orgkernel role pace`: which PACE tier is a role in, and what must it do?"""

from __future__ import annotations

import json
from typing import Any

import click

from orgkernel.cli import completing
from orgkernel.cli.named import choose_id
from orgkernel.cli.opening import add_path_options, cache_option, format_option, open_kernel, org_option
from orgkernel.cli.output import echo_answer, join_lines, render_reasons
from orgkernel.decisions.status.pace import RolePace
from orgkernel.diagnostics.wording import listing, quote
from orgkernel.errors import UsageError
from orgkernel.runtime.observation import FLAGS, NAMES, Observation, is_measure
from orgkernel.runtime.tiers import PRIMARY, TIERS
from orgkernel.runtime.trigger_names import suggest_trigger_name

_EXAMPLE = "write `--observation '{\"consecutive_tool_failures\": 3}'`"


@click.command("pace")
@click.argument("role", shell_complete=completing.roles)
@org_option
@click.option(
    "--observation",
    default="{}",
    metavar="JSON",
    help='Observed values of the role, such as `{"context_fill": 0.9}`; fractions are 0 to 1. Missing values are unknown.',
)
@click.option(
    "--previous",
    type=click.Choice(TIERS),
    default=PRIMARY,
    show_default=True,
    help="Previous tier of the role.",
)
@click.option("--new-task", is_flag=True, help="A new task begins: forget the previous tier.")
@add_path_options
@cache_option
@format_option("text", "json")
def command(
    role: str, org: str, observation: str, previous: str, new_task: bool, form: str, **where: Any
) -> None:
    """Show the PACE tier of ROLE, its reason and its rules."""
    observed = _parse_observation(observation)
    kernel = open_kernel(org=org, **where)
    role = choose_id(kernel, org, "role", role)
    pace = kernel.pace(org, role, observed, previous, new_task=new_task)
    echo_answer(form, pace, lambda: _render(pace))


def _parse_observation(text: str) -> Observation:
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError):
        raise UsageError("the observation is not JSON", _EXAMPLE) from None
    if not isinstance(fields, dict):
        raise UsageError("the observation is not a JSON object", _EXAMPLE)
    for name, value in fields.items():
        if name not in NAMES:
            meant = suggest_trigger_name(name)
            help = f"did you mean {quote(meant)}?" if meant in NAMES else f"known names are {listing(NAMES)}"
            raise UsageError(f"unknown name {quote(name)} in the observation", help)
        if not is_measure(name, value):
            kind = (
                "true or false"
                if name in FLAGS
                else "a number from 0 to 1"
                if name == "context_fill"
                else "a number of at least 0"
            )
            raise UsageError(f"{quote(name)} in the observation is not {kind}", _EXAMPLE)
    return Observation(**fields)


def _render(pace: RolePace) -> str:
    change = "" if pace.tier == pace.previous else f" (was {pace.previous})"
    lines = [f"{pace.role_id} → {pace.tier}{change}"]
    lines += render_reasons(pace.reasons)
    lines += [f"  must {each.text}" for each in pace.obligations]
    return join_lines(lines)
