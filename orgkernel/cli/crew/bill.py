"""`orgkernel bill`: show procedures of several roles, propose who takes their bill roles, and list the next steps."""

from __future__ import annotations

from typing import Any

import click
import msgspec

from orgkernel.cli import completing
from orgkernel.cli.groups import CommandGroup
from orgkernel.cli.opening import add_path_options, cache_option, format_option, org_option, with_options
from orgkernel.cli.output import echo_answer, format_count, join_lines, list_places, render_reasons
from orgkernel.cli.stores import as_of_option, open_with_state, store_option
from orgkernel.decisions.work.bills.instance import BillAssignment, BillInstance, NextSteps
from orgkernel.diagnostics.validation_text import describe_unfit
from orgkernel.errors import UsageError
from orgkernel.manifest.bills import BillList, BillPage
from orgkernel.prepared_types import prepared

_EXAMPLE = 'write `{"activated_by": "agent:ID", "assignments": {"BILL_ROLE": ["AGENT"]}, "steps": {}}`'
_bill_argument = click.argument("bill", shell_complete=completing.bills)
_where = with_options(
    org_option, add_path_options, as_of_option, store_option, cache_option, format_option("text", "json")
)


@click.group("bill", cls=CommandGroup)
def command() -> None:
    """Show procedures of several roles, and decide who can take their bill roles and which steps may start.

    The kernel does not run them, and stores nothing about them.
    """


@command.command("list")
@_where
def list_(org: str, form: str, **where: Any) -> None:
    """List the bills of an organization."""
    bill_list = open_with_state(org=org, **where).bills(org)
    echo_answer(form, bill_list, lambda: _render_list(bill_list))


@command.command("show")
@_bill_argument
@_where
def show(bill: str, org: str, form: str, **where: Any) -> None:
    """Show the bill roles and the steps of BILL, and who may start it."""
    page = open_with_state(org=org, **where).bill(org, bill)
    echo_answer(form, page, lambda: _render_page(page))


@command.command("check", short_help="Check a bill, and whether the crew can take its roles.")
@_bill_argument
@_where
def check(bill: str, org: str, form: str, **where: Any) -> None:
    """Check the rules of BILL, and whether the current crew can take its bill roles and do its steps.

    Exits with 1 if not.
    """
    kernel = open_with_state(org=org, **where)
    page, proposal = kernel.bill(org, bill), kernel.fill_bill(org, bill)
    answer = {"findings": page.findings, "vacancies": proposal.vacancies, "blocked": proposal.blocked}
    echo_answer(form, answer, lambda: _render_check(page, proposal))
    if page.findings or proposal.outcome != "filled":
        click.get_current_context().exit(1)


@command.command("fill", short_help="Propose who takes which role of a bill.")
@_bill_argument
@click.option(
    "--without",
    multiple=True,
    metavar="AGENT",
    shell_complete=completing.agents,
    help="Agent that is not available; repeatable.",
)
@_where
def fill(bill: str, without: tuple[str, ...], org: str, form: str, **where: Any) -> None:
    """Propose who takes which bill role of BILL, from the current crew. This assigns no agent."""
    assignment = open_with_state(org=org, **where).fill_bill(org, bill, without=without)
    echo_answer(form, assignment, lambda: _render_fill(assignment))


@command.command("next", short_help="Say which steps of a bill may start now, and what blocks others.")
@_bill_argument
@click.argument("instance", type=click.File("rb"), default="-")
@_where
def next_(bill: str, instance: Any, org: str, form: str, **where: Any) -> None:
    """Show which steps of BILL may start now, what accompanies them, and what blocks the others.

    INSTANCE is a JSON file with the steps done so far; `-` reads it from standard input.
    """
    bill_instance = _parse(bill, instance.read())
    next_steps = open_with_state(org=org, **where).next_steps(org, bill_instance)
    echo_answer(form, next_steps, lambda: _render_next(next_steps))


def _parse(bill: str, text: bytes) -> BillInstance:
    try:
        fields = msgspec.json.decode(text)
        if not isinstance(fields, dict):
            raise UsageError("the instance is not a JSON object", _EXAMPLE)
        if fields.setdefault("bill", bill) != bill:
            raise UsageError(
                f"the instance does not belong to bill `{bill}`", "name the bill that it belongs to"
            )
        return msgspec.convert(fields, prepared(BillInstance))
    except msgspec.ValidationError as error:
        message, place = describe_unfit(error)
        where = f" at `{place.removeprefix('.')}`" if place else ""
        raise UsageError(f"the instance does not fit{where}: {message}", _EXAMPLE) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise UsageError("the instance is not JSON", _EXAMPLE) from None


