"""Builds the organization of a folder in another format, which no file declares."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from orgkernel.documents.records import HierarchyEntry, Organization
from orgkernel.loading.files import Root
from orgkernel.loading.formats.building import complete_with
from orgkernel.loading.formats.names import MAX_NAME_LENGTH, convert_to_id
from orgkernel.loading.marks import Marks, pack_mark
from orgkernel.loading.sources import SourceDocument

_FIRST = pack_mark(1, 1)


def get_organization_name(root: Root) -> str:
    """The name of a root's organization if no file states it: the requested name, or the name of the folder. A hidden
    folder, such as `.gemini`, has the name of the folder around it.
    """
    folder = root.path
    while os.path.basename(folder).startswith("."):
        folder = os.path.dirname(folder)
    return root.called or os.path.basename(folder) or os.path.basename(root.path)


def build_organization(
    like: SourceDocument,
    folder: str,
    called: str,
    hierarchy: Mapping[str, HierarchyEntry],
    *,
    name: str = "",
    marks: Marks = None,
    otherwise: str = "agents",
    **more: Any,
) -> SourceDocument:
    """The organization of a folder, shown at `name` or at the document `like`.

    Its id is derived from its name. `otherwise` is the id if the name contains no valid character. `more` are further
    fields. Without `marks`, all values are at the beginning.
    """
    if marks is None:
        marks = _mark_beginning(hierarchy)
    record = Organization(
        org_id=convert_to_id(called)[:MAX_NAME_LENGTH] or otherwise,
        org_name=called,
        hierarchy=dict(hierarchy),
        **more,
    )
    path = locate_organization(folder)
    return complete_with(like, "organization", record, marks, name=name, path=path)


def _mark_beginning(hierarchy: Mapping[str, HierarchyEntry]) -> Marks:
    """Marks for a hierarchy that no file lists: each role and each subordinate is at the beginning."""
    entries = {
        name: (_FIRST, (_FIRST, {"subordinates": (_FIRST, (_FIRST, [_FIRST] * len(entry.subordinates)))}))
        for name, entry in hierarchy.items()
        if entry.subordinates
    }
    return (_FIRST, {"hierarchy": (_FIRST, (_FIRST, entries))} if entries else {})


def locate_organization(folder: str) -> str:
    """The path of an organization that no file declares. Its folder determines which documents belong to it."""
    return os.path.join(folder, "(organization)")
