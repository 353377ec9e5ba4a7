"""The result of checking a shell command: the destructive operations in it, and the parts that could not be read."""

from __future__ import annotations

from typing import Final, Literal

import msgspec

CommandOutcome = Literal["harmless", "destructive", "cannot_tell"]

CATALOG: Final = {
    "delete_directory": "recursively deletes a directory that is not the task's own",
    "destroy_data": "erases or overwrites a file or device that is not the task's own",
    "delete_resource": "deletes a remote or managed resource: a volume, bucket, machine, namespace, repository, account",
    "force_push": "overwrites commits that others could have pushed",
    "discard_changes": "discards work in a repository that is not committed, or commits of a branch",
    "delete_branch": "deletes a branch by force, or deletes a branch or tag of a remote",
    "rewrite_history": "rewrites or expires the history of a repository, so old commits cannot be found again",
    "drop_table": "drops or empties a table, column, schema, database, collection or cache",
    "unbounded_delete": "deletes or changes rows without a limit, or with a predicate whose matches are not fixed",
    "send_email": "sends real email",
    "send_sms": "sends a real SMS or call",
    "make_payment": "moves real money: a charge, refund, payout, or capture",
    "force_kill": "kills by force a process that the command did not start",
    "disable_safeguard": "stops, disables or deletes backup, retention, versioning or audit",
    "publish": "publishes a package, a version or a page that others can fetch, which cannot be undone",
}
"""The destructive operations and their descriptions, keyed by id."""


class CommandPlace(msgspec.Struct, frozen=True, kw_only=True):
    """The position of a part of a command. Lines and columns count from 1, in characters."""

    line: int
    column: int
    end_line: int
    end_column: int


class DestructiveOperation(msgspec.Struct, frozen=True, kw_only=True):
    """A destructive operation in a command."""

    id: str
    message: str
    words: tuple[str, ...]
    """The words of the program that does it, after expansion. `…` stands for unknown text."""
    through: tuple[str, ...]
    """The programs and constructs around it, outermost first: `sudo`, `xargs`, `sh -c`."""
    at: CommandPlace
    entry: str = ""
    """The file and line of the entry in the command catalog. Empty for what the shell itself does."""


class UnreadPart(msgspec.Struct, frozen=True, kw_only=True):
    """A part of a command whose effect cannot be determined."""

    message: str
    words: tuple[str, ...]
    through: tuple[str, ...]
    at: CommandPlace
    entry: str = ""
    """The file and line of the entry in the command catalog. Empty for unknown programs and for shell syntax."""


class WordUse(msgspec.Struct, frozen=True, kw_only=True):
    """A word of a command, and the role in which it is read, such as a path or a host."""

    word: str
    role: str


class ProgramReading(msgspec.Struct, frozen=True, kw_only=True):
    """How a program of a command was read."""

    words: tuple[str, ...]
    entry: str
    """The words of the entry in the command catalog, such as `docker image prune`."""
    place: str
    """The file and line of the entry."""
    effects: tuple[str, ...]
    operations: tuple[str, ...]
    uses: tuple[WordUse, ...]
    through: tuple[str, ...]
    """The programs and constructs around it, outermost first."""


class CommandCheck(msgspec.Struct, frozen=True, kw_only=True):
    """The result of checking a shell command without running it."""

    outcome: CommandOutcome
    operations: tuple[DestructiveOperation, ...] = ()
    unread: tuple[UnreadPart, ...] = ()
