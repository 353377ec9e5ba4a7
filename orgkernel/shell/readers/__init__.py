"""The effects of programs, by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from orgkernel.shell.reader import Program
from orgkernel.shell.readers import (
    builds,
    builtins,
    cloud,
    databases,
    files,
    git,
    interpreters,
    messages,
    processes,
    words,
    wrappers,
)

PROGRAMS: Final[Mapping[str, Program]] = {
    **builds.PROGRAMS,
    **builtins.PROGRAMS,
    **files.PROGRAMS,
    **git.READERS,
    **databases.PROGRAMS,
    **messages.PROGRAMS,
    **processes.PROGRAMS,
    **cloud.PROGRAMS,
    **interpreters.PROGRAMS,
    **wrappers.PROGRAMS,
    **words.READERS,
}
