"""Propose agents for the bill roles: as many bill roles as possible, with at most one for each agent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping

from orgkernel.decisions.evidence.state_view import StateView
from orgkernel.decisions.reasons import Reason, Why, cite_place
from orgkernel.decisions.work.bills.fitness import find_misfits, read_bill
from orgkernel.decisions.work.bills.flow import read_count
from orgkernel.decisions.work.bills.instance import BillAssignment, BillRoleVacancy, FilledBillRole
from orgkernel.decisions.work.bills.next_steps import digest_bill
from orgkernel.diagnostics.wording import listing, quote
from orgkernel.graph.matching import match_seats
from orgkernel.graph.questions import OrgView
from orgkernel.loading.sources import SourceDocument


def fill_bill_roles(
    view: OrgView, state: StateView, document: SourceDocument, now: float, without: Collection[str] = ()
) -> BillAssignment:
    """A proposal of agents for the bill roles, from the current crew without some agents."""
    bill = read_bill(document)
    agents = [
        each
        for each in sorted(view.records.agents)
        if each not in without and view.list_roles_filled_by(each)
    ]
    misfits = {
        bill_role: {agent: find_misfits(view, state, document, bill_role, agent, now) for agent in agents}
        for bill_role in bill.roles
    }
    fitting = {
        bill_role: [agent for agent, reasons in misfits_by_agent.items() if not reasons]
        for bill_role, misfits_by_agent in misfits.items()
    }
    counts = {bill_role: read_count(spec.count) or (0, 0) for bill_role, spec in bill.roles.items()}
    # A maximum matching instead of a greedy choice: an agent that fits two bill roles must not leave one of them vacant.
    chosen = match_seats({bill_role: least for bill_role, (least, _) in counts.items()}, fitting)
    taken_by = {agent: bill_role for bill_role, each in chosen.items() for agent in each}
    bill_roles, vacancies = [], []
    for bill_role, (least, most) in counts.items():
        place = cite_place(f"bill role {bill_role}", document.place("roles", bill_role, key=True))
        taken = chosen[bill_role]
        others = tuple(agent for agent in fitting[bill_role] if agent not in taken)
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
            reasons += _explain_misfits(misfits[bill_role])
            vacancies.append(
                BillRoleVacancy(
                    bill_role=bill_role, missing=max(least, 1) - len(taken), reasons=tuple(reasons)
                )
            )
    return BillAssignment(
        outcome="vacant" if vacancies else "filled",
        bill=bill.slug,
        version=bill.edition,
        digest=digest_bill(bill),
        bill_roles=tuple(bill_roles),
        vacancies=tuple(vacancies),
        assignments={bill_role: each for bill_role, each in chosen.items() if each},
        snapshot=view.digest,
        state_version=state.version,
    )


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
    unfit = {agent: reasons for agent, reasons in misfits.items() if reasons}
    if not unfit:
        return []
    fewest = min(map(len, unfit.values()))
    closest = [agent for agent, reasons in unfit.items() if len(reasons) == fewest]
    # A crew can have hundreds of agents, and only those that are nearly fit tell the reader what to change.
    shown = [reason for agent in closest[:3] for reason in unfit[agent]]
    counted = Counter(reason.code for reasons in unfit.values() for reason in reasons)
    text = f"of {len(unfit)} agents that do not fit: " + ", ".join(
        f"{count} × {code}" for code, count in sorted(counted.items())
    )
    return [*shown, Reason("AGENTS_DO_NOT_FIT", text)]
