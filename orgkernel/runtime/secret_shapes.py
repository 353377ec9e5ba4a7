"""Finds strings that look like a secret: published token formats, and values assigned to a name such as `password`.

A token format is a prefix and a length. An assigned value is reported if it looks random. Names of secrets,
placeholders, digests (`sha256:…`), addresses, paths and ids made of words are not secrets.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from .lazy_patterns import lazy_pattern
from .likely_secrets import ends_in, find_likely, find_likely_values, is_secret_name, may_hold_login
from .token_shapes import find_refused, find_runs
from .wrapped_secrets import INVISIBLE, find_wrapped


class FoundSecret(NamedTuple):
    """A string that looks like a secret: its place, its kind, and a form that may be shown."""

    start: int
    end: int
    what: str
    masked: str
    is_guessed: bool = False
    """Whether it is recognized only by the text around it, and not by its form."""


_SHOWN: Final = 4
"""Characters of a token that may be shown: its prefix, which is the same in every token."""

_WORDS: Final = ("key", "secret", "token", "password", "passwd", "passphrase")
# Keys and tokens that point at something and open nothing: `cache key`, `primary_key`, `nextPageToken`.
_ORDINARY: Final = (
    "primary", "foreign", "sort", "partition", "cache", "group", "lookup", "object", "map", "dict", "registry", "index", "unique",
    "composite", "shard", "hash", "idempotency", "dedup", "deduplication", "routing", "message", "translation", "storage", "row",
    "column", "public", "page", "continuation", "cursor", "sync", "cancel", "cancellation", "stop", "pad", "mask", "eos", "bos",
)  # fmt: skip
_IS: Final = r"""["'`\\]{0,2}\s{0,3}(?:=|:)\s{0,3}["'`\\]{0,2}"""
_ASSIGNED: Final = lazy_pattern(rf"""((?i:{"|".join(_WORDS)})s?){_IS}([^\s"'`\\]{{10,150}})""")
_NAMED: Final = lazy_pattern(rf"(?i:{'|'.join(_WORDS)})s?\Z")
_SCHEMES: Final = lazy_pattern("basic|bearer")
_HEADER: Final = lazy_pattern(r"\b(?i:(basic)|bearer)\s{1,3}([A-Za-z0-9+/_.~-]{8,4000}={0,2})")
_IN_ADDRESS: Final = lazy_pattern(
    r"[A-Za-z][A-Za-z0-9+.-]{1,30}://[^\s/:@\"'`]{0,200}:([^\s/@\"'`]{3,200})@[\w\[]"
)
_MIN_REPEATED: Final = 8
"""Minimum length of a secret that is removed from answers. A shorter one could be part of any word."""
_MIN_ENTROPY: Final = 3.5
_MAX_ORDINARY_LENGTH: Final = 40
"""Number of characters before an assignment that are searched for the name of an ordinary key."""
_WHAT_ASSIGNED: Final = "a secret"
# A digit (`1`) among at least five letters (`a`) and digits, in the classes of characters.
_ALPHANUMERIC_CLASSES: Final = bytes(
    49 if 48 <= code <= 57 else 97 if code < 128 and chr(code).isalpha() else 32 for code in range(256)
)
_DIGIT: Final = lazy_pattern(
    rb"1(?:(?=[1a]{4})|(?<=[1a]{5})|(?<=[1a]{4})(?=[1a])|(?<=[1a]{3})(?=[1a]{2})|(?<=[1a]{2})(?=[1a]{3}))"
)
_REST_OF_WORD: Final = lazy_pattern(r"\S*")
_ALPHANUMERIC: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
_MIN_PART: Final = 5
_MIN_VARIETY: Final = 12
"""Minimum number of different characters of a random value: eleven have less entropy than `_MIN_ENTROPY`."""
_MAX_NUMBER_LENGTH: Final = 8
"""A random value has a part of at least five letters and digits. A number of at most eight digits is a date or a version."""
_BEFORE: Final = 80
"""Number of characters before a value that are searched for its name. No name and separator is that long."""
MAX_SEARCHED: Final = 256 * 1024
"""Maximum cost of the search for secrets in one file, in characters: those near possible secrets, and a quarter of the rest."""
MAX_FOUND: Final = 100
"""Maximum number of secrets that are reported for one file."""
_SHARE_OF_REST: Final = 4
_MAX_PIECE_LENGTH: Final = 64 * 1024
"""Maximum number of characters that are searched at once. Pieces of longer texts that have no sign of a secret cost little."""
_OVERLAP: Final = 512
UNSEARCHED: Final = "more text that could be a secret than is searched"
"""The kind of a text beyond the budget. It is treated like a secret."""
_BARE_KEY: Final = lazy_pattern(r"(?:\A|[^A-Za-z_-])keys?\Z", re.IGNORECASE)
_QUOTES: Final = frozenset("\"'`")
# A call whose names have digits at most at their ends, or the sizes of algorithms: `base64.b64decode(key.encode()`.
_NAME: Final = r"[A-Za-z_]+(?:(?:16|32|64|128|256|512)[A-Za-z_]+)*[0-9]{0,3}"
_CALL: Final = lazy_pattern(rf"{_NAME}(?:\.{_NAME})*\((?:(?:{_NAME})?[(),.\[\]=:])*(?:{_NAME})?\Z")
_UUID: Final = lazy_pattern(r"(?i:[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12})\Z")
# Addresses, paths, references to variables and placeholders, digests with their algorithm, public Ed25519 keys (`did:key`).
_NOT_RANDOM: Final = lazy_pattern(
    r"[$<{%*/\[(]|arn:|.*EXAMPLE|\.{1,2}/|~/|[a-z][a-z0-9+.-]*://|(?:sha|md)[0-9]{1,3}[:-]|.*\.\.\.|.*…"
    r"|(?:did:key:)?z6Mk[1-9A-HJ-NP-Za-km-z]{44}\Z"
)
_PLACEHOLDERS: Final = lazy_pattern(
    r"(?i:pass|password|passwd|secret|token|key|pw|pwd|xxx+|redacted|changeme)\Z|.*\*\*\*"
)

# The quick tests run once over a whole document, and nearly all documents end there. A token of any kind has an
# upper-case letter or a digit twice in one run of its characters.
# The test looks at the classes of characters, because one letter is found ten times as fast as one of a class.
_CLASSES: Final = bytes(
    65
    if chr(code) in "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
    else 97
    if chr(code) in "abcdefghijklmnopqrstuvwxyz+/_=.~-"
    else 32
    for code in range(256)
)
_QUICK_TOKEN: Final = lazy_pattern(rb"A[Aa]{6,}A")
_QUICK_ASSIGNED: Final = tuple(
    (word, lazy_pattern(word + "s?" + _IS + r"""[^\s"'`\\]{10}""")) for word in _WORDS
)
_QUICK_UNLESS_PASS: Final = tuple(each for each in _QUICK_ASSIGNED if not each[0].startswith("pass"))
_QUICK_HEADER: Final = lazy_pattern(r"(?:basic|bearer)\s{1,3}[a-z0-9+/_.~-]{8}")


def may_hold_secrets(text: str) -> bool:
    """A quick test of a whole document as JSON text. A negative result is certain."""
    if not text.isascii():
        text = INVISIBLE.sub("", text)
    if _QUICK_TOKEN.search(text.encode("utf-8", "replace").translate(_CLASSES)):
        return True
    lower = text.lower()
    if may_hold_login(text) and _IN_ADDRESS.search(text):
        return True
    if ("basic" in lower or "bearer" in lower) and _QUICK_HEADER.search(lower):
        return True
    for word, quick in _QUICK_ASSIGNED if "pass" in lower else _QUICK_UNLESS_PASS:
        if word in lower and quick.search(lower):
            return True
    return False


class SearchBudget:
    """What a search in one file may still cost."""

    def __init__(self) -> None:
        self.left = MAX_SEARCHED
        """The number of characters that may still be searched. Negative when there were more."""

    def take(self, characters: int) -> bool:
        """Use part of the budget. False if it is spent, from then on."""
        self.left = self.left - characters if self.left >= characters else -1
        return self.left >= 0


def find_secrets(text: str, name: str = "", budget: SearchBudget | None = None) -> Iterator[FoundSecret]:
    """All strings in a text that look like a secret, in the order of the text. `name` is the key of the text.

    By default, each text has a budget of its own. A text beyond the budget is a secret of the kind `UNSEARCHED`.
    """
    budget = budget or SearchBudget()
    if not text.isascii() and INVISIBLE.search(text):
        plain, places = _drop_invisible(text)
        for each in find_secrets(plain, name, budget):
            yield each._replace(start=places[each.start], end=places[each.end - 1] + 1)
        return
    if len(text) <= _MAX_PIECE_LENGTH:
        yield from _find_in_piece(text, name, budget)
        return
    yield from drop_overlaps(
        each._replace(start=start + each.start, end=start + each.end)
        for start, end in _cut(text)
        if may_hold_secrets(piece := text[start:end])
        for each in _find_in_piece(piece, "", budget)
    )


def _drop_invisible(text: str) -> tuple[str, list[int]]:
    """A text without characters that have no width, which can split a secret, and the places of the others."""
    places = [number for number, character in enumerate(text) if not INVISIBLE.match(character)]
    return "".join(text[number] for number in places), places


def _cut(text: str) -> Iterator[tuple[int, int]]:
    """The pieces of a long text. They begin and end between words, if there are any, and overlap."""
    start = 0
    while start < len(text):
        end = start + _MAX_PIECE_LENGTH
        if end < len(text):
            end = _find_space(text, end - _OVERLAP, end) or end
        yield start, min(end, len(text))
        start = end if end >= len(text) else _find_space(text, end - _OVERLAP, end - 1) or end - _OVERLAP


def _find_space(text: str, start: int, end: int) -> int:
    """The end of the last space in a part of a text. 0 if it has none."""
    return max(text.rfind(" ", start, end), text.rfind("\n", start, end), text.rfind("\t", start, end)) + 1


def _find_in_piece(text: str, name: str, budget: SearchBudget) -> Iterator[FoundSecret]:
    if budget.left < 0:
        yield FoundSecret(0, len(text), UNSEARCHED, "…")
        return
    spans, runs = list(_find_spans(text)), list(find_runs(text))
    suspect = sum(end - start for start, end in (*spans, *runs))
    if not budget.take(len(text) // _SHARE_OF_REST + suspect):
        yield FoundSecret(0, len(text), UNSEARCHED, "…")
        return
    values = (*_find_values(text, name, spans), *_find_random(text, spans))
    yield from drop_overlaps((*_find_tokens(text, runs), *values))


def drop_overlaps(secrets: Iterable[FoundSecret]) -> Iterator[FoundSecret]:
    """The secrets in order. If several overlap, the first one: `token = ghp_…` is one secret."""
    ends = 0
    for each in sorted(secrets, key=lambda each: each.start):
        if each.start >= ends:
            yield each
            ends = each.end


def find_in_value(value: Any, *route: str | int) -> Iterator[tuple[tuple[str | int, ...], str, FoundSecret]]:
    """All strings in a JSON value that look like a secret, each with its route and its text."""
    if isinstance(value, str):
        for secret in find_secrets(value, str(route[-1]) if route else ""):
            yield route, value, secret
    elif isinstance(value, Mapping):
        for key, each in value.items():
            yield from find_in_value(each, *route, key)
    elif isinstance(value, list | tuple):
        for number, each in enumerate(value):
            yield from find_in_value(each, *route, number)


def _find_tokens(text: str, runs: Iterable[tuple[int, int]]) -> Iterator[FoundSecret]:
    """Tokens that are recognized by their form."""
    for start, end, what in find_refused(text, runs):
        yield FoundSecret(
            start, end, what, f"{'' if text[start].isdigit() else text[start : start + _SHOWN]}…"
        )
    for start, end, what in find_wrapped(text):
        yield FoundSecret(start, end, what, "…")


def _find_spans(text: str) -> Iterator[tuple[int, int]]:
    """The parts of a text that could contain a random value and its name, without overlaps.

    A random value contains letters with a digit, or many digits (`_is_random`). In prose digits are rare, so looking for
    them first is much faster than looking for names.
    """
    # One byte for each character, so places are the same. A pattern that begins with one byte skips the others quickly.
    classes = text.encode("latin-1", "replace").translate(_ALPHANUMERIC_CLASSES)
    begin = end = after = 0
    while (digit := _DIGIT.search(classes, after)) is not None:
        start, stop = digit.span()
        word_start, word_stop = max(end, _find_space(text, end, start)), _REST_OF_WORD.match(text, stop).end()  # type: ignore[union-attr]
        if word_stop - word_start < _MIN_VARIETY:
            after = word_stop
            continue
        least, most = max(after, start - _MAX_NUMBER_LENGTH), min(len(text), stop + _MAX_NUMBER_LENGTH)
        while start > least and text[start - 1] in _ALPHANUMERIC:
            start -= 1
        while stop < most and text[stop] in _ALPHANUMERIC:
            stop += 1
        after = stop
        if stop - start <= _MAX_NUMBER_LENGTH and text[start:stop].isdigit():
            continue
        start, stop, after = word_start, word_stop, word_stop
        if len(set(text[start:stop])) < _MIN_VARIETY:
            continue
        # Neighboring spans are merged, so no part of a text is searched twice.
        if end and start - _BEFORE <= end:
            end = stop
            continue
        if end:
            yield begin, end
        begin, end = max(0, start - _BEFORE), stop
    if end:
        yield begin, end


def _find_values(text: str, name: str, spans: Iterable[tuple[int, int]]) -> Iterator[FoundSecret]:
    """Values that are recognized by the text before them."""
    if _NAMED.search(name) and _is_assigned(name, text.strip()):
        yield FoundSecret(0, len(text), _WHAT_ASSIGNED, "…", True)
        return
    for match in _find_headers(text):
        if _is_basic(match[2]) if match[1] else _is_random(match[2][:150]):
            yield FoundSecret(match.start(2), match.end(2), "the value of an Authorization header", "…", True)
    for match in _IN_ADDRESS.finditer(text) if may_hold_login(text) else ():
        if not _NOT_RANDOM.match(match[1]) and not _PLACEHOLDERS.match(match[1]):
            yield FoundSecret(match.start(1), match.end(1), "the password in an address", "…", True)
    for start, end in spans:
        near = text[start:end].lower()
        for match in _ASSIGNED.finditer(text, start, end) if any(word in near for word in _WORDS) else ():
            named = text[max(0, match.start() - _MAX_ORDINARY_LENGTH) : match.end(1)]
            value = match[2].rstrip(".,;:!?)]}>")
            is_quoted = text[match.start(2) - 1] in _QUOTES
            if _is_assigned(named, value) and (is_quoted or not _CALL.match(value)):
                yield FoundSecret(match.start(2), match.end(2), _WHAT_ASSIGNED, "…", True)


def _find_headers(text: str) -> Iterator[re.Match[str]]:
    """The values of Authorization headers. Their schemes are looked for first, because letter case matters to neither."""
    lower = text.lower()
    if len(lower) != len(text):  # a few characters have no single lower-case form
        yield from _HEADER.finditer(text)
        return
    end = 0
    for scheme in _SCHEMES.finditer(lower):
        match = _HEADER.match(text, scheme.start()) if scheme.start() >= end else None
        if match is not None:
            end = match.end()
            yield match


def _find_random(text: str, spans: Sequence[tuple[int, int]]) -> Iterator[FoundSecret]:
    """Random-looking values that are only probable secrets because of their place (`--password …`, `mysql -p…`,
    `?sig=…`).
    """
    for likely in find_likely_values(text, spans) if spans else ():
        value = text[likely.start : likely.end].rstrip(".,;:!?)]}>")
        if _is_random(value):
            yield FoundSecret(likely.start, likely.start + len(value), _WHAT_ASSIGNED, "…", True)


def mask_secrets(text: str) -> str:
    """The text with every certain or probable secret overwritten. The length stays the same."""
    return _replace(
        text, lambda start, end, shown, what: text[start : start + shown] + "*" * (end - start - shown)
    )


def name_secrets(text: str) -> str:
    """The text with every certain or probable secret replaced by its kind: `[a GitHub token, masked]`."""
    return _replace(text, lambda start, end, shown, what: masked(what))


def masked(what: str) -> str:
    """The replacement for a secret of this kind in a stored text."""
    return f"[{what}, masked]"


def _replace(text: str, say: Callable[[int, int, int, str], str]) -> str:
    if len(text) > MAX_SEARCHED:
        # What cannot be searched within a second is masked as a whole.
        cut = _find_space(text, MAX_SEARCHED - _OVERLAP, MAX_SEARCHED) or MAX_SEARCHED
        return _replace(text[:cut], say) + say(cut, len(text), 0, UNSEARCHED)
    spans = _list_spans(text)
    if not spans:
        return text
    parts: list[str] = []
    ends = 0
    for start, end, shown, what in _join_overlaps(spans):
        parts += (text[ends:start], say(start, end, shown, what))
        ends = end
    return "".join((*parts, text[ends:]))


def _list_spans(text: str) -> list[tuple[int, int, int, str]]:
    """The certain and probable secrets: start, end, number of first characters that may be shown, and kind."""
    if not text.isascii() and INVISIBLE.search(text):
        plain, places = _drop_invisible(text)
        return [
            (places[start], places[end - 1] + 1, shown, what)
            for start, end, shown, what in _list_spans(plain)
        ]
    spans: list[tuple[int, int, int, str]] = []
    if may_hold_secrets(text):
        sure = (*_find_tokens(text, find_runs(text)), *_find_values(text, "", list(_find_spans(text))))
        spans += ((each.start, each.end, len(each.masked) - 1, each.what) for each in sure)
    spans += ((each.start, each.end, each.shown, each.what) for each in find_likely(text))
    return spans


def _join_overlaps(spans: list[tuple[int, int, int, str]]) -> Iterator[tuple[int, int, int, str]]:
    """Merge overlapping secrets: `token = ghp_…` is one secret."""
    spans.sort(key=lambda each: (each[0], -each[1]))
    start, end, shown, what = spans[0]
    for each in spans[1:]:
        if each[0] >= end:
            yield start, end, shown, what
            start, end, shown, what = each
        elif each[1] > end or what == _WHAT_ASSIGNED:
            end, what = max(end, each[1]), what if what != _WHAT_ASSIGNED else each[3]
    yield start, end, shown, what


def map_secrets(text: str) -> dict[str, str]:
    """The secrets in a caller's text, each with its replacement in answers that repeat the text."""
    masks = {text[each.start : each.end]: masked(each.what) for each in find_likely(text)}
    masks = {each: mask for each, mask in masks.items() if any(map(str.isdigit, each))}
    if may_hold_secrets(text):
        masks |= {text[each.start : each.end]: masked(each.what) for each in find_secrets(text)}
    # The longest first, because part of it can be a secret too.
    return {each: masks[each] for each in sorted(masks, key=len, reverse=True) if len(each) >= _MIN_REPEATED}


def is_secret(text: str, name: str) -> bool:
    """Whether the value of this name is a secret."""
    return bool(text) and (is_secret_name(name) or any(find_secrets(text, name)))


def _is_assigned(name: str, value: str) -> bool:
    """Whether the value is a secret, because its name ends in one of the words."""
    if not _is_random(value) or _is_ordinary(name):
        return False
    return not (_UUID.match(value) and _BARE_KEY.search(name))


def _is_ordinary(name: str) -> bool:
    """Whether a name ends in that of a key or token that opens nothing."""
    word = name[-_MAX_ORDINARY_LENGTH:].lower().removesuffix("s")
    before = word.removesuffix("key") if word.endswith("key") else word.removesuffix("token")
    return before != word and ends_in(before, _ORDINARY)


def _is_basic(value: str) -> bool:
    """Whether a value is the Base64 of `user:password`, as in `Authorization: Basic` (RFC 7617)."""
    import base64  # few texts get here

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
    if len(set(value)) < _MIN_VARIETY:
        return False
    parts = re.split(r"[^A-Za-z0-9]+", value)
    if all(
        part.isalpha() or len(part) < _MIN_PART or (part.isdigit() and len(part) <= _MAX_NUMBER_LENGTH)
        for part in parts
    ):
        return False  # words, versions and dates: an id or a variable name
    counts = Counter(value).values()
    entropy = -sum(count / len(value) * math.log2(count / len(value)) for count in counts)
    return entropy >= _MIN_ENTROPY
