"""Well-kept trees in the formats of others, made up here; no finding is right about any of them."""

from __future__ import annotations

from pathlib import Path

from tests.support.trees import write_tree

COPILOT = {
    ".github/agents/planner.agent.md": """---
name: Planner
description: Plans a change before it is built. Use when a feature is asked for.
tools: ['search', 'web/fetch', 'agent', 'tracker/list_issues']
agents: [Implementer, reviewer]
model: [Claude Sonnet 4.5 (copilot), GPT-5]
handoffs:
  - label: Build it
    agent: Implementer
    prompt: Build what was planned.
    send: false
---

Plan in small steps. Ask the user what is unclear.
""",
    ".github/agents/implementer.agent.md": """---
name: Implementer
description: Writes the code of a plan. Use after a plan is accepted.
tools: [read, edit, search/codebase, execute/runInTerminal]
agents: []
target: vscode
---

Small commits.
""",
    ".github/agents/reviewer.md": """---
description: Reviews changes for faults and missing tests. Use after code was written.
tools: read, Grep
disable-model-invocation: true
---

Rank what you find.
""",
    ".github/chatmodes/Explain.chatmode.md": """---
description: Explains code to newcomers. Use when somebody asks how a module works.
tools: [codebase, usages, fetch]
---

Short sentences.
""",
    ".github/skills/release/SKILL.md": """---
name: release
description: How a version is published. Use when a release is asked for.
---

Tag, build, publish.
""",
    ".github/workflows/ci.yml": "on: push\njobs: {}\n",
    ".github/copilot-instructions.md": "Write tests.\n",
    ".vscode/mcp.json": '{"servers": {"tracker": {"command": "tracker-mcp"}}}\n',
    ".vscode/settings.json": '{"editor.tabSize": 2}\n',
    "src/app.py": "print()\n",
}
MCP = {
    "mcp.json": '{\n  "mcpServers": {\n    "tracker": {"command": "tracker-mcp", "args": ["--stdio"]},\n    "docs": {"url": "https://docs.example/mcp"}\n  }\n}\n',
    "mcp-tools.json": """{
  "servers": {
    "tracker": {
      "tools": [
        {
          "name": "list_issues",
          "description": "Lists the open issues of a project.",
          "inputSchema": {"type": "object", "properties": {"project": {"type": ["string", "null"]}}}
        },
        {"name": "close_issue", "inputSchema": {"type": "object"}}
      ]
    }
  }
}
""",
}
AGENT_ZERO = {
    "agents/lead/agent.yaml": """title: Lead
description: Plans the work of a release.
context: Take it when a task needs several others.
""",
    "agents/lead/prompts/agent.system.main.specifics.md": "## Your role\nHand out work. Never write code.\n",
    "agents/lead/plugins/_tool_access/config.json": """{
  "mode": "custom",
  "default": "block",
  "mcp_default": "block",
  "allowed": ["local:call_subordinate", "local:memory_load", "mcp:tracker:list_issues"],
  "blocked": []
}
""",
    "agents/writer/agent.json": '{"title": "Writer", "description": "Writes code and its tests.", "context": "Take it for a change.", "enabled": false}\n',
    "agents/writer/prompts/agent.system.main.role.md": "Small commits.\n",
    "agents/writer/prompts/agent.system.tool.code_exe.md": "How to run code.\n",
    "agents/writer/extensions/monologue_start/_10_greet.py": "print()\n",
    "prompts/agent.system.main.md": "You are an agent.\n",
}
TREES = {"copilot": COPILOT, "mcp": MCP, "agent_zero": AGENT_ZERO}


def lay_out(folder: Path, name: str) -> Path:
    """Write one of the trees."""
    return write_tree(folder, TREES[name])
