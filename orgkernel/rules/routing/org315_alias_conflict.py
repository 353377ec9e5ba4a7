"""An alias or an unmapped id also has another meaning.

## What it checks

No alias, and no id listed under `unmapped`, is also a declared domain. No id is both an alias and `unmapped` in the same
catalog.

## Why it matters

A declared domain always wins, and an alias wins over `unmapped`. The other line has no effect, although its author wanted
work with that id to go to another domain, or to none.

## Example

```yaml
domains:
  coding: {}
  codegen: {}
aliases:
  coding: codegen
```

## Instead

```yaml
domains:
  codegen: {}
aliases:
  coding: codegen
```

## Known limits

A domain in a catalog nearer than the alias replaces the alias and is not reported. If the organization sees no domain of
a catalog, that catalog is treated as farther than the organization's own and nearer than the shared ones.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Related, Severity
from orgkernel.diagnostics.wording import quote
from orgkernel.documents.records import Domain, DomainCatalog
from orgkernel.graph.questions import OrgView
from orgkernel.graph.records import Definition, OrgRecords
from orgkernel.rules.rule import Finding, Rule, RuleTarget

_OWN, _BETWEEN, _SHARED = range(3)


def check(view: OrgView) -> Iterator[Finding]:
    """Ids that are declared with two meanings."""
    domains = view.records.domains
    distances = {each.document.name: _measure_distance(each) for each in domains.values()}
    for word, meant in view.records.aliases.items():
        if word not in domains or _measure_distance(domains[word]) < distances.get(
            meant.place.file, _BETWEEN
        ):
            continue
        listed = "listed under `unmapped`" if meant.target is None else f"an alias of {quote(meant.target)}"
        yield Finding(
            meant.place,
            f"{quote(word)} is {listed} and also a declared domain, which takes precedence",
            "delete the line that is wrong",
            f"alias:{word}",
            (Related(domains[word].place(), f"domain {quote(word)} is declared"),),
        )
    yield from _find_unmapped_aliases(view.records)


def _find_unmapped_aliases(records: OrgRecords) -> Iterator[Finding]:
    for document in records.catalogs:
        if not isinstance(document.record, DomainCatalog):
            continue
        for number, word in enumerate(document.record.unmapped):
            if word in document.record.aliases:
                yield Finding(
                    document.place("unmapped", number),
                    f"{quote(word)} is listed under `unmapped` and also an alias, which takes precedence",
                    "delete the line that is wrong",
                    f"alias:{word}",
                    (Related(document.place("aliases", word), f"{quote(word)} is an alias"),),
                )


def _measure_distance(definition: Definition[Domain]) -> int:
    if definition.own:
        return _OWN
    return _SHARED if definition.document.shared else _BETWEEN


RULE = Rule("ORG315", "alias-conflict", Severity.WARNING, RuleTarget.CATALOG, check)
