"""Signals and the supervisor: the layer's report about the turn, and its message to the agent.

The supervisor's message goes into the next model call as an extra. It never enters the history, where it would be
read back as a task. Under `enforcement: observe` none of this happens.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from . import host_tools, places, reading
from .gate import sort_tools
from .memory import AgentMemory, RoleMemory
from .organization import Active
from .runtime import bundle as bundles
from .runtime import neighbors, pace, report_files, signals, steering_words, supervisor
from .saying import say

_posts: dict[tuple[str, str], steering_words.PostInChainOfCommand] = {}
_MAX_POSTS = 1_000
_reports: dict[str, tuple[tuple[int, int, int] | None, Mapping[str, Any] | None]] = {}


def begin_turn(memory: AgentMemory, agent: Any) -> None:
    """Begin a turn: one model call with everything that follows from it."""
    memory.calls += 1
    signals.begin_turn(agent.data, memory.calls)


def say_role(memory: AgentMemory, agent: Any, switched: bool) -> None:
    """Write this layer's signals of the turn."""
    signals.write(
        agent.data,
        "org_kernel",
        active=memory.role_id is not None,
        current_role=memory.role_id,
        switched_this_turn=switched,
    )


def supervise_prompt(
    active: Active,
    memory: AgentMemory,
    agent: Any,
    role_and_memory: tuple[bundles.BundleRole, RoleMemory],
    loop_data: Any,
) -> None:
    """Check before the model is called, and put the supervisor's message into this prompt.

    If another layer has warned since the last prompt, the message waits: for this turn, not longer.
    """
    _supervise(active, memory, agent, role_and_memory, at_once=memory.waited)
    if memory.steering is not None:
        loop_data.extras_temporary["org_supervisor"], memory.steering = memory.steering, None


def supervise_end(
    active: Active, memory: AgentMemory, agent: Any, role_and_memory: tuple[bundles.BundleRole, RoleMemory]
) -> None:
    """Check what followed from the model call, and keep the supervisor's message for the next prompt."""
    _supervise(active, memory, agent, role_and_memory)


def note_prompt(memory: AgentMemory, loop_data: Any) -> None:
    """Remember how much of the history the model has read."""
    read = getattr(loop_data, "history_output", None)
    memory.read = len(read) if isinstance(read, Sequence) else 0


def _supervise(
    active: Active,
    memory: AgentMemory,
    agent: Any,
    role_and_memory: tuple[bundles.BundleRole, RoleMemory],
    *,
    at_once: bool = False,
) -> None:
    role, own = role_and_memory
    decision: pace.PaceDecision | None = own.decision
    if memory.steering is not None and memory.steering_tier != own.tier:
        memory.steering = None  # the tier changed before the message was shown
    if memory.steering is not None or decision is None:
        return
    known = memory.supervisor
    if not isinstance(known, supervisor.SupervisorMemory):
        known = supervisor.SupervisorMemory()
    reports, post = _read_subordinate_reports(active, role), _post(active, role)
    # Usually there is nothing to say, so the history is not read.
    steering, after = supervisor.steer(signals.read_signals(agent.data), decision, reports, known, post)
    if decision.new_task:
        own.decision = decision._replace(new_task=False)
    memory.waited = False
    if steering is None:
        memory.supervisor = after
        signals.write(agent.data, supervisor.LAYER, active=True)
        return
    seen = signals.survey(
        agent.data, _read_neighbor_values(agent, [] if at_once else _list_new_warnings(memory, agent))
    )
    here = host_tools.list_tool_names(agent)
    if here:  # the catalogs list tools of every generation
        post = post._replace(tools=tuple(tool for tool in post.tools if tool in here))
    steering, memory.supervisor = supervisor.supervise(
        agent.data, seen, decision, reports, known, post, failing=tuple(own.failing)
    )
    memory.waited = steering is None
    if steering is not None:
        memory.steering, memory.steering_tier = steering.text, own.tier
        what = steering.intervention_type.replace("_", " ")
        say(agent, f"Supervisor steers {role.role_name}: {what}", content=steering.text)


def _post(active: Active, role: bundles.BundleRole) -> steering_words.PostInChainOfCommand:
    key = (active.bundle.checksum, role.role_id)
    if key not in _posts:
        if len(_posts) >= _MAX_POSTS:
            _posts.clear()
        _posts[key] = _build_post(active, role)
    return _posts[key]


def _build_post(active: Active, role: bundles.BundleRole) -> steering_words.PostInChainOfCommand:
    names = {each.role_id: each.role_name for each in active.bundle.roles.values()}
    return steering_words.PostInChainOfCommand(
        role.role_id,
        role.role_name,
        role.reports_to,
        role.can_delegate,
        tuple(sort_tools(active, role)),
        role.subordinates,
        names,
    )


def _read_neighbor_values(agent: Any, warnings: list[str]) -> dict[str, object]:
    """The values that neighbors store, and the warnings since the last prompt."""
    stored_values: dict[str, object] = {
        name: getattr(agent, name) for name in neighbors.AGENT_ATTRIBUTES if hasattr(agent, name)
    }
    stored_values.update({name: agent.data[name] for name in neighbors.AGENT_DATA if name in agent.data})
    stored_values[neighbors.WARNINGS] = warnings
    return stored_values


def _list_new_warnings(memory: AgentMemory, agent: Any) -> list[str]:
    """Warnings that entered the history after the model last read it.

    Published prompt files turn a warning into a plain string, so any string that is not the request is treated as a
    warning.
    """
    new = agent.history.output()[memory.read :]
    contents = [item.get("content") for item in new if isinstance(item, Mapping) and not item.get("ai")]
    request = reading.get_content(agent)
    texts = [
        content.get("system_warning") if isinstance(content, Mapping) else content for content in contents
    ]
    return [text for text in texts if isinstance(text, str) and text != request]


def _read_subordinate_reports(active: Active, role: bundles.BundleRole) -> list[Mapping[str, Any]]:
    """Latest reports of subordinates that run elsewhere. Files are read again only when they change."""
    if active.bundle.organization.get("mode") != "macrocosm":
        return []
    folder = os.path.join(places.ORGANIZATIONS, places.REPORTS)
    reports = []
    for role_id in role.subordinates:
        path = os.path.join(folder, report_files.build_latest_name(role_id))
        stamp = places.stamp(path)
        if path not in _reports or _reports[path][0] != stamp:
            _reports[path] = (stamp, report_files.read_latest(folder, role_id)[0] if stamp else None)
        report = _reports[path][1]
        if report is not None:
            reports.append(report)
    return reports
