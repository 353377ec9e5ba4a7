"""No argument passes the tests of a policy.

## What it checks

Some value passes all tests of each argument under `input` of a `deny` or `ask` policy: a number that is both above `more_than` and
below `less_than`, a listed value, host, path or pattern that its negative form does not list too.

## Why it matters

The policy looks as if it denied some calls, but it applies to no call whose arguments can be compared.

## Example

```yaml
policies:
  odd-amounts: {effect: deny, permissions: {tools: [pay], input: {amount: {more_than: 500, less_than: 100}}}}
```

## Instead

```yaml
policies:
  odd-amounts: {effect: deny, permissions: {tools: [pay], input: {amount: {more_than: 100, less_than: 500}}}}
```

## Known limits

Patterns and paths are compared as they are written, and hosts with the hosts below a domain. Policies that are not enabled are
ignored.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from orgkernel.decisions.access.arguments import does_value_pass
from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import quote
from orgkernel.documents.records import ArgumentTest
from orgkernel.graph.questions import OrgView
from orgkernel.rules.rule import Finding, Rule, RuleTarget


def check(view: OrgView) -> Iterator[Finding]:
    """Find tests that contradict each other."""
    for policy in view.records.policies.values():
        record = policy.record
        if not record.enabled or record.effect not in ("deny", "ask"):
            continue
        for name, test in record.permissions.input.items():
            why = _find_contradiction(test)
            if why:
                yield Finding(
                    policy.place("permissions", "input", name, key=True),
                    f"no argument {quote(name)} passes the tests of policy {quote(policy.id)}: {why}",
                    "correct the tests, or write a policy for each",
                    f"policy:{policy.id}",
                )


def _find_contradiction(test: ArgumentTest) -> str:
    """Why no value passes a test. Empty if one could."""
    if test.more_than is not None and test.less_than is not None and test.more_than >= test.less_than:
        return f"no number is more than {test.more_than:g} and less than {test.less_than:g}"
    # None would mean that the value cannot be compared with a test, and then it could pass. Only False excludes it. A listed
    # value may be written for a number, which is compared as it is written in JSON.
    if test.one_of and all(does_value_pass(test, each) is False for each in test.one_of):
        return "no value of `one_of` passes the other tests"
    for field, listed, unlisted in (
        ("matches", test.matches, test.not_matches),
        ("under", test.under, test.not_under),
    ):
        if listed and {*listed} <= {*unlisted}:
            return f"`not_{field}` lists all of `{field}`"
    if test.host_in and all(_is_host_listed(each, test.host_not_in) for each in test.host_in):
        return "`host_not_in` lists all of `host_in`"
    return ""


def _is_host_listed(host: str, hosts: Sequence[str]) -> bool:
    host = host.lower()
    return any(
        host == each.lower() or (each.startswith("*.") and host.removeprefix("*").endswith(each[1:].lower()))
        for each in hosts
    )


RULE = Rule("ORG736", "argument-test-never-passes", Severity.WARNING, RuleTarget.ORGANIZATION, check)
