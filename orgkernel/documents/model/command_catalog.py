"""`command_catalog`: programs, their subcommands, options and operands, with the effect of each.

The entries are read by `orgkernel.shell`, which simulates a command without running it. What an entry does not claim is
not harmless: the effect of an unknown program or subcommand is `unknown`.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from orgkernel.documents.model.record import Document, PathGlob, Record

CommandOption = Annotated[str, StringConstraints(pattern=r"^[-+/][!-<>-~]{1,99}$")]
ProgramName = Annotated[str, StringConstraints(pattern=r"^[!-.0-~]{1,99}$")]
# One word or several. A `*` stands for any text in a word.
SubcommandName = Annotated[str, StringConstraints(pattern=r"^[!-~]{1,99}( [!-~]{1,99}){0,5}$")]
CommandPattern = Annotated[str, StringConstraints(min_length=1, max_length=1_000)]

CommandEffect = Literal[
    "reads",
    "adds",
    "writes",
    "changes",
    "deletes",
    "sends",
    "publishes",
    "runs",
    "changes_rights",
    "disables_safeguard",
    "needs_somebody",
    "unknown",
]
"""`reads`: nothing changes. `adds`: something new that replaces nothing. `writes`: the files of this machine that its
words name. `changes`: something whose earlier state is lost, such as a setting. `deletes`, `sends`, `publishes` and
`disables_safeguard` are destructive operations. `runs`: code or a command that the words do not show. `changes_rights`:
permissions or owners. `needs_somebody`: a person has to answer. `unknown`: the effect cannot be told."""

ProgramOutput = Literal["unknown", "word", "nothing", "input", "changed_input", "made"]
"""What is known about the output of a program: one `word` without separators, `nothing`, its `input`, text that is empty if its input
is (`changed_input`), or the id of the thing that it `made`."""

WordRole = Literal[
    "text",
    "host",
    "url",
    "path_read",
    "path_added",
    "path_written",
    "path_changed",
    "path_deleted",
    "tree_deleted",
    "folder_filled",
    "folder",
    "command",
    "package",
    "shell",
    "shell_words",
    "script",
    "task",
    "sql",
    "sql_file",
    "code",
]
"""What a word is taken for. `text`, `host`, `url`: data. `path_read`: a file that is read. `path_added`: a file or
folder that is created and never replaced. `path_written`: a file that is replaced. `path_changed`: a file that is changed in place. `path_deleted`: a file that is deleted. `tree_deleted`: a
folder that is deleted with everything in it. `folder_filled`: a folder in which files are written. `folder`: the folder
in which the program runs. `command`: a program, and the words behind it are its own. `package`: the same, and the name
can have a version. `shell`: text that a shell runs. `shell_words`:
words that are one such text together. `script`: a file that is run. `task`: the name of a task of the
project. `sql`: SQL. `sql_file`: a file with SQL that is run. `code`: code of another language."""

CommandOperation = Literal[
    "delete_directory",
    "destroy_data",
    "delete_resource",
    "force_push",
    "discard_changes",
    "delete_branch",
    "rewrite_history",
    "drop_table",
    "unbounded_delete",
    "send_email",
    "send_sms",
    "make_payment",
    "force_kill",
    "disable_safeguard",
    "publish",
]
"""An id of the catalog of destructive operations."""


class CommandOperands(Record):
    """What the operands of a program are: the first ones, the last one, and the others."""

    first: tuple[WordRole, ...] = ()
    """The first operands, in order."""
    rest: WordRole = "text"
    """The operands between the first ones and the last one."""
    last: WordRole | None = None
    """The last operand, if there is one besides the first ones."""


class CommandCase(Record):
    """A use of a program with an effect of its own. All conditions must hold."""

    options: tuple[CommandOption, ...] = ()
    """One of these options is given."""
    and_options: tuple[CommandOption, ...] = ()
    """One of these options is given, too."""
    unless: tuple[CommandOption, ...] = ()
    """None of these options is given."""
    value: CommandPattern | None = None
    """A regular expression that matches the whole value of one of `options`."""
    operand: CommandPattern | None = None
    """A regular expression that matches a whole operand."""
    position: Annotated[int, Field(ge=1)] | None = None
    """The number of the operand that `operand` is about, from 1. Absent means any."""
    at_least: Annotated[int, Field(ge=0)] | None = None
    """Minimum number of operands."""
    at_most: Annotated[int, Field(ge=0)] | None = None
    """Maximum number of operands."""
    piped: bool | None = None
    """Whether text is piped into the program."""
    safeguard: bool | None = None
    """Whether an operand names something that keeps backups or records."""
    unclear: bool | None = None
    """Whether part of an operand is only known at run time."""
    effect: CommandEffect | None = None
    """The effect of this use. Absent means the effect of the entry."""
    operation: CommandOperation | None = None
    """The destructive operation of this use."""
    message: str = ""
    """What this use does, as a verb with an object: `deletes a bucket`. `{operand}` stands for the operand that was
    matched, otherwise for the first one."""
    operands: WordRole | CommandOperands | None = None
    """What the operands are in this use."""
    values: dict[WordRole, tuple[CommandOption, ...]] = Field(default_factory=dict)
    """What the values of options are in this use."""
    unseen: bool | None = None
    """Whether it changes files of the project that its words do not name. Build outputs and installed packages do not
    count."""
    files: tuple[PathGlob, ...] = ()
    """Files of the project that it changes, although its words do not name them, such as `package.json`."""
    makes: str | None = None
    """The kind of thing that this use makes, such as `branch`. It must fail if the thing exists. The value of one of
    `options` is its name, otherwise the operand at `position`, or the first one. All operands are if the kind is `path`.
    The same command may delete it again."""
    removes: str | None = None
    """The kind of thing that this use deletes. If the command itself made all of them, the use is harmless."""
    named_by: tuple[CommandOption, ...] = ()
    """Options whose value names what this use deletes, if no operand does."""
    prints: ProgramOutput | None = None
    """What is known about the output of this use."""
    in_memory: bool | None = None
    """Whether its SQL acts on a database in memory, which ends with the program."""


class CommandFields(Record):
    """The part that programs and subcommands share."""

    description: str = ""
    values: dict[WordRole, tuple[CommandOption, ...]] = Field(default_factory=dict)
    """The options with a value, by what the value is. Subcommands have them, too."""
    flags: tuple[CommandOption, ...] = ()
    """Options without a value that no case names. They are known, so that they raise no doubt."""
    options_first: bool = False
    """Whether options end at the first operand."""
    operands: WordRole | CommandOperands | None = None
    """What the operands are."""
    bundled: bool = False
    """Whether the first word can be letters of options without a dash, as in `tar xf`."""
    harmless_with: tuple[CommandOption, ...] = ()
    """Options with which nothing happens, such as `--dry-run`. Subcommands have them, too."""
    effect: CommandEffect | None = None
    """The effect. Absent means `reads` for a program that is used without one of its subcommands, and otherwise
    `unknown`."""
    operation: CommandOperation | None = None
    """The destructive operation that it does."""
    message: str = ""
    """What it does, as a verb with an object: `deletes a bucket`. `{operand}` stands for the first operand."""
    cases: tuple[CommandCase, ...] = ()
    """Uses with effects of their own. All that apply count, and the effect of the entry counts if none does."""
    elsewhere: bool = False
    """Whether the commands that it runs are run on another machine or in a container."""
    piped: WordRole | None = None
    """What text is that is piped into the program. SQL that is given by words or files counts instead of piped SQL."""
    prints: ProgramOutput = "unknown"
    """What is known about its output."""
    reader: str | None = None
    """The name of the part of orgkernel that reads this program, because its words are a language of their own."""
    opens: Literal["nothing", "named", "trees", "environment"] | None = None
    """The content that it prints, copies or sends: `nothing`, that of files that its words name (`named`, default), also that
    of all files in folders that its words name (`trees`), or without operands the values of the environment. It holds for
    its subcommands, unless they state another one."""
    names_only_with: tuple[CommandOption, ...] = ()
    """Options with which it prints names, dates and messages, but no content. Without other options, it opens nothing, whatever
    `opens` says. Letters behind one dash are options of their own."""
    unseen: bool = False
    """Whether it changes files of the project that its words do not name. Build outputs and installed packages do not
    count."""
    files: tuple[PathGlob, ...] = ()
    """Files of the project that it changes, although its words do not name them, such as `package.json`."""
    makes: str | None = None
    """The kind of thing that it makes, such as `branch`. It must fail if the thing exists. The first operand is its
    name, or all of them if the kind is `path`."""
    removes: str | None = None
    """The kind of thing that it deletes. If the command itself made all of them, it is harmless."""
    named_by: tuple[CommandOption, ...] = ()
    """Options whose value names what it deletes, if no operand does."""


class SubcommandEntry(CommandFields):
    """A subcommand, or several with the same effect."""

    names: Annotated[tuple[SubcommandName, ...], Field(min_length=1)]
    """The subcommands: `delete`, `delete-*`, or several words such as `image prune`. The entry with the most words
    counts, and an exact name before a pattern."""


class ProgramEntry(CommandFields):
    """A program."""

    also: tuple[ProgramName, ...] = ()
    """Other names of the program, and programs with the same options, operands and effects."""
    subcommands: tuple[SubcommandEntry, ...] = ()
    """The subcommands with their effects."""
    otherwise: Literal["reads", "changes", "runs", "unknown", "task", "script", "command"] = "unknown"
    """What subcommands that are not listed are: their effect, or the name of a `task` of the project, a `script`, or
    another `command`."""


class CommandCatalog(Document):
    """Programs, with the effects of their subcommands, options and operands."""

    kind: Literal["orgkernel:command_catalog"] = Field(default="orgkernel:command_catalog", alias="_schema")
    description: str = ""
    source: str = ""
    """Where the facts are from, with a date or versions."""
    programs: dict[ProgramName, ProgramEntry] = Field(default_factory=dict)
