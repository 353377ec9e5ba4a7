"""`orgkernel manifest`: what can this role, or the whole crew, do?"""

from __future__ import annotations

import click

from orgkernel.cli.opening import cache_option, format_option, open_kernel, org_option, path_option
from orgkernel.cli.output import as_yaml, echo_json
from orgkernel.crew.filters import RoleFilter
from orgkernel.crew.v1 import OrganizationManifest, RoleManifest, encode


@click.command("manifest")
@click.argument("role", required=False)
@org_option
@path_option
@click.option("--role-type", help="Only roles of this type.")
@click.option("--domain", help="Only roles that handle this domain.")
@click.option("--plan", help="Only roles that follow this plan.")
@click.option("--tool", help="Only roles equipped with this tool.")
@click.option("--skill", help="Only roles that require this skill.")
@click.option("--reports-to", help="Only direct subordinates of this role.")
@click.option("--department", help="Only roles of this department.")
@click.option("--layer", help="Only roles of this layer.")
@cache_option
@format_option("table", "json", "yaml")
def command(
    role: str | None, org: str, paths: tuple[str, ...], no_cache: bool, form: str, **wanted: str | None
) -> None:
    """Say everything known about a ROLE, or about the organisation and its roles, each item with its line."""
    if role is not None and any(value is not None for value in wanted.values()):
        raise click.UsageError("filters choose roles; name a ROLE or filter, not both")
    kernel = open_kernel(paths, org, no_cache=no_cache)
    manifest: RoleManifest | OrganizationManifest
    manifest = kernel.manifest(org, role) if role is not None else kernel.crew(org, RoleFilter(**wanted))
    if form == "json":
        echo_json(encode(manifest).decode())
    else:
        click.echo(_render(manifest, form), nl=False)


def _render(manifest: RoleManifest | OrganizationManifest, form: str) -> str:
    if form == "yaml":
        return as_yaml(manifest)
    from orgkernel.cli.tables import render_organization, render_role

    return render_role(manifest) if isinstance(manifest, RoleManifest) else render_organization(manifest)
