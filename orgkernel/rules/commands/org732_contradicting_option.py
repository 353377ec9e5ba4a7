"""An entry of a command catalog makes an option both harmless and destructive.

## What it checks

No option in `harmless_with` is a condition of a case whose effect is not harmless. No option in `values` has two roles.

## Why it matters

If a command has an option in `harmless_with`, the rest of the entry is ignored. A case with this
option therefore never applies, although it looks like protection.

## Example

```yaml
shopctl:
  effect: reads
  harmless_with: [--dry-run, --force]
  cases:
  - {options: [--force], effect: deletes}
```

## Instead

```yaml
shopctl:
  effect: reads
  harmless_with: [--dry-run]
  cases:
  - {options: [--force], effect: deletes}
```

## Known limits

Options that a subcommand shares with its program are compared within each entry only.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import quote
from orgkernel.documents.records import CommandFields
from orgkernel.loading.marks import RouteStep
from orgkernel.loading.sources import SourceDocument
from orgkernel.rules.commands.catalog_entries import iterate_entries
from orgkernel.rules.rule import Finding, Rule, RuleTarget
from orgkernel.shell.catalog import HARMLESS


def check(document: SourceDocument) -> Iterator[Finding]:
    """Find options with two meanings."""
    for entry in iterate_entries(document):
        yield from _check_entry(document, entry.program, entry.fields, entry.route)


def _check_entry(
    document: SourceDocument, name: str, entry: CommandFields, route: tuple[RouteStep, ...]
) -> Iterator[Finding]:
    subject = f"program:{name}"
    for number, case in enumerate(entry.cases):
        is_harmless = case.operation is None and (case.effect is None or case.effect in HARMLESS)
        for index, option in enumerate(case.options):
            if not is_harmless and option in entry.harmless_with:
                place = document.place(*route, "cases", number, "options", index)
                message = f"option {quote(option)} of {quote(name)} is in `harmless_with`, so this case never applies"
                yield Finding(place, message, "remove the option from one of them", subject)
    roles: dict[str, str] = {}
    for role, options in entry.values.items():
        for index, option in enumerate(options):
            if (first := roles.setdefault(option, role)) != role:
                place = document.place(*route, "values", role, index)
                message = f"the value of option {quote(option)} of {quote(name)} is {quote(first)} and {quote(role)}"
                yield Finding(place, message, "choose one role", subject)


RULE = Rule("ORG732", "contradicting-option", Severity.ERROR, RuleTarget.DOCUMENT, check)
