"""The hooks around a tool call: refuse it, count its result, show a refusal without a trace.

Hosts do not report whether a call failed, so its answer decides. That is careful in both directions. A log that was read
may be full of errors, so only the start and the end of an answer count, and a long answer that merely ends in an error is
not a failure. A neighbor that diagnoses tool output decides first.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Mapping
from typing import Any

from . import gate, places, reading, saying
from .guarding import guarded, in_force
from .memory import KEY, AgentMemory, RoleMemory
from .organization import Active, find_active

_LONG = 30
"""From this many lines on, an answer counts as regular output, whatever it contains."""
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
_MOST_FILES = 100


def tool_execute_before(agent: Any, tool_name: str = "", tool_args: Any = None, **_: Any) -> str | None:
    """The reason to refuse the call, which the shim raises. None if the call may continue."""

    def work(active: Active, memory: AgentMemory) -> str | None:
        memory.tool, memory.refused = tool_name, None
        memory.refused = _judge(active, memory, agent, tool_name, tool_args)
        return memory.refused

    refusal = guarded(agent, "tool_execute_before", work)
    return refusal if refusal is not None else _refuse_after_error(agent, tool_name)


def _judge(active: Active, memory: AgentMemory, agent: Any, tool: str, arguments: Any) -> str | None:
    found = in_force(active, memory)
    if found is None:
        return None
    role = found[0]
    method, known = reading.call_of(agent)
    said = arguments if isinstance(arguments, dict) else known
    action = gate.action_of(method, said)
    there = frozenset(served for text in memory.tool_texts or () for served in text.tools)
    refusal = gate.judge(active, role, tool, action, there, _has_profile, said)
    if refusal is None:
        if tool not in active.bundle.tools and not gate.is_essential(role, tool):
            unlisted = f"{role.role_name} uses `{tool}`, which no tool catalog lists"
            saying.say_once(agent, memory, unlisted, kind="warning")
        return None
    call = f"`{tool}:{action}`" if tool in role.host_tools else f"`{tool}`"
    if active.settings.enforcement != "enforce":
        saying.say_once(agent, memory, f"Would refuse {call} to {role.role_name}", content=refusal)
        return None
    saying.say_once(agent, memory, f"Refused {call} to {role.role_name}", content=refusal, kind="warning")
    return refusal


def _refuse_after_error(agent: Any, tool: str) -> str | None:
    """With `on_error: refuse`, refuse a call while the organization cannot be read."""
    try:
        memory = agent.data.get(KEY)
        active, _ = find_active(thorough=False)
        if (
            active is None
            or not isinstance(memory, AgentMemory)
            or memory.trouble is None
            or tool in gate.ALWAYS
        ):
            return None
        if active.settings.on_error != "refuse" or active.settings.enforcement != "enforce":
            return None
        with contextlib.suppress(Exception):  # an error here refuses the call too
            found = in_force(active, memory)
            if found is not None and gate.is_essential(found[0], tool):
                return None
        memory.refused = (
            f"`{tool}` is refused: the organization cannot be read, and `on_error` is `refuse` "
            f"({memory.trouble}). Try again, or answer with `response` and say so."
        )
        with contextlib.suppress(Exception):
            text = f"Refused `{tool}`: the organization cannot be read"
            saying.say_once(agent, memory, text, content=memory.trouble, kind="warning")
        return memory.refused
    except Exception:  # the first error was already reported
        return None


def _has_profile(role_id: str) -> bool:
    """Whether the host has a profile for a role."""
    root = os.path.dirname(os.path.dirname(places.ORGANIZATIONS))
    return any(
        os.path.isdir(os.path.join(root, *folder, role_id)) for folder in (("agents",), ("usr", "agents"))
    )


def tool_execute_after(agent: Any, tool_name: str = "", response: Any = None, **_: Any) -> None:
    """Count failures and successes. Remember files read and written, and whether the task was answered."""

    def work(active: Active, memory: AgentMemory) -> None:
        found = in_force(active, memory)
        if found is None:
            return
        own = found[1]
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

    guarded(agent, "tool_execute_after", work)


def error_format(agent: Any, msg: Any = None, **_: Any) -> None:
    """Show the model a refusal without the host's stack trace. Any other error counts as a failure."""

    def work(active: Active, memory: AgentMemory) -> None:
        text = msg.get("message") if isinstance(msg, dict) else None
        refusal, memory.refused = memory.refused, None
        if refusal is not None and isinstance(text, str) and refusal in text:
            msg["message"] = refusal
            return
        found = in_force(active, memory)
        if found is not None and memory.tool:
            _count_failure(found[1], memory.tool)

    guarded(agent, "error_format", work)


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
                del known[:-_MOST_FILES]
