"""Locates agents in the hidden folder of a host, such as `.opencode/agents`, for a path in or above it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import NamedTuple

from orgkernel.loading.files import Area, has_file, is_folder
from orgkernel.loading.formats.format import Layout


class AgentFolders(NamedTuple):
    """The folders in which a host looks for agents."""

    hidden: str
    """The hidden folder of the host in a project."""
    names: tuple[str, ...]
    """The folders of agents in it."""
    suffix: str
    others: tuple[str, ...] = ()
    """Further files of a project, relative to its top."""
    is_flat: bool = False
    """Whether the host ignores folders below those."""
    more_suffixes: tuple[str, ...] = ()

    @property
    def suffixes(self) -> tuple[str, ...]:
        """The ends of the names of agents' files."""
        return (self.suffix, *self.more_suffixes)

    def may_hold(self, path: str) -> bool:
        """Whether a file can be an agent or one of the other files."""
        folders = path.split(os.sep)[:-1]
        is_agent = (
            path.endswith(self.suffixes) and self.hidden in folders and bool({*self.names} & {*folders})
        )
        return is_agent or any(path.endswith(os.sep + each) or path == each for each in self.others)

    def find(self, path: str, *, is_certain: bool) -> Layout | None:
        """The location of the files for a path: a project, its hidden folder, a folder of agents, or a file in one."""
        if not is_folder(path):
            if not path.endswith(self.suffixes):
                return None
            top = self._find_top(os.path.dirname(path))
            if top is None and is_certain:
                return Layout(os.path.dirname(path), (Area(os.path.basename(path)),))
            return self.build_layout(top) if top is not None else None
        top = path if self.has_agents(path) else self._find_top(path)
        if top is not None:
            return self.build_layout(top)
        return Layout(path, (Area(os.curdir, f".*{self._build_ending()}"),)) if is_certain else None

    def has_agents(self, top: str) -> bool:
        """Whether a project contains agents of the host."""
        return any(
            has_file(os.path.join(top, self.hidden, each), suffix, deep=not self.is_flat)
            for each in self.names
            for suffix in self.suffixes
        )

    def build_layout(self, top: str, more: Sequence[Area] = ()) -> Layout:
        """The locations of all files of a project."""
        pattern = f"{'[^/]+' if self.is_flat else '.*'}{self._build_ending()}"
        areas = (Area(os.path.join(self.hidden, each), pattern) for each in self.names)
        return Layout(top, (*areas, *(Area(each) for each in self.others), *more))

    def _build_ending(self) -> str:
        endings = [each.replace(".", "[.]") for each in self.suffixes]
        return endings[0] if len(endings) == 1 else f"(?:{'|'.join(endings)})"

    def _find_top(self, folder: str) -> str | None:
        """The project whose hidden folder contains a folder. None if it is in none."""
        while os.path.basename(folder) != self.hidden:
            parent = os.path.dirname(folder)
            if parent == folder:
                return None
            folder = parent
        top = os.path.dirname(folder)
        return top if self.has_agents(top) else None
