"""A domain that the organization answers for is handled by none of its roles.

## What it checks

Every domain the organization lists under `domains`, and every domain of its own domain catalog that is not marked
`passthrough`, goes to a role: one that handles it or a domain that it is narrower than.

## Why it matters

A task of that domain activates nobody. The host goes on as if there were no organization, with every tool and without
a plan, although the organization says that this is its work.

## Example

```yaml
domains:
  - codegen
  - bugfix
```

## Instead

```yaml
domains:
  - codegen
```

## Known limits

Listing a domain under `domains` asks for a role even if the catalog marks the domain `passthrough`. Nothing is
reported while a domain catalog could not be read, while a role of the hierarchy has no profile (it may handle the
domain), or for a domain that a role seems to misspell, which ORG301 reports. Domains of shared catalogs are not asked
for unless they are listed.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from orgkernel.diagnostics import Place, Severity
from orgkernel.diagnostics.wording import quote
from orgkernel.graph.questions import OrgView
from orgkernel.graph.schema import EdgeKind
from orgkernel.rules.org301_unknown_domain import meant_domain
from orgkernel.rules.rule import Finding, Rule, Scope


def check(view: OrgView) -> Iterator[Finding]:
    """Domains the organization answers for that dispatch can give to nobody."""
    if not view.roles or view.records.without_profile or "domain_catalog" in view.records.incomplete:
        return
    answered = answered_domains(view)
    uncovered = [domain for domain in answered if not _has_candidate(view, domain)]
    meant = _misspelled(view) if uncovered else frozenset()
    for domain in uncovered:
        if domain in meant:
            continue
        listed = domain in _listed(view)
        remedy = "take it out of `domains`" if listed else "mark it `passthrough: true`"
        yield Finding(
            answered[domain],
            f"domain {quote(domain)} is handled by no role of organization {quote(view.org_id)}",
            f"add it to `capabilities.bst_domains` of a role, or {remedy}",
            f"domain:{domain}",
        )


def answered_domains(view: OrgView) -> Mapping[str, Place]:
    """The domains that must be handled by a role, and where the organization says so first."""
    own = (each for each in view.records.domains.values() if each.own and not each.record.passthrough)
    return {**{each.id: each.place() for each in own}, **_listed(view)}


def _listed(view: OrgView) -> dict[str, Place]:
    listed: dict[str, Place] = {}
    for number, word in enumerate(view.records.organization.domains):
        domain = view.resolve_domain(word)
        if domain is not None and domain in view.records.domains:
            listed.setdefault(domain, view.records.document.place("domains", number))
    return listed


def _has_candidate(view: OrgView, domain: str) -> bool:
    """Whether dispatch has anybody to choose from."""
    return any(view.handlers_of(near) for near in view.domain_and_broader(domain))


def _misspelled(view: OrgView) -> frozenset[str]:
    """Domains that roles seem to mean by ids that are none."""
    words = set(view.targets_of(EdgeKind.HANDLES)) - view.records.domains.keys()
    return frozenset(meant for word in words if (meant := meant_domain(view, word)) is not None)


RULE = Rule("ORG305", "uncovered-domain", Severity.ERROR, Scope.ORGANIZATION, check)
