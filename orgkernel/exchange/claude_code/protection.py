"""What the hook of Claude Code protects: the files that decide what agents may do."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

import orgkernel.project.hooks
from orgkernel.loading.formats import read_built_in_tools
from orgkernel.loading.formats.claude_code.host_table import read_host_table
from orgkernel.shell.writing_options import list_readers


def build_protection(documents: Iterable[str], stores: Iterable[str]) -> Mapping[str, Any]:
    """The protected files, the tools and programs that change no file which they name, and the tools that do what another one does, as
    the hook reads them.

    Paths of `documents` and `stores` are relative to the project or absolute.
    """
    files = read_host_table()["protected_files"]
    hooks = os.path.dirname(os.path.realpath(orgkernel.project.hooks.__file__))
    return {
        "protected": [
            *files["project"], *files["user"], *files["machine"], hooks, *sorted(documents), *stores,
        ],
        "protected_commands": read_host_table()["protected_commands"],
        "reading_tools": sorted(_list_reading_tools()),
        "programs": list_readers(),
        "stand_ins": read_host_table()["stand_ins"],
    }  # fmt: skip


def _list_reading_tools() -> Iterable[str]:
    """The tools of the host that change nothing, or name no files."""
    for name, tool in read_built_in_tools("claude-code").items():
        if tool.get("side_effects") in ("none", "read") or tool.get("path_arguments") == ():
            yield name
