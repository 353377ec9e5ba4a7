"""A regular expression of a command catalog cannot be read, or names a reader that does not exist.

## What it checks

`value` and `operand` in a command catalog are regular expressions of Python without a repetition of a repetition, such as
`(a+)+`. A `reader` is one of those that orgkernel has.

## Why it matters

A condition that cannot be read never holds, so the case it belongs to protects nothing. A repetition of a repetition can take
minutes for one command.

## Example

```yaml
shopctl:
  effect: reads
  cases:
  - {operand: "orders/(.*", effect: deletes}
```

## Instead

```yaml
shopctl:
  effect: reads
  cases:
  - {operand: "orders/.*", effect: deletes}
```

## Known limits

Whether the expression matches what its author means is not checked. `orgkernel command explain` shows it.

## Since

0.1
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import did_you_mean, quote
from orgkernel.documents.records import CommandCatalog, CommandFields
from orgkernel.loading.marks import RouteStep
from orgkernel.loading.sources import SourceDocument
from orgkernel.rules.rule import Finding, Rule, RuleTarget
from orgkernel.shell.catalog import read_words

_NESTED = re.compile(r"\([^()]*[+*][^()]*\)[+*{]")


def check(document: SourceDocument) -> Iterator[Finding]:
    """Find expressions that cannot be read, and readers that do not exist."""
    catalog = document.record
    if not isinstance(catalog, CommandCatalog):
        return
    for name, program in catalog.programs.items():
        yield from _check_entry(document, name, program, ("programs", name))
        for number, below in enumerate(program.subcommands):
            yield from _check_entry(document, name, below, ("programs", name, "subcommands", number))


def _check_entry(
    document: SourceDocument, name: str, entry: CommandFields, route: tuple[RouteStep, ...]
) -> Iterator[Finding]:
    subject = f"program:{name}"
    if entry.reader is not None and entry.reader not in read_words("readers"):
        message = f"{quote(entry.reader)} is not a reader of commands"
        help = did_you_mean(entry.reader, read_words("readers")) or "state the effects of the program instead"
        yield Finding(document.place(*route, "reader"), message, help, subject)
    for number, case in enumerate(entry.cases):
        for field in ("value", "operand"):
            pattern = getattr(case, field)
            if pattern is not None:
                yield from _check_pattern(document, pattern, (*route, "cases", number, field), subject)


def _check_pattern(
    document: SourceDocument, pattern: str, route: tuple[RouteStep, ...], subject: str
) -> Iterator[Finding]:
    try:
        re.compile(pattern)
    except re.error as error:
        message = f"{quote(pattern)} is not a regular expression: {error.msg}"
        yield Finding(document.place(*route), message, "correct it", subject)
        return
    if _NESTED.search(pattern):
        message = f"{quote(pattern)} repeats a repetition, which can take minutes for one command"
        yield Finding(document.place(*route), message, "repeat only once", subject)


RULE = Rule("ORG733", "unreadable-command-pattern", Severity.ERROR, RuleTarget.DOCUMENT, check)
