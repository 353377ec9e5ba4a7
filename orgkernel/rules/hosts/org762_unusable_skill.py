"""A skill cannot be used.

## What it checks

Either the model or the user can invoke a `SKILL.md` of Claude Code. It does not have both `disable-model-invocation:
true` and `user-invocable: false`, unless an agent lists it under `skills`.

## Why it matters

The skill is kept, reviewed and trusted, and is never loaded.

## Example

```markdown
---
name: release
description: How a version is cut. Use when releasing.
disable-model-invocation: true
user-invocable: false
---
```

## Instead

```markdown
---
name: release
description: How a version is cut. Use when releasing.
disable-model-invocation: true
---
```

## Known limits

The finding is only a warning, because a skill that is disabled on purpose does no harm. In orgkernel documents,
ORG624 reports skills that no role has.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import quote
from orgkernel.graph.questions import OrgView
from orgkernel.loading.formats.words import get_list_words
from orgkernel.rules.hosts.foreign_agents import get_written_words, iterate_agents
from orgkernel.rules.rule import Finding, Rule, RuleTarget


def check(view: OrgView) -> Iterator[Finding]:
    """Find skills that neither the model nor the user can invoke."""
    if view.records.excused:
        return
    closed = {
        name: each
        for name, each in view.records.cognitive_skills.items()
        if each.document.format
        and get_list_words(each.document).get("disable-model-invocation") == ["true"]
        and get_list_words(each.document).get("user-invocable") == ["false"]
    }
    loaded = (
        {word for post in iterate_agents(view) for word in get_written_words(post).get("skills", ())}
        if closed
        else ()
    )
    for name, each in closed.items():
        if name not in loaded:
            yield Finding(
                each.place("name"),
                f"the skill {quote(name)} cannot be used: neither the model nor the user can invoke it",
                "remove `disable-model-invocation` or `user-invocable`",
                f"cognitive_skill:{name}",
            )


RULE = Rule("ORG762", "unusable-skill", Severity.WARNING, RuleTarget.ORGANIZATION, check)
