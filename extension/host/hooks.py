"""One function for each hook; a shim calls it and does nothing else.

Error policy (design §1, promise 4): whatever breaks, the host's turn goes on as if the layer were not there; the error is
told once in the chat and kept for `orgkernel org status`. With `on_error: refuse` calls are refused instead, except of
what is never refused.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, TypeVar

from . import activation, choosing, doctrine, failures, gate, places, prompting, reading, saying
from .memory import KEY, AgentMemory, RoleMemory, memory_of
from .organization import Active, find_active
from .runtime import bundle as bundles

T = TypeVar("T")
_READING_TOOLS = {"text_editor": ("path",), "document_query": ("document", "path"), "vision_load": ("paths", "path")}


def _guarded(agent: Any, hook: str, work: Callable[[Active, AgentMemory], T]) -> T | None:
    """Do the work of a hook where an organisation is active; an error of ours becomes a warning and nothing else."""
    if agent is None:
        return None
    memory: AgentMemory | None = None
    try:
        active, error = find_active()
        if active is None and error is None and KEY not in agent.data:
            return None
        memory = memory_of(agent)
        if error is not None:
            _note(agent, error)
        if active is None:
            activation.switch_off(memory, agent)
            if error is None:
                del agent.data[KEY]
            return None
        saying.note_status(places.ORGANIZATIONS, loaded=active.bundle.digest)
        for remark in active.remarks:
            saying.say_once(agent, memory, remark, kind="warning")
        done = work(active, memory)
    except Exception as error:
        text = f"{hook} passed through: {type(error).__name__}: {error}"
        if memory is not None:
            memory.trouble = text
        try:
            _note(agent, text)
        except Exception:  # a log that cannot be written, a disk that is full: nothing is left to tell it with
            return None
        return None
    return done


def _note(agent: Any, text: str) -> None:
    try:
        saying.say_trouble(agent, text)
    finally:
        saying.note_status(places.ORGANIZATIONS, error=text)


def _in_force(active: Active, memory: AgentMemory) -> tuple[bundles.BundleRole, RoleMemory] | None:
    role = active.bundle.roles.get(memory.role_id) if memory.role_id is not None else None
    own = memory.roles.get(memory.role_id) if memory.role_id is not None else None
    return (role, own) if role is not None and own is not None else None


def message_loop_prompts_before(agent: Any, loop_data: Any = None, **_: Any) -> None:
    """Choose the role whose prompt is about to be built."""

    def work(active: Active, memory: AgentMemory) -> None:
        first = activation.begin_task(memory, agent)
        if first:
            memory.tool_texts = None
            memory.state = ""
        choice = choosing.choose_early(active, memory, agent, first)
        if choice.final:
            activation.put_in_force(active, memory, agent, choice)
        else:
            memory.shown_role_id = choice.role.role_id if choice.role is not None else None
        memory.trouble = None

    _guarded(agent, "message_loop_prompts_before", work)


def system_prompt(agent: Any, system_prompt: list[str] | None = None, **_: Any) -> None:
    """Show only what serves the role, and its brief."""

    def work(active: Active, memory: AgentMemory) -> None:
        role = active.bundle.roles.get(memory.shown_role_id or "")
        if role is None or system_prompt is None:
            return
        if active.settings.enforcement == "observe":
            hidden = prompting.would_hide(active, memory, agent, role, system_prompt)
            saying.say_once(agent, memory, f"Would hide {hidden:,} characters of tools from {role.role_name}")
            return
        shaped = prompting.shape_prompt(active, memory, agent, role, system_prompt)
        system_prompt[:] = shaped

    _guarded(agent, "system_prompt", work)


def message_loop_prompts_after(agent: Any, loop_data: Any = None, **_: Any) -> None:
    """What the supervisor has to say reaches this model call, and nothing of it stays in the history."""

    def work(active: Active, memory: AgentMemory) -> None:
        if memory.steering is not None and loop_data is not None:
            loop_data.extras_temporary["org_supervisor"], memory.steering = memory.steering, None

    _guarded(agent, "message_loop_prompts_after", work)


def message_loop_end(agent: Any, loop_data: Any = None, **_: Any) -> None:
    """The supervisor looks at what happened."""


def before_main_llm_call(agent: Any, loop_data: Any = None, **_: Any) -> None:
    """Confirm the role, evaluate PACE, report: the dispatcher of the specification."""

    def work(active: Active, memory: AgentMemory) -> None:
        choice = choosing.choose(active, memory, agent)
        activation.put_in_force(active, memory, agent, choice)
        found = _in_force(active, memory)
        if found is None:
            memory.new_task = False
            return
        role, own = found
        own.turns += 1
        own.turns_without_progress += 1
        if own.tokens_at_start is None:
            own.tokens_at_start = reading.tokens_of(agent)
        doctrine.apply_pace(memory, agent, role, own)
        memory.new_task = False
        memory.tool = ""
        doctrine.report(active, memory, agent, role, own)

    _guarded(agent, "before_main_llm_call", work)


def tool_execute_before(agent: Any, tool_name: str = "", tool_args: Any = None, **_: Any) -> str | None:
    """Why the call is refused, for the shim to raise; None where it may go on."""

    def work(active: Active, memory: AgentMemory) -> str | None:
        memory.tool = tool_name
        memory.refused = None
        enforced = active.settings.enforcement == "enforce"
        if memory.trouble is not None and active.settings.on_error == "refuse" and enforced:
            return _refuse_in_trouble(memory, tool_name)
        found = _in_force(active, memory)
        if found is None or not active.compiled:
            return None
        role, _own = found
        method, arguments = reading.call_of(agent)
        action = gate.action_of(method, tool_args if isinstance(tool_args, dict) else arguments)
        verdict = gate.judge(active, role, tool_name, action, _has_profile)
        if verdict is None:
            return None
        if isinstance(verdict, gate.Unlisted):
            text = f"{role.role_name} uses `{tool_name}`, which no catalogue knows"
            saying.say_once(agent, memory, text, kind="warning")
            return None
        call = f"`{tool_name}:{action}`" if tool_name in role.host_tools else f"`{tool_name}`"
        if not enforced:
            saying.say_once(agent, memory, f"Would refuse {call} to {role.role_name}")
            return None
        saying.say_once(agent, memory, f"Refused {call} to {role.role_name}", kind="warning")
        memory.refused = verdict.text
        return verdict.text

    refusal = _guarded(agent, "tool_execute_before", work)
    return refusal if refusal is not None else _refused_by_error(agent, tool_name)


def _refused_by_error(agent: Any, tool_name: str) -> str | None:
    """The refusal of a call that could not be judged, where errors refuse."""
    try:
        memory = agent.data.get(KEY)
        active, _ = find_active()
        if active is None or memory is None or memory.trouble is None or memory.refused is not None:
            return None
        if active.settings.on_error != "refuse" or active.settings.enforcement != "enforce":
            return None
        return _refuse_in_trouble(memory, tool_name)
    except Exception:
        return None


def _refuse_in_trouble(memory: AgentMemory, tool_name: str) -> str | None:
    if tool_name in gate.ALWAYS:
        return None
    memory.refused = (
        f"`{tool_name}` is refused: the organisation could not be asked, and its owner chose to refuse calls then "
        f"({memory.trouble}). Try again, or end with `response` and say so."
    )
    return memory.refused


def _has_profile(role_id: str) -> bool:
    root = os.path.dirname(os.path.dirname(places.ORGANIZATIONS))
    return any(os.path.isdir(os.path.join(root, *folder, role_id)) for folder in (("agents",), ("usr", "agents")))


def tool_execute_after(agent: Any, tool_name: str = "", response: Any = None, **_: Any) -> None:
    """Count failures and successes; remember what was read and written, and that the task was answered."""

    def work(active: Active, memory: AgentMemory) -> None:
        found = _in_force(active, memory)
        if found is None:
            return
        _role, own = found
        if getattr(response, "break_loop", False):
            memory.state = "complete"
            return
        message = getattr(response, "message", None)
        if failures.has_failed(agent, message):
            own.consecutive_failures += 1
            own.total_failures += 1
            return
        own.consecutive_failures = 0
        fingerprint = hash((tool_name, message))
        if fingerprint != own.last_success:
            own.turns_without_progress = 0
        own.last_success = fingerprint
        _note_files(own, tool_name, *reading.call_of(agent))

    _guarded(agent, "tool_execute_after", work)


def _note_files(own: RoleMemory, tool: str, method: str | None, arguments: Any) -> None:
    for name in _READING_TOOLS.get(tool, ()):
        value = arguments.get(name)
        for path in value if isinstance(value, list) else [value]:
            known = own.files_read if method in (None, "read", "load") else own.files_modified
            if isinstance(path, str) and path not in known:
                known.append(path)
                del known[:-100]


def error_format(agent: Any, msg: Any = None, **_: Any) -> None:
    """The model is told our refusal in its words, without the trace of the host; other errors count as failures."""

    def work(active: Active, memory: AgentMemory) -> None:
        text = msg.get("message") if isinstance(msg, dict) else None
        if memory.refused is not None and isinstance(text, str) and memory.refused in text:
            msg["message"], memory.refused = memory.refused, None
            return
        found = _in_force(active, memory)
        if found is not None and memory.tool:
            found[1].consecutive_failures += 1
            found[1].total_failures += 1

    _guarded(agent, "error_format", work)


def monologue_end(agent: Any, loop_data: Any = None, **_: Any) -> None:
    """Report a task that was answered."""

    def work(active: Active, memory: AgentMemory) -> None:
        found = _in_force(active, memory)
        if found is not None and memory.state == "complete":
            doctrine.report(active, memory, agent, *found)

    _guarded(agent, "monologue_end", work)
