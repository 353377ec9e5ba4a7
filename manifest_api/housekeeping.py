"""What a server does now and then with its store: what ran out is noted in the audit (design §9)."""

from __future__ import annotations

import asyncio
import logging

from manifest_api.store_access import StoreAccess
from orgkernel.errors import StoreError
from orgkernel.operations import upkeep

logger = logging.getLogger("orgkernel.server")
EVERY_SECONDS = 60.0


async def note_what_ran_out(store_access: StoreAccess, every_seconds: float = EVERY_SECONDS) -> None:
    """Do it until cancelled. It decides nothing: what has run out counts for nothing from that moment on, noted or not."""
    while True:
        await asyncio.sleep(every_seconds)
        try:
            await store_access.refresh()
            await store_access.work(upkeep.note_expired)
        except StoreError as error:
            logger.warning("what ran out could not be noted, it is tried again: %s", error.message)
