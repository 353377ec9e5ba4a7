"""AutoGen: teams and agents as components in JSON, as `dump_component` and AutoGen Studio write them."""

from __future__ import annotations

from collections.abc import Sequence

from orgkernel.loading.files import Root, SourceText
from orgkernel.loading.formats.format import Layout
from orgkernel.loading.formats.listed_files import FilesByContent
from orgkernel.loading.sources import Completion, FileResult, LoadedFile
from orgkernel.runtime.lazy_patterns import lazy_pattern

_FILES = r"[^/]+[.]json"
_NAMES = lazy_pattern(r"[^.].*\.json")
_COMPONENT = lazy_pattern(
    rb"\"provider\"[ \t\r\n]*:[ \t\r\n]*\"autogen_(?:agentchat|ext)\.(?:teams|agents)\b"
)
_SOURCES = FilesByContent(_FILES, _NAMES, _COMPONENT, 4 * 1024)


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
        return _SOURCES.find(path, is_certain=is_certain)

    def read(self, source: SourceText, root: Root) -> FileResult:
        """Read one file."""
        from orgkernel.loading.formats.autogen.components import read_components

        return read_components(source, root)

    def complete(self, root: Root, files: Sequence[LoadedFile], own: Sequence[LoadedFile]) -> Completion:
        """Build the organization. Teams declare no chain of command; hand-offs are between agents."""
        from orgkernel.loading.formats.declared_agents import complete_declared

        return complete_declared(root, files)


FORMAT = AutoGen()
