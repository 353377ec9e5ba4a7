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
OPENCODE = {
    ".opencode/agents/lead.md": """---
description: Plans a change. Use when a feature is asked for.
mode: primary
permission:
  edit: ask
  tracker_delete_issue: deny
  task: {"*": deny, "docs/*": allow}
---

Plan in small steps.
""",
    ".opencode/agents/docs/writer.md": """---
description: Writes documentation. Use after a change.
mode: subagent
tools: {bash: false}
model: anthropic/claude-sonnet-4-5
---

Short sentences.
""",
    "opencode.json": """{
  "permission": {"webfetch": "ask"},
  "mcp": {"tracker": {"type": "local", "command": ["tracker-mcp"]}},
  "agent": {
    "review": {
      "description": "Reviews changes. Use after code was written.",
      "mode": "subagent",
      "prompt": "Rank what you see.",
      "permission": {"edit": "deny", "bash": {"*": "ask", "git push*": "deny"}}
    }
  }
}
""",
}
CODEX = {
    ".codex/agents/explorer.toml": '''name = "explorer"
description = "Explores code before a change. Use for open questions."
developer_instructions = """
Name files and lines.
"""

[features]
shell_tool = false

[mcp_servers.docs]
url = "https://docs.example/mcp"
''',
    ".codex/agents/worker.toml": """name = "worker"
description = "Makes the change that was agreed on. Use after a plan."
model = "gpt-5"
developer_instructions = "Small commits."
""",
    ".codex/config.toml": '[mcp_servers.tracker]\ncommand = "tracker-mcp"\ndisabled_tools = ["delete_issue"]\n',
}
GEMINI_CLI = {
    ".gemini/agents/auditor.md": """---
name: auditor
description: Finds security problems. Use before a release.
tools: [read_file, grep_search, mcp_tracker_list_issues, run_shell_command]
---

Name the file and the line.
""",
    ".gemini/agents/fixer.md": """---
name: fixer
description: Fixes problems. Use after an audit.
mcp_servers:
  scanner: {command: scanner-mcp}
---

Small commits.
""",
    ".gemini/settings.json": """{
  "mcpServers": {"tracker": {"command": "tracker-mcp"}},
  "tools": {"exclude": ["run_shell_command(rm)", "web_fetch"]}
}
""",
}
CURSOR = {
    ".cursor/agents/verifier.md": """---
name: verifier
description: Verifies finished work. Use before it is handed over.
readonly: true
model: fast
---

Believe nothing that you did not see.
""",
    ".cursor/agents/debugger.md": """---
name: debugger
description: Explains failures. Use when a test fails.
is_background: true
---

One cause at a time.
""",
    ".cursor/mcp.json": '{"mcpServers": {"tracker": {"command": "tracker-mcp"}}}\n',
    ".cursor/rules/style.mdc": "---\ndescription: Style\n---\nShort lines.\n",
}
ADK = {
    "root_agent.yaml": """name: tutor
model: gemini-2.5-flash
description: Answers questions about homework.
instruction: Give the question to the agent that knows the subject.
sub_agents:
  - config_path: below/code.yaml
  - config_path: below/loop.yaml
tools:
  - name: google_search
""",
    "below/code.yaml": """agent_class: LlmAgent
name: code_tutor
description: Explains code and errors.
instruction: Explain one step at a time.
tools:
  - name: google_search
  - name: tutor.tools.run_code
""",
    "below/loop.yaml": "agent_class: LoopAgent\nname: grader\ndescription: Grades until it is right.\nsub_agents: []\n",
    "settings.yaml": "verbose: true\n",
}
AGENT_FRAMEWORK = {
    "weather.yaml": """kind: Prompt
name: Weather
description: Tells the weather of a place.
instructions: Be short.
model:
  id: gpt-5
tools:
  - kind: function
    name: GetWeather
    description: Reads the weather.
  - kind: web_search
  - kind: mcp
    serverName: maps
""",
    "travel.yaml": "kind: Prompt\nname: Travel\ndescription: Plans a trip.\ninstructions: Ask for dates.\n",
    "flow.yaml": "kind: Workflow\ntrigger: {kind: OnConversationStart, actions: []}\n",
}
AGENT_FORMAT = {
    "lead.agf.yaml": """schema_version: "1.0.0"
metadata:
  id: lead
  name: Lead
  version: "1.0.0"
  description: Plans trips. Use it first.
interface: {input: {type: object}, output: {type: string}}
action_space:
  local_tools:
    - alias: book
      description: Books a seat.
      approval: true
    - alias: look_up
  mcp_servers:
    - alias: maps
      server_ref: io.example/maps
      allowed_tools: [route, {name: pay, approval: true}]
    - alias: mail
  local_agents:
    - {alias: finder, source_type: file, source: sub/finder.agf.yaml}
execution_policy:
  id: agf.react
  config: {model: gemini-2.5-pro, instructions: Ask for dates first.}
""",
    "sub/finder.agf.yaml": """schema_version: "1.0.0"
metadata: {id: finder, name: Finder, version: "1.0.0", description: Finds trains. Use it for trains.}
interface: {input: {type: object}, output: {type: string}}
execution_policy: {id: agf.react, config: {model: gemini-2.5-pro, instructions: Be quick.}}
""",
    "registry.yaml": "agents: [lead, finder]\n",
}
AUTOGEN = {
    "team.json": """{
  "provider": "autogen_agentchat.teams.Swarm",
  "component_type": "team",
  "config": {
    "participants": [
      {
        "provider": "autogen_agentchat.agents.AssistantAgent",
        "component_type": "agent",
        "config": {
          "name": "travel_agent",
          "model_client": {"provider": "autogen_ext.models.openai.OpenAIChatCompletionClient", "component_type": "model", "config": {"model": "gpt-4o"}},
          "description": "Plans trips.",
          "system_message": "Ask for dates.",
          "handoffs": [{"target": "refunder", "description": "", "name": "transfer_to_refunder"}, {"target": "user"}],
          "workbench": [{"provider": "autogen_core.tools.StaticWorkbench", "config": {"tools": [{"provider": "autogen_core.tools.FunctionTool", "config": {"name": "book", "description": "Books.", "source_code": "def book(): pass"}}]}}]
        }
      },
      {
        "provider": "autogen_agentchat.agents.AssistantAgent",
        "component_type": "agent",
        "config": {"name": "refunder", "description": "Refunds.", "system_message": "Be kind.",
          "tools": [{"provider": "autogen_core.tools.FunctionTool", "config": {"name": "refund", "description": "Refunds."}}]}
      },
      {"provider": "autogen_agentchat.agents.UserProxyAgent", "component_type": "agent", "config": {"name": "user_proxy"}}
    ],
    "termination_condition": {"provider": "autogen_agentchat.conditions.TextMentionTermination", "config": {"text": "END"}}
  }
}
""",
    "package.json": '{"name": "desk"}\n',
}
TREES = {
    "agent_format": AGENT_FORMAT,
    "autogen": AUTOGEN,
    "adk": ADK,
    "agent_framework": AGENT_FRAMEWORK,
    "opencode": OPENCODE,
    "codex": CODEX,
    "gemini_cli": GEMINI_CLI,
    "cursor": CURSOR,
    "copilot": COPILOT,
    "mcp": MCP,
    "agent_zero": AGENT_ZERO,
}


def lay_out(folder: Path, name: str) -> Path:
    """Write one of the trees."""
    return write_tree(folder, TREES[name])
