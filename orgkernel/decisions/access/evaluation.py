"""The evaluation of one request: the value that carries it through the layers.

Three values accumulate for a resource. *Granted* only grows: role bindings and stored grants raise it for roles and
agents; allow policies and stored grants raise it for people, system origins and webhooks. The *ceiling* only falls:
visibility, rank, qualification, `ceiling` policies, restrictions, position, delegation, PACE and the lock lower it.
*Stopped* is final: a deny or ask policy and unknown names set it. Maximum and minimum do not depend on the order, so
the order of the layers matters only for explanations. A layer that has no declaration for the request changes nothing.

Error policy: fails closed. An undeclared name denies, and so does any internal error, with
`EVALUATION_ERROR`.
"""

from __future__ import annotations

from typing import NamedTuple

from msgspec import Struct

from orgkernel.decisions.access.arguments import OUTSIDE, StatedInput
from orgkernel.decisions.access.compiled import AccessTables
from orgkernel.decisions.access.decision import Outcome
from orgkernel.decisions.access.layer import AccessLayer, CompiledLayers, UnstatedCircumstances
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

# -- the evaluation ----------------------------------------------------------------------------------------------------


class Assumptions(NamedTuple):
    """Assumptions about a subject while a remedy or a condition is tried."""

    rank: int | None = None
    qualifications: frozenset[str] = frozenset()
    grants: tuple[Grant, ...] = ()
    policies: PolicySet | None = None
    """The policies that are assumed to match, whatever the circumstances."""
    in_file_scope: bool = False
    """Whether the request is assumed to state only paths inside every file scope."""
    off_paths: bool = False
    """Whether the request is assumed to state only paths that no policy covers."""
    off_input: bool = False
    """Whether the request is assumed to state only arguments that no policy is about."""
    off_commands: bool = False
    """Whether the request is assumed to state only commands that no policy covers."""
    no_input: bool = False
    """Whether the request is assumed to state no arguments, and so no commands."""
    is_enabled: bool = False
    """Whether the tool is assumed to be enabled."""
    fits_schema: bool | None = None
    """Whether an input that the request does not state is assumed to match the schema of the tool."""


_NOTHING_ASSUMED = Assumptions()


class TraceNote(NamedTuple):
    """The values after a layer."""

    layer: AccessLayer
    granted: int
    ceiling: int
    failing: int


