"""A cognitive skill (SKILL.md) belongs to no role.

## What it checks

At least one role of an organization that can use the skill is in its department and requires its `skill-id`.

## Why it matters

No agent can activate the skill, and its intents match no role.

## Example

```yaml
orgkernel-skill-id: layout
```

## Instead

```yaml
orgkernel-skill-id: writing
```

## Known limits

Ranks and proficiency are not compared: an agent may reach them later. ORG621, ORG622 and ORG623 report skills that
are unavailable for another reason.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import quote
from orgkernel.documents.records import CognitiveSkill
from orgkernel.graph.assemble import Assembly
from orgkernel.graph.cognitive_skills import has_cognitive_skill, open_skills
from orgkernel.graph.records import Definition
from orgkernel.rules.rule import Finding, Rule, RuleTarget


def check(assembly: Assembly) -> Iterator[Finding]:
    """Find skills of an organization, or of the folder that contains it, that no role has."""
    idle: dict[int, Definition[CognitiveSkill]] = {}
    used: set[int] = set()
    for records in assembly.organizations:
        for definition, gates in open_skills(records):
            # In a folder of skills without agents, no file assigns the skills.
            if definition.document.shared or (definition.document.format and not records.posts):
                continue
            key = id(definition.document)
            idle.setdefault(key, definition)
            unsure = records.without_profile or records.excused
            if unsure or any(has_cognitive_skill(post.profile, gates) for post in records.posts.values()):
                used.add(key)
    for key, definition in idle.items():
        if key not in used:
            yield Finding(
                definition.place("name"),
                f"no role has the skill {quote(definition.id)}",
                "name a department with roles, and a skill that they require",
                f"cognitive_skill:{definition.id}",
            )


RULE = Rule("ORG624", "idle-skill", Severity.WARNING, RuleTarget.TREE, check)
