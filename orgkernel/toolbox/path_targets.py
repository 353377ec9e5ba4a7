"""Follow the links in the paths of a call, where the files of the tool are on this machine.

A decision compares paths as they are written. A link inside a file scope can lead out of it, so the decision also sees
where the paths of a call lead. Where the files are not on this machine, that is unknown, and a write that a file scope
limits is not allowed without an approval.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any, Final

from orgkernel.runtime.paths import read_path
from orgkernel.toolbox.providers import HttpApi, McpServer, Provider

_READERS_ELSEWHERE: Final = frozenset({"ssh", "container"})
"""Readers of the command catalog for programs that run their commands on another machine or in a container."""


def find_files_folder(provider: Provider | None) -> str | None:
    """The folder on this machine where relative paths of a tool start. None if its files are not known to be here."""
    if isinstance(provider, HttpApi) or provider is None:
        return None
    if isinstance(provider, McpServer):
        if provider.folder is not None:
            return os.path.abspath(provider.folder) if provider.folder else None
        if isinstance(provider.server, str) or _may_run_elsewhere(provider.server):
            return None
    return os.getcwd()


def find_other_targets(
    tool_input: Mapping[str, Any], arguments: Iterable[str], folder: str, root: str | None
) -> tuple[str, ...]:
    """Where the paths in some arguments lead, for those that lead to another place than decisions compare.

    `folder` is where relative paths start. It stands for the `root` of the workspace if that is not on this machine.
    Without a root, paths below the folder stay relative to it. A path that cannot be followed leads to an empty string,
    which no permission covers.
    """
    texts = [text for name in arguments for text in _list_texts(tool_input.get(name))]
    targets = (_find_other_target(text, folder, root) for text in texts)
    return tuple(dict.fromkeys(each for each in targets if each is not None))


def _list_texts(value: Any) -> list[str]:
    return [each for each in (value if isinstance(value, list) else [value]) if isinstance(each, str)]


def _find_other_target(path: str, folder: str, root: str | None) -> str | None:
    start = folder if root is None else root
    try:
        end = os.path.realpath(os.path.join(folder, path))
        base = os.path.realpath(start if os.path.isdir(start) else folder)
    except (OSError, ValueError):
        return ""
    if end == base or end.startswith(os.path.join(base, "")):
        # The start can be a link; paths below it are compared with the start as it is written.
        end = os.path.normpath(os.path.join(start, os.path.relpath(end, base)))
    read = read_path(path, start)
    if read is not None and os.path.normpath(str(read)) == end:
        return None
    is_relative = root is None and not os.path.isabs(path) and end.startswith(os.path.join(start, ""))
    return os.path.relpath(end, start) if is_relative else end


def _may_run_elsewhere(command: tuple[str, ...]) -> bool:
    """Whether a command could start its server in a container or on another machine."""
    words = [os.path.basename(command[0]) if command else ""]
    words += [word for argument in command[1:] for word in argument.split()]
    return any(_runs_elsewhere(word) for word in words)


def _runs_elsewhere(program: str) -> bool:
    # Imported here, because a gateway without such paths never reads the catalog.
    from orgkernel.shell.catalog import find_shipped

    if not program or os.sep in program or program.startswith("-"):
        return False
    facts = find_shipped(program)
    return facts is not None and _has_place_elsewhere(facts)


def _has_place_elsewhere(facts: Any) -> bool:
    if isinstance(facts, Mapping):
        if facts.get("elsewhere") is True or facts.get("reader") in _READERS_ELSEWHERE:
            return True
        facts = tuple(facts.values())
    return isinstance(facts, list | tuple) and any(map(_has_place_elsewhere, facts))
