"""Find the folders that contain agents in the format of another host."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from orgkernel.loading.files import SKIPPED_FOLDERS, Root, find_files
from orgkernel.loading.formats import FORMATS, Layout, find_layout, find_other_formats


class ForeignTree(NamedTuple):
    """A folder in the format of another host."""

    format: str
    folder: str


def find_foreign_trees(folder: str, known_paths: Iterable[str] = ()) -> Iterator[ForeignTree]:
    """The trees in and below a folder, sorted. Hidden folders and links are not searched.

    A tree has at least one file that is neither one of the `known_paths` real paths nor a file of a tree before it.
    """
    seen = set(known_paths)
    for path, folders, _ in os.walk(folder):
        folders[:] = sorted(each for each in folders if each[0] != "." and each not in SKIPPED_FOLDERS)
        if (recognized := find_layout(path)) is None:
            continue
        first, layout = recognized
        for name in (first.name, *find_other_formats(path, first, layout)):
            tree_layout = layout if name == first.name else FORMATS[name].find(path, is_certain=False)
            files = _list_files(tree_layout) if tree_layout is not None else set()
            if not files <= seen:
                seen |= files
                yield ForeignTree(name, path)


def _list_files(layout: Layout) -> set[str]:
    return {os.path.realpath(path) for path, _ in find_files(Root(layout.top, "", areas=layout.areas))}
