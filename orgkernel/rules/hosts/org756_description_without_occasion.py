"""The description of an agent does not say when to use it.

## What it checks

The description of an agent of Claude Code or Copilot contains a word that names an occasion, such as *when*, *after*,
*use*, *for*, *before* or *proactively*.

## Why it matters

These hosts hand a task to an agent by its description alone. A description that only names the agent ("A Python
expert.") does not tell whether the agent fits a task.

## Example

```markdown
---
name: python-pro
description: A senior Python expert.
---
```

## Instead

```markdown
---
name: python-pro
description: Writes typed, tested Python. Use when a module is added or a Python error is reported.
---
```

## Known limits

The rule guesses from words, so the finding is only informational. Descriptions in other alphabets are not checked.
Roles in orgkernel documents are not checked, because their `examples` and domains state when to use them.

## Since

0.1
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import quote
from orgkernel.graph.records import RolePost
from orgkernel.rules.hosts.foreign_agents import is_chosen_by_description
from orgkernel.rules.rule import Finding, Rule, RuleTarget
from orgkernel.runtime.lazy_patterns import lazy_pattern

_OCCASION = lazy_pattern(
    r"\b(?:when(?:ever)?|if|after|before|during|while|once|until|upon|use|used|using|proactive(?:ly)?|invoke[ds]?"
    r"|call(?:ed)?|ask(?:ed|s)?|need(?:s|ed)?|for|on|must|should|every|each|any|where|trigger(?:s|ed)?|delegate[ds]?)\b",
    re.IGNORECASE,
)


def check(posts: Iterable[RolePost]) -> Iterator[Finding]:
    """Find descriptions without a word for an occasion."""
    for post in posts:
        if not is_chosen_by_description(post):
            continue
        text = post.profile.description
        if text.isascii() and not _OCCASION.search(text):
            yield Finding(
                post.document.place("description"),
                f"the description of agent {quote(post.profile.name)} does not say when to use it",
                "add a sentence that begins with `Use when`",
                f"role:{post.role_id}",
            )


RULE = Rule("ORG756", "description-without-occasion", Severity.INFO, RuleTarget.PROFILE, check)
