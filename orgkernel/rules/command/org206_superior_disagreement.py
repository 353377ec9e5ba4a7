"""A profile and the hierarchy name different superiors.

## What it checks

If the hierarchy lists a role under a superior, the profile's `chain_of_command.reports_to` names the same superior or is
left out.

## Why it matters

The hierarchy decides. Either the profile names the wrong superior, or the hierarchy is out of date and orders and
escalations go to the wrong role.

## Example

```yaml
role_id: codegen
chain_of_command:
  reports_to: research_xo
```

## Instead

```yaml
role_id: codegen
chain_of_command:
  reports_to: engineering_xo
```

## Known limits

If several organizations share a profile, its superior is only a default and cannot disagree. Other rules report a
superior that is not declared (ORG202, ORG205) or has no profile (ORG201), a role with several superiors (ORG213) and a
cycle (ORG203).

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Related, Severity
from orgkernel.diagnostics.wording import quote
from orgkernel.graph.questions import OrgView
from orgkernel.graph.schema import EdgeKind
from orgkernel.rules.command.role_types import is_placed
from orgkernel.rules.rule import Finding, Rule, RuleTarget


def check(view: OrgView) -> Iterator[Finding]:
    """A profile and a hierarchy with two superiors, both declared."""
    for post in view.posts:
        role_id, written = post.role_id, post.profile.chain_of_command.reports_to
        if written is None or written == view.superiors.get(role_id):
            continue
        if post.shared_profile or not is_placed(view, role_id):
            continue
        superiors = {edge.target: edge for edge in view.list_edges_from(EdgeKind.REPORTS_TO, role_id)}
        if len(superiors) > 1 or not _is_declared(view, written):
            continue
        ((superior, edge),) = superiors.items()
        if superior in view.records.without_profile or role_id in view.roles_in_cycles:
            continue
        yield Finding(
            post.place("chain_of_command", "reports_to"),
            f"role {quote(role_id)} reports to {quote(written)} in its profile "
            f"and to {quote(superior)} in the hierarchy",
            f"write {quote(superior)} here too, or leave `reports_to` out; the hierarchy takes precedence",
            f"role:{role_id}",
            (Related(edge.place, f"listed among the subordinates of {quote(superior)}"),),
        )


def _is_declared(view: OrgView, superior: str) -> bool:
    return view.is_role(superior) or superior in view.external or superior in view.records.without_profile


RULE = Rule("ORG206", "superior-disagreement", Severity.ERROR, RuleTarget.ORGANIZATION, check)
