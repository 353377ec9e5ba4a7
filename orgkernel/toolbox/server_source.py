"""The files that declare the servers of a gateway, read again when they change."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from typing import Final

from orgkernel.toolbox.upstream_tools import DeclaredServer, Upstream, open_servers

_LOOK_SECONDS: Final = 1.0
"""Seconds between two looks at the files."""


class ServerSource:
    """Some files, and the variables that are filled in."""

    def __init__(
        self, paths: Sequence[str], variables: Mapping[str, str], *, has_one_caller: bool = False
    ) -> None:
        """`has_one_caller` is whether one caller uses all servers."""
        self._has_one_caller = has_one_caller
        self._paths = tuple(paths)
        self._variables = dict(variables)
        self._stamps = self._list_stamps()
        self._looked_at = time.monotonic()

    def read(self) -> tuple[list[Upstream], dict[str, DeclaredServer]]:
        """The servers, and those that cannot be used. Nothing is started. Raises `UsageError`."""
        return open_servers(self._paths, self._variables, has_one_caller=self._has_one_caller)

    def has_changed(self) -> bool:
        """Whether a file has changed since the last look that found a change. Files are looked at once a second."""
        now = time.monotonic()
        if now - self._looked_at < _LOOK_SECONDS:
            return False
        self._looked_at = now
        stamps = self._list_stamps()
        if stamps == self._stamps:
            return False
        self._stamps = stamps
        return True

    def _list_stamps(self) -> list[tuple[int, int, int] | None]:
        stamps: list[tuple[int, int, int] | None] = []
        for path in self._paths:
            try:
                status = os.stat(path)
            except OSError:
                stamps.append(None)
            else:
                stamps.append((status.st_ino, status.st_size, status.st_mtime_ns))
        return stamps
