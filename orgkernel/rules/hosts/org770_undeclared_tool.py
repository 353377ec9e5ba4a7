"""An agent lists a tool that is not declared, so orgkernel treats it as not having the tool.

## What it checks

Every tool that an agent of CrewAI, Open Agent Spec, OpenCode or Gemini CLI lists is declared: by the project, or by
the host. For CrewAI, the project declares a method with `@tool` in the class of the crew, or a file `tools/NAME.py`
that agents list as `custom:NAME`; the tools of the host are those of the library `crewai_tools`.

## Why it matters

CrewAI stops with an error when the crew is started, and Gemini CLI does not load the agent. In orgkernel, no role has an
undeclared tool, so every request to use it is denied. A rule of OpenCode that denies an undeclared tool protects nothing.

## Example

```jsonc
{
  "role": "Researcher",
  "goal": "Find sources about {topic}. Use for open questions.",
  "backstory": "You were a librarian.",
  "tools": ["SerperDevTol"]
}
```

## Instead

```jsonc
{
  "role": "Researcher",
  "goal": "Find sources about {topic}. Use for open questions.",
  "backstory": "You were a librarian.",
  "tools": ["SerperDevTool"]
}
```

## Known limits

The finding is only a warning, because a tool can be registered in code that is not read, or be newer than the list of
`crewai_tools` that comes with orgkernel. Nothing is reported while a file that declares tools cannot be read.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import did_you_mean, quote
from orgkernel.graph.questions import OrgView
from orgkernel.loading.formats.coding_agents import RULE_EFFECTS, RULES
from orgkernel.loading.formats.roles import UNDECLARED
from orgkernel.rules.hosts.foreign_agents import (
    AGENT_SPEC,
    CREWAI,
    GEMINI_CLI,
    KIRO,
    OPENCODE,
    get_written_words,
    iterate_agents,
)
from orgkernel.rules.rule import Finding, Rule, RuleTarget

_WAYS_OUT = {
    AGENT_SPEC: "describe it as a component, or also read the file that describes it",
    GEMINI_CLI: "remove it, because Gemini CLI does not load an agent with an unknown tool, or declare its server",
    KIRO: "remove it, or declare its server under `mcpServers` of the agent or in `.kiro/settings/mcp.json`",
    OPENCODE: "remove it, or declare its server under `mcp` in `opencode.json`",
    CREWAI: "write a method with `@tool` of this name in the class of the crew, or `tools/NAME.py` for a tool `custom:NAME`",
}


def check(view: OrgView) -> Iterator[Finding]:
    """Find undeclared words among the tools of agents."""
    tools = view.records.tools
    if "tool_catalog" in view.records.incomplete:
        return
    way_out = _WAYS_OUT.get(view.records.document.format, "declare it next to the other tools")
    for post in iterate_agents(view):
        words = get_written_words(post)
        for each in words.get(UNDECLARED, ()):
            field, _, number = each.partition(" ")
            word = words[field][int(number)]
            effect = words[RULE_EFFECTS][int(number)] if field == RULES else "allow"
            agent = f"agent {quote(post.profile.name)}"
            yield Finding(
                post.document.place(field, int(number)),
                f"{agent} lists the tool {quote(word)}, which is not declared, so it is treated as not having it"
                if effect == "allow"
                else f"{agent} has a rule `{effect}` for the tool {quote(word)}, which is not declared, so the rule has no "
                "effect",
                did_you_mean(
                    word, [name for tool in tools.values() if (name := tool.record.name or tool.id) != word]
                )
                or way_out,
                f"role:{post.role_id}",
            )


RULE = Rule("ORG770", "undeclared-tool", Severity.WARNING, RuleTarget.ORGANIZATION, check)
