"""Compare two versions of an organization: its edits, and the changes that each of them causes in manifests and in answers.

Nothing can change without an edit, so the edits come first. They say which roles are compared part by part, and which
questions are asked of both versions. Every change names the edits that cause it. An edit that changes no answer and no
manifest is a change by itself, unless its field is only handed to the runtime, such as a description.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import replace

from orgkernel.decisions.access.tables import get_access_tables
from orgkernel.diagnostics import Diagnostic
from orgkernel.diff.answer_words import describe_access_change, describe_task_changes
from orgkernel.diff.answers import (
    AccessProbe,
    OldNames,
    answer_access,
    answer_task,
    find_access_differences,
    find_task_differences,
    merge_differences,
)
from orgkernel.diff.authzen_effects import compare_authzen
from orgkernel.diff.causes import TrialVersions, find_causes
from orgkernel.diff.change_words import describe_change
from orgkernel.diff.changes import Change, sort_changes
from orgkernel.diff.directory_effects import compare_directories
from orgkernel.diff.edit_effects import describe_edit_change, is_read_by_runtime_only
from orgkernel.diff.edits import ROLES as POSTS
from orgkernel.diff.edits import DeclaredEdit, Renames, find_edits
from orgkernel.diff.manifests import OrganizationVersion, build_whole_change, compare_manifests
from orgkernel.diff.normal_form import build_working_form, remove_why
from orgkernel.diff.questions import (
    AccessPair,
    BothVersions,
    does_touch_routing,
    does_touch_texts,
    find_pairs,
    is_too_large_for_texts,
    list_tasks,
)
from orgkernel.diff.sections import DIRECTORY, EVERY_HOLDER, ROLES, resolve_address
from orgkernel.diff.touched import find_touched_roles
from orgkernel.graph.questions import OrgView
from orgkernel.manifest.organization import build_organization_manifest
from orgkernel.manifest.why import get_places

MAX_TASKS = 5_000
_HIERARCHY_CHANGES = ("added", "removed", "moved")
"""Kinds of changes of which every edit that names the role is a cause, though each alone changes nothing."""


@dataclass(frozen=True, slots=True)
class Version:
    """An organization on one side: its documents as a view, and what was found in them."""

    view: OrgView
    findings: tuple[Diagnostic, ...] = ()
    unread: frozenset[str] = frozenset()
    """Roles that are declared in a file that cannot be read or is out of service, and, as `agent:ID`, the agents that fill
    them. Nothing is known about them.
    """


class OrganizationComparison(NamedTuple):
    """The difference between two versions of one organization."""

    org_id: str
    edits: tuple[DeclaredEdit, ...]
    changes: tuple[Change, ...]
    """Each names its causes among the edits."""
    without_effect: tuple[int, ...] = ()
    """Edits, by number, that change no answer: texts and settings that are only handed to the runtime."""
    is_cut: bool = False
    """Whether not every access question that an edit can touch was asked, because there are too many."""
    are_texts_left_out: bool = False
    """Whether declared examples were not dispatched although an edit can touch them: too many, or too many roles."""


def compare_versions_of(org_id: str, old: Version | None, new: Version | None) -> OrganizationComparison:
    """Compare two versions of an organization. One that is missing on a side is one change."""
    if old is None or new is None:
        before, after = (
            None if each is None else _build_manifests(each, each.view.roles) for each in (old, new)
        )
        return OrganizationComparison(
            org_id, (), (describe_change(build_whole_change(org_id, before, after)),)
        )
    return _Comparer(org_id, old, new).compare()


def _build_manifests(version: Version, role_ids: Iterable[str]) -> OrganizationVersion:
    view = version.view
    chosen = frozenset(role_ids)
    manifest = build_organization_manifest(
        view, [each for each in view.roles if each in chosen], version.findings
    )
    return OrganizationVersion(manifest, get_places(view))


class _Comparer:
    """Compares one organization. Its steps share the edits, the versions for trial and the pairs that an edit can touch."""

    def __init__(self, org_id: str, old: Version, new: Version) -> None:
        self.org_id = org_id
        self.old, self.new = old, new
        self.sides = BothVersions(old.view, new.view)
        self.unread = old.unread | new.unread
        self.edits = tuple(
            each
            for each in find_edits(old.view.records, new.view.records)
            if not (each.section == POSTS and each.id in self.unread)
            and not (each.section == "agents" and f"agent:{each.id}" in self.unread)
        )

    def compare(self) -> OrganizationComparison:
        """The edits, and the changes with their causes."""
        # Without an edit only findings can differ, and manifests, which take most of the time, need not be built.
        if not self.edits and not self._find_roles_with_other_findings():
            return OrganizationComparison(self.org_id, (), ())
        in_manifests = self._compare_manifests()
        renamed = {str(each.before): str(each.after) for each in in_manifests if each.kind == "renamed"}
        if renamed:
            self._rename(renamed)
        if not self.edits:
            return OrganizationComparison(self.org_id, (), sort_changes(map(describe_change, in_manifests)))
        self.trials = TrialVersions(self.edits, self.sides)
        changes = [*self._attribute(in_manifests), *self._compare_outsiders()]
        answers, is_cut = self._compare_access(changes)
        tasks, are_left_out = self._compare_tasks(changes)
        answers += tasks
        shown = {
            number
            for each in (*changes, *answers)
            if not _is_finding(each) and resolve_address(each.path).field != "capped_by"
            for number in each.causes
        }
        changes = [each for each in changes if not _is_in_answers(each, answers, shown)] + answers
        caused = {number for change in changes if not _is_finding(change) for number in change.causes}
        without_change = [number for number in range(len(self.edits)) if number not in caused]
        changes += (
            describe_edit_change(
                self.org_id, self.edits[number], number, [each.id for each in self.new.view.records.ranks]
            )
            for number in without_change  # an edit without any effect is reported as itself, so no edit goes unmentioned
            if not is_read_by_runtime_only(self.edits[number])
        )
        runtime_only = tuple(
            number for number in without_change if is_read_by_runtime_only(self.edits[number])
        )
        return OrganizationComparison(
            self.org_id, self.edits, sort_changes(changes), runtime_only, is_cut, are_left_out
        )

    def _rename(self, renamed: Mapping[str, str]) -> None:
        self.old_names = OldNames({new: old for old, new in renamed.items()})
        self.edits = find_edits(self.old.view.records, self.new.view.records, Renames(renamed))
        del self._touched  # cached for the edits from before the renaming

    old_names = OldNames({})

    # -- manifests -----------------------------------------------------------------------------------------------------

    @cached_property
    def _touched(self) -> tuple[frozenset[str], ...]:
        """The roles whose manifests each edit can change."""
        return tuple(find_touched_roles(each, self.sides) for each in self.edits)

    def _find_roles_with_other_findings(self) -> set[str]:
        keys = [
            {(each.subject, each.code, each.severity, each.message, each.help) for each in version.findings}
            for version in (self.old, self.new)
        ]
        return {subject[5:] for subject, *_ in keys[0] ^ keys[1] if subject.startswith("role:")}

    def _compare_manifests(self) -> list[Change]:
        touched = frozenset(chain(self._find_roles_with_other_findings(), *self._touched))
        versions = []
        for version in (self.old, self.new):
            above = {each for role_id in touched for each in version.view.list_superiors_above(role_id)}
            versions.append(_build_manifests(version, touched | above))
        return list(compare_manifests(versions[0], versions[1], self.unread, touched))

    def _attribute(self, changes: Sequence[Change]) -> Iterator[Change]:
        """Changes of manifests with their words and causes."""
        cases = {number: _get_manifest_part(change) for number, change in enumerate(changes)}
        plain = {number: case for number, case in cases.items() if case is not None}
        forms: dict[tuple[int, str | None], Mapping[str, Any]] = {}

        def answer(view: OrgView, case: _ManifestPart, forward: bool) -> object:
            # `forward`: the view is an old version with some edits, so it still calls roles by their old ids.
            key = (id(view), case.role_id)
            if key not in forms:
                forms[key] = _build_form(view, case.role_id, self.old_names if forward else OldNames({}))
            return _read_manifest_part(forms[key], case)

        causes = find_causes(plain.values(), self.trials, self._can_change, answer)
        for number, change in enumerate(changes):
            case = plain.get(number)
            numbers = causes[case] if case is not None else self._find_causes_by_place(change)
            yield replace(describe_change(change), causes=numbers)

    def _can_change(self, group: int, case: _ManifestPart) -> bool:
        """Whether a group of edits can change a part of a manifest."""
        numbers = self.trials.groups[group]
        if case.role_id is None:
            return True
        old_id = self.old_names.by_new_id.get(case.role_id, case.role_id)
        return any(case.role_id in self._touched[each] or old_id in self._touched[each] for each in numbers)

    def _find_causes_by_place(self, change: Change) -> tuple[int, ...]:
        """Causes of changes that trials cannot show, such as findings: the edits of the same lines, else of the same role."""
        if len(self.edits) == 1:
            return (0,)
        if change.kind in _HIERARCHY_CHANGES:
            of_role = [
                number for number, edit in enumerate(self.edits) if _is_about_role(edit, str(change.path[1]))
            ]
            if of_role:
                return tuple(of_role)
        places = {(why.file, why.line) for why in (*change.why_before, *change.why_after)}
        by_line = [
            number
            for number, edit in enumerate(self.edits)
            if places & {(why.file, why.line) for why in (*edit.why_before, *edit.why_after)}
        ]
        role_id = change.role_id
        by_role = [number for number, touched in enumerate(self._touched) if role_id in touched]
        own = [
            number
            for number, edit in enumerate(self.edits)
            if edit.id and (edit.id == role_id or f"`{edit.id}`" in str(change.path))
        ]
        return tuple(by_line or own or by_role or range(len(self.edits)))

    def _compare_outsiders(self) -> Iterator[Change]:
        """The directory and the mapping of AuthZEN, which no manifest shows."""
        for change in compare_directories(self.old.view, self.new.view):
            kind, _, name = change.path[1].partition(":") if isinstance(change.path[1], str) else ("", "", "")
            section = {"person": "people", "webhook": "webhooks", "system": "system_origins"}.get(kind, "")
            yield self._with_entry_causes(change, section, name)
        for change in compare_authzen(self.old.view, self.new.view):
            yield self._with_entry_causes(change, "organization", "")

    def _with_entry_causes(self, change: Change, section: str, entry_id: str) -> Change:
        numbers = [
            number
            for number, edit in enumerate(self.edits)
            if edit.section == section
            and edit.id == entry_id
            and (section != "organization" or edit.field == "authzen")
        ]
        return replace(describe_change(change), causes=tuple(numbers or range(len(self.edits))))

    # -- answers -------------------------------------------------------------------------------------------------------

    @cached_property
    def _pairs(self) -> tuple[frozenset[AccessPair], ...]:
        """The pairs of subject and resource about which each edit could change an answer, by their ids in the new version."""
        new_ids = {old: new for new, old in self.old_names.by_new_id.items()}
        names = OldNames(new_ids)
        return tuple(
            frozenset(
                AccessPair(names.translate(subject), names.translate(resource))
                for subject, resource in find_pairs((edit,), self.sides)
            )
            for edit in self.edits
        )

    def _compare_access(self, manifest_changes: Sequence[Change]) -> tuple[list[Change], bool]:
        pairs, is_cut = find_access_differences(chain(*self._pairs), self.sides, self.old_names)
        pairs = [
            each
            for each in pairs
            if not _is_in_manifest_changes(each.differences[0].question, manifest_changes)
        ]
        questions = (each.question for pair in pairs for each in pair.differences)
        causes = find_causes(questions, self.trials, self._can_answer, self._answer_again)
        facts = merge_differences(pairs, causes, self._list_actions_decided_alike, self._count_actions)
        return [self._locate(describe_access_change(self.org_id, each)) for each in facts], is_cut

    def _can_answer(self, group: int, question: AccessProbe) -> bool:
        kind, _, name = question.resource.partition(":")
        pair = AccessPair(question.subject, f"{kind}:{name.partition(':')[0]}")
        return any(pair in self._pairs[number] for number in self.trials.groups[group])

    def _answer_again(self, view: OrgView, question: AccessProbe, forward: bool) -> object:
        if forward and self.old_names.by_new_id:
            question = question._replace(
                subject=self.old_names.translate(question.subject),
                resource=self.old_names.translate(question.resource),
            )
        return answer_access(get_access_tables(view), question)

    def _list_actions_decided_alike(self, resource: str, action: str) -> tuple[str, ...]:
        """The actions that both versions decide like an action."""
        groups = []
        for tables, name in (
            (self.sides.tables[0], self.old_names.translate(resource)),
            (self.sides.tables[1], resource),
        ):
            known, _ = tables.find(name)
            groups.append(next((group for group in known.action_groups if action in group), ()))
        both = set(groups[0]) & set(groups[1])
        return tuple(each for each in groups[1] if each in both) or (action,)

    def _count_actions(self, resource: str) -> int:
        return len(self.sides.tables[1].find(resource)[0].actions)

    def _locate(self, change: Change) -> Change:
        """A change with the lines of its causes."""
        edits = [self.edits[number] for number in change.causes]
        return replace(
            change,
            why_before=tuple(dict.fromkeys(why for edit in edits for why in edit.why_before)),
            why_after=tuple(dict.fromkeys(why for edit in edits for why in edit.why_after)),
        )

    def _compare_tasks(self, manifest_changes: Sequence[Change]) -> tuple[list[Change], bool]:
        if not any(map(does_touch_routing, self.edits)):
            return [], False
        known = {str(change.path[1]) for change in manifest_changes if change.path[:1] == ("domains",)}
        tasks = [
            each
            for each in list_tasks(self.edits, self.sides)
            if not (each.kind == "domain" and each.value in known)
        ]
        new_ids = {old: new for new, old in self.old_names.by_new_id.items()}
        differences = find_task_differences(tasks[:MAX_TASKS], self.sides, new_ids)

        def answer(view: OrgView, task: Any, forward: bool) -> object:
            role_id = answer_task(view, task)
            return new_ids.get(role_id, role_id) if role_id is not None and forward else role_id

        def touches(group: int, _task: Any) -> bool:
            return any(does_touch_routing(self.edits[number]) for number in self.trials.groups[group])

        causes = find_causes((each.question for each in differences), self.trials, touches, answer)
        changes = describe_task_changes(self.org_id, differences, causes)
        is_too_large = any(map(does_touch_texts, self.edits)) and is_too_large_for_texts(self.sides)
        return list(map(self._locate, changes)), is_too_large or len(tasks) > MAX_TASKS


def _is_about_role(edit: DeclaredEdit, role_id: str) -> bool:
    """Whether an edit adds, removes or moves a role: in its profile, or in the hierarchy."""
    if edit.section == POSTS:
        return edit.id == role_id and edit.field in ("", "chain_of_command")
    in_hierarchy = edit.section == "organization" and edit.field == "hierarchy"
    if not in_hierarchy:
        return False
    listed = [set(each) if isinstance(each, list) else set() for each in (edit.before, edit.after)]
    return edit.route[1:2] == (role_id,) or role_id in listed[0] ^ listed[1]


def _is_finding(change: Change) -> bool:
    return resolve_address(change.path).part == "findings"


class _ManifestPart(NamedTuple):
    """A part of a manifest, as a question that a version can be asked."""

    role_id: str | None
    part: str
    key: str | None


def _get_manifest_part(change: Change) -> _ManifestPart | None:
    """The part of a manifest in which a change would show again; None if trial versions cannot show it, as for findings."""
    if change.kind in (*_HIERARCHY_CHANGES, "renamed"):
        return None
    role_id, part, key, _ = resolve_address(change.path)
    if part == "findings":
        return None
    if role_id == EVERY_HOLDER:
        role_id = change.roles[0]
    return _ManifestPart(role_id, part, key if part not in ("chain",) else None)


def _build_form(view: OrgView, role_id: str | None, names: OldNames) -> Mapping[str, Any]:
    """The working form of one role, or of the organization without roles, without reasons."""
    own = names.by_new_id.get(role_id, role_id) if role_id is not None else None
    if own is not None and not view.is_role(own):
        return {}
    manifest = build_organization_manifest(view, [] if own is None else [own])
    form = remove_why(build_working_form(manifest))
    return form if own is None else next(iter(form[ROLES]), {})


def _read_manifest_part(form: Mapping[str, Any], case: _ManifestPart) -> object:
    value = form.get(case.part)
    if case.key is not None and isinstance(value, list):
        items = [
            each
            for each in value
            if isinstance(each, dict) and case.key in (each.get("id"), each.get("name"))
        ]
        if items:
            value = items
        # Keys in parentheses, such as `(order)`, name no item.
        elif not case.key.startswith("("):
            value = [
                each for each in value if isinstance(each, dict) and case.key.startswith(str(each.get("id")))
            ]
    return msgspec.json.encode(value)


def _is_in_manifest_changes(question: AccessProbe, manifest_changes: Iterable[Change]) -> bool:
    """Whether the changes of manifests already report the difference that a question about access shows."""
    kind, _, name = question.subject.partition(":")
    if kind != "role":
        return False
    resource_kind, _, resource_id = question.resource.partition(":")
    parts = _PARTS_OF.get(resource_kind, ())
    for change in manifest_changes:
        if change.path[:1] != (ROLES,) or change.classification == "neutral":
            continue
        role_id, part, key, _ = resolve_address(change.path)
        named = key is not None and key.partition("@")[0] == resource_id.partition(":")[0]
        if role_id == name and part in parts and named and len(change.path) == 4:
            return True
    return False


_FIELDS_OF_ANSWERS = frozenset(
    {"level", "allowed_actions", "ask_actions", "conditional_actions", "capped_by", "conditional"}
)


def _is_in_answers(change: Change, answers: Sequence[Change], others: Set[int]) -> bool:
    """Whether changed answers already report the effect of a change of a manifest, a policy or the directory, in plainer words."""
    role_id, part, key, field = resolve_address(change.path)
    if role_id is not None:
        is_neutral_item = field is None and change.classification == "neutral" and part in _PARTS_OF["tool"]
        if field == "capped_by" and others & set(change.causes):
            return True  # another ceiling now decides; the edit that moved it is reported where it changes something
        return (
            part in _PARTS_OF["tool"]
            and (field in _FIELDS_OF_ANSWERS or is_neutral_item)
            and any(
                f"role:{role_id}" in each.subjects and f"tool:{key}" in each.resources for each in answers
            )
        )
    if part not in ("policies", DIRECTORY):
        return False
    effects = {each.classification for each in answers if set(each.causes) & set(change.causes)}
    return change.classification in effects or (
        change.classification in ("neutral", "unclear") and bool(effects)
    )


_PARTS_OF = {
    "tool": ("tools", "essential_tools"),
    "credential": ("credentials",),
    "data": ("data",),
    "role": ("handoff_targets",),
}
