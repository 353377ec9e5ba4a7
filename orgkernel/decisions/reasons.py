"""The parts every answer is explained with."""

from __future__ import annotations

import msgspec

from orgkernel.diagnostics import Place
from orgkernel.graph.schema import Edge


class Why(msgspec.Struct, frozen=True, gc=False):
    """A sentence, and the line that says so."""

    text: str
    file: str
    line: int


class Reason(msgspec.Struct, frozen=True):
    """A step of a decision: a stable code, a sentence, and the lines it rests on.

    >>> from orgkernel import Kernel
    >>> reason = Kernel.open().dispatch("software_dev", "bugfix").reasons[0]
    >>> reason.code, reason.why[0].file
    ('HANDLES_DOMAIN', 'templates/software_dev/roles/bugfix_specialist.yaml')
    """

    code: str
    text: str
    why: tuple[Why, ...] = ()


def why_edge(edge: Edge) -> Why:
    """An edge as a sentence with its place."""
    return Why(str(edge), edge.place.file, edge.place.line)


def why_place(text: str, place: Place) -> Why:
    """Any statement with its place."""
    return Why(text, place.file, place.line)
