"""A document names a domain that no catalog declares.

## What it checks

Every domain that a document names is declared by a domain catalog that the organization sees. This covers `bst_domains`,
the domains of plans and skills, `broader`, and the targets of aliases. The organization's `domains` and the keys of its
`domain_routing` may also be aliases. In any other field, an alias is reported, together with the domain it means.

## Why it matters

Dispatch compares domains by id. A role never gets the work of a domain that it misspells. The work silently goes to
another role, or to none.

## Example

```yaml
bst_domains:
  - codgen
```

## Instead

```yaml
bst_domains:
  - codegen
```

## Known limits

An undeclared name in a profile has no effect for its role. The rest of the organization is served, and the finding
remains an error of that role.

Nothing is reported while a domain catalog could not be read. An alias of an alias is reported, because it means no domain.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import did_you_mean, quote, suggest
from orgkernel.graph.questions import OrgView
from orgkernel.graph.records import OrgRecords
from orgkernel.graph.schema import EdgeKind
from orgkernel.rules.references import Reference, find_undeclared, report_undeclared
from orgkernel.rules.rule import Finding, Rule, RuleTarget


def check(view: OrgView) -> Iterator[Finding]:
    """Find undeclared ids that are used as domains."""
    records = view.records
    if "domain_catalog" in records.incomplete:
        return
    of_catalogs = find_undeclared(
        view, EdgeKind.HANDLES, EdgeKind.SERVES, EdgeKind.NARROWER_THAN,
        known=records.domains, also=_iterate_entry_references(records),
    )  # fmt: skip
    yield from report_undeclared(
        of_catalogs, "domain", lambda word: _suggest_domain(view, word, records.domains)
    )
    words = {
        *records.domains,
        *(alias for alias, meant in records.aliases.items() if meant.target is not None),
    }
    of_organization = find_undeclared(view, known=words, also=_iterate_organization_references(records))
    yield from report_undeclared(of_organization, "domain", lambda word: _suggest_domain(view, word, words))


def guess_domain(view: OrgView, word: str) -> str | None:
    """The domain that an id appears to mean: itself, the target of the alias, or the domain it misspells.

    Other rules use this, so a misspelled domain is not also reported as a domain without a role.
    """
    meant = view.resolve_domain(word)
    return meant if meant in view.records.domains else suggest(word, view.records.domains)


def is_unsure(view: OrgView, role_id: str) -> bool:
    """Whether the role handles an undeclared id, so its domains are probably not those that its author meant."""
    return any(edge.target not in view.records.domains for edge in view.list_domains(role_id))


def _suggest_domain(view: OrgView, word: str, known: Collection[str]) -> str:
    alias = view.records.aliases.get(word)
    if alias is None or (alias.target is not None and alias.target not in view.records.domains):
        return did_you_mean(word, known)
    if alias.target is None:
        return f"name a declared domain; {quote(word)} is listed under `unmapped`, so it stands for no domain"
    return f"write {quote(alias.target)}, the domain it is an alias of"


def _iterate_entry_references(records: OrgRecords) -> Iterator[Reference]:
    for alias, meant in records.aliases.items():
        if meant.target is not None:
            yield Reference(meant.place, "alias", alias, "means", meant.target)
    for skill in records.skills.values():
        if skill.record.domain is not None:
            yield Reference(skill.place("domain"), "skill", skill.id, "belongs to", skill.record.domain)


def _iterate_organization_references(records: OrgRecords) -> Iterator[Reference]:
    for number, word in enumerate(records.organization.domains):
        place = records.document.place("domains", number)
        yield Reference(place, "organization", records.org_id, "is responsible for", word)
    for word in records.organization.domain_routing:
        place = records.document.place("domain_routing", word, key=True)
        yield Reference(place, "organization", records.org_id, "routes", word)


RULE = Rule("ORG301", "unknown-domain", Severity.ERROR, RuleTarget.CATALOG, check)
