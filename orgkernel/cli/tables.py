"""Manifests as tables for a terminal."""

from __future__ import annotations

import textwrap

import click

from orgkernel.cli.columns import TextTable
from orgkernel.cli.output import PLAIN_WIDTH, get_terminal_width, has_colors
from orgkernel.decisions.reasons import Why
from orgkernel.diagnostics.wording import printable
from orgkernel.manifest.sections import build_sections
from orgkernel.manifest.v1 import AgentManifest, OrganizationManifest, RoleManifest

_PLACES = "declared in"
# Minimum width of the columns next to the places.
_MIN_OTHER_COLUMNS = 50


def render_role(manifest: RoleManifest) -> str:
    """A role as one table, one row per item, with its line."""
    title = f"{manifest.role_name} ({manifest.role_id}), {manifest.role_type} of {manifest.org_id}"
    state = f", state version {manifest.state_version}" if manifest.state_version else ""
    return _render_sections(manifest, title, state)


def render_agent(manifest: AgentManifest) -> str:
    """An agent: its status, its roles, and the effective level of each tool."""
    name = f"{manifest.callsign or manifest.agent_id} ({manifest.agent_id})"
    rank = manifest.rank.id if manifest.rank else "no rank"
    title = f"{name}, {rank}, {manifest.lifecycle}, of {manifest.org_id}"
    return _render_sections(manifest, title, f", state version {manifest.state_version}")


def _render_sections(manifest: RoleManifest | AgentManifest, title: str, state: str) -> str:
    home = _find_home(manifest.why)
    table = create_table("", "item", "details", _PLACES)
    sections = build_sections(manifest)
    for section, rows in sections.items():
        label = section
        for item, details, why in rows:
            table.add_row(label, printable(item), printable(details), _render_places(why, home))
            label = ""
    empty = ", ".join(section for section, rows in sections.items() if not rows)
    width = get_terminal_width() or PLAIN_WIDTH
    folded = f"\n{textwrap.fill(f'nothing under: {empty}', width)}\n" if empty else ""
    head = _render_head(title, manifest.description, home)
    return f"{head}{draw(table)}{folded}\nsnapshot {manifest.snapshot}{state}\n"


def render_organization(manifest: OrganizationManifest) -> str:
    """An organization: its roles, then the role for each domain."""
    home = _find_home(manifest.why)
    roles = create_table("role", "type", "reports to", "domains", "plans", "tools")
    for role in manifest.roles:
        superior = role.chain_of_command[0].id if role.chain_of_command else "–"
        roles.add_row(
            role.role_id, role.role_type, superior,
            ", ".join(item.id for item in role.domains) or "–", str(len(role.plans)), str(len(role.tools)),
        )  # fmt: skip
    domains = create_table("domain", "role", _PLACES)
    for domain in manifest.domains:
        domains.add_row(domain.id, domain.role_id or "no role", _render_places(domain.why, home))
    title = f"{manifest.org_name} ({manifest.org_id}), {manifest.count} role{'s' * (manifest.count != 1)}"
    head = _render_head(title, manifest.description, home)
    return f"{head}{draw(roles)}\n{draw(domains)}\nsnapshot {manifest.snapshot}\n"


def _find_home(why: tuple[Why, ...]) -> str:
    """The folder of the organization's file. Places are shown relative to it."""
    return why[0].file.rpartition("/")[0]


def _render_head(title: str, description: str, home: str) -> str:
    places = f"Places are relative to {home}/ unless they begin with another folder." if home else ""
    return "".join(f"{printable(line)}\n" for line in (title, description, places) if line) + "\n"


def create_table(*headings: str) -> TextTable:
    """An empty table with these headings, without lines. A broken path could neither be clicked nor pasted."""
    return TextTable(*headings, whole=_PLACES)


def _render_places(why: tuple[Why, ...], home: str) -> str:
    places = (f"{each.file.removeprefix(f'{home}/')}:{each.line}" for each in why)
    return "\n".join(map(printable, dict.fromkeys(places)))


def draw(table: TextTable) -> str:
    """Draw a table."""
    lines = table.lines(get_terminal_width() or PLAIN_WIDTH, _MIN_OTHER_COLUMNS)
    colors = has_colors()
    return "".join(
        f"{click.style(line, bold=True) if colors and is_heading else line}\n" for line, is_heading in lines
    )
