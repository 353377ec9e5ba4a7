"""An agent loads a skill that does not exist.

## What it checks

Every name under `skills` of a subagent of Claude Code is the name of a `SKILL.md` below the `skills` folder of its project
or plugin.

## Why it matters

The agent starts without the instructions that its author relies on, and no host reports it.

## Example

```markdown
---
name: releaser
description: Publishes a version. Use when a release is asked for.
skills: relase
---
```

## Instead

```markdown
---
name: releaser
description: Publishes a version. Use when a release is asked for.
skills: release
---
```

## Known limits

Skills in a user's own settings are not read. If the skill is there, suppress the finding with the reason. Names with
a plugin prefix (`plugin:skill`) are not checked. A folder that contains only agents is not checked either, because it
has no skills.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import did_you_mean, quote
from orgkernel.graph.questions import OrgView
from orgkernel.rules.hosts.foreign_agents import CLAUDE_CODE, get_written_words, iterate_agents
from orgkernel.rules.rule import Finding, Rule, RuleTarget


def check(view: OrgView) -> Iterator[Finding]:
    """Find names of unknown skills."""
    skills = view.records.cognitive_skills
    if "cognitive_skill" in view.records.incomplete:
        return
    for post in iterate_agents(view, CLAUDE_CODE):
        for number, word in enumerate(get_written_words(post).get("skills", ())):
            if word not in skills and ":" not in word:
                yield Finding(
                    post.document.place("skills", number),
                    f"agent {quote(post.profile.name)} loads the skill {quote(word)}, which does not exist",
                    did_you_mean(word, skills) or "write the skill, or remove its name",
                    f"role:{post.role_id}",
                )


RULE = Rule("ORG754", "unknown-agent-skill", Severity.WARNING, RuleTarget.ORGANIZATION, check)
