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
KIRO = {
    ".kiro/agents/releaser.md": """---
name: releaser
description: Releases versions. Use when a version is ready.
tools: [read, shell, subagent, "@tracker"]
permissions:
  rules:
    - capability: shell
      effect: allow
    - capability: shell
      effect: deny
      match: ["git push --force *"]
    - capability: subagent
      effect: allow
      match: [team/reader]
---

Release what the tests accept.
""",
    ".kiro/agents/team/reader.md": """---
description: Reads changes. Use before a release.
tools: [read]
---

Name the line of every fault.
""",
    ".kiro/agents/builder.json": """{
  "name": "builder",
  "description": "Builds. Use to change code.",
  "prompt": "file://./prompts/builder.md",
  "tools": ["fs_read", "fs_write", "execute_bash"],
  "allowedTools": ["fs_*"],
  "toolsSettings": {"execute_bash": {"deniedCommands": ["git push .*"]}}
}
""",
    ".kiro/agents/prompts/builder.md": "Build in small steps.\n",
    ".kiro/settings/mcp.json": '{"mcpServers": {"tracker": {"command": "tracker-mcp"}}}\n',
    ".kiro/steering/style.md": "Short lines.\n",
}
ROO = {
    ".roomodes": r"""customModes:
  - slug: docs-writer
    name: Docs Writer
    roleDefinition: You write documentation. Nothing else.
    whenToUse: Use for texts about the product.
    groups:
      - read
      - - edit
        - fileRegex: \.md$
          description: Markdown only
    orgkernel-suppressions:
      - {rule: ORG755, reason: The host limits the files of this mode.}
  - slug: builder
    name: Builder
    roleDefinition: You build features. Start small.
    customInstructions: Run the tests.
    groups: [read, edit, command, mcp]
""",
    ".roo/mcp.json": '{"mcpServers": {"tracker": {"command": "tracker-mcp"}}}\n',
    ".roo/rules/style.md": "Short lines.\n",
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
PROBOS = {
    "config/ontology/vessel.yaml": """vessel:
  identity: {name: Tender, version: "1.0", description: A tender that lays buoys.}
  alert_conditions: [CALM, STORM]
  default_alert_condition: CALM
""",
    "config/ontology/organization.yaml": """departments:
  - {id: bridge, name: Bridge, description: Commands}
  - {id: deck, name: Deck}
posts:
  - {id: owner, title: Owner, department: bridge, reports_to: null, authority_over: [mate], tier: external}
  - id: mate
    title: Mate
    department: bridge
    reports_to: owner
    authority_over: [bosun]
    tier: crew
    clearance: FULL
    capabilities:
      - {id: plan_voyage, summary: Plan the voyage of a day from tides and weather, tools: [read_tides], outputs: [plan]}
    does_not_have: []
  - id: bosun
    title: Bosun
    department: deck
    reports_to: mate
    authority_over: []
    clearance: ENHANCED
    capabilities:
      - {id: lay_buoy, summary: Lay a buoy and note its position, tools: [winch, log_position]}
      - {id: mend_chain, summary: Mend the chain of a buoy}
    does_not_have: ["a chart plotter of its own"]
assignments:
  - {agent_type: first_mate, post_id: mate, callsign: Petrel, watches: [day, night]}
  - {agent_type: deckhand, post_id: bosun, callsign: Tern, watches: [day]}
""",
    "config/ontology/operations.yaml": "watch_types:\n  - {id: day, name: Day, staffing: full}\n  - {id: night, name: Night, staffing: minimal}\nduty_categories: []\n",
    "config/ontology/skills.yaml": """skill_taxonomy:
  categories:
    - {id: pcc, name: Universal, description: What everyone needs}
role_templates:
  mate:
    required:
      - {skill_id: communication, min_proficiency: 4}
      - {skill_id: navigation, min_proficiency: 5}
  bosun:
    required:
      - {skill_id: communication, min_proficiency: 2}
      - {skill_id: rope_work, min_proficiency: 4}
    optional:
      - {skill_id: navigation, min_proficiency: 2}
qualification_paths:
  ensign_to_lieutenant:
    description: First step
    requirements:
      - {type: pcc_minimum, description: All, min_proficiency: 2, scope: all_pccs}
      - {type: role_minimum, description: Two, min_proficiency: 3, min_count: 2, scope: role_skills}
""",
    "config/ontology/resources.yaml": """model_tiers: [{id: fast, name: Fast}]
tool_capabilities:
  - {id: read_tides, name: Tide table, description: Reads the tide table, provider: harbor, available_to: all_crew}
  - {id: radio, name: Radio, description: Speaks on the radio, provider: radio, available_to: lieutenant_plus, gated_by: earned_agency}
""",
    "config/ontology/records.yaml": "knowledge_tiers: [{tier: 1, name: Log}]\n",
    "config/standing_orders/federation.md": "Life comes first.\n",
    "config/standing_orders/ship.md": "Wear a vest on deck.\n",
    "config/standing_orders/deck.md": "Coil every line.\n",
    "config/standing_orders/deckhand.md": "Note each buoy at once.\n",
    "config/standing_orders/cook.md": "Soup at noon.\n",
    "config/standing_orders/crew_profiles/_default.yaml": "personality: {openness: 0.5}\n",
    "config/standing_orders/crew_profiles/deckhand.yaml": "callsign: Tern\npersonality: {openness: 0.7, neuroticism: 0.2}\n",
    "config/skills/storm-check/SKILL.md": """---
name: storm-check
description: How the deck is made safe before a storm. Use when a storm is forecast.
metadata:
  probos-department: deck
  probos-skill-id: rope_work
  probos-min-proficiency: 3
---

Lash everything down.
""",
    "src/tender/app.py": "print()\n",
}
TREES = {
    "probos": PROBOS,
    "agent_format": AGENT_FORMAT,
    "autogen": AUTOGEN,
    "adk": ADK,
    "agent_framework": AGENT_FRAMEWORK,
    "opencode": OPENCODE,
    "codex": CODEX,
    "gemini_cli": GEMINI_CLI,
    "cursor": CURSOR,
    "kiro": KIRO,
    "roo": ROO,
    "copilot": COPILOT,
    "mcp": MCP,
    "agent_zero": AGENT_ZERO,
}


def lay_out(folder: Path, name: str) -> Path:
    """Write one of the trees."""
    return write_tree(folder, TREES[name])
