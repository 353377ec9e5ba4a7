"""`orgkernel new`: create an organization from a template, or add a role to one."""

from __future__ import annotations

import os

import click

from orgkernel.cli.opening import open_kernel, path_option
from orgkernel.diagnostics.wording import printable
from orgkernel.project.scaffold import add_role, copy_template
from orgkernel.records.role_profile import RoleType
from orgkernel.snapshots.shipped import template_names

# The first character stops click from wrapping the lines.
_EXAMPLES = """\b
Examples:
  orgkernel new my_org --template software_dev
  orgkernel new role reviewer --org software_dev
"""


@click.command("new", epilog=_EXAMPLES)
@click.argument("what", nargs=-1, required=True, metavar="DIR | role ID")
@click.option("--template", metavar="NAME", default="blank", show_default=True, help="Template to copy.")
@click.option("--org", metavar="ORG", help="Organization to add the role to (required with `role ID`).")
@click.option(
    "--type", "role_type", type=click.Choice(["specialist", "executive", "commander"]), default="specialist",
    show_default=True, help="Type of the role.",
)  # fmt: skip
@click.option(
    "--reports-to", metavar="ROLE", help="Superior of the role.  [default: the root of the organization]"
)
@path_option
def command(
    what: tuple[str, ...], template: str, org: str | None, role_type: RoleType, reports_to: str | None,
    paths: tuple[str, ...],
) -> None:  # fmt: skip
    """Create an organization from a template in DIR, or add a role to an organization."""
    if what[0] == "role" and len(what) == 2:
        if org is None:
            raise click.UsageError("--org is missing: name the organization to add the role to")
        _new_role(what[1], org, role_type, reports_to, paths)
    elif len(what) == 1 and what[0] != "role":
        _new_organization(what[0], template)
    else:
        raise click.UsageError("write `orgkernel new DIR` or `orgkernel new role ID --org ORG`")


def _new_organization(folder: str, template: str) -> None:
    for name in copy_template(template, folder):
        click.echo(os.path.join(folder, name))
    others = ", ".join(name for name in template_names() if name != template)
    click.echo(f"\ncopied template {template} (others: {others}); next:", err=True)
    click.echo(f"  orgkernel check {folder}\n  orgkernel graph --org {template} --path {folder}", err=True)


def _new_role(
    role_id: str, org: str, role_type: RoleType, reports_to: str | None, paths: tuple[str, ...]
) -> None:
    organization = open_kernel(paths).latest(org)
    role = add_role(organization, role_id, role_type, reports_to)
    click.echo(os.path.relpath(role.path))
    if role.included:
        click.echo(
            f"{organization.org_id} now includes the role; edit the file, then run `orgkernel check`",
            err=True,
        )
    else:
        file = organization.records.document.name
        click.echo(f"add it under `hierarchy` in {printable(file)}: `{role_id}: {{}}`", err=True)
