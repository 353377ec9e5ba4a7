"""Where tests write: in memory, where the system has such a place and enough of it. A disk makes each commit wait."""

from __future__ import annotations

import os
import shutil

_PLACE = "/dev/shm"
_ENOUGH = 4 * 1024**3


def find_memory_folder() -> str | None:
    """A folder of the system that is in memory and has room for all that the tests write."""
    if not os.access(_PLACE, os.W_OK) or shutil.disk_usage(_PLACE).free < _ENOUGH:
        return None
    return _PLACE
