"""A role follows a plan and handles none of the plan's domains.

## What it checks

Of the domains that a plan serves, every role that follows the plan handles at least one, or a domain that one of them
is narrower than.

## Why it matters

A role is given the plans of the domain it was chosen for. It is never chosen for a domain of this one, so it will never
run it: either the plan is in the wrong profile, or a domain is missing from it.

## Example

```yaml
bst_domains: [osint]
htn_plans: [bugfix_workflow]
```

## Instead

```yaml
bst_domains: [osint, bugfix]
htn_plans: [bugfix_workflow]
```

## Known limits

Handling a domain narrower than the plan's is not enough, as in dispatch. Plans without domains, and roles and plans that
name a domain ORG301 reports, are passed over. Nothing is reported while a domain catalog could not be read.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import listing, quote
from orgkernel.graph.questions import OrgView
from orgkernel.graph.records import RolePost
from orgkernel.rules.org301_unknown_domain import is_unsure
from orgkernel.rules.posts import Posts
from orgkernel.rules.rule import Finding, Rule, Scope


def check(view: OrgView, post: RolePost) -> Iterator[Finding]:
    """Plans for work the role does not get."""
    followed = {edge.target: edge for edge in reversed(view.plans_of(post.role_id))}
    if not followed or "domain_catalog" in view.records.incomplete or is_unsure(view, post.role_id):
        return
    handled = {edge.target for edge in view.domains_of(post.role_id)}
    for plan, edge in followed.items():
        served = [each.target for each in view.domains_served_by(plan)]
        if not served or any(domain not in view.records.domains for domain in served):
            continue
        if any(not handled.isdisjoint(view.domain_and_broader(domain)) for domain in served):
            continue
        yield Finding(
            edge.place,
            f"role {quote(post.role_id)} follows plan {quote(plan)} and handles none of its domains: {listing(served)}",
            "add the domain to `capabilities.bst_domains`, or take the plan out of `htn_plans`",
            f"role:{post.role_id}",
        )


def suspects(posts: Posts) -> Iterable[RolePost]:
    """Posts that follow plans for domains they do not handle."""
    view = posts.view
    lines: dict[str, frozenset[str]] = {}
    found = []
    for post, profile in posts.following:
        handled = profile.capabilities.bst_domains
        for plan in profile.capabilities.htn_plans:
            if plan not in lines:
                served = (edge.target for edge in view.domains_served_by(plan))
                lines[plan] = frozenset(each for domain in served for each in view.domain_and_broader(domain))
            if lines[plan].isdisjoint(handled):
                found.append(post)
                break
    return found


RULE = Rule("ORG308", "plan-domain-not-handled", Severity.WARNING, Scope.POST, check, suspects)
