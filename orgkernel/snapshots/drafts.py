"""Build a draft: a snapshot of documents with changed texts that are not written to disk."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence

from orgkernel.diagnostics import Diagnostic, Severity
from orgkernel.loading.documents import is_orgkernel_document, read_documents
from orgkernel.loading.files import LocatedFile, Root, SourceText
from orgkernel.loading.sources import LoadedFile
from orgkernel.snapshots.snapshot import Snapshot


def build_draft(
    latest: Snapshot,
    texts: Mapping[str, str],
    roots: Sequence[Root],
    severities: Mapping[str, Severity | None],
    selection: frozenset[str],
    refused: Sequence[Diagnostic],
) -> Snapshot:
    """The snapshot with other texts at some paths. An unknown path is a new file in the folder of a known one.

    The other documents are those of the latest snapshot. Only documents in orgkernel's own format can have drafts.
    """
    from orgkernel.snapshots.build import build_snapshot

    located, known = [], {}
    left = dict(texts)
    for file in latest.tree.files:
        path = file.located.path
        text = left.pop(path, None)
        located.append(file.located)
        known[path] = (
            file
            if text is None
            else _read(file.located, text, has_orgkernel_siblings=file.has_orgkernel_siblings)
        )
    for path, text in left.items():
        place = _locate_beside(path, latest)
        located.append(place)
        known[path] = _read(place, text, has_orgkernel_siblings=False)
    return build_snapshot(
        roots,
        severities,
        selection,
        located_files=located,
        known_files=known,
        found_before=latest.found_before,
        refused=refused,
    )


def _read(located_file: LocatedFile, text: str, *, has_orgkernel_siblings: bool) -> LoadedFile:
    digest = hashlib.sha256(text.encode()).hexdigest()
    source, root = SourceText(located_file.path, located_file.name, text, digest), located_file.root
    named = located_file.path == root.path
    read = read_documents(
        source,
        named=named,
        has_orgkernel_siblings=has_orgkernel_siblings,
        shared=root.shared,
        context=root.context,
    )
    return LoadedFile(located_file, digest, is_orgkernel_document(source), has_orgkernel_siblings, read)


def _locate_beside(path: str, latest: Snapshot) -> LocatedFile:
    """The location of a new file: below the root of the other files in its folder."""
    folder, file = os.path.split(path)
    for each in latest.tree.files:
        if os.path.dirname(each.located.path) == folder:
            around = os.path.dirname(each.located.name)
            return each.located._replace(path=path, name=os.path.join(around, file), leaves=False)
    raise ValueError(f"nothing was read from the folder of {path}")
