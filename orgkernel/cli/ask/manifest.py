"""`orgkernel manifest` and `orgkernel graph`: the permissions and skills of a role, an agent or the crew, and the
org chart.
"""

from __future__ import annotations

from typing import get_args

import click

from orgkernel.cli import completing
from orgkernel.cli.named import choose_id
from orgkernel.cli.opening import (
    add_path_options,
    cache_option,
    folders_argument,
    format_option,
    note_out_of_service,
    open_kernel,
    org_option,
)
from orgkernel.cli.output import echo_answer, echo_json, format_count, get_terminal_width, render_yaml
from orgkernel.cli.stores import as_of_option, open_with_state, store_option
from orgkernel.decisions.evidence.state_view import Lifecycle
from orgkernel.manifest.crew import AgentFilter
from orgkernel.manifest.filters import RoleFilter
from orgkernel.manifest.seed004 import build_seed004_profile
from orgkernel.manifest.v1 import AgentManifest, OrganizationManifest, RoleManifest
from orgkernel.runtime.progress import show_stage

Manifest = RoleManifest | AgentManifest | OrganizationManifest


@click.command("manifest")
@click.argument("role", required=False, shell_complete=completing.roles)
@org_option
@add_path_options
@click.option("--role-type", help="Only roles of this type.")
@click.option("--domain", shell_complete=completing.domains, help="Only roles that handle this domain.")
@click.option("--plan", help="Only roles that follow this plan.")
@click.option("--tool", shell_complete=completing.tools, help="Only roles equipped with this tool.")
@click.option("--skill", help="Only roles that require this skill.")
@click.option("--reports-to", help="Only direct subordinates of this role.")
@click.option("--department", help="Only roles in this department.")
@click.option("--layer", help="Only roles in this layer.")
@click.option(
    "--agent",
    metavar="AGENT",
    shell_complete=completing.agents,
    help="Show an agent in all its roles, instead of a role.",
)
@click.option("--rank", help="Only roles that an agent of this rank fills.")
@click.option("--qualification", help="Only roles with an agent that has passed this test.")
@click.option("--intent", help="Only roles that serve this intent and have an agent.")
@click.option("--watch", help="Only roles that an agent fills in this watch.")
@click.option(
    "--lifecycle", type=click.Choice(get_args(Lifecycle)), help="Only roles with an agent in this state."
)
@click.option(
    "--as",
    "layout",
    type=click.Choice(["seed004"]),
    help="With --agent, print the capability profile of the crew specification as YAML, or as JSON with `--format json`.",
)
@as_of_option
@store_option
@cache_option
@format_option("table", "json", "yaml")
def command(
    role: str | None,
    org: str,
    paths: tuple[str, ...],
    agent: str | None,
    as_of: str | None,
    store: str | None,
    no_cache: bool,
    form: str,
    layout: str | None,
    rank: str | None,
    qualification: str | None,
    intent: str | None,
    watch: str | None,
    lifecycle: Lifecycle | None,
    **wanted: str | None,
) -> None:
    """Show everything known about a ROLE, or about the organization and its roles, each item with its line.

    Stored ranks, grants and restrictions are included.
    """
    agents = AgentFilter(
        rank=rank, qualification=qualification, intent=intent, watch=watch, lifecycle=lifecycle
    )
    is_filtered = any(value is not None for value in wanted.values()) or not agents.is_empty
    if (role is not None or agent is not None) and is_filtered:
        raise click.UsageError("ROLE cannot be combined with filters")
    if role is not None and agent is not None:
        raise click.UsageError("ROLE cannot be combined with `--agent`")
    if layout is not None and agent is None:
        raise click.UsageError("`--as` needs `--agent`")
    kernel = open_with_state(paths, org, store, as_of=as_of, no_cache=no_cache)
    manifest: Manifest
    if agent is not None:
        manifest = kernel.agent_manifest(org, choose_id(kernel, org, "agent", agent))
        if layout is not None:
            profile = build_seed004_profile(manifest)
            echo_answer(form, profile, lambda: render_yaml(profile))
            return
    elif role is not None:
        manifest = kernel.manifest(org, choose_id(kernel, org, "role", role))
    else:
        note_out_of_service(kernel.organization(org).snapshot)
        count = format_count(len(kernel.organization(org).snapshot.records.posts), "role")
        with show_stage(f"building the manifests of {count}"):
            manifest = kernel.crew(org, RoleFilter(**wanted), agents=agents)
        for sentence in manifest.unknown_words:
            click.echo(f"note: {sentence}", err=True)
    echo_answer(form, manifest, lambda: _render(manifest, form))


def _render(manifest: Manifest, form: str) -> str:
    if form == "yaml":
        return render_yaml(manifest)
    from orgkernel.cli.tables import render_agent, render_organization, render_role

    if isinstance(manifest, AgentManifest):
        return render_agent(manifest)
    return render_role(manifest) if isinstance(manifest, RoleManifest) else render_organization(manifest)


@click.command("graph")
@folders_argument
@org_option
@add_path_options
@cache_option
@format_option("tree", "mermaid", "dot", "json")
def graph(folders: tuple[str, ...], org: str, paths: tuple[str, ...], no_cache: bool, form: str) -> None:
    """Draw the org chart. The format `json` contains every edge with its line."""
    from orgkernel.manifest.chart import render_dot, render_json, render_mermaid, render_tree

    kernel = open_kernel(folders + paths, org, no_cache=no_cache)
    organization = kernel.latest(org)
    if organization.has_errors:
        click.echo(f"note: organization `{organization.org_id}` has errors; see `orgkernel check`", err=True)
    note_out_of_service(organization)
    if form == "tree":
        drawing = render_tree(organization.graph, max(40, get_terminal_width() or 80))
    else:
        drawing = {"mermaid": render_mermaid, "dot": render_dot, "json": render_json}[form](
            organization.graph
        )
    if form == "json":
        echo_json(drawing)
    else:
        click.echo(drawing, nl=False)