class Evaluation(Struct, eq=False):
    """One request, the tables and state that decide it, and the three values that the layers change."""

    tables: AccessTables
    state: StateView
    request: AccessRequest
    action: str
    subject: Subject
    resource: Resource
    path: StatedPaths | None = None
    """The paths that the request states."""
    assumed: Assumptions | None = None
    required: int = 0
    """The level that the action requires; the full level for an action that the resource does not have."""
    essential: bool = False
    """Whether the resource is essential for the subject, so it is never denied."""
    has_stored: bool = False
    """Whether grants or restrictions are stored or assumed for the subject."""
    given: GrantedLevel = NOTHING_GRANTED
    """The levels and waivers of the stored grants."""
    granted: int = 0
    ceiling: int = FULL
    failing: int = 0
    """Bits of the codes that keep the subject from the required level."""
    sources: int = 0
    """Bits of the codes that grant the required level."""
    missing: int = 0
    """Bits of the codes that are missing if nothing grants enough."""
    spared: int = 0
    """Bits of the codes that would fail without stored grants, including `GRANTED` if only grants give the required level."""
    parents: tuple[Evaluation, ...] = ()
    """The evaluations of the principals that the subject acts for, if they limit the subject."""
    trace: list[TraceNote] | None = None
    """The values after each layer, if a trace was requested."""
    treats_unstated_as_unmet: bool = False
    """Whether an unstated circumstance is treated as not satisfied."""
    unstated: tuple[UnstatedCircumstances, ...] = ()
    """Unstated circumstances that would change the outcome, if the outcome is `conditional`."""
    is_unread: bool = False
    """Whether a person is asked about a part that cannot be read, which policies deny."""
    has_unknown_target: bool = False
    """Whether a person is asked where the paths lead, because a file scope limits the write and links are unresolved."""
    supposed: tuple[Evaluation, ...] = ()
    """Evaluations with other circumstances in which stored grants keep the outcome the same."""

    @property
    def left(self) -> int:
        """The effective level: zero if stopped, else the lower of granted and ceiling."""
        # A denial leaves the other two values as they are, so an explanation can still show what the subject would
        # have.
        return 0 if self.failing & self.tables.order.stopping else min(self.granted, self.ceiling)

    @property
    def outcome(self) -> Outcome:
        """The outcome. Deny takes precedence over ask, ask over conditional, conditional over allow."""
        if not self.failing:
            return "allow"
        order = self.tables.order
        # Conditional only if nothing else fails: stating the circumstance would not help a request that is denied
        # anyway.
        if self.failing == order.unstated:
            return "conditional"
        return "deny" if self.failing & ~order.asking else "ask"

    @property
    def who(self) -> str:
        """The subject, for messages."""
        kind, _, name = self.request.subject.partition(":")
        return f"{kind} {quote(name)}"

    @property
    def what(self) -> str:
        """The resource, for messages."""
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
        """Whether a document declares the subject."""
        return self.subject is not self.tables.undeclared

    @property
    def has_open_path(self) -> bool:
        """Whether a tool is requested as a whole, so another request could state another path."""
        return self.resource.kind == "tool" and (self.path is None or not self.path.is_named)

    @property
    def can_state_path(self) -> bool:
        """Whether a call could state a path: in an argument, or in the name of the resource, which no MCP host uses."""
        tool = self.resource.tool
        if self.resource.path_arguments or tool is None:
            return True
        return self.request.context.input is None and tool.type != "mcp_server"

    @property
    def stated(self) -> StatedParts:
        """The paths, commands and arguments that the request states or is assumed to state."""
        assumed, resource = self.assumed or _NOTHING_ASSUMED, self.resource
        paths = ELSEWHERE if assumed.off_paths else self.path
        given = None if assumed.no_input else self.request.context.input
        stated_input = OUTSIDE if assumed.off_input else None
        if given is not None and not assumed.off_input:
            stated_input = StatedInput(given, resource.optional_arguments, self.tables.root)
        if assumed.off_commands:
            return StatedParts(paths, NOTHING_RUN, stated_input)
        if given is None or not resource.command_arguments:
            return StatedParts(paths, None, stated_input)
        programs = self.tables.command_programs
        commands = read_stated_commands(resource.command_arguments, given, resource.command_lists, programs)
        return StatedParts(paths, commands, stated_input)

    @property
    def is_for_person(self) -> bool:
        """Whether a person is there who can be asked: the subject, or the one that triggered its run."""
        first = self.request.on_behalf_of
        subject = self.subject if first is None else self.tables.find_subject(first)
        return subject is not None and subject.identity.kind == "person"

    @property
    def rests_on_grants(self) -> bool:
        """Whether something would fail without stored grants."""
        # A grant is spent only by a decision that depends on it, so what would be allowed without it must not count as
        # a use.
        if self.spared or self.supposed:
            return True
        return any(each.spared for each in self.parents) if self.parents else False

    def list_principals(self) -> tuple[str, ...]:
        """The principals that the subject acts for: the one that triggered the run, and each sender that handed work down."""
        request = self.request
        return request.via if request.on_behalf_of is None else (request.on_behalf_of, *request.via)

    def lower(self, waiver: str, bit: int) -> None:
        """Lower the ceiling to the level up to which grants waive it.

        `bit` fails if that is below the required level; otherwise it is recorded as spared by grants.
        """
        lifted = self.given.waives.get(waiver, 0)
        self.ceiling = min(self.ceiling, lifted)
        if lifted < self.required:
            self.failing |= bit
        else:
            self.spared |= bit

    def copy_with(
        self,
        *,
        action: str | None = None,
        state: StateView | None = None,
        tables: AccessTables | None = None,
        subject: Subject | None = None,
        assumed: Assumptions | None = None,
        request: AccessRequest | None = None,
        treats_unstated_as_unmet: bool = False,
    ) -> Evaluation:
        """A new, unevaluated copy with some values replaced."""
        # Everything that layers write starts afresh. Copying it would let the outcome of one trial leak into the next.
        again = Evaluation(
            tables or self.tables, self.state if state is None else state, request or self.request,
            self.action if action is None else action, subject or self.subject, self.resource, self.path, assumed or self.assumed,
        )  # fmt: skip
        again.treats_unstated_as_unmet = treats_unstated_as_unmet
        return again


