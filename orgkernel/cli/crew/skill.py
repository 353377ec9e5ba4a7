"""`orgkernel skill`: cognitive skills, their instructions and the files in their folders."""

from __future__ import annotations

import base64
from collections.abc import Iterator

import click

from orgkernel.cli import completing
from orgkernel.cli.groups import CommandGroup
from orgkernel.cli.opening import add_path_options, cache_option, format_option, org_option, with_options
from orgkernel.cli.output import echo_answer, join_lines, list_places, render_reasons
from orgkernel.cli.stores import open_with_state, store_option
from orgkernel.decisions.work.capability.proposals import Proposals
from orgkernel.decisions.work.capability.skills import SkillList
from orgkernel.kernel.capability import SkillDisclosed, SkillResource


@click.group("skill", cls=CommandGroup)
def command() -> None:
    """List and show cognitive skills: SKILL.md files by the Agent Skills standard."""


_subject_option = click.option(
    "--subject",
    required=True,
    metavar="SUBJECT",
    shell_complete=completing.subjects,
    help="Who asks: `role:ID` or `agent:ID`.",
)
_where = with_options(org_option, add_path_options, store_option, cache_option, format_option("text", "json"))


@command.command("list", short_help="List the skills a subject sees, and why others are hidden.")
@_subject_option
@_where
def list_command(
    subject: str, org: str, paths: tuple[str, ...], store: str | None, no_cache: bool, form: str
) -> None:
    """List the skills that SUBJECT sees, with their descriptions, and why others are withheld.

    Exits 0 if SUBJECT sees a skill, 1 if not, 2 if the command cannot run.
    """
    skill_list = open_with_state(paths, org, store, no_cache=no_cache).cognitive_skills(org, subject)
    echo_answer(form, skill_list, lambda: join_lines(_render_skill_list(skill_list)))
    raise click.exceptions.Exit(int(not skill_list.skills))


@command.command("show", short_help="Show the instructions of a skill, and the files in its folder.")
@click.argument("name", shell_complete=completing.skills)
@_subject_option
@click.option("--resource", metavar="PATH", help="Show this file from the skill's folder instead.")
@_where
def show(
    name: str,
    subject: str,
    resource: str | None,
    org: str,
    paths: tuple[str, ...],
    store: str | None,
    no_cache: bool,
    form: str,
) -> None:
    """Show the instructions of the skill NAME, if SUBJECT may activate it, and the files in its folder.

    Exits 0 if the skill is shown, 1 if it is withheld, 2 if it cannot run.
    """
    kernel = open_with_state(paths, org, store, no_cache=no_cache)
    if resource is None:
        skill_page = kernel.cognitive_skill(org, subject, name)
        outcome = skill_page.activation.outcome
        echo_answer(form, skill_page, lambda: join_lines(_render_skill(skill_page)))
    else:
        file = kernel.skill_resource(org, subject, name, resource)
        outcome = file.outcome
        echo_answer(form, file, lambda: join_lines(_render_content(file)))
    raise click.exceptions.Exit(int(outcome == "deny"))


@command.command("proposals", short_help="List the skills that a procedure could replace, and why.")
@_where
def proposals(org: str, paths: tuple[str, ...], store: str | None, no_cache: bool, form: str) -> None:
    """List the skills that succeeded so often that a procedure could do their work, with the evidence.

    A proposal changes nothing by itself. Exits 0 if there is one, 1 if there is none, 2 if it cannot run.
    """
    skill_proposals = open_with_state(paths, org, store, no_cache=no_cache).proposals(org)
    echo_answer(form, skill_proposals, lambda: join_lines(_render_proposals(skill_proposals)))
    raise click.exceptions.Exit(int(not skill_proposals.proposals))


def _render_proposals(skill_proposals: Proposals) -> Iterator[str]:
    share = f"{skill_proposals.min_success_rate:.0%}"
    yield f"a proposal needs {skill_proposals.min_successes} successes, and {share} of all outcomes must be successes"
    for each in skill_proposals.proposals:
        yield f"{each.skill}: {each.text}"
        yield from list_places(each.why)
        for agent in each.agents:
            yield f"  {agent.agent}  {agent.successes} successes, {agent.failures} failures"


def _render_skill_list(skill_list: SkillList) -> Iterator[str]:
    yield from render_reasons(skill_list.reasons)
    for card in skill_list.skills:
        yield f"{card.name}  {card.description}"
    for withheld in skill_list.withheld:
        yield f"not {withheld.name}:"
        yield from render_reasons(withheld.reasons)


def _render_skill(skill_page: SkillDisclosed) -> Iterator[str]:
    activation = skill_page.activation
    if activation.card is None:
        yield f"deny: skill {activation.name} for {activation.subject}"
        yield from render_reasons(activation.reasons)
        return
    yield from activation.body.splitlines()
    if skill_page.resources:
        yield ""
        yield from (f"file {each.path} ({each.size} bytes)" for each in skill_page.resources)


def _render_content(file: SkillResource) -> Iterator[str]:
    if file.outcome == "deny":
        yield f"deny: {file.path} of skill {file.name} for {file.subject}"
        yield from render_reasons(file.reasons)
        return
    text = file.content if file.encoding == "utf-8" else f"{len(base64.b64decode(file.content))} bytes"
    yield from text.splitlines()
