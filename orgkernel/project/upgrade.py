"""Upgrade older documents: the new text of a file, and what a person must do by hand.

INVARIANT: the new text has exactly the old values in the same order, except for the announced changes, and no new finding
about reading or shape. Otherwise the file is left alone.
"""

from __future__ import annotations

import codecs
import hashlib
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from msgspec import structs

from orgkernel.diagnostics.catalog import UNREADABLE
from orgkernel.diagnostics.wording import listing, quote
from orgkernel.documents.model.kinds import KINDS, VERSION
from orgkernel.documents.records import PREFIX
from orgkernel.errors import NothingToRead, UsageError
from orgkernel.loading.documents import is_orgkernel_document, parse_source, read_documents
from orgkernel.loading.files import Root, SourceText, find_files, get_markdown_kind, read_text
from orgkernel.loading.parsed import ParsedText
from orgkernel.project.edits.spans import (
    Edit,
    TextPlaces,
    apply_edits,
    find_start_of_insertion,
    move_back,
    move_forward,
)
from orgkernel.project.edits.text_diff import unified_diff
from orgkernel.project.replacing import replace_file
from orgkernel.project.upgrade_steps import (
    STEPS,
    Draft,
    ManualChange,
    TextChange,
    UpgradeStep,
    ValueRoute,
    tidy,
    write_version,
)
from orgkernel.rules.hygiene.org706_deprecated_field import RULE as DEPRECATED
from orgkernel.runtime.regular_files import open_regular
from orgkernel.snapshots.roots import Request

FormatVersion: TypeAlias = tuple[int, int]
Steps: TypeAlias = Mapping[FormatVersion, UpgradeStep]

_VERSION = re.compile(r"([0-9]{1,4})\.([0-9]{1,4})", re.ASCII)
_BY_HAND = "rewrite it by hand; `orgkernel check` shows what to change"


@dataclass(frozen=True, slots=True, order=True)
class UpgradeNote:
    """One change, or one thing left to a person, with its place in the old and in the new text."""

    before: tuple[int, int]
    after: tuple[int, int]
    what: str
    help: str = ""


@dataclass(frozen=True, slots=True)
class FileUpgrade:
    """The upgrade of one file. It changes nothing if `text` equals the file's text."""

    source: SourceText
    text: str
    changes: tuple[UpgradeNote, ...] = ()
    left: tuple[UpgradeNote, ...] = ()
    refusal: str = ""
    """Why the file is not rewritten although it is an orgkernel document; empty if it is."""

    @property
    def is_changed(self) -> bool:
        """Whether the file must be written."""
        return self.text != self.source.text


class _LeaveAlone(Exception):
    """The new text would differ from what was announced."""


@dataclass(frozen=True, slots=True)
class _Round:
    """Edits that were made together, and the text before them."""

    places: TextPlaces
    changes: tuple[TextChange, ...]
    edits: tuple[Edit, ...]


def upgrade_source(
    source: SourceText, *, named: bool = False, steps: Steps = STEPS, current: FormatVersion = VERSION
) -> FileUpgrade | None:
    """The upgrade of a file. None if it is not an orgkernel document and was not `named` explicitly."""
    parsed = ParsedText((), (source.problem,)) if source.problem else parse_source(source)
    if parsed.problems:
        problem = parsed.problems[0]
        ours = named or is_orgkernel_document(source) or problem.row is UNREADABLE
        return FileUpgrade(source, source.text, refusal=problem.message) if ours else None
    if not any(_read_kind(document.value) for document in parsed.documents):
        return (
            FileUpgrade(source, source.text, refusal="it contains no orgkernel document") if named else None
        )
    rounds: list[_Round] = []
    text = source.text
    while True:
        places = TextPlaces(text)
        outcomes = list(_plan_round(parsed, places, steps, current))
        changes = tuple(each for each in outcomes if isinstance(each, TextChange))
        if not changes:
            left = [each for each in outcomes if isinstance(each, ManualChange)]
            return _build_result(source, rounds, places, [*left, *_list_deprecated(source, places)])
        edits = tuple(sorted({change.edit for change in changes}))
        try:
            text, parsed = _apply(source, parsed, text, edits, outcomes)
        except _LeaveAlone as reason:
            return FileUpgrade(source, source.text, refusal=f"{reason}; {_BY_HAND}")
        rounds.append(_Round(places, changes, edits))


