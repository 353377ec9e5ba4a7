"""The version of a store's tables, and the fence: a program uses a store of its own version only.

A store is opened once and used for days, and `orgkernel store upgrade` can change it in between. So each read and each write of an
open store compares the version in its own transaction, and a view does at each look. A program of another version reads and
writes nothing: it cannot know what newer rows mean, and a restriction that it does not see must not become a permission.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, select, table
from sqlalchemy import column as named

from orgkernel.diagnostics.wording import quote
from orgkernel.errors import OtherStoreVersion
from orgkernel.state.database import get_sqlite_connection

VERSIONS: Sequence[str] = (
    "0001",
    "0002",
    "0003",
    "0004",
    "0005",
    "0006",
    "0007",
    "0008",
    "0009",
    "0010",
    "0011",
    "0012",
    "0013",
    "0014",
    "0015",
    "0016",
    "0017",
    "0018",
    "0019",
)
"""All versions, oldest first. This list exists so that opening a store does not import Alembic."""
NEWEST = VERSIONS[-1]
STAMP = table("alembic_version", named("version_num"))
"""The table in which Alembic keeps the version, in one row."""
SELECT_VERSION = "SELECT version_num FROM alembic_version"


def require_newest(version: str | None, shown: str) -> None:
    """Raise `OtherStoreVersion` if a store does not have the version of this program."""
    if version != NEWEST:
        raise build_version_error(version, shown)


def build_version_error(version: str | None, shown: str) -> OtherStoreVersion:
    """The refusal of a store that an older or a newer program made."""
    if version in VERSIONS:
        return OtherStoreVersion(
            f"the store {quote(shown)} has version {version}, this program needs {NEWEST}",
            "back it up with `orgkernel store backup`, then run `orgkernel store upgrade`",
        )
    return OtherStoreVersion(
        f"the store {quote(shown)} has version {quote(str(version))}, which this program does not know",
        f"it knows versions up to {NEWEST}: use a newer orgkernel",
    )


def require_newest_to_read(connection: Connection, shown: str) -> None:
    """Within a transaction: compare the version of what is read. Raises `OtherStoreVersion`."""
    require_newest(_read_version(connection), shown)


def hold_newest(connection: Connection, shown: str) -> None:
    """Within a transaction that writes: compare the version, and keep others from changing it until the commit.

    Raises `OtherStoreVersion`. The transaction of SQLite is the only one that writes.
    """
    if connection.dialect.name == "sqlite":
        require_newest(_read_version(connection), shown)
    else:
        require_newest(connection.scalar(select(STAMP.c.version_num).with_for_update(read=True)), shown)


def _read_version(connection: Connection) -> str | None:
    if connection.dialect.name == "sqlite":  # a tenth of the time
        row = get_sqlite_connection(connection).execute(SELECT_VERSION).fetchone()
        return None if row is None else row[0]
    version: str | None = connection.scalar(select(STAMP.c.version_num))
    return version
