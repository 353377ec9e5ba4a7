"""Describe the bills of an organization: their bill roles, steps and results, and the roles that may start them."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from orgkernel.decisions.reasons import Why, cite_place
from orgkernel.decisions.work.bills.fitness import find_bill_authorities, find_fitting_roles, read_bill
from orgkernel.decisions.work.bills.flow import read_count
from orgkernel.decisions.work.bills.next_steps import digest_bill
from orgkernel.diagnostics import Diagnostic
from orgkernel.documents.records import BillStep
from orgkernel.graph.questions import OrgView
from orgkernel.loading.sources import SourceDocument


class BillLine(msgspec.Struct, frozen=True, kw_only=True):
    """A bill in a list."""

    bill: str
    version: str
    title: str
    trigger: str
    bill_roles: int
    steps: int
    file: str


class BillList(msgspec.Struct, frozen=True, kw_only=True):
    """The bills that an organization sees, by name."""

    bills: tuple[BillLine, ...]
    snapshot: str


class BillRoleItem(msgspec.Struct, frozen=True, kw_only=True):
    """A bill role, with its requirements for agents."""

    bill_role: str
    description: str
    role: str | None
    department: str | None
    min_rank: str | None
    qualifications: tuple[str, ...]
    least: int
    most: int
    roles: tuple[str, ...]
    """The roles whose holders can take it."""
    why: tuple[Why, ...]


class BillFinding(msgspec.Struct, frozen=True, kw_only=True):
    """A finding about the bill."""

    code: str
    message: str
    file: str
    line: int


class BillPage(msgspec.Struct, frozen=True, kw_only=True):
    """The complete description of a bill."""

    bill: str
    version: str
    digest: str
    title: str
    description: str
    author: str
    trigger: str
    authority: str
    activated_by: tuple[str, ...]
    """The roles that may start it manually."""
    bill_roles: tuple[BillRoleItem, ...]
    steps: tuple[BillStep, ...]
    """The steps as written."""
    expected_results: tuple[str, ...]
    constraints: tuple[str, ...]
    findings: tuple[BillFinding, ...]
    why: tuple[Why, ...]
    snapshot: str


def list_bills(view: OrgView) -> BillList:
    """The bills of an organization."""
    lines = []
    for slug, document in sorted(view.records.bills.items()):
        bill = read_bill(document)
        lines.append(
            BillLine(
                bill=slug, version=bill.edition, title=bill.title, trigger=bill.activation.trigger, bill_roles=len(bill.roles),
                steps=len(bill.steps), file=document.name,
            )
        )  # fmt: skip
    return BillList(bills=tuple(lines), snapshot=view.digest)


def show_bill(view: OrgView, document: SourceDocument, diagnostics: Iterable[Diagnostic]) -> BillPage:
    """A bill with its bill roles, the roles whose holders can take them, and findings about it."""
    bill = read_bill(document)
    subject = f"bill:{bill.slug}"
    bill_roles = []
    for bill_role, wanted in bill.roles.items():
        least, most = read_count(wanted.count) or (0, 0)
        bill_roles.append(
            BillRoleItem(
                bill_role=bill_role, description=wanted.description, role=wanted.role, department=wanted.department,
                min_rank=wanted.min_rank, qualifications=wanted.qualifications, least=least, most=most,
                roles=find_fitting_roles(view, wanted), why=(cite_place(f"bill role {bill_role}", document.place("roles", bill_role, key=True)),),
            )
        )  # fmt: skip
    return BillPage(
        bill=bill.slug,
        version=bill.edition,
        digest=digest_bill(bill),
        title=bill.title,
        description=bill.description,
        author=bill.author,
        trigger=bill.activation.trigger,
        authority=bill.activation.authority,
        activated_by=find_bill_authorities(view, bill),
        bill_roles=tuple(bill_roles),
        steps=bill.steps,
        expected_results=bill.expected_results,
        constraints=bill.constraints,
        findings=tuple(
            BillFinding(code=each.code, message=each.message, file=each.place.file, line=each.place.line)
            for each in diagnostics
            if each.subject == subject
        ),
        why=(cite_place(subject, document.place("slug")),),
        snapshot=view.digest,
    )
