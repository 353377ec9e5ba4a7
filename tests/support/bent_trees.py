"""A small tree in each format of others, whose files use most of its fields; where tests bend them."""

from __future__ import annotations

from pathlib import Path

from tests.support import other_trees
from tests.support.claude_trees import AGENTS, well_kept
from tests.support.crew_trees import json_crew, yaml_crew
from tests.support.trees import write_tree

_SKILL = (
    "---\nname: tidy\ndescription: How to tidy. Use after work.\nlicense: MIT\nallowed-tools: Read Bash(git:*)\n"
    "metadata:\n  author: us\n---\nSee [how](references/how.md).\n"
)
_LEAD = """---
name: lead
description: |
  Coordinates a change. Use for work of several steps.

  <example>
  user: "Do it"
  </example>
tools: Agent(code-reviewer, test-runner), Read, Bash(git:*), mcp__sentry__find
disallowedTools: Write, Task(nobody)
model: opus
permissionMode: plan
skills: [release, none]
mcpServers:
  - sentry
  - own: {command: run, args: [a, b]}
maxTurns: 12
color: green
orgkernel-suppressions: [{rule: ORG756, reason: it is known}]
---

Read `docs/none.md`, ask @agent-code-reviewer, use the Grep tool, and end with the `/ship` command.

```yaml
subagent_type: "nobody"
```
"""
_COPILOT = """---
name: Planner
description: Plans a change. Use before coding.
tools: ['search', 'edit', 'github/*', 'agent']
agents: ['Coder', 'Nobody']
model: GPT-5 (copilot)
user-invocable: true
handoffs:
  - label: Start
    agent: Coder
    prompt: Go on.
    send: false
mcp-servers:
  own: {type: local, command: run, tools: ['*']}
---
Plan it with #tool:search, then hand it to the `Coder` agent.
"""
_A2A = (
    '{"name": "Helper", "description": "Helps.", "version": "1.0.0", "supportedInterfaces": [{"url": "https://x.example/a", '
    '"protocolBinding": "JSONRPC", "protocolVersion": "1.0", "tenant": "helper"}], "capabilities": {"streaming": true}, '
    '"defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"], "skills": [{"id": "help", "name": "Help", '
    '"description": "Helps with it.", "tags": ["help"], "examples": ["Help me"]}]}\n'
)
_A2A_OLD = (
    '{"protocolVersion": "0.3.0", "name": "Older", "description": "Helps as well.", "url": "https://x.example/b", '
    '"preferredTransport": "JSONRPC", "version": "1", "capabilities": {}, "defaultInputModes": ["text/plain"], '
    '"defaultOutputModes": ["text/plain"], "skills": [{"id": "aid", "name": "Aid", "description": "Aids.", "tags": ["aid"]}]}\n'
)
_SPEC = """component_type: ManagerWorkers
agentspec_version: 26.1.0
name: team
description: A team.
group_manager:
  component_type: Agent
  name: boss
  description: Leads.
  llm_config: {component_type: OpenAiConfig, name: m, model_id: gpt-5}
  system_prompt: Hand work to the `worker` agent.
  tools:
    - component_type: ServerTool
      name: look
      description: Looks.
      inputs: [{title: what, type: string}]
workers:
  - {component_type: Agent, name: worker, description: Works., system_prompt: Work., llm_config: {component_type: OpenAiConfig, name: n, model_id: gpt-5}}
"""
_TOOLS = (
    '{"tools": [{"name": "find", "description": "Finds.", "inputSchema": {"type": "object", "properties": {"path": '
    '{"type": "string"}}}, "annotations": {"readOnlyHint": true, "destructiveHint": false}}]}\n'
)
_SERVERS = '{"mcpServers": {"files": {"command": "run", "args": ["-x"], "env": {"A": "b"}}, "web": {"type": "http", "url": "https://x.example/mcp"}}}\n'

_FILES = {
    "skills": {"tidy/SKILL.md": _SKILL, "ship/SKILL.md": _SKILL.replace("tidy", "ship")},
    "mcp": {"mcp.json": _SERVERS, "files.tools.json": _TOOLS, "tools.json": _TOOLS},
    "a2a": {"agent-card.json": _A2A, ".well-known/agent-card.json": _A2A, "older/agent.json": _A2A_OLD},
    "agent-zero": {
        "agents/coder/agent.yaml": "title: Coder\ndescription: Codes.\ncontext: Use it to code.\n",
        "agents/coder/prompts/agent.system.main.role.md": "# Role\nYou code. Read `docs/none.md`.\n",
        "agents/coder/prompts/agent.system.main.specifics.md": "Ask the `tester` agent.\n",
        "agents/tester/agent.json": '{"title": "Tester", "description": "Tests.", "context": "Use it to test."}\n',
    },
    "copilot": {
        ".github/agents/planner.agent.md": _COPILOT,
        ".github/agents/coder.agent.md": "---\nname: Coder\ndescription: Codes. Use to code.\ntools: ['edit']\n---\nCode.\n",
    },
    "agent-spec": {"team.yaml": _SPEC},
    **{
        name.replace("_", "-"): other_trees.TREES[name]
        for name in (
            "opencode",
            "codex",
            "gemini_cli",
            "cursor",
            "kiro",
            "roo",
            "adk",
            "agent_framework",
            "agent_format",
            "autogen",
            "probos",
        )
    },
}


def tree_in(format: str, folder: Path) -> Path:
    """A tree in a format."""
    if format == "claude-code":
        well_kept(folder)
        return write_tree(folder, {f"{AGENTS}/deep/lead.md": _LEAD, ".claude/commands/go.md": "Go.\n"})
    if format == "crewai":
        yaml_crew(folder)
        json_crew(folder / "other")
        return folder
    return write_tree(folder, _FILES[format])
