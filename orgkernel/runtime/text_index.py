"""Ranks roles for a request in plain words: a lexical ranking (BM25F) over the texts of roles, with a prebuilt index.

`build_index` weighs every word of every role by its fields, by its rarity (a word that all roles share has weight
zero), and through the groups of `word_topics`. The result is plain JSON, so a host's bundle contains the finished
index, and `rank_roles` only looks up and adds weights. Both the kernel and hosts rank with this module.

Standard library only: this module also runs inside hosts.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from heapq import nlargest
from itertools import chain, pairwise
from typing import Any, Final, NamedTuple

from .declared_phrases import (
    WHOLE,
    DeclaredMatch,
    DeclaredPhrase,
    Phrase,
    PhraseTables,
    build_lookup,
    build_phrase,
    find_matches,
)
from .languages import FOREIGN_STOP, begin, find_language
from .learned_work import COMMAND, NO_WORK, guess_work
from .learned_work import LEAD as LEADING
from .request_acts import LEAD
from .request_text import PERSONAL_FACTOR, RequestText, Term, is_weak, read_request
from .request_words import CREATED_NOUNS, PROGRAM_PART_NOUNS, STOP_WORDS
from .word_forms import clean, find_tokens, join_words
from .word_forms import stem as find_stem
from .word_topics import list_trades, map_groups_by_stem, map_trades_by_stem, map_trades_by_title_word

PRIORS: Final[Mapping[str, float]] = {"specialist": 1.0, "executive": 0.8, "commander": 0.75}
"""Factors by role type: specialists before executives before commanders."""
FIELDS: Final[Mapping[str, float]] = {
    "intent": 3.0,
    "example": 2.4,
    "name": 2.2,
    "description": 2.0,
    "domain_trigger": 1.8,
    "domain_name": 1.6,
    "cognitive_skill": 1.6,
    "domain_description": 1.2,
    "procedure_name": 1.2,
    "skill_name": 1.2,
    "plan_name": 1.2,
    "domain_example": 0.35,
    "plan_description": 0.3,
    "procedure_description": 0.3,
    "skill_description": 0.25,
    "department": 0.5,
    "tool_name": 0.4,
}
"""Weight of a word in each field of a role."""
_MAIN: Final = frozenset(
    (
        "intent",
        "example",
        "name",
        "description",
        "domain_trigger",
        "domain_name",
        "domain_description",
        "cognitive_skill",
    )
)
"""Fields that describe the role's work. The others describe its tools and its place."""
_SATURATION: Final = 1.5
"""The frequency at which a word has half of its highest weight: `k1` of BM25."""
_SYNONYM_WEIGHT: Final = 0.6
"""Weight of a synonym, compared with 1 for the word itself."""
_TRADE_WEIGHT: Final = 0.85
"""Weight of a word of a role's trade if the role has no word of its own."""
_ALIKE_CAP: Final = 0.8
"""Most weight of a related word, as a share of the weight that the word has for a role that uses it."""
_HINT_WEIGHT: Final = 0.4
"""Weight of a trade word that other trades also use."""
_AMBIGUITY_EXPONENT: Final = 0.1
"""How fast a word loses weight with the number of its trades."""
# The certainty that a role belongs to a trade, by what its texts share with it: a title of one or several words in its
# name or beside it, then single words. They are combined as independent evidence, so many weak hints do not reach 1.
_TITLE, _TITLE_OF_WORDS, _TITLE_BESIDE, _TITLE_OF_WORDS_BESIDE = 0.72, 0.85, 0.3, 0.45
_WORD_IN_NAME, _WORD_IN_TEXT, _WORD_BESIDE = 0.3, 0.16, 0.06
_LENGTH_EFFECT: Final = 0.5
"""How much the length of a field lowers the weight of its words: `b` of BM25."""
_PAIR_WEIGHT: Final = 0.5
_MAX_ROLES_OF_WORD: Final = 96
_MIN_WEIGHT: Final = 0.02
_MISSING_WEIGHT: Final = 0.08
_MAX_MISSING: Final = 5.0
_CERTAIN, _INCIDENTAL = 0.9, 0.4
"""If a role certainly belongs to a trade, other trades of which it uses a few words by chance are ignored."""
_PRIVATE_FACTOR: Final = 0.4
"""Factor for a text with words about private life that no role knows."""
_CERTAINLY_WORK, _DECLARED_FACTOR = 0.45, 0.8
"""The strength of declared evidence that makes a text work, and the least factor of such a text."""
_MIN_KNOWN: Final = 0.35
_OBJECT_STEMS: Final = frozenset(map(find_stem, PROGRAM_PART_NOUNS | CREATED_NOUNS))
_OTHER_TRADE_WEIGHT: Final = 0.2
# For work to be led: what a leader gains, what is left to the others, and the shares that are handed up to leaders.
_LEADS, _LED, _INHERITED, _HANDED_UP = 0.6, 0.2, 0.35, 0.6
_HALF_SCORE: Final = 0.55
"""The sum of weights at which a score is one half."""
ENOUGH: Final = 0.36
"""The lowest score at which a role takes a request."""
ENOUGH_OF_ONE_WORD: Final = 0.44
"""The lowest score if only one of several words supports the role."""
_ENOUGH_OF_DOUBTFUL_WORD: Final = 0.5
"""The lowest score if this word is only related to the role's words, or is in a statement: a homonym needs a second
word.
"""
FOREIGN_SHARE: Final = 0.75
"""Share of the lowest score that is enough in a language for which there are only examples."""
CLEAR: Final = 0.1
"""The lowest margin between the best and the next score, as a share of the best."""
_LEARNED_WEIGHT: Final = 0.6
"""Weight of the learned kind of work, next to the words of a role with shared domains."""
_MEANING_WEIGHT, _MEANING_IN_TALK = 0.3, 0.3
"""How much of the distance to 1 similarity of meaning can add to a score, and its factor in small talk."""
_CLEAR_OF_MEANING: Final = 0.15
"""The lowest margin if similarity of meaning is part of the scores, because it lifts several roles at once."""
_BRANCH_BONUS: Final = 0.5
"""Bonus for a leader if the text is about the work of the leader's branch."""
_IDLE_WEIGHT: Final = 0.3
"""Deduction from the score of such a role for a text that is certainly not about work."""
_ENOUGH_OF_LEARNED: Final = 0.31
"""The lowest score at which such a role takes a request."""
_MAX_IDLE, _MAX_IDLE_IN_TALK = 0.45, 0.15
"""Highest probability of no work at which such a role takes a text, and a text that reads like small talk."""
WORTH_SHOWING: Final = 0.12
_NAMED_SCORE: Final = 0.97
_EXACT_SCORE: Final = 0.99

