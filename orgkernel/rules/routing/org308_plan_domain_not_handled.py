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

from collections.abc import Iterator

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import listing, quote
from orgkernel.graph.questions import OrgView
from orgkernel.graph.schema import EdgeKind
from orgkernel.rules.routing.org301_unknown_domain import is_unsure
from orgkernel.rules.rule import Finding, Rule, RuleTarget


def check(view: OrgView) -> Iterator[Finding]:
    """Find plans whose domains the role does not handle."""
    if "domain_catalog" in view.records.incomplete:
        return
    for plan in view.list_targets_of_kind(EdgeKind.FOLLOWS):
        served = [edge.target for edge in view.list_domains_served_by(plan)]
        if not served or any(domain not in view.records.domains for domain in served):
            continue
        chosen_for = {each for domain in served for each in view.list_domain_and_broader(domain)}
        chosen = {role for domain in chosen_for for role in view.list_sources_to(EdgeKind.HANDLES, domain)}
        for edge in view.list_followers(plan):
            if edge.source in chosen or is_unsure(view, edge.source):
                continue
            yield Finding(
                edge.place,
                f"role {quote(edge.source)} follows plan {quote(plan)} "
                f"but handles none of its domains: {listing(served)}",
                "add the domain to `capabilities.bst_domains`, or remove the plan from `htn_plans`",
                f"role:{edge.source}",
            )


RULE = Rule("ORG308", "plan-domain-not-handled", Severity.WARNING, RuleTarget.ORGANIZATION, check)
