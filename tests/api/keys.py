"""Stores with keys, for servers and applications that are asked with one."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from orgkernel.kernel.stored import open_store
from orgkernel.state.location import StoreLocation, parse_location
from orgkernel.state.store import Store


def location_of(path: Path) -> StoreLocation:
    """A file as the place of a store."""
    return parse_location(path.name, str(path.parent))


def first_key(place: StoreLocation) -> str:
    """The secret of a new key that opens everything, in a store that is new too."""
    return new_key(place, ["admin"])


ORGS = ("household", "press", "shop", "software_dev", "starship", "suite", "ship")
"""The organizations of the tests that have one."""


def new_key(
    place: StoreLocation,
    scopes: Sequence[Any],
    agent: str | None = None,
    seconds: float | None = None,
    person: str | None = None,
    orgs: Sequence[str] = ORGS,
) -> str:
    """The secret of a new key. That of an agent or a person is good for `orgs`."""
    bound = () if agent is None and person is None else orgs
    with open_store(place) as store:
        expires = None if seconds is None else time.time() + seconds
        return store.keys.create(
            "test",
            scopes,
            created_by="test",
            agent_id=agent,
            person_id=person,
            org_ids=bound,
            expires_at=expires,
        )[1]


def opened(place: StoreLocation) -> Store:
    """The store, to look at what was written."""
    return open_store(place, create=False)


def bearer(secret: str) -> dict[str, str]:
    """The header that shows a key."""
    return {"Authorization": f"Bearer {secret}"}
