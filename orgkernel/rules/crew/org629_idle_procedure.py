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

from collections.abc import Collection, Iterator

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import quote
from orgkernel.graph.assemble import Assembly
from orgkernel.graph.cognitive_skills import list_required_skills
from orgkernel.graph.records import OrgRecords
from orgkernel.rules.rule import Finding, Rule, RuleTarget
from orgkernel.rules.unused import find_unused


def check(assembly: Assembly) -> Iterator[Finding]:
    """Find procedures of an organization, or of the folder that contains it, that no role performs."""
    idle = find_unused(
        assembly,
        lambda records: records.procedures,
        lambda procedure: not (procedure.document.shared or procedure.document.format),
        _list_performed,
    )
    for procedure in idle:
        yield Finding(
            procedure.place(),
            f"no role performs the procedure {quote(procedure.id)}",
            "name a `skill` that a role requires, or list it in `capabilities.procedures` of a role",
            f"procedure:{procedure.id}",
        )


def _list_performed(records: OrgRecords) -> Collection[str]:
    """The procedures that a role performs, or could if its profile could be read."""
    if records.without_profile or records.excused:
        return records.procedures
    required: set[str] = set()
    listed: set[str] = set()
    for post in records.posts.values():
        required |= list_required_skills(post.profile)
        listed.update(post.profile.capabilities.procedures)
    return listed | {each.id for each in records.procedures.values() if each.record.skill in required}


RULE = Rule("ORG629", "idle-procedure", Severity.WARNING, RuleTarget.TREE, check)
