"""The terms of an organization for claims: which roles may claim without a hand-off, how long, how many, and how broadly.

Without a governance document, a claim lasts at most seven days, and begins with the name of a folder or a file. So no claim
holds the whole project.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Final

import msgspec

from orgkernel.diagnostics.wording import quote
from orgkernel.documents.records import ClaimRules
from orgkernel.graph.governance import read_governance
from orgkernel.graph.memo import PerView
from orgkernel.graph.questions import OrgView
from orgkernel.runtime.paths import get_fixed_names, is_glob_inside

MAX_CLAIM_SECONDS: Final = 7 * 86_400.0
"""Maximum lease in seconds. A longer one would block files of a stopped worker."""
MAX_PATHS: Final = 200
"""Maximum number of paths of one claim."""
MAX_CLAIMS: Final = 20
MIN_FIXED_NAMES: Final = 1
_WILD: Final = frozenset("*?[")


class ClaimTerms(msgspec.Struct, frozen=True):
    """The terms of an organization for claims."""

    max_seconds: float = MAX_CLAIM_SECONDS
    """How many seconds a claim lasts, counted from the claim or from an extension."""
    max_total_seconds: float | None = None
    """How many seconds a claim lasts with all of its extensions, if the organization declares it."""
    max_claims: int = MAX_CLAIMS
    """How many claims a holder has at the same time."""
    min_fixed_names: int = MIN_FIXED_NAMES
    """How many names without wildcards each claimed path begins with."""
    min_owned_names: int = 0
    """The same for the files of a brief, which a hand-off claims."""
    free_holders: frozenset[str] = frozenset()
    """The roles, as `role:ID`, that may claim without a hand-off."""


@PerView
def get_claim_terms(view: OrgView) -> ClaimTerms:
    """The terms of an organization."""
    governance = read_governance(view.records.governance)
    rules = ClaimRules() if governance is None else governance.claims
    return ClaimTerms(
        max_seconds=MAX_CLAIM_SECONDS if rules.max_seconds is None else rules.max_seconds,
        max_total_seconds=rules.max_seconds,
        max_claims=MAX_CLAIMS if rules.max_claims is None else rules.max_claims,
        min_fixed_names=MIN_FIXED_NAMES if rules.min_fixed_names is None else rules.min_fixed_names,
        min_owned_names=rules.min_fixed_names or 0,
        free_holders=frozenset(f"role:{role_id}" for role_id in rules.without_handoff),
    )


def explain_broad_path(paths: Iterable[str], least: int) -> str:
    """The reason why a path is too broad to be claimed; empty if all begin with at least so many fixed names.

    >>> explain_broad_path(["src/**", "**/*.py"], 1)
    '`**/*.py` begins with 0 names without wildcards, and at least 1 is required'
    """
    for path in paths:
        count = _count_fixed_names(path)
        if count < least:
            required = "1 is" if least == 1 else f"{least} are"
            return (
                f"{quote(path)} begins with {count} names without wildcards, and at least {required} required"
            )
    return ""


def _count_fixed_names(path: str) -> int:
    if _WILD.isdisjoint(path):
        return len([name for name in path.split("/") if name])
    fixed = get_fixed_names(path)
    return 0 if fixed is None or "/" not in path else len(fixed[1])


def find_uncovered(paths: Iterable[str], owned: Sequence[str]) -> str | None:
    """The first path that is not certainly inside the files of a brief.

    >>> find_uncovered(["src/a.py", "docs/a.md"], ["src"]), find_uncovered(["src/*.py"], ["src/**"])
    ('docs/a.md', None)
    """
    return next((path for path in paths if not any(is_scope_inside(path, each) for each in owned)), None)


def is_scope_inside(path: str, owned: str, root: str | None = None) -> bool:
    """Whether a path or glob is certainly inside an owned one. An owned path without wildcards holds everything below it.

    >>> is_scope_inside("src/a.py", "src"), is_scope_inside("src/*.py", "src/"), is_scope_inside("srcs/a.py", "src")
    (True, True, False)
    """
    if is_glob_inside(path, owned, root):
        return True
    return _WILD.isdisjoint(owned) and is_glob_inside(path, f"{owned.rstrip('/')}/**", root)


def is_free(names: Collection[str], terms: ClaimTerms) -> bool:
    """Whether a subject may claim without a hand-off."""
    return not terms.free_holders.isdisjoint(names)
