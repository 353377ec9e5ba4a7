"""No role performs a procedure.

## What it checks

At least one role requires the `skill` of the procedure, or lists it in `capabilities.procedures`.

## Why it matters

No agent can run the procedure, and its intents match no role.

## Example

```yaml
publish_post: {intents: [create_post]}
```

## Instead

```yaml
publish_post: {intents: [create_post], skill: communication}
```

## Known limits

Procedures of the shared ontology are not reported.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import quote
from orgkernel.graph.assemble import Assembly
from orgkernel.graph.cognitive_skills import list_required_skills
from orgkernel.graph.records import OrgRecords
from orgkernel.rules.rule import Finding, Rule, RuleTarget


def check(assembly: Assembly) -> Iterator[Finding]:
    """Find procedures of an organization, or of the folder that contains it, that no role performs."""
    idle = {
        procedure.place(): procedure
        for records in assembly.organizations
        for procedure in records.procedures.values()
        if not (procedure.document.shared or procedure.document.format)
    }
    if not idle:
        return
    for records in assembly.organizations:
        unsure = records.without_profile or records.excused
        performed = set(records.procedures) if unsure else _list_performed_intents(records)
        for procedure_id in performed & records.procedures.keys():
            idle.pop(records.procedures[procedure_id].place(), None)
    for place, procedure in idle.items():
        yield Finding(
            place,
            f"no role performs the procedure {quote(procedure.id)}",
            "name a `skill` that a role requires, or list it in `capabilities.procedures` of a role",
            f"procedure:{procedure.id}",
        )


def _list_performed_intents(records: OrgRecords) -> set[str]:
    required: set[str] = set()
    listed: set[str] = set()
    for post in records.posts.values():
        required |= list_required_skills(post.profile)
        listed.update(post.profile.capabilities.procedures)
    return listed | {each.id for each in records.procedures.values() if each.record.skill in required}


RULE = Rule("ORG629", "idle-procedure", Severity.WARNING, RuleTarget.TREE, check)
