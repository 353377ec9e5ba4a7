"""An example of a role or of a domain leads to another role.

## What it checks

A sentence under `examples` of a role, or of a domain that a role handles, goes to that role if a user sends exactly
this sentence.

## Why it matters

Examples are how an organization teaches dispatch its own words. If another role takes one, similar sentences go to that
role too, and the role that should take them never sees them.

## Example

```yaml
_schema: orgkernel:domain_catalog
domains:
  bookkeeping: {examples: [File the receipt]}
  archive: {examples: [File the receipts]}
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
  bookkeeping: {examples: [Book the receipt]}
  archive: {examples: [File the receipts]}
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

The rule dispatches only the examples that the organization declares itself, not those of shared catalogs, and only in
organizations of at most 200 roles. `orgkernel routing report` dispatches all of them. An example that two roles share is a finding of ORG316.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import quote
from orgkernel.graph.questions import OrgView
from orgkernel.rules.rule import Finding, Rule, RuleTarget

MAX_RANKED_ROLES = 200


def check(view: OrgView) -> Iterator[Finding]:
    """Find examples that another role takes."""
    if len(view.roles) < 2 or not _declares_examples(view):
        return
    # Imported late, because most organizations declare no examples.
    from orgkernel.decisions.dispatch.role_texts import get_text_index, map_examples_to_roles
    from orgkernel.decisions.dispatch.routing_report import list_declared_sentences
    from orgkernel.runtime.request_text import read_request
    from orgkernel.runtime.text_index import build_example_key, extract_content, rank_roles

    takers = map_examples_to_roles(view)
    first: dict[str, str] = {}
    for sentence in list_declared_sentences(view):
        if sentence.kind != "example" or not sentence.is_own:
            continue
        key = build_example_key(extract_content(sentence.text))
        if sentence.domain is None and first.setdefault(key, sentence.role_id) != sentence.role_id:
            continue  # ORG316 reports it
        taker = takers.get(key)
        if taker is None or build_example_key(read_request(sentence.text, {}).whole) != key:
            # A declared example decides if a user sends exactly this sentence, unless it reads otherwise as a request: a greeting is cut
            # off there. Only then the words of all roles matter, and weighing them takes longer than all other rules.
            if len(view.roles) > MAX_RANKED_ROLES:
                continue
            index = get_text_index(view)
            ranking = rank_roles(index, sentence.text, 2)
            if ranking.outcome != "role" or not ranking.ranked:
                continue
            taker = index.roles[ranking.ranked[0].role]
        if taker != sentence.role_id:
            of = f"role {quote(sentence.role_id)}"
            if sentence.domain is not None:
                of = f"domain {quote(sentence.domain)}, which {of} handles"
            yield Finding(
                sentence.place,
                f"{quote(sentence.text)} is an example of {of}, and role {quote(taker)} takes it",
                "keep the example only where it should lead, or add a word that only this work has",
                f"role:{sentence.role_id}",
            )


def _declares_examples(view: OrgView) -> bool:
    return any(post.profile.examples for post in view.records.posts.values()) or any(
        each.own and each.record.examples for each in view.records.domains.values()
    )


RULE = Rule("ORG742", "misrouted-example", Severity.WARNING, RuleTarget.ORGANIZATION, check)
