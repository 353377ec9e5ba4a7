"""A policy applies to part of a tool, but calls of that tool do not state the part.

## What it checks

Each tool of a policy with `paths` names the arguments that hold paths in `path_arguments`, and each tool of a policy with
`commands` names those that hold shell commands in `command_arguments`.

## Why it matters

Without these arguments, it is unknown whether a call of the tool touches the part. So every call of the tool is denied, or requires an
approval, although the policy looks as if it applied to only some of them.

## Example

```yaml
no-removal:
  effect: deny
  permissions: {tools: [shell, weather], commands: [rm]}
```

## Instead

```yaml
no-removal:
  effect: deny
  permissions: {tools: [shell], commands: [rm]}
```

## Known limits

Policies that are not enabled are ignored. A caller can name a path in the resource (`tool:ID:PATH`) of a tool without
`path_arguments`; the gateway and the toolbox never do. The rule does not compare the arguments with the input schema of the tool.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Related, Severity
from orgkernel.diagnostics.wording import listing, quote
from orgkernel.documents.records import Policy, Tool
from orgkernel.graph.questions import OrgView
from orgkernel.graph.records import Definition
from orgkernel.rules.rule import Finding, Rule, RuleTarget

_ARGUMENTS = {"paths": "path_arguments", "commands": "command_arguments"}


def check(view: OrgView) -> Iterator[Finding]:
    """Find policies that restrict whole tools although they name only part of them."""
    for policy in view.records.policies.values():
        record = policy.record
        if not record.enabled or record.effect not in ("deny", "ask"):
            continue
        for field, arguments in _ARGUMENTS.items():
            if not getattr(record.permissions, field):
                continue
            closed = [
                each for each in iterate_covered_tools(view, policy) if not getattr(each.record, arguments)
            ]
            if closed:
                yield _build_finding(policy, field, arguments, closed)


def iterate_covered_tools(view: OrgView, policy: Definition[Policy]) -> Iterator[Definition[Tool]]:
    """The declared tools that a policy lists."""
    for edge in view.list_tools_covered_by(policy.id):
        tool = view.records.tools.get(edge.target)
        if tool is not None:
            yield tool


def _build_finding(
    policy: Definition[Policy], field: str, arguments: str, closed: list[Definition[Tool]]
) -> Finding:
    names = listing(tool.id for tool in closed)
    one = len(closed) == 1
    done = "denied" if policy.record.effect == "deny" else "asked about"
    return Finding(
        policy.place("permissions", field, key=True),
        f"policy {quote(policy.id)} applies to some {quote(field)}, and {names} {'does' if one else 'do'} not declare which"
        f" argument holds them, so all of {'it' if one else 'them'} is {done}",
        f"add {quote(arguments)} to the tool{'' if one else 's'}, or leave {'it' if one else 'them'} out of the policy",
        f"policy:{policy.id}",
        tuple(Related(tool.place(), "the tool") for tool in closed[:3]),
    )


RULE = Rule("ORG426", "part-never-stated", Severity.WARNING, RuleTarget.ORGANIZATION, check)
