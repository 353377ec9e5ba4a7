"""A policy has no effect, because another policy always decides.

## What it checks

- No policy denies everything that another enabled policy allows or asks for, wherever that one matches.
- No policy matches whenever a `fallback` matches, so every `fallback` can take effect.
- No policy allows only what another policy allows under a wider match.

## Why it matters

The author wrote the policy to change something, and it changes nothing. Usually the other policy is wider than intended.

## Example

```yaml
no-strangers:
  effect: deny
  match: {principal: {unknown: true}}
stranger-weather:
  effect: allow
  match: {principal: {unknown: true}}
  permissions: {tools: [weather]}
```

## Instead

```yaml
no-strangers:
  effect: deny
  match: {principal: {unknown: true}, conditions: [{peer_kind: group}]}
stranger-weather:
  effect: allow
  match: {principal: {unknown: true}}
  permissions: {tools: [weather]}
```

## Known limits

Two time windows are compared as they are written. The rule compares policies in pairs, not one with several others
together. A policy with a session, modifiers or a `ceiling` has an effect even if another policy allows the same.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Place, Related, Severity
from orgkernel.diagnostics.wording import quote
from orgkernel.documents.records import DATA_TIERS, STAR, Modifiers, Policy, Session
from orgkernel.graph.assemble import Assembly
from orgkernel.graph.records import Definition, OrgRecords
from orgkernel.rules.policy_matches import covers, covers_tests, find_contradiction
from orgkernel.rules.rule import Finding, Rule, RuleTarget
from orgkernel.rules.visibility import find_wrong_for_all


def check(assembly: Assembly) -> Iterator[Finding]:
    """Policies that another policy makes ineffective."""
    yield from find_wrong_for_all(assembly, _find_shadowed)


def _find_shadowed(records: OrgRecords) -> Iterator[tuple[Place, Finding | None]]:
    live = [
        each
        for each in records.policies.values()
        if each.record.enabled and not find_contradiction(each.record.match, records)
    ]
    for number, policy in enumerate(live):
        if policy.document.format:
            continue  # a rule in another format that covers less than the policy built from it
        finding = None
        for other_number, other in enumerate(live):
            if other is policy or not covers(other.record.match, policy.record.match, records.people):
                continue
            how = _explain_shadowing(other.record, policy.record)
            # If two policies are equal, the later one has no effect.
            mutual = covers(policy.record.match, other.record.match, records.people) and _explain_shadowing(
                policy.record, other.record
            )
            if how and not (mutual and other_number > number):
                finding = _build_finding(policy, other, how)
                break
        yield policy.place(), finding


def _build_finding(policy: Definition[Policy], other: Definition[Policy], how: str) -> Finding:
    return Finding(
        policy.place(),
        f"policy {quote(policy.id)} has no effect: {how.format(quote(other.id))}",
        "remove it, or narrow the match of the other policy",
        f"policy:{policy.id}",
        (Related(other.place(), "the other policy"),),
    )


def _explain_shadowing(other: Policy, policy: Policy) -> str:
    """How a policy that matches whenever another one does makes the other ineffective. Empty if it does not."""
    if policy.fallback and not other.fallback and other.effect in _SILENCING[_takes(policy)]:
        return "it is a fallback, and {} matches whenever it does"
    if other.fallback and not policy.fallback:
        return ""
    if other.effect == "deny" and policy.effect != "annotate" and _is_denied_completely(other, policy):
        return "{} denies everything it covers"
    both_allow = other.effect == policy.effect == "allow"
    if (
        both_allow
        and not policy.is_ceiling
        and not _has_other_effect(policy)
        and _is_allowed_completely(other, policy)
    ):
        return "{} allows the same"
    return ""


_SILENCING = {True: ("allow",), False: ("allow", "deny", "ask")}
"""The effects of policies that override a fallback. The key is true if the fallback denies, asks or is a ceiling."""


def _takes(policy: Policy) -> bool:
    return policy.effect in ("deny", "ask") or policy.is_ceiling or bool(policy.denied_tools)


def _is_denied_completely(other: Policy, policy: Policy) -> bool:
    wide, narrow = other.permissions, policy.permissions
    if wide.paths and not (narrow.paths and {*narrow.paths} <= {*wide.paths}):
        return False
    if wide.commands and not (narrow.commands and {*narrow.commands} <= {*wide.commands}):
        return False
    if not covers_tests(wide.input, narrow.input):
        return False
    if wide.tools is None:
        return wide.credentials is None and wide.roles is None and wide.data is None
    beside = narrow.credentials or narrow.roles or narrow.data not in (None, "none")
    speaks = narrow.tools is not None or policy.effect == "allow"
    return (
        speaks
        and not beside
        and not other.spared_tools
        and _includes(_list_annotated_tools(other), _list_annotated_tools(policy))
    )


def _list_annotated_tools(policy: Policy) -> tuple[str, ...]:
    """The tools that the policy names."""
    return (*(policy.named_tools or ()), *policy.denied_tools)


def _has_other_effect(policy: Policy) -> bool:
    """Whether the policy has an effect in addition to the tools that it allows."""
    return policy.session != Session() or policy.modifiers != Modifiers()


def _includes(wide: tuple[str, ...], narrow: tuple[str, ...]) -> bool:
    """Whether the wide list covers every tool of the narrow one."""
    return all(
        any(glob == each or (glob.endswith(STAR) and each.startswith(glob[:-1])) for glob in wide)
        for each in narrow
    )


def _is_allowed_completely(other: Policy, policy: Policy) -> bool:
    wide, narrow = other.permissions, policy.permissions
    if other.denied_tools or policy.denied_tools:
        return False
    tools = _includes(other.named_tools or (), policy.named_tools or ())
    names = all(
        wide_names == STAR or (narrow_names != STAR and {*(narrow_names or ())} <= {*(wide_names or ())})
        for wide_names, narrow_names in (
            (wide.credentials, narrow.credentials),
            (wide.roles, narrow.roles),
        )
    )
    order = (None, *DATA_TIERS)
    return tools and names and order.index(narrow.data) <= order.index(wide.data)


RULE = Rule("ORG412", "shadowed-policy", Severity.WARNING, RuleTarget.TREE, check)
