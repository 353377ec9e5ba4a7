"""Run the rules over a tree."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain, groupby

from orgkernel.diagnostics import Diagnostic, Severity
from orgkernel.documents.records import RoleProfile
from orgkernel.graph.assemble import Assembly
from orgkernel.graph.questions import OrgView
from orgkernel.graph.records import RolePost
from orgkernel.loading.sources import LoadedFiles, SourceDocument
from orgkernel.rules.catalog import select_rules
from orgkernel.rules.hygiene.org704_secret_shaped_string import share_budget
from orgkernel.rules.rule import RuleTarget
from orgkernel.snapshots.snapshot import FoundInDocuments


def check_documents(tree: LoadedFiles, known_findings: FoundInDocuments) -> FoundInDocuments:
    """Findings about single documents, before suppressions. Those of unchanged documents are reused.

    The shared catalogs are left out while they are only context: they come with the package, and `check --shipped` checks them.
    """
    rules = select_rules(RuleTarget.DOCUMENT)
    findings: dict[SourceDocument, tuple[Diagnostic, ...]] = {}
    for _, documents in groupby(tree.documents, key=lambda document: document.name):
        with share_budget():
            for document in documents:
                if document in known_findings:
                    findings[document] = known_findings[document]
                elif not (document.shared and document.context):
                    findings[document] = tuple(each for rule in rules for each in rule.run(document))
    return findings


def check_profiles(assembly: Assembly, known_findings: FoundInDocuments) -> FoundInDocuments:
    """Findings about single profiles without overrides, before suppressions. Those of unchanged profiles are reused."""
    posts = chain(
        *(organization.posts.values() for organization in assembly.organizations),
        map(build_stray_post, assembly.stray_profiles),
    )
    return {
        post.document: known_findings[post.document] if post.document in known_findings else check_post(post)
        for post in posts
        if post.is_as_written
    }


def check_post(post: RolePost) -> tuple[Diagnostic, ...]:
    """Findings about one profile in its organization."""
    return tuple(diagnostic for rule in select_rules(RuleTarget.PROFILE) for diagnostic in rule.run((post,)))


def check_organization(view: OrgView, in_profiles: FoundInDocuments) -> list[Diagnostic]:
    """Findings about one organization, before suppressions."""
    diagnostics: list[Diagnostic] = []
    for post in view.posts:
        diagnostics += in_profiles[post.document] if post.is_as_written else check_post(post)
    for rule in select_rules(RuleTarget.CATALOG) + select_rules(RuleTarget.ORGANIZATION):
        diagnostics += rule.run(view)
    return diagnostics


def check_tree(
    tree: LoadedFiles, assembly: Assembly, loose: OrgView | None, in_profiles: FoundInDocuments
) -> list[Diagnostic]:
    """Findings about reading, and about documents outside organizations, before suppressions."""
    diagnostics = list(tree.diagnostics)
    for document in assembly.stray_profiles:
        diagnostics += in_profiles[document]
    if loose is not None:
        for rule in select_rules(RuleTarget.CATALOG):
            diagnostics += rule.run(loose)
    for rule in select_rules(RuleTarget.TREE):
        diagnostics += rule.run(assembly)
    return diagnostics


def build_stray_post(document: SourceDocument) -> RolePost:
    """A view of a profile that no organization includes."""
    assert isinstance(document.record, RoleProfile)
    return RolePost(document.record.role_id, document, document)


def suppress(diagnostics: Iterable[Diagnostic], tree: LoadedFiles) -> list[Diagnostic]:
    """The findings without suppressed ones, plus findings about the suppressions.

    While a file cannot be read, findings about suppressions are left out, because the suppressed findings could be missing.
    """
    by_file: dict[str, list[SourceDocument]] = defaultdict(list)
    for document in tree.documents:
        by_file[document.name].append(document)
    laid_over: dict[str, list[SourceDocument]] = defaultdict(list)
    for document in tree.documents:
        for part in document.parts if len(document.parts) > 1 else ():
            laid_over[document.name].append(part)
    used: dict[int, set[int]] = defaultdict(set)
    kept = []
    for diagnostic in diagnostics:
        matches = [
            (document, number)
            for document in by_file.get(diagnostic.place.file, ())
            for number in _find_suppressions(document, diagnostic)
        ]
        # Suppressions in an overlay also apply to the file of its role.
        matches += (
            (part, number)
            for part in laid_over.get(diagnostic.place.file, ())
            if part.name != diagnostic.place.file and _is_about(part, diagnostic)
            for number in _find_suppressions(part, diagnostic)
        )
        for document, number in matches:
            used[id(document)].add(number)
        if not matches:
            kept.append(diagnostic)
    for each in by_file.values():
        for document in each:
            if document.record.suppressions and not tree.broken:
                for rule in select_rules(RuleTarget.SUPPRESSION):
                    kept += rule.run(document, frozenset(used[id(document)]))
    return kept


def _is_about(overlay: SourceDocument, diagnostic: Diagnostic) -> bool:
    record = overlay.record
    return isinstance(record, RoleProfile) and diagnostic.subject == f"role:{record.role_id}"


def is_suppressed(diagnostic: Diagnostic, tree: LoadedFiles) -> bool:
    """Whether a document of its file suppresses a finding."""
    return any(
        any(True for _ in _find_suppressions(part, diagnostic))
        for document in tree.documents
        if document.name == diagnostic.place.file
        for part in (document, *document.parts)
        if part.name == document.name or _is_about(part, diagnostic)
    )


def _find_suppressions(document: SourceDocument, diagnostic: Diagnostic) -> Iterator[int]:
    """The suppressions of a document that match a finding."""
    for number, suppression in enumerate(document.record.suppressions):
        if suppression.rule == diagnostic.code and suppression.subject in (None, diagnostic.subject):
            yield number


def apply_severities(
    diagnostics: Iterable[Diagnostic], severities: Mapping[str, Severity | None]
) -> list[Diagnostic]:
    """The findings with the severities of the project. None switches a rule off."""
    changed = []
    for diagnostic in diagnostics:
        severity = severities.get(diagnostic.code, diagnostic.severity)
        if severity is diagnostic.severity:
            changed.append(diagnostic)
        elif severity is not None:
            changed.append(replace(diagnostic, severity=severity))
    return changed
