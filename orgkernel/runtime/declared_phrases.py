"""Finds what an organization declares as its work in a request: an example, a trigger of a domain, a word of a role's name.

Declared phrases decide before what was learned elsewhere. An example or a trigger that is the whole request is nearly
certain. A trigger inside a longer request, a similar example, and a word that only one role has in its name are evidence.

Standard library only: this module also runs inside hosts.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from .request_text import RequestText, is_weak
from .request_words import ARTICLE_WORDS, STOP_WORDS
from .word_forms import clean, find_tokens, join_words, stem
from .word_topics import map_trades_by_stem

WHOLE: Final = 0.95
"""Strength of a trigger that is the whole request."""
_WORDS: Final = 0.5
"""Strength of a trigger of several words in a longer request."""
_WORD: Final = 0.25
"""Strength of a trigger of one word in a longer request: it can be a homonym."""
_NAME: Final = 0.3
"""Strength of a word that only one role has in its name."""
_SIMILAR: Final = 0.7
"""Strength of an example that has all words of the request, and no others. It falls with the share of common words."""
_MIN_SIMILAR: Final = 0.55
"""The lowest share of common words, weighed by rarity, for a similar example."""
_NEXT_ROLE: Final = 0.8
"""Factor for the next role of the same domain, in the order of dispatch."""
_MAX_HOLDERS: Final = 96
_WIDER: Final = 2
"""So many other words may stand between the words of a trigger."""
_FRAME: Final = frozenset(
    stem(each)
    for each in (
        *("help", "need", "needed", "take", "care", "handle", "deal", "task", "job", "work"),
        *("question", "request", "want", "support", "assist", "some"),
    )
)
"""Stems of words that ask for work without naming any."""
_NEGATIONS: Final = frozenset(("not", "no", "never", "doesnt", "dont", "wont", "cant", "without"))


class DeclaredPhrase(NamedTuple):
    """A trigger of a domain, or an intent, and the roles that take it, best first."""

    text: str
    roles: tuple[str, ...]


class Phrase(NamedTuple):
    """A trigger as stems, and the numbers of its roles, best first."""

    stems: tuple[str, ...]
    roles: tuple[int, ...]
    ordered: bool
    """Whether the words must stand in this order, because at most one of them carries meaning."""
    negated: bool
    """Whether the phrase itself negates: `does not work`."""


class DeclaredMatch(NamedTuple):
    """Declared evidence for a role in a request."""

    role: int
    strength: float
    """From 0 to 1."""
    words: str
    """The words of the request."""
    key: str
    """The stems of the phrase, the example or the name."""
    kind: str
    """`trigger`, `similar` (an example with mostly the same words) or `own_name` (a word of the role's name)."""


@dataclass(slots=True)
class PhraseTables:
    """Tables over the declared phrases of an organization."""

    phrases: Mapping[str, Sequence[Phrase]] = field(default_factory=dict)
    """Triggers by their first stem."""
    examples: Mapping[str, Sequence[tuple[str, int]]] = field(default_factory=dict)
    """Examples by each of their stems: the key of the example and its number of stems."""
    rarity: Mapping[str, float] = field(default_factory=dict)
    own_names: Mapping[str, int] = field(default_factory=dict)
    """Words that only one role has in its name."""


def build_phrase(text: str, roles: tuple[int, ...]) -> Phrase | None:
    """A trigger as stems. None for a text without words."""
    tokens = [
        token
        for token in find_tokens(join_words(clean(text.replace("_", " "), 200)))
        if not token.part and token.text.replace("'", "") not in ARTICLE_WORDS - {"please"}
    ]
    content = [token for token in tokens if token.text.replace("'", "") not in STOP_WORDS]
    ordered = len(content) < 2
    kept = tokens if ordered else content
    if not kept:
        return None
    negated = any(token.text.replace("'", "") in _NEGATIONS for token in tokens)
    return Phrase(tuple(token.stem for token in kept), roles, ordered, negated)


def build_trigger_key(text: str) -> str:
    """The key of the evidence that a trigger gives."""
    phrase = build_phrase(text, ())
    return "" if phrase is None else " ".join(phrase.stems)


def build_lookup(
    phrases: Iterable[Phrase],
    examples: Mapping[str, int],
    names: Iterable[tuple[tuple[str, ...], int]],
    terms: Mapping[str, Mapping[int, float]],
    number: int,
) -> PhraseTables:
    """Build the tables. `examples` are keys of sorted stems; `terms` are the words of all roles, of which there are
    `number`.
    """
    by_first: dict[str, list[Phrase]] = {}
    for phrase in phrases:
        for first in phrase.stems[:1] if phrase.ordered else set(phrase.stems):
            by_first.setdefault(first, []).append(phrase)
    by_stem: dict[str, list[tuple[str, int]]] = {}
    for key in examples:
        stems = key.split()
        for each in stems:
            by_stem.setdefault(each, []).append((key, len(stems)))
    total = len(examples) + 1
    holders: dict[str, set[int]] = {}
    for name, role in names:
        # A name of one word, such as a callsign, is for addressing its role. Its word can mean anything.
        for word in name if len(name) > 1 else ():
            for token in find_tokens(word):
                if (
                    word not in STOP_WORDS
                    and not is_weak(token.stem)
                    and len(word) > 2
                    and len(map_trades_by_stem().get(token.stem, ())) < 2
                ):
                    holders.setdefault(token.stem, set()).add(role)
    most = max(2, number // 16)
    own = {
        word: next(iter(roles))
        for word, roles in holders.items()
        if len(roles) == 1 and len(terms.get(word, ())) <= most
    }
    rarity = {each: math.log(total / len(keys)) + 0.1 for each, keys in by_stem.items()}
    return PhraseTables(by_first, by_stem, rarity, own)


def find_matches(
    lookup: PhraseTables, examples: Mapping[str, int], request: RequestText
) -> list[DeclaredMatch]:
    """All declared evidence in a request. Words that it forbids or only mentions are not evidence."""
    if request.small_talk and not request.tokens:
        return []
    matches = list(_find_triggers(lookup, request))
    matches += _find_similar(lookup, examples, request)
    if request.requests:
        for term in request.terms:
            role = lookup.own_names.get(term.stem)
            if role is not None:
                matches.append(
                    DeclaredMatch(role, _NAME * min(term.weight, 1.0), term.word, term.stem, "own_name")
                )
    return matches


def _find_triggers(lookup: PhraseTables, request: RequestText) -> Iterable[DeclaredMatch]:
    tokens = request.tokens
    # One word can be a homonym, so it is the whole request only if nothing else is asked or told.
    rest = {each for each in request.whole if not is_weak(each)}
    rest_of_word = set(request.whole) - _FRAME if request.requests and not request.small_talk else {""}
    best: dict[Phrase, tuple[float, str]] = {}
    for at, (first, _, _) in enumerate(tokens):
        for phrase in lookup.phrases.get(first, ()):
            places = (
                _match_ordered(phrase, tokens, at) if phrase.ordered else _match_words(phrase, tokens, at)
            )
            if places is None or not (phrase.negated or all(tokens[place][2] for place in places)):
                continue
            weight = min(1.0, max(tokens[place][2] for place in places))
            if not (rest if len(phrase.stems) > 1 else rest_of_word).difference(phrase.stems):
                strength = WHOLE
            elif len(phrase.stems) > 1:
                strength = _WORDS * (weight or 1.0)
            else:
                strength = 0.0 if is_weak(phrase.stems[0]) else _WORD * weight
            if strength > best.get(phrase, (0.0, ""))[0]:
                best[phrase] = strength, " ".join(tokens[place][1] for place in places)
    for phrase, (strength, words) in best.items():
        for place, role in enumerate(phrase.roles):
            yield DeclaredMatch(role, strength * _NEXT_ROLE**place, words, " ".join(phrase.stems), "trigger")


def _match_ordered(phrase: Phrase, tokens: Sequence[tuple[str, str, float]], at: int) -> Sequence[int] | None:
    places: list[int] = []
    place = at
    for each in phrase.stems:
        while places and place < len(tokens) and tokens[place][1] in ARTICLE_WORDS:
            place += 1
        if place >= len(tokens) or tokens[place][0] != each:
            return None
        places.append(place)
        place += 1
    return places


def _match_words(phrase: Phrase, tokens: Sequence[tuple[str, str, float]], at: int) -> Sequence[int] | None:
    """The positions of all words of a phrase near a position where one of them is, in any order."""
    places: dict[str, int] = {}
    for place in range(at, min(at + len(phrase.stems) + _WIDER, len(tokens))):
        if tokens[place][0] in phrase.stems:
            places.setdefault(tokens[place][0], place)
    return sorted(places.values()) if len(places) == len(set(phrase.stems)) else None


def _find_similar(
    lookup: PhraseTables, examples: Mapping[str, int], request: RequestText
) -> Iterable[DeclaredMatch]:
    stems = {
        term.stem: term for term in request.terms if not term.stem.startswith("~") and " " not in term.stem
    }
    shared: Counter[str] = Counter()
    unknown = math.log(len(examples) + 1) + 0.1
    for each in stems:
        held = lookup.examples.get(each, ())
        if len(held) <= _MAX_HOLDERS:
            for key, _ in held:
                shared[key] += 1
    own = sum(lookup.rarity.get(each, unknown) for each in stems)
    best: dict[int, DeclaredMatch] = {}
    for key, number in shared.items():
        if number < 2:
            continue
        theirs = set(key.split())
        common = theirs & stems.keys()
        amount = sum(lookup.rarity[each] for each in common)
        share = 2 * amount / (own + sum(lookup.rarity[each] for each in theirs))
        if share < _MIN_SIMILAR:
            continue
        role = examples[key]
        if role not in best or best[role].strength < _SIMILAR * share:
            words = " ".join(term.word for each, term in stems.items() if each in common)
            best[role] = DeclaredMatch(role, _SIMILAR * share, words, key, "similar")
    return best.values()
