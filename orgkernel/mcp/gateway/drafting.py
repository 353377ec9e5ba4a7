"""Proposals as a diff of the documents: each edit is made, and kept if the organization has no new error with it."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from orgkernel.diagnostics import Diagnostic, Severity
from orgkernel.diagnostics.diagnostic import fingerprint_finding
from orgkernel.diagnostics.wording import listing
from orgkernel.graph.questions import OrgView
from orgkernel.graph.records import RolePost
from orgkernel.kernel.kernel import Kernel
from orgkernel.loading.files import SourceText, is_file, read_text
from orgkernel.loading.sources import SourceDocument
from orgkernel.mcp.gateway.proposals import NARROWING, UseProposal
from orgkernel.project.edits.policies import add_policy, name_policy, new_policies, policy_lines
from orgkernel.project.edits.roles import add_tool, limit_tool
from orgkernel.project.edits.text_diff import byte_order_mark, patch_names, unified_diff
from orgkernel.project.edits.yaml_lists import CannotEdit

_NEW_FILES = ("policies.yaml", "asking.yaml")


class DraftedProposals(NamedTuple):
    """The draft of the proposals."""

    diff: str
    proposals: tuple[UseProposal, ...]
    """All proposals; those that are not in the diff have the reason."""
    findings: tuple[str, ...]
    """Further findings of `orgkernel check` after the diff. They are never errors."""
    folder: str
    """The folder to apply the diff in, relative to the caller's folder."""


class _Texts:
    """The contents of files after edits."""

    def __init__(self) -> None:
        self.old: dict[str, SourceText] = {}
        self.new: dict[str, SourceText] = {}

    def read(self, document: SourceDocument) -> SourceText:
        """The current content of a document with its edits. Raises `CannotEdit`."""
        path = document.path
        if path not in self.new:
            source = read_text(path, document.name)
            if source.problem is not None or source.digest != document.digest:
                raise CannotEdit("the file has changed since it was read")
            self.old[path] = self.new[path] = source
        return self.new[path]

    def changed(self) -> dict[str, str]:
        return {
            path: source.text
            for path, source in self.new.items()
            if path not in self.old or source.text != self.old[path].text
        }


def draft_diff(
    kernel: Kernel, org_id: str, proposals: Sequence[UseProposal], folder: str
) -> DraftedProposals:
    """Make the edits of the proposals that have none of `by_hand`, as far as they cause no error."""
    drafting = _Drafting(kernel, kernel.organization(org_id).snapshot.index)
    wanted = [number for number, each in enumerate(proposals) if not each.by_hand]
    kept = drafting.fitting(proposals, wanted)
    texts = drafting.edited(proposals, kept)
    drafted_proposals = tuple(
        msgspec.structs.replace(each, by_hand=drafting.refused[number])
        if number in drafting.refused
        else each
        for number, each in enumerate(proposals)
    )
    changed = texts.changed()
    findings = [each for each in drafting.find_new_findings(changed) if each.severity is not Severity.ERROR]
    base = _find_common_folder([*changed], folder)
    return DraftedProposals(
        "".join(_render_diff(texts, path, base) for path in sorted(changed)),
        drafted_proposals,
        tuple(f"{each.place}: {each.severity.value}[{each.code}] {each.message}" for each in findings),
        os.path.relpath(base, os.path.realpath(folder)),
    )


