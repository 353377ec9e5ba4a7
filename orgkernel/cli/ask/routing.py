"""`orgkernel routing`: do an organization's own examples and triggers lead to their roles?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from orgkernel.cli.groups import CommandGroup
from orgkernel.cli.opening import add_path_options, cache_option, format_option, open_kernel, org_option
from orgkernel.cli.output import echo_answer
from orgkernel.decisions.dispatch.routing_report import RoutedSentence, RoutingReport
from orgkernel.runtime.progress import show_stage

_SHOWN = 10


@click.group("routing", cls=CommandGroup)
def command() -> None:
    """Show how sentences find their roles."""


@command.command("report", short_help="Report which declared sentences miss their role.")
@org_option
@add_path_options
@click.option("--all", "show_all", is_flag=True, help="List all sentences and pairs, not only ten of each.")
@cache_option
@format_option("text", "json")
def report(org: str, show_all: bool, form: str, **where: Any) -> None:
    """Ask every declared example and trigger as a sentence, and list those that their role does not take, and the roles
    that sentences confuse.
    """
    kernel = open_kernel(org=org, **where)
    with show_stage("routing the examples and triggers"):
        answer = kernel.report_routing(org)
    echo_answer(form, answer, lambda: "\n".join(_list_lines(answer, None if show_all else _SHOWN)))


def _list_lines(answer: RoutingReport, most: int | None) -> Iterator[str]:
    yield f"{answer.org_id}: {answer.examples_right} of {answer.examples} examples lead to their role"
    yield f"  {answer.triggers_right} of {answer.triggers} triggers lead to the role of their domain"
    yield (
        f"  of {answer.similar} examples, asked as if they were not declared, {answer.similar_right} lead to their role "
        f"and {answer.similar_wrong} to another"
    )
    yield f"  an embedding model {'takes part' if answer.uses_meaning else 'does not take part'}"
    yield from _list_sentences("not taken by their role:", answer.misrouted, most)
    yield from _list_sentences("another role takes similar sentences:", answer.unsure, most)
    if answer.pairs:
        yield "roles that sentences confuse:"
    for pair in answer.pairs[:most]:
        yield f"  {pair.first} and {pair.second}: {pair.count}"
        for role_id, words in ((pair.first, pair.words_of_first), (pair.second, pair.words_of_second)):
            listed = ", ".join(words) or "none; declare examples or triggers that only this role has"
            yield f"      words of {role_id} alone: {listed}"
    if most is not None and len(answer.pairs) > most:
        yield f"  and {len(answer.pairs) - most} more: `--all` lists them"


def _list_sentences(heading: str, sentences: tuple[RoutedSentence, ...], most: int | None) -> Iterator[str]:
    if not sentences:
        return
    yield heading
    for each in sentences[:most]:
        yield f"  {each.kind} of {each.role_id}: {each.text} → {each.taker or 'no role'} ({', '.join(each.shortlist)})"
        yield from (f"      {why.file}:{why.line}" for why in each.why)
    if most is not None and len(sentences) > most:
        yield f"  and {len(sentences) - most} more: `--all` lists them"
