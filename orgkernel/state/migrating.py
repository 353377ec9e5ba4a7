"""The version of a store, and `store upgrade`, which brings it to the newest one.

A new store gets its tables on first use. An older store is unchanged until an operator runs `orgkernel store
upgrade`. A newer one is refused, because an older program would lose data that it does not know.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, NamedTuple

from sqlalchemy import (
    ColumnElement,
    Connection,
    Engine,
    and_,
    insert,
    inspect,
    null,
    or_,
    select,
    table,
    text,
)
from sqlalchemy import column as named

from orgkernel.diagnostics.wording import quote
from orgkernel.errors import BadStore, StoreBusy
from orgkernel.state.connected import ConnectedProgram, list_database_users, list_texts
from orgkernel.state.database import (
    close_engine,
    make_engine,
    open_for_reading,
    open_for_writing,
    translate_error,
)
from orgkernel.state.location import StoreLocation
from orgkernel.state.schema_version import NEWEST, STAMP, VERSIONS, build_version_error
from orgkernel.state.store_lock import StoreLocked, hold_lock
from orgkernel.state.tables import metadata, state_version

_FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "migrations")
_ALONE_SECONDS = 1.0
"""Seconds that an upgrade waits for other programs: as long as a short command takes."""
_KEYS = table(
    "api_keys",
    *map(named, ("key_id", "name", "agent_id", "person_id", "org_ids", "expires_at", "revoked_at")),
)
_LOCK = 0x6F72676B  # "orgk": any number that only orgkernel uses


class KeyToBind(NamedTuple):
    """A key of an agent or a person that names no organization."""

    key_id: str
    name: str
    subject: str
    """`agent:ID` or `person:ID`."""


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
    if version is not None:
        raise build_version_error(version, shown)
    upgrade(engine, shown)


def upgrade(engine: Engine, shown: str, *, while_connected: bool = True) -> tuple[str | None, str]:
    """Upgrade a store to the newest version. Returns the old and the new version. Only one process does it at a time.

    Unless `while_connected`, raises `StoreBusy` if other programs are connected to an older store of PostgreSQL.
    """
    with open_for_writing(engine) as connection:
        if engine.dialect.name == "postgresql":
            connection.execute(text(f"SELECT pg_advisory_xact_lock({_LOCK})"))
        before = _read_version(connection, shown)
        if before is not None and before not in VERSIONS:
            raise build_version_error(before, shown)
        if before is None:
            _create(connection)
        elif before != NEWEST:
            if engine.dialect.name == "postgresql":
                if not while_connected and (programs := list_database_users(connection)):
                    raise build_upgrade_refusal(shown, programs)
                # INVARIANT: no transaction that has compared the version is open while the tables change.
                connection.execute(select(STAMP.c.version_num).with_for_update())
            migrate(connection)
    return before, NEWEST


def build_upgrade_refusal(shown: str, programs: Sequence[ConnectedProgram]) -> StoreBusy:
    """The refusal to upgrade a store that other programs have open."""
    names = f": {list_texts(programs)}" if programs else ", which the system does not name"
    return StoreBusy(
        f"other programs are connected to the store {quote(shown)}{names}",
        "stop them and run the command again, or pass `--while-connected`: programs of the older version then refuse every question "
        "and change until they are started again with this one",
    )


def is_older_store(location: StoreLocation) -> bool:
    """Whether a location has a store of an older version. Raises `StoreError`."""
    engine = make_engine(location)
    try:
        return read_store_version(engine, location.shown) in VERSIONS[:-1]
    except Exception as error:
        raise translate_error(error, location.shown) from None
    finally:
        close_engine(engine)


def list_keys_to_bind(location: StoreLocation, now: float) -> tuple[KeyToBind, ...]:
    """The valid keys of agents and people in a store of any version that name no organization. Raises `StoreError`."""
    engine = make_engine(location)
    try:
        with open_for_reading(engine, location.shown) as connection:
            version = _read_version(connection, location.shown)
            if version is None or version not in VERSIONS:
                return ()  # there is no store, or one that is not upgraded
            # The columns of keys that a store of this version has.
            has_people, has_organizations = version >= "0003", version >= "0012"
            columns: list[ColumnElement[Any]] = [_KEYS.c.key_id, _KEYS.c.name, _KEYS.c.agent_id]
            columns.append(_KEYS.c.person_id if has_people else null().label("person_id"))
            is_valid = and_(
                _KEYS.c.revoked_at.is_(None), or_(_KEYS.c.expires_at.is_(None), _KEYS.c.expires_at > now)
            )
            query = select(*columns).where(is_valid).order_by(_KEYS.c.key_id)
            if has_organizations:
                query = query.where(_KEYS.c.org_ids == "[]")
            keys = connection.execute(query).all()
    except Exception as error:
        raise translate_error(error, location.shown) from None
    finally:
        close_engine(engine)
    return tuple(
        KeyToBind(
            key.key_id, key.name, f"agent:{key.agent_id}" if key.agent_id else f"person:{key.person_id}"
        )
        for key in keys
        if key.agent_id is not None or key.person_id is not None
    )


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
    return connection.scalar(select(STAMP.c.version_num))


def upgrade_store(location: StoreLocation, *, while_connected: bool = False) -> tuple[str | None, str]:
    """Upgrade a store, or create it. Returns the version it had, None for a new one, and the one it has.

    Unless `while_connected`, other programs must not have an older store open. Raises `StoreBusy` with their names, and
    `StoreError`.
    """
    engine = make_engine(location)
    try:
        before = read_store_version(engine, location.shown)
        alone = bool(location.path) and not while_connected and before not in (None, NEWEST)
        with hold_lock(location, alone=alone, seconds=_ALONE_SECONDS if alone else 5.0):
            return upgrade(engine, location.shown, while_connected=while_connected)
    except StoreLocked as error:
        raise build_upgrade_refusal(location.shown, error.programs) from None
    except Exception as error:
        raise translate_error(error, location.shown) from None
    finally:
        close_engine(engine)
