"""A value in a document looks like a secret.

## What it checks

No string or key in a document looks like a token in one of the published formats (AWS, GitHub, GitLab, Anthropic,
OpenAI, Google, Slack, Stripe, npm, PyPI, Vault, JSON web tokens, private keys and thirty more). No string assigns a
random value to a key, secret, token or password, or contains the value of an `Authorization` header or a URL with a
password. With `orgkernel[secrets]`, the rules of Kingfisher, an open-source secret scanner, find the tokens of several
hundred other issuers. The message never repeats the secret.

A token in a published format is an error everywhere. A value that is only guessed from the words around it is a
warning in the text of a Markdown file, because such a text often shows examples. In the agent file of a host, such as
Claude Code, even an error takes no agent out of service.

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

In each file, the rule searches up to 256 KiB of text near possible secrets and reports up to a hundred of them. If a
file exceeds one of these limits, another error reports it. The rule does not check comments or documents that could
not be read. Also run a scanner over the git history: it reads comments, unreadable documents and earlier versions. The
rule does not recognize a password made of words. If a string is escaped or folded over several lines, the place is the
line on which it begins.

## Since

0.1
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from itertools import chain
from typing import Any, Final

import msgspec

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import quote
from orgkernel.loading.marks import RouteStep
from orgkernel.loading.sources import SourceDocument
from orgkernel.rules.hygiene.known_tokens import find_known_tokens, is_installed, may_hold_token
from orgkernel.rules.rule import Finding, Rule, RuleTarget
from orgkernel.runtime.secret_shapes import (
    MAX_FOUND,
    MAX_SEARCHED,
    UNSEARCHED,
    FoundSecret,
    SearchBudget,
    drop_overlaps,
    find_secrets,
    mask_secrets,
    may_hold_secrets,
)

_PROSE: Final = "body"
"""The field with the text of a Markdown file. Much of it is examples."""
_SHORT: Final = 200
"""Maximum length of strings whose result is cached."""


class _FileBudget:
    """What the search may still cost in one file."""

    def __init__(self) -> None:
        self.shapes = SearchBudget()
        self.detector = SearchBudget()
        self.found = 0
        self.is_spent = False


_budget: ContextVar[_FileBudget | None] = ContextVar("budget of a file", default=None)


@contextmanager
def share_budget() -> Iterator[None]:
    """Within this context, the documents that are checked are of one file and share its budget."""
    token = _budget.set(_FileBudget())
    try:
        yield
    finally:
        _budget.reset(token)


def check(document: SourceDocument) -> Iterator[Finding]:
    """Find strings that look like secrets."""
    budget = _budget.get() or _FileBudget()
    unknown = document.unknown
    # The last key is used too, because `password: …` is recognized by it.
    if budget.is_spent or not _may_hold_one(
        [document.record, *({str(route[-1]): value} for route, value in unknown)]
    ):
        return
    values = chain([((), msgspec.to_builtins(document.record))], unknown)
    for at, text, is_key in chain.from_iterable(_iterate_texts(value, route) for route, value in values):
        name = "" if is_key or not isinstance(at[-1], str) else at[-1]
        for secret in _find_in_text(text, name, is_key, budget):
            budget.found += 1
            if secret.what == UNSEARCHED or budget.found > MAX_FOUND:
                budget.is_spent = True
                yield _build_unsearched(document, at, budget)
                return
            yield _build_finding(document, at, is_key, secret)


def _find_in_text(text: str, name: str, is_key: bool, budget: _FileBudget) -> Iterable[FoundSecret]:
    shaped: tuple[FoundSecret, ...] = ()
    cost, is_clean = _measure_search(text, name) if len(text) <= _SHORT else (0, False)
    if not is_clean or (cost and not budget.shapes.take(cost)):
        shaped = tuple(find_secrets(text, name, budget.shapes))
    known = () if is_key else tuple(find_known_tokens(text, budget.detector))
    return drop_overlaps((*shaped, *known)) if shaped or known else ()


def _build_finding(
    document: SourceDocument, at: tuple[RouteStep, ...], is_key: bool, secret: FoundSecret
) -> Finding:
    where = mask_secrets(".".join(map(str, at)))
    place = document.place(*at, key=True) if is_key else document.locate_within(secret.start, *at)
    return Finding(
        place,
        f"{quote(where)} {'is' if is_key else 'contains'} {quote(secret.masked)}, which looks like {secret.what}",
        "revoke the secret, and write the name of a credential instead",
        f"field:{where}",
        severity=Severity.WARNING if at[-1] == _PROSE and secret.is_guessed else None,
    )


def _build_unsearched(document: SourceDocument, at: tuple[RouteStep, ...], budget: _FileBudget) -> Finding:
    if budget.found > MAX_FOUND:
        message = f"the file contains more than {MAX_FOUND} strings that look like secrets, and the rest was not searched"
    else:
        message = f"the file contains {UNSEARCHED} ({MAX_SEARCHED // 1024} KiB)"
    help = "move long texts with random values into files that are not documents, or split the file"
    return Finding(document.place(*at), message, help, "file")


def _may_hold_one(value: Any) -> bool:
    """Whether a record needs a closer look. The whole record is searched at once as one JSON text, which takes 30 µs
    for a full profile.
    """
    whole = msgspec.json.encode(value).decode()
    return may_hold_secrets(whole) or (is_installed() and may_hold_token(whole))


@lru_cache(maxsize=16_384)
def _measure_search(text: str, name: str) -> tuple[int, bool]:
    """What the search of a string costs, and whether nothing in it has the form of a secret. Results are cached,
    because keys and tool names repeat within and across loads.
    """
    if not may_hold_secrets(msgspec.json.encode({name: text}).decode()):
        return 0, True
    budget = SearchBudget()
    is_clean = next(find_secrets(text, name, budget), None) is None
    return MAX_SEARCHED - budget.left, is_clean


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
