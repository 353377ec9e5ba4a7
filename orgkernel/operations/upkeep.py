"""Maintain a store: upgrade it, copy it, describe it, note what expired."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orgkernel.state.backup import StoreInfo, back_up, read_info
from orgkernel.state.migrating import upgrade_store

if TYPE_CHECKING:
    from orgkernel.kernel.stored import Location, Store


def upgrade(location: Location) -> tuple[str | None, str]:
    """Bring a store to the version this program needs, or make one; the versions before and after. Raises `StoreError`."""
    return upgrade_store(location)


def copy_store(store: Store, target: str) -> None:
    """Copy a store and its checkpoints while others may write; raises `BadStore` and `StoreError`."""
    back_up(store, target)


def describe_store(store: Store) -> StoreInfo:
    """A store in figures."""
    return read_info(store)


def note_expired(store: Store) -> None:
    """Note in the audit which requests, grants and restrictions expired since the last time."""
    store.expire()
