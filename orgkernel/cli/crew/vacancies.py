"""`orgkernel crew vacancies`: the roles that no agent at work fills."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from orgkernel.cli.crew.agent_options import open_agent_question, question_options
from orgkernel.cli.output import echo_answer, join_lines, list_places
from orgkernel.decisions.crew.vacancies import VacancyAnswer


@click.command("vacancies", short_help="List roles that no agent fills, and who could fill them.")
@question_options
def command(form: str, **where: Any) -> None:
    """List the roles that no agent at work fills, who covers for them, and who could fill them."""
    kernel, org = open_agent_question(**where)
    answer = kernel.vacancies(org)
    echo_answer(form, answer, lambda: join_lines(_render_vacancies(answer)))


def _render_vacancies(answer: VacancyAnswer) -> Iterator[str]:
    for each in answer.vacancies:
        cover = f"covered by {each.covered_by}" if each.covered_by else "no role covers for it"
        yield f"{each.role_id}: {each.text}; {cover}"
        yield from list_places(each.why, "    ")
        for candidate in each.candidates:
            lacks = "; ".join(candidate.missing) or "lacks nothing"
            yield f"    {candidate.agent_id}: {lacks}"
    if not answer.vacancies:
        yield f"{answer.org_id} has no vacancies"
