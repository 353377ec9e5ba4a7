"""The rules of a batch: few narrow subtasks with disjoint files, a broad one alone, terminal ones alone and last.

`check_batch` lists the problems of a proposed batch. Error policy: fails closed. Paths that cannot be
compared overlap with every path.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Final, Literal

import msgspec

from orgkernel.decisions.ownership.claims import may_be_anywhere
from orgkernel.decisions.ownership.overlap import do_owned_paths_overlap
from orgkernel.decisions.ownership.paths import Key, find_first_overlap
from orgkernel.decisions.work.contracts.subtask_plans import SubtaskKind, get_keys, get_subtask_kind
from orgkernel.diagnostics.wording import listing, quote
from orgkernel.documents.records import Subtask

DEFAULT_SIZE: Final = 3
BatchCode = Literal[
    "BATCH_OVERLAP", "BATCH_TOO_LARGE", "BROAD_NOT_ALONE", "TERMINAL_NOT_LAST", "DEPENDENCY_NOT_DONE"
]
AssignmentCode = Literal["NO_ROLE", "NO_AGENT", "AGENT_HAS_OTHER_SUBTASK"]


class PlannedSubtask(msgspec.Struct, frozen=True):
    """A subtask in the form that is compared with others."""

    id: str
    kind: SubtaskKind
    files: tuple[str, ...] = ()
    depends_on: tuple[str, ...] = ()
    keys: tuple[Key, ...] = ()
    """The compared form of the files."""
    is_exact: bool = True
    """Whether all files are exact paths. If not, they are compared as paths and globs."""


class BatchProblem(msgspec.Struct, frozen=True):
    """A rule that some subtasks break if they are worked on together."""

    code: BatchCode
    text: str
    subtasks: tuple[str, ...]
    """The subtasks that break it, in the order of the plan."""
    files: tuple[str, ...] = ()
    """The files that overlap."""


def propose(name: str, files: tuple[str, ...]) -> PlannedSubtask:
    """Work that owns paths and globs, such as the work of a brief. It is broad if a glob could match files anywhere in
    the project.

    >>> [each.code for each in check_batch([propose("one", ("src/**",)), propose("two", ("src/a.py",))])]
    ['BATCH_OVERLAP']
    >>> [each.code for each in check_batch([propose("one", ("**/*.py",)), propose("two", ("docs/a.md",))])]
    ['BROAD_NOT_ALONE', 'BATCH_OVERLAP']
    """
    is_broad = any(map(may_be_anywhere, files))
    return build_planned_subtask(Subtask(id=name, files=files, kind="broad" if is_broad else None))


def build_planned_subtask(subtask: Subtask) -> PlannedSubtask:
    """A subtask of a plan."""
    keys = get_keys(subtask)
    return PlannedSubtask(
        subtask.id,
        get_subtask_kind(subtask),
        subtask.files,
        subtask.depends_on,
        keys,
        len(keys) == len(subtask.files),
    )


def find_overlapping_files(one: PlannedSubtask, other: PlannedSubtask) -> tuple[str, ...]:
    """The first overlapping files of two subtasks; empty if the subtasks are disjoint."""
    # Globs are compared pair by pair; exact paths by their keys in one pass, which matters for plans with thousands of files.
    if not (one.is_exact and other.is_exact):
        return next(
            (
                tuple(dict.fromkeys((mine, theirs)))
                for mine in one.files
                for theirs in other.files
                if do_owned_paths_overlap(mine, theirs)
            ),
            (),
        )
    overlap = find_first_overlap(one.keys, other.keys)
    if overlap is None:
        return ()
    mine, theirs = one.files[one.keys.index(overlap[0])], other.files[other.keys.index(overlap[1])]
    return tuple(dict.fromkeys((mine, theirs)))


def check_batch(
    batch: Sequence[PlannedSubtask],
    unfinished: Collection[PlannedSubtask] = (),
    size: int = DEFAULT_SIZE,
) -> tuple[BatchProblem, ...]:
    """Every problem with working on some subtasks at the same time.

    `unfinished` are the other subtasks of the plan that are not done yet.

    >>> one = PlannedSubtask("one", "narrow", ("a.py",), keys=(("a.py",),))
    >>> [each.code for each in check_batch([one, PlannedSubtask("all", "broad")])]
    ['BROAD_NOT_ALONE']
    """
    return tuple(_find_problems(batch, unfinished, size))


def _find_problems(
    batch: Sequence[PlannedSubtask], unfinished: Collection[PlannedSubtask], size: int
) -> Iterator[BatchProblem]:
    inside = {each.id for each in batch}
    ids = tuple(each.id for each in batch)
    open_ids = {*inside, *(each.id for each in unfinished)}
    for each in batch:
        others = tuple(other for other in ids if other != each.id)
        if each.kind == "broad" and others:
            text = (
                f"broad subtask {quote(each.id)} must be worked on alone, not together with {listing(others)}"
            )
            yield BatchProblem("BROAD_NOT_ALONE", text, (each.id, *others))
        if each.kind == "terminal":
            before = tuple(
                other.id for other in unfinished if other.kind != "terminal" and other.id not in inside
            )
            if others or before:
                text = f"terminal subtask {quote(each.id)} must be worked on alone and after {listing((*others, *before))}"
                yield BatchProblem("TERMINAL_NOT_LAST", text, (each.id, *others, *before))
        missing = tuple(other for other in each.depends_on if other in open_ids)
        if missing:
            text = f"subtask {quote(each.id)} depends on {listing(missing)}, not done yet"
            yield BatchProblem("DEPENDENCY_NOT_DONE", text, (each.id, *missing))
    for number, each in enumerate(batch):
        for other in batch[number + 1 :]:
            files = find_overlapping_files(each, other)
            if files:
                text = f"subtasks {quote(each.id)} and {quote(other.id)} overlap in {listing(files)}"
                yield BatchProblem("BATCH_OVERLAP", text, (each.id, other.id), files)
    if len(batch) > size:
        yield BatchProblem(
            "BATCH_TOO_LARGE", f"{len(batch)} subtasks are more than {size} at the same time", ids
        )
