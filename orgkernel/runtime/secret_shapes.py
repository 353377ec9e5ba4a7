"""Find texts that look like a secret: published token formats, and values assigned to a name such as `password`.

A token format is a prefix and a length; an assigned value counts if it looks
random. Names of secrets, placeholders, digests (`sha256:…`), addresses, paths and ids made of words are not secrets.
"""

from __future__ import annotations

import base64
import math
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from typing import Final, NamedTuple

from .likely_secrets import find_likely, names_secret


class FoundSecret(NamedTuple):
    """A text that looks like a secret: its place, its kind, and a form that may be shown."""

    start: int
    end: int
    what: str
    masked: str


# The forms of known tokens. The lengths are those that the issuers publish.
_SHAPES: Final = {
    "an AWS access key id": r"(?:A3T[A-Z0-9]|AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}(?![A-Z0-9])",
    "a GitHub token": r"gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{82}",
    "a GitLab token": r"glpat-[A-Za-z0-9_-]{20,}",
    "an Anthropic key": r"sk-ant-[a-z]{3,6}[0-9]{2}-[A-Za-z0-9_-]{80,}",
    "an OpenRouter key": r"sk-or-v1-[0-9a-f]{64}",
    "a Groq key": r"gsk_(?=[A-Za-z]*[0-9])[A-Za-z0-9]{40,}(?![A-Za-z0-9_])",
    "a DigitalOcean token": r"do[opr]_v1_[0-9a-f]{64}",
    "an OpenAI key": r"sk-[A-Za-z0-9_-]{20,}T3BlbkFJ[A-Za-z0-9_-]{20,}",
    "a Google API key": r"AIza[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])",
    "a Slack token": r"(?:xox[a-z]|xapp)-(?=[A-Za-z-]*[0-9])[A-Za-z0-9-]{20,}",
    "a Slack webhook": r"hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9+/]{43,}",
    "a Stripe key": r"[sr]k_(?:live|test)_(?=[A-Za-z]*[0-9])[A-Za-z0-9]{10,99}(?![A-Za-z0-9_])",
    "an npm token": r"npm_(?=[A-Za-z]*[0-9])[A-Za-z0-9]{36}(?![A-Za-z0-9_])",
    "a PyPI token": r"pypi-[A-Za-z0-9_-]{50,}",
    "a SendGrid key": r"SG\.[A-Za-z0-9=_.-]{66}(?![A-Za-z0-9_-])",
    "a Hugging Face token": r"hf_(?=[a-z]*[A-Z])[A-Za-z]{34}(?![A-Za-z0-9_])",
    "a Vault token": r"hv[bsr]\.[A-Za-z0-9_-]{90,}",
    "an orgkernel key": r"orgk_[A-Za-z0-9_-]{43}(?![A-Za-z0-9_-])",
    "an age key": r"AGE-SECRET-KEY-1[02-9AC-HJ-NP-Z]{58}",
    "a JSON web token": r"eyJ[A-Za-z0-9_-]{14,}\.eyJ[A-Za-z0-9_-]{14,}\.[A-Za-z0-9_-]{10,}",
    "a private key": r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----[\s\S]{0,200}?[A-Za-z0-9+/]{40}[^-]{0,16000}",
    "a Telegram bot token": r"[0-9]{5,16}:A[A-Za-z0-9_-]{34}(?![A-Za-z0-9_-])",
}


@cache
def _any_shape() -> re.Pattern[str]:
    """One pattern for all shapes. It is compiled on first need, because that takes milliseconds."""
    shapes = "|".join(f"({shape})" for shape in _SHAPES.values())
    return re.compile(rf"(?<![A-Za-z0-9_-])(?:{shapes})")


_KINDS: Final = tuple(_SHAPES)
_SHOWN: Final = 4
"""Characters of a token that may be shown: its prefix, which is the same in every token."""
_LEAST_VARIETY: Final = 8
"""Fewest different characters in a token. A text with fewer is a placeholder (`ghp_xxxx…`)."""

_WORDS: Final = ("key", "secret", "token", "password", "passwd", "passphrase")
# Keys and tokens that point at something and open nothing: `cache key`, `primary_key`, `nextPageToken`.
_ORDINARY: Final = re.compile(
    r"(?:primary|foreign|sort|partition|cache|group|lookup|object|map|dict|registry|index|unique|composite|shard|hash"
    r"|idempotency|dedup|deduplication|routing|message|translation|storage|row|column|public|page|continuation|cursor"
    r"|sync|cancel|cancellation|stop|pad|mask|eos|bos)[ _.-]?(?:key|token)s?\Z",
    re.IGNORECASE,
)
_IS: Final = r"""["'`\\]{0,2}\s{0,3}(?:=|:)\s{0,3}["'`\\]{0,2}"""
_ASSIGNED: Final = re.compile(rf"""((?i:{"|".join(_WORDS)})s?){_IS}([^\s"'`\\]{{10,150}})""")
_NAMED: Final = re.compile(rf"(?i:{'|'.join(_WORDS)})s?\Z")
_HEADER: Final = re.compile(r"\b(?i:(basic)|bearer)\s{1,3}([A-Za-z0-9+/_.~-]{8,4000}={0,2})")
_IN_ADDRESS: Final = re.compile(
    r"[A-Za-z][A-Za-z0-9+.-]{1,30}://[^\s/:@\"'`]{0,200}:([^\s/@\"'`]{3,200})@[\w\[]"
)
_LEAST_ENTROPY: Final = 3.5
_LONGEST_ORDINARY: Final = 40
"""Characters before an assignment in which the name of an ordinary key is looked for."""
_WHAT_ASSIGNED: Final = "a secret"
_BARE_KEY: Final = re.compile(r"(?:\A|[^A-Za-z_-])keys?\Z", re.IGNORECASE)
_UUID: Final = re.compile(r"(?i:[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12})\Z")
# Addresses, paths, references to variables and placeholders, digests with their algorithm.
_NOT_RANDOM: Final = re.compile(
    r"[$<{%*/\[(]|\.{1,2}/|~/|[a-z][a-z0-9+.-]*://|(?:sha|md)[0-9]{1,3}[:-]|.*\.\.\.|.*…"
)
_PLACEHOLDERS: Final = re.compile(
    r"(?i:pass|password|passwd|secret|token|key|pw|pwd|xxx+|redacted|changeme)\Z|.*\*\*\*"
)