Postings = Mapping[int, float]


class RoleTexts(NamedTuple):
    """The texts of a role."""

    role_id: str
    names: tuple[str, ...]
    """Names of the role: its name, and its id in words."""
    fields: tuple[tuple[str, str], ...]
    """Its texts, each with a name from `FIELDS`."""
    prior: float = 1.0
    """Factor below 1 for executives and commanders, so specialists come first."""
    not_examples: tuple[str, ...] = ()
    """Requests that the role does not take."""
    leads: tuple[str, ...] = ()
    """The roles directly below it."""
    domains: tuple[str, ...] = ()
    """The shared domains that the role handles and that were learned."""


class Evidence(NamedTuple):
    """A word of a request that supports a role."""

    word: str
    stem: str
    """The stem in the index. For a misspelled word, the stem of its correction."""
    amount: float
    kind: str
    """`word`, `pair`, `alike` (a word with the same meaning or of the same trade), `name`, `example`, `trigger`,
    `similar` (to an example), `own_name` (a word that only this role has in its name), or `learned`.
    For `learned`, `stem` is a shared domain, `lead` or `command`, and `amount` is the probability that the text is
    about it."""


class Ranked(NamedTuple):
    """A role and its score for a request."""

    role: int
    score: float
    """Score from 0 to 1."""
    evidence: tuple[Evidence, ...]
    """The evidence for the role, most important first."""


class Ranking(NamedTuple):
    """The roles that match a request, best first, and whether the first one may take it."""

    ranked: tuple[Ranked, ...] = ()
    outcome: str = "nothing"
    """`role`, `weak` (no role fits well enough), `close` (several fit), `language` (no examples in this language),
    `small_talk` (or general knowledge, or a poem), or `nothing` (no word describes the task)."""
    margin: float | None = None
    """Margin of the first over the second score, as a share of the first. None with fewer than two roles."""
    language: str | None = None
    clear: float = CLEAR
    """The margin that is enough."""


@dataclass(frozen=True, slots=True)
class TextIndex:
    """The weighted words of all roles."""

    roles: tuple[str, ...]
    priors: tuple[float, ...]
    terms: Mapping[str, Postings]
    topics: Mapping[str, Postings]
    leads: Mapping[int, tuple[int, ...]]
    """The roles directly below a role."""
    names: Mapping[str, tuple[tuple[tuple[str, ...], int], ...]]
    examples: Mapping[str, int]
    """Examples of roles and their domains as sorted stems, each with the role that takes exactly this request."""
    not_examples: Mapping[int, tuple[frozenset[str], ...]]
    languages: frozenset[str]
    """Languages of examples, except English."""
    domains: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """The roles that handle each shared domain."""
    phrases: tuple[Phrase, ...] = ()
    """The triggers of domains, and intents."""
    lookups: list[PhraseTables] = field(default_factory=list, compare=False)
    """Tables over `phrases`, `examples` and `names`. Built on first use."""
    merged: dict[tuple[str, bool], Postings] = field(default_factory=dict, compare=False)
    """Cache of earlier lookups."""
    branches: dict[int, frozenset[int]] = field(default_factory=dict, compare=False)
    """Leaders whose specialists all handle shared domains, and these specialists. Computed on first use."""


# -- building ----------------------------------------------------------------------------------------------------------


