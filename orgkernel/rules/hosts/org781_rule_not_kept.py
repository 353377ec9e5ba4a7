"""A permission rule of Claude Code closes a whole tool for a part of it, or is about a tool that is not there.

## What it checks

The rules under `deny` and `ask` in `.claude/settings.json` and `settings.local.json` name tools that are there, as a whole or
by the files of the project that they are about (`Read(./.env)`, `Edit(docs/**)`), or by the words that commands begin with
(`Bash(rm:*)`).

## Why it matters

What orgkernel cannot tell apart stays closed: a rule that denies another part of a tool (`Bash(ls*)`, `Read(~/.ssh/**)`) denies
all of it here, and one that asks about such a part asks about all of it. A rule about a tool that is not there has no effect.

## Example

```json
{"permissions": {"deny": ["Read(~/.env)"]}}
```

## Instead

```json
{"permissions": {"deny": ["Read(./.env)"]}}
```

## Known limits

It is only information: Claude Code itself allows more. A path is understood if it is relative (`./x`, `x`, `/x`) and has
nothing but letters, digits, `_ . @ + = , -`, the wildcards `*` and `?`, and `**` as a whole name. The beginning of a command is
understood if it is words of letters, digits and `_ . / : @ % + , = ~ -`, with `:*` or ` *` at the end or nothing. Rules under `allow` give nobody a
tool and are not checked. A tool that is denied or asked about as a whole as well is not reported.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import did_you_mean, quote
from orgkernel.graph.questions import OrgView
from orgkernel.loading.formats.claude_code.parts import COMMAND_TOOL, FILE_TOOLS, parse_tool_part
from orgkernel.loading.formats.claude_code.permissions import EFFECTS, KIND, iterate_rule_tools
from orgkernel.loading.formats.names import MCP
from orgkernel.rules.hosts.foreign_agents import list_documents_of_kind
from orgkernel.rules.rule import Finding, Rule, RuleTarget

_PART = {
    "deny": "denies part of the tool {tool}, so no agent has {tool} here",
    "ask": "asks about part of the tool {tool}, so every use of {tool} requires an approval here",
}
_UNKNOWN = {"deny": "denies", "ask": "asks about"}


def check(view: OrgView) -> Iterator[Finding]:
    """Rules that are taken for more, or for nothing."""
    tools = view.records.tools
    known = [tool for tool in tools if not tool.startswith(MCP)]
    for document, words in list_documents_of_kind(view, KIND):
        for effect in EFFECTS:
            for number, word in enumerate(words.get(effect, ())):
                tool, has_argument, _ = word.partition("(")
                named = list(iterate_rule_tools(word))
                if not any(each == "*" or each.removesuffix("__*") in tools for each in named):
                    clause, help = (
                        f"{_UNKNOWN[effect]} a tool that is not declared here",
                        did_you_mean(tool, known),
                    )
                elif has_argument and tool not in words[effect] and parse_tool_part(word) is None:
                    clause = _PART[effect].format(tool=quote(tool.strip()))
                    help = f"name {quote(tool.strip())} as a whole if that is meant"
                    if tool.strip() in FILE_TOOLS:
                        help += f", or files of the project, such as `{tool.strip()}(./secrets/**)`"
                    if tool.strip() == COMMAND_TOOL:
                        help += (
                            f", or the words that commands begin with, such as `{COMMAND_TOOL}(git push:*)`"
                        )
                else:
                    continue
                place = document.place(effect, number)
                yield Finding(place, f"the rule {quote(word)} {clause}", help, f"tool:{tool.strip()}")


RULE = Rule("ORG781", "rule-not-kept", Severity.INFO, RuleTarget.ORGANIZATION, check)
