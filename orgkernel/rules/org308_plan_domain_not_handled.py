"""A role follows a plan but handles none of the plan's domains.

## What it checks

Every role that follows a plan handles at least one of the domains that the plan serves, or a domain broader than one of
them.

## Why it matters

A role receives the plans of the domain it was chosen for. Dispatch never chooses this role for a domain of the plan, so
the role never runs it. Either the plan is in the wrong profile, or the profile lacks a domain.

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

As in dispatch, it is not enough to handle a domain narrower than the plan's. The rule skips plans without domains, and
roles and plans with a domain that ORG301 reports. Nothing is reported while a domain catalog could not be read.

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
    """Plans for work that the role does not get."""
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
            f"role {quote(post.role_id)} follows plan {quote(plan)} but handles none of its domains: {listing(served)}",
            "add the domain to `capabilities.bst_domains`, or remove the plan from `htn_plans`",
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
