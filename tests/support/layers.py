"""The layers of the coordination note as players: each does at its hook what the note says of it, and no more.

A situation says what the layers find; every layer would speak in one that is bad enough.
"""

from __future__ import annotations

from dataclasses import dataclass

from orgkernel.decisions.status.rehearsal import Player, Store
from orgkernel.runtime import signals

BASE = 3
SENSORS = ("bst", "working_memory", "org_kernel", "memory_classifier")
INJECTORS = ("fallback", "meta_gate", "supervisor", "structured_retry")


@dataclass(frozen=True)
class Situation:
    """What happened in the turn."""

    confidence: float = 0.5
    objective_held: bool = False
    failures: int = 0
    corrects: bool = False
    steers: bool = False
    malformed: bool = False


WORST = Situation(failures=9, corrects=True, steers=True, malformed=True)
"""Every injector has something to say."""


def players_of(situation: Situation) -> dict[str, Player]:
    """Layer to what it does in this situation."""

    def bst(store: Store) -> None:
        signals.write(store, "bst", active=True, domain="bugfix", confidence=situation.confidence)

    def working_memory(store: Store) -> None:
        signals.write(store, "working_memory", active=True, objective_held=situation.objective_held)

    def org_kernel(store: Store) -> None:
        signals.write(store, "org_kernel", active=True, current_role="bugfix_specialist")

    def memory_classifier(store: Store) -> None:
        signals.write(store, "memory_classifier", active=True, memories_stored=2, memories_filtered=1)

    def fallback(store: Store) -> str | None:
        if situation.failures < signals.compute_threshold(BASE, signals.read_signals(store)):
            return None
        return "try another tool" if signals.claim(store, signals.WARNING, "fallback").granted else None

    def meta_gate(store: Store) -> str | None:
        if not situation.corrects or not signals.claim(store, signals.WARNING, "meta_gate").granted:
            return None
        signals.write(store, "meta_gate", active=True, correction_applied=True, tool_name="input")
        return "the arguments were corrected"

    def supervisor(store: Store) -> str | None:
        if not situation.steers or not signals.claim(store, signals.WARNING, "supervisor").granted:
            return None
        signals.write(store, "supervisor", active=True, intervention_type="pace_contingent")
        return "hand over"

    def structured_retry(store: Store) -> str | None:
        if not situation.malformed:
            return None
        granted = signals.claim(store, signals.WARNING, "structured_retry").granted
        return "answer in JSON" if granted else None

    return {
        "bst": bst,
        "working_memory": working_memory,
        "org_kernel": org_kernel,
        "memory_classifier": memory_classifier,
        "fallback": fallback,
        "meta_gate": meta_gate,
        "supervisor": supervisor,
        "structured_retry": structured_retry,
    }


def rude(word: str, value: object = True) -> Player:
    """A layer that makes no claim: it warns, and reports it afterwards with this word."""

    def play(store: Store) -> str:
        store.setdefault(signals.KEY, {})["rude"] = {word: value}
        return "LISTEN"

    return play
