"""Decide which steps of a bill may start now, with their obligations, and why the others may not.

Error policy: fails closed. A report that contradicts the bill is ignored and becomes a finding, and an unknown condition never
opens a branch. Nothing is executed or stored.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from orgkernel.decisions.access.request import AccessContext
from orgkernel.decisions.evidence.state_view import StateView
from orgkernel.decisions.members.tool_use import ToolUsability
from orgkernel.decisions.reasons import Reason, Why, cite_place
from orgkernel.decisions.work.bills.conditions import Value, is_true, select_known_outputs
from orgkernel.decisions.work.bills.fitness import (
    find_bill_authorities,
    find_helper,
    find_misfits,
    is_away,
    is_owner,
    judge_step,
    may_activate,
    read_bill,
)
from orgkernel.decisions.work.bills.flow import (
    ACTIVATION,
    APPROVAL,
    Flow,
    StepLink,
    get_bill_roles,
    read_count,
)
from orgkernel.decisions.work.bills.instance import (
    BillInstance,
    BlockedStep,
    InstanceState,
    NextSteps,
    RunningStep,
    StepBillRole,
    StepObligation,
    StepReport,
    StepToStart,
    UnfitAgent,
)
from orgkernel.diagnostics.wording import listing, quote
from orgkernel.documents.records import Bill, BillStep
from orgkernel.graph.questions import OrgView
from orgkernel.loading.sources import SourceDocument


def digest_bill(bill: Bill) -> str:
    """The digest of a bill's content, wherever it is written."""
    return "sha256:" + hashlib.sha256(msgspec.json.encode(bill, order="deterministic")).hexdigest()


def decide_next_steps(
    view: OrgView, state: StateView, document: SourceDocument, instance: BillInstance, context: AccessContext
) -> NextSteps:
    """The next steps of an instance. `context` states the time and other circumstances."""
    return _Situation(view, state, document, instance, context).decide()


