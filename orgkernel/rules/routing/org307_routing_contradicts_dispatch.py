"""`domain_routing` prefers a role that dispatch does not choose.

## What it checks

Dispatch chooses the first role that `domain_routing` names for a domain.

## Why it matters

`domain_routing` is advice: it only orders roles of the same type that handle the domain. Dispatch never chooses a role
that does not handle the domain, or an executive that is named before a specialist who handles it.

## Example

```yaml
domain_routing:
  codegen: [frontend]
```

## Instead

```yaml
domain_routing:
  codegen: [codegen]
```

## Known limits

Only the first role of each list is compared. The others matter when a task needs tools that the first one lacks. The rule
skips roles that the organization does not have (ORG216), lists whose first role has no profile or handles an unknown
domain (ORG301), and domains that ORG305 reports.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.decisions.dispatch.by_domain import DispatchDecision, decide_dispatch
from orgkernel.diagnostics import Related, Severity
from orgkernel.diagnostics.wording import quote
from orgkernel.graph.questions import OrgView
from orgkernel.rules.routing.org301_unknown_domain import is_unsure
from orgkernel.rules.routing.org305_uncovered_domain import map_answered_domains
from orgkernel.rules.rule import Finding, Rule, RuleTarget


def check(view: OrgView) -> Iterator[Finding]:
    """Find roles that are named first but that dispatch does not choose."""
    if "domain_catalog" in view.records.incomplete:
        return
    answered = map_answered_domains(view)
    for word, roles in view.records.organization.domain_routing.items():
        domain = view.resolve_domain(word)
        number, first = next(
            ((at, role) for at, role in enumerate(roles) if view.does_name_role(role)), (0, "")
        )
        if domain is None or domain not in view.records.domains or not view.is_role(first):
            continue
        decision = decide_dispatch(view, domain, all_considered=True)
        is_uncovered = decision.role_id is None and domain in answered
        if decision.role_id == first or is_uncovered or is_unsure(view, first):
            continue
        related = tuple(_explain_passed_over(view, decision, first))
        but = "which it does not handle"
        help = "add the domain to `bst_domains` of the role, or name another role first"
        if related:
            but = f"which dispatch gives to {quote(decision.role_id)}"
            help = (
                f"name {quote(decision.role_id)} first; `domain_routing` only orders roles of the same type"
            )
        yield Finding(
            view.records.document.place("domain_routing", word, number),
            f"`domain_routing` prefers role {quote(first)} for {quote(word)}, {but}",
            help,
            f"role:{first}",
            related,
        )


def _explain_passed_over(view: OrgView, decision: DispatchDecision, role_id: str) -> Iterator[Related]:
    """The reason why the role was not chosen, at the line that made dispatch choose the other role. Empty if the role
    was not a candidate.
    """
    line = view.list_domain_and_broader(str(decision.domain))
    for passed in decision.considered:
        if passed.role_id == role_id and decision.role_id is not None:
            handled = [edge for edge in view.list_domains(decision.role_id) if edge.target in line]
            yield Related(min(handled, key=lambda edge: line.index(edge.target)).place, passed.text)


RULE = Rule("ORG307", "routing-contradicts-dispatch", Severity.WARNING, RuleTarget.ORGANIZATION, check)
