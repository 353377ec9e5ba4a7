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

from orgkernel.decisions.dispatch.by_domain import explain_loss
from orgkernel.decisions.dispatch.order import (
    Candidate,
    find_tied,
    get_handling_edge,
    get_routing_order,
    rank_handlers,
)
from orgkernel.diagnostics import Related, Severity
from orgkernel.diagnostics.wording import listing, quote
from orgkernel.graph.questions import OrgView
from orgkernel.rules.routing.org301_unknown_domain import is_unsure
from orgkernel.rules.rule import Finding, Rule, RuleTarget

_SHOWN = 5


def check(view: OrgView) -> Iterator[Finding]:
    """Roles that come after another role in each of their domains."""
    settled: set[str] = set()
    lost: dict[str, list[tuple[Candidate, Candidate]]] = {}
    for domain, ranked in rank_handlers(view):
        tied = find_tied(ranked)
        settled.update(get_routing_order(view, domain), (each.role_id for each in tied))
        for candidate in ranked[len(tied) :]:
            lost.setdefault(candidate.role_id, []).append((ranked[0], candidate))
    commanding = frozenset(view.superiors.values())
    for role_id, losses in lost.items():
        if role_id in settled or is_unsure(view, role_id):
            continue
        # A superior is meant to take what no specialist takes.
        if role_id in commanding and view.records.posts[role_id].profile.role_type != "specialist":
            continue
        related = tuple(
            Related(
                get_handling_edge(view, chosen).place,
                f"{quote(chosen.domain)}: {explain_loss(view, chosen, candidate).text}",
            )
            for chosen, candidate in losses[:_SHOWN]
        )
        domains = listing(candidate.domain for _, candidate in losses)
        yield Finding(
            view.list_domains(role_id)[0].place,
            f"role {quote(role_id)} is never chosen for the domains it handles: {domains}",
            "remove the domains from one of the roles, or write the order you want under `domain_routing`",
            f"role:{role_id}",
            related,
        )


RULE = Rule("ORG311", "role-never-chosen", Severity.WARNING, RuleTarget.ORGANIZATION, check)
