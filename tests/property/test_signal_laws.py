"""Laws of layer coordination, over generated situations, orders, choices of layers and rubbish in the store."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from orgkernel.decisions.status.rehearsal import Player, play_turn
from orgkernel.decisions.status.signals import trace_turn
from orgkernel.runtime import signals
from orgkernel.runtime.neighbors import AGENT_ATTRIBUTES, AGENT_DATA
from orgkernel.runtime.signal_records import RECORDS, list_signal_fields
from tests.support.layers import BASE, INJECTORS, SENSORS, WORST, Situation, players_of, rude

situations = st.builds(
    Situation,
    confidence=st.floats(0, 1),
    objective_held=st.booleans(),
    failures=st.integers(0, 9),
    corrects=st.booleans(),
    steers=st.booleans(),
    malformed=st.booleans(),
)
layers = st.sampled_from(sorted(RECORDS))
turns = st.permutations(sorted(RECORDS)).flatmap(
    lambda order: st.lists(st.sampled_from(order), unique=True, min_size=1)
)
rubbish = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from([*RECORDS, "turn", "held", "events", "counts", "kind"]), inner)
        | st.dictionaries(
            st.sampled_from([name for layer in RECORDS for name in list_signal_fields(layer)]), inner
        )
    ),
    max_leaves=12,
)
KEYS = [signals.KEY, signals.LEDGER, *AGENT_ATTRIBUTES, *AGENT_DATA, "warnings"]
stores = st.dictionaries(st.sampled_from(KEYS), rubbish)


def would_speak(name: str, situation: Situation) -> bool:
    """What a layer does where it is alone."""
    return bool(players_of(situation)[name]({}))


@given(st.lists(st.tuples(situations, turns), min_size=1, max_size=4))
def test_one_warning_a_turn(played: list[tuple[Situation, list[str]]]) -> None:
    """With any installed layers and in any order, at most one layer warns in a turn."""
    store: dict[str, Any] = {}
    for turn, (situation, order) in enumerate(played):
        assert len(play_turn(store, turn, players_of(situation), order).spoken) <= 1
        assert all(event.kind == "deferred" for event in signals.read_events(store))


@given(situations, turns)
def test_one_layer_always_warns_when_a_warning_is_due(situation: Situation, order: list[str]) -> None:
    """Coordination silences the second warning, never the only one; orientation alone postpones advice."""
    played = play_turn({}, 1, players_of(situation), order)
    due = [name for name in order if name in INJECTORS and would_speak(name, situation)]
    if due and due != ["fallback"]:
        assert len(played.spoken) == 1
    if due == ["fallback"]:
        oriented = {"bst", "working_memory"} <= {*order[: order.index("fallback")]}
        lenient = oriented and situation.confidence > 0.85 and situation.objective_held
        assert bool(played.spoken) == (situation.failures >= (BASE + 2 if lenient else BASE))
    if not due:
        assert not played.spoken


@given(situations, turns, layers)
def test_absent_layers_change_nothing(situation: Situation, order: list[str], absent: str) -> None:
    """Without a layer that neither warns nor orients, all other layers do exactly the same."""
    if absent in ("bst", "working_memory"):
        situation = Situation(0, False, situation.failures, situation.corrects, situation.steers)
    whole = play_turn({}, 1, players_of(situation), order)
    if absent in whole.spoken:
        return
    rest = play_turn({}, 1, players_of(situation), [name for name in order if name != absent])
    assert rest.spoken == whole.spoken
    assert not rest.raised


@given(situations, turns)
def test_the_order_of_those_who_only_tell_is_free(situation: Situation, order: list[str]) -> None:
    """Sensors read nothing: in front of the injectors, in any order, they make the same turn."""
    tell = [name for name in order if name in SENSORS]
    warn = [name for name in order if name in INJECTORS]
    one, other = (play_turn({}, 1, players_of(situation), [*each, *warn]) for each in (tell, tell[::-1]))
    assert (one.spoken, one.events) == (other.spoken, other.events)


@given(turns, st.integers(0, 8))
def test_a_rude_layer_is_never_overlooked(order: list[str], place: int) -> None:
    """Next to a layer that warns without a claim, either no other layer warns or the turn has a conflict event."""
    players: dict[str, Player] = {**players_of(WORST), "rude": rude("fired_this_turn")}
    store: dict[str, Any] = {}
    played = play_turn(store, 1, players, [*order[:place], "rude", *order[place:]])
    signals.begin_turn(store, 2)
    conflicts = [{*event.layers} for event in signals.read_events(store) if event.kind == "conflict"]
    assert conflicts == ([{*played.spoken}] if len(played.spoken) > 1 else [])


@given(stores, st.integers(0, 3), layers)
def test_nothing_in_a_store_raises(store: dict[str, Any], turn: int, layer: str) -> None:
    """Neighbors may leave what they like: it is read with care, and the next turn is a good one."""
    trace_turn(store)
    signals.survey(store, store)
    signals.read(store, layer)
    signals.write(store, layer, active=True)
    signals.claim(store, signals.WARNING, layer, signals.survey(store, store))
    signals.begin_turn(store, turn + 10)
    assert signals.claim(store, signals.WARNING, "a").granted
    assert not signals.claim(store, signals.WARNING, "b").granted


@given(layers, st.dictionaries(st.sampled_from(["active", "fired_this_turn", "confidence"]), rubbish))
def test_what_is_read_is_what_was_said_or_unknown(layer: str, said: dict[str, Any]) -> None:
    """A record holds nothing that the layer did not say."""
    record = signals.read({signals.KEY: {layer: said}}, layer)
    for name in list_signal_fields(layer):
        assert getattr(record, name) is None or getattr(record, name) == said[name]
