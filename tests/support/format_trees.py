"""Folders in the formats of others for tests, made up here: agent cards, specifications and skills, all well kept."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.support.trees import write_tree


def new_card(name: str, description: str, **more: Any) -> dict[str, Any]:
    """A card of A2A 1.0 with one skill."""
    return {
        "name": name,
        "description": description,
        "version": "1.2.0",
        "supportedInterfaces": [
            {"url": "https://agents.example/a2a", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}
        ],
        "capabilities": {"streaming": True},
        "defaultInputModes": ["text/plain"],
        "defaultOutputModes": ["text/plain", "application/json"],
        "skills": [
            {
                "id": "main",
                "name": "What it does",
                "description": description,
                "tags": ["example"],
                "examples": [f"Please help me with {description.casefold()}"],
            }
        ],
    } | more


def old_card(name: str, description: str, **more: Any) -> dict[str, Any]:
    """A card of A2A 0.3 with one skill that gives no examples."""
    return {
        "protocolVersion": "0.3.0",
        "name": name,
        "description": description,
        "url": "https://old.example/a2a",
        "preferredTransport": "JSONRPC",
        "version": "0.9.1",
        "capabilities": {},
        "defaultInputModes": ["text"],
        "defaultOutputModes": ["text"],
        "skills": [
            {
                "id": "plan-route",
                "name": "Plan a route",
                "description": "Finds the fastest way by bicycle.",
                "tags": ["maps"],
            }
        ],
    } | more


def cards(folder: Path) -> Path:
    """A folder of three cards, one of each version and one of both, and a JSON file that is not a card."""
    both = new_card("Invoice Clerk", "Books invoices and chases those that are late")
    both |= {"url": "https://agents.example/a2a", "protocolVersion": "0.3", "preferredTransport": "JSONRPC"}
    files = {
        "recipes.json": new_card("Recipe Agent", "Finds recipes for what is in the fridge"),
        "routes.json": old_card("Route Planner", "Plans trips by bicycle and train"),
        "invoices.json": both,
        "settings.json": {"theme": "dark"},
    }
    return write_tree(folder, {name: json.dumps(value, indent=2) + "\n" for name, value in files.items()})


SPEC = """\
component_type: ManagerWorkers
id: team-1
name: Newsroom
group_manager:
  component_type: Agent
  id: agent-1
  name: editor
  description: Decides which stories are told
  llm_config: {$component_ref: model-1}
  system_prompt: You edit {{paper}}. You cut before you praise.
  tools: []
workers:
  - component_type: ManagerWorkers
    id: team-2
    name: Desk
    group_manager:
      component_type: Agent
      id: agent-2
      name: desk_chief
      description: Hands out stories of the day
      llm_config: {$component_ref: model-1}
      system_prompt: You hand out work.
    workers:
      - component_type: Agent
        id: agent-3
        name: reporter
        description: Finds out what happened
        llm_config: {$component_ref: model-1}
        system_prompt: You call people back.
        tools:
          - $component_ref: tool-1
          - component_type: ClientTool
            id: tool-2
            name: send_mail
            description: Sends a mail.
            requires_confirmation: true
            inputs: [{title: text, type: string}]
  - $component_ref: agent-4
$referenced_components:
  tool-1:
    component_type: ServerTool
    id: tool-1
    name: search_archive
    description: Searches what was printed.
    inputs: [{title: words, type: string}]
    outputs: [{title: found, type: string}]
  agent-4:
    component_type: Agent
    id: agent-4
    name: fact checker
    description: Compares statements with their sources
    llm_config: {$component_ref: model-1}
    system_prompt: You trust nobody.
    tools:
      - $component_ref: tool-1
  model-1:
    component_type: VllmConfig
    id: model-1
    name: model
    model_id: llama
    url: http://localhost:9000
agentspec_version: 25.4.2
"""


def specification(folder: Path) -> Path:
    """A team of two levels with four agents."""
    return write_tree(folder, {"newsroom.yaml": SPEC, "notes.yaml": "a: 1\n"})


def skills(folder: Path) -> Path:
    """A folder of two skills without any agent."""
    text = "---\nname: {}\ndescription: {}\n---\n\nStep by step.\n"
    files = {
        "skills/release/SKILL.md": text.format(
            "release", "How a version is cut. Use when a release is asked for."
        ),
        "skills/release/references/REFERENCE.md": "# More\n",
        "skills/incident/SKILL.md": text.format(
            "incident", "What to do in an outage. Use when an alert fires."
        ),
    }
    return write_tree(folder, files)
