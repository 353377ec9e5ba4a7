"""Replace a file in one step: readers see the old or the new content, even after a crash."""

from __future__ import annotations

import contextlib
import os
import shutil
from typing import Final

BEFORE_US: Final = ".before-orgkernel"
"""The ending under which a file that was there before ours is kept."""


def replace_file(target: str, content: bytes) -> None:
    """Write or replace a file. A replaced file keeps its owner and mode. Raises OSError and then leaves nothing behind.

    `target` must not be a link: a link would be replaced, not followed.
    """
    beside = f"{target}.{os.getpid()}.new"
    with open(beside, "xb") as new:
        try:
            if os.path.exists(target):
                _keep_owner_and_mode(target, beside)
            new.write(content)
            new.flush()
            os.fsync(new.fileno())
            os.replace(beside, target)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(beside)
            raise


def _keep_owner_and_mode(old: str, new: str) -> None:
    state = os.stat(old)
    with contextlib.suppress(OSError):  # only an administrator may change the owner
        os.chown(new, state.st_uid, state.st_gid)
    shutil.copymode(old, new)
