"""A command catalog declares a program or a subcommand twice.

## What it checks

Within one command catalog, each name of a program occurs once, in the keys of `programs` and in `also` together. Within an
entry, each subcommand occurs once in `names`.

## Why it matters

Only the first entry is used, but a reader could believe that the other one applies.

## Example

```yaml
shopctl:
  subcommands:
  - {names: [orders list, orders show], effect: reads}
  - {names: [orders show], effect: changes}
```

## Instead

```yaml
shopctl:
  subcommands:
  - {names: [orders list], effect: reads}
  - {names: [orders show], effect: changes}
```

## Known limits

A pattern such as `orders *` that covers a listed subcommand is not a duplicate: the entry with the exact name is used.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Place, Related, Severity
from orgkernel.diagnostics.wording import quote
from orgkernel.documents.records import CommandCatalog
from orgkernel.loading.sources import SourceDocument
from orgkernel.rules.rule import Finding, Rule, RuleTarget


def check(document: SourceDocument) -> Iterator[Finding]:
    """Find names of programs and subcommands that are stated twice."""
    catalog = document.record
    if not isinstance(catalog, CommandCatalog):
        return
    programs: dict[str, Place] = {
        name: document.place("programs", name, key=True) for name in catalog.programs
    }
    for name, program in catalog.programs.items():
        for number, other in enumerate(program.also):
            yield from _compare(
                programs, other, document.place("programs", name, "also", number), f"program:{name}"
            )
        subcommands: dict[str, Place] = {}
        for number, below in enumerate(program.subcommands):
            for index, words in enumerate(below.names):
                place = document.place("programs", name, "subcommands", number, "names", index)
                yield from _compare(subcommands, words, place, f"program:{name}", f"{name} {words}")


def _compare(
    seen: dict[str, Place], name: str, place: Place, subject: str, shown: str = ""
) -> Iterator[Finding]:
    if (first := seen.get(name)) is not None:
        message = f"{quote(shown or name)} has two entries; only the first one is used"
        yield Finding(place, message, "remove one of them", subject, (Related(first, "the first one"),))
    seen.setdefault(name, place)


RULE = Rule("ORG731", "repeated-command-entry", Severity.ERROR, RuleTarget.DOCUMENT, check)
