"""How an access decision is made: one value carries the question through the layers.

Three values accumulate for a resource. What is *granted* only grows: role bindings and stored grants give to roles and
agents, allow policies and stored grants to people, system origins and webhooks. The *ceiling* only falls: visibility,
rank, qualification, `ceiling` policies, restrictions, position, delegation, PACE and the lock. What is *stopped* stays
so: a deny or ask policy, and unknown names. Since joins and meets can be taken in any order, the layers are only the
order in which an explanation tells them. A layer nothing is declared for leaves all three as they are.

Error policy: fails closed. A name that is given and that nothing declares denies, and so does any error on the way,
with `EVALUATION_ERROR`.
"""

from __future__ import annotations

from typing import NamedTuple

from msgspec import Struct

from orgkernel.decisions.access.compiled import AccessTables
from orgkernel.decisions.access.decision import Outcome
from orgkernel.decisions.access.layer import AccessLayer, Moves, Unstated
from orgkernel.decisions.access.policies import PolicySet
from orgkernel.decisions.access.request import AccessRequest
from orgkernel.decisions.access.resource import (
    FULL,
    Resource,
)
from orgkernel.decisions.access.stated import (
    ELSEWHERE,
    NOTHING_RUN,
    StatedParts,
    StatedPaths,
    read_stated_commands,
)
from orgkernel.decisions.access.stored import NOTHING_GRANTED, GrantedLevel, find_given, is_stored_for
from orgkernel.decisions.access.subject import Subject
from orgkernel.decisions.evidence.state_view import Grant, StateView
from orgkernel.decisions.reasons import Reason
from orgkernel.diagnostics.wording import quote
from orgkernel.graph.questions import OrgView

# -- the question ------------------------------------------------------------------------------------------------------


class Assumed(NamedTuple):
    """What is assumed about a subject while something is tried."""

    rank: int | None = None
    qualifications: frozenset[str] = frozenset()
    grants: tuple[Grant, ...] = ()
    policies: PolicySet | None = None
    """What policies say, whatever the circumstances."""
    in_file_scope: bool = False
    """Whether the request states paths in every scope."""
    off_paths: bool = False
    """Whether it states paths outside of every part that a policy is about."""
    off_commands: bool = False
    """Whether it states commands outside of every such part."""
    no_commands: bool = False
    """Whether it states no commands."""


_NOTHING_ASSUMED = Assumed()


class TraceNote(NamedTuple):
    """The values after a layer."""

    layer: AccessLayer
    granted: int
    ceiling: int
    failing: int


class Evaluation(Struct, eq=False):
    """One question with everything it is decided from, and the three values as the layers move them."""

    tables: AccessTables
    state: StateView
    request: AccessRequest
    action: str
    subject: Subject
    resource: Resource
    path: StatedPaths | None = None
    """The paths that the request states."""
    assumed: Assumed | None = None
    required: int = 0
    """The level the action requires; full for an action the resource does not have."""
    essential: bool = False
    """Whether the resource is never refused to the subject."""
    has_stored: bool = False
    """Whether grants or restrictions are stored or assumed for the subject."""
    given: GrantedLevel = NOTHING_GRANTED
    """What stored grants add."""
    granted: int = 0
    ceiling: int = FULL
    failing: int = 0
    """The bits of everything that keeps the subject from the level required."""
    sources: int = 0
    """The bits of what grants the level required."""
    missing: int = 0
    """The bits of what is missing where nothing grants enough."""
    spared: int = 0
    """The bits of what would fail without stored grants; that of `GRANTED` where only they give enough."""
    parents: tuple[Evaluation, ...] = ()
    """What those may do whom the subject acts for, as far as it bounds the subject."""
    trace: list[TraceNote] | None = None
    """What each layer left, where somebody wants to know."""
    is_complete: bool = False
    """Whether a circumstance that is not stated counts as one that does not hold."""
    unstated: tuple[Unstated, ...] = ()
    """What was not stated and would lead to another outcome, where the outcome is `conditional`."""
    supposed: tuple[Evaluation, ...] = ()
    """The question in circumstances that were not stated and that change nothing, thanks to stored grants."""

    @property
    def left(self) -> int:
        """The level that is left: nothing where it is stopped, the lower of granted and ceiling otherwise."""
        return 0 if self.failing & self.tables.order.stopping else min(self.granted, self.ceiling)

    @property
    def outcome(self) -> Outcome:
        """Deny before ask before conditional before allow."""
        if not self.failing:
            return "allow"
        order = self.tables.order
        if self.failing == order.unstated:
            return "conditional"
        return "deny" if self.failing & ~order.asking else "ask"

    @property
    def who(self) -> str:
        """The subject, in words."""
        kind, _, name = self.request.subject.partition(":")
        return f"{kind} {quote(name)}"

    @property
    def what(self) -> str:
        """The resource, in words."""
        return f"{self.resource.kind} {quote(self.resource.id)}"

    @property
    def view(self) -> OrgView:
        """The organization."""
        return self.tables.view

    @property
    def roles(self) -> tuple[str, ...]:
        """The roles of the subject."""
        return self.subject.identity.roles

    @property
    def is_declared(self) -> bool:
        """Whether the subject is declared."""
        return self.subject is not self.tables.undeclared

    @property
    def has_open_path(self) -> bool:
        """Whether a tool is asked for as a whole, so that other circumstances could state another path."""
        return self.resource.kind == "tool" and (self.path is None or not self.path.is_named)

    @property
    def stated(self) -> StatedParts:
        """The paths and the commands that the request states, or is assumed to state."""
        assumed = self.assumed or _NOTHING_ASSUMED
        paths = ELSEWHERE if assumed.off_paths else self.path
        if assumed.off_commands:
            return StatedParts(paths, NOTHING_RUN)
        given = None if assumed.no_commands else self.request.context.input
        return StatedParts(paths, read_stated_commands(self.resource.command_arguments, given))

    @property
    def rests_on_grants(self) -> bool:
        """Whether something would fail without stored grants."""
        if self.spared or self.supposed:
            return True
        return any(each.spared for each in self.parents) if self.parents else False

    def list_principals(self) -> tuple[str, ...]:
        """Whom the subject acts for: who triggered the run, and who handed work to whom."""
        request = self.request
        return request.via if request.on_behalf_of is None else (request.on_behalf_of, *request.via)

    def lower(self, waiver: str, bit: int) -> None:
        """Leave no more than what grants lift with a waiver; `bit` fails where that is less than required."""
        lifted = self.given.waives.get(waiver, 0)
        self.ceiling = min(self.ceiling, lifted)
        if lifted < self.required:
            self.failing |= bit
        else:
            self.spared |= bit

    def again(
        self,
        *,
        action: str | None = None,
        state: StateView | None = None,
        tables: AccessTables | None = None,
        subject: Subject | None = None,
        assumed: Assumed | None = None,
        request: AccessRequest | None = None,
        is_complete: bool = False,
    ) -> Evaluation:
        """The same question, not yet evaluated, with something changed."""
        again = Evaluation(
            tables or self.tables, self.state if state is None else state, request or self.request,
            self.action if action is None else action, subject or self.subject, self.resource, self.path, assumed or self.assumed,
        )  # fmt: skip
        again.is_complete = is_complete
        return again


