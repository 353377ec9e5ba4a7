"""A path of a policy cannot be compared with the paths of calls.

## What it checks

Each path under `paths`, `under` or `not_under` in a `deny` or `ask` policy can be compared: it is relative, absolute (`/x`,
`//x`) or below the home folder (`~/x`), its alternatives are written as several paths, and it has no variable, negation (`!x`)
or `..` at its start.

## Why it matters

A path that cannot be compared could be any path. So the policy applies to every call of its tools, although it looks as
if it applied to only some of them. A `!` in front does not make an exception: it is part of a name.

## Example

```yaml
no-keys:
  effect: deny
  permissions: {tools: [files], paths: ["*.{pem,key}"]}
```

## Instead

```yaml
no-keys:
  effect: deny
  permissions: {tools: [files], paths: ["*.pem", "*.key"]}
```

## Known limits

Policies that are not enabled are ignored. The rule does not check whether such files exist.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import quote
from orgkernel.documents.records import Policy
from orgkernel.graph.questions import OrgView
from orgkernel.rules.rule import Finding, Rule, RuleTarget
from orgkernel.runtime.paths import is_comparable_glob

_DONE = {"deny": "denied", "ask": "asked about"}


def check(view: OrgView) -> Iterator[Finding]:
    """Find paths of policies that match every path, or that only look like an exception."""
    root = view.records.organization.workspace_root
    for policy in view.records.policies.values():
        record = policy.record
        if not record.enabled or record.effect not in _DONE:
            continue
        for route, path in _list_paths(record):
            place = policy.place("permissions", *route)
            if path.startswith("!"):
                text = "begins with `!`, which is part of a name here and no exception"
                help = "remove it, or write `./!` in front if a file is named so"
            elif not is_comparable_glob(path, root):
                text = f"cannot be compared with other paths, so every call of its tools is {_DONE[record.effect]}"
                help = (
                    "write one path for each alternative, relative to the workspace, absolute or below `~/`"
                )
            else:
                continue
            yield Finding(
                place, f"path {quote(path)} of policy {quote(policy.id)} {text}", help, f"policy:{policy.id}"
            )


def _list_paths(policy: Policy) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """The paths of a policy with their routes below its permissions."""
    yield from ((("paths", number), path) for number, path in enumerate(policy.permissions.paths))
    for name, test in policy.permissions.input.items():
        for field, paths in (("under", test.under), ("not_under", test.not_under)):
            yield from ((("input", name, field, number), path) for number, path in enumerate(paths))


RULE = Rule("ORG740", "policy-path-without-meaning", Severity.WARNING, RuleTarget.ORGANIZATION, check)
