"""A role handles domains, but dispatch chooses it for none of them.

## What it checks

Every specialist, and every other role without subordinates, is the first candidate for at least one of the domains it
handles.

## Why it matters

The role never gets any work. It looks like capacity that the organization has, and maintaining its tools, plans and tests
is wasted effort.

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

The rule asks dispatch by domain alone. A task that also names the tools it needs may still reach the role. These roles
are not reported:

- executives and commanders with subordinates, because they handle domains in order to take what no specialist takes,
- a role that `domain_routing` names for one of its domains, because that is an explicit choice,
- a role that loses a domain only by the order of the hierarchy (ORG306),
- a role with a domain that ORG301 reports.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.decisions.dispatch import Considered, explain_loss
from orgkernel.decisions.preference import routing_order
from orgkernel.diagnostics import Related, Severity
from orgkernel.diagnostics.wording import listing, quote
from orgkernel.graph.questions import OrgView
from orgkernel.graph.schema import Edge, EdgeKind
from orgkernel.rules.contenders import contenders, find_handling
from orgkernel.rules.org301_unknown_domain import is_unsure
from orgkernel.rules.rule import Finding, Rule, Scope

_SHOWN = 5


def check(view: OrgView) -> Iterator[Finding]:
    """Roles that come after another role in each of their domains."""
    first_of = {domain: roles[0] for domain, roles in contenders(view).items()}
    settled = {role_id for roles in contenders(view).values() for role_id in roles}
    lost: dict[str, list[str]] = {}
    for domain in first_of:
        settled.update(routing_order(view, domain))
        for role_id in view.sources_to(EdgeKind.HANDLES, domain):
            if role_id not in settled:
                lost.setdefault(role_id, []).append(domain)
    commanding = frozenset(view.superiors.values())
    for role_id, domains_lost in lost.items():
        if role_id in settled or is_unsure(view, role_id):
            continue
        # A superior is meant to take what no specialist takes.
        if role_id in commanding and view.records.posts[role_id].profile.role_type != "specialist":
            continue
        losses = [_loss(view, domain, first_of[domain], role_id) for domain in domains_lost]
        domains = listing(domain for domain, _, _ in losses)
        related = tuple(
            Related(edge.place, f"{quote(domain)}: {passed.text}") for domain, edge, passed in losses[:_SHOWN]
        )
        yield Finding(
            view.domains_of(role_id)[0].place,
            f"role {quote(role_id)} is never chosen for the domains it handles: {domains}",
            "remove the domains from one of the roles, or write the order you want under `domain_routing`",
            f"role:{role_id}",
            related,
        )


def _loss(view: OrgView, domain: str, first: str, role_id: str) -> tuple[str, Edge, Considered]:
    """Why another role comes first, with the edge that makes it come first."""
    chosen, other = (find_handling(view, each, domain) for each in (first, role_id))
    return domain, chosen, explain_loss(view, chosen, other)


RULE = Rule("ORG311", "role-never-chosen", Severity.WARNING, Scope.ORGANIZATION, check)
