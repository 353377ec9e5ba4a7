"""Who is in the directory, compared: what a person, webhook or system origin may do because other policies match it.

Manifests do not name people and systems outside the crew, so these changes are listed in addition to those of the
manifests. The
policies of each side are compared with the directories of both sides. The result is what the directory alone changes. An
unknown sender is a stranger, so a person's new identity is compared with what strangers may do.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec import to_builtins

from orgkernel.decisions.access.identity import SubjectIdentity, identify
from orgkernel.decisions.access.policies import AccessPolicy, PolicyTable
from orgkernel.decisions.reasons import Why, cite_place
from orgkernel.diff.changes import Change, ChangeEffect
from orgkernel.diff.policy_effects import EFFECT_OF, Direction, combine_directions, multiply_direction
from orgkernel.diff.sections import DIRECTORY
from orgkernel.documents.records import Person
from orgkernel.graph.questions import OrgView
from orgkernel.graph.records import Definition

_Entries = Mapping[str, Definition[Any]]


def compare_directories(old: OrgView, new: OrgView) -> Iterator[Change]:
    """One change for every entry that differs."""
    before, after = _map_entries(old), _map_entries(new)
    tables = [PolicyTable.build(view.records.policies.values()) for view in (old, new)]
    for subject in sorted({*before, *after}):
        one, other = before.get(subject), after.get(subject)
        contents = [{} if each is None else _get_content(each) for each in (one, other)]
        if one and other and contents[0] == contents[1]:
            continue
        identities = [{*each.get("identities", ())} for each in contents]
        senders = sorted(identities[0] ^ identities[1])
        subjects = (subject, *(f"sender:{each}" for each in senders))
        yield Change(
            org_id=new.org_id,
            role_id=None,
            kind="gained" if one is None else "lost" if other is None else "changed",
            path=(DIRECTORY, subject),
            before=_add_policies(one, contents[0], old, subject, tables),
            after=_add_policies(other, contents[1], new, subject, tables),
            why_before=_why(subject, one),
            why_after=_why(subject, other),
            classification=_compute_effect(old, new, subjects, tables),
        )


def _map_entries(view: OrgView) -> _Entries:
    records = view.records
    kinds: dict[str, _Entries] = {
        "person": records.people,
        "webhook": records.webhooks,
        "system": records.system_origins,
    }
    return {f"{kind}:{name}": each for kind, those in kinds.items() for name, each in those.items()}


def _get_content(entry: Definition[Any]) -> dict[str, Any]:
    """The content of an entry. The order of tags and identities does not count."""
    record = entry.record
    content: dict[str, Any] = to_builtins(record)
    if isinstance(record, Person):
        content["tags"] = sorted(set(record.tags))
        content["identities"] = sorted(
            f"{each.platform}/{each.space or ''}/{each.id}" for each in record.identities
        )
    return content


def _add_policies(
    entry: Definition[Any] | None,
    content: Mapping[str, Any],
    view: OrgView,
    subject: str,
    tables: Iterable[PolicyTable],
) -> dict[str, Any] | None:
    if entry is None:
        return None
    identity = identify(view, subject)
    matching = {policy.id for table in tables for policy in _find_matching(table, identity)}
    return {"id": subject, **content, "policies": sorted(matching)}


def _why(subject: str, entry: Definition[Any] | None) -> tuple[Why, ...]:
    return () if entry is None else (cite_place(f"{subject} is declared", entry.place()),)


def _compute_effect(
    old: OrgView, new: OrgView, subjects: Iterable[str], tables: Iterable[PolicyTable]
) -> ChangeEffect:
    directions = [
        _compute_direction(table, identify(old, subject), identify(new, subject))
        for table in tables
        for subject in subjects
    ]
    return EFFECT_OF[combine_directions(directions)]


def _compute_direction(
    table: PolicyTable, before: SubjectIdentity | None, after: SubjectIdentity | None
) -> Direction:
    """Whether a person may do more as the second than as the first; the one that is None is not declared."""
    if before is None or after is None:
        gives = any(each.gives for each in _find_matching(table, before or after))
        return (1 if before is None else -1) if gives else 0
    was, now = set(_find_matching(table, before)), set(_find_matching(table, after))
    directions = [
        multiply_direction(_get_policy_direction(policy), 1 if policy in now else -1) for policy in was ^ now
    ]
    fallbacks = [policy for policy in was | now if policy.fallback]
    # What gives keeps fallbacks from giving and from taking away. What takes away keeps them from giving only.
    for does, effects in ((1, ("allow", "deny", "ask")), (-1, ("allow",))):
        concerned = [policy for policy in fallbacks if _get_policy_direction(policy) in (does, None)]
        silenced = [
            {policy for policy in side if policy.silences and policy.effect in effects} for side in (was, now)
        ]
        if silenced[0] == silenced[1]:
            continue
        if any(policy.conditions for policy in was | now):
            directions += [None] * bool(concerned)
        elif bool(silenced[0]) != bool(silenced[1]):
            directions += [multiply_direction(does, -1 if silenced[1] else 1) for _ in concerned]
    return combine_directions(directions)


def _find_matching(table: PolicyTable, identity: SubjectIdentity | None) -> tuple[AccessPolicy, ...]:
    return () if identity is None else table.find_matching(identity)


def _get_policy_direction(policy: AccessPolicy) -> Direction:
    """What a policy does to whom it matches: gives, takes, or both."""
    if policy.gives:
        return None if policy.ceiling or policy.denied else 1
    return -1 if policy.decisive else 0
