"""The version of a store, and `store upgrade`, which brings it to the newest one.

A new store gets its tables on first use. An older store is unchanged until an operator runs `orgkernel store
upgrade`. A newer one is refused, because an older program would lose data that it does not know.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from sqlalchemy import Connection, Engine, insert, inspect, select, table, text
from sqlalchemy import column as named

from orgkernel.diagnostics.wording import quote
from orgkernel.errors import BadStore
from orgkernel.state.database import (
    close_engine,
    make_engine,
    open_for_reading,
    open_for_writing,
    translate_error,
)
from orgkernel.state.location import StoreLocation
from orgkernel.state.store_lock import hold_lock
from orgkernel.state.tables import metadata, state_version

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
)
"""All versions, oldest first. This list exists so that opening a store does not import Alembic."""
NEWEST = VERSIONS[-1]
_FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "migrations")
_LOCK = 0x6F72676B  # "orgk": any number that only orgkernel uses
_STAMP = table("alembic_version", named("version_num"))


def read_store_version(engine: Engine, shown: str) -> str | None:
    """The version of a store's tables; None if it has none yet."""
    with open_for_reading(engine, shown) as connection:
        return _read_version(connection, shown)


def prepare(engine: Engine, shown: str, *, create: bool = True) -> None:
    """Create the tables of a new store. Raises `BadStore` for any version but the newest.

    Unless `create`, a store without tables is `BadStore` as well.
    """
    version = read_store_version(engine, shown)
    if version == NEWEST:
        return
    if version is None and not create:
        raise BadStore(f"the store {quote(shown)} has no tables yet", "the first change creates them")
    if version is None:
        upgrade(engine, shown)
    elif version in VERSIONS:
        raise BadStore(
            f"the store {quote(shown)} has version {version}, this program needs {NEWEST}",
            "back it up with `orgkernel store backup`, then run `orgkernel store upgrade`",
        )
    else:
        raise BadStore(
            f"the store {quote(shown)} has version {quote(version)}, which this program does not know",
            f"it knows versions up to {NEWEST}: use a newer orgkernel",
        )


def upgrade(engine: Engine, shown: str) -> tuple[str | None, str]:
    """Upgrade a store to the newest version. Returns the old and the new version. Only one process does it at a time."""
    with open_for_writing(engine) as connection:
        if engine.dialect.name == "postgresql":
            connection.execute(text(f"SELECT pg_advisory_xact_lock({_LOCK})"))
        before = _read_version(connection, shown)
        if before is not None and before not in VERSIONS:
            raise BadStore(
                f"the store {quote(shown)} has version {quote(before)}, which this program does not know",
                f"it knows versions up to {NEWEST}: use a newer orgkernel",
            )
        if before is None:
            _create(connection)
        elif before != NEWEST:
            migrate(connection)
    return before, NEWEST


def _create(connection: Connection) -> None:
    """Create the tables as declared. The result equals that of all migrations, in a tenth of the time."""
    from alembic.migration import MigrationContext
    from alembic.script import ScriptDirectory

    metadata.create_all(connection)
    connection.execute(insert(state_version).values(id=1, version=0))
    MigrationContext.configure(connection).stamp(ScriptDirectory(_FOLDER), NEWEST)


def migrate(connection: Connection, version: str = "head") -> None:
    """Run the migrations up to a version."""
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", _FOLDER.replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, version)


def _read_version(connection: Connection, shown: str) -> str | None:
    names = set(inspect(connection).get_table_names())
    if "alembic_version" not in names:
        if names:
            raise BadStore(
                f"the store {quote(shown)} has tables of another program", "use another file or database"
            )
        return None
    return connection.scalar(select(_STAMP.c.version_num))


def upgrade_store(location: StoreLocation) -> tuple[str | None, str]:
    """The version it had, None for a new one, and the one it has; raises `StoreError`."""
    engine = make_engine(location)
    try:
        with hold_lock(location):
            return upgrade(engine, location.shown)
    except Exception as error:
        raise translate_error(error, location.shown) from None
    finally:
        close_engine(engine)
