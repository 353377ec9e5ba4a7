"""Grants and restrictions: stored rows that raise the level of a resource for a subject, or cap it.

This layer applies the levels of grants. Waivers are collected before any layer runs, because the layer of a ceiling
applies the waiver, up to the level of the grant.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec.structs import replace

from orgkernel.decisions.access.decision import MAX_CHANGES, Outcome, RemedyChange
from orgkernel.decisions.access.evaluation import Evaluation, evaluate
from orgkernel.decisions.access.layer import NEUTRAL, AccessLayer, LayerStep, ReasonCode, Sentence, Target
from orgkernel.decisions.access.layers.policies import ASK_APPROVAL, has_approvals
from orgkernel.decisions.access.request import AccessContext
from orgkernel.decisions.access.stored import (
    add_grant,
    compute_lowest_restriction,
    find_giving_grants,
    find_leaving_restrictions,
    gather_grants,
    get_level_in,
    is_stored_for,
    replace_stored,
)
from orgkernel.decisions.access.stored_index import (
    FREE,
    GroupAtTime,
    ResourceRows,
    find_about,
    get_root_resource,
    get_row_id,
)
from orgkernel.decisions.access.waivers import name_waivers
from orgkernel.decisions.evidence.state_view import Grant, Restriction
from orgkernel.diagnostics.wording import LISTED, listing, quote
from orgkernel.runtime.utc import as_utc

GRANT_EXPIRED, GRANT_OUTDATED = "GRANT_EXPIRED", "GRANT_OUTDATED"
"""Additional reasons of a denial: a grant that has expired, or one for another version of the documents."""
NOWHERE = AccessContext()
_MAX_EXPIRED_TRIED = 20
"""The number of expired grants that are tried, latest first, so a subject with many of them gets a fast answer."""


# Whether rows exist depends on the subject and the time, so the layer applies to every target; `needs_stored_rows`
# skips it.
def _compile(target: Target) -> LayerStep | None:
    return _apply_stored


def _apply_stored(evaluation: Evaluation) -> None:
    given = evaluation.given.level
    if given:
        evaluation.granted = max(evaluation.granted, given)
        if given >= evaluation.required:
            if not evaluation.sources:
                evaluation.spared |= GRANTED.bit
            evaluation.sources |= GRANTED.bit
            approval_bit = evaluation.failing & ASK_APPROVAL.bit
            if approval_bit and (
                (not (evaluation.is_unread or evaluation.has_unknown_target) or _has_limited(evaluation))
                and _has_all_approvals(evaluation)
            ):  # an approval was given
                evaluation.spared |= approval_bit
                evaluation.failing ^= approval_bit
    if evaluation.state.restrictions:
        top = compute_lowest_restriction(
            evaluation.state.restrictions, evaluation.subject.keys, evaluation.resource, evaluation.path,
            evaluation.tables.org_id, evaluation.request.context.now,
        )  # fmt: skip
        evaluation.ceiling = min(evaluation.ceiling, top)
        if top < evaluation.required:
            evaluation.failing |= RESTRICTED.bit


# -- explanations ------------------------------------------------------------------------------------------------------


def _has_all_approvals(evaluation: Evaluation) -> bool:
    """Whether a grant that gives enough has every approval that policies require."""
    if not evaluation.tables.policies.require_approvals:
        return True
    given = evaluation.given
    return any(
        level >= evaluation.required and has_approvals(evaluation, grant)
        for grant, level in zip(given.grants, given.levels, strict=True)
    )


def _has_limited(evaluation: Evaluation) -> bool:
    """Whether a grant with a limited number of uses gives enough. A standing grant does not open what cannot be read."""
    given = evaluation.given
    return any(
        grant.uses_left is not None and level >= evaluation.required
        for grant, level in zip(given.grants, given.levels, strict=True)
    )


def _explain_granted(evaluation: Evaluation) -> Sentence:
    required = evaluation.required
    return _describe_grants(
        evaluation, (each for each in _find_counting_grants(evaluation) if each[0] >= required)
    ), ()


def _find_counting_grants(evaluation: Evaluation) -> Iterator[tuple[int, GroupAtTime[Grant]]]:
    """The grants in effect, grouped by what they give, with their level."""
    assumed = evaluation.assumed
    return find_giving_grants(
        evaluation.state.grants, evaluation.subject.keys, evaluation.resource, evaluation.path, evaluation.action,
        evaluation.tables.org_id, evaluation.tables.snapshot, evaluation.request.context,
        () if assumed is None else assumed.grants,
    )  # fmt: skip


def list_counting_grants(evaluation: Evaluation) -> tuple[Grant, ...]:
    """The grants that add something, in the order of their ids. Of equal ones, the one that ends last."""
    grants = (rows.last for _, rows in _find_counting_grants(evaluation) if rows.last is not None)
    return tuple(sorted(grants, key=lambda each: each.grant_id))


def _describe_grants(evaluation: Evaluation, grants: Iterable[tuple[int, GroupAtTime[Grant]]]) -> str:
    """The levels that grants give, grouped by level, highest first."""
    by_level: dict[int, list[tuple[Grant, ...]]] = {}
    for level, rows in grants:
        by_level.setdefault(level, []).append(rows.active)
    names = evaluation.resource.levels
    return "; ".join(
        f"{_name_first_and_count('grant', alike)} {_inflect_verb('give', alike)} level {quote(names[level])} of {evaluation.what}"
        for level, alike in sorted(by_level.items(), reverse=True)
    )


def _name_first_and_count(noun: str, alike: Sequence[Sequence[Grant | Restriction]]) -> str:
    """The first of some rows, and their count. Equal rows are in the order of their ids."""
    count = sum(map(len, alike))
    first = sorted(get_row_id(row) for rows in alike for row in rows[:LISTED])
    return f"{noun}{'s' * (count != 1)} {listing(first, count)}"


def _inflect_verb(verb: str, alike: Sequence[Sequence[Grant | Restriction]]) -> str:
    return f"{verb}{'s' * (sum(map(len, alike)) == 1)}"


def _explain_restricted(evaluation: Evaluation) -> Sentence:
    needed = quote(evaluation.resource.levels[evaluation.required])
    return (
        f"{_describe_tightest(evaluation, list(_find_holding_restrictions(evaluation)))}, and {needed} is required",
        (),
    )


def _find_holding_restrictions(evaluation: Evaluation) -> Iterator[tuple[int, tuple[Restriction, ...]]]:
    """The restrictions in effect, with the level that each allows."""
    return find_leaving_restrictions(
        evaluation.state.restrictions, evaluation.subject.keys, evaluation.resource, evaluation.path,
        evaluation.tables.org_id, evaluation.request.context.now,
    )  # fmt: skip


def _describe_tightest(evaluation: Evaluation, limits: Sequence[tuple[int, tuple[Restriction, ...]]]) -> str:
    """The level that the strictest restrictions allow."""
    level = min(level for level, _ in limits)
    alike = [rows for left, rows in limits if left == level]
    left = quote(evaluation.resource.levels[level])
    return f"{_name_first_and_count('restriction', alike)} {_inflect_verb('limit', alike)} {evaluation.who} to level {left} of {evaluation.what}"


def _explain_applied(evaluation: Evaluation) -> Sentence:
    grant_groups = list(_find_counting_grants(evaluation))
    if not grant_groups:
        return NEUTRAL, ()
    lifting: dict[str, list[tuple[Grant, ...]]] = {}
    for _, grants in grant_groups:
        if grants.active[0].waives:
            lifting.setdefault(name_waivers(grants.active[0]), []).append(grants.active)
    texts = (
        f"{_name_first_and_count('grant', alike)} {_inflect_verb('waive', alike)} {waived}"
        for waived, alike in lifting.items()
    )
    return "; ".join((_describe_grants(evaluation, grant_groups), *texts)), ()


def _explain_too_little(evaluation: Evaluation) -> Sentence | None:
    if not evaluation.given.grants:
        return None
    needed = quote(evaluation.resource.levels[evaluation.required])
    return f"{_describe_grants(evaluation, _find_counting_grants(evaluation))}, and {needed} is required", ()


def _explain_leaving(evaluation: Evaluation) -> Sentence | None:
    limits = list(_find_holding_restrictions(evaluation))
    return (_describe_tightest(evaluation, limits), ()) if limits else None


def _explain_expired_grant(evaluation: Evaluation) -> Sentence | None:
    """The latest expired grant that would remove a failure; None if there is none.

    A subject that loses access at an expiry should read that in the refusal.
    """
    if not _may_miss(evaluation):
        return None
    expired_grants = sorted(
        _find_expired(evaluation), key=lambda each: (each.expires_at, each.grant_id), reverse=True
    )
    grant = _find_first_missed(evaluation, expired_grants, expires_at=None)
    return None if grant is None else (f"{_get_grant_name(grant)} expired at {as_utc(grant.expires_at)}", ())


def _explain_outdated_grant(evaluation: Evaluation) -> Sentence | None:
    """The latest grant that would remove a failure but is for another version of the documents."""
    if not _may_miss(evaluation):
        return None
    outdated_grants = sorted(
        _find_outdated(evaluation), key=lambda each: (each.issued_at, each.grant_id), reverse=True
    )
    grant = _find_first_missed(evaluation, outdated_grants, snapshot=None)
    if grant is None:
        return None
    return f"{_get_grant_name(grant)} applies only to another version of the documents; request it again", ()


def _may_miss(evaluation: Evaluation) -> bool:
    state = evaluation.state
    if evaluation.outcome == "conditional" or evaluation.resource.unknown:
        return False
    return evaluation.is_declared and bool(state.grants or state.expired)


def _find_first_missed(evaluation: Evaluation, grants: Sequence[Grant], **lifted: None) -> Grant | None:
    """The first grant that would remove a failure if some of its limits were ignored."""
    for grant in grants[:_MAX_EXPIRED_TRIED]:
        # Unstated circumstances must not hide the grant.
        revived = add_grant(evaluation.state, replace(grant, **lifted))
        again = evaluation.copy_with(state=revived, treats_unstated_as_unmet=True)
        # The grant counts only if it removes a failure and adds none. One that would meet a new ceiling would not have
        # helped.
        then = evaluate(again).failing
        if then != evaluation.failing and not then & ~evaluation.failing:
            return grant
    return None


def _get_grant_name(grant: Grant) -> str:
    return f"grant {quote(grant.grant_id)} of {listing(grant.resources)} to {quote(grant.subject)}"


def _find_expired(evaluation: Evaluation) -> Iterator[Grant]:
    """Expired grants about the resource that were given to the subject or its principals.

    Of equal grants, only the latest.
    """
    state, context = evaluation.state, evaluation.request.context
    for about in _find_grants_about_resource(evaluation, state.grants, state.expired):
        for group in about.find_giving(evaluation.path, context, evaluation.tables.snapshot):
            grant = group.select_at(context.now).ended
            if grant is not None and _would_give(evaluation, replace(grant, expires_at=None)):
                yield grant


def _find_outdated(evaluation: Evaluation) -> Iterator[Grant]:
    """Grants to the subject or its principals that are for another version of the documents."""
    for about in _find_grants_about_resource(evaluation, evaluation.state.grants):
        for grant in about.find_outdated_rows(evaluation.tables.snapshot, evaluation.request.context.now):
            if _would_give(evaluation, replace(grant, snapshot=None)):
                yield grant


def _find_grants_about_resource(
    evaluation: Evaluation, *stored: Mapping[str, Sequence[Grant]]
) -> Iterator[ResourceRows[Grant]]:
    """The grants about the resource that were given to the subject or its principals."""
    others = [evaluation.tables.find_subject(each) for each in evaluation.list_principals()]
    keys = dict.fromkeys(
        key for each in (evaluation.subject, *others) if each is not None for key in each.keys
    )
    for each in stored:
        yield from find_about(each, keys, evaluation.resource)


def _would_give(evaluation: Evaluation, grant: Grant) -> bool:
    """Whether a grant gives a level to the requested action."""
    tables, context = evaluation.tables, evaluation.request.context
    given = gather_grants(
        [grant], evaluation.resource, evaluation.path, evaluation.action, tables.org_id, tables.snapshot, context
    )  # fmt: skip
    return bool(given.grants)


# -- circumstances -----------------------------------------------------------------------------------------------------


def _list_words(evaluation: Evaluation, outcome: Outcome) -> Iterable[str]:
    """The channels, sessions, paths and expiries in stored grants and restrictions."""
    return _list_stored_words(evaluation) if evaluation.has_stored else ()


def _list_stored_words(evaluation: Evaluation) -> Iterator[str]:
    now, org_id, snapshot = (
        evaluation.request.context.now,
        evaluation.tables.org_id,
        evaluation.tables.snapshot,
    )
    state, resource, pathless = evaluation.state, evaluation.resource, evaluation.has_open_path
    for key in evaluation.subject.keys:
        for grants in find_about(state.grants, (key,), resource):
            # The key names only what this answer depends on, so subjects that ask in different ways share one cached
            # answer.
            version = snapshot if grants.has_snapshots else ""
            about = (org_id, version, evaluation.action if grants.has_actions else "", pathless)
            words: tuple[str, ...] | None = grants.find_kept(about, now)
            yield from (
                grants.keep(about, now, _list_grant_words(grants, evaluation)) if words is None else words
            )
        for restrictions in find_about(state.restrictions, (key,), resource):
            for left in restrictions.groups:
                for restriction in left.select_at(now).one if left.is_for(org_id, snapshot) else ():
                    yield from (f"path:{glob}" for glob in left.parts) if pathless else ()
                    if get_level_in(restriction, resource, evaluation.path) is not None:
                        yield from _describe_end(left.select_at(now).end)


def _list_grant_words(grant_rows: ResourceRows[Grant], evaluation: Evaluation) -> tuple[str, ...]:
    """The circumstances in grants about a resource that match the action and could apply."""
    now, pathless = evaluation.request.context.now, evaluation.has_open_path
    words: dict[str, None] = {}
    for group in grant_rows.groups:
        terms = group.terms
        if terms.action not in (None, evaluation.action) or (group.globs and not pathless):
            continue
        if group.select_at(now).one and group.is_for(evaluation.tables.org_id, evaluation.tables.snapshot):
            named = zip(("channel", "session", "input"), terms.bond, strict=True)
            words.update((f"{name}:{value}", None) for name, value in named if value is not None)
            words.update((f"path:{glob}", None) for glob in (group.parts if pathless else ()))
            words.update((word, None) for word in _describe_end(group.select_at(now).end))
    return tuple(words)


def _describe_end(ends: float | None) -> Iterator[str]:
    if ends is not None:
        yield f"until:{as_utc(ends)}"


def _widen(grant: Grant, pathless: bool) -> Grant:
    """A grant as it would apply in the channel, session, path and input that it requires."""
    # A question about the whole tool is asked "for some path", so a grant for a part is read as one for the whole.
    resources = tuple(map(get_root_resource, grant.resources)) if pathless else grant.resources
    return replace(grant, channel=None, session=None, input_digest=None, resources=resources)


def _suppose(evaluation: Evaluation, is_favorable: bool) -> None:
    """Favorable: every grant applies, and no restriction with a path or an expiry. Unfavorable: the opposite."""
    state, keys, pathless = evaluation.state, evaluation.subject.keys, evaluation.has_open_path
    # The worst case of a tool asked as a whole is a call whose path no grant covers and every restriction does.
    if pathless and not is_favorable:
        evaluation.path = None
    if not is_stored_for(state, keys):
        return
    evaluation.state = replace_stored(
        state,
        {key: list(_suppose_grants(evaluation, key, is_favorable)) for key in keys},
        {key: list(_suppose_restrictions(evaluation, key, is_favorable)) for key in keys},
    )


def _suppose_grants(evaluation: Evaluation, key: str, is_favorable: bool) -> Iterator[Grant]:
    now, pathless = evaluation.request.context.now, evaluation.has_open_path
    snapshot = evaluation.tables.snapshot
    for about in find_about(evaluation.state.grants, (key,), evaluation.resource):
        if is_favorable:
            loose = about.find_unconditional(parts=not pathless, snapshot=snapshot)
            yield from (_widen(row, pathless) for group in loose for row in group.select_at(now).one)
        else:
            # Only what is bound to no channel, session or input, and never ends, is certain in the worst case.
            giving = about.find_giving(evaluation.path, NOWHERE, snapshot)
            free = (each for each in giving if each.terms.bond == FREE)
            grants = (group.select_at(now).lasting for group in free)
            yield from (each for each in grants if each is not None)


def _suppose_restrictions(evaluation: Evaluation, key: str, is_favorable: bool) -> Iterator[Restriction]:
    now, pathless = evaluation.request.context.now, evaluation.has_open_path
    for about in find_about(evaluation.state.restrictions, (key,), evaluation.resource):
        if not is_favorable:
            yield from (
                row for group in about.find_leaving(evaluation.path) for row in group.select_at(now).one
            )
            continue
        for group in about.whole if pathless else about.find_leaving(evaluation.path):
            row = group.select_at(now).lasting
            if row is not None:
                whole = tuple(name for name in row.resources if name == get_root_resource(name))
                yield replace(row, resources=whole) if pathless else row


def _propose_lifting(evaluation: Evaluation) -> Iterable[RemedyChange]:
    """Propose lifting every restriction that allows too little.

    All must be lifted; nothing if they are more than a remedy can have.
    """
    restriction_groups = [
        rows for left, rows in _find_holding_restrictions(evaluation) if left < evaluation.required
    ]
    # Lifting some of them changes nothing, because the strictest of the rest still applies.
    if sum(map(len, restriction_groups)) > MAX_CHANGES:
        return ()
    return [
        RemedyChange("lift", each.restriction_id, subject=each.subject)
        for rows in restriction_groups
        for each in rows
    ]


RESTRICTED = ReasonCode("RESTRICTED", _explain_restricted, remedies=("lift",))
GRANTED = ReasonCode("GRANTED", _explain_granted, "granted")
GRANTS = AccessLayer(
    "grants and restrictions",
    (RESTRICTED, GRANTED),
    _compile,
    needs_stored_rows=True,
    unchanged=_explain_applied,
    additional_reasons={GRANT_EXPIRED: _explain_expired_grant, GRANT_OUTDATED: _explain_outdated_grant},
    explains={"granted": _explain_too_little, "ceiling": _explain_leaving},
    circumstances=_list_words,
    suppose=_suppose,
    changes={"lift": _propose_lifting},
)
