"""The circulatory map agrees with the protocol, and a dump is told as it was."""

from typing import Any

import pytest

from orgkernel.decisions.status.signals import CIRCULATION, SignalLayerTrace, TurnTrace, trace_turn
from orgkernel.runtime import neighbors, signals
from orgkernel.runtime.signal_records import RECORDS, has_spoken
from tests.support.layers import INJECTORS


def test_the_map_has_every_layer_once() -> None:
    """The eight of the coordination note."""
    assert sorted(layer.name for layer in CIRCULATION) == sorted(RECORDS)


def test_every_word_that_holds_the_lane_is_one() -> None:
    """What the map marks as the word of an injector makes it hold the warning; no other layer has one."""
    assert {layer.name for layer in CIRCULATION if layer.spoken_by} == {*INJECTORS}
    for layer in CIRCULATION:
        if layer.spoken_by:
            assert layer.spoken_by in layer.says
            assert has_spoken({layer.spoken_by: "stall" if layer.spoken_by == "intervention_type" else True})


def test_every_injector_looks_at_all_others() -> None:
    """The lane has no exception."""
    for layer in CIRCULATION:
        assert set(layer.reads) <= set(RECORDS) - {layer.name}
        if layer.spoken_by:
            assert set(layer.reads) >= {*INJECTORS} - {layer.name}


@pytest.mark.parametrize(
    "layer", [layer for layer in CIRCULATION if layer.seen_in], ids=lambda layer: layer.name
)
def test_where_the_map_looks_is_where_it_is_derived_from(layer: Any) -> None:
    """With something in that store, and nothing else, exactly that layer is no longer unknown."""
    name = layer.seen_in.removeprefix("agent.").removeprefix('data["').removesuffix('"]')
    assert name in (*neighbors.AGENT_ATTRIBUTES, *neighbors.AGENT_DATA)
    assert list(neighbors.derive({name: {}}, 1).derived) == [layer.name]


def played_turn() -> dict[str, Any]:
    store: dict[str, Any] = {}
    signals.begin_turn(store, 7)
    signals.write(store, "bst", active=True, domain="bugfix", confidence=0.93)
    signals.claim(store, signals.WARNING, "fallback")
    signals.claim(store, signals.WARNING, "supervisor")
    return store


def test_a_turn_is_told() -> None:
    """Who said what, who has the warning, who was quiet, and of whom nothing is known."""
    assert trace_turn({**played_turn(), "_working_memory": {"entities": [1], "promoted": {}}}) == TurnTrace(
        turn=7,
        held_by="fallback",
        signal_layers=(
            SignalLayerTrace(
                "bst", "said", {"active": True, "domain": "bugfix", "confidence": 0.93, "turn": 7}, False
            ),
            SignalLayerTrace("working_memory", "derived", {"active": True, "entity_count": 1}, False),
            SignalLayerTrace("fallback", "said", {"fired_this_turn": True, "turn": 7}, True),
        ),
        silent=("org_kernel", "meta_gate", "supervisor", "structured_retry", "memory_classifier"),
        events=(signals.Event(7, "deferred", "warning", ("supervisor", "fallback")),),
        counts={"deferred": 1},
    )


def test_the_bare_signals_are_told_as_well() -> None:
    """The value alone, as another program may have dumped it: without a ledger there is no turn."""
    bare = trace_turn(played_turn()["_layer_signals"])
    assert (bare.turn, bare.held_by) == (None, "fallback")
    assert [layer.name for layer in bare.signal_layers] == ["bst", "fallback"]


def test_data_without_signals_has_none() -> None:
    """The data of an agent without signal layers contains no signals."""
    told = trace_turn({"_tool_failures": {"consecutive": {}}, "name": {"x": 1}})
    assert told.signal_layers == (SignalLayerTrace("fallback", "derived", {"active": True}, False),)


def test_layers_outside_the_list_come_last() -> None:
    """In the order of their names, with whatever they say."""
    store = played_turn()
    store[signals.KEY] |= {"zebra": {"fired_this_turn": True}, "ant": {"x": [1]}}
    told = trace_turn(store)
    assert told.signal_layers[-2:] == (
        SignalLayerTrace("ant", "said", {"x": [1]}, False),
        SignalLayerTrace("zebra", "said", {"fired_this_turn": True}, True),
    )
