"""Grants and restrictions: what is stored for a subject adds to a resource, or leaves no more of it.

The level of a grant counts here. What it waives is looked up before any layer is asked, because a waiver lifts a cap, up to
the level of its own grant, in the layer of that cap.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec.structs import replace

from orgkernel.decisions.access.decision import MOST_CHANGES, Outcome, RemedyChange
from orgkernel.decisions.access.evaluation import Evaluation, evaluate
from orgkernel.decisions.access.layer import NEUTRAL, AccessLayer, Move, ReasonCode, Sentence, Target
from orgkernel.decisions.access.layers.policies import ASK_APPROVAL
from orgkernel.decisions.access.request import AccessContext
from orgkernel.decisions.access.stored import (
    add_grant,
    all_given,
    all_left,
    gather_grants,
    is_stored_for,
    level_in,
    lowest_left,
    replace_stored,
)
from orgkernel.decisions.access.stored_index import FREE, About, GroupNow, find_about, id_of, root_of
from orgkernel.decisions.access.waivers import name_waivers
from orgkernel.decisions.evidence.state_view import Grant, Restriction
from orgkernel.diagnostics.wording import LISTED, listing, quote
from orgkernel.runtime.utc import as_utc

GRANT_EXPIRED, GRANT_OUTDATED = "GRANT_EXPIRED", "GRANT_OUTDATED"
"""Told beside what fails, and none of it: what has expired, or is for another version of the documents, is absent."""
NOWHERE = AccessContext()
_MOST_TRIED = 20
"""Expired grants that are tried: whoever asks every day has many, and the last ones are those anybody remembers."""


def _compile(target: Target) -> Move | None:
    return _apply_stored


def _apply_stored(evaluation: Evaluation) -> None:
    given = evaluation.given.level
    if given:
        evaluation.granted = max(evaluation.granted, given)
        if given >= evaluation.required:
            if not evaluation.sources:
                evaluation.spared |= GRANTED.bit
            evaluation.sources |= GRANTED.bit
            asked = evaluation.failing & ASK_APPROVAL.bit
            if asked:  # somebody has been asked
                evaluation.spared |= asked
                evaluation.failing ^= asked
    if evaluation.state.restrictions:
        top = lowest_left(
            evaluation.state.restrictions, evaluation.subject.keys, evaluation.resource, evaluation.path,
            evaluation.tables.org_id, evaluation.request.context.now,
        )  # fmt: skip
        evaluation.ceiling = min(evaluation.ceiling, top)
        if top < evaluation.required:
            evaluation.failing |= RESTRICTED.bit


# -- what it says ------------------------------------------------------------------------------------------------------


def _granted(evaluation: Evaluation) -> Sentence:
    required = evaluation.required
    return _giving(evaluation, (each for each in _given(evaluation) if each[0] >= required)), ()


def _given(evaluation: Evaluation) -> Iterator[tuple[int, GroupNow[Grant]]]:
    """The grants that count, those that say the same together, with the level that each gives."""
    assumed = evaluation.assumed
    return all_given(
        evaluation.state.grants, evaluation.subject.keys, evaluation.resource, evaluation.path, evaluation.action,
        evaluation.tables.org_id, evaluation.tables.snapshot, evaluation.request.context,
        () if assumed is None else assumed.grants,
    )  # fmt: skip


def held_grants(evaluation: Evaluation) -> tuple[Grant, ...]:
    """The grants that add something, in the order of their ids; of those that say the same the one that ends last."""
    found = (rows.last for _, rows in _given(evaluation) if rows.last is not None)
    return tuple(sorted(found, key=lambda each: each.grant_id))


def _giving(evaluation: Evaluation, grants: Iterable[tuple[int, GroupNow[Grant]]]) -> str:
    """What grants give, those of one level together, the highest first."""
    by_level: dict[int, list[tuple[Grant, ...]]] = {}
    for level, rows in grants:
        by_level.setdefault(level, []).append(rows.active)
    names = evaluation.resource.levels
    return "; ".join(
        f"{_naming('grant', alike)} {_verb('give', alike)} level {quote(names[level])} of {evaluation.what}"
        for level, alike in sorted(by_level.items(), reverse=True)
    )


def _naming(noun: str, alike: Sequence[Sequence[Grant | Restriction]]) -> str:
    """The first of some rows by name, and how many there are. Those that are alike are in the order of their ids."""
    count = sum(map(len, alike))
    first = sorted(id_of(row) for rows in alike for row in rows[:LISTED])
    return f"{noun}{'s' * (count != 1)} {listing(first, count)}"


def _verb(verb: str, alike: Sequence[Sequence[Grant | Restriction]]) -> str:
    return f"{verb}{'s' * (sum(map(len, alike)) == 1)}"


def _restricted(evaluation: Evaluation) -> Sentence:
    needed = quote(evaluation.resource.levels[evaluation.required])
    return f"{_left_to(evaluation, list(_left(evaluation)))}, and {needed} is required", ()


def _left(evaluation: Evaluation) -> Iterator[tuple[int, tuple[Restriction, ...]]]:
    """The restrictions that hold, with what each of them leaves."""
    return all_left(
        evaluation.state.restrictions, evaluation.subject.keys, evaluation.resource, evaluation.path,
        evaluation.tables.org_id, evaluation.request.context.now,
    )  # fmt: skip


def _left_to(evaluation: Evaluation, found: Sequence[tuple[int, tuple[Restriction, ...]]]) -> str:
    """What the tightest of some restrictions leave."""
    level = min(level for level, _ in found)
    alike = [rows for left, rows in found if left == level]
    left = f"level {quote(evaluation.resource.levels[level])}" if level else "nothing"
    return f"{_naming('restriction', alike)} {_verb('leave', alike)} {evaluation.who} {left} of {evaluation.what}"


def _applied(evaluation: Evaluation) -> Sentence:
    found = list(_given(evaluation))
    if not found:
        return NEUTRAL, ()
    lifting: dict[str, list[tuple[Grant, ...]]] = {}
    for _, grants in found:
        if grants.active[0].waives:
            lifting.setdefault(name_waivers(grants.active[0]), []).append(grants.active)
    said = (f"{_naming('grant', alike)} {_verb('lift', alike)} {waived}" for waived, alike in lifting.items())
    return "; ".join((_giving(evaluation, found), *said)), ()


def _too_little(evaluation: Evaluation) -> Sentence | None:
    if not evaluation.given.grants:
        return None
    needed = quote(evaluation.resource.levels[evaluation.required])
    return f"{_giving(evaluation, _given(evaluation))}, and {needed} is required", ()


def _leaving(evaluation: Evaluation) -> Sentence | None:
    found = list(_left(evaluation))
    return (_left_to(evaluation, found), ()) if found else None


def _missed(evaluation: Evaluation) -> Sentence | None:
    """The grant that expired last among those with which less would fail; None where there is none.

    Whoever is refused something that was given until yesterday has to read that, and when it ended.
    """
    if not _may_miss(evaluation):
        return None
    found = sorted(_expired(evaluation), key=lambda each: (each.expires_at, each.grant_id), reverse=True)
    grant = _first_missed(evaluation, found, expires_at=None)
    return None if grant is None else (f"{_called(grant)} expired at {as_utc(grant.expires_at)}", ())


def _overtaken(evaluation: Evaluation) -> Sentence | None:
    """The grant issued last among those with which less would fail, and that are for another version of the documents."""
    if not _may_miss(evaluation):
        return None
    found = sorted(_outdated(evaluation), key=lambda each: (each.issued_at, each.grant_id), reverse=True)
    grant = _first_missed(evaluation, found, snapshot=None)
    if grant is None:
        return None
    return f"{_called(grant)} applies only to another version of the documents; request it again", ()


def _may_miss(evaluation: Evaluation) -> bool:
    state = evaluation.state
    if evaluation.outcome == "conditional" or evaluation.resource.unknown:
        return False
    return evaluation.is_declared and bool(state.grants or state.expired)


def _first_missed(evaluation: Evaluation, found: Sequence[Grant], **lifted: None) -> Grant | None:
    """The first of some grants with which less would fail if some bounds of it were lifted."""
    for grant in found[:_MOST_TRIED]:
        # What has to be stated besides keeps nobody from hearing of the grant.
        revived = add_grant(evaluation.state, replace(grant, **lifted))
        again = evaluation.again(state=revived, is_complete=True)
        then = evaluate(again).failing
        if then != evaluation.failing and not then & ~evaluation.failing:
            return grant
    return None


def _called(grant: Grant) -> str:
    return f"grant {quote(grant.grant_id)} of {listing(grant.resources)} to {quote(grant.subject)}"


def _expired(evaluation: Evaluation) -> Iterator[Grant]:
    """What has run out of what was given to the subject, or to those it acts for, and would speak of the resource.

    Of several that said the same it is the last.
    """
    state, context = evaluation.state, evaluation.request.context
    for about in _about_all(evaluation, state.grants, state.expired):
        for group in about.giving(evaluation.path, context, evaluation.tables.snapshot):
            grant = group.at(context.now).ended
            if grant is not None and _would_give(evaluation, replace(grant, expires_at=None)):
                yield grant


def _outdated(evaluation: Evaluation) -> Iterator[Grant]:
    """What was given to the subject, or to those it acts for, for another version of the documents."""
    for about in _about_all(evaluation, evaluation.state.grants):
        for grant in about.outdated(evaluation.tables.snapshot, evaluation.request.context.now):
            if _would_give(evaluation, replace(grant, snapshot=None)):
                yield grant


def _about_all(evaluation: Evaluation, *stored: Mapping[str, Sequence[Grant]]) -> Iterator[About[Grant]]:
    """The grants about the resource to the subject, and to those it acts for."""
    others = [evaluation.tables.subject(each) for each in evaluation.parent_names()]
    keys = dict.fromkeys(
        key for each in (evaluation.subject, *others) if each is not None for key in each.keys
    )
    for each in stored:
        yield from find_about(each, keys, evaluation.resource)


def _would_give(evaluation: Evaluation, grant: Grant) -> bool:
    """Whether a grant gives something to what is asked."""
    tables, context = evaluation.tables, evaluation.request.context
    given = gather_grants(
        [grant], evaluation.resource, evaluation.path, evaluation.action, tables.org_id, tables.snapshot, context
    )  # fmt: skip
    return bool(given.grants)


# -- what depends on circumstances -------------------------------------------------------------------------------------


def _words(evaluation: Evaluation, outcome: Outcome) -> Iterable[str]:
    """The channels, sessions, paths and ends that stored grants and restrictions name."""
    return _stored_words(evaluation) if evaluation.has_stored else ()


def _stored_words(evaluation: Evaluation) -> Iterator[str]:
    now, org_id, snapshot = (
        evaluation.request.context.now,
        evaluation.tables.org_id,
        evaluation.tables.snapshot,
    )
    state, resource, pathless = evaluation.state, evaluation.resource, evaluation.has_open_path
    for key in evaluation.subject.keys:
        for grants in find_about(state.grants, (key,), resource):
            version = snapshot if grants.has_snapshots else ""
            about = (org_id, version, evaluation.action if grants.has_actions else "", pathless)
            words: tuple[str, ...] | None = grants.kept(about, now)
            yield from grants.keep(about, now, _words_of(grants, evaluation)) if words is None else words
        for restrictions in find_about(state.restrictions, (key,), resource):
            for left in restrictions.groups:
                for restriction in left.at(now).one if left.holds_in(org_id, snapshot) else ():
                    yield from (f"path:{glob}" for glob in left.parts) if pathless else ()
                    if level_in(restriction, resource, evaluation.path) is not None:
                        yield from _end(left.at(now).end)


def _words_of(about: About[Grant], evaluation: Evaluation) -> tuple[str, ...]:
    """What grants name about a resource that are for the action, and that may count if the circumstances are theirs."""
    now, pathless = evaluation.request.context.now, evaluation.has_open_path
    found: dict[str, None] = {}
    for group in about.groups:
        said = group.said
        if said.action not in (None, evaluation.action) or (group.globs and not pathless):
            continue
        if group.at(now).one and group.holds_in(evaluation.tables.org_id, evaluation.tables.snapshot):
            named = zip(("channel", "session", "input"), said.bond, strict=True)
            found.update((f"{name}:{value}", None) for name, value in named if value is not None)
            found.update((f"path:{glob}", None) for glob in (group.parts if pathless else ()))
            found.update((word, None) for word in _end(group.at(now).end))
    return tuple(found)


def _end(ends: float | None) -> Iterator[str]:
    if ends is not None:
        yield f"until:{as_utc(ends)}"


def _widened(grant: Grant, pathless: bool) -> Grant:
    """A grant as it is in the channel, session and path, and with the input, that it asks for."""
    resources = tuple(map(root_of, grant.resources)) if pathless else grant.resources
    return replace(grant, channel=None, session=None, input_digest=None, resources=resources)


def _suppose(evaluation: Evaluation, kindly: bool) -> None:
    """Kindly every grant counts, and no restriction of a path or with an end; unkindly it is the other way round."""
    state, keys, pathless = evaluation.state, evaluation.subject.keys, evaluation.has_open_path
    if pathless and not kindly:
        evaluation.path = None
    if not is_stored_for(state, keys):
        return
    evaluation.state = replace_stored(
        state,
        {key: list(_supposed_grants(evaluation, key, kindly)) for key in keys},
        {key: list(_supposed_restrictions(evaluation, key, kindly)) for key in keys},
    )


def _supposed_grants(evaluation: Evaluation, key: str, kindly: bool) -> Iterator[Grant]:
    now, pathless = evaluation.request.context.now, evaluation.has_open_path
    snapshot = evaluation.tables.snapshot
    for about in find_about(evaluation.state.grants, (key,), evaluation.resource):
        if kindly:
            loose = about.loose(parts=not pathless, snapshot=snapshot)
            yield from (_widened(row, pathless) for group in loose for row in group.at(now).one)
        else:
            giving = about.giving(evaluation.path, NOWHERE, snapshot)
            free = (each for each in giving if each.said.bond == FREE)
            found = (group.at(now).lasting for group in free)
            yield from (each for each in found if each is not None)


def _supposed_restrictions(evaluation: Evaluation, key: str, kindly: bool) -> Iterator[Restriction]:
    now, pathless = evaluation.request.context.now, evaluation.has_open_path
    for about in find_about(evaluation.state.restrictions, (key,), evaluation.resource):
        if not kindly:
            yield from (row for group in about.leaving(evaluation.path) for row in group.at(now).one)
            continue
        for group in about.whole if pathless else about.leaving(evaluation.path):
            row = group.at(now).lasting
            if row is not None:
                whole = tuple(name for name in row.resources if name == root_of(name))
                yield replace(row, resources=whole) if pathless else row


def _liftings(evaluation: Evaluation) -> Iterable[RemedyChange]:
    """Every restriction that leaves too little: all of them have to be lifted. None where no remedy is so long."""
    found = [rows for left, rows in _left(evaluation) if left < evaluation.required]
    if sum(map(len, found)) > MOST_CHANGES:
        return ()
    return [
        RemedyChange("lift", each.restriction_id, subject=each.subject) for rows in found for each in rows
    ]


RESTRICTED = ReasonCode("RESTRICTED", _restricted, remedies=("lift",))
GRANTED = ReasonCode("GRANTED", _granted, "granted")
GRANTS = AccessLayer(
    "grants and restrictions",
    (RESTRICTED, GRANTED),
    _compile,
    of_stored=True,
    unchanged=_applied,
    besides={GRANT_EXPIRED: _missed, GRANT_OUTDATED: _overtaken},
    explains={"granted": _too_little, "ceiling": _leaving},
    circumstances=_words,
    suppose=_suppose,
    changes={"lift": _liftings},
)
