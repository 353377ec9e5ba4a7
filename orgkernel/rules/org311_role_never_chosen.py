"""A role handles domains, and dispatch chooses it for none of them.

## What it checks

Every specialist, and every other role without subordinates, that handles domains comes first among the candidates for
at least one of them.

## Why it matters

The role never gets any work. It looks like capacity the organisation has, and its tools, plans and tests are looked
after for nothing.

## Example

```yaml
role_id: toolsmith
capabilities:
  bst_domains: [codegen, refactor]
```

## Instead

```yaml
role_id: toolsmith
capabilities:
  bst_domains: [skill_building, refactor]
```

## Known limits

Dispatch is asked by domain alone: a task that also names tools it needs may still reach the role. Executives and
commanders who have subordinates are passed over, because taking what no specialist takes is what they handle domains
for. So is a role that `domain_routing` names for one of its domains, at whatever place, since that is a stated choice,
one that loses a domain only by the order of the hierarchy, which is ORG306, and one with a domain that ORG301 reports.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.decisions.dispatch import Considered, decide_dispatch, routing_order
from orgkernel.diagnostics import Related, Severity
from orgkernel.diagnostics.wording import listing, quote
from orgkernel.graph.questions import OrgView
from orgkernel.graph.schema import Edge, EdgeKind
from orgkernel.rules.org301_unknown_domain import is_unsure
from orgkernel.rules.rule import Finding, Rule, Scope

_SHOWN = 5


def check(view: OrgView) -> Iterator[Finding]:
    """Roles that somebody else comes before in each of their domains."""
    lost: dict[str, list[tuple[str, Edge, Considered]]] = {}
    settled: set[str] = set()
    for domain in view.targets_of(EdgeKind.HANDLES):
        if domain not in view.records.domains:
            continue
        decision = decide_dispatch(view, domain, all_considered=True)
        edges = {edge.source: edge for edge in view.handlers_of(domain)}
        settled |= {str(decision.role_id), *routing_order(view, domain)}
        for passed in decision.considered:
            if passed.code == "DECLARED_FIRST":
                settled.add(passed.role_id)
            elif passed.role_id in edges:
                lost.setdefault(passed.role_id, []).append((domain, edges[str(decision.role_id)], passed))
    for role_id, losses in lost.items():
        if role_id in settled or _takes_the_rest(view, role_id) or is_unsure(view, role_id):
            continue
        domains = listing(domain for domain, _, _ in losses)
        related = tuple(
            Related(edge.place, f"{quote(domain)}: {passed.text}") for domain, edge, passed in losses[:_SHOWN]
        )
        yield Finding(
            view.domains_of(role_id)[0].place,
            f"role {quote(role_id)} is chosen for none of the domains it handles: {domains}",
            "take the domains away from one of the roles, or name the order you want in `domain_routing`",
            f"role:{role_id}",
            related,
        )


def _takes_the_rest(view: OrgView, role_id: str) -> bool:
    """Whether the role is a superior who is meant to take what no specialist takes."""
    role_type = view.records.posts[role_id].profile.role_type
    return role_type != "specialist" and bool(view.subordinates_of(role_id))


RULE = Rule("ORG311", "role-never-chosen", Severity.WARNING, Scope.ORGANIZATION, check)
