"""What a layer of an access decision is, what a reason code is, and their order.

A layer is handed the `Evaluation` of a question, which is made from this module: hence `Any` stands for it here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import count
from typing import Any, Literal, NamedTuple, get_args

import msgspec

from orgkernel.decisions.access.decision import ChangeKind, Outcome, RemedyChange
from orgkernel.decisions.access.resource import FULL, HANDOFF, Resource, SubjectGroup
from orgkernel.decisions.evidence.state_view import Waiver
from orgkernel.decisions.reasons import Why

WAIVERS: tuple[Waiver, ...] = get_args(Waiver)
Value = Literal["granted", "ceiling", "stopped"]
Sentence = tuple[str, tuple[Why, ...]]
"""What is said, and the lines it rests on."""
NEUTRAL = "nothing here says otherwise"
"""What a layer says for which nothing is declared about the question."""
_BITS = count()


class ReasonCode(msgspec.Struct, frozen=True, eq=False):
    """A stable word for what a layer finds, and all that follows from it."""

    name: str
    say: Callable[[Any], Sentence]
    """The reason of this code in a decision."""
    value: Value | Literal[""] = "ceiling"
    """The value it is about: the source of an allowance is `granted`; what is only missing moved nothing."""
    remedies: tuple[ChangeKind, ...] = ()
    """The kinds of changes that could take it away."""
    waiver: Waiver | None = None
    """What a grant has to waive to take it away."""
    asks: bool = False
    """Whether it makes the outcome `ask` where nothing denies."""
    unstated: bool = False
    """Whether it makes the outcome `conditional` where nothing else fails."""
    static: bool = False
    """Whether what it says depends on documents alone, so that it can be said once."""
    told_in: str = ""
    """The layer whose line tells it, where that is not the one it belongs to."""
    bit: int = msgspec.field(default_factory=lambda: 1 << next(_BITS))
    """Its place in the sums of what fails. It says nothing about the order."""


Move = Callable[[Any], None]
"""What a layer does to the three values, specialized for a target."""


class Target(NamedTuple):
    """What the layers are compiled for."""

    resource: Resource
    action: str
    required: int
    """The level the action requires; full for an action the resource does not have."""
    group: SubjectGroup
    """The kind of subject."""

    @property
    def is_crew(self) -> bool:
        """Whether roles give to the subject."""
        return self.group in ("role", "agent")

    @property
    def hands_off(self) -> bool:
        """Whether what is asked for hands work to others."""
        resource = self.resource
        return resource.delegating or (resource.kind == "role" and self.action == HANDOFF)


def _never_applies(target: Target) -> Move | None:
    return None


def _explain_nothing(evaluation: Any) -> Sentence:
    return NEUTRAL, ()


def _need_no_words(evaluation: Any, outcome: Outcome) -> Iterable[str]:
    return ()


class Unstated(NamedTuple):
    """Circumstances that the caller did not state, and the question in which they are."""

    needed: Mapping[str, str]
    """The fields of the context, and what they could be."""
    evaluation: Any


def _find_nothing_unstated(evaluation: Any) -> Iterable[Unstated]:
    return ()


def _suppose_nothing(evaluation: Any, kindly: bool) -> None:
    return


class AccessLayer(msgspec.Struct, frozen=True, eq=False):
    """Everything about one layer of the decision."""

    name: str
    codes: tuple[ReasonCode, ...] = ()
    """What it can find, in the order in which it is told."""
    compile: Callable[[Target], Move | None] = _never_applies
    """How it moves the values for a target; None where it has no say about it."""
    of_stored: bool = False
    """Whether it has a say only where grants or restrictions are stored for the subject."""
    of_run: bool = False
    """Whether it belongs to the run a request is part of, and not to what the subject brings along."""
    needs_run: bool = False
    """Whether it has a say only about a request that is part of a run, or that hands work to others."""
    of_names: bool = False
    """Whether it speaks about names: also of a subject that nothing declares."""
    unchanged: Callable[[Any], Sentence] = _explain_nothing
    """What it says where it has nothing to say with a code."""
    explains: Mapping[Value, Callable[[Any], Sentence | None]] = msgspec.field(default_factory=dict)
    """Why it moved a value although it is none of what decided in the end."""
    circumstances: Callable[[Any, Outcome], Iterable[str]] = _need_no_words
    """What about it could be otherwise at another time, over another channel, and so on, as `KEY:VALUE` words."""
    unstated: Callable[[Any], Iterable[Unstated]] = _find_nothing_unstated
    """What the caller did not state and this layer reads."""
    suppose: Callable[[Any, bool], None] = _suppose_nothing
    """Change a question so that everything about it that depends on circumstances helps, or all of it hurts."""
    besides: Mapping[str, Callable[[Any], Sentence | None]] = msgspec.field(default_factory=dict)
    """Codes that are told beside the reasons of a denial and are none of them."""
    changes: Mapping[ChangeKind, Callable[[Any], Iterable[RemedyChange]]] = msgspec.field(
        default_factory=dict
    )
    """The changes it knows that could help, by kind. What a grant or another role could do is asked of every layer."""


class Moves(NamedTuple):
    """The layers that have a say about a target."""

    required: int
    plain: tuple[Move, ...]
    """Those of what a subject brings along for which nothing is stored."""
    stored: tuple[Move, ...]
    """Those of what a subject brings along for which something is."""
    of_run: tuple[Move, ...]
    """Those of the run a request is part of."""
    of_no_run: tuple[Move, ...]
    """Those of them that speak of a request that is part of none."""
    all: tuple[tuple[AccessLayer, Move | None], ...]
    """Every layer, with its move where it has one."""
    names: frozenset[str]
    """The names of those that have a say."""


class LayerOrder:
    """Layers in the one order in which they are evaluated and told, and in which their codes are listed."""

    def __init__(self, layers: Iterable[AccessLayer]) -> None:
        self.layers = tuple(layers)
        codes = [code for layer in self.layers for code in layer.codes]
        self.failures = tuple(
            sorted((code for code in codes if code.value != "granted"), key=lambda code: code.asks)
        )
        """The codes of what can fail; what asks comes last, because a denial comes before it."""
        self.sources = tuple(code for code in codes if code.value == "granted")
        """The codes of what can allow."""
        self.codes = {code.name: code for code in (*self.failures, *self.sources)}
        self.layer_of = {
            code.name: code.told_in or layer.name for layer in self.layers for code in layer.codes
        }
        """Code to the layer that tells it."""
        self.besides = {code: say for layer in self.layers for code, say in layer.besides.items()}
        self.layer_of |= {code: layer.name for layer in self.layers for code in layer.besides}
        self.stopping = self.bits(
            code for code in self.failures if code.value == "stopped" and not (code.asks or code.unstated)
        )
        self.asking = self.bits(code for code in self.failures if code.asks)
        self.unstated = self.bits(code for code in self.failures if code.unstated)
        self.waivable = {code.waiver: code.bit for code in self.failures if code.waiver is not None}
        """What a grant can waive, with the bit it takes away."""
        self.depending = tuple(layer for layer in self.layers if layer.circumstances is not _need_no_words)
        """The layers about which something could be otherwise in other circumstances."""
        self.stating = tuple(layer for layer in self.layers if layer.unstated is not _find_nothing_unstated)
        """The layers that read circumstances the caller has to state."""
        self.changes = {kind: find for layer in self.layers for kind, find in layer.changes.items()}
        self._waivers: dict[int, tuple[Waiver | None, ...]] = {}
        self.names: dict[int, tuple[str, ...]] = {}
        """Sums of bits to the names of their codes, as far as they came up."""

    @staticmethod
    def bits(codes: Iterable[ReasonCode]) -> int:
        """The sum of the bits of codes."""
        return sum(code.bit for code in codes)

    def codes_in(self, bits: int) -> Iterator[ReasonCode]:
        """The codes of a sum of bits, in order."""
        return (code for code in self.codes.values() if bits & code.bit)

    def names_of(self, bits: int) -> tuple[str, ...]:
        """The names of a sum of bits, in order."""
        names = self.names.get(bits)
        if names is None:
            names = self.names[bits] = tuple(code.name for code in self.codes_in(bits))
        return names

    def find_waivers(self, bits: int) -> tuple[Waiver | None, ...]:
        """For each code of a sum of bits what a grant has to waive; None where its level is enough."""
        waivers = self._waivers.get(bits)
        if waivers is None:
            waivers = self._waivers[bits] = tuple(code.waiver for code in self.codes_in(bits))
        return waivers

    def compile_moves(self, resource: Resource, action: str, group: SubjectGroup) -> Moves:
        """What the layers do to the values for a target, compiled once for each."""
        moves: Moves | None = resource.moves[group].get(action)
        if moves is None:
            required = resource.required.get(action, FULL)
            moves = self._compile(Target(resource, action, required, group))
            if action in resource.required:  # whoever asks for made-up actions fills no memory
                resource.moves[group][action] = moves
        return moves

    def _compile(self, target: Target) -> Moves:
        every = tuple(
            (layer, layer.compile(target) if target.group != "undeclared" or layer.of_names else None)
            for layer in self.layers
        )
        saying = [(layer, move) for layer, move in every if move is not None]
        own = [(layer, move) for layer, move in saying if not layer.of_run]
        return Moves(
            target.required,
            tuple(move for layer, move in own if not layer.of_stored),
            tuple(move for layer, move in own),
            tuple(move for layer, move in saying if layer.of_run),
            tuple(
                move for layer, move in saying if layer.of_run and (target.hands_off or not layer.needs_run)
            ),
            every,
            frozenset(layer.name for layer, _ in saying),
        )
