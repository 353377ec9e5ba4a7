"""An organization takes a use of a program for harmless that the shipped command catalog does not.

## What it checks

Where an organization has an entry for a program that the shipped catalog has too, no use that it states is harmless while
the shipped one is not: by the effect of the program or of a subcommand, by a pattern that stands for subcommands of the
shipped entry, by `otherwise`, by another `reader`, by fewer `cases`, by other `operands`, `values`, `flags` or `piped`, by
`makes`, `removes` or `in_memory`, or by an option in `harmless_with`. Other names of a program (`also`) count, too.

## Why it matters

Such an entry opens what was closed for everybody who asks about commands: the hooks, the contracts and the rules about
commands. That can be right, for example for a program of the same name, and then the reason belongs to a suppression.

## Example

```yaml
npm:
  subcommands:
  - {names: [unpublish], effect: reads}
```

## Instead

```yaml
npm:
  subcommands:
  - {names: [unpublish], effect: deletes, message: withdraws what the shop needs}
```

## Known limits

A case with the same options and other conditions counts as another case, even if its conditions are wider.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import to_builtins

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import listing, quote
from orgkernel.graph.questions import OrgView
from orgkernel.rules.rule import Finding, Rule, RuleTarget
from orgkernel.shell.openings import Opening, list_openings

_HELP = "remove the entry, or suppress this finding with the reason"


def check(view: OrgView) -> Iterator[Finding]:
    """Find entries that open what the shipped catalog closes."""
    for key, entry in view.records.programs.items():
        own = to_builtins(entry.record)
        for name in (key, *entry.record.also):
            for opening in list_openings(name, own):
                place = entry.place(*opening.route)
                yield Finding(place, _describe(opening), _HELP, f"program:{key}")


def _describe(opening: Opening) -> str:
    words = quote(opening.words)
    if opening.effect:
        return f"{words} is harmless here, and {quote(opening.effect)} in the shipped catalog"
    return f"{words} has uses that are harmless here and not in the shipped catalog, by {listing(opening.fields)}"


RULE = Rule("ORG734", "opened-program", Severity.WARNING, RuleTarget.CATALOG, check)
