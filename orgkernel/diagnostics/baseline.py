"""A baseline: the findings that an existing organization may keep. It contains no line numbers, so moving a finding
changes nothing.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from orgkernel.diagnostics.diagnostic import Diagnostic, fingerprint_message
from orgkernel.diagnostics.wording import quote
from orgkernel.errors import BadBaseline

VERSION: Final = "1"
# Deliberately not a field of any document, so a baseline is not read as one.
_MARK: Final = "orgkernel_baseline"
HELP: Final = "write one with `--write-baseline FILE`, where FILE is new or already a baseline"


class Entry(NamedTuple):
    """Findings that differ only in their place in the file."""

    code: str
    file: str
    """Relative to the folder of the baseline."""
    subject: str
    message: str
    """Fingerprint of the message."""


FindingKey = Callable[[str], str]
"""Maps the file name of a finding to its name in the baseline."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Findings compared with a baseline."""

    new: tuple[Diagnostic, ...]
    known: int
    """Number of findings that the baseline allows."""
    stale: tuple[Entry, ...]
    """Entries that allow more findings than exist."""


def build_entry(diagnostic: Diagnostic, name: FindingKey) -> Entry:
    """The entry of a finding."""
    return Entry(
        diagnostic.code,
        name(diagnostic.place.file),
        diagnostic.subject,
        fingerprint_message(diagnostic.message),
    )


def build_baseline(diagnostics: Iterable[Diagnostic], name: FindingKey) -> dict[Entry, int]:
    """All findings, counted by entry."""
    return dict(Counter(build_entry(diagnostic, name) for diagnostic in diagnostics))


def compare(
    baseline: Mapping[Entry, int],
    diagnostics: Iterable[Diagnostic],
    name: FindingKey,
    is_asked: Callable[[str], bool] = lambda _: True,
) -> Comparison:
    """Which findings are new, and which entries are stale.

    If there are more equal findings than the entry allows, the first ones in the file are treated as known. Entries
    for files that were not checked are never stale.
    """
    left = dict(baseline)
    new: list[Diagnostic] = []
    known = 0
    for diagnostic in diagnostics:
        entry = build_entry(diagnostic, name)
        if left.get(entry, 0):
            left[entry] -= 1
            known += 1
        else:
            new.append(diagnostic)
    stale = tuple(sorted(entry for entry, count in left.items() if count and is_asked(entry.file)))
    return Comparison(tuple(new), known, stale)


def render_baseline(baseline: Mapping[Entry, int]) -> str:
    """The baseline as JSON with one line per entry, sorted, so changes can be reviewed and merged."""
    lines = ",\n".join(
        f"    {json.dumps({**entry._asdict(), 'count': count})}" for entry, count in sorted(baseline.items())
    )
    entries = f"[\n{lines}\n  ]" if lines else "[]"
    return f'{{\n  "{_MARK}": "{VERSION}",\n  "entries": {entries}\n}}\n'


def parse_baseline(text: str, path: str) -> dict[Entry, int]:
    """The baseline in a file. Raises `BadBaseline`, naming `path`."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadBaseline(f"{quote(path)} is not a baseline: {_describe_error(error)}", HELP) from None
    if not isinstance(data, dict) or _MARK not in data:
        raise BadBaseline(f"{quote(path)} is not a baseline: it has no {quote(_MARK)}", HELP)
    if str(data[_MARK]) != VERSION:
        raise BadBaseline(
            f"{quote(path)} is a baseline of version {quote(data[_MARK])}, but this program reads version `{VERSION}`",
            "use the program that wrote it, or delete it and write a new one with `--write-baseline`",
        )
    entries = data.get("entries")
    if not isinstance(entries, list):
        raise BadBaseline(f"{quote(path)} is not a baseline: it has no list `entries`", HELP)
    baseline: dict[Entry, int] = {}
    for number, each in enumerate(entries, 1):
        entry, count = _read_entry(each, number, path)
        # After a merge of two branches, an entry can occur twice. It still stands for the same findings.
        baseline[entry] = max(count, baseline.get(entry, 0))
    return baseline


def _read_entry(data: Any, number: int, path: str) -> tuple[Entry, int]:
    fields = data if isinstance(data, dict) else {}
    words = [word for word in map(fields.get, Entry._fields) if isinstance(word, str)]
    count = fields.get("count")
    if len(words) < len(Entry._fields) or type(count) is not int or count < 1:
        wanted = ", ".join(f"`{name}`" for name in Entry._fields)
        raise BadBaseline(
            f"{quote(path)} is not a baseline: entry {number:,} lacks one of {wanted} and a `count` above 0",
            HELP,
        )
    return Entry(*words), count


def _describe_error(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"line {error.lineno} is not JSON"
    return "it is not JSON"
