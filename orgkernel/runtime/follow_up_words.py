"""Reads a message for the signs that it belongs to the work before it: pronouns, questions about the work, thanks, a
new subject.

The words are data, by language, in `follow_up_words.json`. A short message rarely shows its language, so then the
words of all languages count.

Standard library only: this module also runs inside hosts.
"""

from __future__ import annotations

import json
import pkgutil
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, lru_cache
from typing import Any, Final, NamedTuple

from .languages import FOREIGN_STOP, begin, find_language
from .lazy_patterns import lazy_pattern
from .request_words import STOP_WORDS
from .word_forms import clean, find_tokens, join_words

WORDS: Final = "follow_up_words.json"
"""File with the words, next to this module."""
_MAX_CHARACTERS: Final = 2_000
_SHORTEST_COMMON_PART: Final = 6
_WHOLE_STORY: Final = 4
"""So many objects of its own before a pronoun make it point to one of them."""
# `inténtalo`, `hazlo`, `ponle`: Spanish writes the object and the order as one word.
_JOINED_OBJECT: Final = lazy_pattern(
    r"\b\w*[áéíóú]\w*?l[aeo]s?\b|\b(?:haz|pon|di|da|ve|sal|ten)(?:me|nos)?l[aeo]s?\b", re.I
)
_WORD: Final = lazy_pattern(r"[^\W_]+(?:['-][^\W_]+)*")
_SENTENCE: Final = lazy_pattern(r"[.!?\n]+\s*")


class MessageSigns(NamedTuple):
    """What a message shows about the work before it."""

    points_back: str = ""
    """The first word that points back: `it`, `also`. Empty without one."""
    asks_about_work: str = ""
    """The words of a question about what was or will be done, or of a thing that every task has: `did you`, `diff`."""
    is_question: bool = False
    """Whether each of its sentences asks for an answer. `could you …?` is an order."""
    is_talk: bool = False
    """Whether it is small talk in so many words."""
    is_thanks: bool = False
    """Whether it contains nothing but thanks or approval."""
    stops: bool = False
    """Whether it only calls the task off."""
    changes_subject: bool = False
    """Whether it announces another subject."""
    is_statement: bool = False
    """Whether it only states something, and orders and asks nothing."""
    content: tuple[str, ...] = ()
    """Stems of its words that carry meaning, except those that people use in any task."""


def read_signs(message: str) -> MessageSigns:
    """Read the signs of a message. Never raises, and takes bounded time for any text."""
    message = message[:_MAX_CHARACTERS]
    text = clean(message, _MAX_CHARACTERS).lower()
    words = _WORD.findall(text)
    language = find_language(text)
    vocabulary = _get_vocabulary(language)
    talk, closing = vocabulary.find("talk", text), vocabulary.find("closing", text)
    sentences = [part for part in _SENTENCE.split(text) if _WORD.search(part)]
    first = sentences[0] if len(sentences) > 1 and len(extract_objects(sentences[0])) > 1 else text
    points = _find_pointer(vocabulary, first, _WORD.findall(first))
    if not points and language in (None, "Spanish"):
        joined = _JOINED_OBJECT.search(message)
        points = joined.group().lower() if joined else ""
    about = vocabulary.find("work_questions", text)
    nouns = vocabulary.words("work_nouns")
    about = about or next((word for word in words if word in nouns), "")
    rest = vocabulary.remove("closing", text) if closing else ""
    stop, change = vocabulary.find("stop", text), vocabulary.find("change", text)
    return MessageSigns(
        points,
        about,
        bool(sentences) and all(_is_question(part, vocabulary, "?" in text) for part in sentences),
        _is_mostly(talk, len(words)),
        bool(closing) and "?" not in text and set(_WORD.findall(rest)) <= vocabulary.words("polite"),
        bool(stop) and set(_WORD.findall(vocabulary.remove("stop", text))) <= vocabulary.words("polite"),
        bool(change) and text.find(change) < 40,
        _is_statement(text, words, vocabulary),
        extract_objects(vocabulary.remove("talk", text) if talk else message),
    )


def is_small_talk(text: str) -> bool:
    """Whether a short text in lower case is small talk in so many words."""
    talk = _get_vocabulary(find_language(text)).find("talk", text)
    return _is_mostly(talk, len(_WORD.findall(text)))


def _is_mostly(talk: str, words: int) -> bool:
    return bool(talk) and words <= 2 * len(talk.split()) + 8


@lru_cache(maxsize=2_048)
def extract_objects(text: str) -> tuple[str, ...]:
    """The stems of the words that say what a text is about, each once: without words that occur in any task."""
    text = join_words(clean(text.replace("_", " "), _MAX_CHARACTERS))
    language = find_language(text)
    general = _get_vocabulary(language).words("general") | _get_vocabulary(language).words("work_nouns")
    stems = (
        begin(token.stem) if language is not None else token.stem
        for token in find_tokens(text)
        if token.text.replace("'", "") not in STOP_WORDS
        and token.text not in general
        and not (token.text in FOREIGN_STOP and language is not None)
        and not token.text.isdigit()
        and len(token.text) > 1
    )
    return tuple(dict.fromkeys(stems))


