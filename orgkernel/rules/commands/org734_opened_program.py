"""An organization takes a use of a program for harmless that the shipped command catalogue does not.

## What it checks

Where an organization has an entry for a program that the shipped catalogue has too, no use that it states is harmless while
the shipped one is not: the effect of the program or of a subcommand, and options in `harmless_with`.

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

Cases are not compared.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import quote
from orgkernel.documents.records import ProgramEntry
from orgkernel.graph.questions import OrgView
from orgkernel.graph.records import Definition
from orgkernel.rules.rule import Finding, Rule, RuleTarget
from orgkernel.shell.catalog import HARMLESS, Facts, build_tree, find_shipped


def check(view: OrgView) -> Iterator[Finding]:
    """Find entries that open what the shipped catalogue closes."""
    for name, entry in view.records.programs.items():
        shipped = find_shipped(name)
        if shipped is not None:
            yield from _compare(name, entry, shipped)


def _compare(name: str, entry: Definition[ProgramEntry], shipped: Facts) -> Iterator[Finding]:
    subject = f"program:{name}"
    if entry.record.effect in HARMLESS and not _is_harmless(shipped):
        yield _report(entry, name, shipped, ("effect",), subject)
    tree = build_tree(name, shipped)
    for number, below in enumerate(entry.record.subcommands):
        if below.effect not in HARMLESS or below.operation is not None:
            continue
        for words in below.names:
            node = tree
            for word in words.split(" "):
                following = node.find(word)
                if following is None:
                    break
                node = following
            else:
                if node.facts is not None and not _is_harmless(node.facts):
                    route = ("subcommands", number, "effect")
                    yield _report(entry, f"{name} {words}", node.facts, route, subject)


def _is_harmless(facts: Facts) -> bool:
    """Whether a use without options is harmless for the shipped catalogue."""
    default = "reads" if facts.get("subcommands") else "unknown"
    return "operation" not in facts and ("reader" in facts or facts.get("effect", default) in HARMLESS)


def _report(
    entry: Definition[ProgramEntry], words: str, facts: Facts, route: tuple[str | int, ...], subject: str
) -> Finding:
    effect = facts.get("operation") or facts.get("effect", "unknown")
    message = f"{quote(words)} is harmless here, and {quote(effect)} in the shipped catalogue"
    return Finding(
        entry.place(*route), message, "remove the entry, or suppress this finding with the reason", subject
    )


RULE = Rule("ORG734", "opened-program", Severity.WARNING, RuleTarget.CATALOG, check)
