"""Trees of organizations compared by their manifests and directories alone, without asking either version a question.

`orgkernel diff` also compares answers and looks for causes. The laws of the comparison of manifests, and the direction of a
policy's change, are tested without them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from orgkernel.diff import manifests
from orgkernel.diff.authzen_effects import compare_authzen
from orgkernel.diff.change_words import describe_change
from orgkernel.diff.changes import Change, sort_changes
from orgkernel.diff.directory_effects import compare_directories
from orgkernel.diff.organizations import OrganizationComparison
from orgkernel.diff.report import ChangeReport, build_report
from orgkernel.graph.questions import OrgView


@dataclass(frozen=True)
class OrganizationVersion(manifests.OrganizationVersion):
    """A version with its directory, if that is to be compared."""

    view: OrgView | None = None


def compare_versions(
    old: Mapping[str, manifests.OrganizationVersion], new: Mapping[str, manifests.OrganizationVersion]
) -> tuple[Change, ...]:
    """All changes between two trees of organizations, by their ids."""
    changes: list[Change] = []
    for org_id in {*old, *new}:
        if org_id not in old or org_id not in new:
            changes.append(manifests.build_whole_change(org_id, old.get(org_id), new.get(org_id)))
            continue
        one, other = old[org_id], new[org_id]
        changes += manifests.compare_manifests(one, other)
        views = [getattr(each, "view", None) for each in (one, other)]
        if None not in views:
            changes += [*compare_directories(*views), *compare_authzen(*views)]
    return sort_changes(map(describe_change, changes))


def report_of(changes: Sequence[Change]) -> ChangeReport:
    """Changes as a report without edits."""
    return build_report([OrganizationComparison("", (), tuple(changes))])
