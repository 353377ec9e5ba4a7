"""An organization takes a use of a program for harmless that the shipped command catalog does not.

## What it checks

Where an organization has an entry for a program that the shipped catalog has too, no use that it states is harmless while
the shipped one is not: by the effect of the program or of a subcommand, by another `reader`, by fewer `cases`, by other
`operands`, `values` or `piped`, or by an option in `harmless_with`. Other names of a program (`also`) count, too.

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

Cases are compared by their options, not by their other conditions.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from msgspec import to_builtins

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import listing, quote
from orgkernel.documents.records import ProgramEntry
from orgkernel.graph.questions import OrgView
from orgkernel.graph.records import Definition
from orgkernel.rules.rule import Finding, Rule, RuleTarget
from orgkernel.shell.catalog import HARMLESS, Facts, Node, build_tree, find_shipped, lay_over
from orgkernel.shell.writing_options import RUNNING_ROLES, WRITING_ROLES

_ACTING_ROLES: Final = {*WRITING_ROLES, *RUNNING_ROLES, "sql_file"}


def check(view: OrgView) -> Iterator[Finding]:
    """Find entries that open what the shipped catalog closes."""
    for key, entry in view.records.programs.items():
        own = to_builtins(entry.record)
        for name in (key, *entry.record.also):
            shipped = find_shipped(name)
            if shipped is not None:
                yield from _compare(key, name, entry, own, shipped)


def _compare(
    key: str, name: str, entry: Definition[ProgramEntry], own: Facts, shipped: Facts
) -> Iterator[Finding]:
    subject = f"program:{key}"
    if own.get("effect") in HARMLESS and not _is_harmless(shipped):
        yield _report(entry, name, shipped, ("effect",), subject)
    elif fields := tuple(dict.fromkeys(_list_opened(own, shipped, lay_over(shipped, own)))):
        yield _report_fields(entry, name, (), fields, subject)
    tree = build_tree(name, shipped)
    for number, below in enumerate(own.get("subcommands", ())):
        for words in below["names"]:
            facts = _find_facts(tree, words)
            if facts is None:
                continue
            route = ("subcommands", number)
            is_open = below.get("effect") in HARMLESS and "operation" not in below
            if is_open and not _is_harmless(facts):
                yield _report(entry, f"{name} {words}", facts, (*route, "effect"), subject)
            elif fields := tuple(dict.fromkeys(_list_opened(below, facts, below))):
                yield _report_fields(entry, f"{name} {words}", route, fields, subject)


def _find_facts(tree: Node, words: str) -> Facts | None:
    node: Node | None = tree
    for word in words.split(" "):
        node = None if node is None else node.find(word)
    return None if node is None else node.facts


def _list_opened(own: Facts, shipped: Facts, result: Facts) -> Iterator[str]:
    """The fields of an entry, or its `names`, by which uses become harmless that are not harmless in the shipped one."""
    closed = _list_closed(shipped)
    if closed and set(own.get("harmless_with", ())) - {
        *shipped.get("harmless_with", ()),
        "-h",
        "--help",
        "--version",
    }:
        yield "harmless_with"
    if "operation" in result or result.get("effect", "reads") not in HARMLESS:
        return
    for field, _ in sorted(closed - _list_closed(result)):
        yield field if field in own else "names" if "names" in own else "effect"


def _list_closed(facts: Facts) -> set[tuple[str, str]]:
    """What an entry closes: each with the field that states it."""
    closed = {("reader", facts["reader"])} if "reader" in facts else set()
    if facts.get("unseen"):
        closed.add(("unseen", ""))
    if facts.get("otherwise", "reads") not in HARMLESS:
        closed.add(("otherwise", ""))
    if facts.get("piped") in _ACTING_ROLES:
        closed.add(("piped", ""))
    closed |= {("operands", role) for role in _list_roles(facts.get("operands")) & _ACTING_ROLES}
    for role, options in facts.get("values", {}).items():
        if role in _ACTING_ROLES:
            closed |= {("values", option) for option in options}
    for case in facts.get("cases", ()):
        if "operation" in case or case.get("effect", "reads") not in HARMLESS:
            closed |= {("cases", option) for option in case.get("options", ("",))}
    return closed


def _list_roles(operands: object) -> set[str]:
    if isinstance(operands, str):
        return {operands}
    if not isinstance(operands, Mapping):
        return set()
    return {*operands.get("first", ()), operands.get("rest", "text"), operands.get("last", "text")}


def _is_harmless(facts: Facts) -> bool:
    """Whether a use without options is harmless for the shipped catalog."""
    default = "reads" if facts.get("subcommands") else "unknown"
    return "operation" not in facts and ("reader" in facts or facts.get("effect", default) in HARMLESS)


def _report_fields(
    entry: Definition[ProgramEntry],
    words: str,
    route: tuple[str | int, ...],
    fields: tuple[str, ...],
    subject: str,
) -> Finding:
    message = (
        f"{quote(words)} has uses that are harmless here and not in the shipped catalog, by {listing(fields)}"
    )
    help = "remove the entry, or suppress this finding with the reason"
    return Finding(entry.place(*route, fields[0]), message, help, subject)


def _report(
    entry: Definition[ProgramEntry], words: str, facts: Facts, route: tuple[str | int, ...], subject: str
) -> Finding:
    effect = facts.get("operation") or facts.get("effect", "unknown")
    message = f"{quote(words)} is harmless here, and {quote(effect)} in the shipped catalog"
    return Finding(
        entry.place(*route), message, "remove the entry, or suppress this finding with the reason", subject
    )


RULE = Rule("ORG734", "opened-program", Severity.WARNING, RuleTarget.CATALOG, check)
