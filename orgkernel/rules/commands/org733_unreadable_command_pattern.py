"""A command catalog has a regular expression that cannot be used, or names a command reader that does not exist.

## What it checks

`value` and `operand` in a command catalog are regular expressions of Python without a repetition of a repetition or of a
choice, such as `(a+)+` and `(a|b)*`, and with at most two repetitions. A `reader` is the name of a command reader in orgkernel.

## Why it matters

A condition that cannot be parsed is never met, so its case never applies. A repetition whose content can match the same string in
several ways can take minutes for one command.

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

The rule does not check whether the expression matches the intended commands; try it with `orgkernel command explain`.

## Since

0.1
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from re import _parser  # type: ignore[attr-defined]
from typing import Any, Final

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import did_you_mean, quote
from orgkernel.documents.records import CommandFields
from orgkernel.loading.marks import RouteStep
from orgkernel.loading.sources import SourceDocument
from orgkernel.rules.commands.catalog_entries import iterate_entries
from orgkernel.rules.rule import Finding, Rule, RuleTarget
from orgkernel.shell.catalog import read_words

_MAX_REPETITIONS: Final = 2
_SMALL: Final = 10
_NODE_OF_REPETITION: Final = ("MAX_REPEAT", "MIN_REPEAT")


def check(document: SourceDocument) -> Iterator[Finding]:
    """Find expressions that cannot be read, and readers that do not exist."""
    for entry in iterate_entries(document):
        yield from _check_entry(document, entry.program, entry.fields, entry.route)


def _check_entry(
    document: SourceDocument, name: str, entry: CommandFields, route: tuple[RouteStep, ...]
) -> Iterator[Finding]:
    subject = f"program:{name}"
    if entry.reader is not None and entry.reader not in read_words("readers"):
        message = f"{quote(entry.reader)} is not a command reader"
        help = (
            did_you_mean(entry.reader, read_words("readers")) or "declare the effects of the program instead"
        )
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
    tree = _parser.parse(pattern)
    if _repeats_choice(tree, is_repeated=False):
        message = (
            f"{quote(pattern)} contains one repetition inside another, which can take minutes for one command"
        )
        yield Finding(document.place(*route), message, "remove the inner repetition", subject)
    elif _count_repetitions(tree) > _MAX_REPETITIONS:
        message = f"{quote(pattern)} has more than {_MAX_REPETITIONS} repetitions, which can take minutes for one command"
        yield Finding(document.place(*route), message, "remove one of the repetitions", subject)


def _repeats_choice(tree: object, *, is_repeated: bool) -> bool:
    """Whether a part that is repeated can match the same text in several ways: it contains a repetition or a choice."""
    for name, value in _list_nodes(tree):
        is_repetition = name in _NODE_OF_REPETITION and value[0] != value[1]
        if is_repeated and (is_repetition or name == "BRANCH"):
            return True
        repeats = is_repeated or (name in _NODE_OF_REPETITION and value[1] > 1)
        if any(_repeats_choice(each, is_repeated=repeats) for each in _list_parts(value)):
            return True
    return False


def _count_repetitions(tree: object) -> int:
    """The number of repetitions without a small limit on one way through a pattern."""
    count = 0
    for name, value in _list_nodes(tree):
        count += name in _NODE_OF_REPETITION and value[1] - value[0] > _SMALL
        counts = [_count_repetitions(each) for each in _list_parts(value)]
        count += max(counts, default=0) if name == "BRANCH" else sum(counts)
    return count


def _list_nodes(tree: object) -> Iterator[tuple[str, Any]]:
    for name, value in tree:  # type: ignore[attr-defined]
        yield str(name), value


def _list_parts(value: object) -> Iterator[object]:
    """The parts of a pattern below a node."""
    if isinstance(value, _parser.SubPattern):
        yield value
    elif isinstance(value, tuple | list):
        for each in value:
            yield from _list_parts(each)


RULE = Rule("ORG733", "unreadable-command-pattern", Severity.ERROR, RuleTarget.DOCUMENT, check)
