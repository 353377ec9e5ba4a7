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

from collections.abc import Iterator

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import listing, quote
from orgkernel.graph.questions import OrgView
from orgkernel.graph.schema import EdgeKind
from orgkernel.rules.org301_unknown_domain import is_unsure
from orgkernel.rules.rule import Finding, Rule, Scope


def check(view: OrgView) -> Iterator[Finding]:
    """Plans for work the role does not get."""
    if "domain_catalog" in view.records.incomplete:
        return
    for plan in view.targets_of(EdgeKind.FOLLOWS):
        served = [edge.target for edge in view.domains_served_by(plan)]
        if not served or any(domain not in view.records.domains for domain in served):
            continue
        chosen_for = {each for domain in served for each in view.domain_and_broader(domain)}
        chosen = {role for domain in chosen_for for role in view.sources_to(EdgeKind.HANDLES, domain)}
        for edge in view.followers_of(plan):
            if edge.source in chosen or is_unsure(view, edge.source):
                continue
            yield Finding(
                edge.place,
                f"role {quote(edge.source)} follows plan {quote(plan)} "
                f"and handles none of its domains: {listing(served)}",
                "add the domain to `capabilities.bst_domains`, or take the plan out of `htn_plans`",
                f"role:{edge.source}",
            )


RULE = Rule("ORG308", "plan-domain-not-handled", Severity.WARNING, Scope.ORGANIZATION, check)
