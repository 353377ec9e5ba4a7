"""Makes an agent of a declarative file with the Microsoft Agent Framework."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from agent_framework_declarative import AgentFactory
from lines import Agents, serve


class _Client:
    """In the place of a model: it is made for the model of the file, and keeps its name."""

    model = ""


def load(folder: Path) -> Agents:
    """The agent of a file, as the factory makes it."""
    agent = AgentFactory(client=_Client()).create_agent_from_yaml((folder / "agent.yaml").read_text("utf-8"))
    given: Any = agent.default_options.get("tools") or ()
    return {str(agent.name): {"tools": [each.name for each in given if hasattr(each, "name")]}}


serve(load)
