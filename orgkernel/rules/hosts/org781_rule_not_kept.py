"""A permission rule of Claude Code restricts a whole tool instead of part of it, or names an unknown tool.

## What it checks

The rules under `deny` and `ask` in `.claude/settings.json` and `settings.local.json` name existing tools. A rule
names a whole tool, files (`Read(./.env)`, `Edit(docs/**)`, `Read(~/.ssh/**)`, `Read(//etc/**)`), or the words that
commands begin with (`Bash(rm:*)`).

## Why it matters

A rule about another part of a tool (`Bash(* install)`, `Read(../x)`) cannot be expressed in orgkernel, so it applies
to the whole tool: a `deny` rule denies every use, and an `ask` rule requires an approval for every use. A rule with a
wildcard or a pipe behind the first words (`Bash(curl * | bash)`) applies to every command that begins with these words.
A rule about a tool that does not exist has no effect.

## Example

```json
{"permissions": {"deny": ["Read(../.env)"]}}
```

## Instead

```json
{"permissions": {"deny": ["Read(./.env)"]}}
```

## Known limits

The finding is only informational, because Claude Code itself allows more. A path is understood if it is relative
(`./x`, `x`, `/x`), below the home folder (`~/x`) or absolute (`//x`), and contains only letters, digits, `_ . @ + = ,
-`, the wildcards `*` and `?`, and `**` as a whole name. A command prefix is understood if it consists of words of
letters, digits and `_ . / : @ % + , = ~ -`, optionally followed by `:*` or ` *`. Rules under `allow` grant no tools
and are not checked. A tool is not reported if another rule denies it, or asks about it, as a whole.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import did_you_mean, quote
from orgkernel.graph.questions import OrgView
from orgkernel.loading.formats.claude_code.parts import COMMAND_TOOL, FILE_TOOLS, parse_tool_part
from orgkernel.loading.formats.claude_code.permissions import EFFECTS, iterate_rule_tools
from orgkernel.loading.formats.names import MCP
from orgkernel.loading.formats.tool_policies import KIND
from orgkernel.rules.hosts.foreign_agents import list_documents_of_kind
from orgkernel.rules.rule import Finding, Rule, RuleTarget

_PART = {
    "deny": "denies part of the tool {tool}, so no agent has {tool} here",
    "ask": "asks about part of the tool {tool}, so every use of {tool} requires an approval here",
}
_UNKNOWN = {"deny": "denies", "ask": "asks about"}


def check(view: OrgView) -> Iterator[Finding]:
    """Find rules that apply to more than they name, or to nothing."""
    tools = view.records.tools
    known = [tool for tool in tools if not tool.startswith(MCP)]
    for document, words in list_documents_of_kind(view, KIND):
        for effect in EFFECTS:
            for number, word in enumerate(words.get(effect, ())):
                tool, has_argument, _ = word.partition("(")
                named = list(iterate_rule_tools(word))
                servers = (each for each in named if each == f"{MCP}*")
                if not any(each == "*" or each.removesuffix("__*") in tools for each in named) and not (
                    any(servers) and len(known) < len(tools)
                ):
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
                elif (
                    has_argument
                    and tool not in words[effect]
                    and (part := parse_tool_part(word)) is not None
                    and part.is_wider
                ):
                    clause = (
                        f"{_UNKNOWN[effect]} every command here that begins with {quote(part.commands[0])}"
                    )
                    help = f"write `{COMMAND_TOOL}({part.commands[0]}:*)` if that is meant"
                else:
                    continue
                place = document.place(effect, number)
                yield Finding(place, f"the rule {quote(word)} {clause}", help, f"tool:{tool.strip()}")


RULE = Rule("ORG781", "rule-not-kept", Severity.INFO, RuleTarget.ORGANIZATION, check)
