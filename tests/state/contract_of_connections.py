"""The connections of a store: opening and closing a store leaves no connection open."""

from __future__ import annotations

import threading
from typing import Any

import psycopg
from sqlalchemy import event, text

from orgkernel.state.location import StoreLocation
from orgkernel.state.store import Store
from tests.state.opening import opened
from tests.support.patience import PATIENCE


def is_open(connection: Any) -> bool:
    """Whether a connection of either driver can still be used."""
    if isinstance(connection, psycopg.Connection):
        return not connection.closed
    try:
        connection.total_changes  # noqa: B018 - it raises for a connection that was closed
    except Exception:
        return False
    return True


def remember_connections(store: Store) -> list[Any]:
    """A list of the connections that the store makes from now on."""
    made: list[Any] = []
    event.listen(store.engine, "connect", lambda connection, _: made.append(connection))
    store.engine.dispose()
    return made


class Connections:
    def test_a_connection_in_use_is_closed_when_it_comes_back(self, place: StoreLocation) -> None:
        """A thread that still reads while the store is closed finishes, and its connection is closed then."""
        is_reading, is_closed = threading.Event(), threading.Event()
        rows = []
        store = opened(place)
        made = remember_connections(store)

        def read() -> None:
            with store.context.reading() as connection:
                is_reading.set()
                assert is_closed.wait(PATIENCE)
                rows.append(connection.execute(text("SELECT version FROM state_version")).scalar_one())

        thread = threading.Thread(target=read)
        thread.start()
        assert is_reading.wait(PATIENCE)
        store.close()
        is_closed.set()
        thread.join(PATIENCE)
        assert rows == [0]
        assert [is_open(each) for each in made] == [False]

    def test_a_connection_made_for_a_closed_store_is_closed(self, place: StoreLocation) -> None:
        """A thread that is connecting while the store is closed keeps neither this connection nor a later one."""
        is_connecting, is_closed = threading.Event(), threading.Event()
        versions = []
        store = opened(place)
        made = remember_connections(store)

        def wait(_connection: object, _record: object) -> None:
            is_connecting.set()
            assert is_closed.wait(PATIENCE)

        event.listen(store.engine, "connect", wait)
        thread = threading.Thread(target=lambda: versions.append(store.read_view().version))
        thread.start()
        assert is_connecting.wait(PATIENCE)
        store.close()
        is_closed.set()
        thread.join(PATIENCE)
        assert versions == [0]
        assert made
        assert not any(is_open(each) for each in made)
