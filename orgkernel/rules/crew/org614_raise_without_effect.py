"""A qualification raises a skill to a level that every holder already has.

## What it checks

The highest level to which a qualification raises a skill is at least 2.

## Why it matters

A skill is held at level 1 or above, so passing the test never changes it.

## Example

```yaml
qualifications:
  first_aid: {raises: {bandaging: 1}}
```

## Instead

```yaml
qualifications:
  first_aid: {raises: {bandaging: 3}}
```

## Known limits

An agent that does not hold the skill does not get it by passing the test, whatever the level.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.decisions.evidence.skill_levels import LOWEST
from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import quote
from orgkernel.graph.questions import OrgView
from orgkernel.rules.rule import Finding, Rule, RuleTarget


def check(view: OrgView) -> Iterator[Finding]:
    """Highest levels that raise nothing."""
    for qualification in view.records.qualifications.values():
        for skill, highest in qualification.record.raised_skills.items():
            if highest is not None and highest <= LOWEST:
                yield Finding(
                    qualification.place("raises", skill),
                    f"qualification {quote(qualification.id)} raises skill {quote(skill)} up to level {highest}, "
                    "which every holder already has",
                    "raise the level, or remove the skill here",
                    f"qualification:{qualification.id}",
                )


RULE = Rule("ORG614", "raise-without-effect", Severity.WARNING, RuleTarget.CATALOG, check)
