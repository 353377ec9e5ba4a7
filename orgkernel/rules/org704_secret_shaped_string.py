"""A value in a document looks like a secret.

## What it checks

No text in a document looks like a token in one of the published formats (AWS, GitHub, GitLab, Anthropic, OpenAI,
Google, Groq, OpenRouter, Slack, Stripe, DigitalOcean, npm, PyPI, SendGrid, Hugging Face, Vault, age, Telegram, JSON web
tokens, private keys). No text assigns a random value to a key, secret, token or password, holds the value of an
`Authorization` header, or an address with a password. The message never repeats the secret.

## Why it matters

Documents are committed, served and shown to agents. Everyone who can read any of these knows the secret, and it stays in
the history after it is removed.

## Example

```yaml
standing_orders:
  - Sign in to the mirror as AKIAABCDEFGH2345ABCD.
```

## Instead

```yaml
credentials: [mirror_account]
standing_orders:
  - Sign in to the mirror with the credential mirror_account.
```

## Known limits

The rule does not check keys, comments or documents that could not be read, so run a history scanner as well. It does not
recognize a password made of words. If a text is escaped or folded over several lines, the place is the line on which it
begins.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any

import msgspec

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import quote
from orgkernel.loading.marks import RouteStep
from orgkernel.loading.sources import SourceDocument
from orgkernel.rules.rule import Finding, Rule, RuleScope
from orgkernel.runtime.secret_shapes import find_secrets, may_hold_secrets


def check(document: SourceDocument) -> Iterator[Finding]:
    """Texts that look like secrets."""
    # As JSON the whole record is one text, searched at once: 30 µs for a full profile.
    texts: Iterator[tuple[tuple[RouteStep, ...], str]] = iter(())
    if may_hold_secrets(msgspec.json.encode(document.record).decode()):
        texts = _texts(msgspec.to_builtins(document.record), ())
    unread = (text for route, value in document.unknown for text in _texts(value, route))
    for route, text in chain(texts, unread):
        for found in find_secrets(text, str(route[-1])):
            where = ".".join(map(str, route))
            yield Finding(
                document.place_within(found.start, *route),
                f"{quote(where)} contains {quote(found.masked)}, which looks like {found.what}",
                "revoke the secret, and write the name of a credential instead",
                f"field:{where}",
            )


def _texts(value: Any, route: tuple[RouteStep, ...]) -> Iterator[tuple[tuple[RouteStep, ...], str]]:
    if isinstance(value, str):
        yield route, value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _texts(item, (*route, key))
    elif isinstance(value, tuple | list):
        for number, item in enumerate(value):
            yield from _texts(item, (*route, number))


RULE = Rule("ORG704", "secret-shaped-string", Severity.ERROR, RuleScope.DOCUMENT, check)
