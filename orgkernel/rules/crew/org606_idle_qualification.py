"""A qualification of an organization's own catalog has no effect.

## What it checks

Every qualification of an organization's own catalog is needed for a tool or a promotion, raises a skill, or is a
prerequisite of another qualification.

## Why it matters

Agents spend time on a test that has no effect. Either a tool was forgotten, or the entry is obsolete.

## Example

```yaml
qualifications:
  first_aid: {threshold: 0.8}
```

## Instead

```yaml
qualifications:
  first_aid: {threshold: 0.8, unlocks: [medicine_cabinet]}
```

## Known limits

Catalogs shared between organizations are not checked. Nothing is reported while a file could not be read, because that
file may use the qualification.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import quote
from orgkernel.graph.assemble import Assembly
from orgkernel.graph.records import OrgRecords
from orgkernel.rules.rule import Finding, Rule, RuleTarget
from orgkernel.rules.unused import find_unused


def check(assembly: Assembly) -> Iterator[Finding]:
    """Find qualifications of an organization's own catalog that have no use in any organization that sees them."""
    if not assembly.strays_are_known:
        return
    idle = find_unused(
        assembly,
        lambda records: records.qualifications,
        lambda qualification: qualification.own,
        lambda records: records.qualifications if records.incomplete else _list_used(records),
    )
    for qualification in idle:
        yield Finding(
            qualification.place(),
            f"qualification {quote(qualification.id)} unlocks no tool, raises no skill and is not needed anywhere",
            "add it to a tool, a promotion or another qualification that needs it, or remove it",
            f"qualification:{qualification.id}",
        )


def _list_used(records: OrgRecords) -> set[str]:
    """The qualifications that an organization needs, or that have an effect."""
    used = {each for tool in records.tools.values() for each in tool.record.qualifications}
    used.update(each for promotion in records.promotions.values() for each in promotion.record.qualifications)
    for qualification in records.qualifications.values():
        used.update(each for each in qualification.record.prerequisites if each != qualification.id)
        if qualification.record.unlocks or qualification.record.raises:
            used.add(qualification.id)
    return used


RULE = Rule("ORG606", "idle-qualification", Severity.WARNING, RuleTarget.TREE, check)
