"""Request an approval for a call, and let the person at the host answer it if there is one.

A request is for this call alone: its action, the digest of its arguments and the documents as they are, once. Who
answers a form is who sits at the host. Only a process that was started with `--approver` takes that for an approval;
all other approvers use their own credential, and the form only waits for it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Literal, NamedTuple

from orgkernel.decisions.access.request import AccessRequest
from orgkernel.decisions.access.tool_input import encode_input
from orgkernel.decisions.evidence.state_records import PermissionRequest, grant_asked_for
from orgkernel.diagnostics.wording import clean, listing, quote
from orgkernel.errors import OrgkernelError
from orgkernel.mcp.explaining import write_question
from orgkernel.mcp.gateway.caller import GatewayCaller
from orgkernel.mcp.words import clean_sentence, write_error
from orgkernel.operations.approvals import describe_missing, find_needs
from orgkernel.operations.asking import file_request_for_call
from orgkernel.operations.call_arguments import CallArgument, describe_arguments
from orgkernel.operations.grantors import find_grantors
from orgkernel.runtime.utc import as_utc

_MAX_ARGUMENTS, _MAX_CHARACTERS = 20, 500
"""How many arguments a form shows, and how much of each."""
FormAnswer = Literal["accept", "decline", "cancel"]
FormAsker = Callable[[str, str], Awaitable[FormAnswer | None]]
"""Asks the person at the host: a message, and the id of the request. None if the host has no forms."""


class ApprovalResult(NamedTuple):
    """The result of requesting an approval."""

    is_given: bool
    """Whether to decide again."""
    text: str
    """Instructions for the caller."""


async def ask_approval(
    caller: GatewayCaller, request: AccessRequest, form_asker: FormAsker
) -> ApprovalResult:
    """Ask for an approval of one call. Raises what `form_asker` raises."""
    if not caller.may("request"):
        return ApprovalResult(False, "no request was made: the credential has no scope `request`")
    try:
        decision = await caller.ask(lambda kernel: kernel.can(caller.org_id, request))
        made = await caller.operate(
            lambda context: file_request_for_call(context, request, decision, org=caller.org_id)
        )
        able = await caller.ask(lambda kernel: find_grantors(kernel, grant_asked_for(made)))
        needed = await caller.operate(lambda context: describe_missing(find_needs(context, made)))
    except OrgkernelError as error:
        return ApprovalResult(False, f"no request was made: {write_error(error)}")
    waiting = _describe_waiting(made, able, needed)
    answer = await form_asker(_build_form(caller, request, made, needed), made.request_id)
    if answer is None or answer == "cancel":
        return ApprovalResult(False, waiting)
    if not caller.approver:
        return ApprovalResult(answer == "accept", waiting)
    try:
        if answer == "accept":
            still_needed = await caller.approve(made.request_id)
            if still_needed:
                return ApprovalResult(False, f"{waiting}\nstill needed: {clean_sentence(still_needed)}")
            return ApprovalResult(True, waiting)
        await caller.deny(made.request_id)
    except OrgkernelError as error:
        return ApprovalResult(
            False, f"{waiting}\n{quote(caller.approver)} cannot answer it: {write_error(error)}"
        )
    return ApprovalResult(False, f"denied: {quote(caller.approver)} has denied request `{made.request_id}`")


def _build_form(caller: GatewayCaller, request: AccessRequest, made: PermissionRequest, needed: str) -> str:
    """Build the message of the form: the call with its arguments, and how to answer."""
    text = f"{clean_sentence(write_question(request))} needs an approval (request {made.request_id}, for this call only, once)."
    text += f" It still needs {clean_sentence(needed)}." if needed else ""
    text += _write_arguments(request)
    if caller.approver:
        return f"{text} Accept to approve it as {caller.approver}, or decline to deny it."
    return f"{text} Approve it with: orgkernel request approve {made.request_id}. Then accept to go on."


def _write_arguments(request: AccessRequest) -> str:
    """The arguments of the call, one in a line, with secrets masked and long values cut."""
    arguments = describe_arguments(encode_input(request.context.input or {}))
    if not arguments:
        return " It has no arguments."
    lines = [f"{clean_sentence(each.name)}: {_cut(each)}" for each in arguments[:_MAX_ARGUMENTS]]
    left_out = len(arguments) - len(lines)
    lines += [f"and {left_out} more arguments, which `orgkernel request show` lists"] if left_out else []
    return "\n" + "\n".join(lines) + "\n"


def _cut(argument: CallArgument) -> str:
    text = clean(argument.value)
    if len(text) > _MAX_CHARACTERS:
        return (
            f"{text[:_MAX_CHARACTERS]} … ({len(text) - _MAX_CHARACTERS + argument.left_out} more characters)"
        )
    return text


def _describe_waiting(made: PermissionRequest, able: tuple[str, ...], needed: str) -> str:
    granted = f"{listing(able)}, or an operator" if able else "an operator"
    return (
        f"request `{made.request_id}` waits for an approval of exactly this call, until {as_utc(made.expires_at)}\n"
        f"{f'approvals needed: {clean_sentence(needed)}{chr(10)}' if needed else ''}"
        f"who can approve it: {granted}, with `orgkernel request approve {made.request_id}`\n"
        "then call again with the same arguments"
    )
