"""The places of manifest values that have no `why` of their own: plain parts, and values from catalogs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from orgkernel.decisions.reasons import Why, why_place
from orgkernel.graph.questions import OrgView
from orgkernel.graph.records import Definition

Places = Callable[[str, str, str], tuple[Why, ...]]
"""From kind (`role`, `organization`, `tool`, `plan`, …), id and field to its lines. Empty if no line sets it."""


def no_places(_kind: str, _id: str, _field: str) -> tuple[Why, ...]:
    """For manifests without their documents."""
    return ()


def places_of(view: OrgView) -> Places:
    """The places in an organization's documents."""
    records = view.records
    catalogs: Mapping[str, Mapping[str, Definition[Any]]] = {
        "domain": records.domains,
        "plan": records.plans,
        "tool": records.tools,
        "skill": records.skills,
    }

    def find(kind: str, id: str, field: str) -> tuple[Why, ...]:
        if kind == "organization":
            document = records.document
            return _why(f"{field} of {id}", document.place(field, key=True)) if document.has(field) else ()
        if kind == "role":
            post = records.posts.get(id)
            written = post is not None and post.has(field)
            return _why(f"{field} of {id}", post.place(field, key=True)) if post and written else ()
        definition = catalogs[kind].get(id)
        if definition is None:
            return ()
        return _why(f"{field} of {kind} {id}", definition.place(field, key=True))

    return find


def _why(text: str, place: Any) -> tuple[Why, ...]:
    return (why_place(text, place),)
