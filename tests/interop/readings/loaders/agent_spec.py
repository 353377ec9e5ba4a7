"""Loads a specification with the deserializer of Open Agent Spec."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lines import Agents, serve
from pyagentspec.serialization import AgentSpecDeserializer


def load(folder: Path) -> Agents:
    """The agents of the specification."""
    found: Agents = {}
    text = (folder / "team.yaml").read_text("utf-8-sig")
    _collect(AgentSpecDeserializer().from_yaml(text), found)
    return found


def _collect(component: Any, found: Agents) -> None:
    kind = type(component).__name__
    if kind == "ManagerWorkers":
        _collect(component.group_manager, found)
        for each in component.workers:
            _collect(each, found)
        found[component.group_manager.name]["delegates"] += [each.name for each in component.workers]
    elif kind == "Agent":
        tools = [each.name for each in component.tools]
        model = getattr(component.llm_config, "model_id", "")
        found.setdefault(component.name, {"tools": tools, "model": model, "delegates": []})


serve(load)
