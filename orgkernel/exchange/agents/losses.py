"""Count the facts of an organization that agent formats do not express."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from orgkernel.documents.records import Limits, Mission
from orgkernel.documents.role_fields import Lost
from orgkernel.exchange.agents.roster import Extent, Roster, build_roster, count_reports_outside
from orgkernel.exchange.exported import STORED_STATE, Loss
from orgkernel.exchange.role_losses import FactCount, find_role_losses
from orgkernel.graph.questions import OrgView

_NO_PLACE = Lost("").why
_OF_ORGANIZATION: tuple[tuple[str, str, FactCount], ...] = (
    ("domain routing", "the host does not route work by domain", lambda view: len(view.records.organization.domain_routing)),
    ("mission", _NO_PLACE, lambda view: int(view.records.organization.mission != Mission())),
    ("communication channels", _NO_PLACE, lambda view: len(view.records.organization.communication_channels)),
    ("limits", _NO_PLACE, lambda view: int(view.records.organization.limits != Limits())),
    ("separation of duties", _NO_PLACE, lambda view: len(view.records.organization.separations)),
    ("policies", "tools that they deny are withheld; what they allow to people is not exported", lambda view: sum(each.record.enabled for each in view.records.policies.values())),
    ("people", _NO_PLACE, lambda view: len(view.records.people)),
    ("system origins", _NO_PLACE, lambda view: len(view.records.system_origins)),
    ("webhooks", _NO_PLACE, lambda view: len(view.records.webhooks)),
    ("agents of the roster", "roles are exported, not the agents that fill them", lambda view: len(view.records.agents)),
    ("bills", _NO_PLACE, lambda view: len(view.records.bills)),
)  # fmt: skip

_WITHHELD: Mapping[Extent, tuple[str, str]] = {
    "in part": ("tools that a role may use in part", "left out: the format has no levels"),
    "sometimes": ("tools that depend on circumstances", "left out: the format has no times, channels, paths, commands or locks"),
    "asked": ("tools that need approval", "left out: the format cannot ask for approval"),
    "by several": ("tools that several have to approve", "left out: in the host, one person could approve them"),
    "refused": ("tools that a role lists and may not use", "left out"),
}  # fmt: skip


def list_withheld(roster: Roster, kept: Mapping[str, Collection[str]]) -> dict[str, tuple[str, ...]]:
    """The tools that each role may use here and is not given there, and the words of its file that nothing here decides about. `kept`
    are the tools that it is given.
    """
    withheld = {}
    for role in roster.roles.values():
        held = role.held("given", "asked", "by several", "in part", "sometimes")
        tools = (*(each.id for each in held if each.id not in kept.get(role.id, ())), *role.unread)
        if tools:
            withheld[role.id] = tools
    return withheld


def list_dropped(roster: Roster, host: str) -> dict[str, tuple[str, ...]]:
    """What the file of each role states and its exported file does not."""
    return {role.id: dropped for role in roster.roles.values() if (dropped := role.list_dropped(host))}


def count_dropped(roster: Roster, host: str) -> tuple[tuple[str, str, int], ...]:
    """The losses of models without a counterpart and of fields for other hosts, with their numbers."""
    models = sum(role.lacks_model_in(host) for role in roster.roles.values())
    every = sum(len(dropped) for dropped in list_dropped(roster, host).values())
    return (
        ("models without a counterpart", "not written: the host would refuse the name, or take another model", models),
        ("fields of agents for their host", "only the host of an agent's file knows them", every - models),
    )  # fmt: skip


def find_losses(
    view: OrgView,
    *,
    expressed: Iterable[str] = (),
    organization_facts: Iterable[str] = (),
    instead: Mapping[str, tuple[int, str]] | None = None,
    roster: Roster | None = None,
    withheld: Iterable[tuple[str, str, int]] = (),
    asks: bool = False,
    roles: bool = True,
) -> Iterator[Loss]:
    """List the losses: of tools, of roles, of the organization, then those of every export.

    `expressed` are the fields of roles that the format expresses, `organization_facts` the facts about the organization;
    `instead` has the count and the reason of facts that it expresses in part. `withheld` are losses specific to the
    format. `asks` is true if the format can ask for approval, `roles` if it has roles.
    """
    roster = roster or build_roster(view)
    for kind, (what, why) in _WITHHELD.items() if roles else ():
        count = sum(len(role.held(kind)) for role in roster.roles.values())
        if count and not (asks and kind == "asked"):
            yield Loss(what, why, count)
    yield from (Loss(what, why, count) for what, why, count in withheld if count)
    if roles:
        yield from find_role_losses(view, expressed=expressed, instead=instead)
        outside = count_reports_outside(view)
        if outside:
            yield Loss("superiors outside", _NO_PLACE, outside)
        if view.records.cognitive_skills:
            yield Loss(
                "cognitive skills", "export them with `--to skills`", len(view.records.cognitive_skills)
            )
    whole = frozenset(organization_facts)
    for name, why, count_of in _OF_ORGANIZATION:
        count = 0 if name in whole else count_of(view)
        if count:
            yield Loss(name, why, count)
    yield STORED_STATE
    yield Loss("what decided", "a host refuses without a reason, a line of YAML or a remedy")
