"""Reads a request: finds the words that describe the task, and weighs each of them.

Words that are forbidden ("do not deploy"), merely mentioned ("a poem about git", "as the reviewer said"), part of the
story before the request, quoted or polite do not describe the task. A role that is addressed by name takes the
request ("ask the tester to ...").

Standard library only: this module also runs inside hosts.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Container, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from .follow_up_words import is_small_talk
from .languages import FOREIGN_STOP, FOREIGN_WEAK, begin, find_language, find_relative_clauses
from .request_acts import (
    Act,
    find_fault,
    find_feature,
    find_leading,
    find_log,
    find_made,
    find_phrases,
    find_thing,
    find_visit,
)
from .request_words import (
    ARTICLE_WORDS,
    ASKING_VERBS,
    CLAUSE_BREAK_PATTERN,
    CODE_PATTERN,
    COLLEAGUE_NOUNS,
    ENCOUNTER_VERBS,
    GENRE_NOUNS,
    GREETING_PATTERN,
    HANDING_VERBS,
    HARMLESS_NEGATED_VERBS,
    JOB_NOUNS,
    LEAD_IN_WORDS,
    MAKING_VERBS,
    NAME_REFUSING_WORDS,
    NEGATION_END_WORDS,
    ORDER_LEAD_WORDS,
    ORDER_VERBS,
    OWN_CONTEXT_WORDS,
    PASTED_LINE_PATTERN,
    PERSON_NOUN_PATTERN,
    PERSON_PRONOUNS,
    PRIVATE_LIFE_NOUNS,
    PROGRAM_PART_NOUNS,
    QUESTION_PATTERN,
    QUESTION_WORDS,
    QUOTED_PATTERN,
    REFUSAL_WORDS,
    REPORTING_VERBS,
    SENTENCE_END_PATTERN,
    SMALL_TALK_PATTERN,
    STATEMENT_OPENER_WORDS,
    STOP_WORDS,
    SUBORDINATE_CONJUNCTIONS,
    TEXT_ORDER_PATTERN,
    TROUBLE_WORDS,
    URL_PATTERN,
    USING_VERBS,
    WEAK_WORDS,
    WISH_PATTERN,
    WORK_STORY_NOUNS,
)
from .spelling import correct_words
from .word_forms import TextWord, clean, find_tokens, join_words, stem

MAX_CHARACTERS: Final = 4_000
"""Maximum number of characters that are read. The request usually comes before pasted text."""
MAX_TOKENS: Final = 160
REQUEST, FRAGMENT, QUESTION_MOOD, STATEMENT = "request", "fragment", "question", "statement"
_LAST_TOKENS: Final = 60
_MAX_SMALL_TALK_WORDS: Final = 30
"""Maximum number of words of small talk. In a longer text, small talk is only a remark."""
_OTHER_SENTENCE_WEIGHT: Final = 0.4
"""Weight of words in other sentences than the request."""
_WEIGHT_NEXT_TO_ACT: Final = 0.85
"""Weight of ordinary words if the text contains an act, because the act distinguishes roles better than its object."""
_OPENING_WORD_WEIGHT: Final = 1.25
"""Weight of the first word of a sentence."""
_THING_WEIGHT: Final = 0.3
"""Weight, as a trigger, of words for a thing that is to be made."""
_STATEMENT_FACTOR: Final = 0.5
"""Factor for a text that asks for nothing and reports no fault."""
PERSONAL_FACTOR: Final = 0.35
"""Factor for a statement about a person."""
_TROUBLE_FACTOR: Final = 0.8
"""Factor for a statement that could describe trouble."""
NamedRoles = Mapping[str, tuple[tuple[tuple[str, ...], int], ...]]
"""Role names, keyed by their first word: all words of the name, and the number of the role."""


class Term(NamedTuple):
    """A word of the request with a weight."""

    stem: str
    word: str
    """The original word."""
    weight: float
    """Weight of the word. An ordinary word has 1."""


class RequestText(NamedTuple):
    """The content of a request."""

    terms: tuple[Term, ...] = ()
    """Terms in the order of the text, each once."""
    addressed: tuple[int, ...] = ()
    """Numbers of the roles that the text addresses by name."""
    factor: float = 1.0
    """Factor for all weights. It is below 1 for a question of general knowledge and for small talk."""
    creative: bool = False
    """Whether the text asks for a poem, a joke or the like. Only a role that declares such work takes it."""
    small_talk: bool = False
    """Whether the text is small talk, only a greeting, or a question of general knowledge."""
    language: str | None = None
    """The language, if it is recognized and is not English."""
    whole: tuple[str, ...] = ()
    """Stems of all content words, for the comparison with examples."""
    private: tuple[str, ...] = ()
    """Stems of words about private life."""
    asked: str = ""
    """The text without the forbidden parts."""
    tokens: tuple[tuple[str, str, float], ...] = ()
    """Every word: its stem, the word in lower case, and its weight as declared evidence, which is 0 if it is forbidden or
    mentioned, and low in the name of a thing that is to be made: an endpoint that is written is not called."""
    requests: bool = False
    """Whether a sentence of the text is a request or a question."""
    explicit: bool = False
    """Whether a sentence orders, wishes or asks in so many words."""


@dataclass(slots=True)
class _Reading:
    """The state of reading one text."""

    text: str
    tokens: list[TextWord]
    words: list[str]
    clauses: list[int]
    sentences: list[int]
    weights: list[float]
    polite: list[tuple[int, int]]
    rest: str
    """The text without greetings, in lower case."""
    language: str | None = None
    moods: dict[int, str] = field(default_factory=dict)
    """The mood of each sentence: a request, a question, a statement, or a fragment such as `sales report`, which is read as
    a request."""


def read_request(text: str, names: NamedRoles, terms: Container[str] = ()) -> RequestText:
    """Read a request. `terms` are the stems that roles use. Never raises, and takes bounded time for any text."""
    text = clean(text, MAX_CHARACTERS)
    visit = find_visit(text)
    text = join_words(URL_PATTERN.sub(" ", text))
    material = TEXT_ORDER_PATTERN.match(text)
    if material is not None:
        text = text[: material.end()]
    language = find_language(text)
    polite = [match.span() for match in GREETING_PATTERN.finditer(text)]
    tokens = find_tokens(text)
    if len(tokens) > MAX_TOKENS:  # the request is usually at the end of a story
        tokens = tokens[: MAX_TOKENS - _LAST_TOKENS] + tokens[-_LAST_TOKENS:]
    if not tokens:
        return RequestText(language=language, small_talk=bool(polite))
    rest = " ".join(_split_between(text, polite)).lower()
    if language is None:
        written, tokens = tokens, correct_words(tokens, text, terms)
        for before, after in zip(written, tokens, strict=True):
            if before is not after:
                # The patterns for small talk and faults read this text, and must see the corrected words too.
                rest = re.sub(rf"\b{before.text}\b", after.text, rest)
    words = [token.text.replace("'", "") for token in tokens]
    clauses, sentences = _number_clauses(text, tokens)
    weights = [0.0 if _is_inside(token, polite) else 1.0 for token in tokens]
    reading = _Reading(text, tokens, words, clauses, sentences, weights, polite, rest, language)
    # The order matters: a role that is addressed inside a negation must already have lost its weight.
    _mask_negations(words, clauses, weights)
    allowed_text = _remove_forbidden(reading)
    addressed = _mask_names(words, clauses, weights, names, text, tokens)
    creative = _mask_topic_of_poem(words, sentences, weights)
    reading.moods = _find_moods(reading)
    acts, is_statement = _find_acts(reading, bool(addressed))
    if visit is not None:
        acts.append(visit)
    ordered = bool(acts)
    phrases = list(find_phrases(tokens, words, sentences, weights))
    factor, small_talk = _judge_kind(reading, is_statement, bool(phrases))
    kept, whole = _keep_words(reading, language, terms)
    acts += phrases
    made = {place for act in acts for place in act.thing}
    if acts:
        kept = {stem: term._replace(weight=_WEIGHT_NEXT_TO_ACT * term.weight) for stem, term in kept.items()}
    for act in acts:
        kept[act.name] = Term(act.name, act.words, act.weight)
    return RequestText(
        tuple(kept.values()),
        addressed,
        factor,
        creative,
        small_talk or creative,
        language,
        tuple(whole),
        () if ordered else _find_private(reading),
        f"{allowed_text} (web page)" if visit is not None else allowed_text,
        tuple(
            (token.stem, word, weight * (_THING_WEIGHT if place in made else 1.0))
            for place, (token, word, weight) in enumerate(zip(reading.tokens, words, weights, strict=True))
            if not token.part
        ),
        not is_statement,
        bool({REQUEST, QUESTION_MOOD} & set(reading.moods.values())),
    )


def _find_acts(reading: _Reading, addressed: bool) -> tuple[list[Act], bool]:
    """The ordered acts, and whether the whole text is only a statement."""
    words, weights = reading.words, reading.weights
    asks = {number for number, mood in reading.moods.items() if mood in (REQUEST, FRAGMENT)} or {
        number for number, mood in reading.moods.items() if mood == QUESTION_MOOD
    }
    orders = [sentence in asks for sentence in reading.sentences]
    made = find_made(words, reading.clauses, weights, orders) or find_feature(reading.rest)
    _weigh_by_place(reading, asks)
    fault, logged = find_fault(reading.rest), find_log(reading.rest)
    is_statement = not asks and not (fault or logged or addressed)
    if is_statement and not _is_personal(words):
        fault = find_thing(words, weights)
    leading = find_leading(reading.rest) if asks else ()
    return [
        act for act in (*leading, None if leading else made, fault, logged) if act is not None
    ], is_statement


def _is_personal(words: list[str]) -> bool:
    """Whether the text is about a person: `I passed a test`, but not `I get a blank page`."""
    return words[0] in PERSON_PRONOUNS and words[1:2] not in ENCOUNTER_VERBS


def _judge_kind(reading: _Reading, is_statement: bool, worded: bool) -> tuple[float, bool]:
    """The factor for small talk, questions of general knowledge and stories, and whether the text is small talk."""
    words, rest = reading.words, reading.rest
    factor = 1.0
    small_talk = bool(reading.polite) and len(re.findall(r"\w+", rest)) < 2
    if len(words) <= _MAX_SMALL_TALK_WORDS and (
        SMALL_TALK_PATTERN.search(rest) or (reading.language is not None and is_small_talk(rest))
    ):
        factor, small_talk = 0.2, True
    question = QUESTION_PATTERN.match(rest)
    if question is not None and not set(words) & OWN_CONTEXT_WORDS:
        loose = len(words) > 9 or re.search(r"how (?:much|many|do|does|did)|why", question.group(), re.I)
        return min(factor, 0.6 if worded else 0.5 if loose else 0.25), True
    if is_statement:
        troubled = _TROUBLE_FACTOR if (TROUBLE_WORDS | PROGRAM_PART_NOUNS) & set(words) else _STATEMENT_FACTOR
        factor = min(factor, PERSONAL_FACTOR if _is_personal(words) else troubled)
    return factor, small_talk


def _find_private(reading: _Reading) -> tuple[str, ...]:
    return tuple(
        token.stem
        for token, word in zip(reading.tokens, reading.words, strict=True)
        if word in PRIVATE_LIFE_NOUNS or word.removesuffix("s") in PRIVATE_LIFE_NOUNS
    )


def _keep_words(
    reading: _Reading, language: str | None, terms: Container[str]
) -> tuple[dict[str, Term], list[str]]:
    """The weighted words, keyed by stem, and the stems of all content words."""
    text = reading.text
    pasted = [
        match.span() for pattern in (CODE_PATTERN, PASTED_LINE_PATTERN) for match in pattern.finditer(text)
    ]
    quoted = [match.span() for match in QUOTED_PATTERN.finditer(text)]
    kept: dict[str, Term] = {}
    whole = []
    for token, word, placed in zip(reading.tokens, reading.words, reading.weights, strict=True):
        if (
            word in STOP_WORDS
            or (len(word) < 2 and word.isascii())
            or word.isdigit()
            or _is_inside(token, reading.polite)
        ):
            continue
        if language is not None and word in FOREIGN_STOP:
            continue
        whole.append(token.stem)
        weight = placed * (0.6 if token.part else 1.0)
        # Pasted code and quotes say what the request is about, rarely what is to be done.
        weight *= 0.3 if _is_inside(token, pasted) else 0.5 if _is_inside(token, quoted) else 1.0
        if weight <= 0:
            continue
        if word in WEAK_WORDS or (language is not None and word in FOREIGN_WEAK):
            weight *= 0.45
        # Stems of other languages are cut to their beginning in the index, because their endings are not known here.
        known = begin(token.stem) if language is not None and begin(token.stem) in terms else token.stem
        before = kept.get(known)
        # The strongest mention decides. A sum would reward a text for repeating itself.
        if before is None or before.weight < weight:
            kept[known] = Term(known, text[token.start : token.end].lower(), weight)
    return kept, whole


def _find_moods(reading: _Reading) -> dict[int, str]:
    """Determine the mood of each sentence."""
    text, tokens, words, weights = reading.text, reading.tokens, reading.words, reading.weights
    clauses, sentences = reading.clauses, reading.sentences
    moods: dict[int, str] = {}
    for number in dict.fromkeys(sentences):
        places = [at for at, sentence in enumerate(sentences) if sentence == number]
        first, last = places[0], places[-1]
        sentence_text = text[tokens[first].start : tokens[last].end + 2]
        opened = {clauses[at]: at for at in reversed(places)}
        starts = [_skip(words, at, last) for at in sorted(opened.values())]
        after_and = [
            at + 1 for at in places[:-1] if words[at] in ("and", "then", "but", "just", "only", "so")
        ]
        if (
            WISH_PATTERN.search(sentence_text)
            or any(
                words[at] in ORDER_VERBS
                and weights[at]
                and not (at < last and words[at + 1] in ("is", "was", "are"))
                for at in (*starts, *after_and)
            )
            or words[first] in ("only", "just", "not", "rather")
            or any(_is_order(words, at, last) for at in starts)
        ):
            moods[number] = REQUEST
        elif "?" in sentence_text[-3:] or words[first] in QUESTION_WORDS:
            moods[number] = QUESTION_MOOD
        elif words[starts[0]] in STATEMENT_OPENER_WORDS or len(places) > 7:
            moods[number] = STATEMENT
        else:
            moods[number] = (
                FRAGMENT if any(word not in STOP_WORDS for word in words[first : last + 1]) else STATEMENT
            )
    return moods


def _is_order(words: list[str], at: int, last: int) -> bool:
    """Whether a clause begins with a word and an article, as in `water the flowers`: an order with any verb."""
    return at < last and words[at] not in STOP_WORDS and words[at + 1] in ARTICLE_WORDS - {"please", "one"}


def _skip(words: list[str], at: int, last: int) -> int:
    while at < last and words[at] in LEAD_IN_WORDS:
        at += 1
    return at


def _number_clauses(text: str, tokens: list[TextWord]) -> tuple[list[int], list[int]]:
    clauses, sentences = [], []
    clause = sentence = end = 0
    for token in tokens:
        between = text[end : token.start] if token.start >= end else ""
        if end and between and CLAUSE_BREAK_PATTERN.search(between):
            clause += 1
        if end and SENTENCE_END_PATTERN.search(between):
            sentence += 1
        clauses.append(clause)
        sentences.append(sentence)
        end = token.end
    return clauses, sentences


def _mask_negations(words: list[str], clauses: list[int], weights: list[float]) -> None:
    for at, word in enumerate(words):
        before = words[at - 1] if at else ""
        after = words[at + 1] if at + 1 < len(words) else ""
        starts = at == 0 or clauses[at - 1] != clauses[at]
        begins, most = 0, 10
        if word in ("dont", "never") or (word == "not" and before == "do"):
            lead = at - 1 if word != "not" else at - 2
            led = words[lead] if lead >= 0 else ""
            first = lead < 0 or clauses[lead] != clauses[at] or led in ORDER_LEAD_WORDS
            wanting = led in ("i", "we") and after in ("want", "need", "wish", "like", "care")
            if (first and after not in HARMLESS_NEGATED_VERBS) or wanting:
                begins = at + 1
        elif (
            word == "not"
            and (
                (starts and (at or after in ("a", "an", "the", "just", "in", "with", "on", "for", "by")))
                or after == "asking"
                or before in ("but", "and")
                or after == "about"
            )
            and after != "only"
        ):
            begins = at + 1
        elif word in ("without", "except", "excluding") or (word == "instead" and after == "of"):
            begins, most = at + 1, 7
        elif (word == "rather" and after == "than") or (
            word in ("other", "apart") and after in ("than", "from")
        ):
            begins, most = at + 2, 7
        elif word == "no" and (
            after == "need"
            or (starts and at and after not in ("longer", "one", "matter"))
            or ((starts or before in ("but", "and")) and _is_refusal(words, clauses, at))
        ):
            begins, most = at + 1, 6
        elif word in ("skip", "avoid", "ignore") and (starts or before in ORDER_LEAD_WORDS) and at:
            begins, most = at + 1, 5
        # "leave X alone": all between the two words is forbidden.
        elif word == "leave" and "alone" in words[at : at + 7]:
            begins, most = at + 1, words[at : at + 7].index("alone")
        elif word == "no" and {"needed", "necessary", "required"} & set(words[at + 1 : at + 5]):
            begins, most = at + 1, 5
        elif word == "nothing" and after == "to":
            begins, most = at + 1, 8
        if begins:
            for place in range(begins, min(begins + most, len(words))):
                if clauses[place] != clauses[at] or (words[place] in NEGATION_END_WORDS and place > begins):
                    break
                weights[place] = 0.0


def _is_refusal(words: list[str], clauses: list[int], at: int) -> bool:
    """Whether a clause that begins with `no` refuses something: `No massage today, please`, but not `No sound`."""
    clause = [word for word, number in zip(words[at:], clauses[at:], strict=True) if number == clauses[at]]
    return bool(REFUSAL_WORDS & set(clause)) or words[-1] in ("please", "thanks")


def _remove_forbidden(reading: _Reading) -> str:
    """The text without the words of weight zero, except for greetings."""
    text, pieces, last = reading.text, [], 0
    for token, weight in zip(reading.tokens, reading.weights, strict=True):
        if not weight and not _is_inside(token, reading.polite):
            pieces.append(text[last : token.start])
            last = token.end
    return " ".join([*pieces, text[last:]])


def _mask_names(
    words: list[str],
    clauses: list[int],
    weights: list[float],
    names: NamedRoles,
    text: str,
    tokens: list[TextWord],
) -> tuple[int, ...]:
    """Set the weight of role names to zero, because they do not describe the task. Returns the roles that are
    addressed by name.
    """
    if not names:
        return ()
    plain = [
        word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word
        for word in words
    ]
    addressed: dict[int, None] = {}
    at = 0
    while at < len(plain):
        candidates = [
            (name, role)
            for name, role in names.get(plain[at], ())
            if tuple(plain[at : at + len(name)]) == name
        ]
        if not candidates:
            at += 1
            continue
        # "backend developer" is not also "developer".
        longest = max(len(name) for name, _ in candidates)
        roles = [role for name, role in candidates if len(name) == longest]
        end = at + longest
        # A role in "do not ask the reviewer" has lost its weight as a negation, and is not addressed.
        forbidden = not any(weights[at:end]) or (at > 0 and words[at - 1] in NAME_REFUSING_WORDS)
        is_addressed = not forbidden and _is_addressed(words, clauses, at, end, text, tokens)
        # An id such as `rust-pro` is a name whatever its last word is.
        person = PERSON_NOUN_PATTERN.search(plain[end - 1]) is not None or _is_id(text, tokens, at, end)
        if is_addressed:
            addressed.update(dict.fromkeys(roles))
        if is_addressed or forbidden or (person and _is_mention(words, at, end)):
            is_reporting = not is_addressed and end < len(words) and words[end] in REPORTING_VERBS
            for place in range(at, end + is_reporting):
                weights[place] = 0.0
        at = end
    return tuple(addressed)


def _is_id(text: str, tokens: list[TextWord], at: int, end: int) -> bool:
    """Whether a name of several words is written as one, like an id."""
    return end - at > 1 and not text[tokens[at].start : tokens[end - 1].end].strip().count(" ")


def _is_mention(words: list[str], at: int, end: int) -> bool:
    before = words[at - 1] if at else ""
    after = words[end] if end < len(words) else ""
    return (
        before in ARTICLE_WORDS
        or after in REPORTING_VERBS
        or before in ("to", "by", "from", "with", "for", "as")
    )


def _is_addressed(
    words: list[str], clauses: list[int], at: int, end: int, text: str, tokens: list[TextWord]
) -> bool:
    after = words[end] if end < len(words) and clauses[end] == clauses[at] else ""
    start = at
    while start and clauses[start - 1] == clauses[at]:
        start -= 1
    lead = at - 1
    while lead >= start and words[lead] in ARTICLE_WORDS:
        lead -= 1
    before = words[lead] if lead >= start else ""
    if tokens[at].start and text[tokens[at].start - 1] == "@":
        return True
    if after in ("needed", "wanted", "required"):
        return True
    written_as_id = _is_id(text, tokens, at, end)
    if written_as_id and (
        (at == 0 and end == len(words))
        or before in USING_VERBS
        or (before in ("with", "by", "via") and start < lead)
    ):
        return True
    # "I need a code reviewer." names who is needed, "I need a designer chair" what.
    if before in ("need", "want") and not after and lead < at - 1 and (end == len(words) or end - at > 1):
        return True
    clause_words = set(words[start:at])
    if before in ASKING_VERBS and not (
        before in ("need", "want", "find", "have", "hire")
        and after not in ("to", "who", "that", "do", "look", "check", "take")
    ):
        return True
    if before == "to" and (
        clause_words & HANDING_VERBS
        or (clause_words & {"give", "send"} and words[lead - 1 : lead] in (["it"], ["this"], ["that"]))
    ):
        return True
    if before == "with" and clause_words & {"talk", "speak", "chat", "connect"}:
        return True
    if (
        before == "for"
        and clause_words & JOB_NOUNS
        and (clause_words & {"is", "its", "thats"} or len(clause_words) <= 4)
    ):
        return True
    if before == "by" and clause_words & {
        "have",
        "get",
        "done",
        "must",
        "should",
        "needs",
        "reviewed",
        "checked",
        "handled",
    }:
        return True
    opening = at - start == 0 or (lead < start and start == at - 1 and words[start] in ("hey", "hi", "dear"))
    if at == 0 or (opening and at <= 1):
        follows = text[tokens[end - 1].end : tokens[end - 1].end + 1]
        return follows in (",", ":") or after in ("please", "can", "could", "would")
    return False


def _mask_topic_of_poem(words: list[str], sentences: list[int], weights: list[float]) -> bool:
    """Reduce the weight of the topic of a poem or a joke, because it is not the task. Returns whether there is one."""
    for at, word in enumerate(words):
        if word not in GENRE_NOUNS or not weights[at]:
            continue
        start = at
        while start and sentences[start - 1] == sentences[at]:
            start -= 1
        before = words[at - 1] if at > start else ""
        if (
            before in WORK_STORY_NOUNS
            or before in ("the", "his", "her", "their", "this", "that", "our")
            or before.endswith("s")
        ):
            continue
        orders = any(
            words[place] in MAKING_VERBS
            and (place == start or words[place - 1] in ORDER_LEAD_WORDS | LEAD_IN_WORDS)
            for place in range(max(start, at - 6), at)
        )
        if not orders and at - start > 2:
            continue
        # The genre is the task: a poem about deployments is for the writer, not for operations.
        weights[at] = 1.3
        for place in range(at + 1, len(words)):
            if sentences[place] != sentences[at]:
                break
            weights[place] = 0.0
        for place in range(start, at):
            weights[place] *= 0.3
        return True
    return False


def _weigh_by_place(reading: _Reading, asks: set[int]) -> None:
    """Raise the weight of a request's verb, and lower the weight of reasons and of stories next to the request."""
    words, clauses, sentences, weights = reading.words, reading.clauses, reading.sentences, reading.weights
    described = _find_described(reading)
    opened, aside, clause = -1, 1.0, -1
    for at, word in enumerate(words):
        if clauses[at] != clause:
            clause, aside = clauses[at], 1.0
        if word in SUBORDINATE_CONJUNCTIONS and at:
            aside = 0.75
        if at in described:
            aside = 0.5
        if word in COLLEAGUE_NOUNS and at and words[at - 1] in ("your", "the", "our", "my", "a", "each"):
            weights[at] *= 0.3
        if word in STOP_WORDS:
            continue
        if sentences[at] != opened:
            opened = sentences[at]
            weights[at] *= _OPENING_WORD_WEIGHT
        weights[at] *= aside * (1.0 if not asks or sentences[at] in asks else _OTHER_SENTENCE_WEIGHT)
        if at > 60 and sentences[at] not in asks:
            weights[at] *= 0.6


def _find_described(reading: _Reading) -> set[int]:
    """The numbers of the words with which relative clauses of other languages begin."""
    starts = find_relative_clauses(reading.text, reading.language)
    return {
        next((at for at, token in enumerate(reading.tokens) if token.start >= start), 0) for start in starts
    } - {0}


def _is_inside(token: TextWord, spans: Collection[tuple[int, int]]) -> bool:
    return bool(spans) and any(start <= token.start < end for start, end in spans)


def _split_between(text: str, spans: Collection[tuple[int, int]]) -> list[str]:
    pieces, last = [], 0
    for start, end in spans:
        pieces.append(text[last:start])
        last = end
    return [*pieces, text[last:]]


def is_weak(word: str) -> bool:
    """Whether a stem belongs to a word that people of any trade use."""
    return word in _WEAK_STEMS


_WEAK_STEMS: Final = frozenset(map(stem, WEAK_WORDS))
