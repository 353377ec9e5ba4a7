"""`orgkernel new`: create an organization from a template, or add a role, a tool or a domain to one."""

from __future__ import annotations

import os

import click

from orgkernel.cli import completing
from orgkernel.cli.opening import add_path_options, open_kernel, org_option
from orgkernel.diagnostics.wording import printable
from orgkernel.documents.records import RoleType
from orgkernel.kernel.names import ACTIVE
from orgkernel.loading.shipped import list_templates
from orgkernel.project.scaffold import add_domain, add_role, add_tool, copy_template
from orgkernel.snapshots.snapshot import OrgSnapshot

# The first character stops click from wrapping the lines.
_EXAMPLES = """\b
Examples:
  orgkernel new my_org --template software_dev --id my_org
  orgkernel new role reviewer --reports-to engineering_xo
  orgkernel new tool jira
  orgkernel new domain translation
"""
_PARTS = ("role", "tool", "domain")


@click.command("new", epilog=_EXAMPLES)
@click.argument("what", nargs=-1, metavar="DIR | role ID | tool ID | domain ID")
@click.option(
    "--template",
    metavar="NAME",
    shell_complete=completing.complete_templates,
    default="blank",
    show_default=True,
    help="Template to copy.",
)
@click.option(
    "--id",
    "new_id",
    metavar="ORG",
    help="Id of the new organization, and its DIR if none is given.  [default: the id of the template]",
)
@org_option
@click.option(
    "--type", "role_type", type=click.Choice(["specialist", "executive", "commander"]), default="specialist",
    show_default=True, help="Type of the role.",
)  # fmt: skip
@click.option(
    "--reports-to",
    metavar="ROLE",
    shell_complete=completing.roles,
    help="Superior of the role.  [default: the root of the organization]",
)
@add_path_options
def command(
    what: tuple[str, ...], template: str, new_id: str | None, org: str, role_type: RoleType,
    reports_to: str | None, paths: tuple[str, ...],
) -> None:  # fmt: skip
    """Create an organization from a template in DIR, or add a role, a tool or a domain to an organization."""
    if len(what) == 2 and what[0] in _PARTS:
        # Without the name, so that a template is never taken in place of an organization that is not here.
        organization = open_kernel(paths, ACTIVE).latest(org)
        if what[0] == "role":
            _create_role(organization, what[1], role_type, reports_to)
        else:
            _create_entry(organization, *what)
    elif len(what) == 1 and what[0] not in _PARTS:
        _create_organization(what[0], template, new_id)
    elif not what and new_id:
        _create_organization(new_id, template, new_id)
    else:
        part = what[0] if what and what[0] in _PARTS else "role"
        raise click.UsageError(f"`orgkernel new` needs DIR, or an ID as in `orgkernel new {part} ID`")


def _create_organization(folder: str, template: str, new_id: str | None) -> None:
    for name in copy_template(template, folder, new_id):
        click.echo(os.path.join(folder, name))
    others = ", ".join(name for name in list_templates() if name != template)
    click.echo(f"\ncopied template {template} (others: {others}); next:", err=True)
    click.echo(f"  orgkernel check {folder}\n  orgkernel graph --path {folder}", err=True)


def _create_role(
    organization: OrgSnapshot, role_id: str, role_type: RoleType, reports_to: str | None
) -> None:
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


def _create_entry(organization: OrgSnapshot, what: str, entry_id: str) -> None:
    add, where = {"tool": (add_tool, "tools_primary"), "domain": (add_domain, "bst_domains")}[what]
    click.echo(os.path.relpath(add(organization, entry_id)))
    click.echo(
        f"{organization.org_id} now declares the {what}; edit the file, and add `{entry_id}` to the `{where}` of a role",
        err=True,
    )
