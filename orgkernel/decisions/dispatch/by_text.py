"""Dispatch by a sentence: the role whose own words it fits best, if one clearly fits (docs/dispatch.md).

The ranking is `orgkernel.runtime.text_index`, which hosts also use. A sentence that matches no role, or two roles
equally well, returns `not_applicable` with the shortlist. Activating a wrong role would withhold tools, whereas without
a role the host continues unchanged.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from orgkernel.decisions.dispatch.answer import answer_with_role, build_lacking_reason
from orgkernel.decisions.dispatch.by_domain import (
    SHOWN_CANDIDATES,
    Considered,
    DispatchDecision,
    RankedCandidate,
)
from orgkernel.decisions.dispatch.embedding import Embedder, find_similar
from orgkernel.decisions.dispatch.role_texts import (
    TextSource,
    get_text_index,
    get_text_sources,
    list_domain_texts,
    map_words_to_sources,
)
from orgkernel.decisions.reasons import Reason, Why, cite_edge, cite_place
from orgkernel.decisions.refusals import say_unequipped
from orgkernel.diagnostics.wording import listing, quote
from orgkernel.graph.questions import OrgView
from orgkernel.graph.schema import EdgeKind
from orgkernel.runtime.declared_phrases import build_trigger_key
from orgkernel.runtime.languages import begin
from orgkernel.runtime.learned_work import COMMAND, LEAD
from orgkernel.runtime.request_text import MAX_CHARACTERS
from orgkernel.runtime.text_index import (
    FIELDS,
    Evidence,
    Ranked,
    Ranking,
    TextIndex,
    build_example_key,
    extract_content,
    find_nearest_domain,
    rank_roles,
)
from orgkernel.runtime.word_topics import (
    list_trades,
    map_groups_by_stem,
    map_trades_by_stem,
    map_words_by_group,
)

_WORDS_TOLD = 4
_SUBORDINATES_TOLD = 2
_QUOTED = 80


def decide_by_text(
    view: OrgView,
    text: str,
    *,
    needs: Sequence[str] = (),
    all_considered: bool = False,
    embedder: Embedder | None = None,
) -> DispatchDecision:
    """The role that takes the task in a sentence. Takes bounded time for any text and never raises."""
    index = get_text_index(view)
    # The time for an answer must not grow with what a stranger sends.
    query = text[:MAX_CHARACTERS]
    shown = len(index.roles) if all_considered else SHOWN_CANDIDATES + 1
    similar = None if embedder is None else find_similar(view, query, embedder)
    lacking = find_lacking(view, index, needs)
    without = frozenset(number for number, role_id in enumerate(index.roles) if lacking.get(role_id))
    ranking = rank_roles(index, query, shown, without, similar)
    # Roles without a needed tool are ranked a second time only to report them. They must not lower the margin of the
    # others.
    passed = [
        index.roles[each.role]
        for each in (rank_roles(index, query, shown, similar=similar).ranked if without else ())
        if each.role in without
    ]
    candidates = tuple(_build_candidate(view, index, each, similar) for each in ranking.ranked)
    if ranking.outcome != "role":
        reason = _explain_no_taker(view, index, ranking, candidates, passed, lacking)
        considered = tuple(
            Considered(each.role_id, reason.code, f"its score is {each.score}", _locate_sources(each))
            for each in candidates
        )
        considered += tuple(_explain_lack(view, role_id, lacking) for role_id in passed)
        return DispatchDecision(
            "not_applicable", query, None, None, None, (), (), (), (), (reason,),
            considered, len(considered), view.digest, candidates, ranking.margin,
        )  # fmt: skip
    best = candidates[0]
    others = tuple(
        Considered(each.role_id, "LOWER_SCORE", f"role {quote(best.role_id)} fits better: {best.score} against {each.score}", _locate_sources(each))
        for each in candidates[1:]
    ) + tuple(_explain_lack(view, role_id, lacking) for role_id in passed)  # fmt: skip
    domains = (
        (edge.target, (each.text for each in list_domain_texts(view, edge.target)))
        for edge in view.list_domains(best.role_id)
    )
    return answer_with_role(
        view,
        query,
        best.role_id,
        find_nearest_domain(ranking.ranked[0].evidence, domains),
        (_explain_fit(best, ranking.ranked[0]), _explain_choice(candidates, ranking)),
        others,
        len(others),
        candidates,
        ranking.margin,
    )


def find_lacking(view: OrgView, index: TextIndex, needs: Sequence[str]) -> dict[str, list[str]]:
    """The needed tools that each role lacks."""
    if not needs:
        return {}
    holders = {}
    for tool in needs:
        held = {
            role_id
            for role_id, attribute in view.list_ends_to(EdgeKind.EQUIPPED_WITH, tool)
            if not attribute.endswith(":none")
        }
        if tool not in view.records.tools:
            held = set()
        elif any(tool == each for each, _ in view.essential):
            held.update(role_id for role_id in index.roles if tool in view.list_essential_tools(role_id))
        holders[tool] = held
    return {role_id: [tool for tool in needs if role_id not in holders[tool]] for role_id in index.roles}


def _build_candidate(
    view: OrgView, index: TextIndex, ranked: Ranked, similar: dict[int, float] | None
) -> RankedCandidate:
    role_id = index.roles[ranked.role]
    learned = [each for each in ranked.evidence if each.kind == "learned"]
    words = [each for each in ranked.evidence if each.kind != "learned"][:_WORDS_TOLD]
    reasons = [_explain(view, role_id, each) for each in (*words, *learned)]
    # The reason is given even if it changed nothing: an operator who installed the model wants to see its part.
    if similar is not None:
        near = similar.get(ranked.role, 0.0)
        text = f"the embedding model rates the similarity in meaning of the text and role {quote(role_id)} at {near:.2f} of 1"
        reasons.append(Reason("SIMILAR_MEANING", text))
    return RankedCandidate(role_id, ranked.score, tuple(reasons))


class _Found(NamedTuple):
    source: TextSource
    word: str
    """The matching word of the source."""


def _explain(view: OrgView, role_id: str, evidence: Evidence) -> Reason:
    if evidence.kind == "name":
        source = next(each for each in get_text_sources(view, role_id) if each.field == "name")
        return Reason("NAMED", f"the text names role {quote(role_id)}", (_locate_source(source),))
    if evidence.kind in ("example", "similar"):
        return _explain_example(view, role_id, evidence)
    if evidence.kind == "trigger":
        return _explain_trigger(view, role_id, evidence)
    if evidence.kind == "own_name":
        source = next(each for each in get_text_sources(view, role_id) if each.field == "name")
        text = f"{quote(evidence.word)} is only in the name of role {quote(role_id)}"
        return Reason("OWN_NAME", text, (_locate_source(source),))
    if evidence.kind == "learned":
        return _explain_learned(view, role_id, evidence)
    word = quote(evidence.word)
    if evidence.kind == "word":
        own = _find_word(view, role_id, evidence.stem)
        if own is not None:
            return Reason("WORD", f"{word} is in {own.subject}", (_locate_source(own),))
    related_word = _find_related(view, role_id, evidence.stem)
    if related_word is None:
        return Reason("RELATED_WORD", f"{word} belongs to the work of role {quote(role_id)}")
    return Reason(
        "RELATED_WORD",
        f"{word} goes with {quote(related_word.word)} in {related_word.source.subject}",
        (_locate_source(related_word.source),),
    )


def _explain_example(view: OrgView, role_id: str, evidence: Evidence) -> Reason:
    sources = (
        each for each in get_text_sources(view, role_id) if each.field in ("example", "domain_example")
    )
    source = next(
        (each for each in sources if build_example_key(extract_content(each.text)) == evidence.stem), None
    )
    # The shared words come first, because they decided; of an exact example, that is the whole text.
    verb = "the text is" if evidence.kind == "example" else f"{quote(evidence.word)} is similar to"
    of = f"role {quote(role_id)}" if source is None or source.field == "example" else source.subject
    text = f"{verb} {of}" if of.startswith("an example") else f"{verb} an example of {of}"
    return Reason("EXAMPLE", text, () if source is None else (_locate_source(source),))


def _explain_trigger(view: OrgView, role_id: str, evidence: Evidence) -> Reason:
    sources = (each for each in get_text_sources(view, role_id) if each.field in ("domain_trigger", "intent"))
    source = next((each for each in sources if build_trigger_key(each.text) == evidence.stem), None)
    of = "a trigger" if source is None else source.subject
    return Reason(
        "TRIGGER",
        f"{quote(evidence.word)} is {of}",
        () if source is None else (_locate_source(source),),
    )


def _explain_learned(view: OrgView, role_id: str, evidence: Evidence) -> Reason:
    """The reason for learned evidence.

    Learned weights have no line, so the reason cites that the role handles the domain, or leads.
    """
    likely = f"{evidence.amount:.0%} likely to be"
    if evidence.stem in (LEAD, COMMAND):
        whole = (
            "to be in charge of the whole"
            if evidence.stem == COMMAND
            else "to divide or coordinate the work of others"
        )
        below = view.list_edges_to(EdgeKind.REPORTS_TO, role_id)
        return Reason(
            "LEARNED_WORK",
            f"the text is {likely} an order {whole}, and role {quote(role_id)} leads others",
            tuple(map(cite_edge, below[:_SUBORDINATES_TOLD])),
        )
    handled = (edge for edge in view.list_domains(role_id) if edge.target == evidence.stem)
    return Reason(
        "LEARNED_WORK",
        f"the text is {likely} about work of domain {quote(evidence.stem)}",
        tuple(map(cite_edge, islice(handled, 1))),
    )


def _find_word(view: OrgView, role_id: str, stem: str) -> TextSource | None:
    words = map_words_to_sources(view, role_id)
    if stem in words or not stem.endswith("-"):
        return words.get(stem)
    return next((source for word, source in words.items() if begin(word) == stem), None)


def _find_related(view: OrgView, role_id: str, stem: str) -> _Found | None:
    # The ranking knows that a word is related and not to which one, so the nearest word is looked for again, in the
    # order of how close they are: synonyms, then titles of a trade, then other words of the trade.
    weights = _weigh_related(stem)
    best: tuple[float, _Found] | None = None
    for word, source in map_words_to_sources(view, role_id).items():
        if word not in weights:
            continue
        weight = weights[word] * FIELDS[source.field]
        if best is None or weight > best[0]:
            best = weight, _Found(source, word)
    return None if best is None else best[1]


@lru_cache(maxsize=512)
def _weigh_related(stem: str) -> dict[str, float]:
    """How close each word that is related to a word is to it."""
    trades = [list_trades()[key] for key in map_trades_by_stem().get(stem, ())]
    weights = dict.fromkeys((word for trade in trades for word in trade.words), 1.0)
    weights |= dict.fromkeys((title[0] for trade in trades for title in trade.titles), 1.5)
    groups = map_groups_by_stem().get(stem, ())
    weights |= dict.fromkeys((word for group in groups for word in map_words_by_group()[group]), 2.0)
    return weights


def _locate_source(source: TextSource) -> Why:
    text = source.text if len(source.text) <= _QUOTED else f"{source.text[:_QUOTED]}…"
    return cite_place(f"{source.subject}: {text}", source.place())


def _locate_sources(candidate: RankedCandidate) -> tuple[Why, ...]:
    return tuple(dict.fromkeys(why for reason in candidate.reasons for why in reason.why))


def _explain_fit(best: RankedCandidate, ranked: Ranked) -> Reason:
    words = dict.fromkeys(
        each.word
        for each in ranked.evidence[:_WORDS_TOLD]
        if each.kind in ("word", "alike", "trigger", "own_name")
    )
    matched = [listing(words)] if words else []
    learned = next((each.stem for each in ranked.evidence if each.kind == "learned"), None)
    if learned is not None:
        kind = {LEAD: "an order to lead others", COMMAND: "an order to take charge"}.get(learned)
        matched.append(kind or f"domain {quote(learned)}")
    return Reason(
        "TEXT_FITS",
        f"role {quote(best.role_id)} is the best match for {' and '.join(matched) or 'the text'} (score {best.score})",
        _locate_sources(best),
    )


def _explain_choice(candidates: Sequence[RankedCandidate], ranking: Ranking) -> Reason:
    if len(candidates) < 2:
        return Reason("ONLY_CANDIDATE", "no other role fits the text")
    second = candidates[1]
    return Reason("HIGHER_SCORE", f"role {quote(candidates[0].role_id)} is preferred to {quote(second.role_id)}: its score is {candidates[0].score} against {second.score}", _locate_sources(second))  # fmt: skip


def _explain_lack(view: OrgView, role_id: str, lacking: dict[str, list[str]]) -> Considered:
    included = view.list_edges_to(EdgeKind.INCLUDES, role_id)
    return Considered(
        role_id,
        "LACKS_TOOL",
        say_unequipped(lacking[role_id]),
        tuple(map(cite_edge, included[:1])),
    )


def _explain_no_taker(
    view: OrgView,
    index: TextIndex,
    ranking: Ranking,
    candidates: Sequence[RankedCandidate],
    unequipped_roles: Sequence[str],
    lacking: dict[str, list[str]],
) -> Reason:
    # That a fitting role lacks the tool is the more useful answer, because the caller can drop the tool or grant it.
    if unequipped_roles and ranking.outcome != "close":
        return build_lacking_reason(
            "fits the text", {role_id: lacking[role_id] for role_id in unequipped_roles}
        )
    if ranking.outcome == "close":
        best = candidates[0].score
        # All roles within the margin, not only the first two: any of them could be meant.
        near = [each.role_id for each in candidates if each.score >= best * (1 - ranking.clear)]
        text = f"the text fits {listing(near)} about equally well (margin {ranking.margin}, needed {ranking.clear}): name the role, or say more about the task"
        return Reason(
            "TEXT_AMBIGUOUS", text, tuple(why for each in candidates[:2] for why in _locate_sources(each)[:1])
        )
    if ranking.outcome == "language":
        text = f"the text seems to be {ranking.language}, and no role has `examples` in this language: add some to the profiles"
        return Reason("TEXT_LANGUAGE", text)
    if ranking.outcome == "small_talk":
        return Reason(
            "TEXT_SMALL_TALK",
            "this looks like small talk or a general question, not a task for a role",
        )
    if ranking.outcome == "nothing":
        return Reason("TEXT_WITHOUT_TASK", "the text does not say what to do")
    if candidates:
        text = f"no role fits the text well enough; the nearest is {quote(candidates[0].role_id)} with score {candidates[0].score}"
        return Reason("TEXT_TOO_WEAK", text, _locate_sources(candidates[0])[:2])
    return Reason("TEXT_TOO_WEAK", "no word of the text matches the work of a role")
