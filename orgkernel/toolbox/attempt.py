"""One attempt to use one tool: decide, lock, permit, call and record. Every outcome is a step, never an exception."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec

from orgkernel.decisions.access.decision import AccessDecision
from orgkernel.decisions.access.request import AccessRequest
from orgkernel.decisions.access.tool_input import add_input, encode_input
from orgkernel.decisions.evidence.state_view import ToolLock
from orgkernel.decisions.members.tool_use import WHOLE_TOOL
from orgkernel.decisions.reasons import Why
from orgkernel.documents.records import Tool
from orgkernel.errors import Conflict, OrgkernelError, StoreBusy, StoreError
from orgkernel.operations.permits import Ruling, note_found_expired, record_use, settle_call
from orgkernel.operations.waiting import await_in_time, await_write, run_in_store_thread
from orgkernel.toolbox import result as codes
from orgkernel.toolbox.adapters.adapter import Adapter, Call, Reply
from orgkernel.toolbox.masking import TooDeep, mask_values
from orgkernel.toolbox.parts import Parts
from orgkernel.toolbox.result import Step, StepKind, StepOutcome

if TYPE_CHECKING:
    from orgkernel.kernel.stored import PendingWrite, Store

logger = logging.getLogger("orgkernel.toolbox")
_HANDED_OUT = "credential:"
GRACE = 0.5
"""Seconds that a canceled call has to clean up before the caller continues."""
_CODES = {"done": "", "failed": codes.TOOL_FAILED, "unavailable": codes.TOOL_UNAVAILABLE}


@dataclass(frozen=True, slots=True)
class ToolRequest:
    """A requested use of a tool: action, input, subject and circumstances."""

    org: str
    request: AccessRequest
    """Subject and circumstances. Action, resource and input follow from the other fields."""
    tool_id: str
    action: str
    tool_input: Mapping[str, Any]
    timeout: float | None
    kind: StepKind = "tool"
    why: tuple[Why, ...] = ()


@dataclass(frozen=True, slots=True)
class Attempt:
    """The outcome, and the output if there is one."""

    step: Step
    output: Any = None
    may_have_happened: bool = False
    """Whether the call may have changed something although it failed."""


async def attempt(parts: Parts, tool_request: ToolRequest) -> Attempt:
    """Try a tool once."""
    started = time.perf_counter()
    try:
        current_attempt = await _attempt(parts, tool_request)
    except OrgkernelError as error:
        # Nothing is allowed that cannot be decided or written down.
        current_attempt = Attempt(
            Step(tool_request.kind, f"tool:{tool_request.tool_id}", "unavailable", error.code, error.message)
        )
    step = msgspec.structs.replace(
        current_attempt.step,
        kind=tool_request.kind,
        why=current_attempt.step.why or tool_request.why,
        seconds=time.perf_counter() - started,
    )
    return Attempt(step, current_attempt.output, current_attempt.may_have_happened)


async def _attempt(parts: Parts, tool_request: ToolRequest) -> Attempt:
    who = f"tool:{tool_request.tool_id}"
    tool = parts.tool(tool_request.org, tool_request.tool_id)
    # A tool with one action needs no choice: a request for the whole tool means this action and is decided as such.
    actions = () if tool is None else tuple(tool.required_levels)
    action = actions[0] if len(actions) == 1 and tool_request.action in WHOLE_TOOL else tool_request.action
    if not action and tool is not None and tool.action_argument:
        named = tool_request.tool_input.get(tool.action_argument)
        action = named if isinstance(named, str) else ""
    if actions and not action:
        text = f"`{tool_request.tool_id}` has several actions; choose one of {', '.join(actions)}"
        return Attempt(Step(tool_request.kind, who, "failed", codes.ACTION_NEEDED, text))
    try:
        tool_input = encode_input(tool_request.tool_input)
    except (TypeError, ValueError, RecursionError) as error:
        text = f"the input cannot be written as JSON: {error}"
        return Attempt(Step(tool_request.kind, who, "failed", codes.INPUT_INVALID, text, action))
    request = add_input(tool_request.request, tool_input)
    path = parts.find_path_in(tool_request.org, tool_request.tool_id, request.context.input or {})
    request = msgspec.structs.replace(
        request, action=action or WHOLE_TOOL[1], resource=who if path is None else f"{who}:{path}"
    )
    step, reply = await call_permitted(
        parts,
        PlannedCall(
            tool_request.org,
            request,
            tool_request.tool_id,
            tool,
            tool_input,
            len(actions) == 1,
            parts.adapters.get(tool_request.tool_id),
            tool_request.timeout,
        ),
    )
    # A tool that only reads can be called again after a timeout. For any other, the first call may have had its effect.
    changes = tool is not None and tool.required_levels.get(action) not in ("observe", "read")
    if reply is None:
        return Attempt(step, None, changes and step.outcome == "timeout")
    return Attempt(step, reply.output, changes and reply.is_uncertain)


@dataclass(frozen=True, slots=True)
class PlannedCall:
    """An undecided call."""

    org: str
    request: AccessRequest
    """The context with the input."""
    tool_id: str
    tool: Tool | None
    tool_input: bytes
    is_sole_action: bool
    adapter: Adapter | None
    """The adapter that calls the tool. None if nothing serves it."""
    timeout: float | None
    actor: str = ""
    """The credential of the caller, for the audit."""
    about: Mapping[str, str] | None = None
    """Further audit data of the call."""

    def step(self, outcome: StepOutcome, code: str = "", text: str = "", **details: Any) -> Step:
        """A step for this call."""
        return Step("tool", f"tool:{self.tool_id}", outcome, code, text, self.request.action, **details)


async def call_permitted(parts: Parts, planned: PlannedCall) -> tuple[Step, Reply | None]:
    """Decide, and call the tool if it is allowed. Returns the reply of the tool. Raises `StoreError`."""
    try:
        lock = await _find_lock(parts, planned)
    except Conflict as conflict:
        return planned.step("unavailable", codes.TOOL_LOCKED, conflict.message), None
    threads: list[Future[Any]] = []
    tasks: list[asyncio.Task[Reply]] = []
    good = True
    try:
        # The state in memory is older than the lock: what the previous holder recorded must be part of the decision.
        if lock is not None and parts.is_state_held and parts.store is not None:
            await await_in_time(run_in_store_thread(parts.store.refresh))
        ruling = await _decide(parts, planned, permit=planned.adapter is not None)
        if ruling.decision.outcome != "allow":
            return await asyncio.to_thread(_build_refusal_step, parts, planned, ruling), None
        if planned.adapter is None:
            text = f"nothing serves `{planned.tool_id}` here"
            return planned.step("unavailable", codes.NOTHING_SERVES, text, audit_id=ruling.audit_id), None
        credentials = _hand_out(parts, ruling.decision)
        call = Call(
            planned.request.action, planned.tool_input, planned.org, planned.request.subject, planned.is_sole_action,
            credentials, threads,
        )  # fmt: skip
        # A call in progress holds its slot until it has ended, even if its caller stopped waiting.
        holds = lock is not None or bool(ruling.call_id)
        try:
            step, reply = await _call(parts, planned, planned.adapter, call, ruling, tasks if holds else None)
        finally:
            if ruling.call_id:
                await asyncio.shield(_settle(parts, planned, ruling.call_id, [*threads, *tasks]))
    finally:
        if lock is not None:
            good = await asyncio.shield(_give_back(parts, lock, [*threads, *tasks]))
    if not good:
        # Another holder could have had the tool in the meantime, so the result must report that.
        step = msgspec.structs.replace(step, metadata={**step.metadata, "lock": codes.LOCK_LOST})
    return step, reply


async def _call(
    parts: Parts, planned: PlannedCall, adapter: Adapter, call: Call, ruling: Ruling,
    tasks: list[asyncio.Task[Reply]] | None,
) -> tuple[Step, Reply | None]:  # fmt: skip
    started = time.perf_counter()
    reply = await _run_for(adapter, ruling.permit, call, planned.timeout, tasks)
    seconds = time.perf_counter() - started
    if reply is None:
        text = f"it took longer than {planned.timeout:g} seconds"
        step = planned.step("timeout", codes.TIMEOUT, text, audit_id=ruling.audit_id)
    else:
        reply = _mask_reply(reply, call.credentials)
        step = planned.step(
            reply.outcome, _CODES[reply.outcome], reply.error, metadata=dict(reply.metadata), audit_id=ruling.audit_id
        )  # fmt: skip
    if ruling.row is not None:
        # INVARIANT: nothing is answered before the row of its decision is on the disk.
        step = msgspec.structs.replace(step, audit_id=await await_write(ruling.row))
    if parts.store is not None:
        ended = partial(
            record_use, parts.store, parts.view(planned.org).org_id, planned.request.subject, planned.tool_id,
            call.action, code=step.code, seconds=seconds, decision=step.audit_id,
            is_urgent=not parts.overlaps,
        )  # fmt: skip
        if parts.overlaps:
            # After the answer: the thread that writes would keep it waiting.
            asyncio.get_running_loop().call_soon(_record_after, parts, ended)
            return step, reply
        try:
            await await_write(ended())
        except OrgkernelError as error:  # the tool has run all the same
            step = msgspec.structs.replace(step, metadata={**step.metadata, "unrecorded": error.message})
    return step, reply


def _record_after(parts: Parts, ended: Callable[[], PendingWrite]) -> None:
    try:
        ended().call_when_done(partial(_tell_unrecorded, parts))
    except OrgkernelError as error:
        if parts.unrecorded is not None:
            parts.unrecorded(error.message)


def _tell_unrecorded(parts: Parts, pending: PendingWrite) -> None:
    try:
        pending.result()
    except OrgkernelError as error:
        if parts.unrecorded is not None:
            parts.unrecorded(error.message)


async def _decide(parts: Parts, planned: PlannedCall, *, permit: bool) -> Ruling:
    """Decide, without holding up the event loop."""
    options: dict[str, Any] = {"permit": permit, "actor": planned.actor, "about": planned.about}
    arguments = planned.org, planned.request, planned.tool_input
    tool = planned.tool
    level = None if tool is None else tool.required_levels.get(planned.request.action)
    may_overlap = parts.overlaps and level in ("observe", "read")
    return await parts.permits.decide_soon(
        *arguments, **options, may_overlap=may_overlap, is_held=parts.is_state_held
    )


def _mask_reply(reply: Reply, credentials: Mapping[str, str]) -> Reply:
    """A reply with its credentials masked."""
    try:
        output, text, metadata = mask_values((reply.output, reply.error, dict(reply.metadata)), credentials)
    except TooDeep as error:
        return Reply("failed", error=str(error), is_uncertain=True)
    return Reply(reply.outcome, output, text, metadata, reply.is_uncertain)


def _build_refusal_step(parts: Parts, planned: PlannedCall, ruling: Ruling) -> Step:
    """The step of a decision that does not allow the call, with the missing permissions and who has them."""
    decision = ruling.decision
    if parts.store is not None:
        with contextlib.suppress(StoreError):  # the refusal does not need it
            note_found_expired(parts.store)
    explanation = parts.kernel.why(planned.org, planned.request)
    # The lock is taken after the approval, so a missing lock is not reported before.
    asks = decision.outcome == "ask" or set(decision.codes) == {"LOCKED", "ASK_APPROVAL"}
    code = "ASK_APPROVAL" if asks else decision.code
    reasons = [reason for reason in explanation.reasons if not asks or reason.code == code]
    return planned.step(
        "ask" if asks else "denied", code, "; ".join(reason.text for reason in reasons) or code,
        why=tuple(dict.fromkeys(why for reason in reasons for why in reason.why)),
        audit_id=ruling.audit_id, remedies=tuple(remedy.text for remedy in explanation.remedies),
        who_can=explanation.who_can.subjects, metadata={"codes": list(decision.codes)},
    )  # fmt: skip


def _hand_out(parts: Parts, decision: AccessDecision) -> dict[str, str]:
    """The available values of the credentials that the decision demands."""
    credential_values = {}
    for obligation in decision.obligations:
        if parts.credentials is not None and obligation.startswith(_HANDED_OUT):
            name = obligation.removeprefix(_HANDED_OUT)
            with contextlib.suppress(
                Exception
            ):  # an error of the callback means that the credential is missing
                if value := parts.credentials(name):
                    credential_values[name] = value
    return credential_values


async def _find_lock(parts: Parts, planned: PlannedCall) -> ToolLock | None:
    """Take the lock of an exclusive tool, if only the lock is missing. Raises `Conflict` (`TOOL_LOCKED`).

    Without a store there are no locks, and the decision reports that.
    """
    tool = planned.tool
    if tool is None or tool.concurrency != "exclusive" or parts.exclusive is None:
        return None
    if planned.adapter is None:
        return None
    decision = await await_in_time(run_in_store_thread(parts.kernel.can, planned.org, planned.request))
    if decision.outcome != "allow" and decision.codes != ("LOCKED",):
        return None
    return await await_in_time(
        parts.exclusive.enter_soon(
            parts.view(planned.org).org_id,
            planned.tool_id,
            planned.request.subject,
            tool.lock_timeout_seconds,
        )
    )


async def _give_back(parts: Parts, lock: ToolLock, running: list[Any]) -> bool:
    """Release a lock, at once or when the work under it has ended. Returns whether the lock was valid until now."""
    assert parts.exclusive is not None
    leave = parts.exclusive.leave
    still = [each for each in running if not each.done()]
    if not still:
        try:
            return await await_in_time(run_in_store_thread(leave, lock))
        except StoreBusy:
            return False  # unknown after a timeout; the thread continues and releases the lock
    still[0].add_done_callback(lambda _: threading.Thread(target=leave, args=(lock,), daemon=True).start())
    return True


async def _settle(parts: Parts, planned: PlannedCall, call_id: str, running: list[Any]) -> None:
    """Settle a call in its limits, at once or when the work has ended. If the store fails, the lease ends its slot."""
    assert parts.store is not None
    settle = partial(_settle_now, parts.store, parts.view(planned.org).org_id, call_id)
    still = [each for each in running if not each.done()]
    if still:
        still[0].add_done_callback(lambda _: threading.Thread(target=settle, daemon=True).start())
        return
    with contextlib.suppress(StoreBusy):  # the thread continues and settles the call
        await await_in_time(run_in_store_thread(settle))


def _settle_now(store: Store, org_id: str, call_id: str) -> None:
    try:
        settle_call(store, org_id, call_id)
    except OrgkernelError as error:
        logger.warning("the call %s is not settled: %s", call_id, error.message)


async def _run_for(
    adapter: Adapter,
    permit: object,
    call: Call,
    seconds: float | None,
    tasks: list[asyncio.Task[Reply]] | None,
) -> Reply | None:
    """The reply of a call, or None after a timeout. Raises `PermitRefused`.

    The call is added to `tasks`, because it can still run after a timeout. A call that cannot be canceled is
    abandoned, so the caller continues. A call without a timeout whose end need not be observed runs without its own
    task.
    """
    if seconds is None and tasks is None:
        try:
            return await adapter.run(permit, call)
        except OrgkernelError:
            raise
        except Exception as fault:
            return _build_fault(fault)
    task = asyncio.ensure_future(adapter.run(permit, call))
    if tasks is not None:
        tasks.append(task)
    try:
        done, _ = await asyncio.wait({task}, timeout=seconds)
        if not done:
            task.cancel()
            await asyncio.wait({task}, timeout=GRACE)
            task.add_done_callback(_ignore_error)
            return None
    except asyncio.CancelledError:
        task.cancel()
        task.add_done_callback(_ignore_error)
        raise
    if task.cancelled():
        return Reply("failed", error="the call was cancelled", is_uncertain=True)
    error = task.exception()
    if error is not None and not isinstance(error, OrgkernelError):
        return _build_fault(error)
    return task.result()


def _build_fault(error: BaseException) -> Reply:
    """The reply for an internal error. Its text is for the log only, because it can name parts of the process."""
    logger.error("internal error of orgkernel in a call", exc_info=error)
    text = f"internal error of orgkernel ({type(error).__name__}), which is in the log"
    return Reply("failed", error=text, is_uncertain=True)


def _ignore_error(task: asyncio.Task[Reply]) -> None:
    """Ignore the error of abandoned work."""
    if not task.cancelled():
        task.exception()
