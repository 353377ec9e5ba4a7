"""Database clients: statements in options, in files, and on standard input."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from orgkernel.diagnostics.wording import quote
from orgkernel.runtime.lazy_patterns import lazy_pattern
from orgkernel.shell.marks import GLOB, ONE, PRIVATE, UNKNOWN, ShellWord
from orgkernel.shell.options import names_in, read_options
from orgkernel.shell.reader import Program, ProgramCall
from orgkernel.shell.sql import read_sql

_REACHES_OUT: Final = lazy_pattern(
    r"(?i)\b(load_extension|writefile|edit|lo_unlink|lo_export|pg_file_\w+|dblink_exec|xp_cmdshell|sys_exec|sys_eval)\s*\("
)


_EXPORTED: Final = lazy_pattern(r"(?is)\bcopy\b[^;]*?\bto\s+'([^']+)'")


def _read_text(call: ProgramCall, text: ShellWord) -> None:
    r"""SQL with client commands in between: `\\i file`, `.read file`."""
    if text.text.strip() == UNKNOWN:
        call.unread("the statements are not known until the command runs", text)
        return
    lines = []
    for line in text.text.replace(GLOB, "*").replace(ONE, "?").split("\n"):
        match = re.match(r"\s*(\\[A-Za-z!?]+\+?|\.[a-z]+)\s*(.*)", line)
        if match is None:
            lines.append(line)
            continue
        _meta(call, match[1], match[2], text)
    for finding in read_sql("\n".join(lines)):
        if call.is_in_memory and finding.operation in ("drop_table", "unbounded_delete"):
            continue
        if finding.operation:
            call.found(finding.operation, finding.message, text)
        else:
            call.unread(finding.message, text)
    inner = re.search(r"(?i)\bprogram\s+'((?:[^']|'')*)'", text.text)
    if inner and re.match(r"(?is)\s*\\?copy\b", text.text):
        call.script(text.but(inner[1].replace("''", "'")), through=call.name)
    if _REACHES_OUT.search(text.text):
        call.unread("cannot determine what this function loads or writes", text)
    for match in _EXPORTED.finditer(text.text) if call.name == "duckdb" else ():
        call.reader.write(text.but(match[1]), UNKNOWN, appends=False)
    if re.search(r"\\gexec\b", text.text):
        call.unread("cannot determine what `\\gexec` runs", text)


def _run_sql(call: ProgramCall) -> None:
    _read_text(call, call.args[0])


def _run_sql_file(call: ProgramCall) -> None:
    file = call.args[0]
    text = (call.stdin or "") if file.text == "-" else call.reader.read_file(file.text)
    if text == UNKNOWN:
        call.unread(f"the statements in {quote(file.text)} are unknown", file)
    else:
        _read_text(call, file.but(text))


_OUTPUTS: Final = (".output", ".once", ".log", ".backup", ".save", ".clone", "\\o", "\\out", "\\w", "\\write")


def _meta(call: ProgramCall, name: str, rest: str, text: ShellWord) -> None:
    if name in ("\\!", ".shell", ".system", "\\system") and rest:
        call.script(text.but(rest), through=call.name)
    elif name in (".load", ".import") or (name in _OUTPUTS and rest.lstrip().startswith("|")):
        call.unread(f"cannot determine what {quote(name)} reads or runs", text)
    elif name in _OUTPUTS and rest.strip() not in ("", "stdout"):
        call.reader.write(text.but(rest.strip().strip("'\"")), UNKNOWN, appends=False)
    elif (
        name in ("\\i", "\\ir", "\\include", ".read", ".restore", "\\g", "\\o") and "|" in rest
    ) or name in ("\\i", "\\ir", ".read", ".restore"):
        call.unread(f"cannot determine what {quote(name)} reads or runs", text)
    elif re.search(r"(?i)\bprogram\s+'", rest):
        inner = re.search(r"(?i)\bprogram\s+'((?:[^']|'')*)'", rest)
        if inner:
            call.script(text.but(inner[1]), through=call.name)


_MONGO_READS: Final = names_in(
    """find findOne count countDocuments estimatedDocumentCount aggregate distinct getIndexes stats explain limit sort pretty toArray
    forEach map print printjson getCollectionNames getCollection getCollectionInfos listCollections getSiblingDB serverStatus hello
    isMaster version adminCommand_ status ObjectId ISODate Date Number parseInt skip project hasNext next insertOne insertMany insert
    createIndex createCollection updateOne dataSize storageSize totalSize getUsers getName log stringify tojson validate size"""
)


def _mongo(call: ProgramCall) -> None:
    options = read_options(
        call.args, valued="upf", long_valued=("eval", "host", "port", "username", "password", "file")
    )
    scripts = options.all_values("eval")
    if not scripts and call.stdin:
        scripts = [call.word.but(call.stdin)]
    for script in scripts:
        _mongo_script(call, script)
    for word in [*options.operands, *options.all_values("f", "file")]:
        if word.text.endswith(".js"):
            call.unread("cannot determine what this script does", word)


def _mongo_script(call: ProgramCall, script: ShellWord) -> None:
    code = re.sub(r"'[^']*'|\"[^\"]*\"", "''", script.text)
    names = set(re.findall(r"\b([A-Za-z_$][\w$]*)\s*\(", code))
    if names & {"drop", "dropDatabase", "dropCollection", "dropUser", "dropAllUsers", "dropIndexes"} - {
        "dropIndexes"
    }:
        call.found("drop_table", "drops a collection or database", script)
    if names & {"deleteMany", "remove", "findAndRemove", "deleteOne", "bulkWrite", "findOneAndDelete"}:
        if names & {"deleteMany", "remove"}:
            call.found("unbounded_delete", "deletes documents without a limit", script)
        else:
            call.unread("cannot determine which documents this deletes", script)
    elif (names - _MONGO_READS and not names & {"drop", "dropDatabase"}) or PRIVATE.search(script.text):
        call.unread("cannot determine what this script does to the database", script)


def _redis(call: ProgramCall) -> None:
    """A client of Redis: its words are a command, or its input has one in a line."""
    options = read_options(
        call.args,
        valued="hpanuirD",
        long_valued=("pass", "user", "pattern", "count", "eval", "tls", "cacert", "cert", "key"),
        first_operand_ends=True,
    )
    if options.has("eval"):
        call.unread("cannot determine what this script does")
    lines = [options.operands]
    if not options.operands:
        text = call.stdin or ""
        lines = [[call.word.but(word) for word in line.split()] for line in text.splitlines()]
    if options.has("x") and options.operands:
        lines[0].append(call.word.but(UNKNOWN))
    read = call.reader.programs.get("redis-command")
    for words in lines:
        if words and read is not None:
            read(call.with_args([word.but(word.text.lower()) for word in words]))


READERS: Final[Mapping[str, Program]] = {
    "sql": _run_sql,
    "sql_file": _run_sql_file,
    "mongo": _mongo,
    "redis": _redis,
}
