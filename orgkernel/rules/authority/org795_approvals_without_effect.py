"""The approvals that a policy requires have no effect, or can never be complete.

## What it checks

Only a policy with the effect `ask` states `approvals`. Every subject under `by` is declared, and there are as many different
approvers as `count` requires.

## Why it matters

Approvals of another policy look like protection and require nothing. A policy that names too few approvers, or a misspelled one,
never opens, however many of them approve.

## Example

```yaml
close-accounts:
  effect: ask
  permissions: {tools: [close]}
  approvals: {count: 2, by: ["role:hed"]}
```

## Instead

```yaml
close-accounts:
  effect: ask
  permissions: {tools: [close]}
  approvals: {count: 2, by: ["role:head"]}
```

## Known limits

A role is counted as its agents; without agents, it can be more than one approver. Whether an approver may grant the resource
depends on the requester, so `orgkernel request show` lists who may.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import did_you_mean, listing, quote
from orgkernel.documents.records import Policy
from orgkernel.graph.questions import OrgView
from orgkernel.graph.records import Definition
from orgkernel.rules.rule import Finding, Rule, RuleTarget


def check(view: OrgView) -> Iterator[Finding]:
    """Find approvals that nothing requires, or that are never complete."""
    for name, definition in view.records.policies.items():
        if definition.own and definition.record.enabled and definition.record.approvals is not None:
            yield from _check_policy(view, name, definition)


def _check_policy(view: OrgView, name: str, definition: Definition[Policy]) -> Iterator[Finding]:
    policy, what = definition.record, f"policy {quote(name)}"
    required = policy.approvals
    assert required is not None
    if policy.effect != "ask":
        text = f"{what} requires approvals, but its effect is {quote(policy.effect)}, so nothing is asked"
        yield Finding(
            definition.place("approvals"), text, "set `effect: ask`, or remove `approvals`", f"policy:{name}"
        )
        return
    approvers: set[str] = set()
    is_uncountable = not required.by
    for number, word in enumerate(required.by):
        members = _list_members(view, word)
        is_uncountable = is_uncountable or not members
        if members is None:
            yield Finding(
                definition.place("approvals", "by", number),
                f"{what} names the approver {quote(word)}, which is not declared",
                did_you_mean(word, _list_declared(view)) or "declare it, or correct the name",
                f"policy:{name}",
            )
        else:
            approvers |= members
    if not is_uncountable and len(approvers) < required.count:
        yield Finding(
            definition.place("approvals"),
            f"{what} requires {required.count} different approvers, and {listing(required.by)} "
            f"{'are' if len(required.by) > 1 else 'is'} only {len(approvers)}",
            "name more approvers, or require fewer",
            f"policy:{name}",
        )


def _list_members(view: OrgView, word: str) -> set[str] | None:
    """The different approvers that a word means; empty if it cannot be counted, and None if it is not declared."""
    kind, _, name = word.partition(":")
    records = view.records
    people = records.people.values()
    if kind == "role":
        return {f"agent:{edge.source}" for edge in view.list_agents_in(name)} if view.is_role(name) else None
    if kind in ("relationship", "tag"):
        members = {
            f"person:{person.id}"
            for person in people
            if name in (person.record.tags if kind == "tag" else (person.record.relationship,))
        }
        # Without a person in the directory, the owner is the user of the host.
        return members or ({"person:user"} if word == "relationship:owner" else None)
    declared = records.agents if kind == "agent" else records.people
    return {word} if name in declared else None


def _list_declared(view: OrgView) -> list[str]:
    records = view.records
    people = records.people.values()
    return [
        *(f"role:{each}" for each in records.posts),
        *(f"agent:{each}" for each in records.agents),
        *(f"person:{each}" for each in records.people),
        *(f"relationship:{each.record.relationship}" for each in people if each.record.relationship),
        *(f"tag:{tag}" for each in people for tag in each.record.tags),
    ]


RULE = Rule("ORG795", "approvals-without-effect", Severity.ERROR, RuleTarget.ORGANIZATION, check)
