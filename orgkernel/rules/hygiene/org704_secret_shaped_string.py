"""A value in a document looks like a secret.

## What it checks

No string or key in a document looks like a token in one of the published formats (AWS, GitHub, GitLab, Anthropic,
OpenAI, Google, Slack, Stripe, npm, PyPI, Vault, JSON web tokens, private keys and thirty more). No string assigns a
random value to a key, secret, token or password, or contains the value of an `Authorization` header or a URL with a
password. With `orgkernel[secrets]`, the rules of kingfisher find the tokens of several hundred other issuers. The
message never repeats the secret.

In the text of a Markdown file, which often shows examples, a value that is only guessed from the words around it is a warning. A token
in a published format is an error everywhere. Neither keeps the other agents of another host from answering.

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

The rule does not check comments or documents that could not be read, so run a history scanner as well. It does not
recognize a password made of words. If a string is escaped or folded over several lines, the place is the line on
which it begins.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final

import msgspec

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import quote
from orgkernel.loading.marks import RouteStep
from orgkernel.loading.sources import SourceDocument
from orgkernel.rules.hygiene.known_tokens import find_known_tokens, is_installed, may_hold_token
from orgkernel.rules.rule import Finding, Rule, RuleTarget
from orgkernel.runtime.secret_shapes import drop_overlaps, find_secrets, mask_secrets, may_hold_secrets

_PROSE: Final = "body"
"""The field with the text of a Markdown file. Much of it is examples."""
_SHORT: Final = 200
"""Maximum length of strings whose result is cached."""


def check(document: SourceDocument) -> Iterator[Finding]:
    """Find strings that look like secrets."""
    unknown = document.unknown
    # The last key is used too, because `password: …` is recognized by it.
    if not _may_hold_one([document.record, *({str(route[-1]): value} for route, value in unknown)]):
        return
    yield from _find_secrets(document, msgspec.to_builtins(document.record), ())
    for route, value in unknown:
        yield from _find_secrets(document, value, route)


def _may_hold_one(value: Any) -> bool:
    """Whether a record needs a closer look. The whole record is searched at once as one JSON text, which takes 30 µs
    for a full profile.
    """
    whole = msgspec.json.encode(value).decode()
    return may_hold_secrets(whole) or (is_installed() and may_hold_token(whole))


def _find_secrets(document: SourceDocument, value: Any, route: tuple[RouteStep, ...]) -> Iterator[Finding]:
    for at, text, is_key in _iterate_texts(value, route):
        name = "" if is_key else str(at[-1])
        shaped = () if len(text) <= _SHORT and _is_clean(text, name) else find_secrets(text, name)
        known = () if is_key else find_known_tokens(text)
        for secret in drop_overlaps((*shaped, *known)):
            where = mask_secrets(".".join(map(str, at)))
            place = document.place(*at, key=True) if is_key else document.locate_within(secret.start, *at)
            yield Finding(
                place,
                f"{quote(where)} {'is' if is_key else 'contains'} {quote(secret.masked)}, which looks like {secret.what}",
                "revoke the secret, and write the name of a credential instead",
                f"field:{where}",
                severity=Severity.WARNING if at[-1] == _PROSE and secret.is_guessed else None,
            )


@lru_cache(maxsize=16_384)
def _is_clean(text: str, name: str) -> bool:
    """Whether nothing in a string has the form of a secret. Results are cached, because keys and tool names repeat
    within and across loads.
    """
    if not may_hold_secrets(msgspec.json.encode({name: text}).decode()):
        return True
    return next(find_secrets(text, name), None) is None


def _iterate_texts(
    value: Any, route: tuple[RouteStep, ...]
) -> Iterator[tuple[tuple[RouteStep, ...], str, bool]]:
    """The strings of a value, including the keys of its mappings."""
    if isinstance(value, str):
        yield route, value, False
    elif isinstance(value, dict):
        for key, item in value.items():
            yield (*route, key), str(key), True
            yield from _iterate_texts(item, (*route, key))
    elif isinstance(value, tuple | list):
        for number, item in enumerate(value):
            yield from _iterate_texts(item, (*route, number))


RULE = Rule("ORG704", "secret-shaped-string", Severity.ERROR, RuleTarget.DOCUMENT, check)
