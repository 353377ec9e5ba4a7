"""A diagnostic: one cause, one place, one line of message, and help where there is any."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple


class Severity(Enum):
    """How much a finding matters; the order is the order of definition, worst first.

    >>> Severity.ERROR.reaches(Severity.WARNING), Severity("info").reaches(Severity.WARNING)
    (True, False)
    """

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"

    def reaches(self, threshold: Severity) -> bool:
        """Whether this is at least as bad as `threshold`."""
        return _BADNESS[self] >= _BADNESS[threshold]


_BADNESS = {Severity.ERROR: 2, Severity.WARNING: 1, Severity.INFO: 0}


class Place(NamedTuple):
    """A position in a source file; line and column count from 1, columns in characters.

    >>> str(Place("roles/co.yaml", 7, 12))
    'roles/co.yaml:7:12'
    """

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


@dataclass(frozen=True, slots=True)
class Related:
    """Another place that explains the finding."""

    place: Place
    text: str


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """A finding as it is reported: frozen, comparable, ordered by `sort_diagnostics`.

    >>> place = Place("org.yaml", 3, 13)
    >>> found = Diagnostic(place, "ORG201", "missing-profile", Severity.ERROR, "role `co` has no profile")
    >>> found.code, found.severity.value
    ('ORG201', 'error')
    """

    place: Place
    code: str
    name: str
    """What the code is called, such as `unknown-superior`."""
    severity: Severity
    message: str
    """Lower case, one line, subject first, no final stop (style guide §6)."""
    help: str = ""
    """What to do about it; empty when the page of the rule is the best help."""
    subject: str = ""
    """What the finding is about, `role:ID`, `domain:ID`, …; empty for findings about a file."""
    related: tuple[Related, ...] = ()


def sort_diagnostics(diagnostics: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Without repeats, in the order a reader goes through the files."""
    unique = dict.fromkeys(diagnostics)
    return tuple(sorted(unique, key=lambda found: (found.place, found.code, found.message)))
