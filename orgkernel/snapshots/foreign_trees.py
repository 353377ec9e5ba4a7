"""Count what the sources in a folder in other formats contain."""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from orgkernel.diagnostics import Severity
from orgkernel.loading.formats.discovery import discover, list_files
from orgkernel.loading.formats.listing import LeftOut, SourceFound
from orgkernel.snapshots.loader import Loader
from orgkernel.snapshots.roots import request_sources
from orgkernel.snapshots.snapshot import OrgSnapshot, Snapshot


class ForeignSource(NamedTuple):
    """A source of agents in another format."""

    org: str
    """The organization that its agents belong to. Empty if it has none."""
    format: str
    place: str
    """The full path of its folder."""
    roles: int
    skills: int
    has_errors: bool
    """Whether its organization has errors."""
    root: str
    """The folder that is read for it: its own one, or for one of several crews, that of all of them."""


class ForeignTrees(NamedTuple):
    """The sources in a folder, and what was left out."""

    sources: tuple[ForeignSource, ...]
    left_out: tuple[LeftOut, ...]


class ReadSources(NamedTuple):
    """Sources that were found in a folder and read, each as a root of its own, in this order."""

    sources: tuple[SourceFound, ...]
    left_out: tuple[LeftOut, ...]
    snapshot: Snapshot


def find_foreign_trees(
    folder: str,
    reader: str,
    severities: Mapping[str, Severity | None],
    known_paths: Iterable[str] = (),
    read: ReadSources | None = None,
) -> ForeignTrees:
    """The sources in and below a folder, with their agents. `known_paths` are the real paths of files that belong to
    orgkernel organizations: sources that consist of them are omitted. `read` is what was already found and read there.
    """
    if read is not None:
        return ForeignTrees(tuple(_describe(read.sources, read.snapshot)), read.left_out)
    discovery = discover(folder)
    known = set(known_paths)
    sources = [each for each in discovery.sources if not known or not list_files(each.layout) <= known]
    return ForeignTrees(tuple(_count(folder, sources, reader, severities)), discovery.left_out)


def count_by_root(snapshot: Snapshot) -> Mapping[int, Counter[str]]:
    """The number of documents of each kind, by the number of the root that contains them. What several files declare
    together counts once.
    """
    roots = {file.located.path: file.located.number for file in snapshot.tree.files}
    kinds: dict[int, Counter[str]] = defaultdict(Counter)
    for document in snapshot.tree.documents:
        if document.path in roots:
            kinds[roots[document.path]][document.kind] += 1
    return kinds


def _count(
    folder: str,
    sources: Sequence[SourceFound],
    reader: str,
    severities: Mapping[str, Severity | None],
) -> list[ForeignSource]:
    if not sources:
        return []
    snapshot = Loader(request_sources(folder, sources, reader), severities).load()
    return list(_describe(sources, snapshot))


def _describe(sources: Sequence[SourceFound], snapshot: Snapshot) -> Iterator[ForeignSource]:
    """The sources with their agents. The first roots of the snapshot are the sources."""
    kinds = count_by_root(snapshot)
    organizations: dict[str, list[OrgSnapshot]] = defaultdict(list)
    for each in snapshot.organizations.values():
        organizations[each.records.document.format].append(each)
    for number, source in enumerate(sources):
        own = organizations[source.format]
        if len(own) > 1:
            # A folder of crews is one source with an organization for each.
            inside = os.path.join(source.place, "")
            own = [
                each for each in own if f"{os.path.realpath(each.records.document.path)}/".startswith(inside)
            ]
        if len(own) > 1:
            yield from (_describe_part(each, source) for each in own)
            continue
        organization = own[0] if own else None
        yield ForeignSource(
            "" if organization is None else organization.org_id,
            source.format,
            source.place,
            kinds[number]["role_profile"],
            kinds[number]["cognitive_skill"],
            organization is not None and organization.has_errors,
            source.place,
        )


def _describe_part(organization: OrgSnapshot, source: SourceFound) -> ForeignSource:
    """One of several organizations of a source."""
    records = organization.records
    return ForeignSource(
        organization.org_id,
        source.format,
        os.path.dirname(records.document.path),
        len(records.posts),
        len(records.cognitive_skills),
        organization.has_errors,
        source.place,
    )
