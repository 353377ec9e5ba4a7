"""The hooks around a tool call: refuse it, count its result, show a refusal without a trace.

Hosts do not report whether a call failed, so its answer decides. The rules avoid mistakes in both directions. A log
that was read can be full of errors, so only the start and the end of an answer are checked, and a long answer that
merely ends in an error is not a failure. A neighbor that diagnoses tool output decides first.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from . import delegation, effect, gate, host_tools, reading, saying
from .guarding import find_role_in_force, run_guarded
from .memory import KEY, AgentMemory, RoleMemory
from .organization import PIN, Active, find_active, is_pinned
from .runtime import bundle as bundles

_LONG = 30
"""From this number of lines, an answer is treated as regular output, whatever it contains."""
_EDGE = 3
_FAILED = re.compile(
    r"^\s*(?:Traceback \(most recent call last\)|(?:[\w.]+\.)?\w*(?:Error|Exception)\b\s*(?::|$)|error\b|fatal:|ERROR\b|MCP Tool Exception)"
    r"|command not found|No such file or directory|[Pp]ermission denied|[Oo]peration not permitted|[Cc]onnection (?:refused|reset)"
    r"|timed out|[Tt]imeout (?:reached|expired|exceeded)|Could not resolve host|No space left on device|cannot (?:access|open|stat)\b"
    r"|^Tool '.*' not found|(?:^|\s)(?:not found|does not exist)\.?\s*$"
)


def has_failed(agent: Any, message: object) -> bool:
    """Whether the call that returned this answer failed."""
    diagnosis = agent.data.get("_error_diagnosis")
    if isinstance(diagnosis, Mapping) and diagnosis.get("error_class"):
        return True
    if not isinstance(message, str):
        return False
    lines = [line for line in message[:20_000].splitlines() if line.strip()]
    if len(lines) > _LONG:
        return bool(_FAILED.search(lines[0]))
    return any(_FAILED.search(line) for line in (*lines[:_EDGE], *lines[-_EDGE:]))


_FILE_ARGUMENTS = {
    "text_editor": ("path",),
    "document_query": ("document", "path"),
    "vision_load": ("paths", "path"),
}
_READING = (None, "read", "load")
_MAX_FILES = 100


def tool_execute_before(agent: Any, tool_name: str = "", tool_args: Any = None, **_: Any) -> str | None:
    """The reason to refuse the call, which the shim raises. None if the call may continue."""
    is_judged = False

    def work(active: Active, memory: AgentMemory) -> str | None:
        nonlocal is_judged
        memory.tool, memory.refused = tool_name, None
        memory.refused = _judge(active, memory, agent, tool_name, tool_args)
        is_judged = True
        return memory.refused

    refusal = run_guarded(agent, "tool_execute_before", work)
    if refusal is None:
        refusal = _refuse_after_error(agent, tool_name, is_judged)
    if refusal is None and not is_judged and agent is not None and is_pinned():
        refusal = _refuse_without_organization(agent, tool_name)
    return refusal


def _judge(active: Active, memory: AgentMemory, agent: Any, tool: str, arguments: Any) -> str | None:
    role_and_memory = find_role_in_force(active, memory)
    if role_and_memory is None:
        return None
    role = role_and_memory[0]
    method, known = reading.call_of(agent)
    call_arguments = arguments if isinstance(arguments, dict) and arguments else known
    call = _Call(tool, method, call_arguments, (arguments, known), host_tools.is_unknown(agent, tool))
    if not call.unknown and tool == _SEVERAL:
        return _judge_several(active, memory, agent, role, call)
    return _judge_one(active, memory, agent, role, call)


class _Call(NamedTuple):
    tool: str
    method: str | None
    arguments: Mapping[str, Any]
    written: tuple[object, ...]
    """The argument mappings that the host runs. Changes to them reach the tool."""
    unknown: bool = False
    """Whether the host has no such tool."""
    beside: int = 0
    """Other subordinates that begin with the same call."""


def _judge_one(
    active: Active, memory: AgentMemory, agent: Any, role: bundles.BundleRole, call: _Call
) -> str | None:
    action = gate.find_action(call.method, call.arguments)
    refusal = _find_refusal(active, memory, agent, role, call, action)
    name = (
        f"`{call.tool}:{action}`" if action is not None and call.tool in role.host_tools else f"`{call.tool}`"
    )
    if refusal is None:
        if call.tool not in active.bundle.tools and not gate.is_essential(role, call.tool):
            unlisted = f"{role.role_name} uses `{call.tool}`, which no tool catalog lists"
            saying.say_once(agent, memory, unlisted, kind="warning")
        return None
    effect.note_refusal(agent, memory, role.role_id, call.tool, action, call.arguments)
    if active.settings.enforcement != "enforce":
        saying.say_once(agent, memory, f"Would refuse {name} to {role.role_name}", content=refusal)
        return None
    saying.say_once(agent, memory, f"Refused {name} to {role.role_name}", content=refusal, kind="warning")
    return refusal


def _find_refusal(
    active: Active,
    memory: AgentMemory,
    agent: Any,
    role: bundles.BundleRole,
    call: _Call,
    action: str | None,
) -> str | None:
    """Why a role may not make a call. None if it may."""

    def hand_over(role_id: str) -> str | None:
        return delegation.explain_how_to_call(active, agent, role, role_id)

    left = delegation.restrict_role_to_run(active, agent, role)
    if call.unknown:
        here = host_tools.list_tool_names(agent) or _list_shown_tools(memory)
        return gate.answer_unknown(active, left, call.tool, here, hand_over)

    def judge(each: bundles.BundleRole) -> str | None:
        return gate.judge(
            active, each, call.tool, action, _list_shown_tools(memory), hand_over, call.arguments
        )

    refusal = judge(role)
    if refusal is not None:
        return refusal if left is role else judge(left)
    if call.tool == delegation.TOOL:
        return _delegate(active, memory, agent, role, call)
    if left is role or gate.is_essential(role, call.tool):
        return None
    depth, superiors = delegation.place_of(agent).depth, delegation.list_superior_roles(active, agent)
    why = delegation.find_chain_refusal(
        active.bundle, role, superiors, depth, lambda each: judge(each) is not None
    )
    return (
        gate.answer_in_run(active, left, call.tool, why, _list_shown_tools(memory))
        if why is not None
        else None
    )


def _delegate(
    active: Active, memory: AgentMemory, agent: Any, role: bundles.BundleRole, call: _Call
) -> str | None:
    """Decide a call of a subordinate, and put the role that was chosen for it into the call."""
    subordinate_call = delegation.read_call(agent, call.arguments)
    place = delegation.place_of(agent, call.beside)
    decision = delegation.decide(active.bundle, active.words, role, subordinate_call, place)
    if decision.refusal is None and decision.reason and decision.role_id is not None:
        name = active.bundle.roles[decision.role_id].role_name
        if active.settings.enforcement == "enforce":
            saying.say(agent, f"{role.role_name} delegates to {name}", content=decision.reason)
        else:
            saying.say_once(
                agent, memory, f"{role.role_name} would delegate to {name}", content=decision.reason
            )
    if decision.refusal is None and active.settings.enforcement == "enforce":
        delegation.hand_over(memory, agent, subordinate_call, decision, *call.written)
    return decision.refusal


_SEVERAL = "parallel"
"""The tool by which newer hosts run several calls at once. For those inside, no hook runs as the agent that asks."""
_CALLS = ("tool_calls", "calls", "items")
_UNREADABLE = f"`{_SEVERAL}` is refused: a call in it cannot be read. Give `tool_calls` a list, each with `tool_name` and `tool_args`."


def _judge_several(
    active: Active, memory: AgentMemory, agent: Any, role: bundles.BundleRole, call: _Call
) -> str | None:
    """Judge each of several calls. If one is refused, none runs."""
    refusal = _judge_one(active, memory, agent, role, call)
    key = next((name for name in _CALLS if name in call.arguments), None)
    if refusal is not None or key is None:
        return refusal
    listed = call.arguments[key]
    if isinstance(listed, str):
        with contextlib.suppress(ValueError):
            listed = json.loads(listed)
    inner = [_read_inner_call(each) for each in listed] if isinstance(listed, list) else [None]
    if active.settings.enforcement == "enforce":
        if None in inner:
            return _UNREADABLE
        for each in call.written:
            if isinstance(each, dict) and key in each:
                each[key] = listed  # read from text, its calls are now what the host runs
    beside = 0
    for tool, method, arguments in filter(None, inner):
        unknown = host_tools.is_missing(agent, tool)
        one = _Call(tool, method, arguments, (arguments,), unknown, beside)
        refusal = _judge_one(active, memory, agent, role, one)
        if refusal is not None:
            return f"{refusal} None of the calls in `{_SEVERAL}` was run."
        beside += tool == delegation.TOOL
    return None


def _read_inner_call(request: Any) -> tuple[str, str | None, dict[str, Any]] | None:
    """The tool, the method and the arguments in one of several calls, as a host reads them. None if it cannot."""
    if isinstance(request, dict) and not request.get("tool_name") and not request.get("tool"):
        wrapped = request.get("actions")
        if isinstance(wrapped, list) and len(wrapped) == 1:
            request = wrapped[0]
    if not isinstance(request, dict):
        return None
    is_function = request.get("type") == "function"
    names = ("tool_name", "tool", *(("name",) if is_function else ()))
    name = next((each for each in map(request.get, names) if isinstance(each, str) and each), None)
    values = ("tool_args", "args", *(("parameters",) if is_function else ()))
    arguments = next((each for each in map(request.get, values) if isinstance(each, dict)), None)
    if name is None or arguments is None:
        return None
    tool, _, method = name.partition(":")
    return tool, method or None, arguments


def _list_shown_tools(memory: AgentMemory) -> frozenset[str]:
    """The tools in the host's prompt. Empty if unknown."""
    return frozenset(served for text in memory.tool_texts or () for served in text.tools)


