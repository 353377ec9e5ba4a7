"""A policy matches an alert that is not declared.

## What it checks

Every alert that the `match` of a policy names is one of the `alerts` of an organization that uses the policy. An
organization that declares none has `GREEN`, `YELLOW` and `RED`.

## Why it matters

The policy never applies, because an undeclared alert cannot be recorded. If it is meant to deny something in that
alert, nothing is denied.

## Example

```yaml
no-payments:
  effect: deny
  match: {alert: [REDD]}
  permissions: {tools: [pay]}
```

## Instead

```yaml
no-payments:
  effect: deny
  match: {alert: [RED]}
  permissions: {tools: [pay]}
```

## Known limits

If several organizations see a policy, an alert is reported only if none of them declares it. Nothing is reported while an
organization could not be read.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import did_you_mean
from orgkernel.graph.assemble import Assembly
from orgkernel.rules.policy_matches import find_status_words
from orgkernel.rules.references import report_undeclared
from orgkernel.rules.rule import Finding, Rule, RuleTarget
from orgkernel.rules.visibility import find_unknown_to_all, list_ids


def check(assembly: Assembly) -> Iterator[Finding]:
    """Alerts that no organization declares."""
    known = list_ids(assembly, lambda records: records.organization.alerts)
    unknown = find_unknown_to_all(assembly, partial(find_status_words, field="alert"))
    yield from report_undeclared(unknown, "alert", lambda word: did_you_mean(word, known))


RULE = Rule("ORG616", "unknown-alert", Severity.ERROR, RuleTarget.TREE, check)
