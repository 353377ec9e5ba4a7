"""Checks whether a compiled bundle agrees with the current `active.json` and `roles/*.json`. A host may use it only
then.

A user can edit these files next to an older bundle, or copy another organization over one of the same name. Then the
files take precedence over the bundle.

Standard library only: this module also runs inside hosts.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from .bundle import Bundle

SETTINGS: Final = "x_orgkernel"
"""The part of `active.json` that configures the host and not the organization."""


_MAX_ROLES: Final = 1_000
_MAX_BELOW: Final = 500


def list_written_roles(document: Mapping[str, Any]) -> list[str]:
    """The roles of an organization, in the order of its hierarchy; each has the file `roles/ROLE.json`."""
    hierarchy = document.get("hierarchy")
    if not isinstance(hierarchy, dict):
        return []
    below = (each for entry in hierarchy.values() for each in _list_subordinates(entry))
    return [each for each in dict.fromkeys((*hierarchy, *below)) if _is_plain(each)][:_MAX_ROLES]


def _list_subordinates(entry: object) -> list[str]:
    subordinates = entry.get("subordinates") if isinstance(entry, dict) else None
    return (
        [each for each in subordinates[:_MAX_BELOW] if isinstance(each, str)]
        if isinstance(subordinates, list)
        else []
    )


def _is_plain(role_id: str) -> bool:
    """Whether a role's name can be a file name, and cannot lead to another folder."""
    return (
        0 < len(role_id) <= 200
        and role_id.isprintable()
        and not any(mark in role_id for mark in "/\\")
        and not role_id.startswith(".")
    )


def find_changed(bundle: Bundle, document: Mapping[str, Any], profiles: Mapping[str, object]) -> list[str]:
    """The files that differ from the bundle. A role without a file is treated as unchanged."""
    fields = {name: value for name, value in document.items() if name != SETTINGS}
    changed = [] if fields == bundle.document else ["active.json"]
    for role_id, profile in profiles.items():
        role = bundle.roles.get(role_id)
        if role is None or role.profile != profile:
            changed.append(f"roles/{role_id}.json")
    return changed
