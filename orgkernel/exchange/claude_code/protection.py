"""What the hook of Claude Code protects: the files that decide what agents may do."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import orgkernel.project.hooks
from orgkernel.documents.records import SacredScope
from orgkernel.exchange.claude_code.host_names import group_tools_by_host_name, list_path_arguments
from orgkernel.graph.questions import OrgView
from orgkernel.loading.formats import read_built_in_tools
from orgkernel.loading.formats.claude_code.host_table import read_host_table
from orgkernel.project.hooks.write_decision import pack_scopes
from orgkernel.shell.catalog import list_shipped_programs
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


def build_secret_reads(view: OrgView, scopes: Mapping[str, SacredScope]) -> Mapping[str, Any]:
    """What the hook needs to decide reads of secret files: the sacred scopes with their readers, and the arguments of declared tools
    that contain paths.
    """
    arguments = {
        name: sorted(
            {each for id in ids for each in list_path_arguments(name, view.records.tools[id].record)}
        )
        for name, ids in group_tools_by_host_name(view).items()
    }
    return {
        "scopes": pack_scopes({id: each for id, each in scopes.items() if each.readers is not None}),
        "path_arguments": {name: names for name, names in arguments.items() if names},
        "programs": sorted(_list_wide_programs()),
    }


def _list_wide_programs() -> Iterable[str]:
    """The programs that print the environment, or files that their words do not name."""
    for name, facts in list_shipped_programs().items():
        if any(
            each.get("opens") in ("trees", "environment") for each in (facts, *facts.get("subcommands", ()))
        ):
            yield from (name, *facts.get("also", ()))


def _list_reading_tools() -> Iterable[str]:
    """The tools of the host that change nothing, or name no files."""
    for name, tool in read_built_in_tools("claude-code").items():
        if tool.get("side_effects") in ("none", "read") or tool.get("path_arguments") == ():
            yield name
