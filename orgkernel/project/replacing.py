"""Replace a file at once: whoever reads it sees the old content or the new one, whatever happens in between."""

from __future__ import annotations

import contextlib
import os
import shutil


def replace_file(target: str, content: bytes) -> None:
    """Write a file, new or in place of an old one whose owner and mode it keeps; raises OSError and leaves nothing behind.

    `target` is the file itself: a link there would be replaced, not followed.
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
    with contextlib.suppress(OSError):  # only the administrator gives files away
        os.chown(new, state.st_uid, state.st_gid)
    shutil.copymode(old, new)
