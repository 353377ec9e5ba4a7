"""One difference between two manifests of an organization, as it is reported."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Literal

import msgspec

from orgkernel.decisions.reasons import Why
from orgkernel.diff.sections import ROLES, Path

Kind = Literal["renamed", "removed", "added", "moved", "lost", "changed", "gained"]
ChangeEffect = Literal["widened", "narrowed", "unclear", "neutral"]


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """One difference. Where roles are renamed, everything in it calls them by their new ids."""

    org_id: str
    role_id: str | None
    """The role of the change. It is null for a change of the organization or of a catalog."""
    kind: Kind
    subject: str = ""
    """What is gained, lost or changed, such as `tool:browser_agent`."""
    classification: ChangeEffect = "neutral"
    """Whether it widens permissions, narrows them, may do either, or does neither."""
    sentence: str = ""
    before: Any = None
    """The old value: a part, an item, a role or an organization."""
    after: Any = None
    why_before: tuple[Why, ...] = ()
    """The lines of the old tree, most relevant first."""
    why_after: tuple[Why, ...] = ()
    """The lines of the new tree."""
    roles: tuple[str, ...] = ()
    """For a change of a catalog: the roles whose manifests change."""
    path: Path
    """The path in the manifest."""
    at_before: tuple[int, ...] = ()
    """Positions in the old list of what is lost."""
    at_after: tuple[int, ...] = ()
    """Positions in the new list of what is gained."""
    subjects: tuple[str, ...] = ()
    """For an answer that differs: all subjects that get it."""
    resources: tuple[str, ...] = ()
    """For an answer about access that differs: everything it is about."""
    question: dict[str, Any] | None = None
    """For an answer that differs: the question, with the first subject. Both versions can be asked it again."""
    causes: tuple[int, ...] = ()
    """The edits that cause it, as numbers in the list of edits."""


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """The counts of changes."""

    changes: int
    organizations: int
    """Those with a change."""
    roles: int
    """Those with a change, shared catalogs not counted."""
    widened: int
    narrowed: int
    unclear: int
    """Changes that may permit more."""
    neutral: int
    kinds: dict[str, int]


def sort_changes(changes: Iterable[Change]) -> tuple[Change, ...]:
    """Sort by organization, then changes of the whole organization, then by role."""
    return tuple(sorted(changes, key=_get_sort_key))


def _get_sort_key(change: Change) -> tuple[object, ...]:
    path = tuple(map(str, change.path))
    return change.org_id, change.role_id or "", path[:1] == (ROLES,), path, change.kind


def summarize(changes: Sequence[Change]) -> Summary:
    """The counts under a list of changes."""
    effects = Counter(change.classification for change in changes)
    return Summary(
        changes=len(changes),
        organizations=len({change.org_id for change in changes}),
        roles=len({(change.org_id, change.role_id) for change in changes if change.role_id is not None}),
        widened=effects["widened"],
        narrowed=effects["narrowed"],
        unclear=effects["unclear"],
        neutral=effects["neutral"],
        kinds=dict(sorted(Counter(change.kind for change in changes).items())),
    )
