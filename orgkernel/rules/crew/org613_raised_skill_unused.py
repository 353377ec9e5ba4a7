"""A qualification raises a skill that no role or promotion uses.

## What it checks

Every skill that a qualification of an organization's own catalog raises is universal, named by a role, or a prerequisite of
another skill.

## Why it matters

Passing the test raises a level that no role or promotion requires. Either a role was forgotten, or the
skill was listed by mistake.

## Example

```yaml
qualifications:
  first_aid: {raises: [bandaging]}
```

where no role names `bandaging`.

## Instead

```yaml
qualifications:
  first_aid: {raises: [first_response]}
```

where a role requires `first_response`.

## Known limits

Catalogs shared between organizations are not checked. Nothing is reported while a profile or a skill catalog is missing.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.decisions.evidence.role_skills import list_universal_skills
from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import quote
from orgkernel.graph.questions import OrgView
from orgkernel.graph.schema import EdgeKind
from orgkernel.rules.rule import Finding, Rule, RuleTarget


def check(view: OrgView) -> Iterator[Finding]:
    """Find raised skills that have no use."""
    records = view.records
    if records.incomplete or records.excused or records.without_profile or not records.posts:
        return
    own = [each.id for each in records.qualifications.values() if each.own and each.record.raises]
    if not own:
        return
    used = {
        *list_universal_skills(view),
        *(edge.target for role in view.roles for edge in view.list_skills(role)),
    }
    used |= {each for skill in records.skills.values() for each in skill.record.prerequisite_levels}
    for name in own:
        for edge in view.list_edges_from(EdgeKind.RAISES, name):
            if edge.target in records.skills and edge.target not in used:
                yield Finding(
                    edge.place,
                    f"qualification {quote(name)} raises skill {quote(edge.target)}, which no role names and no skill builds on",
                    "add the skill to a role, or remove it here",
                    f"qualification:{name}",
                )


RULE = Rule("ORG613", "raised-skill-unused", Severity.INFO, RuleTarget.CATALOG, check)
