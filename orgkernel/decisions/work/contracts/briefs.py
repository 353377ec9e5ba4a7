"""The rules for briefs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from orgkernel.decisions.ownership.claim_terms import MAX_PATHS
from orgkernel.decisions.ownership.overlap import explain_unreadable
from orgkernel.decisions.work.contracts.findings import ContractFinding, Route, is_uuid4, say_uncatalogued
from orgkernel.diagnostics import contract_rows as row
from orgkernel.diagnostics.wording import did_you_mean, listing, quote
from orgkernel.documents.records import Brief, Contract
from orgkernel.loading.marks import format_route
from orgkernel.shell.verdict import CATALOG
from orgkernel.shell.verification import why_trivial

MAX_MISSION_LENGTH: Final = 200
_WITH_WORDS: Final = ("mission", "purpose", "done_criteria")


def get_sections(brief: Brief) -> dict[Route, object]:
    """The ten sections by field, with None for a missing one."""
    return {
        ("mission",): brief.mission,
        ("purpose",): brief.purpose,
        ("context",): brief.context,
        ("whats_done",): brief.whats_done,
        ("current_task",): brief.current_task,
        ("done_criteria",): brief.done_criteria,
        ("verify_command",): brief.verify_command,
        ("key_decisions",): brief.key_decisions,
        ("spec", "scope", "files_owned"): brief.spec.scope.files_owned,
        ("relevant_memories",): brief.relevant_memories,
    }


def find_missing_sections(brief: Brief) -> Iterator[ContractFinding]:
    """BRIEF_SECTION_MISSING: a section is missing or empty."""
    required = {("id",): brief.id, **get_sections(brief), ("ship",): brief.ship}
    for route, value in required.items():
        if value is None:
            name = quote(format_route(route))
            yield ContractFinding(
                row.BRIEF_SECTION_MISSING, route, f"the brief has no {name}", f"write {name}"
            )
        elif route[0] in _WITH_WORDS and not str(value).strip():
            name = quote(format_route(route))
            yield ContractFinding(row.BRIEF_SECTION_MISSING, route, f"{name} of the brief is empty")


def find_long_mission(brief: Brief) -> Iterator[ContractFinding]:
    """MISSION_TOO_LONG: the mission exceeds the limit of characters."""
    length = len(brief.mission or "")
    if length > MAX_MISSION_LENGTH:
        message = f"the mission has {length:,} characters, more than {MAX_MISSION_LENGTH}"
        yield ContractFinding(
            row.MISSION_TOO_LONG,
            ("mission",),
            message,
            "divide the mission, or move details to `current_task`",
        )


def find_trivial_verify(brief: Brief) -> Iterator[ContractFinding]:
    """VERIFY_TRIVIAL: the verify command proves nothing."""
    if brief.verify_command is None:
        return
    why = why_trivial(brief.verify_command)
    if why:
        message = f"the verify command {quote(brief.verify_command)} {why}"
        help = "name a command that exits 0 only if the criteria are met"
        yield ContractFinding(row.VERIFY_TRIVIAL, ("verify_command",), message, help)


def find_bad_contract_ids(contract: Contract) -> Iterator[ContractFinding]:
    """CONTRACT_ID_MALFORMED, in a contract of any kind: an id is not a UUID of version 4."""
    for name in ("id", "parent", "replaces", "brief"):
        value = getattr(contract, name, None)
        if value is not None and not is_uuid4(value):
            message = f"{quote(name)} is {quote(value)}, which is not a UUID of version 4"
            yield ContractFinding(row.CONTRACT_ID_MALFORMED, (name,), message)


def find_acts_of_readers(brief: Brief) -> Iterator[ContractFinding]:
    """READ_ONLY_BRIEF_ACTS: a brief without files permits changes."""
    if brief.spec.scope.files_owned != ():
        return
    scope: Route = ("spec", "scope")
    allowed: dict[Route, bool] = {
        (*scope, "destructive"): bool(brief.destructive),
        (*scope, "allow_authentication"): brief.allow_authentication,
        (*scope, "allow_billing"): brief.allow_billing,
        (*scope, "allow_dependency_change"): brief.allow_dependency_change,
        ("ship",): bool(brief.ship),
    }
    if routes := [route for route, is_allowed in allowed.items() if is_allowed]:
        names = listing(str(route[-1]) for route in routes)
        message = f"the brief owns no files, so the work only reads, but it allows {names}"
        yield ContractFinding(row.READ_ONLY_BRIEF_ACTS, routes[0], message)


def find_unreadable_files(brief: Brief) -> Iterator[ContractFinding]:
    """OWNED_FILE_UNREADABLE: an owned path or glob cannot be compared, so it can be neither claimed nor audited."""
    route: Route = ("spec", "scope", "files_owned")
    for number, owned in enumerate(brief.files_owned):
        if problem := explain_unreadable(owned):
            message = f"the brief owns {quote(owned)}, which {problem}"
            help = "write a path or a glob from the root of the project"
            yield ContractFinding(row.OWNED_FILE_UNREADABLE, (*route, number), message, help)
    if len(brief.files_owned) > MAX_PATHS:
        message = f"the brief owns {len(brief.files_owned)} paths, more than {MAX_PATHS}"
        yield ContractFinding(row.OWNED_FILE_UNREADABLE, route, message, "write globs, or several briefs")


def find_unknown_operations(brief: Brief) -> Iterator[ContractFinding]:
    """DESTRUCTIVE_NOT_AUTHORISED: an operation that the brief lists is not in the catalog."""
    for number, operation in enumerate(brief.destructive):
        if operation not in CATALOG:
            route: Route = ("spec", "scope", "destructive", number)
            yield ContractFinding(
                row.DESTRUCTIVE_NOT_AUTHORISED,
                route,
                say_uncatalogued(operation),
                did_you_mean(operation, CATALOG),
            )


def find_other_parent(brief: Brief, parent: Brief) -> Iterator[ContractFinding]:
    """RESULT_BRIEF_MISMATCH, with the parent brief: the brief is derived from another one."""
    if brief.parent != parent.id:
        message = f"the brief is derived from {quote(brief.parent or 'none')}, not from {quote(parent.id or 'none')}"
        yield ContractFinding(row.RESULT_BRIEF_MISMATCH, ("parent",), message, "", ("id",), "the other brief")
