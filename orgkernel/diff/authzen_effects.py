"""Changes of `authzen.types`, which manifests do not contain, and which determine the meaning of AuthZEN questions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import to_builtins

from orgkernel.decisions.reasons import Why, cite_place
from orgkernel.diff.changes import Change, Kind
from orgkernel.graph.questions import OrgView

AUTHZEN = "authzen"
"""First step of the path to a type or action of AuthZEN questions."""


def compare_authzen(old: OrgView, new: OrgView) -> Iterator[Change]:
    """One change for every type and action with another meaning."""
    before, after = _map_words(old), _map_words(new)
    for section, name in sorted({*before, *after}):
        one, other = before.get((section, name)), after.get((section, name))
        if one == other:
            continue
        kind: Kind = "gained" if one is None else "lost" if other is None else "changed"
        yield Change(
            org_id=new.org_id,
            role_id=None,
            kind=kind,
            path=(AUTHZEN, f"types.{section}.{name}"),
            before=None if one is None else {"value": one},
            after=None if other is None else {"value": other},
            why_before=_locate(old, section, name, one),
            why_after=_locate(new, section, name, other),
            # The same question now asks for something else, which may be less or more.
            classification="unclear",
        )


def _map_words(view: OrgView) -> dict[tuple[str, str], Any]:
    types: dict[str, dict[str, Any]] = to_builtins(view.records.organization.authzen.types)
    return {(section, name): value for section, named in types.items() for name, value in named.items()}


def _locate(view: OrgView, section: str, name: str, value: Any) -> tuple[Why, ...]:
    if value is None:
        return ()
    place = view.records.document.place(AUTHZEN, "types", section, name, key=True)
    return (cite_place(f"authzen {section} {name}", place),)
