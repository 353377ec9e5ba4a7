"""One function for each hook. A shim calls it and does nothing else. Errors: see `guarding`."""

from __future__ import annotations

import contextlib
from typing import Any

from . import activation, choosing, delegation, doctrine, effect, prompting, reading, saying, supervising
from .calls import error_format, tool_execute_after, tool_execute_before
from .guarding import find_role_in_force, run_guarded
from .memory import AgentMemory
from .organization import Active, find_active
from .runtime import task_life, text_index

__all__ = [
    "agent_init",
    "before_main_llm_call",
    "error_format",
    "message_loop_end",
    "message_loop_prompts_after",
    "message_loop_prompts_before",
    "message_loop_start",
    "monologue_end",
    "system_prompt",
    "tool_execute_after",
    "tool_execute_before",
]


_ready: list[Active] = []
_FIRST_WORDS = "write a file and find the bug in it"


def agent_init(agent: Any, **_: Any) -> None:
    """Read the organization when a chat begins, so that its first message does not wait for it.

    An error is reported by the hooks that need the organization.
    """
    with contextlib.suppress(Exception):
        active = find_active(look=False)[0]
        if active is not None and active.words is not None and not any(each is active for each in _ready):
            _ready[:] = [active]
            # Both build their tables of words.
            ranking = text_index.rank_roles(active.words, _FIRST_WORDS)
            begun = task_life.begin_task(active.words.roles[0], _FIRST_WORDS, 0.0)
            task_life.judge_message(active.words, _FIRST_WORDS, ranking, begun, 0.0)


def message_loop_start(agent: Any, loop_data: Any = None, **_: Any) -> None:
    """Begin the turn that the layers of an agent share."""

    def work(active: Active, memory: AgentMemory) -> None:
        if active.settings.enforcement != "observe":
            supervising.begin_turn(memory, agent)

    run_guarded(agent, "message_loop_start", work)


def message_loop_prompts_before(agent: Any, loop_data: Any = None, **_: Any) -> None:
    """Choose the role for a new message and evaluate PACE, for the next prompt."""

    def work(active: Active, memory: AgentMemory) -> None:
        _prepare(active, memory, agent)
        memory.trouble = None

    run_guarded(agent, "message_loop_prompts_before", work)


def system_prompt(agent: Any, system_prompt: list[str] | None = None, **_: Any) -> None:
    """Show only the tools of the role, and add its brief."""

    def work(active: Active, memory: AgentMemory) -> None:
        role_and_memory = find_role_in_force(active, memory)
        if role_and_memory is None or system_prompt is None:
            return
        role = delegation.restrict_role_to_run(active, agent, role_and_memory[0])
        if active.settings.enforcement == "observe":
            hidden = prompting.count_hidden_characters(active, memory, agent, role, system_prompt)
            saying.say_once(agent, memory, f"Would hide {hidden:,} characters of tools from {role.role_name}")
        else:
            # All at once: an error before this line leaves the list unchanged.
            system_prompt[:] = prompting.shape_prompt(active, memory, agent, role, system_prompt)

    run_guarded(agent, "system_prompt", work)


def message_loop_prompts_after(agent: Any, loop_data: Any = None, **_: Any) -> None:
    """Add the supervisor's message to this model call."""

    def work(active: Active, memory: AgentMemory) -> None:
        role_and_memory = find_role_in_force(active, memory)
        if active.settings.enforcement == "observe" or loop_data is None:
            return
        if role_and_memory is not None:
            role = delegation.restrict_role_to_run(active, agent, role_and_memory[0])
            prompting.trim_again(active, memory, agent, role, getattr(loop_data, "system", None))
            supervising.supervise_prompt(active, memory, agent, role_and_memory, loop_data)
        supervising.note_prompt(memory, loop_data)

    run_guarded(agent, "message_loop_prompts_after", work)


def before_main_llm_call(agent: Any, loop_data: Any = None, **_: Any) -> None:
    """Read the tracker's belief about the message, count the call and report: the dispatcher of the specification."""

    def work(active: Active, memory: AgentMemory) -> None:
        if not memory.prepared:  # a host that builds its prompt without the hook
            _prepare(active, memory, agent)
        elif memory.unsettled:
            memory.heard = choosing.hear(active, memory, agent)
        memory.prepared = memory.unsettled = False
        if active.settings.enforcement != "observe":
            supervising.say_role(memory, agent, switched=memory.role_id != memory.role_before)
        memory.role_before = memory.role_id
        role_and_memory = find_role_in_force(active, memory)
        if role_and_memory is not None:
            role = delegation.restrict_role_to_run(active, agent, role_and_memory[0])
            prompting.report_change(active, memory, agent, role, getattr(loop_data, "system", None))
            own = role_and_memory[1]
            if not memory.paused:
                own.turns += 1
                own.turns_without_progress += 1
            if own.tokens_at_start is None:
                own.tokens_at_start = reading.read_tokens(agent)
            doctrine.report(active, memory, agent, *role_and_memory)
        memory.new_task = False
        memory.tool = ""

    run_guarded(agent, "before_main_llm_call", work)


def message_loop_end(agent: Any, loop_data: Any = None, **_: Any) -> None:
    """Let the supervisor check what happened."""

    def work(active: Active, memory: AgentMemory) -> None:
        role_and_memory = find_role_in_force(active, memory)
        if (
            role_and_memory is not None
            and memory.state != "complete"
            and active.settings.enforcement != "observe"
        ):
            supervising.supervise_end(active, memory, agent, role_and_memory)

    run_guarded(agent, "message_loop_end", work)


def monologue_end(agent: Any, loop_data: Any = None, **_: Any) -> None:
    """Report an answered task. The main agent tells the user the effect of the turn."""

    def work(active: Active, memory: AgentMemory) -> None:
        role_and_memory = find_role_in_force(active, memory)
        if role_and_memory is not None:
            if memory.state == "complete":
                doctrine.report(active, memory, agent, *role_and_memory)
            doctrine.finish_reports(memory, agent)
        if getattr(agent, "number", 0) == 0:
            names = {role.role_id: role.role_name for role in active.bundle.roles.values()}
            effect.tell_turn(agent, memory, names)

    run_guarded(agent, "monologue_end", work)


def _prepare(active: Active, memory: AgentMemory, agent: Any) -> None:
    """Find the role and its tier for a model call. Only another message changes the role."""
    message = reading.get_message(agent)
    new = message is not memory.message
    if new and activation.begin_task(active, memory, agent):
        choice = choosing.settle(active, memory, agent)
        memory.reason = choice.reason
    else:
        choice = choosing.keep(active, memory)
        if memory.heard is not None:
            memory.reason = choice.reason
    if new:
        memory.unsettled, memory.paused = not choice.settled, choice.effect == "pause"
    if new and choice.role is None and getattr(agent, "number", 0) != 0:
        saying.say_once(agent, memory, "This subordinate has no role", content=choice.reason)
    if choice.remark is not None:
        saying.say_once(agent, memory, choice.remark[0], content=choice.remark[1])
    memory.heard = None
    if new and choice.role is not None and memory.role_id == choice.role.role_id:
        heading = {"keep": "Same task", "pause": "Task paused"}.get(choice.effect)
        if heading is not None:
            saying.say(agent, f"{heading}: {choice.role.role_name}", content=choice.reason)
    activation.put_in_force(active, memory, agent, choice)
    memory.message, memory.prepared = message, True
    role_and_memory = find_role_in_force(active, memory)
    if role_and_memory is not None:
        doctrine.apply_pace(active, memory, agent, *role_and_memory)
