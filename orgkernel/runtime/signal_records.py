"""The signals of each layer in one turn: written by the layer itself, or derived if it is silent.

The layers and fields have the names of the layer coordination convention (docs/signals.md). A field that is None was
not written: it is unknown, neither true nor false. Layers outside this list may take part under any name. Only their
`fired_this_turn` is read.

Standard library only: this module also runs inside hosts.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final, NamedTuple, TypeAlias


class Bst(NamedTuple):
    """Belief state tracker: the task domain of the turn."""

    active: bool | None = None
    domain: str | None = None
    confidence: float | None = None
    """0 to 1."""
    turn: int | None = None


class WorkingMemory(NamedTuple):
    """Working memory: the context that the agent keeps in view."""

    active: bool | None = None
    objective_held: bool | None = None
    entity_count: int | None = None
    turn: int | None = None


class OrgKernel(NamedTuple):
    """The organization: the role the agent is in."""

    active: bool | None = None
    current_role: str | None = None
    switched_this_turn: bool | None = None
    turn: int | None = None


class Fallback(NamedTuple):
    """Fallback advisor: advice after a tool failed several times."""

    active: bool | None = None
    fired_this_turn: bool | None = None
    advice_type: str | None = None
    turn: int | None = None


class MetaGate(NamedTuple):
    """Meta-reasoning gate: corrects or rejects the arguments of a call."""

    active: bool | None = None
    correction_applied: bool | None = None
    tool_name: str | None = None
    fired_this_turn: bool | None = None
    turn: int | None = None


class Supervisor(NamedTuple):
    """Supervisor: steers when PACE or a report asks for it."""

    active: bool | None = None
    intervention_type: str | None = None
    fired_this_turn: bool | None = None
    turn: int | None = None


class StructuredRetry(NamedTuple):
    """Structured retry: asks again after an answer that could not be read."""

    active: bool | None = None
    fired_this_turn: bool | None = None
    turn: int | None = None


class MemoryClassifier(NamedTuple):
    """Memory classifier: the parts of the turn that it stored."""

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
    layer: {
        name: str(each.__forward_arg__).partition(" ")[0] for name, each in record.__annotations__.items()
    }
    for layer, record in RECORDS.items()
}


def list_signal_fields(layer: str) -> tuple[str, ...]:
    """The fields that a listed layer may write. Empty for an unlisted layer."""
    return tuple(_FIELDS.get(layer, ()))


def read_record(layer: str, fields: Mapping[str, Any]) -> SignalRecord:
    """The record of a listed layer. A value of the wrong kind is treated as not written. Never raises."""
    kinds = _FIELDS[layer]
    return RECORDS[layer](
        **{name: fields[name] for name, kind in kinds.items() if _fits(fields.get(name), kind)}
    )


def _fits(value: object, kind: str) -> bool:
    if kind == "float":
        # The only floats are confidences. NaN is refused, and so are counts of matches, which some hosts write in this field.
        return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1
    return type(value).__name__ == kind  # exactly: a bool is not a count


def has_spoken(fields: Mapping[str, Any]) -> bool:
    """Whether a layer warned or corrected this turn, according to any of its three fields."""
    kind = fields.get("intervention_type")
    return (
        fields.get("fired_this_turn") is True
        or fields.get("correction_applied") is True
        or (isinstance(kind, str) and kind not in ("", "none"))
    )


class Signals(NamedTuple):
    """The known signals of one turn. An absent layer is unknown; no layer may depend on it."""

    turn: int | None = None
    said: Mapping[str, SignalRecord] = MappingProxyType({})
    """Signals that listed layers wrote themselves, by layer."""
    derived: Mapping[str, SignalRecord] = MappingProxyType({})
    """Signals derived from the values that neighbors store for their own use."""
    spoken: tuple[str, ...] = ()
    """Layers that wrote that they warned or corrected this turn, in order."""
    warned: tuple[str, ...] = ()
    """Layers that warned this turn according to the chat history, not to a signal. The reader itself is never included."""

    def get(self, layer: str) -> SignalRecord | None:
        """The signals of a layer: its own, else the derived ones, else None (unknown)."""
        return self.said.get(layer) or self.derived.get(layer)

    @property
    def oriented(self) -> bool:
        """Whether the domain is certain and the objective is held. Unknown values are treated as false."""
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
        """The other layer that holds the warning lane of this turn, because it has warned or corrected. Then `layer` should
        stay silent. None if the lane is free.
        """
        others = (*self.warned, *(other for other in self.spoken if other != layer))
        return others[0] if others else None


CERTAIN: Final = 0.85
"""Confidence above which a domain is treated as certain."""
