"""Loads an agent configuration and all agents below it with Google ADK."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import google.adk.tools
from google.adk.agents.config_agent_utils import from_config
from google.adk.flows.llm_flows.agent_transfer import _get_transfer_targets
from lines import Agents, serve

_TOOLS = {name: getattr(google.adk.tools, name) for name in ("google_search", "load_memory", "exit_loop")}


def load(folder: Path) -> Agents:
    """The agents of a root agent."""
    found: Agents = {}
    _collect(from_config(str(folder / "root_agent.yaml")), found)
    return found


def _collect(agent: Any, found: Agents) -> None:
    model = getattr(agent, "model", "")
    below = list(getattr(agent, "sub_agents", None) or ())
    graph = getattr(agent, "graph", None)
    nodes = [each for each in (graph.nodes if graph else ()) if hasattr(each, "sub_agents")]
    given = getattr(agent, "tools", None) or ()
    as_tools = [each.agent for each in given if hasattr(each, "agent")]
    transfers = {each.name for each in _get_transfer_targets(agent)}
    found[agent.name] = {
        "tools": [name for name, tool in _TOOLS.items() if any(tool is each for each in given)],
        "model": model if isinstance(model, str) else "",
        "delegates": sorted({*(each.name for each in (*below, *nodes, *as_tools)), *transfers}),
    }
    for each in (*below, *nodes, *as_tools):
        if each.name not in found:
            _collect(each, found)


serve(load)
