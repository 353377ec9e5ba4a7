"""Programs that build, test, lint, format and read. They are harmless, except for some of their commands."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import pairwise
from typing import Final

from orgkernel.diagnostics.wording import quote
from orgkernel.shell.marks import UNKNOWN
from orgkernel.shell.reader import Program, ProgramCall

_DB_DROPS: Final = re.compile(
    r"^(db:(drop|reset|purge|schema:load|migrate:reset|truncate_all|setup|wipe)(:\w+)?|migrate:(fresh|reset|refresh)|db:wipe|doctrine:(database|schema):drop|d:[ds]:d)$"
)


def _rails(call: ProgramCall) -> str | None:
    words = [word for word in call.args if not word.text.startswith("-")]
    if words and words[0].text.rsplit("/", 1)[-1] in ("artisan", "console"):
        words = words[1:]
    for word in words[:4]:
        if _DB_DROPS.match(word.text):
            call.found("drop_table", "drops or empties the database", word)
            return UNKNOWN
    verb = words[0].text if words else ""
    if verb in ("runner", "r", "console", "c", "tinker", "dbconsole"):
        call.unread("what this code does cannot be seen")
    return UNKNOWN


def _prisma(call: ProgramCall) -> str | None:
    words = [word.text for word in call.args]
    verbs = [word for word in words if not word.startswith("-")]
    if (
        verbs[:2] in (["migrate", "reset"], ["db", "drop"], ["schema", "drop"])
        or "--force-reset" in words
        or "db:drop" in verbs
        or "schema:drop" in verbs
        or "db:migrate:undo:all" in verbs
    ):
        call.found("drop_table", "drops and recreates the database")
    elif (
        verbs[:2] in (["db", "push"], ["db", "execute"])
        or "--accept-data-loss" in words
        or verbs[:1] in (["push"],)
    ):
        if "--accept-data-loss" in words:
            call.found("drop_table", "drops columns and tables that the schema does not have")
        else:
            call.unread("what this changes in the database cannot be seen")
    return UNKNOWN


def _alembic(call: ProgramCall) -> str | None:
    words = [word.text for word in call.args if not word.text.startswith("-")]
    if call.name == "flask":
        words = words[1:] if words[:1] == ["db"] else []
    parts = {part for word in words for part in re.split(r"[:-]", word)}
    flags = {word.text for word in call.args if word.text.startswith("-")}
    if (
        ("downgrade" in words and "base" in words)
        or parts & {"clean", "drop", "wipe", "reset", "dropall"}
        or (parts & {"rollback", "undo", "down"} and flags & {"--all"})
    ):
        call.found("drop_table", "drops the database or all its tables")
    elif parts & {"downgrade", "undo", "rollback", "down", "revert", "redo"} and "--sql" not in flags:
        call.unread("what the earlier schema does not hold is lost")
    return UNKNOWN


_DEBUGGER_SHELLS: Final = re.compile(r"\s*(!|shell|platform shell|python|script|source)")


def _debugger(call: ProgramCall) -> str | None:
    """`gdb -ex COMMAND --args PROGRAM`."""
    for option, command in pairwise(call.args):
        if option.text in ("-ex", "--eval-command", "-o", "--one-line") and _DEBUGGER_SHELLS.match(
            command.text
        ):
            call.unread("what this command of the debugger runs cannot be seen", command)
    return UNKNOWN


def _editor(call: ProgramCall) -> str | None:
    """`vim -c COMMAND`: an editor that runs commands."""
    for number, word in enumerate(call.args):
        text = word.text
        command = text[1:] if text[:1] == "+" else ""
        if text in (
            "-c",
            "--cmd",
            "-S",
            "-s",
            "--eval",
            "-l",
            "--load",
            "--script",
            "-u",
            "--luafile",
        ) and number + 1 < len(call.args):
            command = call.args[number + 1].text
        if command and not re.fullmatch(r":?(\d+|/\w+|wq?!?|qa?!?|set \w+|syntax on)", command):
            call.unread("what this command of the editor does cannot be seen", word)
    return UNKNOWN


def _unknown(call: ProgramCall) -> str | None:
    if [word.text for word in call.args] not in (["--version"], ["--help"], ["-V"], ["version"], ["help"]):
        call.unread(f"unknown program {quote(call.name)}")
    return UNKNOWN


def _read_only(call: ProgramCall) -> str | None:
    return UNKNOWN


READERS: Final[Mapping[str, Program]] = {
    **dict.fromkeys(
        ["amtool", "ansible-doc", "ansible-inventory", "cosign", "crane", "createdb", "createuser", "kaniko", "kcat", "kubectx", "kubens", "kustomize", "jaeger", "k9s", "logcli", "mariadb-dump", "mongodump", "mongoexport", "mongostat", "mysqlcheck", "mysqldump", "pg_config", "pg_dump", "pg_dumpall", "pg_isready", "promtool", "redis-benchmark", "snow", "sqldiff", "sqlite-utils", "stern", "velero"], _read_only),
    "?": _unknown,
    "editor": _editor,
    "debugger": _debugger,
    **dict.fromkeys(("rails", "rake", "artisan", "symfony", "console"), _rails),
    **dict.fromkeys(("prisma", "sequelize", "sequelize-cli", "typeorm", "drizzle-kit", "mikro-orm"), _prisma),
    **dict.fromkeys(("alembic", "flask", "flyway", "liquibase", "knex", "migrate", "goose", "dbmate", "sqlx", "diesel", "atlas"), _alembic),
}  # fmt: skip
