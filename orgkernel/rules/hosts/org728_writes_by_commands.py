"""An agent that may not change files can still write them with a shell.

## What it checks

The rule applies to an agent without any tool that changes files, if its file excludes one (`disallowedTools: Edit`, `edit: deny`), or
if it coordinates others and its instructions say that it never writes code or files. Such an agent must not have the whole shell.

## Why it matters

A rule about the tool that edits does not limit the shell: `echo … > file` and `sed -i` write, too. Agents that are refused an edit
use these commands, so the restriction gives a sense of safety and no safety.

## Example

```markdown
---
name: lead
description: Coordinates a feature and delegates its parts. Use for work of several steps.
tools: Agent, Read, Bash
---
Delegate every change. Never write code yourself.
```

## Instead

```markdown
---
name: lead
description: Coordinates a feature and delegates its parts. Use for work of several steps.
tools: Agent, Read
---
Delegate every change. Never write code yourself.
```

## Known limits

The finding is only informational, because some agents need a shell to read. An agent whose shell is limited to some commands, asks, or
runs in a sandbox (Codex) is not reported. Only English is understood.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import listing, quote
from orgkernel.graph.questions import OrgView
from orgkernel.graph.records import RolePost
from orgkernel.loading.formats.words import list_excluded_tools
from orgkernel.rules.hosts.foreign_agents import (
    CLAUDE_CODE,
    COPILOT,
    GEMINI_CLI,
    OPENCODE,
    ROO,
    get_written_words,
    is_coordinator_that_never_writes,
    iterate_agents,
    list_writing_tools,
)
from orgkernel.rules.rule import Finding, Rule, RuleTarget

_FORMATS = (CLAUDE_CODE, COPILOT, GEMINI_CLI, OPENCODE, ROO)
_SHELL = "computer_use"


def check(view: OrgView) -> Iterator[Finding]:
    """Find agents without a tool that writes files that have a shell."""
    shells = [
        tool
        for tool, each in view.records.tools.items()
        if each.record.type == _SHELL
        and each.record.side_effects == "destructive"
        and each.record.command_arguments
    ]
    writing = list_writing_tools(view)
    for post in iterate_agents(view, *_FORMATS):
        held = post.profile.capabilities.tools_primary
        own = [tool for tool in shells if tool in held]
        if not own or any(tool in held for tool in writing):
            continue
        excludes = not list_excluded_tools(post.document).isdisjoint(writing)
        if not (excludes or is_coordinator_that_never_writes(view, post)):
            continue
        if whole := _list_whole(view, post, own):
            yield Finding(
                post.document.place("tools" if "tools" in get_written_words(post) else "name"),
                f"agent {quote(post.profile.name)} may not change files, and can still write them with {listing(whole)}",
                f"take {listing(whole)} away, or limit it to commands that only read",
                f"role:{post.role_id}",
            )


def _list_whole(view: OrgView, post: RolePost, tools: Sequence[str]) -> list[str]:
    """The tools that the agent may use without any limit."""
    # Few trees have such an agent, and the layers of access take longer to import than most trees to check.
    from orgkernel.decisions.access.listing import what_can

    rows = [
        each
        for each in what_can(view, f"role:{post.role_id}")
        if each.resource.removeprefix("tool:") in tools
    ]
    limited = {each.resource for each in rows if each.outcome != "allow" or each.conditions}
    return [each.resource.removeprefix("tool:") for each in rows if each.resource not in limited]


RULE = Rule("ORG728", "writes-by-commands", Severity.INFO, RuleTarget.ORGANIZATION, check)
