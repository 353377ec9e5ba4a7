"""Loads a component with AutoGen: an agent, or a team with all agents in it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from autogen_core import ComponentLoader
from lines import Agents, serve


def load(folder: Path) -> Agents:
    """The agents of the component. AutoGen reads no files, so a program decides how a byte order mark is read."""
    found: Agents = {}
    _collect(
        ComponentLoader.load_component(json.loads((folder / "team.json").read_text("utf-8-sig")), object),
        found,
    )
    return found


def _collect(component: Any, found: Agents) -> None:
    below = [*getattr(component, "_participants", ())]
    if team := getattr(component, "_team", None):
        below.append(team)
    if type(component).__name__.endswith("Agent") and hasattr(component, "on_messages"):
        benches = getattr(component, "_workbench", None) or ()
        found[component.name] = {
            "tools": [tool.name for bench in benches for tool in getattr(bench, "_tools", ())],
            "delegates": [each.target for each in getattr(component, "_handoffs", {}).values()],
        }
    for each in below:
        _collect(each, found)


serve(load)