def build_index(
    roles: Sequence[RoleTexts],
    triggers: Iterable[DeclaredPhrase] = (),
    domain_examples: Iterable[DeclaredPhrase] = (),
) -> TextIndex:
    """Build the index of an organization's roles, in the order of its hierarchy.

    `triggers` and `domain_examples` are what the organization declares about its domains, with the roles in the order
    of dispatch.
    """
    counts = [_count_fields(role) for role in roles]
    strengths = [_find_trades(fields) for fields in counts]
    frequencies = _weigh_words(counts, strengths)
    number = len(roles)
    spread = Counter(word for weighed in frequencies for word in weighed)
    terms: dict[str, dict[int, float]] = {}
    groups: dict[str, dict[int, float]] = {}
    for role, weighed in enumerate(frequencies):
        senses = _find_senses(weighed)
        for word, frequency in weighed.items():
            # Saturation: each further mention of a word adds less.
            value = frequency / (_SATURATION + frequency)
            for group in senses.get(word, ()):
                held = groups.setdefault(group, {})
                held[role] = max(held.get(role, 0.0), value)
            value *= _compute_rarity(spread[word], number)
            if " " in word:
                value *= _PAIR_WEIGHT
            if value >= _MIN_WEIGHT:
                terms.setdefault(word, {})[role] = round(value, 3)
    places = {role.role_id: place for place, role in enumerate(roles)}
    names: dict[str, list[tuple[tuple[str, ...], int]]] = {}
    languages = set()
    for place, role_texts in enumerate(roles):
        for called in dict.fromkeys(_split_name(each) for each in role_texts.names):
            if called:
                names.setdefault(called[0], []).append((called, place))
        for kind, text in role_texts.fields:
            if kind == "example":
                languages.add(find_language(clean(text, 1_000)))
    phrases = [
        build_phrase(declared.text, tuple(places[each] for each in declared.roles))
        for declared in triggers
        if declared.roles
    ]
    return TextIndex(
        tuple(role.role_id for role in roles),
        tuple(role.prior for role in roles),
        terms,
        _weigh_topics(strengths, groups),
        {
            place: tuple(places[each] for each in role.leads if each in places)
            for place, role in enumerate(roles)
            if role.leads
        },
        {first: tuple(entries) for first, entries in names.items()},
        {key: places[role_id] for key, role_id in map_examples(roles, domain_examples).items()},
        {
            place: tuple(frozenset(extract_content(text)) for text in role.not_examples)
            for place, role in enumerate(roles)
            if role.not_examples
        },
        frozenset(language for language in languages if language),
        {
            domain: tuple(place for place, role in enumerate(roles) if domain in role.domains)
            for domain in sorted({domain for role in roles for domain in role.domains})
        },
        tuple(each for each in phrases if each is not None),
    )


def map_examples(
    roles: Sequence[RoleTexts], domain_examples: Iterable[DeclaredPhrase] = ()
) -> dict[str, str]:
    """The role that takes each example, by the key of the example. The first role that declares one has it; then come
    the examples of domains.
    """
    takers: dict[str, str] = {}
    for role in roles:
        for kind, text in role.fields:
            if kind == "example":
                takers.setdefault(_build_key(text), role.role_id)
    unlike = {
        role.role_id: [frozenset(extract_content(text)) for text in role.not_examples] for role in roles
    }
    for declared in domain_examples:
        key = _build_key(declared.text)
        # A role that excludes an example of its domain leaves it to the next role of the domain.
        taker = next(
            (
                each
                for each in declared.roles
                if not any(_is_like(key.split(), excluded) for excluded in unlike[each])
            ),
            None,
        )
        if key and taker is not None:
            takers.setdefault(key, taker)
    return takers


def _weigh_words(
    counts: Sequence[Mapping[str, Counter[str]]], strengths: Sequence[Mapping[str, float]]
) -> list[dict[str, float]]:
    """The frequency of each word of each role, weighed by the fields that contain it and by the role's trades."""
    lengths: Counter[str] = Counter()
    holders: Counter[str] = Counter()
    for fields in counts:
        for name, words in fields.items():
            lengths[name] += words.total()
            holders[name] += 1
    usual = {name: lengths[name] / holders[name] for name in lengths}
    frequencies: list[dict[str, float]] = []
    for fields, trade in zip(counts, strengths, strict=True):
        weighed: dict[str, float] = {}
        for name, words in fields.items():
            # BM25F: a field is compared with its usual length, and repetitions are capped, so a long or repetitive text
            # gives its role no advantage.
            scale = FIELDS[name] / (1 - _LENGTH_EFFECT + _LENGTH_EFFECT * words.total() / usual[name])
            for word, count in words.items():
                weighed[word] = weighed.get(word, 0.0) + scale * min(count, 3)
        central = {word: _compute_centrality(word, trade) for word in weighed if " " not in word}
        frequencies.append(
            {
                word: each * (central.get(word) or _average_centrality(word, central))
                for word, each in weighed.items()
            }
        )
    return frequencies


def _count_fields(role: RoleTexts) -> dict[str, Counter[str]]:
    counts: dict[str, Counter[str]] = {}
    for name, text in role.fields:
        stems = extract_content(text)
        if not stems:
            continue
        if find_language(clean(text, 1_000)):
            stems = tuple(map(begin, stems))
        words = counts.setdefault(name, Counter())
        words.update(stems)
        words.update(f"{first} {second}" for first, second in pairwise(stems) if first != second)
    return counts


@lru_cache(maxsize=16_384)
def extract_content(text: str) -> tuple[str, ...]:
    """The stems of the words of a role's text that carry meaning, in the order of the text."""
    text = join_words(clean(text.replace("_", " "), 20_000))
    foreign = find_language(text) is not None
    return tuple(
        token.stem
        for token in find_tokens(text)
        if token.text.replace("'", "") not in STOP_WORDS
        and not token.text.isdigit()
        and (len(token.text) > 1 or not token.text.isascii())
        and not (foreign and token.text in FOREIGN_STOP)
    )


