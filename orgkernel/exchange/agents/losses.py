"""What the formats of agents do not say of an organization, counted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from orgkernel.documents.records import Doctrine, Limits, Mission, Requirements, RoleProfile
from orgkernel.exchange.agents.roster import Extent, Roster, reports_outside, roster_of
from orgkernel.exchange.exported import Loss
from orgkernel.graph.questions import OrgView
from orgkernel.graph.schema import EdgeKind

_TEXT = "the text of the agent says so; nothing enforces it"
_NO_PLACE = "the format has no place for it"


def _profiles(view: OrgView, holds: Callable[[RoleProfile], object]) -> int:
    return sum(bool(holds(post.profile)) for post in view.posts)


def _edges(kind: EdgeKind) -> Callable[[OrgView], int]:
    return lambda view: len(view.edges_of(kind))


def _roles(holds: Callable[[RoleProfile], object]) -> Callable[[OrgView], int]:
    return lambda view: _profiles(view, holds)


_DOCTRINE, _REQUIREMENTS = Doctrine(), Requirements()
_OTHER_DOCTRINE = tuple(name for name in _DOCTRINE.__struct_fields__ if name != "max_turns_without_progress")

_FACTS: tuple[tuple[str, str, Callable[[OrgView], int]], ...] = (
    ("chain of command", _TEXT, lambda view: sum(view.superior_of(role) is not None for role in view.roles)),
    ("superiors outside", _NO_PLACE, reports_outside),
    ("authority levels", _NO_PLACE, _roles(lambda role: role.chain_of_command.authority_level is not None)),
    ("role types", _NO_PLACE, _roles(lambda role: role.role_type != "specialist")),
    ("rights to delegate", _NO_PLACE, _roles(lambda role: role.chain_of_command.can_delegate is not None)),
    ("dispatch rights", _NO_PLACE, lambda view: _profiles(view, lambda role: role.dispatch.may_to or role.dispatch.may_from) + len(view.records.organization.dispatch_edges)),
    ("domains", "work is not routed by domain there", _edges(EdgeKind.HANDLES)),
    ("domain routing", "work is not routed by domain there", lambda view: len(view.records.organization.domain_routing)),
    ("intents", _NO_PLACE, _roles(lambda role: role.capabilities.intents)),
    ("plans", _NO_PLACE, _edges(EdgeKind.FOLLOWS)),
    ("procedures", _NO_PLACE, _roles(lambda role: role.capabilities.procedures)),
    ("skills that roles require", _NO_PLACE, _edges(EdgeKind.REQUIRES)),
    ("cognitive skills", "export them with `--to skills`", lambda view: len(view.records.cognitive_skills)),
    ("examples", _NO_PLACE, _roles(lambda role: role.examples or role.not_examples)),
    ("PACE plans", _TEXT, _roles(lambda role: role.pace_plan)),
    ("turns without progress", _NO_PLACE, _roles(lambda role: role.doctrine.max_turns_without_progress != _DOCTRINE.max_turns_without_progress)),
    ("doctrine", _NO_PLACE, _roles(lambda role: any(getattr(role.doctrine, name) != getattr(_DOCTRINE, name) for name in _OTHER_DOCTRINE))),
    ("models", _NO_PLACE, _roles(lambda role: role.requirements.preferred_model)),
    ("requirements", _NO_PLACE, _roles(lambda role: role.requirements.min_context_tokens is not None or role.requirements.required_extensions)),
    ("what roles do not have", _TEXT, _roles(lambda role: role.does_not_have)),
    ("standing orders", _TEXT, lambda view: sum(len(each) for each in view.records.orders.values()) + _profiles(view, lambda role: role.standing_orders)),
    ("departments", _NO_PLACE, _roles(lambda role: role.department)),
    ("layers", _NO_PLACE, _roles(lambda role: role.layer)),
    ("positions", _NO_PLACE, _roles(lambda role: role.position)),
    ("clearances", _NO_PLACE, _roles(lambda role: role.clearance)),
    ("crew tiers", _NO_PLACE, _roles(lambda role: role.crew_tier != "crew")),
    ("entry ranks", _NO_PLACE, _roles(lambda role: role.entry_rank or role.open_to_probation)),
    ("rights to grant", _NO_PLACE, _roles(lambda role: role.may_grant)),
    ("credentials", _NO_PLACE, _roles(lambda role: role.credentials)),
    ("data", _NO_PLACE, _roles(lambda role: role.data)),
    ("file scopes", "a tool that writes files is withheld from these roles", _roles(lambda role: role.file_scope)),
    ("LMC modes", _NO_PLACE, _roles(lambda role: role.lmc_mode)),
    ("mission", _NO_PLACE, lambda view: int(view.records.organization.mission != Mission())),
    ("communication channels", _NO_PLACE, lambda view: len(view.records.organization.communication_channels)),
    ("limits", _NO_PLACE, lambda view: int(view.records.organization.limits != Limits())),
    ("separations of duties", _NO_PLACE, lambda view: len(view.records.organization.separations)),
    ("policies", "what they take away is withheld; what they give to people is not exported", lambda view: sum(each.record.enabled for each in view.records.policies.values())),
    ("people", _NO_PLACE, lambda view: len(view.records.people)),
    ("system origins", _NO_PLACE, lambda view: len(view.records.system_origins)),
    ("webhooks", _NO_PLACE, lambda view: len(view.records.webhooks)),
    ("agents of the roster", "roles are exported, not who fills them", lambda view: len(view.records.agents)),
    ("bills", _NO_PLACE, lambda view: len(view.records.bills)),
)  # fmt: skip
FACTS = tuple(name for name, _, _ in _FACTS)

_WITHHELD: Mapping[Extent, tuple[str, str]] = {
    "in part": ("tools that a role has in part", "not given: the format knows no levels"),
    "sometimes": ("tools that depend on circumstances", "not given: the format knows no times, channels, paths, commands or locks"),
    "asked": ("tools that need approval", "not given: the format cannot ask"),
    "refused": ("tools that a role lists and may not use", "not given"),
}  # fmt: skip


def find_losses(
    view: OrgView,
    *,
    said: Iterable[str] = (),
    instead: Mapping[str, tuple[int, str]] | None = None,
    roster: Roster | None = None,
    withheld: Iterable[tuple[str, str, int]] = (),
    asks: bool = False,
    tools: bool = True,
) -> Iterator[Loss]:
    """What is lost, first of tools, then of roles, then of the organization, then always.

    `said` are facts that the format says whole; `instead` are the count and the reason where it says some of them.
    `withheld` are losses of the format's own; `asks` says that it can ask for approval, `tools` that it knows tools at all.
    """
    roster = roster or roster_of(view)
    instead = instead or {}
    whole = frozenset(said)
    for kind, (what, why) in _WITHHELD.items() if tools else ():
        count = sum(len(role.held(kind)) for role in roster.roles.values())
        if count and not (asks and kind == "asked"):
            yield Loss(what, why, count)
    yield from (Loss(what, why, count) for what, why, count in withheld if count)
    if roster.unnamed:
        yield Loss(
            "roles with long ids", "not exported: a name has at most 64 characters", len(roster.unnamed)
        )
    for name, why, count_of in _FACTS:
        if name in whole:
            continue
        count, reason = instead[name] if name in instead else (count_of(view), why)
        if count:
            yield Loss(name, reason, count)
    yield Loss(
        "stored state",
        "grants, restrictions, earned ranks, test results and the lifecycle of agents are not in documents",
    )
    yield Loss("what decided", "a host refuses without a reason, a line of YAML or a way out")
