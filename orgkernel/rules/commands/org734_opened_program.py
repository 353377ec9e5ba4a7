"""An organization declares a use of a program harmless that is not harmless in the shipped command catalog.

## What it checks

If both an organization and the shipped catalog have an entry for a program, the organization's entry makes no additional use
harmless. These are compared: the effect of the program and of its subcommands, patterns that match subcommands of the shipped
entry, `otherwise`, `reader`, `cases`, `operands`, `values`, `flags`, `piped`, `makes`, `removes`, `in_memory`, `opens`, `names_only_with` and
`harmless_with`.
Other names of a program (`also`) are included.

## Why it matters

All checks of commands use the organization's entry: the hooks, the contracts and the policies with `commands`. A destructive
command can then pass all of them. If the entry is right, for example because it describes another program of the same name, suppress the finding with the reason.

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

A case with the same options and other conditions is treated as another case, even if its conditions are wider.

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