class _Situation:
    """An instance and its bill, with the intermediate results of one answer."""

    def __init__(
        self,
        view: OrgView,
        state: StateView,
        document: SourceDocument,
        instance: BillInstance,
        context: AccessContext,
    ) -> None:
        self.view, self.state, self.document, self.instance = view, state, document, instance
        self.bill = read_bill(document)
        self.context = context
        self.flow = Flow(self.bill)
        self.outputs: dict[tuple[str, str], Value] = {}
        self.findings: list[Reason] = []
        self.to_start: list[StepToStart] = []
        self.running: list[RunningStep] = []
        self.blocked: list[BlockedStep] = []
        self.completed: list[str] = []
        self.skipped: list[str] = []
        self.failed: list[str] = []
        self.taken: dict[tuple[str, int | None], bool | None] = {}
        """Whether each way is taken; None while it is open."""
        self.misfits: dict[tuple[str, str], tuple[Reason, ...]] = {}
        self.uses: dict[tuple[str, str], ToolUsability] = {}
        """How an agent uses the tool of a step."""
        self.doubled = self._find_doubled_agents()
        self.stopped: list[Reason] = []
        """Reasons why no step may start."""

    # -- the whole instance -------------------------------------------------------------------------------------------

    def decide(self) -> NextSteps:
        digest = digest_bill(self.bill)
        order = self.flow.sort_steps()
        refused = list(self._find_refusals(digest, order))
        waiting = [] if refused else list(self._find_missing_before_start())
        if order is not None and not refused:
            self._check_assignments()
            self._check_names()
            self.stopped = list(waiting)
            if self.instance.cancelled:
                self.stopped.append(Reason("INSTANCE_CANCELLED", "the instance is cancelled"))
            for step_id in order:
                self._settle(step_id)
            self._stop_after_failures()
        number = self.flow.numbers.__getitem__
        state = self._state(refused, waiting)
        over = state in ("completed", "failed", "cancelled")
        reasons = (*refused, *waiting, *self._list_reasons(state))
        return NextSteps(
            outcome="refused" if refused else "over" if over else "start" if self.to_start else "wait",
            bill=self.bill.slug,
            version=self.bill.edition,
            digest=digest,
            state=state,
            reasons=reasons,
            may_start=tuple(sorted(self.to_start, key=lambda each: number(each.step))),
            running=tuple(sorted(self.running, key=lambda each: number(each.step))),
            blocked=tuple(sorted(self.blocked, key=lambda each: number(each.step))),
            completed=tuple(sorted(self.completed, key=number)),
            skipped=tuple(sorted(self.skipped, key=number)),
            findings=tuple(dict.fromkeys(self.findings)),
            snapshot=self.view.digest,
            state_version=self.state.version,
        )

    def _find_refusals(self, digest: str, order: tuple[str, ...] | None) -> Iterator[Reason]:
        """Reasons why nothing can be decided about the instance."""
        bill, by = self.bill, self.instance.activated_by
        if self.instance.digest is not None and self.instance.digest != digest:
            text = f"bill {quote(bill.slug)} has changed since it was started"
            yield Reason("BILL_CHANGED", text, self._cite_bill("slug"))
        if order is None or self.flow.unknown or not bill.steps or len(bill.steps) != len(self.flow.steps):
            text = (
                f"the steps of bill {quote(bill.slug)} form a cycle, lead to an unknown step, or share an id"
            )
            yield Reason("BILL_INVALID", text, self._cite_bill("steps"))
        if by is not None and not may_activate(self.view, self.state, bill, by):
            roles = find_bill_authorities(self.view, bill)
            who = f"; {listing(roles)} may" if roles else ""
            text = f"{quote(by)} may not start bill {quote(bill.slug)}{who}"
            yield Reason("NO_AUTHORITY_TO_START", text, self._cite_bill("activation"))

    def _find_missing_before_start(self) -> Iterator[Reason]:
        """Reasons why the first step may not start yet."""
        bill, instance = self.bill, self.instance
        if instance.activated_by is None:
            roles = find_bill_authorities(self.view, bill)
            trigger = (
                "" if bill.activation.trigger == "manual" else f" {quote(bill.activation.trigger)} or by"
            )
            who = listing(roles) if roles else "the owner"
            yield Reason(
                "NOT_STARTED",
                f"it has not been started; it is started by{trigger} {who}",
                self._cite_bill("activation"),
            )
        for bill_role, wanted in bill.roles.items():
            counts = read_count(wanted.count)
            assigned = tuple(dict.fromkeys(instance.assignments.get(bill_role, ())))
            why = self._cite_bill("roles", bill_role)
            if counts is None:
                yield Reason(
                    "BILL_ROLE_UNCOUNTABLE",
                    f"bill role {quote(bill_role)} has no valid number of agents",
                    why,
                )
            elif len(assigned) < counts[0]:
                text = f"bill role {quote(bill_role)} takes at least {counts[0]} and has {len(assigned)}"
                yield Reason("BILL_ROLE_VACANT", text, why)
            elif len(assigned) > counts[1]:
                text = f"bill role {quote(bill_role)} takes at most {counts[1]} and has {len(assigned)}"
                yield Reason("BILL_ROLE_OVERFILLED", text, why)

    def _find_doubled_agents(self) -> frozenset[str]:
        """Agents that have several bill roles. They are ignored in all of them."""
        bill_roles: dict[str, int] = {}
        for bill_role in self.bill.roles:
            for agent in set(self.instance.assignments.get(bill_role, ())):
                bill_roles[agent] = bill_roles.get(agent, 0) + 1
        return frozenset(agent for agent, count in bill_roles.items() if count > 1)

    def _check_assignments(self) -> None:
        for bill_role, agents in self.instance.assignments.items():
            if bill_role not in self.bill.roles:
                text = f"bill {quote(self.bill.slug)} has no bill role {quote(bill_role)}"
                self.findings.append(Reason("UNKNOWN_BILL_ROLE", text, self._cite_bill("roles")))
                continue
            for agent in dict.fromkeys(agents):
                self.findings += self._find_misfits_of(bill_role, agent)

    def _find_misfits_of(self, bill_role: str, agent: str) -> tuple[Reason, ...]:
        key = (bill_role, agent)
        if key not in self.misfits:
            misfits = find_misfits(self.view, self.state, self.document, bill_role, agent, self.context.now)
            if agent in self.doubled:
                text = f"agent {quote(agent)} has several bill roles, so it is ignored in all of them"
                misfits = (*misfits, Reason("AGENT_IN_SEVERAL_BILL_ROLES", text))
            self.misfits[key] = misfits
        return self.misfits[key]

    def _check_names(self) -> None:
        for step_id in dict.fromkeys((*self.instance.steps, *self.instance.approvals)):
            if step_id not in self.flow.steps:
                text = f"bill {quote(self.bill.slug)} has no step {quote(step_id)}"
                self.findings.append(Reason("UNKNOWN_STEP", text, self._cite_bill("steps")))

    def _stop_after_failures(self) -> None:
        """Block all steps once one has failed."""
        if not self.failed:
            return
        # A failed step stops the whole bill: what comes next could rest on it, and only people can tell.
        self.stopped += [
            Reason("STEP_FAILED", f"step {quote(step_id)} has failed", self._locate_step(step_id))
            for step_id in self.failed
        ]
        for each in self.to_start:
            self.blocked.append(
                BlockedStep(step=each.step, reasons=tuple(self.stopped), bill_roles=each.bill_roles)
            )
        self.to_start = []

    def _state(self, refused: list[Reason], waiting: list[Reason]) -> InstanceState:
        if self.instance.cancelled:
            return "cancelled"
        if refused or self.instance.activated_by is None or (waiting and not self.instance.steps):
            return "pending"
        if self.failed:
            return "failed"
        open_steps = self.to_start or self.running or self.blocked
        return "active" if open_steps else "completed"

    def _list_reasons(self, state: InstanceState) -> Iterator[Reason]:
        if state == "cancelled":
            yield Reason("INSTANCE_CANCELLED", "the instance is cancelled")
        elif state == "failed":
            yield from self.stopped
        elif state == "completed":
            yield Reason("ALL_STEPS_SETTLED", "every step is completed or skipped")
        elif self.to_start:
            yield Reason(
                "STEPS_READY", f"what comes before {listing(each.step for each in self.to_start)} is done"
            )

        elif state == "active":
            waiting = [*(each.step for each in self.running), *(each.step for each in self.blocked)]
            verb = "are" if waiting[1:] else "is"
            yield Reason("NOTHING_TO_START", f"nothing may start while {listing(waiting)} {verb} open")

    # -- one step -----------------------------------------------------------------------------------------------------

    def _settle(self, step_id: str) -> None:
        """Determine the state of a step and the ways that are taken from it. All earlier steps are determined already."""
        step, report = self.flow.steps[step_id], self.instance.steps.get(step_id)
        into = [self.taken[way.source, way.branch] for way in self.flow.into[step_id]]
        if step_id == self.flow.start and not into:
            reached: bool | None = True
        else:
            # While a way that leads here is undecided, the step waits, even if another way is taken: both could join
            # here.
            reached = None if None in into else True in into
        # A report of a step that could not have started is ignored, but reported: it is a mistake or an attempt to skip a
        # gate.
        is_reported = report is not None and report.status in ("active", "completed", "failed")
        if reached is not True:
            if is_reported:
                came = (
                    "is not reached" if reached is False else "was reported before the steps that lead to it"
                )
                code = "STEP_NOT_REACHED" if reached is False else "STEP_OUT_OF_ORDER"
                self._find(code, f"step {quote(step_id)} {came}, so its report is ignored", step_id)
            # The ways from it are as undecided, or as surely not taken, as the step itself.
            self._leave(step_id, reached)
            if reached is False:
                self.skipped.append(step_id)
            else:
                self._wait_for(step_id)
            return
        wanted = is_true(step.condition, self.outputs)
        if wanted is not True:
            if is_reported:
                verdict = "false" if wanted is False else "not known to be true"
                text = f"the condition of step {quote(step_id)} is {verdict}, so its report is ignored"
                self._find("STEP_WITHOUT_CONDITION", text, step_id)
            if wanted is False:
                self.skipped.append(step_id)
                self._follow_ways(step_id)
            else:
                text = f"it is not yet known whether {quote(str(step.condition))} is true"
                self._block(
                    step_id, Reason("CONDITION_UNKNOWN", text, self._locate_step(step_id, "condition"))
                )
            return
        if report is None or report.status in ("pending", "blocked"):
            self._consider(step_id)
        # Only the bill decides what is skipped. A runtime must not skip a step whose condition is true.
        elif report.status == "skipped":
            text = f"step {quote(step_id)} is reached and its condition is true, so it cannot be skipped"
            self._find("SKIPPED_WITHOUT_CAUSE", text, step_id)
            self._consider(step_id)
        else:
            self._count(step_id, report)

    def _leave(self, step_id: str, taken: bool | None) -> None:
        """Set the state of all ways from a step."""
        for way in self.flow.ways[step_id]:
            self.taken[way.source, way.branch] = taken

    def _block(self, step_id: str, *reasons: Reason, bill_roles: tuple[StepBillRole, ...] = ()) -> None:
        self.blocked.append(
            BlockedStep(step=step_id, reasons=(*self.stopped, *reasons), bill_roles=bill_roles)
        )
        self._leave(step_id, None)

    def _wait_for(self, step_id: str) -> None:
        sources = [
            way.source for way in self.flow.into[step_id] if self.taken[way.source, way.branch] is None
        ]
        text = f"step {quote(step_id)} waits for {listing(dict.fromkeys(sources))}"
        self._block(step_id, Reason("WAITS_FOR_STEP", text, self._locate_step(step_id)))

    def _count(self, step_id: str, report: StepReport) -> None:
        """Apply the report of a step that could start."""
        step = self.flow.steps[step_id]
        if not self._may_have_done(step, report.by):
            text = f"{quote(report.by)} has no bill role in step {quote(step_id)}, so its report is ignored"
            self._find("DONE_BY_ANOTHER", text, step_id)
            self._consider(step_id)
            return
        approved = self._find_missing_approval(step)
        if approved is not None:
            text = f"step {quote(step_id)} was started without its approval, so its report is ignored"
            self._find("STARTED_UNAPPROVED", text, step_id)
            self._block(step_id, approved)
            return
        if report.status == "failed":
            self.failed.append(step_id)
            self._leave(step_id, None)
            return
        if report.status == "active":
            due = None if report.started_at is None else report.started_at + step.timeout
            overdue = due is not None and self.context.now > due
            if overdue:
                text = f"step {quote(step_id)} has taken longer than {step.timeout:g} seconds"
                self._find("STEP_OVERDUE", text, step_id, "timeout")
            self.running.append(RunningStep(step=step_id, by=report.by, due_at=due, overdue=overdue))
            self._leave(step_id, None)
            return
        self._read_outputs(step, report.outputs)
        self.completed.append(step_id)
        self._follow_ways(step_id)

    def _may_have_done(self, step: BillStep, by: str) -> bool:
        bill_roles = get_bill_roles(step)
        # An approval without a bill role belongs to the owner alone, so no agent can grant it.
        if not bill_roles and step.action == APPROVAL:
            return is_owner(self.view, by)
        kind, _, agent = by.partition(":")
        if kind != "agent" or agent in self.doubled:
            return False
        return any(agent in self.instance.assignments.get(bill_role, ()) for bill_role in bill_roles)

    def _read_outputs(self, step: BillStep, reported: Mapping[str, Any]) -> None:
        declared = {output.name: output for output in step.outputs}
        known = select_known_outputs(step.outputs, step.id, reported)
        self.outputs.update(known)
        for name in reported:
            if name not in declared:
                text = f"step {quote(step.id)} declares no output {quote(name)}"
                self._find("UNKNOWN_OUTPUT", text, step.id)
            elif (step.id, name) not in known:
                text = f"output {quote(name)} of step {quote(step.id)} is not a valid {declared[name].type}, so it is ignored"
                self._find("OUTPUT_OF_WRONG_TYPE", text, step.id, "outputs")

    def _follow_ways(self, step_id: str) -> None:
        """Take the ways from a step that is done or whose condition is false."""
        step, ways = self.flow.steps[step_id], self.flow.ways[step_id]
        if step.gateway in ("sequential", "parallel") or not step.branches:
            self._leave(step_id, True)
            return
        # Only the last branch may have no condition: it is the else branch.
        taken = [self._evaluate_branch(way, last=way is ways[-1]) for way in ways]
        if step.gateway == "xor":
            first = next((number for number, each in enumerate(taken) if each is not False), None)
            if first is not None:
                # A later branch is undecided while an earlier one is.
                rest = None if taken[first] is None else False
                taken = [*taken[: first + 1], *(rest for _ in taken[first + 1 :])]
        elif step.branches and self._is_else(ways[-1]):
            # The else branch is taken only if it is certain that no other one is.
            others = taken[:-1]
            taken[-1] = False if True in others else None if None in others else True
        for way, each in zip(ways, taken, strict=True):
            self.taken[way.source, way.branch] = each
        if None in taken:
            unknown = [way for way, each in zip(ways, taken, strict=True) if each is None and way.condition]
            text = f"it is not known which branch follows step {quote(step_id)}: {listing(str(way.condition) for way in unknown)}"
            why = tuple(why for way in unknown for why in self._locate_step(step_id, "branches", way.branch))
            reason = Reason("BRANCH_UNKNOWN", text, why)
            self.blocked.append(BlockedStep(step=step_id, reasons=(reason,)))
        elif True not in taken:
            self._find("NO_BRANCH_TAKEN", f"no branch after step {quote(step_id)} is taken", step_id)

    def _evaluate_branch(self, way: StepLink, *, last: bool) -> bool | None:
        return (
            True
            if last and self._is_else(way)
            else False
            if way.condition is None
            else is_true(way.condition, self.outputs)
        )

    def _is_else(self, way: StepLink) -> bool:
        return way.condition is None

    # -- a step that could start --------------------------------------------------------------------------------------

    def _consider(self, step_id: str) -> None:
        step = self.flow.steps[step_id]
        bill_roles = tuple(self._build_step_role(step, bill_role) for bill_role in get_bill_roles(step))
        reasons = [
            Reason(
                "NOBODY_MAY_DO_IT",
                f"no agent of bill role {quote(bill_role.bill_role)} may do step {quote(step_id)} now",
                self._locate_step(step_id),
            )
            for bill_role in bill_roles
            if not bill_role.agents
        ]
        for bill_role in bill_roles:
            if not bill_role.agents and bill_role.bill_role in self.bill.roles:
                assigned = {each for agents in self.instance.assignments.values() for each in agents}
                helper = find_helper(
                    self.view, self.state, self.document, bill_role.bill_role, self.flow.numbers[step_id],
                    self.context, assigned,
                )  # fmt: skip
                reasons += [] if helper is None else [helper]
        if not bill_roles and step.action != APPROVAL:
            reasons.append(
                Reason(
                    "STEP_WITHOUT_BILL_ROLE",
                    f"no bill role does step {quote(step_id)}",
                    self._locate_step(step_id),
                )
            )
        missing = self._find_missing_approval(step)
        if missing is not None:
            reasons.append(missing)
        inputs, lacking = self._collect_inputs(step)
        reasons += lacking
        if reasons or self.stopped:
            self._block(step_id, *reasons, bill_roles=bill_roles)
            return
        self._leave(step_id, None)
        self.to_start.append(
            StepToStart(
                step=step_id,
                name=step.name,
                action=step.action,
                bill_roles=bill_roles,
                inputs=inputs,
                obligations=tuple(self._list_obligations(step, bill_roles)),
                reasons=(self._explain_turn(step_id), *self._list_replacements(step, bill_roles)),
            )
        )

    def _explain_turn(self, step_id: str) -> Reason:
        sources = [way.source for way in self.flow.into[step_id] if self.taken[way.source, way.branch]]
        text = (
            f"step {quote(step_id)} follows {listing(dict.fromkeys(sources))}"
            if sources
            else f"step {quote(step_id)} is the first"
        )
        return Reason("STEP_IS_NEXT", text, self._locate_step(step_id))

    def _build_step_role(self, step: BillStep, bill_role: str) -> StepBillRole:
        fitting: list[str] = []
        asking: list[str] = []
        unfit: list[UnfitAgent] = []
        for agent in dict.fromkeys(self.instance.assignments.get(bill_role, ())):
            reasons = self._find_misfits_of(bill_role, agent) if bill_role in self.bill.roles else ()
            fitness = judge_step(
                self.view, self.state, self.document, self.flow.numbers[step.id], agent, self.context
            )
            reasons = (*reasons, *fitness.obstacles)
            if reasons or bill_role not in self.bill.roles:
                unfit.append(UnfitAgent(agent, reasons))
            else:
                fitting.append(agent)
                if fitness.use is not None:
                    self.uses[step.id, agent] = fitness.use
                    if fitness.use.outcome == "ask":
                        asking.append(agent)
        return StepBillRole(
            bill_role=bill_role, agents=tuple(fitting), asking=tuple(asking), unfit=tuple(unfit)
        )

    def _find_missing_approval(self, step: BillStep) -> Reason | None:
        """The reason if the approval for the gate of a step is missing or invalid."""
        if step.gate is None:
            return None
        gate, given = step.gate, self.instance.approvals.get(step.id)
        doing = {
            agent
            for bill_role in get_bill_roles(step)
            for agent in self.instance.assignments.get(bill_role, ())
        }
        if gate in self.bill.roles:
            fitting = [
                agent
                for agent in self.instance.assignments.get(gate, ())
                if not self._find_misfits_of(gate, agent)
            ]
        else:
            fitting = (
                [edge.source for edge in self.view.list_agents_in(gate)] if self.view.is_role(gate) else []
            )
            fitting = [agent for agent in fitting if not is_away(self.state, agent)]
        # An agent that does the step must not approve it: that is the purpose of a gate.
        fitting = [agent for agent in fitting if agent not in doing]
        if given is not None:
            kind, _, agent = given.by.partition(":")
            if (kind == "agent" and agent in fitting) or is_owner(self.view, given.by):
                return None
            text = f"{quote(given.by)} cannot approve step {quote(step.id)} for {quote(gate)}"
            return Reason("APPROVAL_DOES_NOT_COUNT", text, self._locate_step(step.id, "gate"))
        who = (
            f"by {listing(fitting)}"
            if fitting
            else "but each of its agents also does the step, so none of them can approve it"
        )
        text = f"step {quote(step.id)} needs an approval of {quote(gate)}, {who}"
        return Reason("APPROVAL_MISSING", text, self._locate_step(step.id, "gate"))

    def _collect_inputs(self, step: BillStep) -> tuple[dict[str, Any], list[Reason]]:
        """The inputs of a step, and the missing ones."""
        inputs: dict[str, Any] = {}
        lacking: list[Reason] = []
        for number, each in enumerate(step.inputs):
            source, _, name = each.source.partition(".")
            if source == ACTIVATION and name in self.instance.inputs:
                inputs[each.name] = self.instance.inputs[name]
            elif (source, name) in self.outputs:
                inputs[each.name] = self.outputs[source, name]
            # A skipped step has no outputs, so an input from it is left out instead of blocking the step forever.
            elif source not in self.skipped:
                text = f"input {quote(each.name)} of step {quote(step.id)} is not known: {quote(each.source)}"
                lacking.append(Reason("INPUT_UNKNOWN", text, self._locate_step(step.id, "inputs", number)))
        return inputs, lacking

    def _list_obligations(
        self, step: BillStep, bill_roles: tuple[StepBillRole, ...]
    ) -> Iterator[StepObligation]:
        for bill_role in bill_roles:
            yield StepObligation(
                "DO",
                f"one of {listing(bill_role.agents)} does it as {quote(bill_role.bill_role)}"
                if bill_role.agents[1:]
                else f"{quote(bill_role.agents[0])} does it as {quote(bill_role.bill_role)}",
            )
            if bill_role.asking:
                yield StepObligation(
                    "ASK",
                    f"{listing(bill_role.asking)} first asks for permission to use {quote(str(step.tool))}",
                )
        if not bill_roles:
            yield StepObligation("APPROVE", "the owner approves it")
        yield from self._list_tool_obligations(step, bill_roles)
        if step.skill is not None:
            yield StepObligation("EXERCISE_SKILL", f"exercise skill {quote(step.skill)}, and record it")
        if step.channel is not None:
            yield StepObligation("SPEAK", f"speak in channel {quote(step.channel)}")
        if step.sub_bill is not None:
            yield StepObligation("RUN_BILL", f"run bill {quote(step.sub_bill)} to its end")
        if step.outputs:
            yield StepObligation("REPORT", f"report {listing(output.name for output in step.outputs)}")
        yield StepObligation("FINISH_BY", f"finish within {step.timeout:g} seconds")

    def _list_replacements(self, step: BillStep, bill_roles: tuple[StepBillRole, ...]) -> Iterator[Reason]:
        """Why agents of a step use another tool, each reason once."""
        agents = (agent for bill_role in bill_roles for agent in bill_role.agents)
        uses = (self.uses[step.id, agent] for agent in agents if (step.id, agent) in self.uses)
        yield from dict.fromkeys(use.reasons[0] for use in uses if use.replaces)

    def _list_tool_obligations(
        self, step: BillStep, bill_roles: tuple[StepBillRole, ...]
    ) -> Iterator[StepObligation]:
        """The tools that the agents of a step use: its own tool, or the one that replaces it for them."""
        if step.tool is None:
            return
        agents = tuple(dict.fromkeys(agent for bill_role in bill_roles for agent in bill_role.agents))
        replaced: dict[tuple[str, str], list[str]] = {}
        for agent in agents:
            use = self.uses[step.id, agent]
            if use.replaces:
                replaced.setdefault((use.tool, use.action), []).append(agent)
        if sum(map(len, replaced.values())) < len(agents) or not agents:
            yield StepObligation(
                "USE_TOOL",
                f"use tool {quote(step.tool)} with action {quote(step.tool_action)}, with a permission for each call",
            )
        for (tool, action), users in replaced.items():
            verb = "use" if users[1:] else "uses"
            yield StepObligation(
                "USE_REPLACEMENT",
                f"{listing(users)} {verb} tool {quote(tool)} with action {quote(action)} in place of {quote(step.tool)}",
            )
        locks = [
            obligation.partition(":")[2]
            for agent in agents
            for obligation in self.uses[step.id, agent].obligations
            if obligation.startswith("take_lock:")
        ]
        for tool in dict.fromkeys(locks):
            yield StepObligation("TAKE_LOCK", f"take the lock of tool {quote(tool)} before the call")

    # -- places -------------------------------------------------------------------------------------------------------

    def _find(self, code: str, text: str, step_id: str, *route: str | int) -> None:
        self.findings.append(Reason(code, text, self._locate_step(step_id, *route)))

    def _cite_bill(self, *route: str | int) -> tuple[Why, ...]:
        place = self.document.place(*route, key=isinstance(route[-1], str))
        return (cite_place(f"bill {self.bill.slug}", place),)

    def _locate_step(self, step_id: str, *route: str | int | None) -> tuple[Why, ...]:
        steps = tuple(each for each in route if each is not None)
        text = " of ".join(
            [*(str(each) for each in reversed(steps) if isinstance(each, str)), f"step {step_id}"]
        )
        return (cite_place(text, self.document.place("steps", self.flow.numbers[step_id], *steps)),)
