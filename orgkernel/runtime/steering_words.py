"""The supervisor's sentences: what happened and what to do, for a reader who does not know PACE.

Text from documents and reports is put on one line and cut. A report comes from another agent, so it is quoted as the
words of that agent and never given as an instruction.

Standard library only: this module also runs inside hosts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from .own_text import fold_to_one_line, strip_own_text
from .pace import PROGRESS, Obligation, PaceDecision
from .tiers import ABORT, ESCALATE, FALLBACK, NORMAL

USER: Final = "user"
"""The superior of a commander: the person who talks to the agent."""
TOOLS_NAMED: Final = 5
_QUOTED: Final = 160
_FULL_ENOUGH: Final = 50
"""Percentage at which the context fill of a report is mentioned."""


class PostInChainOfCommand(NamedTuple):
    """The role that is steered, and its place in the organization."""

    role_id: str
    role_name: str = ""
    reports_to: str | None = None
    can_delegate: bool = False
    tools: tuple[str, ...] = ()
    """Tools of the role by the host's names, in order of preference."""
    subordinates: tuple[str, ...] = ()
    """Roles whose reports this role reads, in addition to those that name it as their superior."""
    names: Mapping[str, str] = MappingProxyType({})
    """Known role names by role id."""

    def get_display_name(self, role_id: str) -> str:
        """The display name of a role: `Engineering XO (engineering_xo)`."""
        name = self.role_name if role_id == self.role_id else self.names.get(role_id, "")
        known = name and name != role_id
        return fold_to_one_line(f"{name} ({role_id})" if known else role_id, _QUOTED)


def say_transition(
    pace: PaceDecision, last_tier: str, post: PostInChainOfCommand, failing: Sequence[str], why: str = ""
) -> tuple[str, ...]:
    """The sentences about the role's own tier. `last_tier` is the tier that the agent was last told about."""
    because = "; ".join(tripped.text for tripped in pace.reasons) or (PROGRESS if pace.progressed else why)
    happened = f"{post.get_display_name(post.role_id)} went from PACE tier {last_tier} to {pace.tier}"
    sentences = [f"{happened}: {because}." if because else f"{happened}."]
    for duty in pace.obligations:
        sentences += _say_duty(duty, post, failing)
        if duty.action != NORMAL:
            sentences.append(f"The role's PACE plan says: {fold_to_one_line(duty.text, _QUOTED)}.")
    return tuple(sentences)


def _say_duty(duty: Obligation, post: PostInChainOfCommand, failing: Sequence[str]) -> list[str]:
    if duty.action == NORMAL:
        return ["Ignore earlier instructions about failures and continue with the task."]
    if duty.action == FALLBACK:
        return _say_fallback(post, failing)
    whom = _name_addressee(duty.to or post.reports_to)
    if duty.action == ESCALATE:
        return [
            "Stop retrying.",
            f"Hand the task over to {_name(whom, post)}: call response and state what failed, what you tried"
            " and what is needed to continue.",
        ]
    assert duty.action == ABORT, duty.action
    return [
        "Stop now and start nothing new.",
        "Preserve the state: save finished work, and note the files you changed and the step you reached.",
        f"Then report to {_name(whom, post)}: call response and state what is done, what is not done and why you stopped.",
    ]


def _say_fallback(post: PostInChainOfCommand, failing: Sequence[str]) -> list[str]:
    bad = [fold_to_one_line(tool, _QUOTED) for tool in dict.fromkeys(failing)][:TOOLS_NAMED]
    others = [tool for tool in post.tools if tool not in failing and tool != "response"]
    sentences = [
        f"Do not repeat the call that failed ({', '.join(bad)})."
        if bad
        else "Do not repeat the call that failed."
    ]
    if others:
        sentences.append(f"Use another of your tools: {', '.join(others[:TOOLS_NAMED])}.")
    sentences.append(
        "If only the same tool can do it, take a smaller step with it and check its input first."
    )
    return sentences


def _name_addressee(to: str | None) -> str:
    return to or USER


def _name(whom: str, post: PostInChainOfCommand) -> str:
    return "the user" if whom == USER else post.get_display_name(whom)


def say_report(report: Mapping[str, Any], tier: str, post: PostInChainOfCommand) -> tuple[str, ...]:
    """The sentences about a subordinate's report that it is in a tier where it needs its superior."""
    unit, activity = _get_part(report, "unit"), _get_part(report, "activity")
    role_id = str(unit.get("role_id"))
    named = unit.get("role_name")
    names = (
        {**post.names, role_id: named} if isinstance(named, str) and role_id not in post.names else post.names
    )
    who = PostInChainOfCommand(post.role_id, post.role_name, names=names).get_display_name(role_id)
    task = activity.get("current_task")
    quoted = fold_to_one_line(strip_own_text(task), _QUOTED) if isinstance(task, str) else ""
    about = f' Its task: "{quoted}".' if quoted else ""
    why = say_measures(report)
    first = f"{who} reports PACE tier {tier}{': ' if why else ''}{why}.{about}"
    if tier == "emergency":
        ways = "It has stopped. Check what it left behind, then decide how to continue the task"
    else:
        ways = "It cannot continue alone. Take over the task, or send what it needs"
    return (first, f"{ways}, or give the task to another role." if post.can_delegate else f"{ways}.")


def say_measures(report: Mapping[str, Any]) -> str:
    """The values of a report that show trouble, in words. Empty if there are none."""
    environment, time = _get_part(report, "environment"), _get_part(report, "time")
    failures = _read_number(environment.get("tool_failures_consecutive"))
    stale = _read_number(time.get("turns_since_progress"))
    fill = _read_number(environment.get("context_fill_pct"))
    words = []
    if failures >= 1:
        words.append(f"{failures:.0f} tool failure{'s' if failures != 1 else ''} in a row")
    if stale >= 1:
        words.append(f"{stale:.0f} turn{'s' if stale != 1 else ''} without progress")
    if fill >= _FULL_ENOUGH:
        words.append(f"context {fill:.0f}% full")
    return ", ".join(words)


def _get_part(report: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    part = report.get(name)
    return part if isinstance(part, Mapping) else {}


def _read_number(value: object) -> float:
    return value if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e9 else 0
