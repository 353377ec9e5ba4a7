"""The names of the files and folders of Claude Code, and the areas of a project."""

from __future__ import annotations

import os

from orgkernel.loading.files import SKILLS, Area
from orgkernel.loading.formats.format import Layout

CLAUDE_CODE = "claude-code"
AGENTS, COMMANDS, HIDDEN = "agents", "commands", ".claude"
MANIFESTS = ".claude-plugin"
PLUGIN = os.path.join(MANIFESTS, "plugin.json")
MARKETPLACE = os.path.join(MANIFESTS, "marketplace.json")
SERVERS = ".mcp.json"
SETTINGS = ("settings.json", "settings.local.json")
AGENT_FILES, SKILL_FILES, COLLECTION_FILES = r".*\.md", r"[^/]+/SKILL\.md", r"[^/]+\.md"
AGENT, COMMAND, SKILL, COLLECTION = "agent", "command", "skill", "collection"
"""Kinds of content of an area. Files of a collection are agents only if they begin like one."""


def build_project_layout(top: str) -> Layout:
    """The layout of a project with a `.claude` folder."""
    return Layout(
        top,
        (
            Area(os.path.join(HIDDEN, AGENTS), AGENT_FILES, content=AGENT),
            Area(os.path.join(HIDDEN, SKILLS), SKILL_FILES, content=SKILL),
            Area(os.path.join(HIDDEN, COMMANDS), AGENT_FILES, content=COMMAND),
            Area(SERVERS),
            *(Area(os.path.join(HIDDEN, each)) for each in SETTINGS),
        ),
    )
