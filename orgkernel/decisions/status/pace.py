"""PACE: the tier of a role in an organization, with the lines that decide (docs/pace.md).

The runtime evaluates the plan, for hosts too. Here the plan comes from the documents, and the reasons point to their
lines. Error policy: assume nominal, but name every value that was not reported. A trigger that cannot be parsed is never
true (ORG501 and ORG502 keep such an organization from being served).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from orgkernel.decisions.reasons import Reason, Why, cite_place
from orgkernel.diagnostics.wording import listing, quote
from orgkernel.graph.memo import per_view_and_key
from orgkernel.graph.questions import OrgView
from orgkernel.graph.records import RolePost
from orgkernel.runtime.observation import Observation
from orgkernel.runtime.pace import PROGRESS, CompiledPacePlan, Obligation, PaceDecision, Tier, decide_pace
from orgkernel.runtime.tiers import EMERGENCY, PRIMARY, TIERS
from orgkernel.runtime.trigger_parser import parse_trigger

# Compiling a plan takes a millisecond, and keeping it a few kilobytes. More roles than this hardly report at the same time.
_PLANS_KEPT = 10_000


class RolePace(msgspec.Struct, frozen=True):
    """The tier of a role, and what the role has to do in it.

    >>> from orgkernel import Kernel
    >>> from orgkernel.runtime.observation import Observation
    >>> failing = Observation(consecutive_tool_failures=5)
    >>> pace = Kernel.open().pace("software_dev", "bugfix_specialist", failing, "alternate")
    >>> pace.tier, [(each.action, each.to) for each in pace.obligations]
    ('contingent', [('escalate', 'engineering_xo')])
    """

    role_id: str
    tier: str
    previous: str
    held: tuple[str, ...]
    """The tiers whose trigger was last known to be true. Pass them as `previous` the next time."""
    reasons: tuple[Reason, ...]
    unknown: tuple[str, ...]
    """Variables of the triggers that the observation does not report."""
    obligations: tuple[Obligation, ...]
    snapshot: str
    """The digest of the organization that was used."""


def decide_role_pace(
    view: OrgView,
    role_id: str,
    observation: Observation,
    previous: str | Iterable[str] = PRIMARY,
    *,
    new_task: bool = False,
) -> RolePace:
    """The tier of a role in the organization, from an observation and the previous tier."""
    decision = decide_pace(get_pace_plan(view, role_id), observation, previous, new_task=new_task)
    reasons = tuple(_build_reasons(view.records.posts[role_id], decision))
    return RolePace(
        role_id, decision.tier, decision.previous, decision.held, reasons, decision.unknown, decision.obligations,
        view.digest,
    )  # fmt: skip


@per_view_and_key(most=_PLANS_KEPT)
def get_pace_plan(view: OrgView, role_id: str) -> CompiledPacePlan:
    """The PACE plan of a role with compiled triggers. A tier that escalates without naming a role goes to the superior."""
    profile = view.records.posts[role_id].profile
    superior = view.get_superior_in_service(role_id)
    tiers = {}
    for name in TIERS:
        tier = getattr(profile.pace_plan, name, None)
        if tier is not None:
            # A trigger on `primary` has no effect (ORG508).
            trigger = parse_trigger(tier.trigger).tree if tier.trigger and name != PRIMARY else None
            tiers[name] = Tier(tier.action, tier.description, trigger, tier.escalate_to or superior)
    return CompiledPacePlan(tiers, profile.doctrine.max_turns_without_progress)


def _build_reasons(post: RolePost, decision: PaceDecision) -> Iterator[Reason]:
    tier = decision.tier
    if decision.new_task and decision.restored:
        yield Reason("NEW_TASK", "a new task began")
    if decision.progressed:
        yield Reason(
            "PROGRESS",
            f"{PROGRESS}, so the {EMERGENCY} is over although its trigger is unknown",
            (_cite_tier(post, EMERGENCY),),
        )
    if decision.reasons:
        because = ", ".join(each.text for each in decision.reasons)
        yield Reason("TRIGGER_HOLDS", f"the {tier} trigger is true: {because}", (_cite_tier(post, tier),))
    elif tier != PRIMARY:
        yield Reason(
            "TRIGGER_UNKNOWN", f"the {tier} trigger was true and is now unknown", (_cite_tier(post, tier),)
        )
    elif post.profile.pace_plan is None:
        yield Reason("NO_PLAN", f"role {quote(post.role_id)} has no PACE plan")
    else:
        yield Reason("NOTHING_TRIPPED", "no trigger is true")
    if decision.unknown:
        yield Reason("NOT_REPORTED", f"not reported: {listing(decision.unknown)}")


def _cite_tier(post: RolePost, tier: str) -> Why:
    written = getattr(post.profile.pace_plan, tier).trigger
    return cite_place(f"{tier} trigger {written}", post.place("pace_plan", tier, "trigger"))
