"""Locate and open the store of a project, and supply its clock and its randomness."""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from orgkernel.decisions.evidence.state_records import ToolUsage
from orgkernel.decisions.evidence.state_view import EMPTY_STATE, StateView
from orgkernel.diagnostics.wording import quote
from orgkernel.errors import BadStore
from orgkernel.kernel.settings import Project
from orgkernel.state.location import DEFAULT, StoreLocation, parse_location

if TYPE_CHECKING:
    from orgkernel.decisions.evidence.crew_records import RankMove
    from orgkernel.decisions.evidence.limit_usage import Charge, LimitUsage
    from orgkernel.state.store import Store
    from orgkernel.state.writer import PendingWrite

__all__ = [
    "CHECKPOINTS",
    "VARIABLE",
    "PendingWrite",
    "StateAt",
    "Store",
    "StoreLocation",
    "is_there",
    "locate_store",
    "open_store",
    "read_state",
    "require_there",
]  # fmt: skip
VARIABLE = "ORGKERNEL_STORE"
CHECKPOINTS = "ORGKERNEL_CHECKPOINTS"


def locate_store(
    project: Project, here: str, option: str | None = None, environment: Mapping[str, str] = os.environ
) -> StoreLocation:
    """The location from the command line, the environment or the settings, in this order; else a file next to the
    settings.

    A folder for checkpoints applies to the store that is named in the same place. Raises `BadStore`, and
    `BadProject` for a store that the settings of another user name.
    """
    if option:
        return parse_location(option, here)
    place = environment.get(CHECKPOINTS)
    if stated_location := environment.get(VARIABLE):
        return _move_checkpoints(parse_location(stated_location, here), place, here)
    project.require_own("store")
    location = parse_location(project.store or DEFAULT, project.folder)
    if place:
        return _move_checkpoints(location, place, here)
    project.require_own("checkpoints")
    return _move_checkpoints(location, project.checkpoints, project.folder)


def _move_checkpoints(location: StoreLocation, place: str | None, folder: str) -> StoreLocation:
    """The location with its checkpoints in another folder, if one is named."""
    if not place:
        return location
    return replace(location, checkpoints=os.path.normpath(os.path.join(folder, os.path.expanduser(place))))


def open_store(location: StoreLocation, *, create: bool = True, read_only: bool = False) -> Store:
    """The store of a location. Without `create`, a missing file raises `BadStore`.

    With `read_only`, the store and its folder are not changed.
    """
    if read_only or not create:
        require_there(location)
    from orgkernel.state.store import Store

    return Store(location, clock=time.time, tokens=os.urandom, read_only=read_only)


def is_there(location: StoreLocation) -> bool:
    """Whether a store exists. A store on a server is assumed to exist."""
    return not location.path or os.path.exists(location.path)


def require_there(location: StoreLocation) -> None:
    """Raise `BadStore` if the file of a store does not exist."""
    if not is_there(location):
        raise BadStore(
            f"there is no store {quote(location.shown)} yet",
            f"the first change creates it; choose another one with `--store` or {VARIABLE}",
        )


def read_state(location: StoreLocation, org_id: str | None = None) -> StateView:
    """The state for one question; the empty one if there is no store, which is checked cheaply."""
    if not is_there(location):
        return EMPTY_STATE
    with open_store(location, create=False) as store:
        return store.read_view(org_id)


class _UsageAt:
    """The usage of limits in the store at a location."""

    def __init__(self, location: StoreLocation) -> None:
        self._location = location

    def read_usage(self, org_id: str, charges: Sequence[Charge]) -> tuple[LimitUsage, ...] | None:
        """The usage of the counters that charges name. None if there is no store, which would count nothing. Raises `StoreError`."""
        if not is_there(self._location):
            return None
        with open_store(self._location, create=False) as store:
            return store.limits.read_usage(org_id, charges)


class StateAt:
    """The state of a location as a source for the kernel. It is read again for each question, and a question never
    creates a store.
    """

    def __init__(self, location: StoreLocation) -> None:
        self._location = location
        self.limits = _UsageAt(location)

    def read_view(self, org_id: str | None = None) -> StateView:
        """The current state. Raises `StoreError`."""
        return read_state(self._location, org_id)

    def read_past(self, org_id: str, at: float) -> StateView:
        """The state at a time. Raises `StoreError` and `Refused`."""
        if not is_there(self._location):
            return EMPTY_STATE
        with open_store(self._location, create=False) as store:
            return store.read_past(org_id, at)

    def list_rank_changes(
        self, org_id: str, agent_id: str, start: str | None, until: float | None = None
    ) -> tuple[RankMove, ...]:
        """The changes of an agent's rank up to a time, oldest first. Raises `StoreError`."""
        if not is_there(self._location):
            return ()
        with open_store(self._location, create=False) as store:
            return store.list_rank_changes(org_id, agent_id, start, until)

    def list_tool_usage(self, agent_ids: Collection[str]) -> tuple[ToolUsage, ...] | None:
        """The calls of these agents, counted by agent and tool; None without a store. Raises `StoreError`."""
        if not is_there(self._location):
            return None
        with open_store(self._location, create=False) as store:
            return store.list_tool_usage(agent_ids)
