"""`orgkernel grant`, `restriction` and `request`: grant more or allow less than roles and policies do, and request grants."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, get_args

import click

from orgkernel.cli.circumstances import parse_input
from orgkernel.cli.groups import CommandGroup
from orgkernel.cli.opening import add_path_options, cache_option, format_option, with_options
from orgkernel.cli.output import echo_indented
from orgkernel.cli.stores import (
    all_orgs_option,
    change_options,
    echo_record,
    echo_records,
    get_named_organization,
    open_current_store,
    open_declared_kernel,
    open_operation_alone,
    open_operation_here,
    open_question,
    parse_until,
    show_time,
    store_option,
)
from orgkernel.decisions.access.waivers import list_grant
from orgkernel.decisions.evidence.state_records import Approval, PermissionRequest
from orgkernel.decisions.evidence.state_view import ALL_ORGANIZATIONS, Grant, Restriction, Waiver
from orgkernel.diagnostics.wording import printable
from orgkernel.documents.records import LEVELS
from orgkernel.operations.approvals import describe_missing, find_needs
from orgkernel.operations.context import Context
from orgkernel.operations.permissions import (
    GrantDraft,
    RequestDraft,
    RequestInFull,
    RestrictionDraft,
    approve,
    ask,
    deny,
    describe_request,
    issue_grant,
    issue_restriction,
    lift_restriction,
    revoke_grant,
    wake_grant,
)
from orgkernel.operations.widening import Widening

_KINDS = ("access", "command", "action")
_STATES = ("pending", "approved", "denied", "expired")
_SHOWN_OF_DIGEST = len("sha256:") + 12
_Decorator = Callable[[Any], Any]
_org_option = click.option(
    "--org", "org_id", metavar="ORG", help="Organization it is for.  [default: the only or the active one]"
)
_action_option = click.option(
    "--action", metavar="ACTION", help="Only this action. Default: all actions of the level."
)
_digest_option = click.option(
    "--input-digest", metavar="SHA256", help="Only the input with this digest. Default: every input."
)
_snapshot_option = click.option(
    "--snapshot",
    metavar="DIGEST",
    help="Only this version of the documents, by the digest in the field `snapshot` of an answer. Default: every version.",
)


def _issue_options(level: str | None, help: str, *more: _Decorator) -> _Decorator:
    """The options of a command that issues a record. `level` has the given default; `more` come after the level."""
    return with_options(
        click.argument("subject"),
        click.argument("resources", nargs=-1, required=True, metavar="RESOURCE..."),
        click.option("--level", type=click.Choice(LEVELS), default=level, help=help),
        *more,
        _org_option,
        all_orgs_option,
        click.option(
            "--expires", metavar="WHEN", help="When it ends: `30m`, `24h`, `7d`, or a date. Default: never."
        ),
        change_options,
    )


def _list_options(over: str) -> _Decorator:
    """The options of a command that lists records; `over` names the state of records that no longer apply."""
    return with_options(
        click.option("--subject", metavar="SUBJECT", help="Only records of one subject."),
        click.option("--all", "everything", is_flag=True, help=f"Include records that were {over}."),
        store_option,
        format_option("text", "json"),
    )


@click.group("grant", cls=CommandGroup)
def grant() -> None:
    """Grant permissions in addition to those of roles and policies, and revoke them."""


@grant.command("issue", short_help="Grant a subject a permission on resources.")
@_issue_options(
    None,
    "Level to grant. Default: full, or what --action requires.",
    click.option(
        "--waive",
        "waives",
        multiple=True,
        type=click.Choice(get_args(Waiver)),
        help="Ceiling to waive, up to the level of the grant; repeatable.",
    ),
    click.option("--channel", metavar="CHANNEL", help="Channel in which it applies. Default: all."),
    click.option("--session", metavar="SESSION", help="Session in which it applies. Default: all."),
    click.option(
        "--uses",
        type=click.IntRange(1),
        metavar="N",
        help="Number of uses. Default: unlimited.",
    ),
    _action_option,
    _digest_option,
    _snapshot_option,
)
def _issue_grant(**values: Any) -> None:
    """Grant SUBJECT a permission on RESOURCEs, such as `agent:worf tool:browser_agent`.

    The resources must be declared in a document. With `--by`, a role or an agent can grant what its `may_grant`
    names, but never more than it may do itself.
    """
    _issue(issue_grant, GrantDraft, _render_grant, **values)


@grant.command("list")
@_list_options("revoked, used up or have expired")
def _list_grants(subject: str | None, everything: bool, store: str | None, form: str) -> None:
    """List grants, how often they were used, and which are asleep."""
    with open_current_store(store) as state:
        grants = state.grants.list(subject, active_only=not everything)
        uses = state.grants.count_uses()

    def row(each: Any) -> tuple[Any, ...]:
        left = "" if each.uses_left is None else f", {each.uses_left} left"
        used = f"{uses.get(each.grant_id, 0)}{left}"
        until = "asleep" if each.asleep_since is not None else _show_end(each, "revoked")
        resources = " ".join(each.resources) + (f" ({each.lifts})" if each.lifts else "")
        return (
            each.grant_id,
            each.subject,
            each.org_id,
            _render_bound(each),
            until,
            used,
            each.issued_by,
            resources,
        )

    headings = ("grant", "subject", "organization", "level", "until", "used", "by", "resources")
    echo_records(form, tuple(map(list_grant, grants)), headings, row)


@grant.command("wake")
@click.argument("grant_ids", nargs=-1, required=True, metavar="GRANT...")
@_org_option
@all_orgs_option
@change_options
def _wake_grants(
    grant_ids: tuple[str, ...], org_id: str | None, all_orgs: bool, reason: str, form: str, **where: Any
) -> None:
    """Wake GRANTs that are asleep, so they apply again.

    A grant is asleep (suspended) after its subject was removed from the documents. Grants that were stored
    before each grant belonged to an organization are asleep too; they are woken for one organization, or with `--all-orgs` for all.
    """
    org = get_named_organization(org_id, all_orgs)
    with open_operation_here(**where) as context:
        woken = [wake_grant(context, grant_id, org, reason) for grant_id in grant_ids]
    lines = (f"{each.grant_id} is awake and grants {_render_grant_content(each)}" for each in woken)
    echo_record(form, woken[0] if len(woken) == 1 else woken, "\n".join(lines))


@click.group("restriction", cls=CommandGroup)
def restriction() -> None:
    """Restrict what roles, policies and grants allow a subject, and lift restrictions again."""


@restriction.command("issue", short_help="Limit what a subject may do with resources.")
@_issue_options("none", "Highest level that remains. Default: `none`, which is no access.")
def _issue_restriction(**values: Any) -> None:
    """Limit SUBJECT to a level of RESOURCEs, such as `agent:worf tool:browser_agent`.

    The subject of `--by` must be a superior of SUBJECT, have a role whose `may_grant` names the tools, or be the owner.
    """
    _issue(issue_restriction, RestrictionDraft, _render_restriction, **values)


@restriction.command("list")
@_list_options("lifted or have expired")
def _list_restrictions(subject: str | None, everything: bool, store: str | None, form: str) -> None:
    """List restrictions."""
    with open_current_store(store) as state:
        restrictions = state.restrictions.list(subject, active_only=not everything)

    def row(each: Any) -> tuple[Any, ...]:
        until = _show_end(each, "lifted")
        what = " ".join(each.resources)
        return each.restriction_id, each.subject, each.org_id, each.level, until, each.issued_by, what

    headings = ("restriction", "subject", "organization", "level", "until", "by", "resources")
    echo_records(form, restrictions, headings, row)


def _issue(
    issue: Callable[[Context, Any], Any], draft: type, say: Callable[[Any], str], *, expires: str | None, actor: str,
    paths: tuple[str, ...], store: str | None, no_cache: bool, form: str, org_id: str | None, all_orgs: bool,
    **values: Any,
) -> None:  # fmt: skip
    until, org = parse_until(expires), get_named_organization(org_id, all_orgs)
    with open_operation_here(actor, paths, store, no_cache, create=True) as context:
        made = issue(context, draft(expires_at=until, org_id=org, **values))
    echo_record(form, made, say(made))


def _render_grant(grant: Grant) -> str:
    return f"{grant.grant_id} gives {_render_grant_content(grant)}"


def _render_restriction(restriction: Restriction) -> str:
    where, what = _render_organization(restriction.org_id), ", ".join(restriction.resources)
    level = restriction.level
    return f"{restriction.restriction_id} limits {restriction.subject} to level {level} of {what} {where}"


def _render_grant_content(grant: Grant) -> str:
    """A grant in words: level, resources, subject and organization."""
    what = ", ".join(grant.resources)
    return f"{grant.subject} level {_render_level(grant)} of {what} {_render_organization(grant.org_id)}"


def _render_level(record: Grant | PermissionRequest) -> str:
    """The level, and the waived ceilings."""
    waives = f" (waiving {', '.join(record.waives)})" if record.waives else ""
    return f"{_render_bound(record)}{waives}"


def _render_bound(record: Grant | PermissionRequest) -> str:
    """The level, and the only action, input or version of the documents it is for."""
    action = "" if record.action is None else f" for {record.action}"
    one = "" if record.input_digest is None else " with one input"
    version = "" if record.snapshot is None else f" at {record.snapshot[:_SHOWN_OF_DIGEST]}"
    return f"{record.level}{action}{one}{version}"


def _render_organization(org_id: str | None) -> str:
    return "in all organizations" if org_id == ALL_ORGANIZATIONS else f"in {org_id}"


def _add_ending(
    group: click.Group, name: str, done: str, end: Callable[[Context, str, str], Any], help: str
) -> None:
    """Add the command that ends a grant, a restriction or a request."""

    @group.command(name, help=help)
    @click.argument("record_id", metavar=str(group.name).upper())
    @change_options
    def command(record_id: str, reason: str, form: str, **where: Any) -> None:
        with open_operation_alone(**where) as context:
            ended = end(context, record_id, reason)
        echo_record(form, ended, f"{record_id} {done}")


_add_ending(grant, "revoke", "revoked", revoke_grant, "Revoke a grant; its history stays.")
_add_ending(restriction, "lift", "lifted", lift_restriction, "Lift a restriction; its history stays.")


def _show_end(record: Any, ended: str) -> str:
    """The end of a record: when it expires, or when it `ended`."""
    return f"{ended} {show_time(record.revoked_at)}" if record.revoked_at else show_time(record.expires_at)


@click.group("request", cls=CommandGroup)
def request() -> None:
    """Ask for a permission, and answer such requests."""


@request.command("create")
@click.argument("requester", metavar="SUBJECT")
@click.argument("resources", nargs=-1, required=True, metavar="RESOURCE...")
@click.option(
    "--kind", type=click.Choice(_KINDS), default="access", show_default=True,
    help="Decides when the request expires: `access` after 24 h, `command` after 2 min, `action` after 1 h.",
)  # fmt: skip
@click.option(
    "--level", type=click.Choice(LEVELS), help="Level to request. Default: full, or what --action requires."
)
@click.option(
    "--waive",
    "waives",
    multiple=True,
    type=click.Choice(get_args(Waiver)),
    help="Ceiling to waive; repeatable.",
)
@_action_option
@click.option(
    "--input",
    "input_json",
    default="",
    metavar="JSON",
    help="Only this input of the tool, which approvers see until the request ends.",
)
@_digest_option
@_snapshot_option
@_org_option
@all_orgs_option
@change_options
def _create_request(
    actor: str, paths: tuple[str, ...], store: str | None, no_cache: bool, form: str, org_id: str | None, all_orgs: bool,
    input_json: str, **draft: Any,
) -> None:  # fmt: skip
    """Request a permission on RESOURCEs in the name of SUBJECT. The resources must be declared in a document.

    An agent (`--by`) can request permissions only for itself.
    """
    org = get_named_organization(org_id, all_orgs)
    with open_operation_here(actor, paths, store, no_cache, create=True) as context:
        new_request = ask(context, RequestDraft(org_id=org, input=parse_input(input_json), **draft))
    until = show_time(new_request.expires_at)
    echo_record(form, new_request, f"{new_request.request_id} is pending until {until}")


@request.command("show", short_help="Show a request, its call, and what granting it would change.")
@click.argument("request_id", metavar="REQUEST")
@click.option(
    "--full", is_flag=True, help="Show the arguments without masking secrets or cutting long values."
)
@add_path_options
@store_option
@cache_option
@format_option("text", "json")
def _show_request(
    request_id: str, full: bool, paths: tuple[str, ...], store: str | None, no_cache: bool, form: str
) -> None:
    """Show a request, the arguments of the call that it is for, and what granting it would change for the requester.

    The arguments are kept until the request is answered or expires.
    """
    with open_question(store, open_declared_kernel(paths, no_cache=no_cache)) as context:
        full_request = describe_request(context, request_id, arguments="full" if full else "masked")
    if form == "json":
        echo_indented(full_request)
        return
    record = full_request.request
    lines = [
        f"{record.request_id}: {record.requester} asks for level {_render_level(record)} of {', '.join(record.resources)} {_render_organization(record.org_id)}",
        f"status: {record.status}, until {show_time(record.expires_at)}",
        f"reason: {record.reason or 'none given'}",
        *_render_answer(record),
        *_render_approvals(full_request),
        *_render_arguments(full_request),
        f"can be approved by: {', '.join((*full_request.grantors, 'an operator'))}",
        "granting it would change:" if full_request.widens else "granting it would change nothing",
        *(f"  {_render_change(each)}" for each in full_request.widens),
    ]
    for line in lines:
        click.echo(printable(line))


def _render_answer(record: PermissionRequest) -> Iterator[str]:
    if record.responder is not None:
        words = f": {record.response_reason}" if record.response_reason else ""
        yield f"answer: {record.response} by {record.responder}, {show_time(record.response_at)}{words}"


def _render_approvals(full_request: RequestInFull) -> Iterator[str]:
    """The approvals so far, and what each policy still requires."""
    for each in full_request.request.approvals:
        words = f": {each.reason}" if each.reason else ""
        yield f"approved {each.approval} by {each.approver}, {show_time(each.at)}{words}"
    for need in full_request.needs:
        by = f" of {', '.join(need.by)}" if need.by else ""
        text = f"policy {need.policy} requires {need.count} approver{'s' * (need.count != 1)}{by}"
        yield f"{text} ({need.file}:{need.line}): {need.missing} still needed"


def _render_arguments(full_request: RequestInFull) -> Iterator[str]:
    """The arguments of the call, each value with its own lines."""
    if full_request.arguments_state == "not_kept":
        if full_request.request.input_digest is not None:
            yield "arguments: not kept, because the request has ended or its input is very long"
        return
    yield "arguments:" if full_request.arguments else "arguments: none"
    for each in full_request.arguments:
        first, *more = each.value.split("\n")
        notes = [f"{each.left_out:,} more characters"] if each.left_out else []
        notes += ["masked"] if each.is_masked else []
        note = f"  ({', '.join(notes)}; `--full` shows everything)" if notes else ""
        if more:
            yield f"  {each.name}:{note}"
            yield from (f"    {line}" for line in (first, *more))
        else:
            yield f"  {each.name}: {first}{note}"


def _render_change(widening: Widening) -> str:
    before = f"{widening.outcome_before}, level {widening.level_before}"
    after = f"{widening.outcome_after}, level {widening.level_after}"
    return f"{widening.org_id}: {widening.action} {widening.resource}: from {before} to {after}"


@request.command("approve")
@click.argument("request_id", metavar="REQUEST")
@click.argument("approval", type=click.Choice(("once", "day", "always")), default="once")
@change_options
def _approve_request(request_id: str, approval: Approval, reason: str, form: str, **where: Any) -> None:
    """Approve a request: once (the default), for a day, or always.

    Approving is granting: with `--by`, a role or an agent can approve what its `may_grant` names, but never more
    than it may do itself. Where policies require several approvals, the grant comes with the last of them.
    """
    with open_operation_here(**where) as context:
        approved, given = approve(context, request_id, approval, reason)
        missing = "" if given else describe_missing(find_needs(context, approved))
    if given is None:
        text = f"{request_id} has {_count_approvals(approved)}; it still needs {missing}, until {show_time(approved.expires_at)}"
        echo_record(form, approved, text)
    else:
        echo_record(form, approved, f"{request_id} approved {approved.response}: {_render_grant(given)}")


def _count_approvals(record: PermissionRequest) -> str:
    count = len(record.approvals)
    return f"{count} approval{'s' * (count != 1)}"


_add_ending(request, "deny", "denied", deny, "Deny a request.")


def _render_status(record: PermissionRequest) -> str:
    """The state, and for a pending request the approvals so far."""
    is_partly = record.status == "pending" and record.approvals
    return f"pending, {_count_approvals(record)}" if is_partly else record.status


@request.command("list")
@click.option("--status", type=click.Choice(_STATES), help="Only requests in this state.")
@click.option("--subject", metavar="SUBJECT", help="Only requests of one requester.")
@store_option
@format_option("text", "json")
def _list_requests(status: str | None, subject: str | None, store: str | None, form: str) -> None:
    """List requests, oldest first."""
    with open_current_store(store) as state:
        requests = state.requests.list(status, subject)  # type: ignore[arg-type]  # click has checked it
    echo_records(
        form,
        requests,
        ("request", "subject", "organization", "status", "until", "grant", "level", "reason", "resources"),
        lambda each: (
            each.request_id, each.requester, each.org_id, _render_status(each), show_time(each.expires_at), each.grant_id,
            _render_level(each), each.reason, " ".join(each.resources),
        ),
    )  # fmt: skip
