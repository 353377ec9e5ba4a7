"""Finds the acts that a request orders, regardless of its topic: writing a program, fixing a fault, leading others.

An act is added to the request as a separate term, such as `~make`. Trades of `word_topics` list the acts that belong
to them.

Standard library only: this module also runs inside hosts.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from .request_words import (
    ARTICLE_WORDS,
    BENEFICIARY_WORDS,
    COMMAND_PATTERN,
    CREATED_NOUNS,
    CREATING_VERBS,
    FAULT_PATTERN,
    FEATURE_PATTERN,
    LEADING_PATTERN,
    LOG_LINE_PATTERN,
    OBJECT_END_WORDS,
    PROGRAM_PART_NOUNS,
    PROGRAMMING_VERBS,
    TRACEBACK_PATTERN,
    TRACEBACK_SIGNS,
    VISIT_PATTERN,
)
from .word_forms import TextWord
from .word_topics import GAP, map_phrases_by_first_stem

MAKE: Final = "~make"
"""The order to write a program."""
FAULT: Final = "~fault"
"""The report that something does not work."""
LOG: Final = "~log"
"""Pasted lines of a log."""
LEAD: Final = "~lead"
"""The order to divide work, to coordinate it, or to decide what comes first."""
VISIT: Final = "~visit"
"""The order to look at a page of the web."""
COMMAND: Final = "~command"
"""The order to take charge of the whole."""
_PHRASE: Final = 1.2
"""Weight of a phrase."""
_MAX_GAP: Final = 7


class Act(NamedTuple):
    """An act, or a phrase of a trade, in a text."""

    name: str
    words: str
    """The words that express it."""
    weight: float
    thing: range = range(0)
    """The positions of the words for a thing that is to be made."""


def find_fault(text: str) -> Act | None:
    """The report of a fault, in words or by a traceback."""
    traced = TRACEBACK_PATTERN.search(text) if any(sign in text for sign in TRACEBACK_SIGNS) else None
    if traced is not None:
        return Act(FAULT, traced.group().strip(), 1.2)
    fault = FAULT_PATTERN.search(text)
    return None if fault is None else Act(FAULT, fault.group().strip(), 1.3)


def find_visit(text: str) -> Act | None:
    """The order to look at a page, with its address."""
    visit = VISIT_PATTERN.search(text)
    return None if visit is None else Act(VISIT, visit.group().strip(), 1.6)


def find_log(text: str) -> Act | None:
    """Pasted lines of a log."""
    logged = LOG_LINE_PATTERN.search(text)
    return None if logged is None else Act(LOG, logged.group(), 1.0)


def find_thing(words: list[str], weights: list[float]) -> Act | None:
    """A part of a program. A statement that only describes it reports a fault."""
    things = (
        word for word, weight in zip(words, weights, strict=True) if word in PROGRAM_PART_NOUNS and weight
    )
    return next((Act(FAULT, word, 0.7) for word in things), None)


def find_leading(text: str) -> tuple[Act, ...]:
    """Orders to divide or coordinate work, or to put someone in charge."""
    commands = COMMAND_PATTERN.search(text)
    leads = LEADING_PATTERN.search(text) or commands
    candidates = ((COMMAND, commands, 2.0), (LEAD, leads, 1.0))
    return tuple(Act(name, match.group().strip(), weight) for name, match, weight in candidates if match)


def find_feature(text: str) -> Act | None:
    """The order that a program should do something more."""
    feature = FEATURE_PATTERN.search(text)
    return None if feature is None else Act(MAKE, feature.group().strip(), 1.6)


def find_made(words: list[str], clauses: list[int], weights: list[float], orders: list[bool]) -> Act | None:
    """The program that an order asks for: `write … tool`. The words after it get less weight, because they only
    describe its purpose.
    """
    for at, word in enumerate(words):
        if not orders[at] or not weights[at]:
            continue
        if word in CREATING_VERBS and not (at and words[at - 1] in ARTICLE_WORDS - {"please"}):
            made = _find_object(words, clauses, weights, at)
            if made is not None:
                for place in range(made + 1, len(words)):
                    if clauses[place] > clauses[at] + 1:
                        break
                    weights[place] *= 0.4
                return Act(MAKE, f"{word} {words[made]}", 1.6, range(at + 1, made + 1))
        follows = words[at + 1] if at + 1 < len(words) else ""
        if (
            word in PROGRAMMING_VERBS
            and follows in BENEFICIARY_WORDS
            and not (at and words[at - 1] in ARTICLE_WORDS)
        ):
            return Act(MAKE, word, 1.6)
    return None


def _find_object(words: list[str], clauses: list[int], weights: list[float], verb: int) -> int | None:
    for at in range(verb + 1, min(verb + 9, len(words))):
        if (
            clauses[at] != clauses[verb]
            or words[at] == "to"
            or (words[at] in OBJECT_END_WORDS and at > verb + 1)
        ):
            return None
        follows = words[at + 1] if at + 1 < len(words) else ""
        if words[at] in CREATED_NOUNS and weights[at] and follows not in CREATED_NOUNS:
            return at
    return None


def find_phrases(
    tokens: list[TextWord], words: list[str], sentences: list[int], weights: list[float]
) -> Iterable[Act]:
    """Phrases of `word_topics` that the text uses, as they are written there and here, with their weights."""
    known = map_phrases_by_first_stem()
    stems = [token.stem for token in tokens]
    for at, first in enumerate(stems):
        for phrase in known.get(first, ()):
            places = _match_phrase(phrase, stems, sentences, at)
            if places and all(weights[place] for place in places):
                spoken = " ".join(words[place] for place in places)
                yield Act(" ".join(phrase), spoken, _PHRASE * weights[at])


def _match_phrase(phrase: tuple[str, ...], stems: list[str], sentences: list[int], at: int) -> list[int]:
    """The positions of a phrase's words, or an empty list."""
    places, place, most = [at], at + 1, 1
    for word in phrase[1:]:
        if word == GAP:
            most = _MAX_GAP
            continue
        end = min(place + most, len(stems))
        while place < end and stems[place] != word:
            place += 1
        if place >= end or sentences[place] != sentences[at]:
            return []
        places.append(place)
        place, most = place + 1, 1
    return places
