"""Propose agents for the bill roles: as many bill roles as possible, with at most one for each agent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice

from orgkernel.decisions.access.request import AccessContext
from orgkernel.decisions.evidence.state_view import StateView
from orgkernel.decisions.reasons import Reason, Why, cite_place
from orgkernel.decisions.work.bills.fitness import (
    find_fit_agents,
    find_helper,
    find_misfits,
    judge_step,
    map_roles_by_agent,
    read_bill,
)
from orgkernel.decisions.work.bills.flow import get_bill_roles, read_count
from orgkernel.decisions.work.bills.instance import (
    BillAssignment,
    BillRoleVacancy,
    BlockedStep,
    FilledBillRole,
    StepBillRole,
    UnfitAgent,
)
from orgkernel.decisions.work.bills.next_steps import digest_bill
from orgkernel.diagnostics.wording import listing, quote
from orgkernel.graph.matching import match_seats
from orgkernel.graph.questions import OrgView
from orgkernel.loading.sources import SourceDocument


def fill_bill_roles(
    view: OrgView,
    state: StateView,
    document: SourceDocument,
    context: AccessContext,
    without: Collection[str] = (),
) -> BillAssignment:
    """A proposal of agents for the bill roles, from the current crew without some agents, and the steps that none of the
    proposed agents can do now. `context` states the time and other circumstances.
    """
    bill = read_bill(document)
    agents = {agent: roles for agent, roles in map_roles_by_agent(view).items() if agent not in without}
    fitting = {
        bill_role: find_fit_agents(view, state, wanted, agents, context.now)
        for bill_role, wanted in bill.roles.items()
    }
    counts = {bill_role: read_count(spec.count) or (0, 0) for bill_role, spec in bill.roles.items()}
    crew = _Crew(view, state, document, context, without)
    needed = {bill_role: least for bill_role, (least, _) in counts.items()}
    chosen = _choose_agents(crew, needed, fitting)
    taken_by = {agent: bill_role for bill_role, each in chosen.items() for agent in each}
    bill_roles, vacancies = [], []
    for bill_role, (least, most) in counts.items():
        place = cite_place(f"bill role {bill_role}", document.place("roles", bill_role, key=True))
        taken = chosen[bill_role]
        others = tuple(agent for agent in fitting[bill_role] if taken_by.get(agent) != bill_role)
        text = (
            f"{listing(taken)} could take bill role {quote(bill_role)}"
            if taken
            else f"no agent is proposed for bill role {quote(bill_role)}"
        )
        bill_roles.append(
            FilledBillRole(
                bill_role=bill_role, least=least, most=most, agents=taken, others=others,
                reasons=(Reason("BILL_ROLE_PROPOSED", text, (place,)),),
            )
        )  # fmt: skip
        # A count that cannot be read is (0, 0): ORG639 reports it, and the bill role is never filled by accident.
        if not most or len(taken) < least:
            reasons = _explain_vacancy(bill_role, max(least, 1), len(taken), others, taken_by, place)
            fit = frozenset(fitting[bill_role])
            misfits = {
                agent: find_misfits(view, state, document, bill_role, agent, context.now)
                for agent in agents
                if agent not in fit
            }
            reasons += _explain_misfits(misfits)
            vacancies.append(
                BillRoleVacancy(
                    bill_role=bill_role, missing=max(least, 1) - len(taken), reasons=tuple(reasons)
                )
            )
    blocked = tuple(_find_blocked_steps(crew, chosen))
    return BillAssignment(
        outcome="vacant" if vacancies else "blocked" if blocked else "filled",
        bill=bill.slug,
        version=bill.edition,
        digest=digest_bill(bill),
        bill_roles=tuple(bill_roles),
        vacancies=tuple(vacancies),
        blocked=blocked,
        assignments={bill_role: each for bill_role, each in chosen.items() if each},
        snapshot=view.digest,
        state_version=state.version,
    )


class _Crew:
    """The crew, and which of its agents can do which steps of a bill. Each is judged once, and only if it is asked for."""

    def __init__(
        self,
        view: OrgView,
        state: StateView,
        document: SourceDocument,
        context: AccessContext,
        without: Collection[str],
    ) -> None:
        self.view, self.state, self.document, self.context = view, state, document, context
        self.bill, self.without = read_bill(document), without
        self._obstacles: dict[tuple[int, str], tuple[Reason, ...]] = {}

    def find_obstacles(self, number: int, agent: str) -> tuple[Reason, ...]:
        """The reasons why an agent cannot do a step now."""
        key = (number, agent)
        if key not in self._obstacles:
            fitness = judge_step(self.view, self.state, self.document, number, agent, self.context)
            self._obstacles[key] = fitness.obstacles
        return self._obstacles[key]

    def can_do_all(self, bill_role: str, agent: str) -> bool:
        """Whether an agent can do all steps of a bill role now."""
        return not any(self.find_obstacles(number, agent) for number in self.list_steps(bill_role))

    def list_steps(self, bill_role: str) -> list[int]:
        """The numbers of the steps that a bill role does."""
        return [number for number, step in enumerate(self.bill.steps) if bill_role in get_bill_roles(step)]


def _choose_agents(
    crew: _Crew, needed: Mapping[str, int], fitting: Mapping[str, Sequence[str]]
) -> dict[str, tuple[str, ...]]:
    """As many bill roles as possible, and among these assignments agents that can do every step of their bill role."""
    seats = sum(needed.values())
    # With as many candidates as there are seats, a bill role is never short because of the others.
    able = {
        bill_role: list(islice((agent for agent in agents if crew.can_do_all(bill_role, agent)), seats))
        for bill_role, agents in fitting.items()
    }
    # A maximum matching instead of a greedy choice: an agent that fits two bill roles must not leave one of them vacant.
    chosen = match_seats(needed, able)
    short = {bill_role: count - len(chosen[bill_role]) for bill_role, count in needed.items()}
    if not any(short.values()):
        return chosen
    taken = {agent for agents in chosen.values() for agent in agents}
    rest = {
        bill_role: list(islice((each for each in agents if each not in taken), seats))
        for bill_role, agents in fitting.items()
    }
    more = match_seats(short, rest)
    both = {bill_role: tuple(sorted((*chosen[bill_role], *more[bill_role]))) for bill_role in needed}
    anyone = match_seats(needed, {bill_role: agents[:seats] for bill_role, agents in fitting.items()})
    return both if _count(both) == _count(anyone) else anyone


def _count(chosen: Mapping[str, Sequence[str]]) -> int:
    return sum(map(len, chosen.values()))


def _find_blocked_steps(crew: _Crew, chosen: Mapping[str, Sequence[str]]) -> Iterator[BlockedStep]:
    """The steps for which no proposed agent of a bill role is able. A vacant bill role is reported as such."""
    proposed = {agent for agents in chosen.values() for agent in agents}
    for number, step in enumerate(crew.bill.steps):
        reasons: list[Reason] = []
        bill_roles: list[StepBillRole] = []
        for bill_role in get_bill_roles(step):
            unfit = [
                UnfitAgent(agent, crew.find_obstacles(number, agent)) for agent in chosen.get(bill_role, ())
            ]
            if not unfit or any(not each.reasons for each in unfit):
                continue
            text = f"no proposed agent of bill role {quote(bill_role)} can do step {quote(step.id)} now"
            place = cite_place(f"step {step.id}", crew.document.place("steps", number))
            reasons.append(Reason("NOBODY_MAY_DO_IT", text, (place,)))
            helper = find_helper(
                crew.view,
                crew.state,
                crew.document,
                bill_role,
                number,
                crew.context,
                {*proposed, *crew.without},
            )
            reasons += [] if helper is None else [helper]
            bill_roles.append(StepBillRole(bill_role=bill_role, agents=(), unfit=tuple(unfit)))
        if reasons:
            yield BlockedStep(step=step.id, reasons=tuple(reasons), bill_roles=tuple(bill_roles))


def _explain_vacancy(
    bill_role: str,
    least: int,
    taken_count: int,
    others: Iterable[str],
    taken_by: Mapping[str, str],
    place: Why,
) -> list[Reason]:
    """How many agents a bill role lacks, and which agents that fit are proposed for another bill role."""
    text = f"bill role {quote(bill_role)} takes at least {least} and gets {taken_count}"
    reasons = [Reason("BILL_ROLE_SHORT", text, (place,))]
    elsewhere = [f"{agent} in {taken_by[agent]}" for agent in others if agent in taken_by]
    if elsewhere:
        text = f"others that could take it are needed elsewhere: {listing(elsewhere)}"
        reasons.append(Reason("NEEDED_IN_ANOTHER_BILL_ROLE", text, (place,)))
    return reasons


def _explain_misfits(misfits: Mapping[str, tuple[Reason, ...]]) -> list[Reason]:
    """The agents with the fewest missing conditions, with these; for the others, the count of each missing condition."""
    if not misfits:
        return []
    fewest = min(map(len, misfits.values()))
    closest = [agent for agent, reasons in misfits.items() if len(reasons) == fewest]
    # A crew can have hundreds of agents, and only those that are nearly fit tell the reader what to change.
    shown = [reason for agent in closest[:3] for reason in misfits[agent]]
    counted = Counter(reason.code for reasons in misfits.values() for reason in reasons)
    text = f"of {len(misfits)} agents that do not fit: " + ", ".join(
        f"{count} × {code}" for code, count in sorted(counted.items())
    )
    return [*shown, Reason("AGENTS_DO_NOT_FIT", text)]
