"""Write the documents of an import, and later write them again without losing changes made in between.

A hidden file next to the documents keeps what the source contained at the last import, which is the base of the next merge. Unchanged
documents are replaced, documents that were changed only in the folder stay, and documents that both sides changed are merged.
A conflict stops the import before anything is written.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import msgspec

from orgkernel.diagnostics import Place
from orgkernel.diagnostics.wording import quote
from orgkernel.errors import UsageError
from orgkernel.exchange.confined_folder import ConfinedFolder
from orgkernel.exchange.exported import ConvertedFiles
from orgkernel.exchange.merging import merge
from orgkernel.exchange.staging import build_unwritable_error, open_folder, settle, stage_files
from orgkernel.loading.documents import parse_source
from orgkernel.loading.files import MARKDOWN, decode
from orgkernel.loading.marks import unpack_mark
from orgkernel.prepared_types import prepared

STATE = ".orgkernel/import.json"
"""File below the folder that keeps what the source contained at the last import."""


class _State(msgspec.Struct, frozen=True, kw_only=True):
    """What the source contained at the last import, and where it is."""

    format: str
    source: str
    """Relative to the folder."""
    files: dict[str, str]


@dataclass(frozen=True, slots=True)
class Clash:
    """Lines of a document that were changed in different ways in the folder and in the source: a conflict."""

    path: str
    line: int
    has: tuple[str, ...]
    """The lines in the folder."""
    place: Place | None
    """Place in the source."""
    says: tuple[str, ...]
    """The lines in the source."""
    why: str = ""
    """Message for a conflict about the whole document instead of lines."""


@dataclass(frozen=True, slots=True)
class ImportPlan:
    """The changes that an import would make."""

    written: Mapping[str, str]
    """Content of each document that is written."""
    merged: frozenset[str]
    """The written documents that were changed in the folder, too."""
    removed: tuple[str, ...]
    clashes: tuple[Clash, ...]

    @property
    def is_in_step(self) -> bool:
        """Whether nothing is to be done."""
        return not (self.written or self.removed or self.clashes)


def has_import(folder: str) -> bool:
    """Whether a folder contains an earlier import."""
    return os.path.isfile(os.path.join(folder, STATE))


def plan_import(export: ConvertedFiles, folder: str, format: str, source: str) -> ImportPlan:
    """Plan the changes of an import in a folder.

    Raises `UsageError` if the folder cannot be read or contains another import.
    """
    if not os.path.lexists(folder):
        return ImportPlan(dict(export.files), frozenset(), (), ())
    with open_folder(folder, quote(folder)) as tree:
        return _plan(tree, export, _find_state(tree, format, source))


def write_import(
    export: ConvertedFiles, folder: str, format: str, source: str, *, keep_mine: bool = False
) -> ImportPlan:
    """Write the import, unless there are clashes. With `keep_mine`, documents that clash stay as they are, and the rest is written.

    Raises `UsageError` if the folder cannot be written.
    """
    try:
        os.makedirs(folder, exist_ok=True)
        with open_folder(folder, quote(folder)) as tree, tree.locked():
            plan = _plan(tree, export, _find_state(tree, format, source))
            if not plan.clashes or keep_mine:
                # A clash that was decided for the folder is not reported again until the source changes again.
                _write(tree, plan, _State(format=format, source=source, files=dict(export.files)))
            return plan
    except OSError as error:
        raise build_unwritable_error(quote(folder), error, "free some space or fix the permissions") from None


def _find_state(tree: ConfinedFolder, format: str, source: str) -> _State:
    content = tree.read(STATE) if tree.exists(STATE) else None
    if content is None:
        return _State(format=format, source=source, files={})
    try:
        state = msgspec.json.decode(content, type=prepared(_State))
    except msgspec.MsgspecError:
        raise UsageError(
            f"{quote(STATE)} was not written by an import", "restore it, or import into another folder"
        ) from None
    if (state.format, state.source) != (format, source):
        raise UsageError(
            f"the folder was imported from {quote(state.source)} as {state.format}",
            "import from there again, or into another folder",
        )
    return state


def _plan(tree: ConfinedFolder, export: ConvertedFiles, state: _State) -> ImportPlan:
    written: dict[str, str] = {}
    merged: set[str] = set()
    removed: list[str] = []
    clashes: list[Clash] = []
    for path in dict.fromkeys((*export.files, *state.files)):
        before, now = state.files.get(path), export.files.get(path)
        mine = _read_text(tree, path)
        if now in (mine, before):
            continue
        if mine == before:
            if now is None:
                removed.append(path)
            else:
                written[path] = now
            continue
        places = export.places.get(path, ())
        if before is None or mine is None or now is None:
            clashes.append(_build_whole_clash(path, before, mine, places))
            continue
        text, conflicts = merge(before, mine, now)
        file_clashes = [
            Clash(path, each.mine, each.has, _place(places, each.theirs), each.says) for each in conflicts
        ] or list(_find_unreadable(path, text))
        clashes += file_clashes
        if not file_clashes and text != mine:
            written[path] = text
            merged.add(path)
    return ImportPlan(written, frozenset(merged), tuple(removed), tuple(clashes))


def _build_whole_clash(
    path: str, before: str | None, mine: str | None, places: tuple[Place | None, ...]
) -> Clash:
    place = _place(places, len(places))
    if before is None:
        return Clash(
            path,
            1,
            (),
            place,
            (),
            "it is not from the last import, and the source now has a document of this name",
        )
    if mine is None:
        return Clash(path, 1, (), place, (), "it was removed here, and the source has changed it")
    return Clash(path, 1, (), place, (), "it was changed here, and the source no longer has it")


def _find_unreadable(path: str, text: str) -> Iterator[Clash]:
    """Yield a conflict if the merged content is not a valid document."""
    if path.endswith(MARKDOWN):
        return
    source = decode(path, path, text.encode("utf-8", "surrogatepass"))
    problems = (source.problem,) if source.problem else parse_source(source).problems
    for problem in problems[:1]:
        yield Clash(
            path, unpack_mark(problem.mark)[0], (), None, (), f"after merging both changes, {problem.message}"
        )


def _place(places: tuple[Place | None, ...], line: int) -> Place | None:
    """The place of a line, else of the closest line above that has one, else of the first below."""
    before = reversed(places[:line])
    return next((each for each in (*before, *places[line:]) if each is not None), None)


def _read_text(tree: ConfinedFolder, path: str) -> str | None:
    content = tree.read(path) if tree.exists(path) else None
    return None if content is None else content.decode("utf-8", "surrogateescape")


def _write(tree: ConfinedFolder, plan: ImportPlan, state: _State) -> None:
    """Write all new contents next to their files before the first file is replaced; the state is written last."""
    wanted = {path: text.encode("utf-8", "surrogateescape") for path, text in plan.written.items()}
    wanted[STATE] = msgspec.json.format(msgspec.json.encode(state, order="sorted"), indent=1) + b"\n"
    stage_files(tree, wanted)
    # Removals come first: a run that is stopped here leaves too few documents, which the check finds, and not an old one beside a
    # new one of the same role.
    for path in plan.removed:
        tree.remove(path)
    settle(tree, wanted)
