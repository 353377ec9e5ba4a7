"""AutoGen: teams and agents as components in JSON, as `dump_component` and AutoGen Studio write them."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

from orgkernel.loading.files import Area, Root, SourceText, find_in_head, is_folder, list_files_in
from orgkernel.loading.formats.format import Layout
from orgkernel.loading.sources import Completion, FileRead, ReadFile
from orgkernel.runtime.lazy_patterns import lazy_pattern

_FILES = r"[^/]+[.]json"
_NAMES = lazy_pattern(r"[^.].*\.json")
_COMPONENT = lazy_pattern(
    rb"\"provider\"[ \t\r\n]*:[ \t\r\n]*\"autogen_(?:agentchat|ext)\.(?:teams|agents)\b"
)
_SIZE, _MOST_LOOKED_AT = 4 * 1024, 50


class AutoGen:
    """The AutoGen format. Its readers are imported on first use."""

    name = "autogen"
    title = "AutoGen"
    catalog = ""

    def may_hold(self, path: str) -> bool:
        """Whether a file can be a component: only its content shows it."""
        return False

    def find(self, path: str, *, is_certain: bool) -> Layout | None:
        """The location of the components for a path: a folder that directly contains some, or a file."""
        if is_folder(path):
            names = list_files_in(path, _NAMES)[:_MOST_LOOKED_AT]
            is_source = is_certain or any(map(_is_component, names))
            return Layout(path, (Area(os.curdir, _FILES, depth=0),)) if is_source else None
        if re.fullmatch(_FILES, os.path.basename(path)) and (is_certain or _is_component(path)):
            return Layout(os.path.dirname(path), (Area(os.path.basename(path)),))
        return None

    def read(self, source: SourceText, root: Root) -> ReadFile:
        """Read one file."""
        from orgkernel.loading.formats.autogen.components import read_components

        return read_components(source, root)

    def complete(self, root: Root, files: Sequence[FileRead], own: Sequence[FileRead]) -> Completion:
        """Build the organization. Teams declare no chain of command; hand-offs are between agents."""
        from orgkernel.loading.formats.declared_agents import complete_declared

        return complete_declared(root, files)


def _is_component(path: str) -> bool:
    return bool(find_in_head(path, _COMPONENT, _SIZE))


FORMAT = AutoGen()