def is_general(word: str) -> bool:
    """Whether people use a word in any task, so it does not show which role should work."""
    vocabulary = _get_vocabulary(None)
    return word in STOP_WORDS or word in vocabulary.words("general") or word in vocabulary.words("work_nouns")


def find_common(one: Iterable[str], other: Iterable[str]) -> str:
    """The first stem that both have, or that begins like one of the other. Empty without one."""
    others = set(other)
    beginnings = {stem[:_SHORTEST_COMMON_PART] for stem in others if len(stem) >= _SHORTEST_COMMON_PART}
    return next(
        (
            stem
            for stem in one
            if stem in others
            or (len(stem) >= _SHORTEST_COMMON_PART and stem[:_SHORTEST_COMMON_PART] in beginnings)
        ),
        "",
    )


class _Vocabulary:
    """The words of one language, or of all."""

    def __init__(self, languages: Iterable[Mapping[str, str]]) -> None:
        self._phrases: dict[str, tuple[str, ...]] = {}
        for language in languages:
            for kind, joined in language.items():
                known = self._phrases.get(kind, ())
                self._phrases[kind] = (*known, *(phrase.strip() for phrase in joined.split("|")))
        self._patterns: dict[str, re.Pattern[str]] = {}
        self._words = {kind: frozenset(phrases) for kind, phrases in self._phrases.items()}

    def words(self, kind: str) -> frozenset[str]:
        """The words of a kind."""
        return self._words.get(kind, frozenset())

    def find(self, kind: str, text: str) -> str:
        """The first phrase of a kind in a text. Empty without one."""
        match = self._get_pattern(kind).search(text)
        return match.group() if match else ""

    def iterate(self, kind: str, text: str) -> Iterator[re.Match[str]]:
        """The phrases of a kind in a text, in the order of the text."""
        return self._get_pattern(kind).finditer(text)

    def remove(self, kind: str, text: str) -> str:
        """The text without the phrases of a kind."""
        return self._get_pattern(kind).sub(" ", text)

    def _get_pattern(self, kind: str) -> re.Pattern[str]:
        pattern = self._patterns.get(kind)
        if pattern is None:
            # The longest phrase first, so `that is all` is not read as `that`.
            ordered = sorted(self._words.get(kind, ()), key=lambda phrase: (-len(phrase), phrase))
            choices = "|".join(map(re.escape, ordered)) or "(?!)"
            pattern = self._patterns[kind] = re.compile(rf"(?<![\w'])(?:{choices})(?![\w'])")
        return pattern


@cache
def _get_vocabulary(language: str | None) -> _Vocabulary:
    languages = _read_words()
    known = languages.get(language or "")
    return _Vocabulary(languages.values() if known is None else [known])


def _read_words() -> Mapping[str, Any]:
    """The words by language. Empty if the file is missing or damaged. Then a message without clear work still belongs
    to the task.
    """
    try:
        return dict(json.loads(pkgutil.get_data(__package__, WORDS) or b"")["languages"])
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def _find_pointer(vocabulary: _Vocabulary, text: str, words: list[str]) -> str:
    """The first word that points back. Some do so only at the beginning of a message, or not after a comma, where they
    begin a relative clause: `a script, das …`. After so many objects that the message tells a story, it points to the story:
    `the import of the price list fails on Mondays, fix it`.
    """
    if words and words[0] in vocabulary.words("openers"):
        return words[0]
    relative = vocabulary.words("relative")
    for match in vocabulary.iterate("points", text):
        before = text[: match.start()]
        if len(extract_objects(before)) >= _WHOLE_STORY:
            return ""
        if match.group() not in relative or not before.rstrip().endswith(","):
            return match.group()
    return ""


def _is_statement(text: str, words: list[str], vocabulary: _Vocabulary) -> bool:
    openers = vocabulary.words("openers") - vocabulary.words("statement_openers")
    at = next((at for at, word in enumerate(words) if word not in openers), len(words))
    if "?" in text or not words[at:] or words[at] not in vocabulary.words("statement_openers"):
        return False
    orders = vocabulary.words("general") - vocabulary.words("work_nouns")
    return not vocabulary.find("please", text) and not orders.intersection(words)


def _is_question(sentence: str, vocabulary: _Vocabulary, marked: bool) -> bool:
    words = _WORD.findall(sentence)
    polite = vocabulary.words("polite")
    while len(words) > 1 and words[0] in polite and words[0] not in vocabulary.words("asks"):
        words = words[1:]
    return words[0] in vocabulary.words("asks") and (marked or words[0] not in ("is", "a", "y", "por"))
