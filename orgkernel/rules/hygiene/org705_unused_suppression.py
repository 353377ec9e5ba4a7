"""A suppression matches no finding.

## What it checks

Every entry of a document's `suppressions` silences at least one finding located in that document.

## Why it matters

A suppression that matches no finding today will silence the next finding of that rule, which no one has reviewed. Usually the
defect was fixed and the entry was left behind, or its code or subject is misspelled.

## Example

```yaml
suppressions:
  - {rule: ORG702, reason: the title says it all}
role_id: codegen_specialist
description: Writes new modules.
```

## Instead

```yaml
role_id: codegen_specialist
description: Writes new modules.
```

## Known limits

A suppression of ORG705 silences this rule for the document, or only for the code that its subject names (`subject:
"rule:ORG702"`). If two entries silence the same finding, both are treated as used.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.catalog import ROWS
from orgkernel.diagnostics.wording import did_you_mean, quote
from orgkernel.loading.sources import SourceDocument
from orgkernel.rules.catalog import list_rules, select_rules
from orgkernel.rules.rule import Finding, Rule, RuleTarget

_CODE = "ORG705"


def check(document: SourceDocument, used: Collection[int]) -> Iterator[Finding]:
    """Find suppressions without a matching finding, unless a suppression of this rule accepts them."""
    entries = document.record.suppressions
    ours = {number for number, entry in enumerate(entries) if entry.rule == _CODE}
    accepting = set()
    for number in [*(number for number in range(len(entries)) if number not in ours), *sorted(ours)]:
        entry = entries[number]
        if number in used or number in accepting or entry.rule in _list_store_rules():
            continue
        subject = f"rule:{entry.rule}"
        accepted_by = {each for each in ours if entries[each].subject in (None, subject)}
        if number not in ours and accepted_by:
            accepting |= accepted_by
            continue
        codes = [*ROWS, *(rule.code for rule in list_rules())]
        if entry.rule not in codes:
            message = f"suppression names {quote(entry.rule)}, which is not a rule"
            # A changed digit is another rule; digits in another order are a typo.
            swapped = [code for code in codes if sorted(code) == sorted(entry.rule)]
            help = did_you_mean(entry.rule, swapped) or "remove it"
        else:
            about = f" about {quote(entry.subject)}" if entry.subject else ""
            message = f"suppression of {quote(entry.rule)}{about} matches no finding"
            help = "remove it, or correct its subject" if entry.subject else "remove it"
        yield Finding(document.place("suppressions", number, "rule"), message, help, subject)


def _list_store_rules() -> frozenset[str]:
    """Rules that run only with a store, so nothing shows that a suppression of them is unused."""
    return frozenset(rule.code for rule in select_rules(RuleTarget.STATE))


RULE = Rule(_CODE, "unused-suppression", Severity.WARNING, RuleTarget.SUPPRESSION, check)
