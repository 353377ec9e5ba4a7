"""What a server does now and then with its store."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from typing import cast

import pytest

from manifest_api.store_access import StoreAccess, VanishedGrants, audit_expired_records
from orgkernel.kernel.registry_state import RegistryState, Reload
from orgkernel.kernel.stored import open_store
from orgkernel.state.location import StoreLocation
from tests.api.keys import opened
from tests.state.contract import history
from tests.support.patience import PATIENCE


async def keep_house(store_access: StoreAccess, done: Callable[[], bool]) -> None:
    """Until something is true."""
    task = asyncio.create_task(audit_expired_records(store_access, VanishedGrants(store_access), 0.01, 0.0))
    async with asyncio.timeout(PATIENCE):
        while not done():
            await asyncio.sleep(0.01)
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task


def test_what_ran_out_is_noted_while_serving(store: StoreLocation) -> None:
    """Once, with a row of the audit; a place without a store is looked at again."""
    store_access = StoreAccess(store)
    with open_store(store) as made:
        made.grants.issue("agent:worf", ["tool:x"], issued_by="key:k", expires_at=time.time() + 3.0)

    def noted() -> bool:
        with opened(store) as looked:
            return [what for what, _ in history(looked, "grant")] == ["created", "expired"]

    asyncio.run(keep_house(store_access, noted))
    assert noted()
    store_access.close()


def test_a_key_that_expires_soon_is_logged_once(
    store: StoreLocation, caplog: pytest.LogCaptureFixture
) -> None:
    """A week before, with the command that replaces it; not if that was done."""
    store_access = StoreAccess(store)
    with open_store(store) as made:
        soon, _ = made.keys.create("ci", ["read"], created_by="a", expires_at=time.time() + 86_400)
        done, _ = made.keys.create("done", ["read"], created_by="a", expires_at=time.time() + 86_400)
        made.keys.rotate(done.key_id, actor="a", overlap=3_600, expires_at=time.time() + 9e6)

    def lines() -> list[str]:
        return [each.getMessage() for each in caplog.records if "expires at" in each.getMessage()]

    rounds = iter(range(20))
    asyncio.run(keep_house(store_access, lambda: bool(lines()) and next(rounds, None) is None))
    store_access.close()
    (line,) = lines()
    assert line.startswith(f"the key {soon.key_id} (`ci`) expires at ")
    assert line.endswith(f"replace it with `orgkernel key rotate {soon.key_id}`")


class SlowAccess:
    """A store whose work takes a turn of the loop."""

    def __init__(self) -> None:
        self.works = 0

    async def refresh(self) -> None:
        await asyncio.sleep(0)

    async def work(self, _: object) -> None:
        self.works += 1
        await asyncio.sleep(0)


def test_loads_are_written_once_each_although_two_write_them() -> None:
    """A load that comes while another one is written down is neither passed over nor written twice."""
    access = SlowAccess()
    vanishing = VanishedGrants(cast(StoreAccess, access))
    state = cast(RegistryState, object())

    async def load_and_keep_house() -> None:
        await asyncio.gather(
            vanishing.note(state, Reload()), vanishing.retry(), vanishing.note(state, Reload())
        )

    asyncio.run(load_and_keep_house())
    assert (access.works, vanishing._loads) == (2, [])
