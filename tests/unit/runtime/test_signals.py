"""What layers say of a turn, and the one warning of it."""

import json
from typing import Any

import pytest

from orgkernel.runtime import signal_records, signals
from orgkernel.runtime.signal_records import RECORDS, list_signal_fields
from orgkernel.runtime.signals import EVENTS_KEPT, LEDGER, Event, read_counts, read_events

WARNING = signals.WARNING


@pytest.fixture
def store() -> dict[str, Any]:
    store: dict[str, Any] = {}
    signals.begin_turn(store, 7)
    return store


def test_the_layers_and_fields_are_those_of_the_note() -> None:
    """The table of the coordination note, and `fired_this_turn` where its lane rule reads it."""
    assert {layer: set(list_signal_fields(layer)) - {"active", "turn"} for layer in RECORDS} == {
        "bst": {"domain", "confidence"},
        "working_memory": {"objective_held", "entity_count"},
        "org_kernel": {"current_role", "switched_this_turn"},
        "fallback": {"fired_this_turn", "advice_type"},
        "meta_gate": {"correction_applied", "tool_name", "fired_this_turn"},
        "supervisor": {"intervention_type", "fired_this_turn"},
        "structured_retry": {"fired_this_turn"},
        "memory_classifier": {"memories_stored", "memories_filtered"},
    }


def test_what_a_layer_says_is_read(store: dict[str, Any]) -> None:
    """With the number of the turn, which no layer has to know."""
    signals.write(store, "bst", active=True, domain="bugfix", confidence=0.93)
    assert signals.read(store, "bst") == signal_records.Bst(True, "bugfix", 0.93, 7)


def test_the_value_has_the_form_of_the_convention(store: dict[str, Any]) -> None:
    """Layer to a plain dict, with nothing else in it, so that layers without this package read and write it."""
    signals.write(store, "bst", active=True, domain="bugfix", confidence=0.93)
    signals.claim(store, WARNING, "fallback")
    assert store[signals.KEY] == {
        "bst": {"active": True, "domain": "bugfix", "confidence": 0.93, "turn": 7},
        "fallback": {"fired_this_turn": True, "turn": 7},
    }
    json.dumps(store)


def test_a_layer_that_says_nothing_is_unknown(store: dict[str, Any]) -> None:
    """Absent is neither true nor false."""
    assert signals.read(store, "working_memory") is None
    assert signals.read_signals(store).get("working_memory") is None


def test_a_layer_adds_to_what_it_said(store: dict[str, Any]) -> None:
    """A second word does not take back the first."""
    signals.write(store, "meta_gate", active=True)
    signals.write(store, "meta_gate", correction_applied=True)
    assert signals.read(store, "meta_gate") == signal_records.MetaGate(
        active=True, correction_applied=True, turn=7
    )


def test_a_misspelt_field_is_refused(store: dict[str, Any]) -> None:
    """A slip in the code of a layer is found where it is made."""
    with pytest.raises(TypeError, match="confidense"):
        signals.write(store, "bst", confidense=0.9)


def test_a_new_turn_forgets_the_last(store: dict[str, Any]) -> None:
    """Both the words and the claim."""
    signals.write(store, "bst", confidence=0.9)
    signals.claim(store, WARNING, "fallback")
    signals.begin_turn(store, 8)
    assert signals.read_signals(store) == signal_records.Signals(turn=8)
    assert signals.claim(store, WARNING, "supervisor").granted


def test_a_turn_is_begun_once(store: dict[str, Any]) -> None:
    """If another layer begins the same turn, nothing is lost, so no layer has to be first."""
    signals.write(store, "bst", confidence=0.9)
    signals.claim(store, WARNING, "fallback")
    signals.begin_turn(store, 7)
    assert signals.read(store, "bst") == signal_records.Bst(confidence=0.9, turn=7)
    assert signals.claim(store, WARNING, "supervisor") == signals.Claim(granted=False, held_by="fallback")


def test_beginning_again_keeps_what_carries_no_number(store: dict[str, Any]) -> None:
    """A new turn keeps the mark of a layer that does not number its turns, and a claim in a lane without messages."""
    store[signals.KEY]["theirs"] = {"fired_this_turn": False}
    signals.claim(store, "plan", "fallback")
    signals.begin_turn(store, 7)
    assert store[signals.KEY]["theirs"] == {"fired_this_turn": False}
    assert not signals.claim(store, "plan", "supervisor").granted


def test_a_word_for_the_new_turn_may_come_before_it_is_begun(store: dict[str, Any]) -> None:
    """A layer at an earlier hook that gives the new number is not cleared away with the old ones."""
    signals.write(store, "bst", confidence=0.2)
    store[signals.KEY]["working_memory"] = {"objective_held": True, "turn": 8}
    signals.begin_turn(store, 8)
    assert signals.read_signals(store).said == {
        "working_memory": signal_records.WorkingMemory(objective_held=True, turn=8)
    }


