"""What the hooks of both kinds know about options of orgkernel and of git.

Only built-in modules: the hook of an agent starts with every call.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Final

GIT_VALUE_OPTIONS: Final = frozenset(
    {"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--config-env", "--super-prefix", "--attr-source"}
)  # fmt: skip
"""Options before the command of git whose value is the next word."""


def has_operator_option(rest: Sequence[str], options: Iterable[str]) -> bool:
    """Whether the words after `orgkernel` have one of some options, each written with its command, as in `check --fix`."""
    written = {each.partition("=")[0] for each in rest}
    for each in options:
        *command, option = each.split()
        if list(rest[: len(command)]) == command and option in written:
            return True
    return False
