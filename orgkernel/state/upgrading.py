"""`store upgrade`: a store of any version this program knows, brought to the newest one."""

from __future__ import annotations

from orgkernel.state.engine import make_engine
from orgkernel.state.failures import failure_of
from orgkernel.state.location import Location
from orgkernel.state.migrating import upgrade


def upgrade_store(location: Location) -> tuple[str | None, str]:
    """The version it had, None for a new one, and the one it has; raises `StoreError`."""
    engine = make_engine(location)
    try:
        return upgrade(engine, location.shown)
    except Exception as error:
        raise failure_of(error, location.shown) from None
    finally:
        engine.dispose()
