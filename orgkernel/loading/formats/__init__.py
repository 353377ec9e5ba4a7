"""Other formats in which organizations are read in place. There is one package for each, named like the format.

A format finds its files in a folder and reads each file by itself into documents with source positions. Then it adds
the facts that follow from several files together. Layers above loading see only documents.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any, get_args

from orgkernel.documents.records import SourceFormat
from orgkernel.loading.files import Root, SourceUnion
from orgkernel.loading.formats.format import Format, Layout
from orgkernel.loading.formats.lookups import look_up, look_up_own
from orgkernel.loading.formats.namesakes import separate_namesakes
from orgkernel.loading.shipped_tables import read_shipped_table
from orgkernel.loading.sources import (
    NOTHING_TO_ADD,
    Completion,
    LoadedFile,
    Lookup,
    SourceDocument,
    TreeCompletion,
)

_CATALOG = "tool_catalog"
_KNOWN_BY_FILE = frozenset({"agent-framework", "copilot"})
"""Formats whose hosts tell agents apart by their files, so two of them can have the same name."""
OURS = "orgkernel"
"""The word for orgkernel documents where a format is chosen."""
FORMATS: dict[str, Format] = {
    name: import_module(f"{__name__}.{name.replace('-', '_')}").FORMAT for name in get_args(SourceFormat)
}
"""The formats by name, in the order in which a folder is tried."""
__all__ = [
    "FORMATS",
    "OURS",
    "Format",
    "Layout",
    "complete",
    "find_layout",
    "format_named",
    "may_be_foreign",
    "read_built_in_tools",
]


def may_be_foreign(path: str) -> bool:
    """Whether a file with this name at this place can be in one of the formats and is not an orgkernel document."""
    return any(each.may_hold(path) for each in FORMATS.values())


def format_named(name: str) -> Format:
    """The format of a root."""
    return FORMATS[name]


def read_built_in_tools(name: str) -> Mapping[str, Mapping[str, Any]]:
    """The entries of the tools that the host of a format itself has, as its catalog writes them."""
    tools: Mapping[str, Mapping[str, Any]] = read_shipped_table(FORMATS[name].catalog)["tools"]
    return tools


def find_layout(path: str, name: str | None = None) -> tuple[Format, Layout] | None:
    """The format of a file or folder, and the location of its files. With `name`, use that format even if no file
    shows it.
    """
    for each in FORMATS.values() if name is None else (FORMATS[name],):
        if (layout := each.find(path, is_certain=name is not None)) is not None:
            return each, layout
    return None


def complete(files: Sequence[LoadedFile]) -> TreeCompletion:
    """Combine the files in other formats, with the values that orgkernel documents add to them."""
    by_root: dict[int, list[LoadedFile]] = {}
    for file in files:
        if file.located.root.areas:
            by_root.setdefault(file.located.number, []).append(file)
    instead: dict[int, tuple[SourceDocument, ...]] = {}
    added: list[SourceDocument] = []
    looked_up: dict[Lookup, bool] = {}
    own_documents, answers = look_up_own(files)
    instead |= {old: (document,) for old, document in own_documents.items()}
    looked_up |= answers
    if not by_root:
        return TreeCompletion(instead, (), looked_up) if looked_up else NOTHING_TO_ADD
    catalogs_of_formats: dict[str, list[LoadedFile]] = {}
    for file in files:
        if not file.located.root.areas:
            catalogs_of_formats.setdefault(file.located.root.format, []).append(file)
    pooled = _map_pooled(by_root)
    by_home: dict[str, list[tuple[Root, list[LoadedFile], Completion]]] = {}
    united: list[tuple[Root, list[LoadedFile], Completion]] = []
    for number, those in by_root.items():
        root = those[0].located.root
        separated, renamed = separate_namesakes(those) if root.format in _KNOWN_BY_FILE else (those, {})
        catalogs = list(catalogs_of_formats.get(root.format, ()))
        if root.is_pooled:
            catalogs += (file for file in pooled[root.union] if file.located.root != root)
        # A source is completed once for each organization that declares it: each gets documents of its own to change.
        for home in root.homes or ("",):
            completion = FORMATS[root.format].complete(root, separated, catalogs)
            if renamed:
                completed = {old: completion.instead.get(id(new), new) for old, new in renamed.items()}
                completion = completion._replace(instead={**completion.instead, **completed})
            read = (document for file in those for document in file.read.documents)
            kept = (
                each
                for each in read
                if id(each) not in completion.instead and id(each) not in completion.removed
            )
            more, answers = look_up(root, number, kept)
            looked_up |= answers
            completion = completion._replace(instead={**completion.instead, **more})
            instead |= dict.fromkeys(completion.removed, ())
            if home:
                by_home.setdefault(home, []).append((root, those, completion))
            elif root.union is not None:
                united.append((root, those, completion))
            else:
                instead |= {each: (document,) for each, document in completion.instead.items()}
                added += completion.documents
    if united:
        from orgkernel.loading.formats.unions import unite_members

        replaced, more_documents = unite_members(united)
        instead |= replaced
        added += more_documents
    if by_home:
        from orgkernel.loading.formats.overlays import apply_overlays

        for home, sources in by_home.items():
            laid = apply_overlays(files, home, sources)
            for each, document in laid.instead.items():
                instead[each] = (*instead.get(each, ()), document)
            added += laid.documents
    return TreeCompletion(instead, tuple(added), looked_up)


def _map_pooled(
    by_root: Mapping[int, Sequence[LoadedFile]],
) -> Mapping[SourceUnion | None, Sequence[LoadedFile]]:
    """The files with the servers of the pooled roots of each union."""
    pooled: dict[SourceUnion | None, list[LoadedFile]] = defaultdict(list)
    for those in by_root.values():
        root = those[0].located.root
        if root.is_pooled:
            pooled[root.union] += (
                file for file in those if any(each.kind == _CATALOG for each in file.read.documents)
            )
    return pooled