def render_diff(upgrade: FileUpgrade, mark: str = "") -> str:
    """The change as a unified diff. `mark` is the byte order mark of the file."""
    name = upgrade.source.name
    return unified_diff(mark + upgrade.source.text, mark + upgrade.text, name, name)


def _read_kind(value: Any) -> str | None:
    schema = value.get("_schema") if isinstance(value, dict) else None
    kind = schema.removeprefix(PREFIX) if isinstance(schema, str) and schema.startswith(PREFIX) else None
    return kind if kind in KINDS else None


def _build_drafts(parsed: ParsedText, places: TextPlaces) -> Iterator[tuple[int, Draft]]:
    for number, document in enumerate(parsed.documents):
        kind = _read_kind(document.value)
        if kind:
            yield number, Draft(places, kind, document.value, document.marks)


def _plan_round(
    parsed: ParsedText, places: TextPlaces, steps: Steps, current: FormatVersion
) -> Iterator[TextChange | ManualChange]:
    """The edits of the next round, and what is left to a person."""
    for number, draft in _build_drafts(parsed, places):
        for each in _build_edits(draft, steps, current):
            yield replace(each, route=(number, *each.route)) if isinstance(each, TextChange) else each


def _build_edits(draft: Draft, steps: Steps, current: FormatVersion) -> list[TextChange | ManualChange]:
    match = _VERSION.fullmatch(draft.version)
    version = (int(match[1]), int(match[2])) if match else None
    if version is None or version[0] != current[0] or version > current:
        what = f"`_version` is {quote(draft.version)}, which this version cannot upgrade"
        help = f"it supports versions up to {current[0]}.{current[1]}"
        return [ManualChange(draft.places.compute_offset(draft.mark("_version")), what, help)]
    outcomes = list(tidy(draft))
    if version not in steps or any(isinstance(each, TextChange) for each in outcomes):
        return outcomes
    step = list(steps[version](draft))
    if by_hand := [each for each in step if isinstance(each, ManualChange)]:
        return [*outcomes, *by_hand]  # half a step would leave a document between two versions
    return [*outcomes, *step, *write_version(draft, f"{version[0]}.{version[1] + 1}")]


def _apply(
    source: SourceText,
    parsed: ParsedText,
    text: str,
    edits: tuple[Edit, ...],
    outcomes: Iterable[TextChange | ManualChange],
) -> tuple[str, ParsedText]:
    """The text after the edits, parsed again. Raises `_LeaveAlone` if it differs from what was announced."""
    try:
        changed = apply_edits(text, edits)
    except ValueError:
        raise _LeaveAlone("its values use YAML aliases") from None
    new = structs.replace(source, text=changed)
    after = parse_source(new)
    expected: Any = tuple(document.value for document in parsed.documents)
    for change in outcomes:
        if isinstance(change, TextChange):
            expected = _change_value(expected, change.route, change.value, change.key)
    # The order of keys matters, and `1 == 1.0` in Python, so the written forms are compared.
    if after.problems or repr(tuple(document.value for document in after.documents)) != repr(expected):
        raise _LeaveAlone("the upgrade would change its meaning")
    if _list_complaints(new) - _list_complaints(structs.replace(source, text=text)):
        raise _LeaveAlone("the upgrade would cause a new finding")
    return changed, after


def _change_value(value: Any, route: ValueRoute, new: Any, new_key: str = "") -> Any:
    """A document's values with a new value at a route, and a new name for its last key. A missing key is added after `_schema`."""
    if not route:
        return new
    step, rest = route[0], route[1:]
    if isinstance(step, int):
        return (*value[:step], _change_value(value[step], rest, new, new_key), *value[step + 1 :])
    if step in value:
        name = step if rest or not new_key else new_key
        return {
            name if key == step else key: _change_value(old, rest, new, new_key) if key == step else old
            for key, old in value.items()
        }
    result = {}
    for key, old in value.items():
        result[key] = old
        if key == "_schema":
            result[step] = new
    return result


