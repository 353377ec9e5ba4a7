"""Where things lie: everything of ours is below `usr/organizations`, and so is this package."""

from __future__ import annotations

import os

ORGANIZATIONS = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
"""`usr/organizations` of the host: this file is `lib/orgkernel_agent_zero/places.py` below it."""

ACTIVE = "active.json"
ROLES = "roles"
BUNDLES = "bundles"
REPORTS = "reports"
STATUS = "status.json"


def stamp(path: str) -> tuple[int, int, int] | None:
    """What changes when a file does: time, size and identity; None where there is no such file."""
    try:
        state = os.stat(path)
    except OSError:
        return None
    return state.st_mtime_ns, state.st_size, state.st_ino