def _build_key(text: str) -> str:
    """The stems of an example without order, so another order of words is the same example."""
    return build_example_key(extract_content(text))


def build_example_key(stems: Iterable[str]) -> str:
    """The key of an example: its stems without order, each once."""
    return " ".join(sorted(set(stems)))


def _compute_rarity(holders: float, number: int) -> float:
    """Rarity of a word: 1 if one role uses it, 0 if all do."""
    if number >= 3 and holders >= number:
        return 0.0
    return math.log((number + 1) / holders) / math.log(number + 1) if number > 1 else 1.0


def _find_trades(fields: Mapping[str, Counter[str]]) -> dict[str, float]:
    """The trades of a role, each with a certainty from 0 to 1."""
    name = {word for field in ("name", "domain_name") for word in fields.get(field, ())}
    main = {word for field, words in fields.items() if field in _MAIN for word in words}
    beside = {word for field, words in fields.items() if field not in _MAIN for word in words}
    present = main | beside
    known, by_stem, by_title = list_trades(), map_trades_by_stem(), map_trades_by_title_word()
    near = {key for word in present if word in by_stem for key in by_stem[word]}
    near.update(key for word in main if word in by_title for key in by_title[word])
    # "data engineer" as a domain is one title. Its word "engineer" must not be taken for the title of another trade.
    domain_words = fields.get("domain_name", ())
    covered = {
        word
        for key in (near if domain_words else ())
        for title in known[key].titles
        if len(title) > 1 and " ".join(title) in domain_words
        for word in title
    }
    certainties: dict[str, float] = {}
    for key in near:
        trade = known[key]
        doubt = 1.0
        titled: set[str] = set()
        for title in trade.titles:
            if title[0] not in main:  # the first word of a pair that the role uses is a word that it uses
                continue
            if len(title) == 1:
                certainty = (
                    _TITLE
                    if title[0] in name and title[0] not in covered
                    else _TITLE_BESIDE
                    if title[0] in main
                    else 0.0
                )
            elif all(word in name for word in title):
                certainty = _TITLE_OF_WORDS
            else:
                certainty = _TITLE_OF_WORDS_BESIDE if " ".join(title) in main else 0.0
            if certainty:
                doubt *= 1 - certainty
                titled.update(title)
        # The words of a title are evidence already, and must not support the trade a second time.
        for word in (trade.words & present) - titled:
            if word in trade.hints:
                doubt *= 1 - (_WORD_BESIDE if word in main else 0.0)
            elif word in name:
                doubt *= 1 - _WORD_IN_NAME
            elif word in main:
                doubt *= 1 - (_WORD_IN_TEXT if not is_weak(word) else _WORD_BESIDE)
            elif word in beside:
                doubt *= 1 - _WORD_BESIDE
        certainties[key] = 1 - doubt
    most = max(certainties.values(), default=1.0)
    least = _INCIDENTAL if most >= _CERTAIN else 0.1
    return {key: value * math.sqrt(value / most) for key, value in certainties.items() if value >= least}


def _compute_centrality(word: str, strengths: Mapping[str, float]) -> float:
    """Weight factor: a word of the role's trade has full weight, an incidental one half."""
    of = map_trades_by_stem().get(word)
    if of is None:
        return 0.75
    return 0.5 + 0.5 * max(strengths.get(key, 0.0) for key in of)


def _average_centrality(pair: str, central: Mapping[str, float]) -> float:
    """The factor of a pair of words, from those of its words."""
    first, _, second = pair.partition(" ")
    return (central[first] + central[second]) / 2


def _find_senses(words: Iterable[str]) -> dict[str, list[str]]:
    """The meaning groups of a role's words. For an ambiguous word, the groups that contain most words of the role."""
    known = {word: map_groups_by_stem()[word] for word in words if word in map_groups_by_stem()}
    company = Counter(group for groups in known.values() for group in groups)
    return {
        word: [group for group in groups if company[group] == max(map(company.__getitem__, groups))]
        for word, groups in known.items()
    }


def _weigh_topics(
    strengths: Sequence[Mapping[str, float]], groups: Mapping[str, Mapping[int, float]]
) -> dict[str, dict[int, float]]:
    number = len(strengths)
    held: dict[str, dict[int, float]] = {}
    for role, each in enumerate(strengths):
        for key, strength in each.items():
            held.setdefault(key, {})[role] = strength
    weights: dict[str, dict[int, float]] = {}
    for key, roles in held.items():
        scale = _TRADE_WEIGHT * _compute_rarity(max(1.0, sum(each**2 for each in roles.values())), number)
        weights[key] = {role: round(scale * strength**1.5, 3) for role, strength in roles.items()}
    for key, members in groups.items():
        scale = _SYNONYM_WEIGHT * _compute_rarity(len(members), number)
        weights[key] = {role: round(scale * value, 3) for role, value in members.items()}
    kept = {
        key: {role: value for role, value in each.items() if value >= _MIN_WEIGHT}
        for key, each in weights.items()
    }
    return {key: each for key, each in kept.items() if each}


def _split_name(name: str) -> tuple[str, ...]:
    words = [
        token.text.replace("'", "")
        for token in find_tokens(join_words(clean(name.replace("_", " ").replace("-", " "), 200)))
    ]
    return tuple(
        word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word
        for word in words
    )


# -- ranking -----------------------------------------------------------------------------------------------------------


