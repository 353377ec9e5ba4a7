"""A promotion takes more skills than there are.

## What it checks

No requirement of an organization's own promotions asks for more skills (`min_count`) than there can be: universal
skills in the catalogs, or skills of the role that lists the most.

## Why it matters

Nobody can ever meet it, so nobody is ever promoted, however good.

## Example

```yaml
promotions:
  senior: {requirements: [{scope: role, min_proficiency: 4, min_count: 3}]}
```

## Instead

```yaml
promotions:
  senior: {requirements: [{scope: role, min_proficiency: 4, min_count: 1}]}
```

## Known limits

The shared ladder is not looked at. Universal skills are those of category `pcc`. Nothing is reported while a profile
or a skill catalog is missing.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import quote
from orgkernel.graph.questions import OrgView
from orgkernel.graph.records import OrgRecords
from orgkernel.records.rank_ladder import Requirement
from orgkernel.records.role_profile import SkillUse
from orgkernel.records.skill_catalog import UNIVERSAL
from orgkernel.rules.rule import Finding, Rule, Scope

_WORDS = {
    "universal": "universal skills; there are {}",
    "role": "skills of one role; the most that one lists is {}",
    "required_role": "skills that one role requires; the most is {}",
}


def check(view: OrgView) -> Iterator[Finding]:
    """Requirements above what there is."""
    records = view.records
    if records.incomplete or records.excused or records.without_profile or not records.posts:
        return
    for promotion in records.promotions.values():
        for number, requirement in enumerate(promotion.record.requirements if promotion.own else ()):
            most = _most(records, requirement)
            if requirement.min_count is not None and requirement.min_count > most:
                there_are = _WORDS[requirement.scope].format(most)
                yield Finding(
                    promotion.place("requirements", number, "min_count"),
                    f"promotion {quote(promotion.id)} takes {requirement.min_count} {there_are}",
                    "ask for fewer, or give roles more skills",
                    f"promotion:{promotion.id}",
                )


def _most(records: OrgRecords, requirement: Requirement) -> int:
    if requirement.scope == "universal":
        return sum(skill.record.category == UNIVERSAL for skill in records.skills.values())
    counts = []
    for post in records.posts.values():
        uses = post.profile.capabilities.skills
        optional = [use for use in uses if isinstance(use, SkillUse) and use.optional]
        counts.append(len(uses) - (len(optional) if requirement.scope == "required_role" else 0))
    return max(counts, default=0)


RULE = Rule("ORG604", "requirement-never-met", Severity.WARNING, Scope.CATALOG, check)
