"""Locates the files of Kiro: `.kiro/agents` of a project, and its MCP servers."""

from __future__ import annotations

import os

from orgkernel.loading.formats.agent_folders import AgentFolders

MARKDOWN_AGENT, JSON_AGENT = ".md", ".json"
FOLDERS = AgentFolders(
    ".kiro",
    ("agents",),
    MARKDOWN_AGENT,
    (os.path.join(".kiro", "settings", "mcp.json"),),
    more_suffixes=(JSON_AGENT,),
)


def get_agent_name(path: str) -> str:
    """The name of an agent that states none: its path below the folder of agents, without the suffix.

    >>> get_agent_name("/p/.kiro/agents/team/planner.md"), get_agent_name("/p/planner.json")
    ('team/planner', 'planner')
    """
    parts = os.path.splitext(path)[0].split(os.sep)
    for number in range(len(parts) - 2, 0, -1):
        if parts[number] in FOLDERS.names and parts[number - 1] == FOLDERS.hidden:
            return "/".join(parts[number + 1 :])
    return parts[-1]
