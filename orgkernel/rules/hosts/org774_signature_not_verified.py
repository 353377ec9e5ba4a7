"""An agent card is signed, and orgkernel has not verified the signature.

## What it checks

An A2A agent card has no `signatures`.

## Why it matters

orgkernel reads a card without verifying it. Verification needs the signer's key and the card as it was published. A
modified card is read like any other.

## Example

```json
"signatures": [{"protected": "eyJhbGciOiJFUzI1NiJ9", "signature": "QFdkNLNszlGj3z3u0YQGt_T9LixY3qtdQpZmsTdDHDe3"}],
```

## Instead

```json
"documentationUrl": "shop.example/docs",
```

## Known limits

The finding is only informational, because a signed card is better than an unsigned one. Verify the signature when you
fetch the card, and then suppress the finding.

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
    """Find cards with signatures."""
    for post in iterate_agents(view, A2A):
        if get_written_words(post).get("signatures"):
            yield Finding(
                post.document.place("signatures"),
                f"the signature of card {quote(post.profile.name)} was not verified",
                "verify it with the publisher's key when you fetch the card",
                f"role:{post.role_id}",
            )


RULE = Rule("ORG774", "signature-not-verified", Severity.INFO, RuleTarget.ORGANIZATION, check)
