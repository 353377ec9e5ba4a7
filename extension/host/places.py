"""The paths of the layer's files. All of them, and this package, are below `usr/organizations`."""

from __future__ import annotations

import os

ORGANIZATIONS = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
"""`usr/organizations` of the host: this file is `lib/orgkernel_agent_zero/places.py` below it."""

ACTIVE = "active.json"
ROLES = "roles"
BUNDLES = "bundles"
REPORTS = "reports"
STATUS = "status.json"
EFFECT = "effect.json"
EFFECT_TEMPORARY = ".effect.json.new"


def stamp(path: str) -> tuple[int, int, int] | None:
    """Time, size and identity of a file, which change when the file does. None if there is no file."""
    try:
        state = os.stat(path)
    except OSError:
        return None
    return state.st_mtime_ns, state.st_size, state.st_ino
