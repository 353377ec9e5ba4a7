"""Replaces documents of a root before its completion, where the host combines several files into one agent."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from msgspec.structs import replace

from orgkernel.loading.sources import Completion, LoadedFile, SourceDocument


def complete_replaced(
    files: Sequence[LoadedFile],
    replaced: Mapping[int, SourceDocument | None],
    complete: Callable[[Sequence[LoadedFile]], Completion],
) -> Completion:
    """The completion of files of which some documents are replaced. `replaced` has them by identity (`id`); None removes
    a document.
    """
    if not replaced:
        return complete(files)
    changed = []
    for file in files:
        made = (replaced.get(id(each), each) for each in file.read.documents)
        documents = tuple(each for each in made if each is not None)
        changed.append(file._replace(read=replace(file.read, documents=documents)))
    completion = complete(changed)
    instead = {old: completion.instead.get(id(new), new) for old, new in replaced.items() if new is not None}
    removed = frozenset(old for old, new in replaced.items() if new is None)
    return completion._replace(instead={**completion.instead, **instead}, removed=removed)
