"""A part of a policy has no effect.

## What it checks

- The permissions of an `annotate` policy name only tools under `deny`, because it has no other effect on permissions.
- Only an `allow` policy sets `ceiling: true`.
- A `deny` or `ask` policy has no empty list of tools or credentials.
- Every prefix with a star, such as `mail_*`, matches a declared tool.

## Why it matters

The policy looks as if it protects or allows something, but this part of it does nothing. A `deny` policy without any
permissions covers everything; one with an empty list covers nothing of that kind.

## Example

```yaml
no-mail:
  effect: deny
  permissions: {tools: [mail_*]}
```

## Instead

```yaml
no-mail:
  effect: deny
  permissions: {tools: [send_email]}
```

## Known limits

Policies that are not enabled are ignored. ORG303 reports single tools that are not declared, ORG411 policies that
never match, and ORG423 lists that contradict each other. If several organizations see a policy, a part is reported
only if it has no effect in any of them.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Place, Severity
from orgkernel.diagnostics.wording import quote
from orgkernel.documents.records import STAR, Policy, ToolRules
from orgkernel.graph.assemble import Assembly
from orgkernel.graph.records import Definition, OrgRecords
from orgkernel.rules.rule import Finding, Rule, RuleTarget
from orgkernel.rules.visibility import find_wrong_for_all


def check(assembly: Assembly) -> Iterator[Finding]:
    """Find parts of policies that have no effect."""
    yield from find_wrong_for_all(assembly, _find_idle_parts)


def _find_idle_parts(records: OrgRecords) -> Iterator[tuple[Place, Finding | None]]:
    for policy in records.policies.values():
        if policy.record.enabled:
            for place, message, remedy in (*_find_parts_without_meaning(policy), *_find_empty_lists(policy)):
                yield place, _build_finding(policy, place, message, remedy)
            for place, word in _find_needless_names(policy):
                is_idle = "tool_catalog" not in records.incomplete and not any(
                    tool.startswith(word[:-1]) for tool in records.tools
                )
                message = f"names {quote(word)}, which matches no tool"
                remedy = "correct the prefix, or remove it"
                yield place, _build_finding(policy, place, message, remedy) if is_idle else None


def _build_finding(policy: Definition[Policy], place: Place, message: str, remedy: str) -> Finding:
    return Finding(place, f"policy {quote(policy.id)} {message}", remedy, f"policy:{policy.id}")


def _find_parts_without_meaning(policy: Definition[Policy]) -> Iterator[tuple[Place, str, str]]:
    record, permissions = policy.record, policy.record.permissions
    if record.effect == "annotate":
        for field in ("tools", "credentials", "data"):
            named = getattr(permissions, field)
            if named is not None and not isinstance(named, ToolRules):
                yield (
                    policy.place("permissions", field, key=True),
                    f"has the effect `annotate`, so {quote(field)} in its permissions has no effect",
                    f"remove {quote(field)}, or change the effect",
                )
    if record.ceiling and record.effect != "allow":
        yield (
            policy.place("ceiling", key=True),
            f"has the effect {quote(record.effect)}, so `ceiling` has no effect",
            "remove `ceiling`, or change the effect to `allow`",
        )


def _find_empty_lists(policy: Definition[Policy]) -> Iterator[tuple[Place, str, str]]:
    effect, permissions = policy.record.effect, policy.record.permissions
    if effect not in ("deny", "ask"):
        return
    verb = "denies" if effect == "deny" else "asks for"
    for field in ("tools", "credentials"):
        named = getattr(permissions, field)
        if named == () or (isinstance(named, ToolRules) and not named.allow and not named.deny):
            yield (
                policy.place("permissions", field, key=True),
                f"has an empty list of {field}, and so {verb} none of them",
                f"list {field}, write `*` for all of them, or remove {quote(field)}",
            )


def _find_needless_names(policy: Definition[Policy]) -> Iterator[tuple[Place, str]]:
    tools = policy.record.permissions.tools
    lists: dict[tuple[str, ...], tuple[str, ...]] = {}
    if isinstance(tools, ToolRules):
        lists = {("allow",): tools.allow, ("deny",): tools.deny}
    elif isinstance(tools, tuple):
        lists = {(): tools}
    for route, words in lists.items():
        for number, word in enumerate(words):
            if word != STAR and word.endswith(STAR):
                yield policy.place("permissions", "tools", *route, number), word


RULE = Rule("ORG425", "policy-part-without-effect", Severity.WARNING, RuleTarget.TREE, check)