def test_the_first_claim_has_the_warning(store: dict[str, Any]) -> None:
    """The others are refused, told by whom, and it is recorded that they were quiet."""
    assert signals.claim(store, WARNING, "fallback") == signals.Claim(granted=True, held_by="fallback")
    for late in ("meta_gate", "supervisor", "structured_retry", "a_layer_of_somebody_else"):
        assert signals.claim(store, WARNING, late) == signals.Claim(granted=False, held_by="fallback")
    assert [event.layers for event in read_events(store)] == [
        ("meta_gate", "fallback"),
        ("supervisor", "fallback"),
        ("structured_retry", "fallback"),
        ("a_layer_of_somebody_else", "fallback"),
    ]
    assert read_counts(store) == {"deferred": 4}


def test_a_layer_warns_once_a_turn(store: dict[str, Any]) -> None:
    """Its second claim is refused too, and defers to no layer."""
    signals.claim(store, WARNING, "fallback")
    assert signals.claim(store, WARNING, "fallback") == signals.Claim(granted=False, held_by="fallback")
    assert read_events(store) == ()


@pytest.mark.parametrize(
    ("layer", "word"),
    [
        ("fallback", {"fired_this_turn": True}),
        ("structured_retry", {"fired_this_turn": True}),
        ("meta_gate", {"correction_applied": True}),
        ("meta_gate", {"fired_this_turn": True}),
        ("supervisor", {"intervention_type": "stall"}),
        ("supervisor", {"fired_this_turn": True}),
        ("somebody_else", {"fired_this_turn": True}),
    ],
)
def test_each_layers_own_word_counts(store: dict[str, Any], layer: str, word: dict[str, Any]) -> None:
    """Who spoke without claiming holds the warning all the same."""
    store[signals.KEY] = {layer: word}
    assert signals.claim(store, WARNING, "org_kernel") == signals.Claim(granted=False, held_by=layer)


@pytest.mark.parametrize(
    "word",
    [
        {"fired_this_turn": False},
        {"fired_this_turn": "yes"},
        {"fired_this_turn": 1},
        {"correction_applied": False},
        {"intervention_type": ""},
        {"intervention_type": "none"},
        {"intervention_type": None},
        {"active": True},
    ],
)
def test_what_is_no_word_of_a_warning_holds_nothing(store: dict[str, Any], word: dict[str, Any]) -> None:
    """Being active, or an intervention of no kind, is not having spoken."""
    store[signals.KEY] = {"supervisor": word}
    assert signals.claim(store, WARNING, "fallback").granted


def test_a_layer_may_claim_after_its_own_word(store: dict[str, Any]) -> None:
    """A gate that has corrected the arguments and now wants to say so is not in its own way."""
    signals.write(store, "meta_gate", correction_applied=True)
    assert signals.claim(store, WARNING, "meta_gate").granted


def test_two_that_spoke_are_a_conflict(store: dict[str, Any]) -> None:
    """A layer that spoke in spite of the claim shows up, at the latest when the turn is over."""
    signals.claim(store, WARNING, "fallback")
    store[signals.KEY]["rude"] = {"fired_this_turn": True}
    signals.begin_turn(store, 8)
    assert read_events(store) == (Event(7, "conflict", WARNING, ("fallback", "rude")),)
    assert read_counts(store) == {"conflict": 1}


def test_a_conflict_is_one_event_however_often_it_is_seen(store: dict[str, Any]) -> None:
    """A third layer is added to it."""
    store[signals.KEY] = {"a": {"fired_this_turn": True}, "b": {"fired_this_turn": True}}
    signals.claim(store, WARNING, "fallback")
    signals.claim(store, WARNING, "fallback")
    store[signals.KEY]["c"] = {"fired_this_turn": True}
    signals.begin_turn(store, 8)
    conflicts = [event for event in read_events(store) if event.kind == "conflict"]
    assert conflicts == [Event(7, "conflict", WARNING, ("a", "b", "c"))]
    assert read_counts(store) == {"deferred": 1, "conflict": 1}


def test_a_layer_that_clears_the_signals_frees_nothing(store: dict[str, Any]) -> None:
    """The claim and the events are stored apart from the values that the convention lets any layer clear."""
    signals.claim(store, WARNING, "fallback")
    store[signals.KEY] = {}
    assert signals.claim(store, WARNING, "supervisor") == signals.Claim(granted=False, held_by="fallback")


