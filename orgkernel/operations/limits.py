"""List the limits of calls with their usage."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import msgspec

from orgkernel.decisions.access.limits import EVERYONE, CompiledLimit
from orgkernel.decisions.reasons import Why, cite_place
from orgkernel.graph.questions import OrgView

if TYPE_CHECKING:
    from orgkernel.kernel.stored import Store


class LimitStanding(msgspec.Struct, frozen=True, kw_only=True):
    """What is left of a limit for one of its counters."""

    org_id: str
    limit_id: str
    counter: str | None
    """Whose calls are counted: a subject or tool as `kind:ID`, or `*` for all together. None if no call is counted now."""
    allows: str
    """What the limit allows, such as `20 calls per 1h`."""
    used: int | float
    """Calls, or the sum of their costs in the unit of the budget."""
    left: int | float
    refills_at: float | None
    """When the next call leaves the window or the next slot is given up, in seconds since 1970-01-01 UTC."""
    why: Why
    """The line that declares the limit."""


def list_limits(view: OrgView, store: Store) -> tuple[LimitStanding, ...]:
    """The declared limits of an organization, by name, each with the counters that count a call now. Raises `StoreError`."""
    return tuple(_list_standings(view, store))


def _list_standings(view: OrgView, store: Store) -> Iterator[LimitStanding]:
    for name in sorted(view.records.limits):
        limit = CompiledLimit(view.records.limits[name])
        why = cite_place(f"limit {name}", limit.definition.place())
        for charge in limit.list_charges_of(EVERYONE):
            usages = {each.counter: each for each in store.limits.read_all_usage(view.org_id, (charge,))}
            unused = () if usages else (EVERYONE if limit.each == "all" else None,)
            for counter in (*usages, *unused):
                usage = usages.get(counter or "")
                used = 0 if usage is None else usage.used
                yield LimitStanding(
                    org_id=view.org_id,
                    limit_id=name,
                    counter=counter,
                    allows=limit.describe(charge),
                    used=limit.convert_to_units(charge, used),
                    left=limit.convert_to_units(charge, charge.limit if usage is None else usage.left),
                    refills_at=None if usage is None else usage.refills_at,
                    why=why,
                )
