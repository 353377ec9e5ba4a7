"""The files to read for the paths of a user, including the folder of an organization and the shared ontology."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from orgkernel.errors import NothingToRead
from orgkernel.loading.files import Root, documents_in, find_files, mentions, stays_inside
from orgkernel.records.record import ORGANIZATION, PREFIX
from orgkernel.snapshots.shipped import shipped_folder

_LEVELS_UP = 4


@dataclass(frozen=True, slots=True)
class Request:
    """The files to read, and those whose findings are reported."""

    roots: tuple[Root, ...]
    asked: frozenset[str]
    """Files and folders, by their shown names, whose findings are reported."""


def resolve_paths(
    paths: Sequence[str], folder: str, *, shown_from: str | None = None, links: Iterable[str] = ()
) -> Request:
    """What reading these paths means; relative ones start at `folder`. Raises `NothingToRead` for one that is absent.

    Links may lead out of what is read to one of `links` only, which are paths relative to `folder` as well.
    Paths below `shown_from`, by default `folder`, are shown relative to it, others in full.

    A folder is read whole. An organization's folder also sees the `roles/` and the catalogs beside it; a file, or a
    folder without an organization, sees the one it lies in. What is read only for that reason is not reported on.
    """
    reader = shown_from or folder
    roots: list[Root] = []
    context: list[Root] = []
    asked: set[str] = set()
    real = tuple(os.path.realpath(os.path.join(folder, os.path.expanduser(link))) for link in links)
    for path in paths:
        full = os.path.normpath(os.path.join(folder, path))
        if not os.path.lexists(full):
            raise NothingToRead(
                f"`{path}` does not exist", "give the path of a document or of a folder of documents"
            )
        name = _shown(full, reader)
        asked.add(name)
        home = _home(full, real)
        alone = mentions(full, ORGANIZATION)
        if home in (None, full) or alone:
            # An organization named by its file is read alone: its neighbors in a flat folder are not asked about.
            roots.append(Root(full, name, links=real))
        if home is not None and home != full:
            (context if alone else roots).append(Root(home, _shown(home, reader), context=alone, links=real))
        if home is not None:
            context += _beside(home, _shown(home, reader), real)
    own = [replace(root, from_settings=shown_from is not None) for root in (*roots, *context)]
    return Request((*own, shared_ontology()), frozenset(asked))


def shipped_request() -> Request:
    """The request for the shipped documents."""
    return Request(
        (
            Root(shipped_folder("ontology"), "ontology", shared=True),
            Root(shipped_folder("templates"), "templates"),
        ),
        frozenset({"ontology", "templates"}),
    )


def shared_ontology() -> Root:
    """The catalogs every organization falls back to."""
    return Root(shipped_folder("ontology"), "ontology", shared=True, context=True)


def _shown(full: str, folder: str) -> str:
    """The path as a reader standing in `folder` would write it."""
    inside = os.path.relpath(full, folder)
    return full if inside.startswith("..") else inside


def holds_organization(folder: str, links: Iterable[str] = ()) -> bool:
    """Whether a folder directly contains an organization."""
    return any(mentions(path, ORGANIZATION) for path in documents_in(folder, links))


def _home(path: str, links: tuple[str, ...]) -> str | None:
    """The folder of the organization that a path needs to be understood; None where it is read by itself."""
    if os.path.isdir(path) and holds_organization(path, links):
        return path
    above = _organization_above(os.path.dirname(path), links)
    if above is None or not os.path.isdir(path):
        return above
    files = find_files(Root(path, "", links=links))
    return None if any(mentions(file, ORGANIZATION) for file, _ in files) else above


def _organization_above(folder: str, links: tuple[str, ...]) -> str | None:
    for _ in range(_LEVELS_UP):
        if holds_organization(folder, links):
            return folder
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent
    return None


def _beside(folder: str, name: str, links: tuple[str, ...]) -> list[Root]:
    """The `roles/` and the catalogs of the folder an organization lies in."""
    parent, above = os.path.dirname(folder), os.path.dirname(name)
    found = []
    roles = os.path.join(parent, "roles")
    if os.path.isdir(roles) and stays_inside(roles, links):
        found.append(Root(roles, os.path.join(above, "roles"), context=True, links=links))
    catalogs = (
        path
        for path in documents_in(parent, links)
        if mentions(path, PREFIX) and not mentions(path, ORGANIZATION)
    )
    found += [
        Root(path, os.path.join(above, os.path.basename(path)), context=True, links=links)
        for path in catalogs
    ]
    return found