def _refuse_after_error(agent: Any, tool: str, is_judged: bool) -> str | None:
    """Refuse a call that was not judged, or that comes after an error, if `on_error` is `refuse`."""
    try:
        memory = agent.data.get(KEY)
        active, _ = find_active(look=False)
        trouble = memory.trouble if isinstance(memory, AgentMemory) else None
        # An error before the memory of the agent was read leaves no trouble there.
        if active is None or (trouble is None and is_judged) or tool in gate.ALWAYS:
            return None
        if active.settings.on_error != "refuse" or active.settings.enforcement != "enforce":
            return None
        with contextlib.suppress(Exception):  # an error here refuses the call too
            role_and_memory = find_role_in_force(active, memory)
            if role_and_memory is not None and gate.is_essential(role_and_memory[0], tool):
                return None
        refusal = (
            f"`{tool}` is refused: the organization cannot be read, and `on_error` is `refuse` "
            f"({trouble or 'its extension failed'}). Try again, or answer with `response` and say so."
        )
        with contextlib.suppress(Exception):
            memory.refused = refusal
            text = f"Refused `{tool}`: the organization cannot be read"
            saying.say_once(agent, memory, text, content=trouble or "", kind="warning")
        return refusal
    except Exception:  # the first error was already reported
        return None


def _refuse_without_organization(agent: Any, tool: str) -> str | None:
    """Refuse a call that was not judged although the environment of the host names an organization, except a tool that is essential."""
    if tool in gate.ALWAYS:
        return None
    active, error = find_active(look=False)
    with contextlib.suppress(Exception):  # an error here refuses the call
        role_and_memory = find_role_in_force(active, agent.data[KEY]) if active is not None else None
        if role_and_memory is not None and gate.is_essential(role_and_memory[0], tool):
            return None
    return (
        f"`{tool}` is refused: the organization that the environment of the host names (`{PIN}`) cannot be used "
        f"({error or 'its extension failed'}). Answer with `response` and say so."
    )