def _render_list(bill_list: BillList) -> str:
    from orgkernel.cli.tables import create_table, draw

    table = create_table("bill", "version", "title", "trigger", "bill roles", "steps", "file")
    for each in bill_list.bills:
        table.add_row(
            each.bill,
            each.version,
            each.title,
            each.trigger,
            str(each.bill_roles),
            str(each.steps),
            each.file,
        )
    return draw(table) if bill_list.bills else "no bills\n"


def _render_page(page: BillPage) -> str:
    lines = [f"{page.bill} {page.version}{': ' if page.title else ''}{page.title}"]
    if page.description:
        lines.append(f"  {page.description}")
    by_hand = f"by hand by {', '.join(page.activated_by) or 'the owner'}"
    lines.append(
        f"  started {by_hand}" if page.trigger == "manual" else f"  started by {page.trigger}, or {by_hand}"
    )
    for bill_role in page.bill_roles:
        count = (
            str(bill_role.least)
            if bill_role.least == bill_role.most
            else f"{bill_role.least}-{bill_role.most}"
        )
        needs = [bill_role.min_rank and f"{bill_role.min_rank} or above", *bill_role.qualifications]
        needed = f", needs {', '.join(each for each in needs if each)}" if any(needs) else ""
        lines.append(
            f"  bill role {bill_role.bill_role}: {count} of {', '.join(bill_role.roles) or 'no role'}{needed}"
        )
        lines += list_places(bill_role.why)
    for step in page.steps:
        doing = ", ".join(filter(None, (step.role, *step.roles))) or "the owner"
        with_what = step.tool or step.skill or step.channel or step.sub_bill
        lines.append(f"  step {step.id}: {step.action}{f' {with_what}' if with_what else ''} by {doing}")
    lines += [f"  result: {each}" for each in page.expected_results]
    lines += [f"  constraint: {each}" for each in page.constraints]
    return join_lines(lines)


def _render_check(page: BillPage, proposal: BillAssignment) -> str:
    lines = [f"{each.file}:{each.line}: {each.code}: {each.message}" for each in page.findings]
    for each in proposal.vacancies:
        lines += [
            f"bill role {each.bill_role} lacks {format_count(each.missing, 'agent')} now",
            *render_reasons(each.reasons),
        ]
    lines += _render_blocked(proposal)
    return join_lines(
        lines or [f"{page.bill}: no findings, and the crew can take every bill role and do every step now"]
    )


def _render_fill(assignment: BillAssignment) -> str:
    lines = [f"{assignment.bill} → {assignment.outcome}"]
    for filled in assignment.bill_roles:
        others = f" (or {', '.join(filled.others)})" if filled.others else ""
        lines.append(f"  {filled.bill_role}: {', '.join(filled.agents) or 'no agent'}{others}")
    for each in assignment.vacancies:
        lines += [
            f"  {each.bill_role} lacks {format_count(each.missing, 'agent')}",
            *render_reasons(each.reasons),
        ]
    lines += [f"  {line}" for line in _render_blocked(assignment)]
    return join_lines(lines)


def _render_blocked(assignment: BillAssignment) -> list[str]:
    """The steps that no proposed agent can do, with the reasons of each agent."""
    lines: list[str] = []
    for step in assignment.blocked:
        lines += [f"step {step.step} cannot be done now", *render_reasons(step.reasons)]
        for bill_role in step.bill_roles:
            for agent in bill_role.unfit:
                lines += [f"  not {agent.agent}: {reason.text}" for reason in agent.reasons]
    return lines


def _render_next(next_steps: NextSteps) -> str:
    lines = [
        f"{next_steps.bill} → {next_steps.state}, {next_steps.outcome}",
        *render_reasons(next_steps.reasons),
    ]
    for step in next_steps.may_start:
        lines.append(f"  may start {step.step}: {step.name or step.action}")
        lines += [f"    {each.text}" for each in step.obligations]
        lines += [f"    gets {name} = {value!r}" for name, value in step.inputs.items()]
        for bill_role in step.bill_roles:
            for agent in bill_role.unfit:
                lines += [f"    not {agent.agent}: {reason.text}" for reason in agent.reasons]
    for running in next_steps.running:
        lines.append(f"  running {running.step} by {running.by}{', overdue' if running.overdue else ''}")
    for blocked in next_steps.blocked:
        lines.append(f"  blocked {blocked.step}")
        lines += [f"    {reason.text}" for reason in blocked.reasons]
        for bill_role in blocked.bill_roles:
            for agent in bill_role.unfit:
                lines += [f"    not {agent.agent}: {reason.text}" for reason in agent.reasons]
    if next_steps.completed:
        lines.append(f"  completed: {', '.join(next_steps.completed)}")
    if next_steps.skipped:
        lines.append(f"  skipped: {', '.join(next_steps.skipped)}")
    for finding in next_steps.findings:
        lines.append(f"  finding {finding.code}: {finding.text}")
        lines += list_places(finding.why)
    return join_lines(lines)
