"""Declared limits, compiled: which calls they count, and what a call takes from them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from orgkernel.decisions.access.policies import Names
from orgkernel.decisions.access.request import AccessRequest
from orgkernel.decisions.evidence.limit_usage import Charge
from orgkernel.documents.records import CallLimit
from orgkernel.graph.records import Definition

_SECONDS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}
EVERYONE = "*"
SLOTS = ".concurrent"
"""The end of the id under which the calls in progress of a limit are counted. Ids of limits have no dots."""


class CompiledLimit:
    """One declared limit."""

    __slots__ = ("calls", "concurrent", "definition", "each", "id", "seconds", "subjects")

    def __init__(self, definition: Definition[CallLimit]) -> None:
        record = definition.record
        self.id = definition.id
        self.definition = definition
        self.calls = record.calls
        self.concurrent = record.concurrent
        self.seconds = read_window(record.per)
        self.each = record.each
        named = record.subjects
        self.subjects = frozenset(
            (
                *(f"role:{each}" for each in named.roles),
                *(f"agent:{each}" for each in named.agents),
                *(f"person:{each}" for each in named.people),
            )
        )

    def describe(self, charge: Charge) -> str:
        """What it allows, for messages."""
        calls = f"{charge.limit} call{'s' * (charge.limit != 1)}"
        return (
            f"{calls} at the same time"
            if charge.seconds is None
            else f"{calls} per {self.definition.record.per}"
        )

    def list_charges(self, resource: str, keys: Collection[str], request: AccessRequest) -> Iterator[Charge]:
        """What a call takes from it. `keys` are the names of the subject: its own and those of its roles."""
        involved = {request.subject, *keys, *request.via, request.on_behalf_of}
        if self.subjects and self.subjects.isdisjoint(involved):
            return
        for counter in self._list_counters(resource, keys, request):
            yield from self.list_charges_of(counter)

    def list_charges_of(self, counter: str) -> Iterator[Charge]:
        """What a call takes from a counter: one call from the window, and one slot."""
        if self.calls is not None:
            yield Charge(self.id, counter, self.calls, 1, self.seconds)
        if self.concurrent is not None:
            yield Charge(f"{self.id}{SLOTS}", counter, self.concurrent)

    def _list_counters(self, resource: str, keys: Collection[str], request: AccessRequest) -> Iterable[str]:
        if self.each == "all":
            return (EVERYONE,)
        if self.each == "tool":
            return (resource,)
        if self.each == "principal":
            return (request.on_behalf_of or request.subject,)
        if self.each == "role":
            roles = sorted(key for key in keys if key.startswith("role:"))
            # A subject without a role has a count of its own, so it is never without a limit.
            return roles or (request.subject,)
        return (request.subject,)


def read_window(text: str) -> float:
    """The seconds of a window such as `5m`.

    >>> read_window("5m")
    300.0
    """
    return float(int(text[:-1]) * _SECONDS[text[-1]])


def find_limits_of(limits: Mapping[str, Definition[CallLimit]], tool_id: str) -> tuple[CompiledLimit, ...]:
    """The limits that count calls of a tool, by name."""
    return tuple(
        CompiledLimit(limits[name]) for name in sorted(limits) if tool_id in Names(limits[name].record.tools)
    )


def list_call_charges(
    limits: Iterable[CompiledLimit], resource: str, keys: Collection[str], request: AccessRequest
) -> tuple[tuple[Charge, CompiledLimit], ...]:
    """What a call takes from some limits."""
    return tuple(
        (charge, limit) for limit in limits for charge in limit.list_charges(resource, keys, request)
    )
