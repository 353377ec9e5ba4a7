"""What a host cannot be told: decisions that depend on what it does not see, or on somebody who would have to be asked.

A bundle says one thing for all circumstances: what is allowed while none is known. Who compiles is told where that is
not the whole answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from orgkernel.diagnostics.wording import listing
from orgkernel.exchange.agent_zero.host_names import RUNTIME
from orgkernel.graph.questions import OrgView

_METHOD = (
    "its name has a method, and a host is asked for the whole tool: a role that has one of its methods may call all; "
    "declare them as `actions` of one tool"
)


def find_remarks(compiled: Mapping[str, Any], view: OrgView) -> tuple[str, ...]:
    """One sentence for each reason, with the tools it concerns."""
    tools_of: dict[str, dict[str, None]] = {}
    for tool_id, declared in view.records.tools.items():
        if ":" in declared.record.names.get(RUNTIME, "") and view.holders_of(tool_id):
            tools_of.setdefault(_METHOD, {})[tool_id] = None
    for role in compiled["roles"].values():
        for tool_id, grant in role["tools"].items():
            for text in _texts(grant):
                tools_of.setdefault(text, {})[tool_id] = None
    return tuple(f"{listing(tools)}: {text}" for text, tools in tools_of.items())


def _texts(grant: Mapping[str, Any]) -> Iterator[str]:
    if grant["ask"]:
        yield "somebody would have to approve it, and a host has nobody to ask: it is refused there"
    if grant["conditional"]:
        allowed = "allowed" if any(grant["actions"].values()) else "refused"
        yield f"it depends on {grant['conditional']}, which a host does not see: it is {allowed} there"
