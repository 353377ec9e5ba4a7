"""SQL statements that drop or delete. Strings, quoted names and comments are never read as statements."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from orgkernel.runtime.lazy_patterns import lazy_pattern
from orgkernel.shell.marks import PRIVATE
from orgkernel.shell.options import names_in

_TOKEN: Final = lazy_pattern(
    r"""(?P<space>\s+|--[^\n]*|\#[^\n]*|/\*(?!!).*?(?:\*/|\Z)|/\*!\d*|\*/)
    |(?P<text>'(?:[^'\\]|\\.|'')*(?:'|\Z))
    |(?P<body>\$(?P<tag>\w*)\$.*?(?:\$(?P=tag)\$|\Z))
    |(?P<name>"(?:[^"]|"")*(?:"|\Z)|`[^`]*(?:`|\Z)|\[[^\]]*\])
    |(?P<number>\d+(?:\.\d+)?)
    |(?P<mark>[\ue000-\ue0ff]+)
    |(?P<word>[^\W\d]\w*)
    |(?P<parameter>[$:@]\w+|\?)
    |(?P<operator><>|<=|>=|!=|::|.)""",
    re.VERBOSE | re.DOTALL,
)
_DROPPED: Final = names_in(
    """TABLE DATABASE SCHEMA KEYSPACE COLUMN TABLESPACE PARTITION COLLECTION DATASET WAREHOUSE STREAM TOPIC FOREIGN TEMPORARY TEMP"""
)
_KEPT: Final = names_in(
    """INDEX VIEW TRIGGER FUNCTION PROCEDURE CONSTRAINT DEFAULT NOT IDENTITY EXPRESSION PRIMARY FOREIGN CHECK KEY"""
)
_HARMLESS: Final = names_in(
    """SELECT INSERT WITH SHOW DESCRIBE DESC EXPLAIN CREATE ALTER BEGIN START COMMIT ROLLBACK SAVEPOINT RELEASE SET USE PRAGMA VACUUM
    ANALYZE REINDEX GRANT REVOKE COMMENT COPY LOCK UNLOCK VALUES TABLE LISTEN NOTIFY UPDATE MERGE ATTACH DETACH REFRESH CHECKPOINT
    FETCH END LOAD OPTIMIZE CLUSTER RESET ABORT DELIMITER FROM SUMMARIZE IMPORT INSTALL EXPORT LIST CHECK DISCARD CLOSE HELP
    REPLACE"""
)


# What opens or writes a file from a database in memory.
_LEAVING: Final = re.compile(
    r"(?i)\b(attach|load|install|export|import|copy)\b|\.(open|restore|read|load|archive|ar|save|backup|clone)\b"
)


def may_leave_memory(text: str) -> bool:
    """Whether statements for a database in memory can act on another one, or on a file."""
    return _LEAVING.search(text) is not None or PRIVATE.search(text) is not None


class SqlFinding(NamedTuple):
    """The effect of a statement. Without an operation, the part of it that cannot be determined."""

    operation: str
    message: str


class _Token(NamedTuple):
    kind: str
    text: str


def read_sql(sql: str, *, depth: int = 0) -> Iterator[SqlFinding]:
    """The destructive effects of the statements in a text."""
    for statement in _statements(sql):
        yield from _read(statement, depth)


def _statements(sql: str) -> Iterator[list[_Token]]:
    tokens: list[_Token] = []
    for match in _TOKEN.finditer(sql):
        kind = match.lastgroup or "operator"
        kind = "body" if kind == "tag" else kind
        if match["body"] is not None:
            kind = "body"
        if kind == "space":
            continue
        if match[0] == ";":
            if tokens:
                yield tokens
            tokens = []
        else:
            tokens.append(_Token(kind, match[0].upper() if kind == "word" else match[0]))
    if tokens:
        yield tokens


def _read(tokens: Sequence[_Token], depth: int) -> Iterator[SqlFinding]:
    while tokens and tokens[0].text == "(":
        tokens = tokens[1:]
    if not tokens:
        return
    words = [token.text if token.kind == "word" else "" for token in tokens]
    first = words[0]
    # EXPLAIN only plans a statement. With ANALYZE it runs it.
    if first == "EXPLAIN" and "ANALYZE" not in words[:6]:
        return
    if first == "PREPARE" and "AS" in words:
        yield from _read(tokens[words.index("AS") + 1 :], depth)
        return
    # The body of a function runs when it is called, not now.
    if first == "CREATE" and ({"FUNCTION", "TRIGGER", "PROCEDURE", "RULE", "EVENT"} & set(words[:6])):
        return
    has_mark = any(
        token.kind == "mark" or (token.kind == "name" and PRIVATE.search(token.text)) for token in tokens
    )
    yield from _dropped(first, words)
    yield from _deleted(tokens, words)
    if first == "UPDATE" and "WHERE" not in words and "SET" in words:
        yield SqlFinding("unbounded_delete", "changes every row of a table")
    if any(name in words for name in ("PG_TERMINATE_BACKEND", "XP_CMDSHELL")):
        yield SqlFinding("force_kill", "ends connections of other users or runs a program")
    if first in ("DO", "EXECUTE", "EXEC", "CALL") and depth < 3:
        bodies = [token.text for token in tokens if token.kind in ("body", "text")]
        for body in bodies:
            inner = re.sub(r"\A\$\w*\$|\$\w*\$\Z|\A'|'\Z", "", body)
            # Not a parser of PL/SQL: statements begin after these words, and each is read as one of its own.
            for piece in re.split(
                r"\b(?:BEGIN|THEN|LOOP|ELSE|DECLARE|EXECUTE)\b", inner, flags=re.IGNORECASE
            ):
                yield from (each for each in read_sql(piece.strip(" '"), depth=depth + 1) if each.operation)
        yield SqlFinding("", f"cannot determine what this {first} runs")
    elif has_mark:
        yield SqlFinding("", "a part of this statement is not known until the command runs")
    elif first in ("DROP", "TRUNCATE", "DELETE"):
        return
    elif first not in _HARMLESS:
        yield SqlFinding("", f"unknown SQL statement {first or tokens[0].text[:20]}")


def _dropped(first: str, words: Sequence[str]) -> Iterator[SqlFinding]:
    if first == "DROP":
        kind = next((word for word in words[1:4] if word not in ("MATERIALIZED", "")), "")
        if kind in _DROPPED:
            yield SqlFinding("drop_table", f"drops a {kind.lower()}")
        else:
            yield SqlFinding("", f"cannot determine what is lost with this {kind.lower() or 'name'}")
    elif first == "TRUNCATE":
        yield SqlFinding("drop_table", "empties a table")
    elif first == "ALTER":
        for number, word in enumerate(words):
            after = words[number + 1] if number + 1 < len(words) else ""
            if word in ("DROP", "TRUNCATE") and after not in _KEPT:
                yield SqlFinding("drop_table", "drops a column or partition")
                return


def _deleted(tokens: Sequence[_Token], words: Sequence[str]) -> Iterator[SqlFinding]:
    if words[0] == "ALTER" and "DELETE" in words:
        yield SqlFinding("unbounded_delete", "deletes rows without a limit")
        return
    for number, word in enumerate(words):
        if word != "DELETE" or (
            number and words[number - 1] in ("ON", "GRANT", "FOR", "BEFORE", "AFTER", "OR")
        ):
            continue
        if number and words[0] == "GRANT":
            continue
        if number and words[number + 1 : number + 2] != ["FROM"] and words[number - 1] != "THEN":
            continue
        rest = tokens[number + 1 :]
        texts = words[number + 1 :]
        if "WHERE" not in texts:
            yield SqlFinding("unbounded_delete", "deletes rows without a predicate")
        elif not _has_limit(rest, texts):
            yield SqlFinding("unbounded_delete", "deletes rows without a limit")
        elif not _is_fixed(rest[texts.index("WHERE") + 1 : texts.index("LIMIT")]):
            yield SqlFinding("unbounded_delete", "deletes rows by a predicate whose matches are not fixed")
        else:
            continue
        return


def _has_limit(tokens: Sequence[_Token], texts: Sequence[str]) -> bool:
    """Whether a statement ends in a limit that is a number."""
    if "LIMIT" not in texts:
        return False
    after = tokens[texts.index("LIMIT") + 1 :]
    return bool(after) and after[0].kind == "number" and (len(after) == 1 or after[1].text == "RETURNING")


MAX_TOKENS: Final = 400
_LITERALS: Final = ("text", "number")
_COMPARED: Final = frozenset(("=", "<", ">", "<=", ">=", "!=", "<>"))


def _is_fixed(tokens: Sequence[_Token]) -> bool:
    """Whether a predicate compares columns with literals and nothing else."""
    if any(token.kind == "text" and PRIVATE.search(token.text) for token in tokens):
        return False
    kept: list[str] = []
    for token in tokens[:MAX_TOKENS]:
        if token.kind in _LITERALS or token.text in ("NULL", "TRUE", "FALSE"):
            kept.append("v")
        elif token.kind == "name" or (token.kind == "word" and token.text not in _PREDICATE_WORDS):
            kept.append("c")
        elif token.kind == "word":
            kept.append(
                {
                    "AND": "&",
                    "OR": "&",
                    "NOT": "",
                    "IS": "~",
                    "LIKE": "~",
                    "ILIKE": "~",
                    "IN": "i",
                    "BETWEEN": "b",
                }[token.text]
            )
        elif token.text in _COMPARED:
            kept.append("~")
        elif token.text in "(),.":
            kept.append(token.text)
        else:
            return False
    text = re.sub(r"c(\.c)+", "c", "".join(kept))
    text = re.sub(r"cbv&v", "P", text)
    text = re.sub(r"ci\(v(,v)*\)|c~v", "P", text)
    while "(P)" in text or "P&P" in text:
        text = text.replace("(P)", "P").replace("P&P", "P")
    return text == "P" and len(tokens) <= MAX_TOKENS


_PREDICATE_WORDS: Final = frozenset(("AND", "OR", "NOT", "IS", "LIKE", "ILIKE", "IN", "BETWEEN"))
