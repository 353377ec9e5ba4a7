"""Find decisions that a bundle cannot express, because they depend on unknown circumstances or on an approval.

A bundle has one answer for all circumstances: what is allowed while none is known. The remarks tell the person who
compiles where that is not the whole answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from orgkernel.diagnostics.wording import listing
from orgkernel.exchange.agent_zero.host_names import RUNTIME
from orgkernel.graph.questions import OrgView

_METHOD = (
    "the host's name for it has a method, and a host checks only the whole tool, so a role that may call one method may "
    "call all of them; declare the methods as `actions` of one tool"
)


def find_remarks(compiled: Mapping[str, Any], view: OrgView) -> tuple[str, ...]:
    """One sentence for each reason, with the tools that it concerns."""
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
        yield "it needs an approval, which a host cannot ask for, so the host refuses it"
    if grant["conditional"]:
        allowed = "allowed" if any(grant["actions"].values()) else "refused"
        yield f"it depends on {grant['conditional']}, which a host does not know, so it is {allowed} there"
