"""What an organization's own examples and triggers lead to, and which roles sentences cannot tell apart.

Every declared example and trigger is asked as a sentence. An example is asked a second time as if it were not
declared, which shows where similar sentences go. Pairs of roles that get in each other's way are listed with the words that
tell them apart.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Literal, NamedTuple

import msgspec

from orgkernel.decisions.dispatch.embedding import Embedder, find_similar
from orgkernel.decisions.dispatch.order import rank_handlers
from orgkernel.decisions.dispatch.role_texts import get_text_index, get_text_sources, list_domain_texts
from orgkernel.decisions.reasons import Why, cite_place
from orgkernel.diagnostics import Place
from orgkernel.graph.memo import PerView
from orgkernel.graph.questions import OrgView
from orgkernel.graph.records import RolePost
from orgkernel.runtime.text_index import TextIndex, build_example_key, extract_content, rank_roles
from orgkernel.runtime.word_forms import clean, find_tokens, join_words

FRAME = "We need help with {}"
"""The sentence in which a trigger is asked. It has no word about any work."""
_SHOWN_WORDS = 5
_SHOWN_ROLES = 3
_KINDS = {"domain_example": "example", "domain_trigger": "trigger"}


class DeclaredSentence(NamedTuple):
    """An example or a trigger, and the role that should take it."""

    kind: Literal["example", "trigger"]
    text: str
    domain: str | None
    """The domain that declares it. None for an example of the role itself."""
    role_id: str
    locate: Callable[[], Place]
    """Looks up its place, which takes longer than all the rest: only few sentences are shown."""
    is_own: bool
    """Whether the organization declares it itself, and not a shared catalog."""

    @property
    def place(self) -> Place:
        """Its place in the documents."""
        return self.locate()


class RoutedSentence(msgspec.Struct, frozen=True):
    """An example or a trigger that does not lead to its role."""

    kind: Literal["example", "trigger"]
    text: str
    domain: str | None
    role_id: str
    """The role that should take it."""
    taker: str | None
    """The role that takes it. None if no role does."""
    shortlist: tuple[str, ...]
    why: tuple[Why, ...]


class RolePair(msgspec.Struct, frozen=True):
    """Two roles that sentences confuse, and the words that tell them apart."""

    first: str
    second: str
    count: int
    """The number of declared sentences of one of them that the other takes, or that are too close to decide."""
    words_of_first: tuple[str, ...]
    """Words that support only the first role, strongest first. Without any, it needs examples or triggers of its own."""
    words_of_second: tuple[str, ...]


class RoutingReport(msgspec.Struct, frozen=True):
    """Where the declared examples and triggers of an organization lead."""

    org_id: str
    examples: int
    examples_right: int
    triggers: int
    triggers_right: int
    similar: int
    """The number of examples that were asked a second time as if they were not declared."""
    similar_right: int
    similar_wrong: int
    misrouted: tuple[RoutedSentence, ...]
    """Declared sentences that their role does not take."""
    unsure: tuple[RoutedSentence, ...]
    """Examples that another role would take if they were not declared: similar sentences go there."""
    pairs: tuple[RolePair, ...]
    """Roles that sentences confuse, the most frequent pair first."""
    uses_meaning: bool
    """Whether an embedding model took part."""
    snapshot: str


def list_declared_sentences(view: OrgView) -> Iterator[DeclaredSentence]:
    """The examples of all roles, and the examples and triggers of the domains that roles handle."""
    for role_id, post in view.records.posts.items():
        for number, text in enumerate(post.profile.examples):
            locate = partial(_locate_example, post, number)
            yield DeclaredSentence("example", text, None, role_id, locate, True)
    for domain, candidates in rank_handlers(view):
        for source in list_domain_texts(view, domain):
            kind = _KINDS.get(source.field)
            if kind is not None:
                yield DeclaredSentence(
                    "example" if kind == "example" else "trigger",
                    source.text,
                    domain,
                    candidates[0].role_id,
                    source.place,
                    view.records.domains[domain].own,
                )


def _locate_example(post: RolePost, number: int) -> Place:
    return post.locate_items("examples")[number]


def report_routing(view: OrgView, embedder: Embedder | None = None) -> RoutingReport:
    """Ask every declared sentence of an organization, and say where it leads.

    It takes as long as a thousand requests, so a snapshot keeps its report.
    """
    reports = _get_reports(view)
    if embedder not in reports:
        reports[embedder] = _build_report(view, embedder)
    return reports[embedder]


@PerView
def _get_reports(view: OrgView) -> dict[Embedder | None, RoutingReport]:
    return {}


def _build_report(view: OrgView, embedder: Embedder | None) -> RoutingReport:
    index = get_text_index(view)
    counts: Counter[tuple[str, bool]] = Counter()
    confused: Counter[tuple[str, str]] = Counter()
    misrouted, unsure = [], []
    for sentence in list_declared_sentences(view):
        question = sentence.text if sentence.kind == "example" else FRAME.format(sentence.text)
        similar = None if embedder is None else find_similar(view, question, embedder)
        routed = _ask(index, sentence, question, similar, None)
        counts[sentence.kind, routed.taker == sentence.role_id] += 1
        if routed.taker != sentence.role_id:
            misrouted.append(routed)
            _count_confusion(confused, routed)
        elif sentence.kind == "example":
            key = build_example_key(extract_content(sentence.text))
            again = _ask(index, sentence, question, similar, key)
            counts["similar", again.taker == sentence.role_id] += 1
            if again.taker not in (None, sentence.role_id):
                unsure.append(again)
            if again.taker != sentence.role_id:
                _count_confusion(confused, again)
    return RoutingReport(
        view.org_id,
        counts["example", True] + counts["example", False],
        counts["example", True],
        counts["trigger", True] + counts["trigger", False],
        counts["trigger", True],
        counts["similar", True] + counts["similar", False],
        counts["similar", True],
        len(unsure),
        tuple(misrouted),
        tuple(unsure),
        tuple(_build_pair(view, index, pair, count) for pair, count in confused.most_common()),
        embedder is not None,
        view.digest,
    )


def _ask(
    index: TextIndex,
    sentence: DeclaredSentence,
    text: str,
    similar: Mapping[int, float] | None,
    unknown_example: str | None,
) -> RoutedSentence:
    ranking = rank_roles(index, text, similar=similar, unknown_example=unknown_example)
    names = tuple(index.roles[each.role] for each in ranking.ranked[:_SHOWN_ROLES])
    return RoutedSentence(
        sentence.kind,
        sentence.text,
        sentence.domain,
        sentence.role_id,
        names[0] if ranking.outcome == "role" else None,
        names,
        (cite_place(f"{sentence.kind} {sentence.text}", sentence.place),),
    )


def _count_confusion(confused: Counter[tuple[str, str]], routed: RoutedSentence) -> None:
    rival = next((each for each in routed.shortlist if each != routed.role_id), None)
    if rival is not None:
        first, second = sorted((routed.role_id, rival))
        confused[first, second] += 1


def _build_pair(view: OrgView, index: TextIndex, pair: tuple[str, str], count: int) -> RolePair:
    first, second = pair
    return RolePair(
        first,
        second,
        count,
        _list_telling_words(view, index, first, second),
        _list_telling_words(view, index, second, first),
    )


def _list_telling_words(view: OrgView, index: TextIndex, role_id: str, other_id: str) -> tuple[str, ...]:
    """The words that one of two roles uses and the other does not, the strongest first."""
    role, other = index.roles.index(role_id), index.roles.index(other_id)
    texts = (source.text for source in get_text_sources(view, role_id))
    written: dict[str, str] = {}
    for text in texts:
        for token in find_tokens(join_words(clean(text.replace("_", " "), 1_000))):
            written.setdefault(token.stem, token.text)
    words = [
        (weights[role], written[stem])
        for stem, weights in index.terms.items()
        if role in weights and other not in weights and stem in written
    ]
    ranked = sorted(words, key=lambda each: (-each[0], each[1]))
    return tuple(dict.fromkeys(word for _, word in ranked[: 2 * _SHOWN_WORDS]))[:_SHOWN_WORDS]