def rank_roles(
    index: TextIndex,
    text: str,
    most: int = 5,
    without: frozenset[int] = frozenset(),
    similar: Mapping[int, float] | None = None,
    unknown_example: str | None = None,
) -> Ranking:
    """Rank the roles for a text.

    Roles in `without` are skipped. `similar` contains the similarity in meaning of roles to the text according to an
    embedding model, from 0 for the average role to 1. It changes the order and the margin. Only words make a role take
    a text. `unknown_example` is the key of an example that is treated as if it had not been declared.
    """
    request = read_request(text, index.names, index.terms)
    key = build_example_key(request.whole)
    exact = index.examples.get(key) if key and key != unknown_example else None
    matches = [
        each
        for each in find_matches(_get_lookup(index), index.examples, request)
        if each.key != unknown_example or each.kind != "similar"
    ]
    if request.factor < _DECLARED_FACTOR and any(each.strength >= _CERTAINLY_WORK for each in matches):
        # "What is the tariff code for ...?" reads like general knowledge, and is the work of the role that declares these words.
        request = request._replace(factor=_DECLARED_FACTOR, small_talk=request.creative)
    sums: dict[int, float] = {}
    matched: dict[int, float] = {}
    for term in request.terms:
        for role, value in _look_up(index, term.stem, not request.creative).items():
            sums[role] = sums.get(role, 0.0) + term.weight * value
            matched[role] = matched.get(role, 0.0) + term.weight
    for pair, weight in _iterate_pairs(request.terms):
        for role, value in index.terms.get(pair, {}).items():
            sums[role] = sums.get(role, 0.0) + weight * value
    _let_leaders_take(index, sums, request)
    total = sum(term.weight for term in request.terms)
    elsewhere = (
        min(3.0, sum(term.weight for term in request.terms if _is_elsewhere(index, term.stem)))
        * _OTHER_TRADE_WEIGHT
    )
    factor = request.factor * (
        _PRIVATE_FACTOR if any(not _is_known(index, each) for each in request.private) else 1.0
    )
    scores: dict[int, float] = {}
    for role, word_sum in sums.items():
        # The quotient keeps scores between 0 and 1. Words that the role does not use, and words of trades that no role
        # has, lower it. Both are capped, because a long text contains many words that do not matter.
        amount = word_sum * index.priors[role] * factor
        missing = _MISSING_WEIGHT * min(total - matched.get(role, 0.0), _MAX_MISSING)
        scores[role] = amount / (amount + _HALF_SCORE + missing + elsewhere)
    learned = _Learned()
    if index.domains and request.terms and request.language is None:
        learned = _find_learned(index, request.asked, scores)
        for role, kinds in learned.roles.items():
            near = sum(kinds.values())
            score = (
                (1 - _LEARNED_WEIGHT) * scores.get(role, 0.0)
                + _LEARNED_WEIGHT * near
                - _IDLE_WEIGHT * learned.idle
            )
            scores[role] = max(0.0, score)
    declared: dict[int, list[DeclaredMatch]] = {}
    for match in matches:
        declared.setdefault(match.role, []).append(match)
    for role, own in declared.items():
        # Several phrases are independent evidence. They come after the learned table, so it cannot outweigh them.
        doubt = math.prod(1 - each.strength * _scale_declared(each, factor) for each in own)
        scores[role] = 1 - (1 - scores.get(role, 0.0)) * doubt
    # Negative examples are applied before names and exact examples, which are explicit and take precedence.
    for role, unlike in index.not_examples.items():
        if role in scores and any(_is_like(request.whole, each) for each in unlike):
            del scores[role]
    # A person who names a role has decided, so no other evidence outweighs the name.
    for place, role in enumerate(request.addressed[:most]):
        scores[role] = _NAMED_SCORE - 0.1 * place
    # An example that the organization declares word for word decides even about a name that it contains.
    if exact is not None:
        scores[exact] = _EXACT_SCORE
    by_words = scores
    if similar:
        scores = dict(scores)
        weight = _MEANING_WEIGHT * (_MEANING_IN_TALK if request.small_talk else 1.0)
        for role, near in similar.items():
            # A role that is addressed, or whose example this is, is certain, and no other can come near.
            if scores.get(role, 0.0) < _NAMED_SCORE - 0.1:
                scores[role] = 1 - (1 - scores.get(role, 0.0)) * (1 - weight * min(max(near, 0.0), 1.0))
    for role in without:
        scores.pop(role, None)
    # If scores are equal, the role that is first in the hierarchy comes first, so the ranking is deterministic.
    best = nlargest(most, scores.items(), key=lambda each: (each[1], -each[0]))
    ranked = tuple(
        Ranked(
            role,
            round(score, 3),
            _find_evidence(index, request, role, exact, learned, declared.get(role, ())),
        )
        for role, score in best
        if score >= WORTH_SHOWING
    )
    return _judge(index, request, ranked, learned, by_words, _CLEAR_OF_MEANING if similar else CLEAR)


def _get_lookup(index: TextIndex) -> PhraseTables:
    if not index.lookups:
        names = (entry for entries in index.names.values() for entry in entries)
        index.lookups.append(
            build_lookup(index.phrases, index.examples, names, index.terms, len(index.roles))
        )
    return index.lookups[0]


def _scale_declared(match: DeclaredMatch, factor: float) -> float:
    """A trigger that is the whole request needs no verb. Next to other words, small talk and statements weaken it."""
    return 1.0 if match.strength >= WHOLE else factor