class _Drafting:
    def __init__(self, kernel: Kernel, view: OrgView) -> None:
        self._kernel = kernel
        self._view = view
        self.refused: dict[int, str] = {}
        """Reasons why proposals are not in the diff, keyed by number."""
        self._edits: dict[tuple[str, ...], SourceText] = {}
        self._before = Counter(map(fingerprint_finding, kernel.state.latest.diagnostics))

    def fitting(self, proposals: Sequence[UseProposal], wanted: list[int]) -> list[int]:
        """The proposals that together cause no error.

        Proposals for a role with an error are left out, and then tried again, one for each role at a time.
        """
        kept, late = wanted, list[int]()
        while errors := self._list_errors(proposals, kept):
            blamed = self._blame(proposals, kept, errors)
            if not blamed:
                return self._search_halves(proposals, [], wanted)
            kept, late = [each for each in kept if each not in blamed], sorted([*late, *blamed])
        while late:
            turn = [*{proposals[each].role: each for each in reversed(late)}.values()]
            late = [each for each in late if each not in turn]
            while errors := self._list_errors(proposals, [*kept, *turn]):
                blamed = self._blame(proposals, turn, errors) or dict.fromkeys(turn, errors[0])
                self.refused.update(
                    {each: _describe_error(diagnostic) for each, diagnostic in blamed.items()}
                )
                turn = [each for each in turn if each not in blamed]
            kept = sorted([*kept, *turn])
        return kept

    def _search_halves(self, proposals: Sequence[UseProposal], kept: list[int], more: list[int]) -> list[int]:
        """The same for errors that concern no edited role: all proposals, or else the valid ones of each half."""
        errors = self._list_errors(proposals, [*kept, *more])
        if not errors:
            return [*kept, *more]
        if len(more) == 1:
            self.refused[more[0]] = _describe_error(errors[0])
            return kept
        middle = len(more) // 2
        return self._search_halves(
            proposals, self._search_halves(proposals, kept, more[:middle]), more[middle:]
        )

    def _list_errors(self, proposals: Sequence[UseProposal], numbers: Sequence[int]) -> list[Diagnostic]:
        changed = self.edited(proposals, numbers).changed()
        return [each for each in self.find_new_findings(changed) if each.severity is Severity.ERROR]

    def _blame(
        self, proposals: Sequence[UseProposal], numbers: Sequence[int], errors: Sequence[Diagnostic]
    ) -> dict[int, Diagnostic]:
        """The proposals for roles that errors name, or in whose files the errors are."""
        about = {each.subject: each for each in reversed(errors)}
        inside = {each.place.file: each for each in reversed(errors) if not each.subject.startswith("role:")}
        blamed: dict[int, Diagnostic] = {}
        for number in numbers:
            role = proposals[number].role
            files = (part.name for part in self._view.records.posts[role].document.parts)
            diagnostic = about.get(f"role:{role}") or next(
                (inside[name] for name in files if name in inside), None
            )
            if diagnostic is not None:
                blamed[number] = diagnostic
        return blamed

    def edited(self, proposals: Sequence[UseProposal], numbers: Sequence[int]) -> _Texts:
        """The contents after some proposals. A proposal that cannot be edited is refused and changes nothing."""
        texts = _Texts()
        for number in numbers:
            before = dict(texts.new)
            try:
                self._edit(texts, proposals[number])
            except CannotEdit as error:
                texts.new = before
                self.refused[number] = str(error)
        return texts

    def find_new_findings(self, changed: dict[str, str]) -> list[Diagnostic]:
        """The findings that other contents would cause and that do not exist now."""
        if not changed:
            return []
        left, findings = Counter(self._before), []
        for each in self._kernel.draft(changed).diagnostics:
            key = fingerprint_finding(each)
            if left[key]:
                left[key] -= 1
            else:
                findings.append(each)
        return findings

    def _edit(self, texts: _Texts, proposal: UseProposal) -> None:
        post = self._view.records.posts[proposal.role]
        others = self._view.records.elsewhere.get(proposal.role, ())
        if others:
            raise CannotEdit(f"the profile belongs to {listing(others)} too")
        if proposal.kind in NARROWING:
            for part in self._list_parts(post, proposal):
                texts.new[part.path] = self._narrow(texts.read(part), proposal)
            return
        assert proposal.level is not None
        part = _get_own_document(post.document.part(("capabilities", "tools")))
        source = add_tool(texts.read(part), proposal.role, proposal.tool, proposal.level)
        self._add_policy(texts, proposal)
        texts.new[part.path] = source

    def _narrow(self, source: SourceText, proposal: UseProposal) -> SourceText:
        """Make an edit of a content once, even if several drafts contain it."""
        key = source.path, source.text, proposal.role, proposal.tool
        if key not in self._edits:
            self._edits[key] = limit_tool(source, proposal.role, proposal.tool, proposal.level)
        return self._edits[key]

    def _list_parts(self, post: RolePost, proposal: UseProposal) -> list[SourceDocument]:
        """The documents that give the tool to the role. Raises `CannotEdit`."""
        files = {edge.place.file for edge in self._view.find_equipping_edges(proposal.role, proposal.tool)}
        return [_get_own_document(part) for part in post.document.parts if part.name in files]

    def _add_policy(self, texts: _Texts, proposal: UseProposal) -> None:
        """Ask before each use. Raises `CannotEdit`."""
        records = self._view.records
        policy_id = name_policy(proposal.role, proposal.tool, records.policies)
        lines = policy_lines(policy_id, proposal.role, proposal.tool)
        for definition in records.policies.values():
            document = definition.document
            if definition.own and not (document.format or document.shared or document.context):
                texts.new[document.path] = add_policy(texts.read(document), policy_id, lines)
                return
        home, around = (
            os.path.dirname(_get_own_document(records.document).path),
            os.path.dirname(records.document.name),
        )
        for name in _NEW_FILES:
            path = os.path.join(home, name)
            if path in texts.new and path not in texts.old:
                texts.new[path] = add_policy(texts.new[path], policy_id, lines)
                return
            if not is_file(path):
                texts.new[path] = SourceText(path, os.path.join(around, name), new_policies(lines), "")
                return
        raise CannotEdit("there is no file for a policy")


def _describe_error(error: Diagnostic) -> str:
    return f"it would be an error: {error.message} [{error.code}]"


def _get_own_document(document: SourceDocument) -> SourceDocument:
    """An orgkernel document that belongs to this organization only. Raises `CannotEdit`."""
    if document.format:
        raise CannotEdit(f"{document.name} is in another format")
    if document.shared or document.context:
        raise CannotEdit(f"{document.name} is shared with other organizations")
    return document


def _find_common_folder(paths: Sequence[str], folder: str) -> str:
    """The folder that contains all files: the caller's folder, if possible."""
    here = os.path.realpath(folder)
    folders = [os.path.dirname(os.path.realpath(path)) for path in paths]
    if all(each == here or each.startswith(here.rstrip(os.sep) + os.sep) for each in folders):
        return here
    return os.path.commonpath(folders)


def _render_diff(texts: _Texts, path: str, folder: str) -> str:
    name = os.path.relpath(os.path.realpath(path), folder).replace(os.sep, "/")
    old, new = texts.old.get(path), texts.new[path]
    names = patch_names(name, is_new=old is None)
    if old is None:
        return unified_diff("", new.text, *names)
    mark = byte_order_mark(path)
    return unified_diff(mark + old.text, mark + new.text, *names)
