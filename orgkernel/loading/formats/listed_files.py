"""Finds the sources of formats whose files show only by their content what they are."""

from __future__ import annotations

import os
import re
from typing import NamedTuple

from orgkernel.loading.files import Area, find_in_head, is_folder, list_files_in
from orgkernel.loading.formats.format import Layout

_MAX_OPENED = 50


class FilesByContent(NamedTuple):
    """The files of a format in a folder, without those in folders below it."""

    files: str
    """A regular expression for their names."""
    names: re.Pattern[str]
    """The names of the files that are looked at to recognize a folder."""
    content: re.Pattern[bytes]
    size: int
    """How many bytes of a file are looked at."""

    def find(self, path: str, *, is_certain: bool) -> Layout | None:
        """The location of the files for a path: a folder that directly contains some, or a file."""
        if is_folder(path):
            names = list_files_in(path, self.names)[:_MAX_OPENED]
            is_source = is_certain or any(map(self._is_one, names))
            return Layout(path, (Area(os.curdir, self.files, depth=0),)) if is_source else None
        if re.fullmatch(self.files, os.path.basename(path)) and (is_certain or self._is_one(path)):
            return Layout(os.path.dirname(path), (Area(os.path.basename(path)),))
        return None

    def _is_one(self, path: str) -> bool:
        return bool(find_in_head(path, self.content, self.size))
