"""One attempt at one tool: decided, locked, permitted, called, recorded. Whatever happens is a step, never an error."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from orgkernel.decisions.access.request import AccessRequest
from orgkernel.decisions.reasons import Why
from orgkernel.errors import OrgkernelError
from orgkernel.operations.permits import encode_input
from orgkernel.toolbox import result as codes
from orgkernel.toolbox.invocation import Planned, call_permitted
from orgkernel.toolbox.parts import Parts
from orgkernel.toolbox.result import Step, StepKind

WHOLE = ("", "use", "run")


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked for: a tool, what with it, and by whom in which circumstances."""

    org: str
    request: AccessRequest
    """Subject and circumstances; action, resource and input follow from the rest."""
    tool_id: str
    action: str
    tool_input: Mapping[str, Any]
    timeout: float | None
    kind: StepKind = "tool"
    why: tuple[Why, ...] = ()


@dataclass(frozen=True, slots=True)
class Attempt:
    """How it went, and the output where there is one."""

    step: Step
    output: Any = None
    may_have_happened: bool = False
    """Whether it can have changed something although it did not end well."""


async def attempt(parts: Parts, asked: Asked) -> Attempt:
    """Try a tool once."""
    started = time.perf_counter()
    try:
        found = await _attempt(parts, asked)
    except OrgkernelError as error:
        # Nothing is allowed that cannot be decided or written down.
        found = Attempt(Step(asked.kind, f"tool:{asked.tool_id}", "unavailable", error.code, error.message))
    step = msgspec.structs.replace(
        found.step, kind=asked.kind, why=found.step.why or asked.why, seconds=time.perf_counter() - started
    )
    return Attempt(step, found.output, found.may_have_happened)


async def _attempt(parts: Parts, asked: Asked) -> Attempt:
    who = f"tool:{asked.tool_id}"
    tool = parts.tool(asked.org, asked.tool_id)
    actions = () if tool is None else tuple(tool.required_levels)
    action = actions[0] if len(actions) == 1 and asked.action in WHOLE else asked.action
    if actions and not action:
        text = f"`{asked.tool_id}` has several actions; name one of {', '.join(actions)}"
        return Attempt(Step(asked.kind, who, "failed", codes.ACTION_NEEDED, text))
    try:
        tool_input = encode_input(asked.tool_input)
    except (TypeError, ValueError) as error:
        text = f"the input is no JSON: {error}"
        return Attempt(Step(asked.kind, who, "failed", codes.INPUT_INVALID, text, action))
    path = parts.path_in(asked.tool_id, json.loads(tool_input))
    request = msgspec.structs.replace(
        asked.request, action=action or WHOLE[1], resource=who if path is None else f"{who}:{path}"
    )
    step, reply = await call_permitted(
        parts,
        Planned(asked.org, request, asked.tool_id, tool, tool_input, len(actions) == 1, asked.timeout),
    )
    changes = tool is not None and tool.required_levels.get(action) not in ("observe", "read")
    if reply is None:
        return Attempt(step, None, changes and step.outcome == "timeout")
    return Attempt(step, reply.output, changes and reply.is_uncertain)
