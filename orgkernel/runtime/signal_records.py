"""What each layer says of itself in one turn, and what can be read of it when it says nothing.

Source: seed 002 "Signal Schema (per layer)", with the same layer and field names. A field that is None was not said:
unknown, which is neither true nor false. Layers outside this list may take part under any name; of them only
`fired_this_turn` is understood.

Standard library only: this module also runs inside hosts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Final, TypeAlias


@dataclass(frozen=True, slots=True)
class Bst:
    """Belief state tracker: which domain the turn is about."""

    active: bool | None = None
    domain: str | None = None
    confidence: float | None = None
    """0 to 1."""
    turn: int | None = None


@dataclass(frozen=True, slots=True)
class WorkingMemory:
    """Working memory: what the agent keeps before its eyes."""

    active: bool | None = None
    objective_held: bool | None = None
    entity_count: int | None = None
    turn: int | None = None


@dataclass(frozen=True, slots=True)
class OrgKernel:
    """The organization: the role the agent is in."""

    active: bool | None = None
    current_role: str | None = None
    switched_this_turn: bool | None = None
    turn: int | None = None


@dataclass(frozen=True, slots=True)
class Fallback:
    """Fallback advisor: advice after a tool failed several times."""

    active: bool | None = None
    fired_this_turn: bool | None = None
    advice_type: str | None = None
    turn: int | None = None


@dataclass(frozen=True, slots=True)
class MetaGate:
    """Meta-reasoning gate: corrects or refuses the arguments of a call."""

    active: bool | None = None
    correction_applied: bool | None = None
    tool_name: str | None = None
    fired_this_turn: bool | None = None
    turn: int | None = None


@dataclass(frozen=True, slots=True)
class Supervisor:
    """Supervisor: steers when PACE or a report asks for it."""

    active: bool | None = None
    intervention_type: str | None = None
    fired_this_turn: bool | None = None
    turn: int | None = None


@dataclass(frozen=True, slots=True)
class StructuredRetry:
    """Structured retry: asks again after an answer that could not be read."""

    active: bool | None = None
    fired_this_turn: bool | None = None
    turn: int | None = None


@dataclass(frozen=True, slots=True)
class MemoryClassifier:
    """Memory classifier: what was kept of the turn."""

    active: bool | None = None
    memories_stored: int | None = None
    memories_filtered: int | None = None
    turn: int | None = None


SignalRecord: TypeAlias = (
    Bst | WorkingMemory | OrgKernel | Fallback | MetaGate | Supervisor | StructuredRetry | MemoryClassifier
)

RECORDS: Final[dict[str, type[SignalRecord]]] = {
    "bst": Bst,
    "working_memory": WorkingMemory,
    "org_kernel": OrgKernel,
    "fallback": Fallback,
    "meta_gate": MetaGate,
    "supervisor": Supervisor,
    "structured_retry": StructuredRetry,
    "memory_classifier": MemoryClassifier,
}
"""Layer to record, in the order of the specification's table."""

_FIELDS: Final = {
    layer: {each.name: str(each.type).partition(" ")[0] for each in fields(record)}
    for layer, record in RECORDS.items()
}


def field_names(layer: str) -> tuple[str, ...]:
    """What a layer of the list may say; nothing for one that is not on it."""
    return tuple(_FIELDS.get(layer, ()))


def read_record(layer: str, said: Mapping[str, Any]) -> SignalRecord:
    """The record of a layer of the list. A value of the wrong kind counts as not said; nothing here raises."""
    kinds = _FIELDS[layer]
    return RECORDS[layer](**{name: said[name] for name, kind in kinds.items() if _fits(said.get(name), kind)})


def _fits(value: object, kind: str) -> bool:
    if kind == "float":  # nan is no confidence, and neither is the count of matches another vocabulary writes
        return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1
    return type(value).__name__ == kind  # exactly: a bool is no count


def has_spoken(said: Mapping[str, Any]) -> bool:
    """Whether a layer warned or corrected this turn, in whichever of the three words it uses."""
    kind = said.get("intervention_type")
    return (
        said.get("fired_this_turn") is True
        or said.get("correction_applied") is True
        or (isinstance(kind, str) and kind not in ("", "none"))
    )


@dataclass(frozen=True, slots=True)
class Signals:
    """What is known of one turn. A layer that is absent is unknown, and nobody may depend on it."""

    turn: int | None = None
    said: Mapping[str, SignalRecord] = field(default_factory=dict)
    """Layers of the list in their own words."""
    derived: Mapping[str, SignalRecord] = field(default_factory=dict)
    """The same, read from what neighbors store for themselves."""
    spoken: tuple[str, ...] = ()
    """Who warned or corrected this turn in their own words, in the order they are found."""
    warned: tuple[str, ...] = ()
    """Who warned this turn by the evidence of the history: none of them is the reader."""

    def get(self, layer: str) -> SignalRecord | None:
        """What a layer says; what was derived where it says nothing; None where it is unknown."""
        return self.said.get(layer) or self.derived.get(layer)

    @property
    def oriented(self) -> bool:
        """Whether the agent knows where it is: the domain is certain and the objective is held. Unknown is not."""
        bst, memory = self.get("bst"), self.get("working_memory")
        return (
            isinstance(bst, Bst)
            and bst.active is not False
            and bst.confidence is not None
            and bst.confidence > CERTAIN
            and isinstance(memory, WorkingMemory)
            and memory.active is not False
            and memory.objective_held is True
        )

    def holder(self, layer: str) -> str | None:
        """Who else has warned or corrected this turn, so that `layer` had better be quiet."""
        others = (*self.warned, *(other for other in self.spoken if other != layer))
        return others[0] if others else None


CERTAIN: Final = 0.85
"""A belief above this counts as certain."""