def evaluate(evaluation: Evaluation) -> Evaluation:
    """Let every layer change the values: first the layers about the subject, then those about the run."""
    compiled = evaluate_subject(evaluation)
    if evaluation.trace is not None:
        _note(evaluation, compiled, about_run=True)
        return evaluation
    # Most requests state no run, and then most of these layers could change nothing.
    for step in compiled.in_run if is_of_run(evaluation.request, evaluation.state) else compiled.outside_run:
        step(evaluation)
    return evaluation


def is_of_run(request: AccessRequest, state: StateView) -> bool:
    """Whether a request is or could be part of a run, judged by its principals, depth, input and PACE tier."""
    context = request.context
    return not (
        request.on_behalf_of is None
        and not request.via
        and request.envelope is None
        and not context.depth
        and context.pace is None
        # The layers that read the input of a call are among those about the run.
        and context.input is None
        and not state.raised
    )


def evaluate_subject(evaluation: Evaluation) -> CompiledLayers:
    """Evaluate a subject without the run it is part of. The result also limits what it can pass on."""
    subject, resource, state = evaluation.subject, evaluation.resource, evaluation.state
    compiled: CompiledLayers = resource.steps[subject.group].get(
        evaluation.action
    ) or evaluation.tables.order.compile_steps(resource, evaluation.action, subject.group)
    evaluation.required = compiled.required
    # A lookup for every request would cost time, and few tools are essential for anyone.
    if resource.is_essential:
        evaluation.essential = resource.resource in subject.essential
    assumed, steps = evaluation.assumed, compiled.plain
    if assumed is not None or ((state.grants or state.restrictions) and is_stored_for(state, subject.keys)):
        # Grants are looked up first, because other layers apply their waivers. Explanations list them last.
        steps = compiled.stored
        evaluation.has_stored = True
        evaluation.given = find_given(
            state.grants, subject.keys, resource, evaluation.path, evaluation.action, evaluation.tables.org_id,
            evaluation.tables.snapshot, evaluation.request.context, () if assumed is None else assumed.grants,
        )  # fmt: skip
    if evaluation.trace is None:
        for step in steps:
            step(evaluation)
    else:
        _note(evaluation, compiled, about_run=False)
    # Only after all layers is it known that nothing grants enough: which grant comes first must not matter.
    if evaluation.granted < compiled.required:
        evaluation.failing |= evaluation.missing
    return compiled


def _note(evaluation: Evaluation, compiled: CompiledLayers, *, about_run: bool) -> None:
    assert evaluation.trace is not None
    for layer, step in compiled.all:
        if layer.is_about_run is about_run:
            if step is not None and (evaluation.has_stored or not layer.needs_stored_rows):
                step(evaluation)
            # A layer without a step gets a note too: a trace lists every layer, so a reader sees which ones had no
            # effect.
            note = TraceNote(layer, evaluation.granted, evaluation.ceiling, evaluation.failing)
            evaluation.trace.append(note)


def give_reason(evaluation: Evaluation, name: str) -> Reason:
    """The reason of a code, taken from the evaluation in which it failed."""
    text, why = evaluation.tables.order.codes[name].say(evaluation)
    return Reason(name, text, why)