def _list_complaints(source: SourceText) -> Counter[tuple[str, str]]:
    diagnostics = read_documents(source, named=True, has_orgkernel_siblings=True).diagnostics
    return Counter((each.code, each.message) for each in diagnostics)


def _list_deprecated(source: SourceText, places: TextPlaces) -> Iterator[ManualChange]:
    """Deprecated fields that a person must replace (ORG706)."""
    read = read_documents(structs.replace(source, text=places.text), named=True, has_orgkernel_siblings=True)
    for document in read.documents:
        accepted = [each for each in document.record.suppressions if each.rule == DEPRECATED.code]
        for diagnostic in DEPRECATED.check(document):
            if not any(each.subject in (None, diagnostic.subject) for each in accepted):
                offset = places.compute_offset_at(diagnostic.place.line, diagnostic.place.column)
                yield ManualChange(offset, diagnostic.message, diagnostic.help)


def _build_result(
    source: SourceText, rounds: list[_Round], last: TextPlaces, left: list[ManualChange]
) -> FileUpgrade:
    first = rounds[0].places if rounds else last

    def note(each: TextChange | ManualChange, number: int) -> UpgradeNote:
        if isinstance(each, ManualChange):
            return UpgradeNote(
                first.position(before(each.offset, number)), last.position(each.offset), each.what, each.help
            )
        edits = rounds[number].edits
        after = find_start_of_insertion(each.edit, edits)
        for later in rounds[number + 1 :]:
            after = move_forward(after, later.edits)
        return UpgradeNote(first.position(before(each.edit.start, number)), last.position(after), each.what)

    def before(offset: int, number: int) -> int:
        for earlier in reversed(rounds[:number]):
            offset = move_back(offset, earlier.edits)
        return offset

    changes = {note(change, number) for number, each in enumerate(rounds) for change in each.changes}
    notes = {note(each, len(rounds)) for each in left}
    return FileUpgrade(
        source,
        last.text,
        tuple(sorted(changes)),
        tuple(sorted(notes)),
    )


def plan_upgrades(request: Request, folder: str) -> list[FileUpgrade]:
    """The upgrade of every orgkernel document in the request. Raises `NothingToRead` if there is none."""
    upgrades: list[FileUpgrade] = []
    seen: set[str] = set()
    for requested_path in sorted(request.asked):
        full = os.path.normpath(os.path.join(folder, requested_path))
        inside = os.path.relpath(full, folder)
        root = Root(full, requested_path if inside.startswith("..") else inside)
        for path, name in find_files(root):
            real = os.path.realpath(path)
            if real in seen or get_markdown_kind(path) is not None:
                continue
            seen.add(real)
            upgrade = upgrade_source(read_text(path, name), named=path == root.path)
            if upgrade is not None:
                upgrades.append(upgrade)
    if not upgrades:
        raise NothingToRead(
            "nothing to upgrade: no orgkernel documents there", "pass a file or a folder of documents"
        )
    return upgrades


def write_upgrades(upgrades: Sequence[FileUpgrade]) -> Iterator[FileUpgrade]:
    """Write the changed files and yield each one. Raises `UsageError` at the first that cannot be written."""
    written: list[str] = []
    for upgrade in upgrades:
        if not upgrade.is_changed:
            continue
        try:
            _write(upgrade)
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            done = f"already rewritten: {listing(written)}" if written else "nothing was rewritten"
            raise UsageError(f"{quote(upgrade.source.name)} cannot be rewritten: {reason}", done) from None
        written.append(upgrade.source.name)
        yield upgrade


def _write(upgrade: FileUpgrade) -> None:
    """Replace a file in one step, through links, and keep its mode. Readers see the old or the new text."""
    target = os.path.realpath(upgrade.source.path)
    with open_regular(target, follow=False) as file:
        content = file.read()
    with open(target, "r+b"):  # replacing the file would not check that it is writable
        pass
    if hashlib.sha256(content).hexdigest() != upgrade.source.digest:
        raise OSError("the file has changed since it was read")
    mark = codecs.BOM_UTF8 if content.startswith(codecs.BOM_UTF8) else b""
    replace_file(target, mark + upgrade.text.encode())
