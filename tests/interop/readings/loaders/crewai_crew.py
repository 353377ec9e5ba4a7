"""Loads a crew in YAML as CrewAI does: the class in its `crew.py` is made, and each agent from its part of the configuration."""

from __future__ import annotations

import importlib.util
import itertools
import sys
from pathlib import Path

from crewai import Agent
from lines import Agents, serve

_numbers = itertools.count()
_OWN_MODEL = Agent(role="R", goal="G", backstory="B").llm.model


def load(folder: Path) -> Agents:
    """The agents of a crew. An agent that cannot be made does not count."""
    name = f"crew_{next(_numbers)}"
    spec = importlib.util.spec_from_file_location(name, folder / "crew.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    made = {}
    for key, value in module.Sample().agents_config.items():
        try:
            made[key] = Agent(config=value)
        except Exception as error:
            print(key, error, file=sys.stderr)
    return {
        key: {
            "tools": [*(each.name for each in agent.tools or ()), *(agent.apps or ())],
            "model": "" if agent.llm.model == _OWN_MODEL else agent.llm.model,
            "delegates": [other for other in made if other != key] if agent.allow_delegation else [],
        }
        for key, agent in made.items()
    }


serve(load)
