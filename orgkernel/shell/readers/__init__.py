"""The parts of orgkernel that read programs whose words are a language of their own, by the name that the command catalog
gives them.

A reader is imported when a command needs it, because the hook of a coding agent reads one command and ends.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Final

from orgkernel.shell.reader import Program

_MODULES: Final = {
    "builds": "? editor debugger",
    "builtins": "echo printf cat grep cd popd pwd read mapfile set shift getopts basename dirname realpath yes",
    "files": "shred truncate dd erase_device copy tee rsync zip find fd mktemp ls permissions tar sed sort awk",
    "git": "git_checkout git_restore git_rm git_foreach git_paths git_one_word git_lines",
    "databases": "sql sql_file mongo redis",
    "messages": "curl wget httpie",
    "processes": "kill kill_by_name fuser crontab",
    "cloud": "container new_container web_api",
    "interpreters": "same_program python inline_code powershell java ./",
    "wrappers": "nice flock sudo env su eval xargs parallel shell ssh source trap alias keys",
    "words": "run_script run_task delete_file delete_tree after_dashes",
}
"""The names of the readers in each module."""


class _Readers(Mapping[str, Program]):
    """The readers by name."""

    def __init__(self) -> None:
        self._modules = {name: module for module, names in _MODULES.items() for name in names.split()}
        self._readers: dict[str, Program] = {}

    def __getitem__(self, name: str) -> Program:
        reader = self._readers.get(name)
        if reader is None:
            module = import_module(f"orgkernel.shell.readers.{self._modules[name]}")
            self._readers.update(module.READERS)
            reader = self._readers[name]
        return reader

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __len__(self) -> int:
        return len(self._modules)


READERS: Final[Mapping[str, Program]] = _Readers()
