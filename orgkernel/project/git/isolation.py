"""The settings and variables with which git reads an untrusted repository. Also the light start of the hooks of git uses them, so this
module imports nothing.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

_SETTINGS = {
    "advice.graftFileDeprecated": "false",
    # A file next to the objects that could list other parents.
    "core.commitGraph": "false",
    "core.fsmonitor": "false",
    "core.hooksPath": os.devnull,
    "core.pager": "cat",
    "core.untrackedCache": "false",
    "core.warnAmbiguousRefs": "true",
    "diff.ignoreSubmodules": "none",
    "diff.orderFile": os.devnull,
    "diff.renames": "false",
    "i18n.logOutputEncoding": "UTF-8",
    "log.showSignature": "false",
    # Callers check first whether this user may open the repository, with the settings of the user.
    "safe.directory": "*",
    "submodule.recurse": "false",
    "trailer.separators": ":",
}
# Variables that git sets for its hooks. Some name the folder of objects that a push is about to add.
HOOK_VARIABLES = (
    "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_OBJECT_DIRECTORY", "GIT_COMMON_DIR",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_QUARANTINE_PATH",
)  # fmt: skip
# Variables and settings of the user, for the questions whose repositories may be opened and where hooks are.
_USER_VARIABLES = ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_SYSTEM")
_OF_THE_USER = ("safe.directory", "core.hooksPath")
_FIXED = {
    "LC_ALL": "C",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_GRAFT_FILE": os.devnull,
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    # No transport has this name, so a partial clone fetches nothing.
    "GIT_ALLOW_PROTOCOL": "none",
}


def build_git_command(folder: str, *arguments: str, as_user: bool = False) -> list[str]:
    """The words that run git in a folder. With `as_user`, the settings of the user decide whose repositories may be opened."""
    kept = _OF_THE_USER if as_user else ()
    settings = [
        word for name, value in _SETTINGS.items() if name not in kept for word in ("-c", f"{name}={value}")
    ]
    return ["git", "--no-pager", *settings, "-C", folder, *arguments]


def build_git_environment(
    variables: Mapping[str, str], *, in_hook: bool = False, as_user: bool = False
) -> dict[str, str]:
    """The variables for git. With `in_hook`, those remain with which git names the repository and the index to its hooks."""
    environment = {
        name: value
        for name, value in variables.items()
        if not name.startswith("GIT_")
        or (in_hook and name in HOOK_VARIABLES)
        or (as_user and name in _USER_VARIABLES)
    }
    return environment | {
        name: value for name, value in _FIXED.items() if not as_user or name not in _USER_VARIABLES
    }
