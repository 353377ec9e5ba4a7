"""Corrects misspelled names at the places of findings, where the correction is certain (`orgkernel check --fix`).

A correction is certain if exactly one known name is near, and both differ in one letter of a word of three letters or
more, in two swapped letters, or only in case and separators. Names that differ in a digit or in a single letter between
separators (`role_a`, `role_b`) are different names.

A misspelled name is removed if its list already has the correct one, so a correction never repeats a name or a key.
"""

from __future__ import annotations

import codecs
import hashlib
import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from orgkernel.diagnostics import Diagnostic
from orgkernel.diagnostics.wording import quote, read_suggestion
from orgkernel.errors import UsageError
from orgkernel.loading.files import read_text
from orgkernel.loading.sources import LoadedFile, LoadedFiles
from orgkernel.project.edits.list_items import ItemList, find_list
from orgkernel.project.edits.spans import Edit, TextPlaces, apply_edits
from orgkernel.project.edits.text_diff import patch_names, unified_diff
from orgkernel.project.replacing import replace_file
from orgkernel.runtime.regular_files import open_regular

_QUOTED = re.compile(r"`([^`]+)`")
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_.:/-]*\Z")
_SEPARATORS = re.compile(r"[-_. /:]+")
_KEY_END = re.compile(r"[\"']?[ \t]*[:=]")
_INDENT = re.compile(r"[ \t]*")
_MIN_LETTERS = 3


class FileCorrection(NamedTuple):
    """The corrections of one file."""

    name: str
    path: str
    digest: str
    """The SHA-256 of the bytes from which the text was read."""
    before: str
    after: str
    corrected: int
    """The number of corrected findings."""

    def build_diff(self) -> str:
        """The change as a unified diff."""
        return unified_diff(self.before, self.after, *patch_names(self.name))


def plan_corrections(diagnostics: Iterable[Diagnostic], tree: LoadedFiles) -> list[FileCorrection]:
    """The certain corrections of findings, by file. Links, shared catalogs and context are never changed."""
    by_file: dict[str, list[Diagnostic]] = defaultdict(list)
    for each in diagnostics:
        if read_suggestion(each.help) is not None:
            by_file[each.place.file].append(each)
    files = {file.located.name: file for file in tree.files}
    corrections = (
        _correct(files[name], findings) for name, findings in sorted(by_file.items()) if name in files
    )
    return [each for each in corrections if each is not None]


def write_corrections(corrections: Sequence[FileCorrection]) -> None:
    """Write the corrected files, each in one step. Raises `UsageError` at the first that cannot be written."""
    for number, each in enumerate(corrections):
        try:
            with open_regular(each.path, follow=False) as file:
                content = file.read()
            if hashlib.sha256(content).hexdigest() != each.digest:
                raise OSError("the file has changed since it was read")
            mark = codecs.BOM_UTF8 if content.startswith(codecs.BOM_UTF8) else b""
            replace_file(each.path, mark + each.after.encode())
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            done = f"{number} files are already corrected" if number else "nothing was corrected"
            raise UsageError(f"{quote(each.name)} cannot be corrected: {reason}", done) from None


def _correct(file: LoadedFile, findings: Iterable[Diagnostic]) -> FileCorrection | None:
    located = file.located
    if located.leaves or located.root.shared or located.root.context or os.path.islink(located.path):
        return None
    source = read_text(located.path, located.name)
    if source.problem is not None or source.digest != file.digest:
        return None
    places = TextPlaces(source.text)
    edits = list(dict.fromkeys(edit for each in findings for edit in _list_edits(each, places)))
    starts = [edit.start for edit in edits]
    # Findings that disagree are not certain.
    edits = [edit for edit in edits if starts.count(edit.start) == 1]
    edits = avoid_repetitions(source.text, edits)
    if not edits:
        return None
    after = apply_edits(source.text, edits)
    return FileCorrection(located.name, located.path, source.digest, source.text, after, len(edits))


