"""What stays the same about a finding when lines move: its rule, file, subject and message."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator

from orgkernel.diagnostics.diagnostic import Diagnostic

# Lines and columns, and numbers that stand alone: `7 roles` may become `8 roles`. A number that is part of a word or of
# user text (in backticks) distinguishes findings.
_PLACE = re.compile(r":\d+(?::\d+)?(?![\w:])")
_NUMBER = re.compile(r"(?<![\w`.-])\d[\d,.]*(?![\w`-])")
_LENGTH = 32


def fingerprint_message(message: str) -> str:
    """Of a message without its numbers."""
    return _digest(_NUMBER.sub("#", _PLACE.sub(":#", message)))


def fingerprint_finding(found: Diagnostic) -> str:
    """Of rule, file, subject and message; two findings may share it."""
    return _digest(
        "\0".join((found.code, found.place.file, found.subject, fingerprint_message(found.message)))
    )


def fingerprint_each(diagnostics: Iterable[Diagnostic]) -> Iterator[tuple[Diagnostic, str]]:
    """Each finding with a fingerprint of its own: equal findings are numbered in their order."""
    seen: Counter[str] = Counter()
    for found in diagnostics:
        shared = fingerprint_finding(found)
        yield found, _digest(f"{shared}\0{seen[shared]}") if seen[shared] else shared
        seen[shared] += 1


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_LENGTH]
