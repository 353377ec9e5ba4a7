"""Rank: the matrix for a tool limits the level of each rank of the crew."""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.decisions.access.decision import RemedyChange
from orgkernel.decisions.access.evaluation import Assumptions, Evaluation
from orgkernel.decisions.access.layer import AccessLayer, LayerStep, ReasonCode, Sentence, Target
from orgkernel.decisions.access.subject import Subject, get_rank_number, get_rank_of_trust
from orgkernel.decisions.access.waivers import describe_waived_level
from orgkernel.decisions.evidence.state_view import ALL_ORGANIZATIONS, StateView
from orgkernel.decisions.reasons import cite_place
from orgkernel.decisions.refusals import NO_RANK
from orgkernel.diagnostics.wording import quote
from orgkernel.documents.records import LEVELS
from orgkernel.graph.questions import OrgView


def get_current_rank(
    view: OrgView, state: StateView, subject: Subject, assumed: Assumptions | None = None
) -> int:
    """The position of a subject's rank on the ladder: as assumed, stored, or reached by stored trust; else the initial one."""
    if assumed is not None and assumed.rank is not None:
        return assumed.rank
    stored = state.agents.get(subject.identity.id) if subject.is_agent else None
    if stored is None:
        return subject.rank
    if stored.rank is not None:
        rank = get_rank_number(view, stored.rank)
    elif stored.trust is not None and not subject.has_rank:
        rank = get_rank_of_trust(view, stored.trust)
    else:
        return subject.rank
    # A row for all organizations can lower a rank here and never raise it: no organization promotes agents in another one.
    return min(rank, subject.rank) if stored.org_id == ALL_ORGANIZATIONS else rank


def _get_rank(evaluation: Evaluation) -> int:
    return get_current_rank(evaluation.view, evaluation.state, evaluation.subject, evaluation.assumed)


def _compile(target: Target) -> LayerStep | None:
    levels, required = target.resource.rank_levels, target.required
    if levels is None or not target.is_crew:
        return None
    # Only the rank of an agent changes; the store contains it.
    is_stored = target.group == "agent"

    def cap(evaluation: Evaluation) -> None:
        if evaluation.essential:
            return
        is_fixed = not is_stored and evaluation.assumed is None
        top = levels[evaluation.subject.rank if is_fixed else _get_rank(evaluation)]
        lifted = evaluation.given.waives
        if lifted:
            # A grant is recorded as needed only if the rank alone was too low. Otherwise it would be spent for nothing.
            reached = top >= required
            top = max(top, lifted.get("rank", 0))
            if top >= required and not reached:
                evaluation.spared |= RANK_TOO_LOW.bit
        evaluation.ceiling = min(evaluation.ceiling, top)
        if top < required:
            evaluation.failing |= RANK_TOO_LOW.bit

    return cap


def _explain_rank_too_low(evaluation: Evaluation) -> Sentence:
    text, why = _explain_limit(evaluation)
    needed = quote(LEVELS[evaluation.required])
    return f"{text}, and {needed} is required{describe_waived_level(evaluation.given.waives, 'rank')}", why


def _explain_capped(evaluation: Evaluation) -> Sentence | None:
    if evaluation.resource.rank_levels is None:
        return None
    text, why = _explain_limit(evaluation)
    return f"{text}{describe_waived_level(evaluation.given.waives, 'rank')}", why


def _explain_limit(evaluation: Evaluation) -> Sentence:
    """The highest level that the rank of the subject allows, with its line."""
    view = evaluation.view
    row = view.records.get_rank_row(evaluation.resource.id)
    assert row is not None
    step = _get_rank(evaluation)
    rank = view.records.ranks[step].id if step >= 0 else None
    level = LEVELS[0] if rank is None else row.levels[rank]
    held = NO_RANK if rank is None else f"rank {quote(rank)}"
    allowed = "no level" if level == LEVELS[0] else f"level {quote(level)}"
    text = f"{evaluation.who} has {held}, which allows {allowed} of {evaluation.what}"
    return text, (cite_place(row.statement, row.place),)


def _propose_promotion(evaluation: Evaluation) -> Iterator[RemedyChange]:
    """Propose the lowest rank that is high enough."""
    levels, view = evaluation.resource.rank_levels, evaluation.view
    if levels is None:
        return
    now = get_current_rank(view, evaluation.state, evaluation.subject)
    for step, rank in enumerate(view.records.ranks):
        if step > now and levels[step] >= evaluation.required:
            yield RemedyChange("rank", rank.id)
            return


RANK_TOO_LOW = ReasonCode(
    "RANK_TOO_LOW", _explain_rank_too_low, remedies=("rank", "grant", "role"), waiver="rank"
)
RANK = AccessLayer(
    "rank",
    (RANK_TOO_LOW,),
    _compile,
    explains={"ceiling": _explain_capped},
    changes={"rank": _propose_promotion},
)
