"""A domain that the organization is responsible for is not handled by any role.

## What it checks

Some role handles every domain that the organization lists under `domains`, and every domain of its own domain catalog
that is not marked `passthrough`. A role that handles a broader domain is enough.

## Why it matters

A task of that domain is dispatched to no role. The host continues as if there were no organization, with every tool and
without a plan, although the organization claims this work.

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

A domain listed under `domains` needs a role even if the catalog marks it `passthrough`. A domain of a shared catalog needs
a role only if it is listed. Nothing is reported while a domain catalog could not be read, or while a role of the
hierarchy has no profile, because that role may handle the domain. ORG301 reports a domain that a role misspells.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from orgkernel.diagnostics import Place, Severity
from orgkernel.diagnostics.wording import quote
from orgkernel.graph.questions import OrgView
from orgkernel.graph.schema import EdgeKind
from orgkernel.rules.routing.org301_unknown_domain import guess_domain
from orgkernel.rules.rule import Finding, Rule, RuleTarget


def check(view: OrgView) -> Iterator[Finding]:
    """Find domains for which the organization is responsible and that dispatch cannot give to any role."""
    if not view.roles or view.records.without_profile or "domain_catalog" in view.records.incomplete:
        return
    answered = map_answered_domains(view)
    uncovered = [domain for domain in answered if not _has_candidate(view, domain)]
    meant = _find_misspelled(view) if uncovered else frozenset()
    for domain in uncovered:
        if domain in meant:
            continue
        listed = domain in _map_listed_domains(view)
        remedy = "remove it from `domains`" if listed else "mark it `passthrough: true`"
        yield Finding(
            answered[domain],
            f"domain {quote(domain)} is not handled by any role of organization {quote(view.org_id)}",
            f"add it to `capabilities.bst_domains` of a role, or {remedy}",
            f"domain:{domain}",
        )


def map_answered_domains(view: OrgView) -> Mapping[str, Place]:
    """The domains that a role must handle, each with the place where the organization first lists it."""
    own = (each for each in view.records.domains.values() if each.own and not each.record.passthrough)
    return {**{each.id: each.place() for each in own}, **_map_listed_domains(view)}


def _map_listed_domains(view: OrgView) -> dict[str, Place]:
    listed: dict[str, Place] = {}
    for number, word in enumerate(view.records.organization.domains):
        domain = view.resolve_domain(word)
        if domain is not None and domain in view.records.domains:
            listed.setdefault(domain, view.records.document.place("domains", number))
    return listed


def _has_candidate(view: OrgView, domain: str) -> bool:
    """Whether dispatch has a candidate role."""
    return any(view.list_handlers(near) for near in view.list_domain_and_broader(domain))


def _find_misspelled(view: OrgView) -> frozenset[str]:
    """Domains that roles appear to mean by undeclared ids."""
    words = set(view.list_targets_of_kind(EdgeKind.HANDLES)) - view.records.domains.keys()
    return frozenset(meant for word in words if (meant := guess_domain(view, word)) is not None)


RULE = Rule("ORG305", "uncovered-domain", Severity.ERROR, RuleTarget.ORGANIZATION, check)
