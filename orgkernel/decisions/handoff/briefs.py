"""Check the brief of a hand-off: whether it is valid, and whether it stays within the brief of the sender.

Fails closed: a brief that cannot be read, or whose parent is not stated, never permits anything. One glob is inside
another only if that is certain.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec
from msgspec.structs import replace

from orgkernel.decisions.handoff.permission import HandoffFinding, HandoffStep
from orgkernel.decisions.ownership.claim_terms import is_scope_inside
from orgkernel.decisions.reasons import Why, cite_place
from orgkernel.decisions.work.contracts.findings import Route
from orgkernel.decisions.work.contracts.reading import ReadContract, check_read_contract
from orgkernel.diagnostics import Diagnostic, Severity
from orgkernel.diagnostics.contract_rows import CONTRACT_ROWS
from orgkernel.diagnostics.wording import listing, quote
from orgkernel.documents.records import Brief

UNSOUND = "BRIEF_UNSOUND"
_OF_SENDER = "the brief of the sender"


class HandoffBriefs(msgspec.Struct, frozen=True):
    """The brief that is handed down, and the brief that the sender itself follows."""

    brief: ReadContract | None = None
    parent: ReadContract | None = None


NO_BRIEFS = HandoffBriefs()


def get_brief(read: ReadContract | None) -> Brief | None:
    """The brief in a contract; None if there is none or it cannot be read."""
    return read.contract if read is not None and isinstance(read.contract, Brief) else None


def find_brief_failures(briefs: HandoffBriefs) -> Iterator[HandoffFinding]:
    """The failures of the brief, by its own rules and compared with the brief that it is derived from."""
    read, parent = briefs.brief, briefs.parent
    for each, what in ((read, "the brief"), (parent, _OF_SENDER)):
        if each is not None and get_brief(each) is None:
            yield _report_unreadable(each, what)
    brief = get_brief(read)
    if read is None or brief is None:
        return
    against = parent if get_brief(parent) is not None else None
    for diagnostic in check_read_contract(read, against).diagnostics:
        if diagnostic.severity is Severity.ERROR:
            yield _build_finding("brief", _get_code(diagnostic), diagnostic)
    if brief.parent is not None and parent is None:
        text = f"the brief is derived from brief {quote(brief.parent)}, which is not stated"
        why = (_cite_brief(read, ("parent",), "parent"),)
        yield HandoffFinding("brief", "BRIEF_PARENT_UNSTATED", text, why, ("state the brief of the sender",))


def _report_unreadable(read: ReadContract, what: str) -> HandoffFinding:
    errors = [each for each in read.diagnostics if each.severity is Severity.ERROR]
    message = errors[0].message if errors else f"a document of kind {quote(read.kind)} is not a brief"
    why = tuple(cite_place(each.message, each.place) for each in errors)
    return HandoffFinding("brief", "BRIEF_UNREADABLE", f"{what} cannot be read: {message}", why)


def _get_code(diagnostic: Diagnostic) -> str:
    contract_row = CONTRACT_ROWS.get(diagnostic.code)
    return UNSOUND if contract_row is None else contract_row.name.upper().replace("-", "_")


def _build_finding(step: HandoffStep, code: str, diagnostic: Diagnostic) -> HandoffFinding:
    why = (cite_place(diagnostic.message, diagnostic.place),)
    return HandoffFinding(step, code, diagnostic.message, why, (diagnostic.help,) if diagnostic.help else ())


def _cite_brief(read: ReadContract, route: Route, text: str) -> Why:
    return cite_place(text, read.place(route))


def find_wider_permissions(briefs: HandoffBriefs) -> Iterator[HandoffFinding]:
    """The permissions in the brief that the brief of the sender does not have."""
    brief, parent = get_brief(briefs.brief), get_brief(briefs.parent)
    if brief is None or parent is None or briefs.brief is None:
        return
    more = [each for each in brief.destructive if each not in parent.destructive]
    if more:
        text = f"the brief permits {listing(more)}, which the brief of the sender does not permit"
        route: Route = ("spec", "scope", "destructive", brief.destructive.index(more[0]))
        yield HandoffFinding(
            "permissions", "PARENT_CAP", text, (_cite_brief(briefs.brief, route, "destructive"),)
        )
    for name in ("allow_authentication", "allow_billing", "allow_dependency_change"):
        if getattr(brief, name) and not getattr(parent, name):
            text = f"the brief sets {quote(name)}, which the brief of the sender does not"
            why = (_cite_brief(briefs.brief, ("spec", "scope", name), name),)
            yield HandoffFinding("permissions", "PARENT_CAP", text, why)
    if brief.ship and not parent.ship:
        text = "the brief ships the work, which the brief of the sender does not"
        yield HandoffFinding(
            "permissions", "PARENT_CAP", text, (_cite_brief(briefs.brief, ("ship",), "ship"),)
        )


def find_wider_brief(
    briefs: HandoffBriefs,
    file_scopes: Iterable[tuple[str, tuple[str, ...], tuple[Why, ...]]],
    root: str | None,
) -> Iterator[HandoffFinding]:
    """The files of the brief that are outside of the sender's files.

    `file_scopes` belong to the sender's roles: each has an owner, globs, and their lines.
    """
    brief, parent = get_brief(briefs.brief), get_brief(briefs.parent)
    if brief is None or briefs.brief is None:
        return
    if parent is not None and briefs.parent is not None:
        for finding in _find_files_outside(briefs.brief, brief, parent.files_owned, root, _OF_SENDER):
            line = _cite_brief(briefs.parent, ("spec", "scope", "files_owned"), "files_owned of the sender")
            yield replace(finding, why=(*finding.why, line))
    for whose, held, why in file_scopes:
        for finding in _find_files_outside(briefs.brief, brief, held, root, whose):
            yield replace(finding, why=(*finding.why, *why))


def _find_files_outside(
    read: ReadContract, brief: Brief, held: Sequence[str], root: str | None, whose: str
) -> Iterator[HandoffFinding]:
    """The files of a brief that are not certainly in other globs, with the lines of the brief."""
    for number, owned in enumerate(brief.files_owned):
        if not any(is_scope_inside(owned, each, root) for each in held):
            text = f"the brief owns {quote(owned)}, which might be outside of {whose}"
            here = _cite_brief(read, ("spec", "scope", "files_owned", number), "files_owned")
            yield HandoffFinding("file scope", "BRIEF_EXCEEDS_PARENT", text, (here,))


def find_writes_of_readers(
    briefs: HandoffBriefs, layer: str, why: tuple[Why, ...]
) -> Iterator[HandoffFinding]:
    """The changes in a brief that a read-only layer hands down."""
    brief = get_brief(briefs.brief)
    if brief is None or briefs.brief is None:
        return
    scope = ("spec", "scope")
    for route, changes in ((("files_owned",), brief.files_owned), (("destructive",), brief.destructive)):
        if changes:
            text = f"layer {quote(layer)} is read-only, but the brief sets {quote(route[0])}"
            here = _cite_brief(briefs.brief, (*scope, *route), route[0])
            remedy = "state that a budget guard has fired, if one has"
            yield HandoffFinding("brief", "GOVERNANCE_READ_ONLY", text, (here, *why), (remedy,))
