"""The store as the server sees it: there from the start, or from the moment somebody makes it."""

from __future__ import annotations

import os
import threading

from orgkernel.decisions.state_view import EMPTY_STATE, StateView
from orgkernel.kernel.stored import open_store
from orgkernel.state.grants import GrantCheck
from orgkernel.state.location import Location
from orgkernel.state.store import Store


class Remembered:
    """What is remembered at a place. No question makes a store; the first key does, and then it is found.

    INVARIANT: a store that is there and cannot be read is an error (503), never an empty state: restrictions count.
    """

    def __init__(self, location: Location | None, check_grant: GrantCheck | None = None) -> None:
        self._location = location
        self._check_grant = check_grant
        self._opening = threading.Lock()
        self._store: Store | None = None

    def open(self) -> Store | None:
        """The store, opened once; None where there is none yet. Raises `StoreError`."""
        if self._store is not None or self._location is None:
            return self._store
        if self._location.path and not os.path.exists(self._location.path):
            return None
        with self._opening:
            if self._store is None:
                self._store = open_store(self._location, create=False, check_grant=self._check_grant)
        return self._store

    def read_view(self, org_id: str | None = None) -> StateView:
        """The state an organisation's decisions depend on. Raises `StoreError`."""
        store = self.open()
        return EMPTY_STATE if store is None else store.read_view(org_id)

    def close(self) -> None:
        """Have everything written, and let go."""
        with self._opening:
            store, self._store = self._store, None
        if store is not None:
            store.close()
