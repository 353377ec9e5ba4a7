"""A decision case has no question.

## What it checks

Every case of `decision_cases` asks at least one question: `dispatch`, `access`, `who_can` or `what_can`.

## Why it matters

A case without a question always passes, although its name claims that something was tested.

## Example

```yaml
cases:
  - name: bug reports go to the bugfix specialist
    org: software_dev
```

## Instead

```yaml
cases:
  - name: bug reports go to the bugfix specialist
    org: software_dev
    dispatch:
      - ask: {domain: bugfix}
        outcome: role
        role_id: bugfix_specialist
```

## Known limits

None.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import quote
from orgkernel.documents.records import Case, DecisionCases
from orgkernel.loading.sources import SourceDocument
from orgkernel.rules.rule import Finding, Rule, RuleTarget


def check(document: SourceDocument) -> Iterator[Finding]:
    """Find cases without a question."""
    if document.kind != "decision_cases":
        return
    record = document.record
    assert isinstance(record, DecisionCases)
    for number, case in enumerate(record.cases):
        yield from check_case(document, number, case)


def check_case(document: SourceDocument, number: int, case: Case) -> Iterator[Finding]:
    """Report a case without a question."""
    if not (case.dispatch or case.access or case.who_can or case.what_can):
        yield Finding(
            document.place("cases", number),
            f"case {quote(case.name)} has no question",
            "add `dispatch`, `access`, `who_can` or `what_can`",
            f"case:{case.name}",
        )


RULE = Rule("ORG707", "empty-case", Severity.ERROR, RuleTarget.DOCUMENT, check)
