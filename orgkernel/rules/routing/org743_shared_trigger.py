"""Two domains that different roles take declare the same trigger, so it leads to neither.

## What it checks

A trigger that the organization declares is not also a trigger of a domain that another role takes. Case, endings of words,
words without meaning, and the order of words make no difference.

## Why it matters

A trigger is strong evidence for the role that takes its domain. If two roles share it, a sentence with this trigger is too
close to decide, and no role takes it.

## Example

```yaml
_schema: orgkernel:domain_catalog
domains:
  bookkeeping: {triggers: [file receipts]}
  archive: {triggers: [filing a receipt]}
---
_schema: orgkernel:role_profile
role_id: bookkeeper
capabilities: {bst_domains: [bookkeeping]}
---
_schema: orgkernel:role_profile
role_id: archivist
capabilities: {bst_domains: [archive]}
```

## Instead

```yaml
_schema: orgkernel:domain_catalog
domains:
  bookkeeping: {triggers: [book receipts]}
  archive: {triggers: [filing a receipt]}
---
_schema: orgkernel:role_profile
role_id: bookkeeper
capabilities: {bst_domains: [bookkeeping]}
---
_schema: orgkernel:role_profile
role_id: archivist
capabilities: {bst_domains: [archive]}
```

## Known limits

Triggers that only shared catalogs declare are not compared.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Related, Severity
from orgkernel.diagnostics.wording import quote
from orgkernel.graph.questions import OrgView
from orgkernel.rules.rule import Finding, Rule, RuleTarget


def check(view: OrgView) -> Iterator[Finding]:
    """Find triggers that lead to two roles."""
    if not any(each.own and each.record.triggers for each in view.records.domains.values()):
        return
    from orgkernel.decisions.dispatch.routing_report import DeclaredSentence, list_declared_sentences
    from orgkernel.runtime.declared_phrases import build_trigger_key

    first: dict[str, DeclaredSentence] = {}
    for sentence in list_declared_sentences(view):
        if sentence.kind != "trigger":
            continue
        key = " ".join(sorted(build_trigger_key(sentence.text).split()))
        other = first.setdefault(key, sentence)
        if other.role_id == sentence.role_id or not (other.is_own or sentence.is_own):
            continue
        own, second = (sentence, other) if sentence.is_own else (other, sentence)
        yield Finding(
            own.place,
            f"trigger {quote(own.text)} of domain {quote(own.domain or '')} leads to role {quote(own.role_id)}, and as a trigger "
            f"of domain {quote(second.domain or '')} to role {quote(second.role_id)}",
            "keep it only in the domain that it should lead to, or add a word to it",
            f"domain:{own.domain}",
            (Related(second.place, f"domain {quote(second.domain or '')} declares {quote(second.text)}"),),
        )


RULE = Rule("ORG743", "shared-trigger", Severity.WARNING, RuleTarget.ORGANIZATION, check)