class _Learned(NamedTuple):
    """The result of the learned table for a text."""

    roles: Mapping[int, Mapping[str, float]] = {}
    """Roles with shared domains and their leaders, each with the kinds of work that support the role."""
    idle: float = 0.0
    """Probability that the text is not about work."""


def _find_learned(index: TextIndex, text: str, scores: Mapping[int, float]) -> _Learned:
    """The probability that a text is about the work of each role: its shared domains, or leading the roles that
    handle them.

    Among several leaders, the choice depends on their words (`scores`), on the branch that the text is about, and on
    whether it asks for the whole.
    """
    likely = guess_work(text)
    if not likely:
        return _Learned()
    shares_by_role: dict[int, dict[str, float]] = {}
    topics: dict[int, float] = {}
    for domain, handling in index.domains.items():
        share = likely.get(domain, 0.0)
        for role in handling:
            shares_by_role.setdefault(role, {})[domain] = share
            # The root lifts small shares, so the likeliest domain alone does not decide which branch a text is about.
            topics[role] = topics.get(role, 0.0) + math.sqrt(share)
    if not index.branches and index.leads:
        index.branches.update(_find_branches(index))
    total = sum(topics.values()) or 1.0
    whole, part = likely.get(COMMAND, 0.0), likely.get(LEADING, 0.0)
    size = max(map(len, index.branches.values()), default=0)
    fits = {}
    for leader, branch in index.branches.items():
        about = sum(topics[role] for role in branch) / total
        share = whole if len(branch) == size else 0.0
        if not any(below in index.branches for below in index.leads[leader]):
            share += part
        fits[leader] = scores.get(leader, 0.0) + _BRANCH_BONUS * about * share / (whole + part or 1.0)
    best = max(fits.values(), default=0.0) or 1.0
    for leader, fit in fits.items():
        shares_by_role.setdefault(leader, {})[COMMAND if whole > part else LEADING] = (
            (whole + part) * fit / best
        )
    return _Learned(shares_by_role, sum(likely.get(label, 0.0) for label in NO_WORK))


def _find_branches(index: TextIndex) -> dict[int, frozenset[int]]:
    handling = {role for roles in index.domains.values() for role in roles}
    branches = {
        leader: frozenset(role for role in _list_all_below(index, leader) if role not in index.leads)
        for leader in index.leads
    }
    return {leader: branch for leader, branch in branches.items() if branch and branch <= handling}


def _let_leaders_take(index: TextIndex, sums: dict[int, float], request: RequestText) -> None:
    """Give work that should be divided or coordinated to the leader of the roles that would do it, if a role declares
    that it leads.
    """
    leaders = _look_up(index, LEAD, True) if any(term.stem == LEAD for term in request.terms) else {}
    if not leaders:
        return
    leaders = {role: value for role, value in leaders.items() if value >= 0.5 * max(leaders.values())}
    own = {role: amount for role, amount in sums.items() if role not in leaders}
    below: dict[int, float] = {}
    # Fewest subordinates first, so the sums of subordinate leaders exist before those of their superiors.
    for role in sorted(index.leads, key=lambda each: len(_list_all_below(index, each))):
        below[role] = sum(
            own.get(each, 0.0) + _HANDED_UP * below.get(each, 0.0) for each in index.leads[role]
        )
    # Every leader begins with the same bonus instead of its own words about leading, so the work below decides.
    for role in leaders:
        sums[role] += _LEADS - leaders[role] + _INHERITED * below.get(role, 0.0)
    for role in own:
        sums[role] *= _LED


def _list_all_below(index: TextIndex, role: int, depth: int = 0) -> list[int]:
    # An index can come from a file of a host, and its `leads` can contain a cycle.
    below = list(index.leads.get(role, ())) if depth < 12 else []
    return below + [each for one in below for each in _list_all_below(index, one, depth + 1)]


def _judge(
    index: TextIndex,
    request: RequestText,
    ranked: tuple[Ranked, ...],
    learned: _Learned,
    by_words: Mapping[int, float],
    clear: float,
) -> Ranking:
    margin = None
    if len(ranked) > 1:
        margin = round((ranked[0].score - ranked[1].score) / ranked[0].score, 3)
    foreign = request.language is not None and request.language not in index.languages
    enough = ENOUGH
    # One shared word among several is often a coincidence, so it must be a strong one.
    if ranked and len(ranked[0].evidence) == 1:
        doubtful = _may_be_homonym(ranked[0].evidence[0]) or not request.requests
        if len(request.terms) > 1:
            enough = _ENOUGH_OF_DOUBTFUL_WORD if doubtful else ENOUGH_OF_ONE_WORD
        if doubtful and not request.explicit and request.language is None:
            enough = 1.0  # "fair enough" is not a request to a role that plans fairs
    elif ranked and request.factor <= PERSONAL_FACTOR and all(map(_may_be_homonym, ranked[0].evidence)):
        enough = _ENOUGH_OF_DOUBTFUL_WORD
    if request.language in index.languages:
        enough *= FOREIGN_SHARE
    if ranked and ranked[0].role in learned.roles and by_words.get(ranked[0].role, 0.0) < _NAMED_SCORE - 0.1:
        most = _MAX_IDLE_IN_TALK if request.small_talk else _MAX_IDLE
        enough = _ENOUGH_OF_LEARNED if learned.idle <= most else 1.0
    if not ranked or by_words.get(ranked[0].role, 0.0) < enough:
        outcome = "nothing" if not request.terms else "weak"
        outcome = "small_talk" if request.small_talk else "language" if foreign else outcome
    elif margin is not None and margin < clear and ranked[0].evidence[0].kind != "example":
        outcome = "close"
    else:
        outcome = "role"
    return Ranking(ranked, outcome, margin, request.language, clear)