def evaluate(evaluation: Evaluation) -> Evaluation:
    """Let every layer move the values: those of what the subject brings along, and those of the run."""
    moves = evaluate_subject(evaluation)
    if evaluation.trace is not None:
        _note(evaluation, moves, of_run=True)
        return evaluation
    for move in moves.of_run if is_of_run(evaluation.request, evaluation.state) else moves.of_no_run:
        move(evaluation)
    return evaluation


def is_of_run(request: AccessRequest, state: StateView) -> bool:
    """Whether a request is part of a run, or may be: by whom it acts for, its depth, its input, or a PACE tier."""
    context = request.context
    return not (
        request.on_behalf_of is None
        and not request.via
        and request.envelope is None
        and not context.depth
        and context.pace is None
        and context.input is None
        and not state.raised
    )


def evaluate_subject(evaluation: Evaluation) -> Moves:
    """What a subject brings along, without the run it is part of: also what it can pass on."""
    subject, resource, state = evaluation.subject, evaluation.resource, evaluation.state
    moves: Moves = resource.moves[subject.group].get(
        evaluation.action
    ) or evaluation.tables.order.compile_moves(resource, evaluation.action, subject.group)
    evaluation.required = moves.required
    if resource.is_essential:
        evaluation.essential = resource.resource in subject.essential
    assumed, steps = evaluation.assumed, moves.plain
    if assumed is not None or ((state.grants or state.restrictions) and is_stored_for(state, subject.keys)):
        # Grants are looked up first, because of what they waive, and told last.
        steps = moves.stored
        evaluation.has_stored = True
        evaluation.given = find_given(
            state.grants, subject.keys, resource, evaluation.path, evaluation.action, evaluation.tables.org_id,
            evaluation.tables.snapshot, evaluation.request.context, () if assumed is None else assumed.grants,
        )  # fmt: skip
    if evaluation.trace is None:
        for move in steps:
            move(evaluation)
    else:
        _note(evaluation, moves, of_run=False)
    if evaluation.granted < moves.required:
        evaluation.failing |= evaluation.missing
    return moves


def _note(evaluation: Evaluation, moves: Moves, *, of_run: bool) -> None:
    assert evaluation.trace is not None
    for layer, move in moves.all:
        if layer.of_run is of_run:
            if move is not None and (evaluation.has_stored or not layer.of_stored):
                move(evaluation)
            note = TraceNote(layer, evaluation.granted, evaluation.ceiling, evaluation.failing)
            evaluation.trace.append(note)


def give_reason(evaluation: Evaluation, name: str) -> Reason:
    """The reason behind a code, from the evaluation that came to it."""
    text, why = evaluation.tables.order.codes[name].say(evaluation)
    return Reason(name, text, why)
