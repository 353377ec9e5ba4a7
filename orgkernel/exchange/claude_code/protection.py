"""What the hook of Claude Code protects: the files that decide what agents may do."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import orgkernel.project.hooks
from orgkernel.loading.formats import read_built_in_tools
from orgkernel.loading.formats.claude_code.host_table import read_host_table
from orgkernel.shell.writing_options import list_readers


def build_protection(
    documents: Iterable[str],
    folders: Iterable[str],
    stores: Iterable[str],
    own_commands: Mapping[str, Sequence[str]],
) -> Mapping[str, Any]:
    """The protected files and commands, the tools and programs that change no file which they name, and what is known about the tools and
    agents of the host, as the hook reads them.

    Paths of `documents`, of the `folders` with documents and of `stores` are relative to the project or absolute. `own_commands` are the
    commands of orgkernel, each with those below it.
    """
    table = read_host_table()
    files = table["protected_files"]
    hooks = os.path.dirname(os.path.realpath(orgkernel.project.hooks.__file__))
    return {
        "protected": [
            *files["project"], *files["user"], *files["machine"], hooks, *sorted(documents), *stores,
        ],
        # A folder of the whole project has other files, too.
        "document_folders": sorted(each for each in folders if each not in ("", os.curdir)),
        "protected_commands": table["protected_commands"],
        "own_commands": {name: list(below) for name, below in own_commands.items()},
        "harmless_commands": table["harmless_commands"],
        "operator_options": table["operator_options"],
        "package_programs": table["package_managers"]["programs"],
        "package_words": table["package_managers"]["changing"],
        "operator_modules": table["operator_modules"],
        "session_tools": table["session_tools"],
        "built_in_agents": table["built_in_agents"],
        "reading_tools": sorted(_list_reading_tools()),
        "programs": list_readers(),
        "stand_ins": table["stand_ins"],
    }  # fmt: skip


def _list_reading_tools() -> Iterable[str]:
    """The tools of the host that change nothing, or name no files."""
    for name, tool in read_built_in_tools("claude-code").items():
        if tool.get("side_effects") in ("none", "read") or tool.get("path_arguments") == ():
            yield name
