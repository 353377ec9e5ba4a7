"""A diagnostic: one cause, one place, one line of message, and help where there is any.

Its fingerprint does not change when lines move. It consists of the rule, the file, the subject and the words of the
message.
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
    """The severity of a finding. Severities are ordered as defined, worst first.

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
    """Name of the rule, such as `unknown-superior`."""
    severity: Severity
    message: str
    """The message: lower case, one line, subject first, no final period."""
    help: str = ""
    """The remedy. Empty if the page of the rule is the best help."""
    subject: str = ""
    """The subject of the finding: `role:ID`, `domain:ID`, …. Empty for findings about a file."""
    related: tuple[Related, ...] = ()


def sort_diagnostics(diagnostics: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Findings without duplicates, in the order in which a reader goes through the files."""
    unique = dict.fromkeys(diagnostics)
    return tuple(
        sorted(unique, key=lambda diagnostic: (diagnostic.place, diagnostic.code, diagnostic.message))
    )


# Lines and columns, and separate numbers, can change: `7 roles` can become `8 roles`. A number in a word or in user
# text (in backticks) distinguishes findings.
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
    """Fingerprint of rule, file, subject and message. Two findings can have the same one."""
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


def fingerprint_findings(diagnostics: Iterable[Diagnostic]) -> Iterator[tuple[Diagnostic, str]]:
    """Each finding with a unique fingerprint: equal findings are numbered in order."""
    seen: Counter[str] = Counter()
    for diagnostic in diagnostics:
        shared = fingerprint_finding(diagnostic)
        yield diagnostic, _digest(f"{shared}\0{seen[shared]}") if seen[shared] else shared
        seen[shared] += 1


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_LENGTH]
