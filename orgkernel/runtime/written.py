"""Whether a compiled bundle says what `active.json` and `roles/*.json` say now: only then may a host use it.

Somebody may edit these files beside a bundle that was compiled before, or copy an organization of their own over one of
the same name. Then the files count, and not the bundle.

Standard library only: this module also runs inside hosts.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from .bundle import Bundle

SETTINGS: Final = "x_orgkernel"
"""The part of `active.json` that is about the host and not about the organization."""


def find_changed(bundle: Bundle, document: Mapping[str, Any], profiles: Mapping[str, object]) -> list[str]:
    """The files that say something else than the bundle. A role without a file is as it was compiled."""
    said = {name: value for name, value in document.items() if name != SETTINGS}
    changed = [] if said == bundle.document else ["active.json"]
    for role_id, profile in profiles.items():
        role = bundle.roles.get(role_id)
        if role is None or role.profile != profile:
            changed.append(f"roles/{role_id}.json")
    return changed
