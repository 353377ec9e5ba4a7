"""What the stores of layers that say nothing show of a turn."""

from typing import Any

import pytest

from orgkernel.runtime import neighbors, signal_records, signals
from orgkernel.runtime.own_text import mark_own_text

BELIEF = {"domain": "bugfix", "confidence": 0.93, "turn": 0, "slots": {}, "missing_required": []}
MEMORY = {
    "entities": [{"type": "file", "value": "a.py", "turn": 2, "mentions": 1}],
    "promoted": {"/srv/b.py": {"type": "path", "mentions": 4}},
}
FAILURES = {"consecutive": {"input": 3}, "history": [{"tool": "input", "error_type": "timeout"}]}


def test_the_real_neighbors() -> None:
    """Every store of the neighbors as they really write it; what none of them stores is unknown."""
    seen = neighbors.derive(
        {
            "_bst_store": {"__bst_belief_state__": BELIEF},
            "_working_memory": MEMORY,
            "_org_active_role": {"role_id": "bugfix_specialist", "role_name": "Bugfix Specialist"},
            "_tool_failures": FAILURES,
            "_supervisor_state": {"turn": 6, "cooldowns": {"pace": 3}},
            "_memory_health": {"total_memories": 12},
        },
        7,
    )
    assert seen.derived == {
        "bst": signal_records.Bst(True, "bugfix", 0.93, 7),
        "working_memory": signal_records.WorkingMemory(True, None, 2, 7),
        "org_kernel": signal_records.OrgKernel(True, "bugfix_specialist", None, 7),
        "fallback": signal_records.Fallback(active=True, turn=7),
        "supervisor": signal_records.Supervisor(active=True, turn=7),
        "memory_classifier": signal_records.MemoryClassifier(active=True, turn=7),
    }
    assert (seen.said, seen.spoken, seen.warned) == ({}, (), ())


def test_no_neighbors_are_no_signals() -> None:
    """A stock agent: everything is unknown."""
    assert neighbors.derive({}, 7) == signal_records.Signals(7)


@pytest.mark.parametrize("value", [None, 0, "text", [], ["x"]])
def test_stores_of_another_form_are_unknown(value: object) -> None:
    """An attribute that exists and holds something else tells nothing."""
    names = (
        "_bst_store",
        "_working_memory",
        "_tool_failures",
        "_supervisor_state",
        "_memory_health",
        "warnings",
    )
    seen = neighbors.derive(dict.fromkeys(names, value), 7)
    assert seen.derived == {}


def test_a_tracker_without_a_belief_is_not_active() -> None:
    """It drops the key when the talk is of nothing in particular."""
    assert neighbors.derive({"_bst_store": {}}, 7).get("bst") == signal_records.Bst(active=False, turn=7)


def test_the_other_vocabulary_has_a_domain_and_no_confidence() -> None:
    """A compound signature counts matches. A count is not a confidence, so it does not orient."""
    seen = neighbors.derive({"_bst_store": {"_compound_sig": "coding+planning", "_compound_turns": 3}}, 7)
    assert seen.get("bst") == signal_records.Bst(True, "coding", None, 7)


def test_no_role_is_a_kernel_that_rests() -> None:
    """The attribute is there and empty when no role is active."""
    seen = neighbors.derive({"_org_active_role": None}, 7)
    assert seen.get("org_kernel") == signal_records.OrgKernel(active=False, turn=7)


def test_a_layers_own_word_goes_before_what_is_derived() -> None:
    """Both are kept, and the first is what is read."""
    store: dict[str, Any] = {}
    signals.begin_turn(store, 7)
    signals.write(store, "bst", domain="codegen", confidence=0.4)
    seen = signals.survey(store, {"_bst_store": {"__bst_belief_state__": BELIEF}, "_working_memory": MEMORY})
    assert seen.get("bst") == signal_records.Bst(domain="codegen", confidence=0.4, turn=7)
    assert seen.get("working_memory") == signal_records.WorkingMemory(active=True, entity_count=2, turn=7)


def test_a_certain_domain_alone_does_not_orient() -> None:
    """No neighbor stores whether the objective is held, so derived signals raise no threshold."""
    seen = neighbors.derive({"_bst_store": {"__bst_belief_state__": BELIEF}, "_working_memory": MEMORY}, 7)
    assert signals.compute_threshold(3, seen) == 3


def test_another_supervisors_warning_in_the_history_counts() -> None:
    """It is told by its mark; what it was about is the cool-down it has just set."""
    seen = neighbors.derive(
        {
            "warnings": ["[SUPERVISOR] You appear stalled"],
            "_supervisor_state": {"turn": 6, "cooldowns": {"pace": 3, "stall": 6}},
        },
        7,
    )
    assert seen.get("supervisor") == signal_records.Supervisor(True, "stall", True, 7)
    assert seen.warned == ("supervisor",)
    store: dict[str, Any] = {}
    signals.begin_turn(store, 7)
    refused = signals.claim(store, signals.WARNING, "supervisor", seen)
    assert refused == signals.Claim(granted=False, held_by="supervisor")


def test_a_warning_of_an_unknown_layer_is_counted() -> None:
    """One warning is enough for a turn, from any layer."""
    store: dict[str, Any] = {}
    signals.begin_turn(store, 7)
    seen = signals.survey(store, {"warnings": ["Permission denied. Check permissions."]})
    assert signals.claim(store, signals.WARNING, "supervisor", seen).held_by == "unnamed"


def test_the_supervisor_recognizes_its_own_warning() -> None:
    """A steering that stands in the history is known again and does not stand in its own way."""
    seen = neighbors.derive({"warnings": [mark_own_text("Stop retrying.")[0], "  "]}, 7)
    assert seen.warned == ()
