"""The parts of every explanation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from orgkernel.diagnostics import Place
    from orgkernel.graph.records import OrgRecords
    from orgkernel.graph.schema import Edge


class Why(msgspec.Struct, frozen=True, gc=False):
    """A statement, and the line that supports it."""

    text: str
    file: str
    line: int


class Reason(msgspec.Struct, frozen=True):
    """A step of a decision: a stable code, a sentence, and the supporting lines.

    >>> from orgkernel import Kernel
    >>> reason = Kernel.open().dispatch("software_dev", "bugfix").reasons[0]
    >>> reason.code, reason.why[0].file
    ('HANDLES_DOMAIN', 'templates/software_dev/roles/bugfix_specialist.yaml')
    """

    code: str
    text: str
    why: tuple[Why, ...] = ()


def cite_edge(edge: Edge) -> Why:
    """An edge as a statement with its place."""
    return Why(str(edge), edge.place.file, edge.place.line)


def cite_place(text: str, place: Place) -> Why:
    """A statement with its place."""
    return Why(text, place.file, place.line)


def explain_out_of_service(records: OrgRecords, subject: str) -> tuple[str, tuple[Why, ...]] | None:
    """Why a role or an agent is out of service, with the line of the error. None for every other subject."""
    # Imported here, because the hook of file owners starts with this module and without the rest of the program.
    from orgkernel.graph.out_of_service import find_out_of_service

    out = find_out_of_service(records, subject)
    return None if out is None else (out.reason, (cite_place(out.fault.message, out.fault.place),))
