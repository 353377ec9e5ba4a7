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
    before, after = _map_types(old), _map_types(new)
    for section, name in sorted({*before, *after}):
        old_value, new_value = before.get((section, name)), after.get((section, name))
        if old_value == new_value:
            continue
        kind: Kind = "gained" if old_value is None else "lost" if new_value is None else "changed"
        yield Change(
            org_id=new.org_id,
            role_id=None,
            kind=kind,
            path=(AUTHZEN, f"types.{section}.{name}"),
            before=None if old_value is None else {"value": old_value},
            after=None if new_value is None else {"value": new_value},
            why_before=_locate(old, section, name, old_value),
            why_after=_locate(new, section, name, new_value),
            # The same question now asks for something else, which may be less or more.
            classification="unclear",
        )


def _map_types(view: OrgView) -> dict[tuple[str, str], Any]:
    types: dict[str, dict[str, Any]] = to_builtins(view.records.organization.authzen.types)
    return {(section, name): value for section, entries in types.items() for name, value in entries.items()}


def _locate(view: OrgView, section: str, name: str, value: Any) -> tuple[Why, ...]:
    if value is None:
        return ()
    place = view.records.document.place(AUTHZEN, "types", section, name, key=True)
    return (cite_place(f"authzen {section} {name}", place),)
