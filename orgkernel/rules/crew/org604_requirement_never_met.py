"""A promotion requires more skills than there are.

## What it checks

No requirement of an organization's own promotions asks for more skills (`min_count`) than exist, or for all skills of
a kind that has none. Universal skills are counted in the catalogs. Role skills are counted in the role that lists the
most.

## Why it matters

No agent can ever meet the requirement, so no agent is ever promoted.

## Example

```yaml
promotions:
  senior: {requirements: [{skills: role, min_proficiency: 4, min_count: 3}]}
```

## Instead

```yaml
promotions:
  senior: {requirements: [{skills: role, min_proficiency: 4, min_count: 1}]}
```

## Known limits

The shared ladder is not checked. Universal skills are those of category `pcc`. Nothing is reported while a profile or a
skill catalog is missing.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import quote
from orgkernel.documents.records import UNIVERSAL, Requirement, SkillUse
from orgkernel.graph.questions import OrgView
from orgkernel.graph.records import OrgRecords
from orgkernel.rules.rule import Finding, Rule, RuleTarget

_WORDS = {
    "universal": "universal skills, but there are only {}",
    "role": "skills of one role, but no role lists more than {}",
    "required_role": "required skills of one role, but no role has more than {}",
}

_ALL = {
    "universal": "all universal skills, but there are none",
    "role": "all skills of the role, but no role lists any",
    "required_role": "all required skills of the role, but no role has any",
}


def check(view: OrgView) -> Iterator[Finding]:
    """Find requirements for more skills than exist."""
    records = view.records
    if records.incomplete or records.excused or records.without_profile or not records.posts:
        return
    for promotion in records.promotions.values():
        for number, requirement in enumerate(promotion.record.requirements if promotion.own else ()):
            most = _count_available(records, requirement)
            if requirement.min_count is not None and requirement.min_count > most:
                there_are = _WORDS[requirement.skills].format(most)
                yield Finding(
                    promotion.place("requirements", number, "min_count"),
                    f"promotion {quote(promotion.id)} requires {requirement.min_count} {there_are}",
                    "require fewer skills, or add skills to the roles",
                    f"promotion:{promotion.id}",
                )
            elif requirement.min_count is None and not most:
                yield Finding(
                    promotion.place("requirements", number, "skills"),
                    f"promotion {quote(promotion.id)} requires {_ALL[requirement.skills]}",
                    "remove the requirement, or add skills to the roles",
                    f"promotion:{promotion.id}",
                )


def _count_available(records: OrgRecords, requirement: Requirement) -> int:
    if requirement.skills == "universal":
        return sum(skill.record.category == UNIVERSAL for skill in records.skills.values())
    counts = []
    for post in records.posts.values():
        uses = post.profile.capabilities.skills
        optional = [use for use in uses if isinstance(use, SkillUse) and use.optional]
        counts.append(len(uses) - (len(optional) if requirement.skills == "required_role" else 0))
    return max(counts, default=0)


RULE = Rule("ORG604", "requirement-never-met", Severity.WARNING, RuleTarget.CATALOG, check)