def avoid_repetitions(text: str, edits: Sequence[Edit]) -> list[Edit]:
    """The edits, where a word whose list already has the correct name is removed, and no key is written twice.

    >>> text = "tools: Read, Raed, Gerp"
    >>> apply_edits(text, avoid_repetitions(text, [Edit(13, 17, "Read"), Edit(19, 23, "Grep")]))
    'tools: Read, Grep'
    """
    edit_by_start = {edit.start: edit for edit in sorted(edits)}
    by_list: dict[ItemList, list[Edit]] = defaultdict(list)
    kept: list[Edit] = []
    for edit in edit_by_start.values():
        if (items := find_list(text, edit.start, edit.end)) is not None:
            by_list[items].append(edit)
        elif not _does_repeat_key(text, edit):
            kept.append(edit)
    for items, members in by_list.items():
        numbers = {edit: _find_index(items, edit) for edit in members}
        present = {item.word for number, item in enumerate(items.items) if number not in numbers.values()}
        repeated: list[Edit] = []
        for edit in members:
            (repeated if edit.text in present else kept).append(edit)
            present.add(edit.text)
        removed = frozenset(numbers[edit] for edit in repeated)
        removals = (items.build_removal(text, numbers[edit], removed) for edit in repeated)
        kept += (each for each in removals if each is not None)
    return sorted(kept)


def _find_index(items: ItemList, edit: Edit) -> int:
    """The index of the item that an edit changes."""
    return next(number for number, item in enumerate(items.items) if item.start <= edit.start < item.end)


def _does_repeat_key(text: str, edit: Edit) -> bool:
    """Whether an edit would write a key that its mapping already has. A key of that indentation, or of that line, counts."""
    if not _KEY_END.match(text, edit.end):
        return False
    line = text.rfind("\n", 0, edit.start) + 1
    indent = _INDENT.match(text, line)[0]  # type: ignore[index]
    key = rf"[\"']?{re.escape(edit.text)}[\"']?[ \t]*[:=]"
    is_beside = re.search(rf"^{re.escape(indent)}{key}", text, re.MULTILINE) is not None
    return is_beside or re.search(rf"[{{,][ \t]*{key}", text[line:].partition("\n")[0]) is not None


def _list_edits(diagnostic: Diagnostic, places: TextPlaces) -> Iterator[Edit]:
    """The edit of a finding: the misspelled word of its message, exactly at its place."""
    meant = read_suggestion(diagnostic.help)
    start = places.compute_offset_at(diagnostic.place.line, diagnostic.place.column)
    if places.text[start : start + 1] in ("'", '"'):
        start += 1
    for word in _QUOTED.findall(diagnostic.message):
        end = start + len(word)
        if meant is None or word == meant or places.text[start:end] != word or not _is_certain(word, meant):
            continue
        following = places.text[end : end + 1]
        if not (following.isalnum() or following in ("_", "-")):
            yield Edit(start, end, meant)
            return


def _is_certain(word: str, meant: str) -> bool:
    """Whether a word can only be a misspelling of a name.

    >>> [_is_certain(word, "Grep") for word in ("Greb", "grep", "Gerp", "Grrep", "Read")]
    [True, True, True, True, False]
    >>> _is_certain("agent_3", "agent_1"), _is_certain("role_b", "role_a"), _is_certain("code-reviewer", "code_reviewer")
    (False, False, True)
    """
    if not _PLAIN.match(word) or not _PLAIN.match(meant):
        return False
    ours, theirs = _SEPARATORS.split(word.casefold()), _SEPARATORS.split(meant.casefold())
    if "".join(ours) == "".join(theirs):
        return True
    if len(ours) != len(theirs):
        return False
    pairs = [(one, other) for one, other in zip(ours, theirs, strict=True) if one != other]
    return len(pairs) == 1 and _differ_in_one_letter(*pairs[0])


def _differ_in_one_letter(one: str, other: str) -> bool:
    """Whether two words differ in one letter or in two swapped ones, and not in a digit."""
    if min(len(one), len(other)) < _MIN_LETTERS:
        return False
    begin = 0
    while begin < min(len(one), len(other)) and one[begin] == other[begin]:
        begin += 1
    end = 0
    while end < min(len(one), len(other)) - begin and one[-1 - end] == other[-1 - end]:
        end += 1
    first, second = one[begin : len(one) - end], other[begin : len(other) - end]
    if not (first + second).isalpha():
        return False
    return max(len(first), len(second)) == 1 or (len(first) == 2 and first == second[::-1])