def _may_be_homonym(evidence: Evidence) -> bool:
    """Whether a word is only related to the words of a role. An act and a phrase are more than one word."""
    return evidence.kind == "alike" and not evidence.stem.startswith("~") and " " not in evidence.stem


def find_nearest_domain(
    evidence: Sequence[Evidence], domains: Iterable[tuple[str, Iterable[str]]]
) -> str | None:
    """The domain that the text is about, or the domain whose texts contain most of the words that supported a role."""
    best, most = None, 0.0
    learned = next((each.stem for each in evidence if each.kind == "learned"), None)
    for domain, texts in domains:
        if domain == learned:
            return domain
        stems, groups = _collect_stems_and_groups(tuple(texts))
        amount = sum(
            each.amount * (1.0 if each.stem in stems else 0.5)
            for each in evidence
            if each.stem in stems or any(key in groups for key in map_groups_by_stem().get(each.stem, ()))
        )
        if amount > most:
            best, most = domain, amount
    return best


def say_why(ranked: Ranked) -> str:
    """Explain in a few words why a role fits a message."""
    words = ", ".join(list(dict.fromkeys(f"`{each.word}`" for each in ranked.evidence if each.word))[:3])
    learned = next((each.stem for each in ranked.evidence if each.kind == "learned"), None)
    if learned is None:
        return f"the message says {words}"
    kind = {LEADING: "leading others", COMMAND: "being in charge"}.get(learned, f"`{learned}`")
    return f"the message says {words} and is about {kind}" if words else f"the message is about {kind}"


@lru_cache(maxsize=1_024)
def _collect_stems_and_groups(texts: tuple[str, ...]) -> tuple[frozenset[str], frozenset[str]]:
    stems = frozenset(word for text in texts for word in extract_content(text))
    return stems, frozenset(key for word in stems for key in map_groups_by_stem().get(word, ()))


def _look_up(index: TextIndex, stem: str, topics: bool) -> Postings:
    """The weight of a word for each role: its own, or through related words."""
    known = index.merged.get((stem, topics))
    if known is not None:
        return known
    # A copy, because the postings of the index are shared by all requests.
    postings = dict(index.terms.get(stem, {}))
    # The strongest relation is used, not their sum: a word must not weigh more because it is in several groups.
    if topics:
        for role, value in _gather(index, map_groups_by_stem().get(stem, ())).items():
            postings[role] = max(value, postings.get(role, 0.0))
        if not is_weak(stem):
            of = map_trades_by_stem().get(stem, ())
            by_trade = _gather(index, of, stem)
            if by_trade:
                # A word of many trades carries little weight, and so does a word of trades that several roles share.
                shared = sum(by_trade.values()) / max(by_trade.values())
                specific = len(of) ** -_AMBIGUITY_EXPONENT / math.sqrt(shared)
                for role, value in by_trade.items():
                    postings[role] = max(value * specific, postings.get(role, 0.0))
    own = index.terms.get(stem)
    if own:
        # What roles declare decides before lists of words: a role that uses a word has more of it than the others.
        most = _ALIKE_CAP * max(postings[role] for role in own)
        postings = {role: value if role in own else min(value, most) for role, value in postings.items()}
    if len(postings) > _MAX_ROLES_OF_WORD:
        postings = dict(nlargest(_MAX_ROLES_OF_WORD, postings.items(), key=lambda each: each[1]))
    # Requests are foreign text with any number of words, so the cache of a long-lived host needs a limit.
    if len(index.merged) > 20_000:
        index.merged.clear()
    index.merged[stem, topics] = postings
    return postings


def _is_known(index: TextIndex, stem: str) -> bool:
    """Whether a word belongs to the work of any role."""
    return stem in index.terms or any(
        max(index.topics[key].values()) >= _MIN_KNOWN
        for key in map_trades_by_stem().get(stem, ())
        if key in index.topics
    )


def _is_elsewhere(index: TextIndex, stem: str) -> bool:
    """Whether a word belongs to trades that no role has."""
    of = map_trades_by_stem().get(stem)
    return (
        of is not None
        and stem not in _OBJECT_STEMS
        and stem not in index.terms
        and not any(key in index.topics for key in of)
    )


def _gather(index: TextIndex, keys: Iterable[str], hint: str | None = None) -> dict[int, float]:
    """The highest weight from groups or trades for each role."""
    postings: dict[int, float] = {}
    for key in keys:
        held = index.topics.get(key)
        if held is None:
            continue
        scale = _HINT_WEIGHT if hint is not None and hint in list_trades()[key].hints else 1.0
        for role, value in held.items():
            if value * scale > postings.get(role, 0.0):
                postings[role] = value * scale
    return postings


def _iterate_pairs(terms: Sequence[Term]) -> Iterable[tuple[str, float]]:
    """Pairs of words that are near each other."""
    for at, first in enumerate(terms):
        for later, second in enumerate(terms[at + 1 : at + 3]):
            yield (
                f"{first.stem} {second.stem}",
                min(first.weight, second.weight, 1.0) * (1.0 if later == 0 else 0.7),
            )


