"""The signals of layers that say nothing: read from what they store for themselves (facts/agent_zero §6).

The layers beside us write none of the convention yet. What can be seen of them without asking is derived; what
cannot be seen stays unknown, and is never guessed: no neighbor stores whether the objective is held, for one.

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
"""Attributes of the agent that `derive` reads, under the same names."""
AGENT_DATA: Final = ("_tool_failures",)
"""Keys of `agent.data` that `derive` reads."""
WARNINGS: Final = "warnings"
"""The texts of the warnings that came into the history since the turn began, which is how a host gives them."""

UNNAMED: Final = "unnamed"
"""Somebody warned, and the text does not say who."""
_SUPERVISOR_MARK: Final = "[SUPERVISOR]"


def derive(neighbors: Mapping[str, object], turn: int | None) -> Signals:
    """What the stores of neighbors show of this turn. Anything may be missing or have another form."""
    warned = _warned(neighbors.get(WARNINGS))
    derived: dict[str, dict[str, Any] | None] = {
        "bst": _bst(neighbors.get("_bst_store")),
        "working_memory": _working_memory(neighbors.get("_working_memory")),
        "org_kernel": _org_kernel(neighbors),
        "fallback": None if "_tool_failures" not in neighbors else _present(neighbors["_tool_failures"]),
        "supervisor": _supervisor(neighbors.get("_supervisor_state"), warned),
        "memory_classifier": _present(neighbors.get("_memory_health")),
    }
    records: dict[str, SignalRecord] = {
        layer: read_record(layer, {**said, "turn": turn}) for layer, said in derived.items() if said
    }
    return Signals(turn, derived=records, warned=warned)


def _present(store: object) -> dict[str, Any] | None:
    return {"active": True} if isinstance(store, Mapping) else None


def _bst(store: object) -> dict[str, Any] | None:
    """The belief it routes on; else the compound signature of builds with the other vocabulary, of no confidence."""
    if not isinstance(store, Mapping):
        return None
    belief = store.get("__bst_belief_state__")
    if isinstance(belief, Mapping):
        return {"active": True, "domain": belief.get("domain"), "confidence": belief.get("confidence")}
    compound = store.get("_compound_sig")
    if isinstance(compound, str) and compound:
        return {"active": True, "domain": compound.partition("+")[0]}
    return {"active": False}  # it is there and believes nothing: it drops the key


def _working_memory(store: object) -> dict[str, Any] | None:
    if not isinstance(store, Mapping):
        return None
    parts = [store.get("entities"), store.get("promoted")]
    return {"active": True, "entity_count": sum(len(part) for part in parts if isinstance(part, list | dict))}


def _org_kernel(neighbors: Mapping[str, object]) -> dict[str, Any] | None:
    if "_org_active_role" not in neighbors:
        return None
    role = neighbors["_org_active_role"]
    if not isinstance(role, Mapping):
        return {"active": False}
    return {"active": True, "current_role": role.get("role_id")}


def _supervisor(store: object, warned: Sequence[str]) -> dict[str, Any] | None:
    """Another supervisor beside ours; what it did is what stands in the history, its store only says of what kind."""
    if "supervisor" not in warned:
        return _present(store)
    kinds: list[str] = []
    if isinstance(store, Mapping) and isinstance(store.get("cooldowns"), Mapping):
        kinds = sorted(str(kind) for kind, turn in store["cooldowns"].items() if turn == store.get("turn"))
    return {"active": True, "intervention_type": kinds[0] if kinds else UNNAMED, "fired_this_turn": True}


def _warned(texts: object) -> tuple[str, ...]:
    if not isinstance(texts, Sequence) or isinstance(texts, str):
        return ()
    others = (strip_own_text(text).strip() for text in texts if isinstance(text, str))
    who = ("supervisor" if text.startswith(_SUPERVISOR_MARK) else UNNAMED for text in others if text)
    return tuple(dict.fromkeys(who))