def test_events_are_bounded_and_counts_are_not(store: dict[str, Any]) -> None:
    """Ten thousand turns leave as much in the store as fifty, and the number of all."""
    for turn in range(8, 10_008):
        signals.claim(store, WARNING, "fallback")
        signals.claim(store, WARNING, "supervisor")
        signals.begin_turn(store, turn)
    assert len(read_events(store)) == EVENTS_KEPT
    assert read_events(store)[-1].turn == 10_006
    assert read_counts(store) == {"deferred": 10_000}
    assert len(json.dumps(store)) < 10_000


def test_without_turns_nothing_can_be_held() -> None:
    """In a host that begins no turns, a claim would never end, so the layer reads only the warnings of others."""
    store: dict[str, Any] = {}
    assert signals.claim(store, WARNING, "fallback").granted
    assert signals.claim(store, WARNING, "supervisor").granted
    assert store == {}
    store[signals.KEY] = {"fallback": {"fired_this_turn": True}}
    assert signals.claim(store, WARNING, "supervisor") == signals.Claim(granted=False, held_by="fallback")


def test_another_lane_is_another_place(store: dict[str, Any]) -> None:
    """Only warnings exclude warnings."""
    signals.claim(store, WARNING, "fallback")
    assert signals.claim(store, "plan", "supervisor").granted
    assert not signals.claim(store, "plan", "fallback").granted


@pytest.mark.parametrize(
    ("confidence", "held", "expected"),
    [(0.86, True, 5), (0.85, True, 3), (0.99, False, 3), (0.99, None, 3), (None, True, 3), (None, None, 3)],
)
def test_an_oriented_agent_gets_two_more_failures(
    store: dict[str, Any], confidence: float | None, held: bool | None, expected: int
) -> None:
    """Only when the domain is certain and the objective is held; what is unknown raises nothing."""
    signals.write(store, "bst", confidence=confidence)
    signals.write(store, "working_memory", objective_held=held)
    assert signals.compute_threshold(3, signals.read_signals(store)) == expected


def test_an_inactive_tracker_does_not_orient(store: dict[str, Any]) -> None:
    """A left-over confidence beside `active: false` is not one."""
    signals.write(store, "bst", active=False, confidence=0.99)
    signals.write(store, "working_memory", objective_held=True)
    assert signals.compute_threshold(3, signals.read_signals(store)) == 3


@pytest.mark.parametrize(
    "value", [None, 7, "text", [1], {"bst": None}, {"bst": 3}, {3: {"active": True}}, {}]
)
def test_signals_of_another_form_are_not_said(store: dict[str, Any], value: object) -> None:
    """Whatever a layer left there, nothing raises and the protocol goes on."""
    store[signals.KEY] = value
    assert signals.read_signals(store) == signal_records.Signals(turn=7)
    assert signals.claim(store, WARNING, "fallback").granted
    assert signals.read(store, "fallback") == signal_records.Fallback(fired_this_turn=True, turn=7)


@pytest.mark.parametrize(
    "fields",
    [
        {"active": "yes", "domain": 3, "confidence": "high", "turn": "7"},
        {"active": 1, "domain": None, "confidence": float("nan"), "turn": True},
        {"confidence": 4},
        {"confidence": -0.1},
        {"confidence": True},
        {"unheard_of": 1},
    ],
)
def test_a_value_of_the_wrong_kind_is_unknown(store: dict[str, Any], fields: dict[str, Any]) -> None:
    """A count of matches is no confidence, and text is no flag."""
    store[signals.KEY] = {"bst": fields}
    assert signals.read(store, "bst") == signal_records.Bst()


@pytest.mark.parametrize(
    "ledger",
    [
        None,
        [],
        {"turn": "7"},
        {"turn": 7},
        {"turn": 7, "held": {"warning": 3}, "events": [], "counts": {}},
        {"turn": 7, "held": {}, "events": [], "counts": {"deferred": "many"}},
    ],
)
def test_a_ledger_of_another_form_is_begun_anew(ledger: object) -> None:
    """It counts as no turn, and the next one mends it."""
    store: dict[str, Any] = {LEDGER: ledger}
    assert signals.read_signals(store).turn is None
    assert (read_events(store), read_counts(store)) == ((), {})
    signals.begin_turn(store, 8)
    assert signals.claim(store, WARNING, "fallback").granted
    assert not signals.claim(store, WARNING, "supervisor").granted


def test_an_event_of_another_form_is_passed_over(store: dict[str, Any]) -> None:
    """Values that another extension added neither raise an error nor appear."""
    store[LEDGER]["events"] = [{"kind": 1}, "x", None]
    store[signals.KEY] = {"a": {"fired_this_turn": True}, "b": {"fired_this_turn": True}}
    signals.begin_turn(store, 8)
    assert read_events(store) == (Event(7, "conflict", WARNING, ("a", "b")),)
