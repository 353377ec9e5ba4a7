"""An agent card is signed, and nobody has verified the signature here.

## What it checks

An A2A agent card has no `signatures`.

## Why it matters

Reading a card verifies nothing: that would need the key of whoever signed it, and the card as it was published. What a changed
card says is read like any other.

## Example

```json
"signatures": [{"protected": "eyJhbGciOiJFUzI1NiJ9", "signature": "QFdkNLNszlGj3z3u0YQGt_T9LixY3qtdQpZmsTdDHDe3"}],
```

## Instead

```json
"documentationUrl": "shop.example/docs",
```

## Known limits

It is only information, because a signature is something good. Verify it where the card is fetched, and suppress the finding
if that is done.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import quote
from orgkernel.graph.questions import OrgView
from orgkernel.rules.hosts.foreign_agents import A2A, get_written_words, iterate_agents
from orgkernel.rules.rule import Finding, Rule, RuleTarget


def check(view: OrgView) -> Iterator[Finding]:
    """Cards with signatures."""
    for post in iterate_agents(view, A2A):
        if get_written_words(post).get("signatures"):
            yield Finding(
                post.document.place("signatures"),
                f"the signature of card {quote(post.profile.name)} was not verified",
                "verify it with the publisher's key when you fetch the card",
                f"role:{post.role_id}",
            )


RULE = Rule("ORG774", "signature-not-verified", Severity.INFO, RuleTarget.ORGANIZATION, check)
