"""The lists of allowed and denied tools of a policy contradict each other or its effect.

## What it checks

- A `deny` or `ask` policy lists tools under `allow` only if `deny` contains `*`. A tool under `allow` is then an
  exception to the `*`.
- An `annotate` policy, which only adds a note to a decision, lists no tools under `allow`.
- No policy lists `*` both under `allow` and under `deny`.
- Only a `deny` or `ask` policy about tools lists `paths`, `commands` or `input`, and
  none lists both `paths` and `commands`.

## Why it matters

Lists that contradict each other have no defined meaning: one reader takes the tools under `allow` as allowed, another
as denied. A policy that is misread either stops nothing or stops everything. An organization with such a policy
therefore does not load.

`paths`, `commands` and `input` limit a policy to some calls of its tools. A policy cannot allow only some calls of a
tool. Credentials and data have no paths, commands or arguments. If a policy had both `paths` and `commands`, it would
be unclear whether a call must match one of the lists or both.

## Example

```yaml
effect: deny
permissions:
  tools: {allow: [weather], deny: [send_email]}
```

## Instead

```yaml
effect: deny
permissions:
  tools: {allow: [weather], deny: ["*"]}
```

## Known limits

The rule does not compare prefixes: `allow: [send_*]` next to `deny: [send_email, "*"]` is accepted. `send_email` is
then denied, because `deny` wins.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import listing, quote
from orgkernel.documents.records import STAR, Policy, ToolRules
from orgkernel.graph.questions import OrgView
from orgkernel.graph.records import Definition
from orgkernel.rules.rule import Finding, Rule, RuleTarget


def check(view: OrgView) -> Iterator[Finding]:
    """Find allow lists that contradict the deny list or the effect."""
    for policy in view.records.policies.values():
        tools, effect = policy.record.permissions.tools, policy.record.effect
        yield from _check_tool_parts(policy)
        if not isinstance(tools, ToolRules) or not tools.allow:
            continue
        place = policy.place("permissions", "tools", "allow", 0)
        allowed = f"lists {listing(tools.allow)} under `allow`"
        if STAR in tools.allow and STAR in tools.deny:
            place = policy.place("permissions", "tools", "allow", tools.allow.index(STAR))
            message = "lists `*` both under `allow` and under `deny`"
            remedy = "remove one of the two"
        elif effect == "annotate":
            message = f"{allowed}, but a policy with the effect `annotate` allows nothing"
            remedy = "remove `allow`, or change the effect"
        elif effect in ("deny", "ask") and STAR not in tools.deny:
            message = f"has the effect {quote(effect)} and {allowed}, but no `*` under `deny`"
            what = "denied" if effect == "deny" else "asked for"
            remedy = f"write what is {what} as a plain list, or add `*` under `deny` to exempt only what `allow` lists"
        else:
            continue
        yield Finding(place, f"policy {quote(policy.id)} {message}", remedy, f"policy:{policy.id}")


def _check_tool_parts(policy: Definition[Policy]) -> Iterator[Finding]:
    """Find `paths`, `commands` and `input` in policies that cannot have them, and policies with both paths and
    commands.
    """
    permissions, effect = policy.record.permissions, policy.record.effect
    for field in ("paths", "commands", "input"):
        if not getattr(permissions, field):
            continue
        if permissions.tools is None:
            message, remedy = "but no tools", "list the `tools` that it applies to, or `*` for all tools"
        elif effect not in ("deny", "ask"):
            message = f"and has the effect {quote(effect)}"
            remedy = f"remove `{field}`: only a policy that denies or asks can apply to part of a tool"
        elif field == "commands" and permissions.paths:
            message, remedy = "and `paths`", "write two policies, one for each"
        else:
            continue
        comma = "," if permissions.tools is None else ""
        yield Finding(
            policy.place("permissions", field, key=True),
            f"policy {quote(policy.id)} lists `{field}`{comma} {message}",
            remedy,
            f"policy:{policy.id}",
        )


RULE = Rule("ORG423", "undefined-tool-lists", Severity.ERROR, RuleTarget.CATALOG, check)
