"""The effects of programs, by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from orgkernel.shell.programs import (
    builds,
    builtins,
    cloud,
    databases,
    files,
    git,
    interpreters,
    messages,
    processes,
    wrappers,
)
from orgkernel.shell.reader import Program

PROGRAMS: Final[Mapping[str, Program]] = {
    **builds.PROGRAMS,
    **builtins.PROGRAMS,
    **files.PROGRAMS,
    **git.PROGRAMS,
    **databases.PROGRAMS,
    **messages.PROGRAMS,
    **processes.PROGRAMS,
    **cloud.PROGRAMS,
    **interpreters.PROGRAMS,
    **wrappers.PROGRAMS,
}