# The quick tests run once over a whole document, and nearly all documents end there. A token of any kind has an
# upper-case letter or a digit twice in one run of its characters.
_QUICK_TOKEN: Final = re.compile(r"[A-Z0-9][A-Za-z0-9+/_=.~-]{6,}[A-Z0-9]")
_QUICK_ASSIGNED: Final = tuple(
    (word, re.compile(word + "s?" + _IS + r"""[^\s"'`\\]{10}""")) for word in _WORDS
)
_QUICK_HEADER: Final = re.compile(r"(?:basic|bearer)\s{1,3}[a-z0-9+/_.~-]{8}")


def may_hold_secrets(text: str) -> bool:
    """A quick test of a whole document as JSON text. False is certain."""
    if _QUICK_TOKEN.search(text):
        return True
    lower = text.lower()
    if "://" in lower and _IN_ADDRESS.search(text):
        return True
    if ("basic" in lower or "bearer" in lower) and _QUICK_HEADER.search(lower):
        return True
    return any(word in lower and quick.search(lower) for word, quick in _QUICK_ASSIGNED)


def find_secrets(text: str, name: str = "") -> Iterator[FoundSecret]:
    """Everything in a text that looks like a secret, in order. `name` is the key whose value the text is."""
    ends = 0
    for found in sorted((*_find_tokens(text), *_find_values(text, name))):
        if found.start >= ends:  # `token = ghp_…` is one secret
            yield found
            ends = found.end


def _find_tokens(text: str) -> Iterator[FoundSecret]:
    """The tokens that are told by their form."""
    for found in _any_shape().finditer(text):
        if len(set(found[0])) >= _LEAST_VARIETY and not found[0].endswith("EXAMPLE"):
            what = _KINDS[(found.lastindex or 1) - 1]
            shown = "" if found[0][0].isdigit() else found[0][:_SHOWN]
            yield FoundSecret(found.start(), found.end(), what, f"{shown}…")


def _find_values(text: str, name: str) -> Iterator[FoundSecret]:
    """The values that are told by what stands before them."""
    if _NAMED.search(name) and _is_assigned(name, text.strip()):
        yield FoundSecret(0, len(text), _WHAT_ASSIGNED, "…")
        return
    for found in _ASSIGNED.finditer(text):
        named = text[max(0, found.start() - _LONGEST_ORDINARY) : found.end(1)]
        if _is_assigned(named, found[2].rstrip(".,;:!?)]}>")):
            yield FoundSecret(found.start(2), found.end(2), _WHAT_ASSIGNED, "…")
    for found in _HEADER.finditer(text):
        if _is_basic(found[2]) if found[1] else _is_random(found[2][:150]):
            yield FoundSecret(found.start(2), found.end(2), "the value of an Authorization header", "…")
    for found in _IN_ADDRESS.finditer(text):
        if not _NOT_RANDOM.match(found[1]) and not _PLACEHOLDERS.match(found[1]):
            yield FoundSecret(found.start(1), found.end(1), "the password in an address", "…")


def mask_secrets(text: str) -> str:
    """The text with everything that is or may be a secret overwritten. The length stays the same."""
    found: list[tuple[int, int, int]] = []
    if may_hold_secrets(text):
        found += ((each.start, each.end, len(each.masked) - 1) for each in find_secrets(text))
    found += find_likely(text)
    if not found:
        return text
    parts: list[str] = []
    ends = 0
    for start, end, shown in sorted(found, key=lambda each: (each[0], -each[1])):
        first = start + shown if start >= ends else ends
        if first < end:
            parts += (text[ends:first], "*" * (end - first))
            ends = end
    return "".join((*parts, text[ends:]))


def is_secret(text: str, name: str) -> bool:
    """Whether the value of this name is a secret."""
    return bool(text) and (names_secret(name) or any(find_secrets(text, name)))


def _is_assigned(name: str, value: str) -> bool:
    """Whether a value assigned to something whose name ends in one of the words is a secret."""
    if _ORDINARY.search(name) or (_BARE_KEY.search(name) and _UUID.match(value)):
        return False
    return _is_random(value)


def _is_basic(value: str) -> bool:
    """Whether a value is the Base64 of `user:password`, as in `Authorization: Basic` (RFC 7617)."""
    try:
        user, colon, password = (
            base64.b64decode(value, validate=True).decode("utf-8", "replace").partition(":")
        )
    except ValueError:
        return False
    return bool(colon and user.isprintable() and password and not _PLACEHOLDERS.match(password))


def _is_random(value: str) -> bool:
    """Whether a value looks random rather than written by a person."""
    if (
        not 10 <= len(value) <= 150
        or any(character.isspace() for character in value)
        or _NOT_RANDOM.match(value)
    ):
        return False
    parts = re.split(r"[^A-Za-z0-9]+", value)
    if all(part.isalpha() or len(part) <= 4 or (part.isdigit() and len(part) <= 8) for part in parts):
        return False  # words, versions and dates: an id or a variable name
    counts = Counter(value).values()
    entropy = -sum(count / len(value) * math.log2(count / len(value)) for count in counts)
    return entropy >= _LEAST_ENTROPY