def _is_like(whole: Sequence[str], other: frozenset[str]) -> bool:
    word_set = set(whole)
    return bool(other) and len(word_set & other) >= 0.7 * max(len(word_set), len(other))


def _find_evidence(
    index: TextIndex,
    request: RequestText,
    role: int,
    exact: int | None,
    learned: _Learned,
    declared: Sequence[DeclaredMatch] = (),
) -> tuple[Evidence, ...]:
    evidence: list[Evidence] = []
    if role == exact:
        evidence.append(Evidence("", build_example_key(request.whole), 10.0, "example"))
    if role in request.addressed:
        evidence.append(Evidence(index.roles[role], "", 9.0, "name"))
    evidence.extend(
        Evidence(each.words, each.key, 1.0 + each.strength, each.kind)
        for each in declared
        if each.strength > 0
    )
    for term in request.terms:
        value = _look_up(index, term.stem, not request.creative).get(role)
        if value:
            direct = index.terms.get(term.stem, {}).get(role, 0.0) >= value
            evidence.append(
                Evidence(term.word, term.stem, term.weight * value, "word" if direct else "alike")
            )
    evidence.sort(key=lambda each: -each.amount)
    kinds = learned.roles.get(role, {})
    likeliest = max(kinds, key=kinds.__getitem__, default="")
    if likeliest and kinds[likeliest] >= WORTH_SHOWING:
        evidence.append(Evidence("", likeliest, round(kinds[likeliest], 3), "learned"))
    return tuple(evidence)


# -- as JSON -----------------------------------------------------------------------------------------------------------


def encode_index(index: TextIndex) -> dict[str, Any]:
    """The index as plain JSON."""
    return {
        "roles": list(index.roles),
        "priors": list(index.priors),
        "terms": {word: _flatten(held) for word, held in sorted(index.terms.items())},
        "topics": {word: _flatten(held) for word, held in sorted(index.topics.items())},
        "leads": {str(role): list(below) for role, below in sorted(index.leads.items())},
        "names": [[*name, role] for entries in index.names.values() for name, role in entries],
        "examples": dict(sorted(index.examples.items())),
        "not_examples": {
            str(role): [sorted(each) for each in sets] for role, sets in sorted(index.not_examples.items())
        },
        "languages": sorted(index.languages),
        "domains": {domain: list(roles) for domain, roles in sorted(index.domains.items())},
        "phrases": [
            [list(each.stems), list(each.roles), each.ordered, each.negated] for each in index.phrases
        ],
    }


def _flatten(held: Postings) -> list[float]:
    return [number for each in sorted(held.items()) for number in each]


def read_index(data: Mapping[str, Any]) -> TextIndex:
    """Read the index in decoded JSON. Raises `ValueError`, `TypeError` or `KeyError` if it is not valid."""
    roles = tuple(data["roles"])
    priors = tuple(float(each) for each in data["priors"])
    if len(priors) != len(roles) or not all(isinstance(each, str) for each in roles):
        raise ValueError("it does not have one weight for each role")
    names: dict[str, list[tuple[tuple[str, ...], int]]] = {}
    for *name, role in data["names"]:
        names.setdefault(str(name[0]), []).append((tuple(map(str, name)), _check_role_number(role, roles)))
    return TextIndex(
        roles,
        priors,
        _build_postings(data["terms"], roles),
        _build_postings(data["topics"], roles),
        {
            _check_role_number(int(role), roles): tuple(_check_role_number(each, roles) for each in below)
            for role, below in data["leads"].items()
        },
        {first: tuple(entries) for first, entries in names.items()},
        {str(key): _check_role_number(role, roles) for key, role in data["examples"].items()},
        {
            _check_role_number(int(role), roles): tuple(frozenset(map(str, each)) for each in sets)
            for role, sets in data["not_examples"].items()
        },
        frozenset(map(str, data["languages"])),
        {
            str(domain): tuple(_check_role_number(role, roles) for role in handling)
            for domain, handling in data.get("domains", {}).items()
        },
        tuple(
            Phrase(
                tuple(map(str, stems)),
                tuple(_check_role_number(each, roles) for each in handling),
                bool(ordered),
                bool(negated),
            )
            for stems, handling, ordered, negated in data.get("phrases", ())
            if stems
        ),
    )


def _build_postings(flat: Mapping[str, Sequence[Any]], roles: Sequence[str]) -> dict[str, Postings]:
    """The weights of each word for the roles. All numbers are checked at once, because there are thousands of words."""
    for role in set(chain.from_iterable(numbers[::2] for numbers in flat.values())):
        _check_role_number(role, roles)
    amounts = list(chain.from_iterable(numbers[1::2] for numbers in flat.values()))
    if not set(map(type, amounts)) <= {float, int} or not math.isfinite(sum(amounts)):
        raise ValueError("a weight of a word is not a number for a role")
    return {word: dict(zip(numbers[::2], numbers[1::2], strict=True)) for word, numbers in flat.items()}


def _check_role_number(role: Any, roles: Sequence[str]) -> int:
    if type(role) is not int or not 0 <= role < len(roles):
        raise ValueError(f"it names role number {str(role)[:20]}, and there are {len(roles)}")
    return role
