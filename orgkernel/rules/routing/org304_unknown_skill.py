"""A document names a skill or a skill category that no catalog declares.

## What it checks

A skill catalog that the organization sees declares every skill that a role requires, another skill presupposes, a
qualification raises or a procedure names, and the category of every skill.

## Why it matters

No agent can ever have a skill that does not exist. A role that requires one has a gap that no training closes.

## Example

```yaml
skills:
  - comunication
```

## Instead

```yaml
skills:
  - communication
```

## Known limits

An undeclared name in a profile has no effect for its role. The rest of the organization is served, and the finding
remains an error of that role.

Nothing is reported while a skill catalog could not be read.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import did_you_mean
from orgkernel.graph.questions import OrgView
from orgkernel.graph.records import OrgRecords
from orgkernel.graph.schema import EdgeKind
from orgkernel.rules.references import Reference, find_undeclared, report_undeclared
from orgkernel.rules.rule import Finding, Rule, RuleTarget


def check(view: OrgView) -> Iterator[Finding]:
    """Find undeclared ids that are used as skills or categories."""
    skills = view.records.skills
    if "skill_catalog" in view.records.incomplete:
        return
    unknown = find_undeclared(
        view,
        EdgeKind.REQUIRES,
        EdgeKind.PRESUPPOSES,
        EdgeKind.RAISES,
        known=skills,
        also=_iterate_procedure_references(view.records),
    )
    yield from report_undeclared(unknown, "skill", lambda word: did_you_mean(word, skills))
    categories = view.records.skill_categories
    uncategorized = find_undeclared(view, known=categories, also=_iterate_entry_references(view.records))
    yield from report_undeclared(uncategorized, "skill category", lambda word: did_you_mean(word, categories))


def _iterate_procedure_references(records: OrgRecords) -> Iterator[Reference]:
    for procedure in records.procedures.values():
        if procedure.record.skill is not None:
            yield Reference(
                procedure.place("skill"), "procedure", procedure.id, "is for", procedure.record.skill
            )


def _iterate_entry_references(records: OrgRecords) -> Iterator[Reference]:
    for skill in records.skills.values():
        if skill.record.category is not None:
            place = skill.place("category")
            yield Reference(place, "skill", skill.id, "is of category", skill.record.category)


RULE = Rule("ORG304", "unknown-skill", Severity.ERROR, RuleTarget.CATALOG, check)
