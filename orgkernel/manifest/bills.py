"""The bills of an organization as an answer: their parts, steps and results, and who may start them."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from orgkernel.decisions.reasons import Why, why_place
from orgkernel.decisions.work.bills.fitness import authorities, fitting_roles, read_bill
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
    parts: int
    steps: int
    file: str


class BillList(msgspec.Struct, frozen=True, kw_only=True):
    """The bills that an organization sees, by name."""

    bills: tuple[BillLine, ...]
    snapshot: str


class BillPart(msgspec.Struct, frozen=True, kw_only=True):
    """A part of a bill, and what an agent needs for it."""

    part: str
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
    """What a rule says about the bill."""

    code: str
    message: str
    file: str
    line: int


class BillPage(msgspec.Struct, frozen=True, kw_only=True):
    """Everything about a bill."""

    bill: str
    version: str
    digest: str
    title: str
    description: str
    author: str
    trigger: str
    authority: str
    activated_by: tuple[str, ...]
    """The roles that may start it by hand."""
    parts: tuple[BillPart, ...]
    steps: tuple[BillStep, ...]
    """As they are written."""
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
                bill=slug, version=bill.edition, title=bill.title, trigger=bill.activation.trigger, parts=len(bill.roles),
                steps=len(bill.steps), file=document.name,
            )
        )  # fmt: skip
    return BillList(bills=tuple(lines), snapshot=view.digest)


def show_bill(view: OrgView, document: SourceDocument, diagnostics: Iterable[Diagnostic]) -> BillPage:
    """A bill with its parts and who can take them, and what the rules say about it."""
    bill = read_bill(document)
    subject = f"bill:{bill.slug}"
    parts = []
    for part, wanted in bill.roles.items():
        least, most = read_count(wanted.count) or (0, 0)
        parts.append(
            BillPart(
                part=part, description=wanted.description, role=wanted.role, department=wanted.department,
                min_rank=wanted.min_rank, qualifications=wanted.qualifications, least=least, most=most,
                roles=fitting_roles(view, wanted), why=(why_place(f"part {part}", document.place("roles", part, key=True)),),
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
        activated_by=authorities(view, bill),
        parts=tuple(parts),
        steps=bill.steps,
        expected_results=bill.expected_results,
        constraints=bill.constraints,
        findings=tuple(
            BillFinding(code=each.code, message=each.message, file=each.place.file, line=each.place.line)
            for each in diagnostics
            if each.subject == subject
        ),
        why=(why_place(subject, document.place("slug")),),
        snapshot=view.digest,
    )
