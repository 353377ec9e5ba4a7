"""Resolve the paths of a user to the files to read, including the folder of an organization and the shared ontology."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Set
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from orgkernel.documents.records import ORGANIZATION, PREFIX
from orgkernel.errors import NothingToRead
from orgkernel.loading.files import (
    MARKDOWN,
    ORDERS,
    SKILLS,
    Root,
    SourceUnion,
    does_mention,
    does_stay_inside,
    find_files,
    find_words,
    is_within,
    list_documents_in,
)
from orgkernel.loading.formats import FORMATS, OURS, find_layout
from orgkernel.loading.formats.claude_code.plugins import get_marketplace_name
from orgkernel.loading.formats.listing import LeftOut, SourceFound
from orgkernel.loading.shipped import get_shipped_folder
from orgkernel.runtime.lazy_patterns import lazy_pattern

_LEVELS_UP = 4
# Folders that belong to the organizations of their parent folder.
LAID_OUT = ("roles", "bills", SKILLS, ORDERS)
_WORD = lazy_pattern(rb"[\w.-]+")
_ROLE_ID = lazy_pattern(rb"""["']?role_id["']?\s*:\s*["']?([\w.-]+)""")
_OVERLAY = lazy_pattern(rb"""(?m)^\s*["']?overlay["']?\s*:\s*true\b""")


class Request(msgspec.Struct, frozen=True):
    """The files to read, and those whose findings are reported."""

    roots: tuple[Root, ...]
    asked: frozenset[str]
    """Files and folders, by their shown names, whose findings are reported."""
    detected: bool = False
    """Whether the format of a folder was detected, because the user did not state it."""
    left: tuple[str, ...] = ()
    """Documents of orgkernel next to an organization that were not read, because they are outside the project."""
    sources_in: tuple[str, ...] = ()
    """Further folders that can contain the sources of organizations."""
    is_project: bool = False
    """Whether a project limits where sources can be. Otherwise they can also be next to the organization's folder."""
    shown_from: str = ""
    """The folder relative to which file names are shown."""
    sources: tuple[SourceFound, ...] = ()
    """The sources in other formats that were found."""
    left_out: tuple[LeftOut, ...] = ()
    """What looks like agents and is not read, with the reason."""


def resolve_paths(
    paths: Sequence[str],
    folder: str,
    *,
    shown_from: str | None = None,
    links: Iterable[str] = (),
    top: str | None = None,
    read_as: str | None = None,
    sources_in: str | None = None,
) -> Request:
    """The request for some paths, which are relative to `folder`. Raises `NothingToRead` for a missing one.

    Links can lead out of the folders that are read only to one of `links`, which are also relative to `folder`.
    Paths below `shown_from`, by default `folder`, are shown relative to it, others in full.

    A folder is read completely. An organization's folder also sees the `roles/` and the catalogs next to it. A file, or a
    folder of documents without an organization, sees the organization that contains it (`_find_home`). Findings in
    documents that are read only for that reason are not reported. A folder without documents sees nothing.

    With `top`, the folder of a project, documents next to an organization are not read if they are above it, and neither is
    an organization above it that does not name one of the given paths.

    A folder in another format is read as an organization if it contains no orgkernel document. With `read_as`, every path
    is read in this format, or as orgkernel documents. The sources of organizations can be in the folders that are read, in
    those that links can lead to, and in `sources_in`, the folder of a project. Without a project, they can be in `folder`
    and next to the folder of their organization, so that an organization means the same from every folder.
    """
    reader = shown_from or folder
    real_links = tuple(os.path.realpath(os.path.join(folder, os.path.expanduser(link))) for link in links)
    resolved: list[_ResolvedPath] = []
    for path in paths:
        full = os.path.normpath(os.path.join(folder, path))
        if not os.path.lexists(full):
            raise NothingToRead(
                f"`{path}` does not exist", "give the path of a document or of a folder of documents"
            )
        # A project limits only its own paths. A path outside of it is read with all that its organization sees.
        limit = top if top is not None and _is_in(full, top) else None
        resolved.append(_resolve_path(full, reader, real_links, limit, read_as))
    roots = [root for each in resolved for root in each.roots]
    context = [root for each in resolved for root in each.context]
    formats = {root.format for root in roots if root.format}
    catalogs = [get_host_catalog(each) for each in sorted(formats) if FORMATS[each].catalog]
    own = [replace(root, from_settings=shown_from is not None) for root in (*roots, *context)]
    # Agents in other formats have the catalog of their host instead of the shared ontology.
    if not formats or any(not root.areas for root in own):
        catalogs.append(get_shared_ontology())
    return Request(
        roots=(*own, *catalogs),
        asked=frozenset(each.selected for each in resolved),
        detected=bool(formats) and read_as is None,
        left=tuple(name for each in resolved for name in each.left),
        sources_in=(sources_in or folder,),
        is_project=sources_in is not None,
        shown_from=reader,
        sources=tuple(source for each in resolved for source in each.sources),
        left_out=tuple(one for each in resolved for one in each.left_out),
    )


class _ResolvedPath(NamedTuple):
    """What is read for one path of the user."""

    selected: str
    """The shown name of the file or folder whose findings are reported."""
    roots: Sequence[Root]
    context: Sequence[Root] = ()
    """Roots that are read only because the path needs them."""
    left: Sequence[str] = ()
    """Names of documents next to the organization that are outside the project, and so not read."""
    sources: Sequence[SourceFound] = ()
    left_out: Sequence[LeftOut] = ()


def _resolve_path(
    full: str, reader: str, links: tuple[str, ...], top: str | None, read_as: str | None
) -> _ResolvedPath:
    """Resolve an existing path, in another format or with orgkernel documents."""
    name = format_relative_path(full, reader)
    foreign = _find_foreign_roots(full, reader, links, read_as)
    if not foreign.roots:
        resolved = _resolve_own_path(full, name, reader, links, top)
        return resolved._replace(sources=foreign.sources, left_out=foreign.left_out)
    first = foreign.roots[0]
    if first.union is None and len(foreign.roots) == 1:
        # The path can be inside the source, whose files are shown below the source's own folder.
        name = os.path.normpath(os.path.join(first.name, os.path.relpath(full, first.path)))
    return _ResolvedPath(name, foreign.roots, sources=foreign.sources, left_out=foreign.left_out)


def _resolve_own_path(
    full: str, name: str, reader: str, links: tuple[str, ...], top: str | None
) -> _ResolvedPath:
    """Resolve a path of orgkernel documents, with the organization that contains it and what that organization sees."""
    home = _find_home(full, links, top)
    # An organization that is named by its file is read alone, without its neighbors in a flat folder.
    is_organization_file = not full.endswith(MARKDOWN) and does_mention(full, ORGANIZATION)
    roots: list[Root] = []
    context: list[Root] = []
    if home in (None, full) or is_organization_file:
        roots.append(Root(full, name, links=links))
    if home is None:
        return _ResolvedPath(name, roots)
    home_name = format_relative_path(home, reader)
    if home != full:
        only = () if is_organization_file else _list_seen_folders(full, home, links)
        (context if is_organization_file else roots).append(
            Root(home, home_name, context=is_organization_file, links=links, only=only)
        )
    neighbors = _list_neighbors(home, home_name, links)
    left: list[str] = []
    # The neighbors are in the folder above the organization: outside the project if the organization is its folder.
    if top is not None and not _is_in(os.path.dirname(home), top):
        left = [
            os.path.relpath(root.path, reader) for root in neighbors if _does_hold_documents(root.path, links)
        ]
    else:
        context += neighbors
    # File names are shown below their root folder, which is shown in full if it is above the reader's folder.
    selected = os.path.normpath(os.path.join(home_name, os.path.relpath(full, home)))
    return _ResolvedPath(selected, roots, context, left)


class _ForeignRoots(NamedTuple):
    """The roots for a path in other formats, and what the search noticed."""

    roots: tuple[Root, ...] = ()
    sources: tuple[SourceFound, ...] = ()
    left_out: tuple[LeftOut, ...] = ()


def _find_foreign_roots(full: str, reader: str, links: tuple[str, ...], read_as: str | None) -> _ForeignRoots:
    """The roots for a path in other formats. Empty for orgkernel documents.

    A folder with orgkernel documents is not in another format. All sources of one format below a folder form one
    organization.
    """
    if read_as == OURS:
        return _ForeignRoots()
    if not os.path.isdir(full):
        return _ForeignRoots(tuple(_build_roots_at(full, reader, links, read_as)))
    if read_as is None:
        files = (file for file, _ in find_files(Root(full, "", links=links)))
        if any(not file.endswith(MARKDOWN) and does_mention(file, PREFIX) for file in files):
            return _ForeignRoots()
    from orgkernel.loading.formats.discovery import discover

    discovery = discover(full, read_as)
    above = list(_build_roots_at(full, reader, links, read_as))
    # A path inside a source, such as its folder of agents, is read as this source.
    is_inside = bool(above) and not is_within(above[0].path, full)
    if is_inside or (above and len(discovery.sources) < 2):
        return _ForeignRoots(tuple(above), discovery.sources, discovery.left_out if discovery.sources else ())
    return _ForeignRoots(tuple(_build_roots(full, discovery.sources, reader, links)), *discovery)


def _build_roots_at(full: str, reader: str, links: tuple[str, ...], read_as: str | None) -> Iterator[Root]:
    """The root for a path that is itself in another format, or is read as one."""
    detection = find_layout(full, read_as)
    if detection is not None:
        form, layout = detection
        yield Root(
            layout.top,
            format_relative_path(layout.top, reader),
            links=links,
            format=form.name,
            areas=layout.areas,
        )


def _build_roots(
    full: str, sources: Sequence[SourceFound], reader: str, links: tuple[str, ...]
) -> Iterator[Root]:
    """The roots of the sources in a folder. Several of one format form a union, named after the folder.

    The organization of a further format has the name of its format too, so both can be asked.
    """
    of_format = Counter(each.format for each in sources)
    first_format = sources[0].format if sources else ""
    called = get_marketplace_name(full) or os.path.basename(full)
    for source in sources:
        name = called if source.format == first_format else f"{called}-{source.format}"
        is_union = of_format[source.format] > 1
        top = source.layout.top
        yield Root(
            top,
            format_relative_path(top, reader),
            links=links,
            format=source.format,
            areas=source.layout.areas,
            called=source.name if is_union else "" if top != full and source.format == first_format else name,
            union=SourceUnion(full, name) if is_union else None,
            is_pooled=source.is_pooled,
        )


def request_sources(folder: str, sources: Sequence[SourceFound], reader: str) -> Request:
    """The request for sources in a folder, with the catalogs of their formats."""
    roots = tuple(_build_roots(folder, sources, reader, ()))
    formats = sorted({root.format for root in roots})
    catalogs = [get_host_catalog(each) for each in formats if FORMATS[each].catalog]
    return Request((*roots, *catalogs), frozenset(root.name for root in roots), shown_from=reader)


def narrow_request(request: Request, part: str) -> Request:
    """The request for one source of its unions, by the id of its department."""
    roots = tuple(
        replace(root, union=root.union._replace(part=part)) if root.union is not None else root
        for root in request.roots
    )
    return replace(request, roots=roots)


def get_host_catalog(name: str) -> Root:
    """The built-in catalog of a format."""
    return Root(FORMATS[name].catalog, f"{name}/tools.yaml", context=True, format=name)


def build_shipped_request() -> Request:
    """The request for the shipped documents."""
    return Request(
        (
            _get_ontology(context=False),
            Root(get_shipped_folder("templates"), "templates"),
        ),
        frozenset({"ontology", "templates"}),
    )


def get_shared_ontology() -> Root:
    """The catalogs that every organization falls back to."""
    return _get_ontology(context=True)


def _get_ontology(*, context: bool) -> Root:
    """The shared catalogs without the programs, which `orgkernel.shell` reads in their compiled form."""
    folder = get_shipped_folder("ontology")
    only = (os.path.join(folder, "schemas"),)
    return Root(folder, "ontology", shared=True, context=context, only=only)


def format_relative_path(full: str, folder: str) -> str:
    """The path as seen from `folder`."""
    inside = os.path.relpath(full, folder)
    return full if inside.startswith("..") else inside


def does_hold_organization(folder: str, links: Iterable[str] = ()) -> bool:
    """Whether a folder directly contains an organization."""
    return any(does_mention(path, ORGANIZATION) for path in list_documents_in(folder, links))


def _is_in(path: str, folder: str) -> bool:
    return path == folder or path.startswith(os.path.join(folder, ""))


def _does_hold_documents(path: str, links: Iterable[str]) -> bool:
    files = list_documents_in(path, links) if os.path.isdir(path) else [path]
    return any(does_mention(file, PREFIX) for file in files)


def _find_home(path: str, links: tuple[str, ...], top: str | None = None) -> str | None:
    """The folder of the organization that a path needs for its context; None if it is read by itself.

    A folder with an organization is its own home. Any other path belongs to the nearest organization above that contains
    it in its folder or its `roles/`, or that includes a role declared there. Catalogs belong to the nearest organization
    above, but not above `top`. An overlay belongs to the nearest organization above.
    """
    is_folder = os.path.isdir(path)
    if is_folder and does_hold_organization(path, links):
        return path
    folder = os.path.dirname(path)
    above = list(_iterate_organizations_above(folder, links))
    if not above:
        return None
    files = [file for file, _ in find_files(Root(path, "", links=links))] if is_folder else [path]
    if is_folder and any(does_mention(file, ORGANIZATION) for file in files if not file.endswith(MARKDOWN)):
        return None
    roles = {role for file in files for role in find_words(file, _ROLE_ID)}
    is_ours = any(does_mention(file, PREFIX) for file in files)
    # An overlay means nothing without an organization, whose sources declare the role.
    has_overlay = is_ours and any(find_words(file, _OVERLAY) for file in files)
    # Nearest organization first. A path belongs to it by its place in the layout, or because it includes a role declared there.
    for home in above:
        place = os.path.relpath(path, home).split(os.sep)
        is_laid_out = bool(files) and (place[0] in LAID_OUT or (not is_folder and folder == home))
        named = is_ours and bool(roles) and _does_name_role(home, roles, links)
        if top is not None and not _is_in(home, top):
            if named or has_overlay:
                return home
        elif is_laid_out or named or (is_ours and not roles):
            return home
    return None


def find_organization_above(path: str) -> str | None:
    """The nearest folder above a path that directly contains an organization."""
    return next(_iterate_organizations_above(os.path.dirname(path), ()), None)


def _iterate_organizations_above(folder: str, links: tuple[str, ...]) -> Iterator[str]:
    for _ in range(_LEVELS_UP):
        if does_hold_organization(folder, links):
            yield folder
        parent = os.path.dirname(folder)
        if parent == folder:
            return
        folder = parent


def _does_name_role(folder: str, roles: Set[bytes], links: tuple[str, ...]) -> bool:
    """Whether an organization directly in a folder names one of some roles."""
    return any(
        does_mention(path, ORGANIZATION) and not roles.isdisjoint(find_words(path, _WORD))
        for path in list_documents_in(folder, links)
    )


def _list_seen_folders(path: str, home: str, links: tuple[str, ...]) -> tuple[str, ...]:
    """The folders of an organization that are read as context of a path in it, never all folders below it.

    These are the path itself, `roles/`, `skills/`, `standing_orders/`, and the folders next to those
    on the way that directly contain documents but no other organization.
    """
    seen = [path, *(os.path.join(home, each) for each in LAID_OUT)]
    folder = os.path.dirname(path)
    while True:
        try:
            names = sorted(os.listdir(folder))
        except OSError:
            names = []
        for each in (os.path.join(folder, name) for name in names if not name.startswith(".")):
            if os.path.isdir(each) and does_stay_inside(each, links):
                own = list_documents_in(each, links)
                if any(does_mention(file, PREFIX) for file in own) and not does_hold_organization(
                    each, links
                ):
                    seen.append(each)
        if folder == home:
            return tuple(dict.fromkeys(seen))
        folder = os.path.dirname(folder)


def _list_neighbors(folder: str, name: str, links: tuple[str, ...]) -> list[Root]:
    """The `roles/`, `skills/`, `standing_orders/` and the catalogs of an organization's parent folder."""
    parent, above = os.path.dirname(folder), os.path.dirname(name)
    roots = []
    for each in LAID_OUT:
        path = os.path.join(parent, each)
        if os.path.isdir(path) and does_stay_inside(path, links):
            roots.append(Root(path, os.path.join(above, each), context=True, links=links))
    catalogs = (
        path
        for path in list_documents_in(parent, links)
        if does_mention(path, PREFIX) and not does_mention(path, ORGANIZATION)
    )
    roots += [
        Root(path, os.path.join(above, os.path.basename(path)), context=True, links=links)
        for path in catalogs
    ]
    return roots
