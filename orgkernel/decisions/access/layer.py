"""Access layers, reason codes, and their order.

Layers take an `Evaluation`. Its module imports this one, so the type here is `Any`.
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
"""The three values of an evaluation: the level that was given, the highest level that is allowed, and whether a layer denies or
holds back the request whatever the levels are.
"""
Sentence = tuple[str, tuple[Why, ...]]
"""A text, and the lines that support it."""
NEUTRAL = "no effect on this request"
"""The trace text of a layer that has no declaration for the request."""
_BITS = count()


class ReasonCode(msgspec.Struct, frozen=True, eq=False):
    """A stable code for a result of a layer, with everything that depends on the code."""

    name: str
    say: Callable[[Any], Sentence]
    """Write the reason of this code for a decision."""
    value: Value | Literal[""] = "ceiling"
    """The value that the code changes. The source of an allowance is `granted`; a code for something missing changes none."""
    remedies: tuple[ChangeKind, ...] = ()
    """The kinds of changes that could remove it."""
    waiver: Waiver | None = None
    """The ceiling that a grant has to waive to remove it."""
    makes_ask: bool = False
    """Whether it makes the outcome `ask`, unless something denies."""
    makes_conditional: bool = False
    """Whether it makes the outcome `conditional`, unless something else fails."""
    is_static: bool = False
    """Whether its text depends only on documents, so it can be cached."""
    trace_layer: str = ""
    """The layer whose trace line reports it, if that is another layer."""
    bit: int = msgspec.field(default_factory=lambda: 1 << next(_BITS))
    """Its bit in sums of codes. Bits are in no particular order."""


LayerStep = Callable[[Any], None]
"""A function that applies a layer to an evaluation, specialized for a target."""


class Target(NamedTuple):
    """The kind of request that layers are compiled for."""

    resource: Resource
    action: str
    required: int
    """The level that the action requires; the full level for an action that the resource does not have."""
    group: SubjectGroup
    """The kind of subject."""

    @property
    def is_crew(self) -> bool:
        """Whether roles grant permissions to the subject."""
        return self.group in ("role", "agent")

    @property
    def hands_off(self) -> bool:
        """Whether the action hands work to others."""
        resource = self.resource
        return resource.delegating or (resource.kind == "role" and self.action == HANDOFF)


def _never_applies(target: Target) -> LayerStep | None:
    return None


def _explain_nothing(evaluation: Any) -> Sentence:
    return NEUTRAL, ()


def _list_no_circumstances(evaluation: Any, outcome: Outcome) -> Iterable[str]:
    return ()


class UnstatedCircumstances(NamedTuple):
    """Circumstances that the caller did not state, and the evaluation in which they are stated."""

    needed: Mapping[str, str]
    """The context fields, with the values that would change the outcome."""
    evaluation: Any


def _find_nothing_unstated(evaluation: Any) -> Iterable[UnstatedCircumstances]:
    return ()


def _suppose_nothing(evaluation: Any, is_favorable: bool) -> None:
    return


class AccessLayer(msgspec.Struct, frozen=True, eq=False):
    """One layer of the decision."""

    name: str
    codes: tuple[ReasonCode, ...] = ()
    """Its codes, in the order in which explanations list them."""
    compile: Callable[[Target], LayerStep | None] = _never_applies
    """Compile the layer for a target; None if it does not apply."""
    needs_stored_rows: bool = False
    """Whether it applies only if grants or restrictions are stored for the subject."""
    is_about_run: bool = False
    """Whether it is about the run of a request, not about the subject."""
    needs_run: bool = False
    """Whether it applies only to a request that is part of a run or hands work to others."""
    applies_to_undeclared: bool = False
    """Whether it also applies to a subject that no document declares."""
    unchanged: Callable[[Any], Sentence] = _explain_nothing
    """The trace text if the layer has no code to report."""
    explains: Mapping[Value, Callable[[Any], Sentence | None]] = msgspec.field(default_factory=dict)
    """Explain a change of a value that did not decide the outcome, by value."""
    circumstances: Callable[[Any, Outcome], Iterable[str]] = _list_no_circumstances
    """List the circumstances that could change the result, as `KEY:VALUE` words."""
    unstated: Callable[[Any], Iterable[UnstatedCircumstances]] = _find_nothing_unstated
    """Find unstated circumstances that this layer reads."""
    suppose: Callable[[Any, bool], None] = _suppose_nothing
    """Change an evaluation to the most favorable circumstances, or to the least favorable ones."""
    additional_reasons: Mapping[str, Callable[[Any], Sentence | None]] = msgspec.field(default_factory=dict)
    """Explain, by code, what is added to the reasons of a denial although it did not cause it, such as a grant that expired."""
    changes: Mapping[ChangeKind, Callable[[Any], Iterable[RemedyChange]]] = msgspec.field(
        default_factory=dict
    )
    """The remedies that it can propose, by kind. For a grant or another role, every layer is asked."""


class CompiledLayers(NamedTuple):
    """The compiled layers that apply to a target."""

    required: int
    plain: tuple[LayerStep, ...]
    """Steps of layers about the subject, if no rows are stored for it."""
    stored: tuple[LayerStep, ...]
    """Steps of layers about the subject, if rows are stored for it."""
    in_run: tuple[LayerStep, ...]
    """Steps of layers about the run, for a request in a run."""
    outside_run: tuple[LayerStep, ...]
    """Steps of layers about the run, for a request outside of a run."""
    all: tuple[tuple[AccessLayer, LayerStep | None], ...]
    """Every layer, with its step if it applies."""
    names: frozenset[str]
    """The names of the layers that apply."""


class LayerOrder:
    """The layers in their order of evaluation, which is also the order of explanations and codes."""

    def __init__(self, layers: Iterable[AccessLayer]) -> None:
        self.layers = tuple(layers)
        codes = [code for layer in self.layers for code in layer.codes]
        self.failures = tuple(
            sorted((code for code in codes if code.value != "granted"), key=lambda code: code.makes_ask)
        )
        """The codes that can fail. Codes that ask come last, because a denial takes precedence."""
        self.sources = tuple(code for code in codes if code.value == "granted")
        """The codes that can allow."""
        self.codes = {code.name: code for code in (*self.failures, *self.sources)}
        self.layer_of = {
            code.name: code.trace_layer or layer.name for layer in self.layers for code in layer.codes
        }
        """The layer that reports each code."""
        self.additional_reasons = {
            code: say for layer in self.layers for code, say in layer.additional_reasons.items()
        }
        self.layer_of |= {code: layer.name for layer in self.layers for code in layer.additional_reasons}
        self.stopping = self.sum_bits(
            code
            for code in self.failures
            if code.value == "stopped" and not (code.makes_ask or code.makes_conditional)
        )
        self.asking = self.sum_bits(code for code in self.failures if code.makes_ask)
        self.unstated = self.sum_bits(code for code in self.failures if code.makes_conditional)
        self.waivable = {code.waiver: code.bit for code in self.failures if code.waiver is not None}
        """What a grant can waive, with the bit that this removes."""
        self.depending = tuple(
            layer for layer in self.layers if layer.circumstances is not _list_no_circumstances
        )
        """The layers whose result can depend on circumstances."""
        self.stating = tuple(layer for layer in self.layers if layer.unstated is not _find_nothing_unstated)
        """The layers that read circumstances that the caller has to state."""
        self.changes = {kind: find for layer in self.layers for kind, find in layer.changes.items()}
        self._waivers: dict[int, tuple[Waiver | None, ...]] = {}
        self.names: dict[int, tuple[str, ...]] = {}
        """A cache of the code names for sums of bits."""

    @staticmethod
    def sum_bits(codes: Iterable[ReasonCode]) -> int:
        """The sum of the bits of some codes."""
        return sum(code.bit for code in codes)

    def list_codes(self, bits: int) -> Iterator[ReasonCode]:
        """The codes in a sum of bits, in order."""
        return (code for code in self.codes.values() if bits & code.bit)

    def get_code_names(self, bits: int) -> tuple[str, ...]:
        """The names of the codes in a sum of bits, in order."""
        names = self.names.get(bits)
        if names is None:
            names = self.names[bits] = tuple(code.name for code in self.list_codes(bits))
        return names

    def find_waivers(self, bits: int) -> tuple[Waiver | None, ...]:
        """The waiver that a grant needs for each code in a sum of bits; None if a higher level is enough."""
        waivers = self._waivers.get(bits)
        if waivers is None:
            waivers = self._waivers[bits] = tuple(code.waiver for code in self.list_codes(bits))
        return waivers

    def compile_steps(self, resource: Resource, action: str, group: SubjectGroup) -> CompiledLayers:
        """The steps of the layers for a target. They are compiled once for each target."""
        steps: CompiledLayers | None = resource.steps[group].get(action)
        if steps is None:
            required = resource.required.get(action, FULL)
            steps = self._compile(Target(resource, action, required, group))
            if action in resource.required:  # invented actions must not fill the memory
                resource.steps[group][action] = steps
        return steps

    def _compile(self, target: Target) -> CompiledLayers:
        every = tuple(
            (
                layer,
                layer.compile(target)
                if target.group != "undeclared" or layer.applies_to_undeclared
                else None,
            )
            for layer in self.layers
        )
        # Compiled once for each target. Layers that do not apply are dropped, so a decision runs only the remaining steps.
        applying = [(layer, step) for layer, step in every if step is not None]
        own = [(layer, step) for layer, step in applying if not layer.is_about_run]
        return CompiledLayers(
            target.required,
            tuple(step for layer, step in own if not layer.needs_stored_rows),
            tuple(step for layer, step in own),
            tuple(step for layer, step in applying if layer.is_about_run),
            tuple(
                step
                for layer, step in applying
                if layer.is_about_run and (target.hands_off or not layer.needs_run)
            ),
            every,
            frozenset(layer.name for layer, _ in applying),
        )
