"""Derives the signals of silent layers from the values that they store for their own use.

Neighbor layers do not write the convention yet. Some of their signals can be derived from what they store. The others
stay unknown and are never guessed. For example, no neighbor stores whether the objective is held.

Standard library only: this module also runs inside hosts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from .own_text import strip_own_text
from .signal_records import SignalRecord, Signals, read_record

AGENT_ATTRIBUTES: Final = (
    "_bst_store",
    "_working_memory",
    "_org_active_role",
    "_supervisor_state",
    "_memory_health",
)
"""Attributes of the agent that `derive` reads under the same names."""
AGENT_DATA: Final = ("_tool_failures",)
"""Keys of `agent.data` that `derive` reads."""
WARNINGS: Final = "warnings"
"""Key for the warnings that entered the history since the turn began. The host fills it."""

UNNAMED: Final = "unnamed"
"""Name for a layer that warned without a name."""
_SUPERVISOR_MARK: Final = "[SUPERVISOR]"


def derive(neighbors: Mapping[str, object], turn: int | None) -> Signals:
    """The signals of this turn that follow from the stores of neighbors. Any value can be missing or have another
    form.
    """
    warned = _find_warnings(neighbors.get(WARNINGS))
    derived: dict[str, dict[str, Any] | None] = {
        "bst": _read_bst(neighbors.get("_bst_store")),
        "working_memory": _read_working_memory(neighbors.get("_working_memory")),
        "org_kernel": _read_org_kernel(neighbors),
        "fallback": None
        if "_tool_failures" not in neighbors
        else _read_presence(neighbors["_tool_failures"]),
        "supervisor": _read_supervisor(neighbors.get("_supervisor_state"), warned),
        "memory_classifier": _read_presence(neighbors.get("_memory_health")),
    }
    records: dict[str, SignalRecord] = {
        layer: read_record(layer, {**fields, "turn": turn}) for layer, fields in derived.items() if fields
    }
    return Signals(turn, derived=records, warned=warned)


def _read_presence(store: object) -> dict[str, Any] | None:
    return {"active": True} if isinstance(store, Mapping) else None


def _read_bst(store: object) -> dict[str, Any] | None:
    """The belief that BST (belief state tracker) routes on. In builds with the other vocabulary: the compound
    signature, without confidence.
    """
    if not isinstance(store, Mapping):
        return None
    belief = store.get("__bst_belief_state__")
    if isinstance(belief, Mapping):
        return {"active": True, "domain": belief.get("domain"), "confidence": belief.get("confidence")}
    compound = store.get("_compound_sig")
    if isinstance(compound, str) and compound:
        return {"active": True, "domain": compound.partition("+")[0]}
    return {"active": False}  # the tracker runs and has no belief: it removes the key


def _read_working_memory(store: object) -> dict[str, Any] | None:
    if not isinstance(store, Mapping):
        return None
    parts = [store.get("entities"), store.get("promoted")]
    return {"active": True, "entity_count": sum(len(part) for part in parts if isinstance(part, list | dict))}


def _read_org_kernel(neighbors: Mapping[str, object]) -> dict[str, Any] | None:
    if "_org_active_role" not in neighbors:
        return None
    role = neighbors["_org_active_role"]
    if not isinstance(role, Mapping):
        return {"active": False}
    return {"active": True, "current_role": role.get("role_id")}


def _read_supervisor(store: object, warned: Sequence[str]) -> dict[str, Any] | None:
    """The signals of a supervisor of the host. The history shows whether it spoke. Its store contains only the kind
    of intervention.
    """
    if "supervisor" not in warned:
        return _read_presence(store)
    kinds: list[str] = []
    if isinstance(store, Mapping) and isinstance(store.get("cooldowns"), Mapping):
        kinds = sorted(str(kind) for kind, turn in store["cooldowns"].items() if turn == store.get("turn"))
    return {"active": True, "intervention_type": kinds[0] if kinds else UNNAMED, "fired_this_turn": True}


def _find_warnings(texts: object) -> tuple[str, ...]:
    if not isinstance(texts, Sequence) or isinstance(texts, str):
        return ()
    others = (strip_own_text(text).strip() for text in texts if isinstance(text, str))
    who = ("supervisor" if text.startswith(_SUPERVISOR_MARK) else UNNAMED for text in others if text)
    return tuple(dict.fromkeys(who))
