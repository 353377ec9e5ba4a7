"""Find where exported files and the organization differ, with the line on each side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher

from orgkernel.diagnostics import Place
from orgkernel.exchange.exported import ConvertedFiles
from orgkernel.exchange.marks import Mark, find_mark

_MAX_LINES = 5_000
"""Beyond that, only the first line that differs is looked for."""


@dataclass(frozen=True, slots=True)
class LineDifference:
    """Lines of a file that differ, and the lines that the organization declares instead."""

    line: int
    """Line of the file. For missing lines, the line before which they belong."""
    has: tuple[str, ...]
    says: tuple[str, ...]
    place: Place | None
    """Place in the orgkernel documents."""


@dataclass(frozen=True, slots=True)
class DriftedFile:
    """A file that differs from the export."""

    path: str
    kind: str
    """`missing`, `changed`, or `surplus`: it carries our mark, and nothing is exported to it anymore."""
    differences: tuple[LineDifference, ...] = ()
    place: Place | None = None
    """For a missing file, the place that declares its subject."""


@dataclass(frozen=True, slots=True)
class ExportComparison:
    """An export compared with the files of a folder."""

    drifted: tuple[DriftedFile, ...]
    foreign: tuple[str, ...]
    """Files with names of the format that were not exported from this organization."""


def compare_export(
    export: ConvertedFiles, current_files: Mapping[str, str | None], mark: Mark
) -> ExportComparison:
    """Compare an export with files. None stands for a file that cannot be read as text."""
    drifted = []
    for path, text in export.files.items():
        places = export.places.get(path, ())
        if path not in current_files:
            declared = next((each for each in places if each is not None), None)
            drifted.append(DriftedFile(path, "missing", place=declared))
        elif current_files[path] != text:
            drifted.append(
                DriftedFile(
                    path, "changed", tuple(_list_differences(current_files[path] or "", text, places))
                )
            )
    foreign = []
    for path in sorted(set(current_files) - set(export.files)):
        if find_mark(current_files[path] or "") == mark:
            drifted.append(DriftedFile(path, "surplus"))
        else:
            foreign.append(path)
    return ExportComparison(tuple(drifted), tuple(foreign))


def _list_differences(has: str, says: str, places: tuple[Place | None, ...]) -> Iterator[LineDifference]:
    ours, theirs = says.split("\n"), has.split("\n")
    if max(len(ours), len(theirs)) > _MAX_LINES:
        pairs = enumerate(zip(theirs, ours, strict=False))
        at = next((number for number, (one, other) in pairs if one != other), min(len(ours), len(theirs)))
        yield LineDifference(at + 1, tuple(theirs[at : at + 1]), tuple(ours[at : at + 1]), _place(places, at))
        return
    matcher = SequenceMatcher(None, theirs, ours, autojunk=False)
    for kind, start, end, first, last in matcher.get_opcodes():
        if kind != "equal":
            yield LineDifference(
                start + 1, tuple(theirs[start:end]), tuple(ours[first:last]), _place(places, first)
            )


def _place(places: tuple[Place | None, ...], line: int) -> Place | None:
    """The place of a line, or of the nearest earlier line that has one."""
    before = (places[number] for number in range(min(line, len(places) - 1), -1, -1))
    return next((each for each in before if each is not None), None)
