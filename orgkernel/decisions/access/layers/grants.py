"""Grants and restrictions: what is stored for a subject adds to a resource, or leaves no more of it.

The level of a grant counts here. What it waives is looked up before any layer is asked, because a waiver lifts a cap, up to
the level of its own grant, in the layer of that cap.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec.structs import replace

from orgkernel.decisions.access.decision import Outcome, RemedyChange
from orgkernel.decisions.access.evaluation import Evaluation, evaluate
from orgkernel.decisions.access.layer import NEUTRAL, AccessLayer, Move, ReasonCode, Sentence, Target
from orgkernel.decisions.access.layers.policies import ASK_APPROVAL
from orgkernel.decisions.access.resource import Resource
from orgkernel.decisions.access.stored import (
    gather_grants,
    is_active,
    is_stored_for,
    level_in,
    lowest_restriction,
    paths_in,
    replace_stored,
)
from orgkernel.decisions.access.waivers import describe_waivers
from orgkernel.decisions.state_view import Grant, Restriction
from orgkernel.diagnostics.wording import listing, quote
from orgkernel.runtime.utc import as_utc

GRANT_EXPIRED = "GRANT_EXPIRED"
"""Told beside what fails, and none of it: what has expired is absent."""
_MOST_TRIED = 20
"""Expired grants that are tried: whoever asks every day has many, and the last ones are those anybody remembers."""


def _compile(target: Target) -> Move | None:
    return _apply_stored


def _apply_stored(evaluation: Evaluation) -> None:
    given = evaluation.given.level
    if given:
        evaluation.granted = max(evaluation.granted, given)
        if given >= evaluation.required:
            evaluation.sources |= GRANTED.bit
            # Somebody has been asked.
            evaluation.failing &= ~ASK_APPROVAL.bit
    if evaluation.state.restrictions:
        top, _ = _lowest(evaluation)
        evaluation.ceiling = min(evaluation.ceiling, top)
        if top < evaluation.required:
            evaluation.failing |= RESTRICTED.bit


def _lowest(evaluation: Evaluation) -> tuple[int, tuple[Restriction, ...]]:
    """The most that restrictions leave, and which."""
    stored, keys = evaluation.state.restrictions, evaluation.subject.keys
    restrictions = [each for key in keys for each in stored.get(key, ())]
    now = evaluation.request.context.now
    return lowest_restriction(
        restrictions, evaluation.resource, evaluation.path, evaluation.tables.org_id, now
    )


# -- what it says ------------------------------------------------------------------------------------------------------


def _granted(evaluation: Evaluation) -> Sentence:
    required = evaluation.required
    return _giving(evaluation, (grant for grant in _given(evaluation) if grant[1] >= required)), ()


def _given(evaluation: Evaluation) -> Iterator[tuple[Grant, int]]:
    """The grants that count, each with the level it gives."""
    for grant in evaluation.given.grants:
        yield grant, level_in(grant, evaluation.resource, evaluation.path) or 0


def _giving(evaluation: Evaluation, grants: Iterable[tuple[Grant, int]]) -> str:
    """What grants give, those of one level together, the highest first."""
    by_level: dict[int, list[str]] = {}
    for grant, level in grants:
        by_level.setdefault(level, []).append(grant.grant_id)
    names = evaluation.resource.levels
    return "; ".join(
        f"{_naming('grant', by_level[level])} {_verb('give', by_level[level])} level {quote(names[level])} of {evaluation.what}"
        for level in sorted(by_level, reverse=True)
    )


def _naming(noun: str, ids: Sequence[str]) -> str:
    return f"{noun}{'s' * (len(ids) != 1)} {listing(ids)}"


def _verb(verb: str, ids: Sequence[str]) -> str:
    return f"{verb}{'s' * (len(ids) == 1)}"


def _restricted(evaluation: Evaluation) -> Sentence:
    needed = quote(evaluation.resource.levels[evaluation.required])
    return f"{_left_to(evaluation, *_lowest(evaluation))}, and {needed} is required", ()


def _left_to(evaluation: Evaluation, level: int, found: Sequence[Restriction]) -> str:
    """What the tightest of some restrictions leave."""
    resource = evaluation.resource
    ids = [each.restriction_id for each in found if level_in(each, resource, evaluation.path) == level]
    left = f"level {quote(resource.levels[level])}" if level else "nothing"
    return f"{_naming('restriction', ids)} {_verb('leave', ids)} {evaluation.who} {left} of {evaluation.what}"


def _applied(evaluation: Evaluation) -> Sentence:
    if not evaluation.given.grants:
        return NEUTRAL, ()
    said = [_giving(evaluation, _given(evaluation))]
    said += (
        f"grant {quote(grant.grant_id)} {describe_waivers(grant)}"
        for grant in evaluation.given.grants
        if grant.waives
    )
    return "; ".join(said), ()


def _too_little(evaluation: Evaluation) -> Sentence | None:
    if not evaluation.given.grants:
        return None
    needed = quote(evaluation.resource.levels[evaluation.required])
    return f"{_giving(evaluation, _given(evaluation))}, and {needed} is required", ()


def _leaving(evaluation: Evaluation) -> Sentence | None:
    top, found = _lowest(evaluation)
    return (_left_to(evaluation, top, found), ()) if found else None


def _missed(evaluation: Evaluation) -> Sentence | None:
    """The grant that expired last among those with which less would fail; None where there is none.

    Whoever is refused something that was given until yesterday has to read that, and when it ended.
    """
    state = evaluation.state
    if evaluation.outcome == "conditional":
        return None
    if not (evaluation.is_declared and (state.grants or state.expired)) or evaluation.resource.unknown:
        return None
    found = sorted(_expired(evaluation), key=lambda each: (each.expires_at, each.grant_id), reverse=True)
    for grant in found[:_MOST_TRIED]:
        revived = (*state.grants.get(grant.subject, ()), replace(grant, expires_at=None))
        again = evaluation.again(state=replace_stored(state, {grant.subject: revived}))
        again.is_complete = True  # what has to be stated besides keeps nobody from hearing of the grant
        then = evaluate(again).failing
        if then != evaluation.failing and not then & ~evaluation.failing:
            resources, subject = listing(grant.resources), quote(grant.subject)
            ended = as_utc(grant.expires_at)
            return f"grant {quote(grant.grant_id)} of {resources} to {subject} expired at {ended}", ()
    return None


def _expired(evaluation: Evaluation) -> Iterator[Grant]:
    """What has run out of what was given to the subject, or to those it acts for, and would speak of the resource."""
    tables, state, context = evaluation.tables, evaluation.state, evaluation.request.context
    others = [tables.subject(each) for each in evaluation.parent_names()]
    keys = dict.fromkeys(
        key for each in (evaluation.subject, *others) if each is not None for key in each.keys
    )
    for key in keys:
        for grant in (*state.grants.get(key, ()), *state.expired.get(key, ())):
            ends = grant.expires_at
            if ends is not None and ends <= context.now:
                alone = [replace(grant, expires_at=None)]
                resource, path = evaluation.resource, evaluation.path
                if gather_grants(alone, resource, path, evaluation.action, tables.org_id, context).grants:
                    yield grant


# -- what depends on circumstances -------------------------------------------------------------------------------------


def _words(evaluation: Evaluation, outcome: Outcome) -> Iterable[str]:
    """The channels, sessions, paths and ends that stored grants and restrictions name."""
    return _stored_words(evaluation) if evaluation.has_stored else ()


def _stored_words(evaluation: Evaluation) -> Iterator[str]:
    state, resource, org_id = evaluation.state, evaluation.resource, evaluation.tables.org_id
    now, pathless = evaluation.request.context.now, evaluation.has_open_path
    for key in evaluation.subject.keys:
        for grant in state.grants.get(key, ()):
            wide = _widened(grant, pathless)
            if grant.action not in (None, evaluation.action):
                continue
            if is_active(grant, org_id, now) and level_in(wide, resource, None) is not None:
                if grant.channel is not None:
                    yield f"channel:{grant.channel}"
                if grant.session is not None:
                    yield f"session:{grant.session}"
                if grant.input_digest is not None:
                    yield f"input:{grant.input_digest}"
                yield from _path_words(grant, resource) if pathless else ()
                yield from _end(grant)
        for restriction in state.restrictions.get(key, ()):
            if is_active(restriction, org_id, now):
                yield from _path_words(restriction, resource) if pathless else ()
                if level_in(restriction, resource, evaluation.path) is not None:
                    yield from _end(restriction)


def _end(stored: Grant | Restriction) -> Iterator[str]:
    if stored.expires_at is not None:
        yield f"until:{as_utc(stored.expires_at)}"


def _path_words(stored: Grant | Restriction, resource: Resource) -> Iterator[str]:
    return (f"path:{glob}" for glob in paths_in(stored, resource))


def _widened(grant: Grant, pathless: bool) -> Grant:
    """A grant as it is in the channel, session and path, and with the input, that it asks for."""
    resources = tuple(map(_whole, grant.resources)) if pathless else grant.resources
    return replace(grant, channel=None, session=None, input_digest=None, resources=resources)


def _whole(resource: str) -> str:
    return ":".join(resource.split(":", 2)[:2]) if resource.startswith("tool:") else resource


def _suppose(evaluation: Evaluation, kindly: bool) -> None:
    """Kindly every grant counts, and no restriction of a path or with an end; unkindly it is the other way round."""
    state, keys, pathless = evaluation.state, evaluation.subject.keys, evaluation.has_open_path
    if pathless and not kindly:
        evaluation.path = None
    if not is_stored_for(state, keys):
        return
    grants = {key: _supposed_grants(state.grants.get(key, ()), pathless, kindly) for key in keys}
    restrictions = {key: state.restrictions.get(key, ()) for key in keys}
    if kindly:
        restrictions = {
            key: tuple(each for each in rows if each.expires_at is None) for key, rows in restrictions.items()
        }
    if kindly and pathless:
        restrictions = {
            key: tuple(
                replace(each, resources=tuple(name for name in each.resources if name == _whole(name)))
                for each in rows
            )
            for key, rows in restrictions.items()
        }
    evaluation.state = replace_stored(state, grants, restrictions)


def _supposed_grants(grants: Sequence[Grant], pathless: bool, kindly: bool) -> tuple[Grant, ...]:
    if kindly:
        return tuple(_widened(grant, pathless) for grant in grants)
    return tuple(
        grant
        for grant in grants
        if all(each is None for each in (grant.channel, grant.session, grant.input_digest, grant.expires_at))
    )


def _liftings(evaluation: Evaluation) -> Iterator[RemedyChange]:
    """Every restriction that leaves too little: all of them have to be lifted."""
    resource, path = evaluation.resource, evaluation.path
    for each in _lowest(evaluation)[1]:
        left = level_in(each, resource, path)
        if left is not None and left < evaluation.required:
            yield RemedyChange("lift", each.restriction_id, subject=each.subject)


RESTRICTED = ReasonCode("RESTRICTED", _restricted, remedies=("lift",))
GRANTED = ReasonCode("GRANTED", _granted, "granted")
GRANTS = AccessLayer(
    "grants and restrictions",
    (RESTRICTED, GRANTED),
    _compile,
    of_stored=True,
    unchanged=_applied,
    besides={GRANT_EXPIRED: _missed},
    explains={"granted": _too_little, "ceiling": _leaving},
    circumstances=_words,
    suppose=_suppose,
    changes={"lift": _liftings},
)
