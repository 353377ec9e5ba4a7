"""Standing orders of a role, in this order: federation, organization, department, role.

If two orders conflict, the earlier one takes precedence. Within one source, orders in a folder that organizations share
come before those of the organization.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Literal

import msgspec

from orgkernel.decisions.reasons import Why, cite_place
from orgkernel.diagnostics.wording import quote
from orgkernel.graph.questions import OrgView

OrderSource = Literal["federation", "organization", "department", "role", "profile"]
PRECEDENCE: tuple[OrderSource, ...] = ("federation", "organization", "department", "role", "profile")
"""The sources, highest precedence first. `profile` are the orders in the profile of the role."""


class OrderSection(msgspec.Struct, frozen=True):
    """The orders of one source."""

    source: OrderSource
    target: str
    """The id of the organization, department or role; empty for the federation."""
    file: str
    line: int
    sha256: str
    """The SHA-256 of the file; for orders in a profile, of their text."""
    text: str


class StandingOrders(msgspec.Struct, frozen=True):
    """The orders of a role, highest precedence first."""

    org_id: str
    role_id: str
    sections: tuple[OrderSection, ...]
    digest: str
    """The digest of the sources, targets and digests of all sections, in this order."""
    why: tuple[Why, ...]
    snapshot: str


def compose_orders(view: OrgView, role_id: str) -> StandingOrders:
    """The standing orders of a role."""
    sections = tuple(_list_sections(view, role_id))
    digest_text = "".join(f"{section.source}\0{section.target}\0{section.sha256}\n" for section in sections)
    why = tuple(
        Why(
            f"orders of the {section.source}{f' {quote(section.target)}' * bool(section.target)}",
            section.file,
            section.line,
        )
        for section in sections
    )
    digest = "sha256:" + hashlib.sha256(digest_text.encode()).hexdigest()
    return StandingOrders(view.org_id, role_id, sections, digest, why, view.digest)


def _list_sections(view: OrgView, role_id: str) -> Iterator[OrderSection]:
    post = view.records.posts[role_id]
    targets = {
        "federation": "",
        "organization": "",
        "department": post.profile.department,
        "role": role_id,
    }
    for source in PRECEDENCE:
        target = targets.get(source)
        orders = () if target is None else view.records.orders.get((source, target), ())
        for each in orders:
            place = each.place()
            named = view.org_id if source == "organization" else target or ""
            yield OrderSection(source, named, place.file, place.line, each.document.digest, each.record.body)
    listed = post.profile.standing_orders
    if listed:
        text = "".join(f"- {order}\n" for order in listed)
        where = cite_place("", post.place("standing_orders", key=True))
        digest = hashlib.sha256(text.encode()).hexdigest()
        yield OrderSection("profile", role_id, where.file, where.line, digest, text)
