"""A diagnostic: one cause, one place, one line of message, and help where there is any.

Its fingerprint is what stays the same when lines move: its rule, its file, its subject, and its words.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from orgkernel.runtime.lazy_patterns import lazy_pattern


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
    """Lower case, one line, subject first, no final stop."""
    help: str = ""
    """What to do about it; empty when the page of the rule is the best help."""
    subject: str = ""
    """What the finding is about, `role:ID`, `domain:ID`, …; empty for findings about a file."""
    related: tuple[Related, ...] = ()


def sort_diagnostics(diagnostics: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Without repeats, in the order a reader goes through the files."""
    unique = dict.fromkeys(diagnostics)
    return tuple(
        sorted(unique, key=lambda diagnostic: (diagnostic.place, diagnostic.code, diagnostic.message))
    )


# Lines and columns, and numbers that stand alone: `7 roles` may become `8 roles`. A number that is part of a word or of
# user text (in backticks) distinguishes findings.
_PLACE = lazy_pattern(r":\d+(?::\d+)?(?![\w:])")
_NUMBER = lazy_pattern(r"(?<![\w`.-])\d[\d,.]*(?![\w`-])")
_LENGTH = 32


def remove_numbers(message: str) -> str:
    """A message with `#` in place of the lines, columns and counts that change when documents do.

    >>> remove_numbers("role `unit_7` has 8 subordinates, as org.yaml:3:13 says")
    'role `unit_7` has # subordinates, as org.yaml:# says'
    """
    return _NUMBER.sub("#", _PLACE.sub(":#", message))


def fingerprint_message(message: str) -> str:
    """The digest of a message without its numbers."""
    return _digest(remove_numbers(message))


def fingerprint_finding(diagnostic: Diagnostic) -> str:
    """Of rule, file, subject and message; two findings may share it."""
    return _digest(
        "\0".join(
            (
                diagnostic.code,
                diagnostic.place.file,
                diagnostic.subject,
                fingerprint_message(diagnostic.message),
            )
        )
    )


def fingerprint_each(diagnostics: Iterable[Diagnostic]) -> Iterator[tuple[Diagnostic, str]]:
    """Each finding with a fingerprint of its own: equal findings are numbered in their order."""
    seen: Counter[str] = Counter()
    for diagnostic in diagnostics:
        shared = fingerprint_finding(diagnostic)
        yield diagnostic, _digest(f"{shared}\0{seen[shared]}") if seen[shared] else shared
        seen[shared] += 1


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_LENGTH]
