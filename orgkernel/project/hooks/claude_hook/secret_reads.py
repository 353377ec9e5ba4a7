"""Whether a call would read a secret file: the same decision as that of the ownership hook, for the role of the caller.

The sacred scopes with their readers are compiled into the activation. Reading a command takes the parser of shells, which the
script of the hook loads by `prepare`, because it runs without installed packages.
"""

from __future__ import annotations

import os

from orgkernel.project.hooks.claude_hook.activated import ActiveOrganization, NotUnderstood

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, Final

_SHELLS: Final = ("Bash", "Monitor")
"""The tools whose argument `command` a POSIX shell runs."""
_UNREAD: Final = "it cannot be determined whether this command reads a secret file, so a person is asked"
_EXPANDED: Final = frozenset("$`*?[]{}\\~")
_SEPARATORS: Final = str.maketrans(dict.fromkeys("'\"=:@,<>|&;()", " "))
_MOVING: Final = frozenset({"cd", "pushd", "popd", "-C", "--directory", "--chdir"})
prepare: Callable[[], None] | None = None
"""Makes what reads commands importable. Set by the script of the hook."""


def decide_secret_read(
    active: ActiveOrganization,
    role: str | None,
    tool: str,
    call: dict[str, Any],
    given: dict[str, Any],
    path_arguments: tuple[str, ...],
) -> tuple[str, str]:
    """The answer to a call about secret files, as an outcome and its reason. `path_arguments` are those of the tool.

    Without a role, the caller is not a reader of any scope.
    """
    reads = active.data.get("secret_reads")
    names = (*path_arguments, *reads["path_arguments"].get(tool, ())) if reads else ()
    is_command = tool in _SHELLS
    if not reads or not (isinstance(given.get("command"), str) if is_command else names):
        return "allow", ""
    if not reads["scopes"] and _is_surely_harmless(call, given, names, reads, is_command=is_command):
        return "allow", ""
    try:
        if prepare is not None:
            prepare()
        from orgkernel.decisions.ownership.sacred import SacredFiles
        from orgkernel.project.hooks.write_decision import decide_read, unpack_scopes

        sacred = SacredFiles(unpack_scopes(reads["scopes"]), (active.project,))
        calls = (
            [{**call, "tool_name": "Bash"}]
            if is_command
            else [
                {**call, "tool_name": "Read", "tool_input": {"file_path": each}}
                for each in _list_paths(given, names)
            ]
        )
        roles = () if role is None else (role,)
        denied = [text for each in calls for text in decide_read(each, active.project, sacred, roles).denied]
    except NotUnderstood:
        raise
    except Exception:
        return "ask", f"ask: {_UNREAD}"
    return ("deny", f"deny: {denied[0]}") if denied else ("allow", "")


def _is_surely_harmless(
    call: dict[str, Any],
    given: dict[str, Any],
    names: tuple[str, ...],
    reads: dict[str, Any],
    *,
    is_command: bool,
) -> bool:
    """Whether a call surely reads no secret file: the answer to most calls, because reading a command takes longer than the rest."""
    from orgkernel.runtime.secret_files import find_secret_kind, may_name_secret

    cwd = call.get("cwd")
    if not isinstance(cwd, str) or not os.path.isabs(cwd):
        return False
    if not is_command:
        ends = [os.path.join(cwd, os.path.expanduser(each)) for each in _list_paths(given, names)]
        return not any(find_secret_kind(end) for each in ends for end in (each, os.path.realpath(each)))
    command: str = given["command"]
    # What a shell expands is read as the shell does it.
    if not command.isascii() or not _EXPANDED.isdisjoint(command):
        return False
    if may_name_secret(command.replace("'", "").replace('"', "")):
        return False
    words = command.translate(_SEPARATORS).split()
    # A folder that changes, and programs that print more than the files that they name.
    if not _MOVING.isdisjoint(words) or any(os.path.basename(each) in reads["programs"] for each in words):
        return False
    return not any(find_secret_kind(os.path.realpath(os.path.join(cwd, each))) for each in words)


def _list_paths(given: dict[str, Any], names: tuple[str, ...]) -> Iterator[str]:
    for name in dict.fromkeys(names):
        value = given.get(name)
        for each in value if isinstance(value, list) else [value]:
            if isinstance(each, str) and each:
                yield each
