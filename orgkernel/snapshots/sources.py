"""Find the sources that organizations declare, and the files to read for them.

Sources are found before documents are read, because they determine which files are read. Unchanged documents are not
examined again.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from orgkernel.diagnostics import Diagnostic, Place
from orgkernel.diagnostics import catalog as row
from orgkernel.diagnostics.wording import quote
from orgkernel.documents.records import ORGANIZATION
from orgkernel.loading.files import (
    SUFFIXES,
    LocatedFile,
    Root,
    SourceUse,
    does_mention,
    is_within,
    read_text,
)
from orgkernel.loading.formats import FORMATS, find_layout
from orgkernel.loading.marks import find_mark, unpack_mark
from orgkernel.snapshots.roots import Request, format_relative_path, get_host_catalog

_FIELD = "sources"


class DeclaredSource(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """An entry of `sources` of an organization."""

    format: str
    path: str
    mark: int


class Sources(NamedTuple):
    """The files to read for the sources of all organizations, and messages about those that cannot be read."""

    roots: tuple[Root, ...] = ()
    refused: tuple[Diagnostic, ...] = ()
    awaited: tuple[str, ...] = ()
    """The paths of sources that do not exist."""

    @property
    def key(self) -> str:
        """A key of the messages. The files to read are part of the names and contents already."""
        text = "\n".join(f"{each.place} {each.code} {each.message}" for each in self.refused)
        return hashlib.sha256(text.encode()).hexdigest() if text else ""


NO_SOURCES = Sources()


def find_declared_sources(located_file: LocatedFile) -> tuple[DeclaredSource, ...]:
    """The sources that the organizations in a file declare."""
    root, path = located_file.root, located_file.path
    if root.areas or root.shared or root.context or located_file.leaves or not path.endswith(SUFFIXES):
        return ()
    if not does_mention(path, ORGANIZATION) or not does_mention(path, _FIELD):
        return ()
    from orgkernel.loading.documents import (
        parse_source,
    )  # needed this early only by organizations with sources

    sources = []
    for document in parse_source(read_text(path, located_file.name)).documents:
        value = document.value
        listed = value.get(_FIELD) if isinstance(value, dict) and value.get("_schema") == ORGANIZATION else ()
        for number, entry in enumerate(listed if isinstance(listed, tuple) else ()):
            source_fields = (
                (entry.get("format"), entry.get("path")) if isinstance(entry, dict) else (None, None)
            )
            if isinstance(source_fields[0], str) and isinstance(source_fields[1], str) and source_fields[1]:
                mark = find_mark(document.marks, (_FIELD, number))
                sources.append(DeclaredSource(source_fields[0], source_fields[1], mark))
    return tuple(sources)


def find_sources(
    request: Request, declared_sources: Iterable[tuple[LocatedFile, Sequence[DeclaredSource]]]
) -> Sources:
    """The files to read for the declared sources."""
    allowed = [os.path.realpath(root.path) for root in request.roots if not root.shared and not root.context]
    allowed += (link for root in request.roots for link in root.links)
    allowed += (os.path.realpath(folder) for folder in request.sources_in)
    declared_sources = list(declared_sources)
    if not request.is_project:
        allowed += _list_neighborhoods(located.path for located, _ in declared_sources)
    roots: dict[tuple[str, str, object], Root] = {}
    refused: list[Diagnostic] = []
    awaited: list[str] = []
    for located, sources in declared_sources:
        for source in sources:
            if "\0" in source.path:
                what = f"the source {quote(source.path)} contains a character that no path has"
                place = Place(located.name, *unpack_mark(source.mark))
                refused.append(row.UNUSABLE_SOURCE.at(place, what, "correct the path"))
                continue
            full = os.path.normpath(os.path.join(os.path.dirname(located.path), source.path))
            made = _resolve_source_root(source, full, allowed, request)
            if isinstance(made, tuple):
                place = Place(located.name, *unpack_mark(source.mark))
                refused.append(row.UNUSABLE_SOURCE.at(place, *made))
                awaited.append(full)
                continue
            use = SourceUse(located.path, located.name, source.mark)
            key = (os.path.realpath(made.path), made.format, made.areas)
            roots[key] = replace(made, uses=(*roots.get(key, made).uses, use))
    catalogs = [
        get_host_catalog(name)
        for name in sorted({root.format for root in roots.values()})
        if FORMATS[name].catalog
    ]
    known = {root.path for root in request.roots}
    more = tuple(catalog for catalog in catalogs if catalog.path not in known)
    return Sources((*roots.values(), *more), tuple(refused), tuple(awaited))


def _list_neighborhoods(paths: Iterable[str]) -> Iterator[str]:
    """The folder around the folder of each organization, except for a home folder and the top of the file system."""
    home = os.path.realpath(os.path.expanduser("~"))
    for path in paths:
        around = os.path.dirname(os.path.realpath(os.path.dirname(path)))
        if around != os.path.dirname(around) and not is_within(home, around):
            yield around


def _resolve_source_root(
    source: DeclaredSource, full: str, allowed_folders: Sequence[str], request: Request
) -> Root | tuple[str, str]:
    """The root to read for a source, or the reason why it is not read, with a help text."""
    name = quote(source.path)
    if source.format not in FORMATS:
        return f"the source {name} has a format that this version does not read: {quote(source.format)}", ""
    # Do not reveal whether a path outside of the allowed folders exists.
    if not _is_allowed(full, allowed_folders):
        return _refuse_outside(name)
    if not os.path.exists(full):
        return f"the source {name} does not exist", "correct the path; it starts at the folder of this file"
    detection = find_layout(full, source.format)
    if detection is None:
        return (
            f"the source {name} has no files of {FORMATS[source.format].title}",
            "correct the path, or remove the source",
        )
    layout = detection[1]
    if not _is_allowed(layout.top, allowed_folders):
        return _refuse_outside(name)
    links = next((root.links for root in request.roots), ())
    return Root(
        layout.top, format_relative_path(layout.top, request.shown_from), links=links, from_settings=True,
        format=source.format, areas=layout.areas,
    )  # fmt: skip


def _is_allowed(path: str, allowed_folders: Sequence[str]) -> bool:
    real = os.path.realpath(path)
    return any(is_within(real, each) for each in allowed_folders)


def _refuse_outside(name: str) -> tuple[str, str]:
    return (
        f"the source {name} is outside of the folders that are read",
        "put `orgkernel.toml` into a folder that contains both, or allow it by `links` in the settings",
    )
