"""The text of an agent or a skill is longer than hosts recommend.

## What it checks

The text of an agent has at most 30,000 characters, the most that Copilot accepts for an agent, and the text of a `SKILL.md`
has at most 20,000, which are about the 5,000 tokens that the Agent Skills standard recommends.

## Why it matters

The agent reads the whole text at every start, before it sees its task. A long text costs money and attention, and
models follow the middle of a long text less reliably.

## Example

An agent that repeats the style guide of its project, in more than 30,000 characters:

```markdown
---
name: reviewer
description: Reviews changes. Use after every change.
tools: Read
---
```

## Instead

```markdown
Read `docs/style.md` before you change a page.
```

## Known limits

The finding is only informational, because Claude Code sets no limit. Four characters are counted as a token, which is
about right for English.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import quote
from orgkernel.graph.questions import OrgView
from orgkernel.rules.hosts.foreign_agents import iterate_agents, list_texts
from orgkernel.rules.rule import Finding, Rule, RuleTarget

_MAX_AGENT_LENGTH = 30_000
_MAX_SKILL_LENGTH = 20_000
_PER_TOKEN = 4
_HELP = "move parts into files that the agent reads when it needs them"


def check(view: OrgView) -> Iterator[Finding]:
    """Find texts above the recommended sizes."""
    for post in iterate_agents(view):
        for order, _ in list_texts(view, post):
            length = len(order.record.body)
            if length > _MAX_AGENT_LENGTH:
                yield Finding(
                    order.place("body"),
                    f"the text of agent {quote(post.profile.name)} has {_format_size(length)}; hosts recommend at most {_MAX_AGENT_LENGTH:,} characters",
                    _HELP,
                    f"role:{post.role_id}",
                )
    for name, skill in view.records.cognitive_skills.items():
        length = len(skill.record.body) if skill.document.format else 0
        if length > _MAX_SKILL_LENGTH:
            yield Finding(
                skill.place("body"),
                f"the text of skill {quote(name)} has {_format_size(length)}; hosts recommend at most {_MAX_SKILL_LENGTH:,} characters",
                _HELP,
                f"cognitive_skill:{name}",
            )


def _format_size(length: int) -> str:
    return f"{length:,} characters, about {length // _PER_TOKEN:,} tokens"


RULE = Rule("ORG767", "long-text", Severity.INFO, RuleTarget.ORGANIZATION, check)
