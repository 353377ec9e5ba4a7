"""`orgkernel policy`: list policies, and show what a policy changes for whom."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import click

from orgkernel.cli import completing
from orgkernel.cli.circumstances import context_option, parse_context
from orgkernel.cli.groups import CommandGroup
from orgkernel.cli.opening import add_path_options, cache_option, format_option, org_option, with_options
from orgkernel.cli.output import echo_answer, join_lines
from orgkernel.cli.stores import echo_records, open_with_state, store_option
from orgkernel.decisions.access.policy_effect import PolicyAnswer, PolicyChange, PolicyExplanation

_MAX_SHOWN = 8
"""The number of names in a line of text. JSON has all of them."""
_where = with_options(org_option, add_path_options, store_option, cache_option, format_option("text", "json"))


@click.group("policy", cls=CommandGroup)
def command() -> None:
    """List policies, and show what a policy changes for whom."""


@command.command("list")
@_where
def list_(org: str, form: str, **where: Any) -> None:
    """List the policies of an organization, by priority."""
    policies = open_with_state(org=org, **where).access(org).list_policies()
    echo_records(
        form,
        policies,
        ("policy", "effect", "enabled", "declared in"),
        lambda policy: (
            policy.policy, policy.effect, "yes" if policy.enabled else "no", f"{policy.why.file}:{policy.why.line}",
        ),
    )  # fmt: skip


@command.command("explain", short_help="Show what a policy changes now, for whom.")
@click.argument("policy", shell_complete=completing.policies)
@context_option
@_where
def explain(policy: str, context_json: str, org: str, form: str, **where: Any) -> None:
    """Show the subjects that POLICY matches, and each answer that would be another one without it.

    The answers are those of `orgkernel what-can`, with the stored state, now. Exits 0, or 2 if it cannot run.
    """
    kernel = open_with_state(org=org, **where)
    explanation = kernel.explain_policy(org, policy, parse_context(context_json))
    echo_answer(form, explanation, lambda: join_lines(_render_lines(explanation)))


def _render_lines(explanation: PolicyExplanation) -> Iterator[str]:
    policy = explanation.policy
    yield f"{policy.policy}: {policy.effect}" + ("" if policy.enabled else ", not enabled")
    yield f"      {policy.why.file}:{policy.why.line}"
    if policy.description:
        yield f"  {policy.description}"
    if not policy.enabled:
        return
    yield f"  matches {_name_all(explanation.subjects) or 'no declared subject'}"
    groups: dict[tuple[tuple[str, ...], str], list[str]] = {}
    for change in explanation.changes:
        groups.setdefault((change.subjects, _describe_change(change)), []).append(change.resource)
    for (subjects, text), resources in groups.items():
        yield f"  {_name_all(subjects)}: {_name_all(tuple(dict.fromkeys(resources)))}"
        yield f"      {text}"
    if explanation.unaffected:
        yield f"  changes no answer for {_name_all(explanation.unaffected)}"
    if policy.effect == "annotate":
        yield "  sets how messages are handled: see `orgkernel what-can SUBJECT --envelope`"


def _describe_change(change: PolicyChange) -> str:
    """Both answers, with the conditions that only one of them has."""
    now, without = change.now, change.without
    return f"{_describe(now, without)} (without the policy: {_describe(without, now)})"


def _describe(answer: PolicyAnswer, other: PolicyAnswer) -> str:
    conditions = [each for each in answer.conditions if each not in other.conditions]
    text = answer.outcome + (f", depends on {', '.join(conditions)}" if conditions else "")
    if answer.at_best not in (other.at_best, answer.outcome):
        text += f", at best {answer.at_best}"
    if answer.at_worst not in (other.at_worst, answer.outcome):
        text += f", at worst {answer.at_worst}"
    return text


def _name_all(names: Sequence[str]) -> str:
    more = len(names) - _MAX_SHOWN
    return ", ".join(names[:_MAX_SHOWN]) + (f" and {more} more" if more > 0 else "")
