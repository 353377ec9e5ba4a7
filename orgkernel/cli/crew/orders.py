"""`orgkernel role orders`: the standing orders of a role."""

from __future__ import annotations

from collections.abc import Iterator

import click

from orgkernel.cli import completing
from orgkernel.cli.named import choose_id
from orgkernel.cli.opening import add_path_options, cache_option, format_option, open_kernel, org_option
from orgkernel.cli.output import echo_answer, join_lines
from orgkernel.decisions.work.capability.orders import StandingOrders


@click.command("orders", short_help="Show the standing orders of a role, from the federation down.")
@click.argument("role", shell_complete=completing.roles)
@org_option
@add_path_options
@cache_option
@format_option("text", "json")
def command(role: str, org: str, paths: tuple[str, ...], no_cache: bool, form: str) -> None:
    """Show the standing orders of ROLE, from the federation (all organizations) down to the role.

    If orders disagree, the earlier ones apply.
    """
    kernel = open_kernel(paths, org, no_cache=no_cache)
    orders = kernel.standing_orders(org, choose_id(kernel, org, "role", role))
    echo_answer(form, orders, lambda: join_lines(_render_lines(orders)))


def _render_lines(orders: StandingOrders) -> Iterator[str]:
    if not orders.sections:
        yield f"role {orders.role_id} has no standing orders"
    for part in orders.sections:
        target = f" {part.target}" if part.target else ""
        yield f"# {part.source}{target} ({part.file}:{part.line}, sha256 {part.sha256[:12]})"
        yield ""
        yield from part.text.rstrip().splitlines()
        yield ""
    yield f"digest {orders.digest}"
