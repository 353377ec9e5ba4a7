"""The parts of orgkernel that read programs whose words are a language of their own, by the name that the command catalog
gives them.
"""

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

READERS: Final[Mapping[str, Program]] = {
    **builds.READERS,
    **builtins.READERS,
    **files.READERS,
    **git.READERS,
    **databases.READERS,
    **messages.READERS,
    **processes.READERS,
    **cloud.READERS,
    **interpreters.READERS,
    **wrappers.READERS,
    **words.READERS,
}
