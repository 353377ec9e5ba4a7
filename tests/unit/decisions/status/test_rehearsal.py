"""The harness finds what it is for, and the layers of the note give it nothing to find."""

import pytest

from orgkernel.decisions.status.rehearsal import ORDERS, Player, Store, play_turn, rehearse
from orgkernel.runtime import signal_records, signals
from tests.support.layers import INJECTORS, SENSORS, WORST, Situation, players_of, rude


def some(players: dict[str, Player], *names: str) -> dict[str, Player]:
    return {name: players[name] for name in names}


def test_the_layers_of_the_note_are_without_fault() -> None:
    """All warning injectors at once with two sensors, every choice of them, in every order, over two turns."""
    rehearsal = rehearse(some(players_of(WORST), *INJECTORS, "bst", "working_memory"), turns=2)
    assert rehearsal.complete
    assert rehearsal.faults == ()
    assert len(rehearsal.turns) == 2 * 1956
    assert all(len(played.spoken) == 1 for played in rehearsal.turns if {*played.order} & {*INJECTORS})


@pytest.mark.parametrize("absent", [*INJECTORS, *SENSORS])
def test_each_layer_can_be_missing(absent: str) -> None:
    """With any one of the eight not installed, the others speak as they would, one a turn."""
    players = players_of(WORST)
    order = [name for name in players if name != absent]
    for turned in range(len(order)):
        played = play_turn({}, 1, players, [*order[turned:], *order[:turned]])
        assert len(played.spoken) == 1
        assert not played.raised


@pytest.mark.parametrize("name", INJECTORS)
def test_alone_a_layer_does_what_it_always_did(name: str) -> None:
    """Without other layers, and without a host that begins turns, each injector warns exactly when it has a message."""
    assert players_of(WORST)[name]({})
    assert not players_of(Situation())[name]({})


def test_a_quiet_turn_is_quiet() -> None:
    """Nothing to say, nothing said, nothing recorded."""
    played = play_turn({}, 1, players_of(Situation()), list(players_of(Situation())))
    assert (dict(played.spoken), dict(played.raised), played.events) == ({}, {}, ())


@pytest.mark.parametrize(
    ("word", "value"),
    [("fired_this_turn", True), ("correction_applied", True), ("intervention_type", "stall")],
)
@pytest.mark.parametrize("injector", INJECTORS)
def test_a_rude_layer_shows_up(injector: str, word: str, value: object) -> None:
    """A layer that warns without a claim silences others when it is first, and is a conflict event when it is last."""
    players = {**players_of(WORST), "rude": rude(word, value)}
    store: Store = {}
    first = play_turn(store, 1, players, ["rude", injector])
    assert list(first.spoken) == ["rude"]
    assert [event.kind for event in first.events] == ["deferred"]
    last = play_turn(store, 2, players, [injector, "rude"])
    assert list(last.spoken) == [injector, "rude"]
    signals.begin_turn(store, 3)
    conflicts = [event for event in signals.read_events(store) if event.kind == "conflict"]
    assert conflicts == [signals.Event(2, "conflict", "warning", (injector, "rude"))]


def test_a_rude_layer_is_a_fault_of_the_rehearsal() -> None:
    """In each order in which it comes last, and in no other."""
    players = {**some(players_of(WORST), "fallback"), "rude": rude("fired_this_turn")}
    assert rehearse(players).faults == ("turn 1, fallback → rude: fallback and rude both spoke",)


def test_two_that_never_heard_of_the_protocol_are_a_fault() -> None:
    """They leave no word anywhere; the rehearsal sees what they say."""
    players: dict[str, Player] = {"a": lambda _: "one", "b": lambda _: "two", "c": lambda _: "three"}
    faults = rehearse(players).faults
    assert "turn 1, a → b: a and b both spoke" in faults
    assert "turn 1, a → b → c: a, b and c all spoke" in faults


def test_a_layer_that_needs_another_is_a_fault() -> None:
    """Whether it breaks without the other's word, or falls silent."""

    def breaks(store: Store) -> str | None:
        return f"we are in {store[signals.KEY]['bst']['domain']}"

    def falls_silent(store: Store) -> str | None:
        bst = signals.read(store, "bst")
        return f"we are in {bst.domain}" if isinstance(bst, signal_records.Bst) else None

    players = players_of(WORST)
    assert rehearse({"bst": players["bst"], "breaks": breaks}).faults == (
        "turn 1, breaks: breaks raised KeyError: 'bst'",
        "turn 1, breaks → bst: breaks raised KeyError: 'bst'",
        "turn 1, bst → breaks: breaks speaks, but no layer speaks without bst",
    )
    assert rehearse({"bst": players["bst"], "silent": falls_silent}).faults == (
        "turn 1, bst → silent: silent speaks, but no layer speaks without bst",
    )


def test_too_many_orders_are_said_to_be_too_many() -> None:
    """Eight layers have more orders than are played; the answer does not pretend otherwise."""
    rehearsal = rehearse(players_of(Situation()))
    assert not rehearsal.complete
    assert len(rehearsal.turns) == ORDERS


def test_the_store_can_be_prepared() -> None:
    """Each play begins with a store of its own."""

    def prepare(store: Store) -> None:
        store["seen"] = []

    def notes(store: Store) -> None:
        store["seen"].append("x")
        assert len(store["seen"]) == 1

    assert rehearse({"notes": notes, "bst": players_of(WORST)["bst"]}, prepare=prepare).faults == ()
