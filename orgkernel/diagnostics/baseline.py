"""A baseline: the findings that an existing organization may keep. It contains no line numbers, so moving a finding
changes nothing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from orgkernel.diagnostics.diagnostic import Diagnostic, fingerprint_message, remove_numbers
from orgkernel.diagnostics.wording import clean, quote
from orgkernel.errors import BadBaseline
from orgkernel.runtime.lazy_patterns import lazy_pattern

VERSION: Final = "1"
# Not a field of any document, so a baseline is never read as one.
_MARK: Final = "orgkernel_baseline"
# A file name that is not valid UTF-8 contains these.
_SURROGATE: Final = lazy_pattern(r"[\ud800-\udfff]")
HELP: Final = "write one with `--write-baseline FILE`, where FILE is new or already a baseline"


class Entry(NamedTuple):
    """Findings that differ only in their place in the file."""

    code: str
    file: str
    """Relative to the folder of the baseline."""
    subject: str
    message: str
    """Fingerprint of the message."""


class Allowed(NamedTuple):
    """The findings that a baseline allows for one entry."""

    number: int
    text: str = ""
    """The message without its numbers, for readers of the file; empty in a file from before it was added."""


Baseline = Mapping[Entry, Allowed]
FindingKey = Callable[[str], str]
"""Maps the file name of a finding to its name in the baseline."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Findings compared with a baseline."""

    new: tuple[Diagnostic, ...]
    known: int
    """The number of findings that the baseline allows."""
    stale: tuple[Entry, ...]
    """Entries that allow more findings than exist."""
    moved: tuple[Entry, ...] = ()
    """Entries whose file no longer exists, and whose findings are in another file now."""


def build_entry(diagnostic: Diagnostic, name: FindingKey) -> Entry:
    """The entry of a finding."""
    return Entry(
        diagnostic.code,
        name(diagnostic.place.file),
        diagnostic.subject,
        fingerprint_message(diagnostic.message),
    )


def build_baseline(diagnostics: Iterable[Diagnostic], name: FindingKey) -> dict[Entry, Allowed]:
    """All findings, counted by entry."""
    baseline: dict[Entry, Allowed] = {}
    for diagnostic in diagnostics:
        entry, text = build_entry(diagnostic, name), clean(remove_numbers(diagnostic.message))
        baseline[entry] = Allowed(baseline.get(entry, Allowed(0)).number + 1, text)
    return baseline


def compare(
    baseline: Baseline,
    diagnostics: Iterable[Diagnostic],
    name: FindingKey,
    is_asked: Callable[[str], bool] = lambda _: True,
    is_gone: Callable[[str], bool] = lambda _: False,
) -> Comparison:
    """Find the new findings, and the entries that are stale or have moved.

    Of equal findings, the first ones in the file are known. `is_asked` says, for the name of a file in the baseline, whether
    it was checked: entries about other files are never stale. `is_gone` says whether a file no longer exists. A finding
    that no entry allows is known if an entry of such a file has the same rule, subject and message, because the file was
    renamed. A finding about a whole file has no subject, so the name of the file without its folder must be the same.
    """
    left = {entry: allowed.number for entry, allowed in baseline.items()}
    unmatched: list[tuple[Diagnostic, Entry]] = []
    known = 0
    for diagnostic in diagnostics:
        entry = build_entry(diagnostic, name)
        if left.get(entry, 0):
            left[entry] -= 1
            known += 1
        else:
            unmatched.append((diagnostic, entry))
    gone: dict[tuple[str, ...], list[Entry]] = {}
    for entry in sorted(each for each, count in left.items() if count and unmatched and is_gone(each.file)):
        gone.setdefault(_build_renaming_key(entry), []).append(entry)
    new, moved = [], set()
    for diagnostic, entry in unmatched:
        before = next((each for each in gone.get(_build_renaming_key(entry), ()) if left[each]), None)
        if before is None:
            new.append(diagnostic)
        else:
            left[before] -= 1
            known += 1
            moved.add(before)
    stale = (entry for entry, count in left.items() if count and entry not in moved and is_asked(entry.file))
    return Comparison(tuple(new), known, tuple(sorted(stale)), tuple(sorted(moved)))


def _build_renaming_key(entry: Entry) -> tuple[str, ...]:
    """The parts of an entry that stay the same when its file is renamed."""
    return entry.code, entry.message, entry.subject or entry.file.rpartition("/")[2]


def render_baseline(baseline: Baseline) -> str:
    """The baseline as JSON with one line per entry, sorted, so changes can be reviewed and merged."""
    lines = ",\n".join(
        f"    {_dump({**entry._asdict(), 'count': allowed.number, 'text': allowed.text})}"
        for entry, allowed in sorted(baseline.items())
    )
    entries = f"[\n{lines}\n  ]" if lines else "[]"
    return f'{{\n  "{_MARK}": "{VERSION}",\n  "entries": {entries}\n}}\n'


def _dump(value: dict[str, Any]) -> str:
    """JSON on one line in which only characters that UTF-8 cannot represent are escaped."""
    text = json.dumps(value, ensure_ascii=False)
    return _SURROGATE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def parse_baseline(text: str, path: str) -> dict[Entry, Allowed]:
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
    baseline: dict[Entry, Allowed] = {}
    for number, each in enumerate(entries, 1):
        entry, allowed = _read_entry(each, number, path)
        # A merge of two branches can leave an entry twice. Both mean the same findings.
        baseline[entry] = max(allowed, baseline.get(entry, allowed))
    return baseline


def _read_entry(data: Any, number: int, path: str) -> tuple[Entry, Allowed]:
    fields = data if isinstance(data, dict) else {}
    words = [word for word in map(fields.get, Entry._fields) if isinstance(word, str)]
    count = fields.get("count")
    if len(words) < len(Entry._fields) or type(count) is not int or count < 1:
        required = ", ".join(f"`{name}`" for name in Entry._fields)
        raise BadBaseline(
            f"{quote(path)} is not a baseline: entry {number:,} lacks one of {required} and a `count` above 0",
            HELP,
        )
    text = fields.get("text")
    return Entry(*words), Allowed(count, text if isinstance(text, str) else "")


def _describe_error(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"line {error.lineno} is not JSON"
    return "it is not JSON"
