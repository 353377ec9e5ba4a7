"""The report of a comparison: the edits of all organizations, the changes that each causes, and the questions left out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from orgkernel.decisions.reasons import Why
from orgkernel.diff.changes import Change, Summary, summarize
from orgkernel.diff.edits import DeclaredEdit
from orgkernel.diff.organizations import OrganizationComparison


class ReportedEdit(msgspec.Struct, frozen=True, kw_only=True):
    """One declared value that differs."""

    org_id: str
    section: str
    """The kind of the entry that contains the value, such as `tools` or `organization`."""
    id: str
    """The entry. It is empty for the organization itself and its governance."""
    field: str
    """The path of the field in the entry. It is empty if the whole entry was added or removed."""
    sentence: str
    before: Any
    after: Any
    why_before: tuple[Why, ...]
    """Its line in the old tree."""
    why_after: tuple[Why, ...]
    """Its line in the new tree, or the line of what it was removed from."""
    has_effect: bool
    """Whether it causes a change. A description, or a setting that only the runtime reads, does not."""


class ChangeReport(msgspec.Struct, frozen=True, kw_only=True):
    """The edits and changes of all organizations."""

    summary: Summary
    edits: tuple[ReportedEdit, ...]
    changes: tuple[Change, ...]
    """The numbers in `causes` are places in `edits`."""
    cut: tuple[str, ...] = ()
    """Organizations about which not every access question was asked, because there were too many."""
    without_examples: tuple[str, ...] = ()
    """Organizations whose declared examples were not dispatched, because there are too many roles or examples."""
    incomparable: tuple[str, ...] = ()
    """Sentences about organizations that cannot be compared, because they cannot be read or are out of service."""


def build_report(
    comparisons: Iterable[OrganizationComparison], incomparable: Iterable[str] = ()
) -> ChangeReport:
    """The comparisons of all organizations as one report."""
    edits: list[ReportedEdit] = []
    changes: list[Change] = []
    cut: list[str] = []
    without_examples: list[str] = []
    for comparison in comparisons:
        first = len(edits)
        without_effect = set(comparison.without_effect)
        edits += (
            _build_edit(comparison.org_id, edit, number not in without_effect)
            for number, edit in enumerate(comparison.edits)
        )
        changes += (
            replace(change, causes=tuple(first + number for number in change.causes))
            for change in comparison.changes
        )
        cut += [comparison.org_id] * comparison.is_cut
        without_examples += [comparison.org_id] * comparison.are_texts_left_out
    return ChangeReport(
        summary=summarize(changes),
        edits=tuple(edits),
        changes=tuple(changes),
        cut=tuple(cut),
        without_examples=tuple(without_examples),
        incomparable=tuple(incomparable),
    )


def _build_edit(org_id: str, edit: DeclaredEdit, has_effect: bool) -> ReportedEdit:
    return ReportedEdit(
        org_id=org_id,
        section={"posts": "roles"}.get(edit.section, edit.section),
        id=edit.id,
        field=".".join(str(step) for step in edit.route if step),
        sentence=edit.text,
        before=edit.before,
        after=edit.after,
        why_before=edit.why_before,
        why_after=edit.why_after or edit.why_around,
        has_effect=has_effect,
    )


def list_quiet_edits(report: ChangeReport) -> Sequence[ReportedEdit]:
    """The edits that cause no change."""
    return [each for each in report.edits if not each.has_effect]
