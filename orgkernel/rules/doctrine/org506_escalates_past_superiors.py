"""A PACE tier escalates to a role that is not a superior.

## What it checks

The `escalate_to` of every tier is a superior of the role in the organization: the direct one or any further up. That
includes the person or organization outside to which the top reports. A PACE tier is one of the fallback levels of a
role: primary, alternate, contingent, emergency.

## Why it matters

Escalation hands the task to a role that is responsible for the failing one. A role next to or below it has neither
the authority to change the order nor the duty to read the report.

## Example

```yaml
  contingent:
    action: escalate
    trigger: consecutive_tool_failures >= 5
    escalate_to: research_xo
```

## Instead

```yaml
  contingent:
    action: escalate
    trigger: consecutive_tool_failures >= 5
    escalate_to: engineering_xo
```

## Known limits

Nothing is reported while the chain of command itself is broken, because other rules report that: a superior is not
declared, has no profile or could not be read, or the chain is a cycle. If the top of the chain has no superior, every
id outside the organization is treated as above it. An `escalate_to` on `primary` is never read and not checked.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import did_you_mean, listing, quote
from orgkernel.graph.questions import OrgView
from orgkernel.graph.records import RolePost
from orgkernel.graph.schema import EdgeKind
from orgkernel.rules.rule import Finding, Rule, RuleTarget


def check(view: OrgView) -> Iterator[Finding]:
    """Tiers that escalate to a role that is not a superior."""
    for edge in view.list_edges_of_kind(EdgeKind.ESCALATES_TO):
        role_id, target = edge.source, edge.target
        if target == view.superiors.get(role_id) or view.is_excused(target):
            continue
        superiors = view.list_superiors_above(role_id)
        if target in superiors:
            continue
        top = superiors[-1] if superiors else role_id
        says = f"{edge.attribute} tier of role {quote(role_id)} escalates to {quote(target)}"
        if not view.does_name_role(target) and target not in view.external:
            others = view.records.elsewhere.get(target)
            what = f"a role of organization {quote(others[0])}" if others else "which is not declared"
            help = did_you_mean(target, (*superiors, *view.roles))
            yield Finding(edge.place, f"{says}, {what}", help, f"role:{role_id}")
        elif top in view.external or (view.is_role(top) and view.get_superior_edge(top) is None):
            if top not in view.external and target in view.external:
                continue
            what = "itself" if target == role_id else f"{quote(target)}, which is not a superior of the role"
            says = f"{edge.attribute} tier of role {quote(role_id)} escalates to {what}"
            advice = _build_help(view.records.posts[role_id], superiors)
            yield Finding(edge.place, says, advice, f"role:{role_id}")


def _build_help(post: RolePost, superiors: tuple[str, ...]) -> str:
    if not superiors:
        return "leave `escalate_to` out; the role has no superior"
    where = f" under `overrides.{post.role_id}` of the organization" if post.shared_profile else ""
    return f"write one of its superiors{where}: {listing(superiors)}"


RULE = Rule("ORG506", "escalates-past-superiors", Severity.ERROR, RuleTarget.ORGANIZATION, check)
