"""Options that make a command of orgkernel a command of an operator, such as `--record`. For the hooks of both kinds.

Only built-in modules: the hook of an agent starts with every call.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def has_operator_option(rest: Sequence[str], options: Iterable[str]) -> bool:
    """Whether the words after `orgkernel` have one of some options, each written with its command, as in `check --fix`."""
    written = {each.partition("=")[0] for each in rest}
    for each in options:
        *command, option = each.split()
        if list(rest[: len(command)]) == command and option in written:
            return True
    return False
