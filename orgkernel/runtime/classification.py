"""Find the task domain of a message by the triggers and examples that the domains declare.

This is used where the host has no classifier. It is deterministic and conservative: a role that is active by mistake
takes tools away, while no role changes nothing. So one common word is not enough evidence, the best domain must stand
alone, and a passthrough domain (conversation) is the answer only if the message mentions no work.

Evidence for a domain counts in points. A trigger in the message counts one point for each of its words. An example that
the message repeats in other words counts three, word for word ten. Words at the start count double. A single trigger of
one word counts only together with another word that the catalog uses about work, or with something that looks like code
or a file name. Two other words may stand between the words of a trigger: `write a small Go function` contains
`write a function`.

Standard library only: this module also runs inside hosts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

MOST_CHARACTERS: Final = 4_000
"""How many characters of a message are read: the request comes before pasted text."""
_START: Final = 40
_OF_EXAMPLE, _OF_SAME_EXAMPLE = 3, 10
LIKE_AN_EXAMPLE: Final = "an example"
"""Stands for evidence that is not a quote from the message."""
_GAP: Final = 2
_LEAST_SHARED: Final = 3
_SHARE: Final = 0.7

_WORD: Final = re.compile(r"\.?[a-z0-9]+(?:[._+#/-][a-z0-9]+)*")
_LIKE_CODE: Final = re.compile(r"`[^`]+`|\w+\(\)|\w+_\w+|[\w-]+\.[a-z]{1,4}\b(?!\.)|(?<!\w)/\w+/\w+")
_SUFFIXES: Final = ("ings", "ing", "ed", "es", "s")
_STOP: Final = frozenset(
    """
    about after again all also and another any are ask because been before being between both but can
    could did does doing down each every few find for from get give has have having here him his how
    into its just know let like make many may me more most much my need new not now of off on once one
    only or other our out over own please same say see set she should show so some such take tell than
    that the their them then there these they this those through time to too try up us use used very
    want was we were what when where which while who whom why will with work would yes you your
    """.split()  # noqa: SIM905
)


class DomainWords(NamedTuple):
    """The texts of a domain that messages are compared with."""

    examples: tuple[str, ...] = ()
    triggers: tuple[str, ...] = ()
    passthrough: bool = False


@dataclass(frozen=True, slots=True)
class Classifier:
    """Domains prepared for comparison. Build it once per bundle."""

    triggers: Mapping[str, tuple[tuple[tuple[str, ...], str], ...]]
    """Triggers by their first stem: all stems and the domain."""
    examples: tuple[tuple[tuple[str, ...], frozenset[str], str], ...]
    """For each example: all its stems, the stems that carry meaning, and its domain."""
    vocabulary: frozenset[str]
    """Stems of all texts about work."""
    passthrough: frozenset[str]


@dataclass(frozen=True, slots=True)
class Classification:
    """What a message is about: the domains with the most evidence, and that evidence in the words of the message.

    There is no domain if the evidence is too weak. Several domains are tied; the caller may settle a tie if one role
    takes all of them.
    """

    domains: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()
    points: int = 0


def build_classifier(domains: Mapping[str, DomainWords]) -> Classifier:
    """Prepare the domains of a catalog for comparison with messages."""
    triggers: dict[str, list[tuple[tuple[str, ...], str]]] = {}
    examples = []
    vocabulary: set[str] = set()
    for domain, words in domains.items():
        for trigger in words.triggers:
            stems = tuple(stems_of(trigger))
            if stems:
                triggers.setdefault(stems[0], []).append((stems, domain))
        for text in words.examples:
            stems = tuple(stems_of(text))
            examples.append((stems, frozenset(_content(stems)), domain))
        if not words.passthrough:
            for text in (*words.examples, *words.triggers):
                vocabulary.update(_content(stems_of(text)))
    return Classifier(
        {stem: tuple(sorted(found, key=lambda each: -len(each[0]))) for stem, found in triggers.items()},
        tuple(examples),
        frozenset(vocabulary),
        frozenset(domain for domain, words in domains.items() if words.passthrough),
    )


def classify(classifier: Classifier, message: str) -> Classification:
    """The domains that a message is most about. A domain of work needs clear evidence; a passthrough domain does not."""
    message = message[:MOST_CHARACTERS]
    words_said = _WORD.findall(message.lower())
    stems = [_stem(word) for word in words_said]
    found = _find_triggers(classifier, stems)
    points: dict[str, int] = {}
    evidence: dict[str, list[str]] = {}
    for (trigger, domain), (place, end) in found.items():
        points[domain] = points.get(domain, 0) + len(trigger) * (2 if place < _START else 1)
        evidence.setdefault(domain, []).append(" ".join(words_said[place:end]))
    content = frozenset(_content(stems))
    for words, example, domain in classifier.examples:
        same, shared = words == tuple(stems), len(example & content)
        if same or (shared >= _LEAST_SHARED and shared >= _SHARE * max(len(example), len(content))):
            points[domain] = points.get(domain, 0) + (_OF_SAME_EXAMPLE if same else _OF_EXAMPLE)
            evidence.setdefault(domain, []).append(LIKE_AN_EXAMPLE)
    work = {domain: sum_ for domain, sum_ in points.items() if domain not in classifier.passthrough}
    candidates = work or points
    if not candidates:
        return Classification()
    most = max(candidates.values())
    best = tuple(domain for domain, sum_ in candidates.items() if sum_ == most)
    if work and not _is_enough(
        classifier, message, content, [key for key in found if key[1] in best], best, evidence
    ):
        return Classification()
    return Classification(best, tuple(evidence[best[0]]), most)


def _find_triggers(
    classifier: Classifier, stems: list[str]
) -> dict[tuple[tuple[str, ...], str], tuple[int, int]]:
    """Each trigger in the message with the start and end of its first place. A longer trigger hides shorter ones in it."""
    found: dict[tuple[tuple[str, ...], str], tuple[int, int]] = {}
    taken = 0
    for place, stem in enumerate(stems):
        if place < taken:
            continue
        for trigger, domain in classifier.triggers.get(stem, ()):
            end = _match(trigger, stems, place)
            if end is not None:
                found.setdefault((trigger, domain), (place, end))
                taken = end
                break
    return found


def _match(trigger: tuple[str, ...], stems: list[str], place: int) -> int | None:
    """Where a trigger that begins at a place ends. Gaps are allowed if it has more than one word that carries meaning."""
    gap = _GAP if len(tuple(_content(trigger))) > 1 else 0
    for stem in trigger[1:]:
        nearby = stems[place + 1 : place + 2 + gap]
        if stem not in nearby:
            return None
        place += 1 + nearby.index(stem)
    return place + 1


def _is_enough(
    classifier: Classifier,
    message: str,
    content: frozenset[str],
    triggers: list[tuple[tuple[str, ...], str]],
    best: tuple[str, ...],
    evidence: Mapping[str, list[str]],
) -> bool:
    if any(LIKE_AN_EXAMPLE in evidence[domain] for domain in best):
        return True
    if any(len(trigger) > 1 for trigger, _ in triggers) or len(triggers) > len(best):
        return True
    own = {stem for trigger, _ in triggers for stem in trigger}
    beside = content - own
    known = {stem for stem in beside if {stem, stem.removesuffix("er")} & classifier.vocabulary}
    return bool(known) or _LIKE_CODE.search(message) is not None


def stems_of(text: str) -> list[str]:
    """The stems of the words of a text, in order."""
    return [_stem(word) for word in _WORD.findall(text.lower())]


def _stem(word: str) -> str:
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= 3:
            word = word[: -len(suffix)]
            break
    if (len(word) > 3 and word[-1] in "ey") or (len(word) > 4 and word[-1] == "i"):
        word = word[:-1]
    return word


_STOP_STEMS: Final = frozenset(_stem(word) for word in _STOP)


def _content(stems: Iterable[str]) -> Iterable[str]:
    return (stem for stem in stems if len(stem) > 2 and stem not in _STOP_STEMS)
