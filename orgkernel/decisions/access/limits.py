"""Declared limits, compiled: which calls they count, and what a call takes from them."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import Any

from orgkernel.decisions.access.policies import NamePatterns
from orgkernel.decisions.access.request import AccessRequest
from orgkernel.decisions.evidence.limit_usage import MAX_AMOUNT, MILLIONTHS, Charge
from orgkernel.documents.records import CallLimit
from orgkernel.graph.records import Definition

_SECONDS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}
EVERYONE = "*"
SLOTS, COSTS = ".concurrent", ".budget"
"""The ends of the ids under which the calls in progress and the costs of a limit are counted. Ids of limits have no dots."""


class CompiledLimit:
    """One declared limit."""

    __slots__ = (
        "budget", "calls", "concurrent", "cost", "cost_argument", "definition", "each", "id", "seconds", "subjects", "unit",
    )  # fmt: skip

    def __init__(self, definition: Definition[CallLimit]) -> None:
        record = definition.record
        self.id = definition.id
        self.definition = definition
        self.calls = record.calls
        self.concurrent = record.concurrent
        # In doubt, the budget is smaller and a cost is higher than declared.
        self.budget = None if record.budget is None else _count_millionths(record.budget, ROUND_FLOOR)
        self.cost = None if record.cost is None else _count_millionths(record.cost, ROUND_CEILING)
        self.cost_argument = record.cost_argument
        self.unit = f" {record.unit}" if record.unit else ""
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
        if counts_costs(charge.limit_id):
            return f"{self.describe_amount(charge.limit)} per {self.definition.record.per}"
        calls = f"{charge.limit} call{'s' * (charge.limit != 1)}"
        return (
            f"{calls} at the same time"
            if charge.seconds is None
            else f"{calls} per {self.definition.record.per}"
        )

    def describe_amount(self, millionths: int) -> str:
        """An amount of the budget with its unit, for messages."""
        return f"{Decimal(millionths) / MILLIONTHS:f}{self.unit}"

    def convert_to_units(self, charge: Charge, count: int) -> int | float:
        """A count of one of its charges, in calls or in the unit of the budget."""
        return count / MILLIONTHS if counts_costs(charge.limit_id) else count

    def compute_cost(self, tool_input: Mapping[str, Any] | None) -> int | None:
        """The cost of a call in millionths of the unit. None if it is not known, and every budget is too small for it."""
        if self.cost_argument is None:
            return self.cost
        value = None if tool_input is None else tool_input.get(self.cost_argument)
        # A tool can read a text as any number, and a negative cost would give back what others spent.
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= MAX_AMOUNT:
            return None
        return _count_millionths(value, ROUND_CEILING)

    def list_charges(self, resource: str, keys: Collection[str], request: AccessRequest) -> Iterator[Charge]:
        """What a call takes from it. `keys` are the names of the subject: its own and those of its roles."""
        involved = {request.subject, *keys, *request.via, request.on_behalf_of}
        if self.subjects and self.subjects.isdisjoint(involved):
            return
        for counter in self._list_counters(resource, keys, request):
            yield from self.list_charges_of(counter, request.context.input)

    def list_charges_of(self, counter: str, tool_input: Mapping[str, Any] | None = None) -> Iterator[Charge]:
        """What a call takes from a counter: one call from the window, one slot, and its cost from the budget."""
        if self.calls is not None:
            yield Charge(self.id, counter, self.calls, 1, self.seconds)
        if self.concurrent is not None:
            yield Charge(f"{self.id}{SLOTS}", counter, self.concurrent)
        if self.budget is not None:
            cost = self.compute_cost(tool_input)
            amount = self.budget + 1 if cost is None else cost
            yield Charge(f"{self.id}{COSTS}", counter, self.budget, amount, self.seconds)

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


def _count_millionths(amount: float, rounding: str) -> int:
    """An amount in millionths. The shortest text of a number is what its author wrote, so 0.1 is exact.

    >>> _count_millionths(0.1, ROUND_CEILING), _count_millionths(1e-9, ROUND_CEILING)
    (100000, 1)
    """
    return int((Decimal(repr(amount)) * MILLIONTHS).to_integral_value(rounding))


def counts_costs(limit_id: str) -> bool:
    """Whether the costs of calls are counted under this id, and not the calls."""
    return limit_id.endswith(COSTS)


def count_usage(limit_id: str, used: float) -> int:
    """A stated usage as it is counted: whole calls, and costs in millionths."""
    return _count_millionths(used, ROUND_CEILING) if counts_costs(limit_id) else math.ceil(used)


def read_window(text: str) -> float:
    """The seconds of a window such as `5m`.

    >>> read_window("5m")
    300.0
    """
    return float(int(text[:-1]) * _SECONDS[text[-1]])


def find_limits_of(limits: Mapping[str, Definition[CallLimit]], tool_id: str) -> tuple[CompiledLimit, ...]:
    """The limits that count calls of a tool, by name."""
    return tuple(
        CompiledLimit(limits[name])
        for name in sorted(limits)
        if tool_id in NamePatterns(limits[name].record.tools)
    )


def list_call_charges(
    limits: Iterable[CompiledLimit], resource: str, keys: Collection[str], request: AccessRequest
) -> tuple[tuple[Charge, CompiledLimit], ...]:
    """What a call takes from some limits."""
    return tuple(
        (charge, limit) for limit in limits for charge in limit.list_charges(resource, keys, request)
    )
