"""A procedure falls back to a skill that cannot take over.

## What it checks

`falls_back_to` names a SKILL.md that the organization sees, and every role that performs the procedure has that skill.

## Why it matters

If the procedure fails, there is no instruction to continue with.

## Example

```yaml
falls_back_to: write-pots
```

## Instead

```yaml
falls_back_to: write-posts
```

## Known limits

Ranks and proficiency are not compared: they change with the agent.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import did_you_mean, listing, quote
from orgkernel.graph.questions import OrgView
from orgkernel.graph.schema import EdgeKind
from orgkernel.rules.rule import Finding, Rule, RuleTarget


def check(view: OrgView) -> Iterator[Finding]:
    """Find procedures whose fallback is unknown, or missing in a role that performs them."""
    skills = view.records.cognitive_skills
    for procedure in view.records.procedures.values():
        name = procedure.record.falls_back_to
        if name is None:
            continue
        sentence = f"procedure {quote(procedure.id)} falls back to the skill {quote(name)}"
        subject, place = f"procedure:{procedure.id}", procedure.place("falls_back_to")
        if name not in skills:
            yield Finding(
                place, f"{sentence}, which no SKILL.md declares", did_you_mean(name, skills), subject
            )
            continue
        having = set(view.list_sources_to(EdgeKind.KNOWS, name))
        lacking = dict.fromkeys(
            role for role in view.list_sources_to(EdgeKind.PERFORMS, procedure.id) if role not in having
        )
        if lacking:
            text = f"{sentence}, which roles that perform it do not have: {listing(lacking)}"
            help = "add their department to the skill, and its `skill-id` to the skills that they require"
            yield Finding(place, text, help, subject)


RULE = Rule("ORG627", "broken-fallback", Severity.ERROR, RuleTarget.ORGANIZATION, check)
