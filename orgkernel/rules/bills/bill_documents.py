"""Shared code of the rules about bills (ORG631 to ORG639)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from orgkernel.diagnostics.wording import quote
from orgkernel.documents.records import Bill, BillRole
from orgkernel.graph.questions import OrgView
from orgkernel.loading.marks import RouteStep
from orgkernel.loading.sources import SourceDocument
from orgkernel.rules.rule import Finding


class WrittenBill(NamedTuple):
    """A bill and its document."""

    bill: Bill
    document: SourceDocument

    def build_finding(self, message: str, help: str, *route: RouteStep, key: bool = False) -> Finding:
        """Build a finding about the bill at a route in it. `message` continues after the name of the bill."""
        name = quote(self.bill.slug)
        place = self.document.place(*route, key=key)
        return Finding(place, f"bill {name} {message}", help, f"bill:{self.bill.slug}")

    def build_step_finding(self, number: int, message: str, help: str, *route: RouteStep) -> Finding:
        """Build a finding about a step."""
        step = quote(self.bill.steps[number].id)
        place = self.document.place("steps", number, *(route or ("id",)))
        text = f"step {step} of bill {quote(self.bill.slug)} {message}"
        return Finding(place, text, help, f"bill:{self.bill.slug}")


def read_bill(document: SourceDocument) -> WrittenBill | None:
    """The bill of a document, if it is one."""
    # Check the kind first: there can be a hundred thousand documents, and only bills need their records here.
    if document.kind != "bill" or not isinstance(document.record, Bill):
        return None
    return WrittenBill(document.record, document)


def iterate_bills(view: OrgView) -> Iterator[WrittenBill]:
    """The bills that an organization sees."""
    for document in view.records.bills.values():
        bill = read_bill(document)
        if bill is not None:
            yield bill


def is_declared(view: OrgView, wanted: BillRole) -> bool:
    """Whether all names in a bill role are declared. ORG631 reports the others."""
    records = view.records
    return (
        (wanted.role is None or view.is_role(wanted.role))
        and (wanted.department is None or wanted.department in list_departments(view))
        and (wanted.min_rank is None or any(rank.id == wanted.min_rank for rank in records.ranks))
    )


def list_departments(view: OrgView) -> frozenset[str]:
    """The departments that the organization declares, and the departments of its roles."""
    declared = view.records.organization.departments
    return frozenset(
        (*declared, *(post.profile.department for post in view.posts if post.profile.department))
    )


def find_roles(view: OrgView, wanted: BillRole) -> tuple[str, ...]:
    """The roles whose holders can take a bill role. Empty if the bill role names something that is not declared."""
    from orgkernel.decisions.work.bills.fitness import find_fitting_roles  # most organizations have no bills

    return find_fitting_roles(view, wanted) if is_declared(view, wanted) else ()
