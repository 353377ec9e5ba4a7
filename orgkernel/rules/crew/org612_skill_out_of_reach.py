"""A role requires a skill but not its prerequisite.

## What it checks

Every prerequisite of a skill that a role requires is universal, or is also required by the role.

## Why it matters

Commissioning gives an agent the universal skills and those that its role requires, prerequisites first. A skill whose
prerequisite is not among them is left out, so the agent begins with a gap.

## Example

```yaml
skills: [diving]
```

where `diving` has the prerequisite `swimming`.

## Instead

```yaml
skills: [diving, swimming]
```

## Known limits

Another role of the same agent may require the prerequisite; the rule looks at each role by itself. Optional skills are not
given by commissioning and are not checked. Undeclared prerequisites (ORG304) and cycles (ORG314) are reported elsewhere.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.decisions.evidence.role_skills import find_skills_of_roles, list_universal_skills
from orgkernel.diagnostics import Related, Severity
from orgkernel.diagnostics.wording import quote
from orgkernel.graph.questions import OrgView
from orgkernel.graph.schema import EdgeKind
from orgkernel.rules.rule import Finding, Rule, RuleTarget


def check(view: OrgView) -> Iterator[Finding]:
    """Required skills that commissioning leaves out."""
    if "skill_catalog" in view.records.incomplete:
        return
    universal = list_universal_skills(view)
    for role_id in view.roles:
        role_skills = find_skills_of_roles(view, [role_id])
        given = {*universal, *(each.skill for each in role_skills.values() if not each.optional)}
        for each in role_skills.values():
            for edge in view.list_edges_from(EdgeKind.PRESUPPOSES, each.skill) if each.skill in given else ():
                if edge.target in given or edge.target not in view.records.skills:
                    continue
                yield Finding(
                    each.edge.place,
                    f"role {quote(role_id)} requires skill {quote(each.skill)} but not its prerequisite {quote(edge.target)}",
                    f"add {quote(edge.target)} to the skills of the role",
                    f"role:{role_id}",
                    (Related(edge.place, f"the prerequisite {quote(edge.target)}"),),
                )


RULE = Rule("ORG612", "skill-out-of-reach", Severity.WARNING, RuleTarget.ORGANIZATION, check)
