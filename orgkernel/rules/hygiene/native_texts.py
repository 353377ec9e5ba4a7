"""The instructions in an organization's own documents, and the names in them that they call a tool, agent, role, skill or bill."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from orgkernel.diagnostics import Place
from orgkernel.documents.records import Bill
from orgkernel.graph.questions import OrgView
from orgkernel.loading.marks import RouteStep
from orgkernel.loading.sources import SourceDocument
from orgkernel.runtime.lazy_patterns import lazy_pattern

_KINDS = "tool|agent|role|skill|bill"
_NAMED = lazy_pattern(
    rf"\b(?P<before>{_KINDS}) `(?P<after_kind>[A-Za-z][A-Za-z0-9_.-]{{0,99}})`"
    rf"|`(?P<before_kind>[A-Za-z][A-Za-z0-9_.-]{{0,99}})` (?P<after>{_KINDS})\b"
)
# Not an address, a package scope or a call of a decorator. Annotations of programs are mostly in fenced code.
_MENTION = lazy_pattern(r"(?<![\w.@/])@(?P<callsign>[A-Z][A-Za-z0-9_-]{0,99})(?![\w/(])")
_FENCED = lazy_pattern(r"(?ms)^ *(`{3,}|~{3,}).*?^ *\1")


class InstructionText(NamedTuple):
    """A text that agents read."""

    document: SourceDocument
    route: tuple[RouteStep, ...]
    text: str
    owner: str
    """The owner in words, such as `` role `clerk` ``."""
    subject: str
    role_id: str | None
    """The role that it instructs, if it is one."""

    def locate(self, offset: int) -> Place:
        """The place of a character."""
        return self.document.locate_within(offset, *self.route)


class NamedThing(NamedTuple):
    """A name in a text with its stated kind."""

    kind: str
    name: str
    offset: int


def find_named_things(text: str) -> Iterator[NamedThing]:
    """The names in backticks next to the word for their kind: ``the `helm` tool``, ``skill `maps` ``; and agents that are
    addressed by their callsign: `@Worf`.
    """
    for match in _NAMED.finditer(text):
        group = "after_kind" if match["before"] else "before_kind"
        yield NamedThing(match["before"] or match["after"], match[group], match.start(group))
    fenced = [match.span() for match in _FENCED.finditer(text)]
    for match in _MENTION.finditer(text):
        if not any(start <= match.start() < end for start, end in fenced):
            yield NamedThing("callsign", match["callsign"], match.start("callsign"))


def list_instruction_texts(view: OrgView) -> Iterator[InstructionText]:
    """The standing orders, descriptions of roles, skills and bills that are written in orgkernel's own format."""
    records = view.records
    for role_id, post in records.posts.items():
        if not post.document.format:
            owner, subject = f"role `{role_id}`", f"role:{role_id}"
            document, profile = post.document, post.profile
            yield InstructionText(document, ("description",), profile.description, owner, subject, role_id)
            for number, order in enumerate(profile.standing_orders):
                route = ("standing_orders", number)
                yield InstructionText(document, route, order, owner, subject, role_id)
    for (source, target), orders in records.orders.items():
        for order_file in orders:
            if not order_file.document.format:
                role = target if source == "role" else None
                owner = f"the standing orders of {source}" + (f" `{target}`" if target else "")
                subject = f"role:{target}" if role else f"organization:{view.org_id}"
                yield InstructionText(
                    order_file.document, ("body",), order_file.record.body, owner, subject, role
                )
    for name, skill in records.cognitive_skills.items():
        if not skill.document.format:
            record, owner, subject = skill.record, f"skill `{name}`", f"cognitive_skill:{name}"
            for field, text in (("description", record.description), ("body", record.body)):
                yield InstructionText(skill.document, (field,), text, owner, subject, None)
    for slug, written in records.bills.items():
        bill = written.record
        if isinstance(bill, Bill) and not written.format:
            owner, subject = f"bill `{slug}`", f"bill:{slug}"
            yield InstructionText(written, ("description",), bill.description, owner, subject, None)
            for number, step in enumerate(bill.steps):
                yield InstructionText(written, ("steps", number, "name"), step.name, owner, subject, None)
