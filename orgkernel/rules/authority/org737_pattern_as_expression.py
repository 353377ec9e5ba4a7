r"""A pattern of a policy is written as a regular expression.

## What it checks

No pattern under `matches` or `not_matches` of a `deny` or `ask` policy begins with `^`, `.*` or `(?`, ends with `$`, or contains a
backslash, `.+` or a class of characters such as `[a-z]`.

## Why it matters

In these patterns only `*` has a meaning, and every other character stands for itself. A regular expression is compared as
text: a `deny` policy that `matches` it denies no call.

## Example

```yaml
policies:
  no-rivals: {effect: deny, permissions: {tools: [mail], input: {to: {matches: ['.*@rival\.example$']}}}}
```

## Instead

```yaml
policies:
  no-rivals: {effect: deny, permissions: {tools: [mail], input: {to: {matches: ['*@rival.example']}}}}
```

## Known limits

A value that really contains such characters is reported too. Policies that are not enabled are ignored.

## Since

0.1
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import quote
from orgkernel.graph.questions import OrgView
from orgkernel.rules.rule import Finding, Rule, RuleTarget

_EXPRESSION: Final = re.compile(r"^(?:\^|\.\*|\(\?)|\$$|\\|\.\+|\[\^?\w-\w")


def check(view: OrgView) -> Iterator[Finding]:
    """Find patterns with the signs of regular expressions."""
    for policy in view.records.policies.values():
        record = policy.record
        if not record.enabled or record.effect not in ("deny", "ask"):
            continue
        for name, test in record.permissions.input.items():
            for field, patterns in (("matches", test.matches), ("not_matches", test.not_matches)):
                for number, pattern in enumerate(patterns):
                    if _EXPRESSION.search(pattern):
                        yield Finding(
                            policy.place("permissions", "input", name, field, number),
                            f"pattern {quote(pattern)} of policy {quote(policy.id)} is compared as text, and looks like a"
                            " regular expression",
                            "write `*` for any text; every other character stands for itself",
                            f"policy:{policy.id}",
                        )


RULE = Rule("ORG737", "pattern-as-expression", Severity.WARNING, RuleTarget.ORGANIZATION, check)
