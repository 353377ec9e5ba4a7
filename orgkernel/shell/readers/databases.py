"""Database clients: statements in options, in files, and on standard input."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from orgkernel.diagnostics.wording import quote
from orgkernel.shell.marks import GLOB, ONE, PRIVATE, UNKNOWN, ShellWord
from orgkernel.shell.options import names_in, read_options
from orgkernel.shell.reader import Program, ProgramCall
from orgkernel.shell.sql import read_sql


@dataclass(frozen=True, slots=True)
class DatabaseClient:
    """The ways in which a database client receives statements."""

    valued: str
    statements: tuple[str, ...]
    """The options whose value is SQL."""
    long_valued: tuple[str, ...] = ()
    files: tuple[str, ...] = ("f", "file")
    operand: int | None = None
    """Index of the operand that is SQL, if there is one."""
    single_dash_longs: bool = False
    reads_stdin: bool = True


_MYSQL: Final = DatabaseClient(
    "uhPDSe",
    ("e", "execute"),
    (
        "user",
        "host",
        "port",
        "database",
        "socket",
        "execute",
        "protocol",
        "default-character-set",
        "init-command",
    ),
    (),
)
_CLIENTS: Final[Mapping[str, DatabaseClient]] = {
    "psql": DatabaseClient(
        "cdfhpUvLoRFPT", ("c", "command"),
        ("command", "dbname", "file", "host", "port", "username", "set", "variable", "output", "log-file", "pset"),
    ),
    "pgcli": DatabaseClient("hpUd", ("c", "command"), ("command",)),
    "mysql": _MYSQL,
    "mariadb": _MYSQL,
    "mycli": DatabaseClient("hPuDe", ("e", "execute"), ("execute", "host", "user", "database")),
    "sqlite3": DatabaseClient("", ("cmd",), ("cmd", "init", "separator", "nullvalue", "newline"), ("init",), 1, single_dash_longs=True),
    "sqlite": DatabaseClient("", ("cmd",), ("cmd", "init", "separator"), ("init",), 1, single_dash_longs=True),
    "duckdb": DatabaseClient("cf", ("c", "s", "cmd"), ("cmd", "init"), ("f", "init"), 1),
    "clickhouse-client": DatabaseClient("qhud", ("q", "query"), ("query", "host", "user", "password", "port", "database", "queries-file"), ("queries-file",)),
    "clickhouse": DatabaseClient("qhud", ("q", "query"), ("query", "host", "user", "password", "port", "database", "queries-file"), ("queries-file",)),
    "cqlsh": DatabaseClient("efukp", ("e", "execute"), ("execute", "file", "username", "password", "keyspace")),
    "snowsql": DatabaseClient("qfacudsrw", ("q", "query"), ("query", "filename", "connection"), ("f", "filename")),
    "sqlcmd": DatabaseClient("QqiSUPdo", ("Q", "q"), (), ("i",)),
    "bsql": DatabaseClient("q", ("q",), ()),
    "spark-sql": DatabaseClient("ef", ("e",), ("database",)),
    "hive": DatabaseClient("ef", ("e",), ("database", "hiveconf")),
    "beeline": DatabaseClient("uefnp", ("e",), ()),
    "impala-shell": DatabaseClient("qfid", ("q", "query"), ("query", "query_file"), ("f", "query_file")),
    "trino": DatabaseClient("f", ("execute",), ("execute", "server", "catalog", "schema", "file"), ("f", "file")),
    "presto": DatabaseClient("f", ("execute",), ("execute", "server", "catalog", "schema", "file"), ("f", "file")),
    "cockroach": DatabaseClient("ef", ("e", "execute"), ("execute", "url", "host", "database", "file"), ("f", "file")),
    "usql": DatabaseClient("cfo", ("c", "command"), ("command", "file", "out")),
    "vsql": DatabaseClient("cfdhpUw", ("c", "command"), ("command", "file")),
    "sqlplus": DatabaseClient("", (), ()),
    "db2": DatabaseClient("f", (), (), ("f",), 0),
    "influx": DatabaseClient("", ("execute",), ("execute", "host", "port", "database"), (), None, single_dash_longs=True),
    "osqueryi": DatabaseClient("", (), (), (), 0),
    "q": DatabaseClient("d", (), (), (), 0),
}  # fmt: skip


def _influx(call: ProgramCall) -> str | None:
    words = [word.text for word in call.args if not word.text.startswith("-")]
    if words[:1] == ["delete"]:
        call.found("unbounded_delete", "deletes what a predicate matches")
    elif words[1:2] == ["delete"]:
        call.found("delete_resource", f"deletes a {words[0]}")
    return _client(call)


def _client(call: ProgramCall) -> str | None:
    client = _CLIENTS[call.name]
    options = read_options(
        call.args,
        valued=client.valued,
        long_valued=client.long_valued,
        single_dash_longs=client.single_dash_longs,
    )
    if options.has("version", "help", "V") or (call.name == "psql" and options.has("l", "list")):
        return UNKNOWN
    given = options.all_values(*client.statements)
    if client.operand is not None:
        rest = options.operands[client.operand :]
        given += rest
    for sql in given:
        _read_text(call, sql)
    if call.name == "mysql" and (script := options.value("init-command")):
        _read_text(call, script)
    for file in options.all_values(*client.files):
        text = call.reader.read_file(file.text)
        if file.text == "-":
            text = call.stdin or ""
        if text == UNKNOWN:
            call.unread(f"the statements in {quote(file.text)} cannot be seen", file)
        else:
            _read_text(call, file.but(text))
    if not given and call.stdin is not None and client.reads_stdin and not options.has(*client.files):
        _read_text(call, call.word.but(call.stdin))
    return UNKNOWN


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
        if finding.operation:
            call.found(finding.operation, finding.message, text)
        else:
            call.unread(finding.message, text)
    inner = re.search(r"(?i)\bprogram\s+'((?:[^']|'')*)'", text.text)
    if inner and re.match(r"(?is)\s*\\?copy\b", text.text):
        call.script(text.but(inner[1].replace("''", "'")), through=call.name)
    if re.search(r"\\gexec\b", text.text):
        call.unread("what `\\gexec` runs cannot be seen", text)


def _run_sql(call: ProgramCall) -> None:
    _read_text(call, call.args[0])


def _meta(call: ProgramCall, name: str, rest: str, text: ShellWord) -> None:
    if name in ("\\!", ".shell", ".system", "\\system") and rest:
        call.script(text.but(rest), through=call.name)
    elif (
        name in ("\\i", "\\ir", "\\include", ".read", ".restore", "\\g", "\\o") and "|" in rest
    ) or name in ("\\i", "\\ir", ".read", ".restore"):
        call.unread(f"what {quote(name)} reads or runs cannot be seen", text)
    elif re.search(r"(?i)\bprogram\s+'", rest):
        inner = re.search(r"(?i)\bprogram\s+'((?:[^']|'')*)'", rest)
        if inner:
            call.script(text.but(inner[1]), through=call.name)


def _drops_database(call: ProgramCall) -> None:
    options = read_options(call.args, valued="hpUW")
    if not options.has("help", "version"):
        call.found("drop_table", "drops a database")


def _mysqladmin(call: ProgramCall) -> None:
    options = read_options(call.args, valued="uhPS", long_valued=("user", "host", "port", "socket"))
    words = [word.text for word in options.operands]
    if "drop" in words:
        call.found("drop_table", "drops a database")
    elif "shutdown" in words or "kill" in words:
        call.unread("whose work this ends cannot be seen")


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
            call.unread("what this script does cannot be seen", word)


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
            call.unread("which documents this deletes cannot be seen", script)
    elif (names - _MONGO_READS and not names & {"drop", "dropDatabase"}) or PRIVATE.search(script.text):
        call.unread("what this script does to the database cannot be seen", script)


_REDIS_READS: Final = names_in(
    """get mget hget hgetall hmget hkeys hvals hlen exists ttl pttl type keys scan sscan hscan zscan strlen llen lrange lindex smembers
    scard sismember zrange zcard zscore zrangebyscore info ping dbsize memory monitor slowlog client time echo set setex mset hset
    lpush rpush sadd zadd incr decr expire publish subscribe psubscribe object randomkey command xlen xrange xread xinfo cluster
    latency getrange bitcount select auth"""
)


def _redis(call: ProgramCall) -> None:
    options = read_options(
        call.args,
        valued="hpanuirD",
        long_valued=("pass", "user", "pattern", "count", "eval", "tls", "cacert", "cert", "key"),
        first_operand_ends=True,
    )
    if options.has("eval"):
        call.unread("what this script does cannot be seen")
    lines = [[word.text.lower() for word in options.operands]]
    if not options.operands:
        lines = [line.lower().split() for line in (call.stdin or "").splitlines()]
    for words in lines:
        verb = words[0] if words else ""
        if (
            verb in ("flushall", "flushdb")
            or words[:2] == ["script", "flush"]
            or words[:2] == ["function", "flush"]
        ):
            call.found("drop_table", "empties a database")
        elif verb in (
            "del",
            "unlink",
            "shutdown",
            "eval",
            "evalsha",
            "debug",
            "rename",
            "config",
            "replicaof",
            "slaveof",
            "migrate",
            "restore",
        ):
            if verb == "config" and words[1:2] == ["get"]:
                continue
            if (
                verb == "config"
                and words[2:3]
                and words[2] in ("save", "appendonly")
                and words[-1] in ("", "no")
            ):
                call.found("disable_safeguard", "disables the persistence of a database")
                continue
            call.unread(f"what {quote(verb)} changes cannot be seen")
        elif verb and verb not in _REDIS_READS:
            call.unread(f"unknown operation {quote(verb)}")


def _restores(call: ProgramCall) -> None:
    options = read_options(
        call.args, valued="dhpUjnt", long_valued=("dbname", "host", "port", "username", "jobs", "table")
    )
    if options.has("l", "list"):
        return
    if options.has("c", "clean", "drop"):
        call.found("drop_table", "drops what is there before it restores")
    else:
        call.unread("what this writes over cannot be seen")


def _bq(call: ProgramCall) -> None:
    options = read_options(
        call.args, longs=("force", "dry_run", "nouse_legacy_sql"), first_operand_ends=True,
        long_valued=("project_id", "location", "format"),
    )  # fmt: skip
    verb = options.operands[0].text if options.operands else ""
    rest = read_options(
        options.operands[1:],
        longs=("dry_run", "recursive", "force"),
        long_valued=("destination_table", "max_rows", "format"),
    )
    if verb == "query" and not rest.has("dry_run"):
        for word in rest.operands:
            _read_text(call, word)
        if not rest.operands and call.stdin:
            _read_text(call, call.word.but(call.stdin))
    elif verb == "rm":
        call.found("delete_resource", "deletes a table or dataset")
    elif verb in ("update", "cp", "partition"):
        call.unread(f"what {quote(verb)} changes cannot be seen")


def _topics(call: ProgramCall) -> None:
    if any(word.text == "--delete" for word in call.args):
        call.found("delete_resource", "deletes a topic with its messages")


def _hdfs(call: ProgramCall) -> None:
    words = [word.text for word in call.args]
    if words[:1] in (["dfs"], ["fs"]):
        words = words[1:]
    if words and words[0] in ("-rm", "-rmr", "-expunge"):
        call.found("delete_directory", "deletes files of a shared file system")


PROGRAMS: Final[Mapping[str, Program]] = {
    "sql": _run_sql,
    **dict.fromkeys(_CLIENTS, _client),
    "influx": _influx,
    "dropdb": _drops_database, "dropuser": _drops_database, "mysqladmin": _mysqladmin, "mongosh": _mongo, "mongo": _mongo,
    "redis-cli": _redis, "valkey-cli": _redis, "keydb-cli": _redis, "pg_restore": _restores, "mongorestore": _restores,
    "bq": _bq, "kafka-topics.sh": _topics, "kafka-topics": _topics, "hdfs": _hdfs, "hadoop": _hdfs,
}  # fmt: skip
