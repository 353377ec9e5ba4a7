"""The lists of allowed and denied tools of a policy contradict each other or its effect.

## What it checks

- A `deny` or `ask` policy lists tools under `allow` only next to a `*` under `deny`. They are the tools that it spares.
- An `annotate` policy lists no tools under `allow`, because it allows nothing.
- No policy lists `*` both under `allow` and under `deny`.
- Only a `deny` or `ask` policy about tools lists `paths`.

## Why it matters

Such lists have no defined meaning: one reader takes the tools under `allow` as allowed, another as denied. A policy that is
misread either stops nothing or stops everything, so an organization with such lists does not load. `paths` say which part of
the tools a policy denies or asks about: it can neither allow a part, nor is anything but a tool a part of files.

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

The rule does not compare prefixes: `allow: [send_*]` next to `deny: [send_email, "*"]` is accepted. What `deny` names is
denied.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import listing, quote
from orgkernel.graph.questions import OrgView
from orgkernel.records.access_policies import STAR, ToolRules
from orgkernel.rules.rule import Finding, Rule, RuleScope


def check(view: OrgView) -> Iterator[Finding]:
    """Allow lists that have no meaning next to the deny list, or to the effect."""
    for policy in view.records.policies.values():
        tools, effect = policy.record.permissions.tools, policy.record.effect
        if policy.record.permissions.paths and (effect not in ("deny", "ask") or tools is None):
            yield Finding(
                policy.place("permissions", "paths", key=True),
                f"policy {quote(policy.id)} lists `paths`"
                + (", but no tools" if tools is None else f" and has the effect {quote(effect)}"),
                "list the `tools` that it is about, `*` for all of them"
                if tools is None
                else "remove `paths`: only a policy that denies or asks is about a part of a tool",
                f"policy:{policy.id}",
            )
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
            remedy = f"write what is {what} as a plain list, or add `*` under `deny` to spare only what `allow` lists"
        else:
            continue
        yield Finding(place, f"policy {quote(policy.id)} {message}", remedy, f"policy:{policy.id}")


RULE = Rule("ORG423", "undefined-tool-lists", Severity.ERROR, RuleScope.CATALOG, check)
