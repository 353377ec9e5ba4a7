"""One function for each hook. A shim calls it and does nothing else. Errors: see `guarding`."""

from __future__ import annotations

import contextlib
from typing import Any

from . import activation, choosing, doctrine, effect, prompting, reading, saying, supervising
from .calls import error_format, tool_execute_after, tool_execute_before
from .guarding import guarded, in_force
from .memory import AgentMemory
from .organization import Active, find_active
from .runtime import text_index

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
        if active is not None and active.index is not None and not any(each is active for each in _ready):
            _ready[:] = [active]
            text_index.rank_roles(active.index, _FIRST_WORDS)  # builds its tables of words


def message_loop_start(agent: Any, loop_data: Any = None, **_: Any) -> None:
    """Begin the turn that the layers of an agent share."""

    def work(active: Active, memory: AgentMemory) -> None:
        if active.settings.enforcement != "observe":
            supervising.begin_turn(memory, agent)

    guarded(agent, "message_loop_start", work)


def message_loop_prompts_before(agent: Any, loop_data: Any = None, **_: Any) -> None:
    """Choose the role for the prompt that is built next."""

    def work(active: Active, memory: AgentMemory) -> None:
        first = activation.begin_task(memory, agent)
        choice = choosing.choose_early(active, memory, agent, first)
        if choice.final:
            activation.put_in_force(active, memory, agent, choice)
        else:
            memory.shown_role_id = choice.role.role_id if choice.role is not None else None
        memory.trouble = None

    guarded(agent, "message_loop_prompts_before", work)


def system_prompt(agent: Any, system_prompt: list[str] | None = None, **_: Any) -> None:
    """Show only the tools of the role, and add its brief."""

    def work(active: Active, memory: AgentMemory) -> None:
        role = active.bundle.roles.get(memory.shown_role_id or "")
        if role is None or system_prompt is None:
            return
        if active.settings.enforcement == "observe":
            hidden = prompting.would_hide(active, memory, agent, role, system_prompt)
            saying.say_once(agent, memory, f"Would hide {hidden:,} characters of tools from {role.role_name}")
        else:
            # All at once: an error before this line leaves the list unchanged.
            system_prompt[:] = prompting.shape_prompt(active, memory, agent, role, system_prompt)

    guarded(agent, "system_prompt", work)


def message_loop_prompts_after(agent: Any, loop_data: Any = None, **_: Any) -> None:
    """Add the supervisor's message to this model call."""

    def work(active: Active, memory: AgentMemory) -> None:
        found = in_force(active, memory)
        if active.settings.enforcement == "observe" or loop_data is None or found is None:
            return
        prompting.outlast(active, memory, agent, found[0], getattr(loop_data, "system", None))
        # A message that had to wait in the last turn can be said now, before another layer warns.
        supervising.supervise(active, memory, agent, found, loop_data)
        if memory.steering is not None:
            loop_data.extras_temporary["org_supervisor"], memory.steering = memory.steering, None

    guarded(agent, "message_loop_prompts_after", work)


def before_main_llm_call(agent: Any, loop_data: Any = None, **_: Any) -> None:
    """Confirm the role, evaluate PACE and report: the dispatcher of the specification."""

    def work(active: Active, memory: AgentMemory) -> None:
        activation.put_in_force(active, memory, agent, choosing.choose(active, memory, agent))
        if active.settings.enforcement != "observe":
            supervising.say_role(memory, agent, switched=memory.role_id != memory.role_before)
        memory.role_before = memory.role_id
        found = in_force(active, memory)
        if found is not None:
            prompting.report_change(active, memory, agent, found[0], getattr(loop_data, "system", None))
            own = found[1]
            own.turns += 1
            own.turns_without_progress += 1
            if own.tokens_at_start is None:
                own.tokens_at_start = reading.tokens_of(agent)
            doctrine.apply_pace(active, memory, agent, *found)
            doctrine.report(active, memory, agent, *found)
        memory.new_task = False
        memory.tool = ""

    guarded(agent, "before_main_llm_call", work)


def message_loop_end(agent: Any, loop_data: Any = None, **_: Any) -> None:
    """Let the supervisor check what happened."""

    def work(active: Active, memory: AgentMemory) -> None:
        found = in_force(active, memory)
        if found is not None and memory.state != "complete" and active.settings.enforcement != "observe":
            supervising.supervise(active, memory, agent, found, loop_data)

    guarded(agent, "message_loop_end", work)


def monologue_end(agent: Any, loop_data: Any = None, **_: Any) -> None:
    """Report an answered task. The main agent tells the user the effect of the turn."""

    def work(active: Active, memory: AgentMemory) -> None:
        found = in_force(active, memory)
        if found is not None:
            if memory.state == "complete":
                doctrine.report(active, memory, agent, *found)
            doctrine.finish_reports(memory, agent)
        if getattr(agent, "number", 0) == 0:
            names = {role.role_id: role.role_name for role in active.bundle.roles.values()}
            effect.tell_turn(agent, memory, names)

    guarded(agent, "monologue_end", work)