def tool_execute_after(agent: Any, tool_name: str = "", response: Any = None, **_: Any) -> None:
    """Count failures and successes. Remember files read and written, and whether the task was answered."""

    def work(active: Active, memory: AgentMemory) -> None:
        role_and_memory = find_role_in_force(active, memory)
        if role_and_memory is None:
            return
        own = role_and_memory[1]
        message = getattr(response, "message", None)
        if getattr(response, "break_loop", False):
            memory.state = "complete"
        elif has_failed(agent, message):
            _count_failure(own, tool_name)
        else:
            own.consecutive_failures = 0
            own.failing.clear()
            fingerprint = hash((tool_name, message))
            if fingerprint != own.last_success:
                own.turns_without_progress = 0
            own.last_success = fingerprint
            _note_files(own, tool_name, *reading.call_of(agent))

    run_guarded(agent, "tool_execute_after", work)


def error_format(agent: Any, msg: Any = None, **_: Any) -> None:
    """Show the model a refusal without the host's stack trace. Any other error counts as a failure."""

    def work(active: Active, memory: AgentMemory) -> None:
        text = msg.get("message") if isinstance(msg, dict) else None
        refusal, memory.refused = memory.refused, None
        if refusal is not None and isinstance(text, str) and refusal in text:
            msg["message"] = refusal
            return
        role_and_memory = find_role_in_force(active, memory)
        if role_and_memory is not None and memory.tool:
            _count_failure(role_and_memory[1], memory.tool)

    run_guarded(agent, "error_format", work)


def _count_failure(own: RoleMemory, tool: str) -> None:
    own.consecutive_failures += 1
    own.total_failures += 1
    if tool not in own.failing:
        own.failing.append(tool)


def _note_files(own: RoleMemory, tool: str, method: str | None, arguments: Any) -> None:
    for name in _FILE_ARGUMENTS.get(tool, ()):
        value = arguments.get(name)
        for path in value if isinstance(value, list) else [value]:
            known = own.files_read if method in _READING else own.files_modified
            if isinstance(path, str) and path not in known:
                known.append(path)
                del known[:-_MAX_FILES]
