"""Find the questions whose answers edits can change: pairs of a subject and a resource, circumstances, tasks.

Only these questions are asked of both versions, so that a diff of one edited file in a tree of ten thousand is fast. An edit of
a field that is not named here can change every answer. The test in `tests/property/test_diff_answers.py` asks both versions
every question, and finds no changed answer beyond these questions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, combinations
from typing import Any, NamedTuple

from msgspec.structs import asdict

from orgkernel.decisions.access.candidates import find_candidate_resources, find_candidate_subjects
from orgkernel.decisions.access.circumstances import Circumstance, is_within
from orgkernel.decisions.access.compiled import AccessTables
from orgkernel.decisions.access.listing import SUBJECT_KINDS
from orgkernel.decisions.access.request import AccessContext
from orgkernel.decisions.access.subject import Subject
from orgkernel.decisions.access.tables import get_access_tables
from orgkernel.decisions.evidence.state_view import EMPTY_STATE
from orgkernel.diff.edits import GOVERNANCE, ORGANIZATION, ROLES, DeclaredEdit
from orgkernel.documents.records import Person
from orgkernel.graph.questions import OrgView
from orgkernel.graph.schema import EdgeKind

RESOURCE_KINDS = ("tool", "credential", "data", "role")
_GIVEN = ("tool", "credential", "data")
"""Kinds of resources that the profile of a role lists. Roles are resources too, but the hierarchy decides who may hand work to whom."""
_TEXTS = frozenset({"name", "org_name", "role_name", "description", "callsign", "personality", "standing_orders", "does_not_have",
                    "requirements", "lmc_mode", "doctrine", "examples", "not_examples", "triggers"})  # fmt: skip
"""Fields of any entry that no access decision reads."""
_COMMAND = frozenset(
    {"chain_of_command", "handoff", "pace_plan", "layer", "role_type", "position", "crew_tier", "department"}
)
"""Fields of a role that decide who may hand work to it, and to whom it may hand work or escalate."""
# Sections, and fields of a section, that no access decision reads (`_WITHOUT_ACCESS`) and that do not affect which role takes a
# task (`_WITHOUT_ROUTING`).
_WITHOUT_ACCESS = frozenset({"domains", "aliases", "plans", "procedures", "skills", "cognitive_skills", "promotions", "bills",
                             "orders", "settings"})  # fmt: skip
_ORGANIZATION_WITHOUT_ACCESS = frozenset({"mission", "communication_channels", "mode", "microcosm_config", "macrocosm_config",
                                          "domain_routing", "defaults", "domains", "limits", "separations", "authzen",
                                          "procedure_proposals", "sources", "departments", "_version"})  # fmt: skip
_GOVERNANCE_WITHOUT_ACCESS = frozenset({"limits", "sacred_scopes", "destructive_operations", "quality_gates", "lmc_modes", "phrases",
                                        "batch_size", "claims", "_version"})  # fmt: skip
_WITHOUT_ROUTING = frozenset({"policies", "people", "webhooks", "system_origins", "agents", "ranks", "matrices", "promotions",
                              "qualifications", "bills", "orders", "settings"})  # fmt: skip
_ROLE_WITHOUT_ROUTING = frozenset({"credentials", "data", "file_scope", "may_grant", "pace_plan", "doctrine", "requirements",
                                   "handoff", "layer", "position", "clearance", "entry_rank", "open_to_probation", "lmc_mode",
                                   "standing_orders", "does_not_have"})  # fmt: skip
MAX_CONTEXTS = 40
MAX_ROLES_FOR_TEXTS = 300
ELSEWHERE = "(another)"
"""The value of a circumstance in a question about every value that no policy names, such as any other channel."""
_DAY = 86_400
_FULL_WEEK = range(0, 7 * _DAY, 1_800)


class AccessPair(NamedTuple):
    """A subject and a resource to ask about."""

    subject: str
    resource: str


class BothVersions(NamedTuple):
    """The two versions of one organization."""

    old: OrgView
    new: OrgView

    @property
    def tables(self) -> tuple[AccessTables, AccessTables]:
        """What access decides from, on both sides."""
        return get_access_tables(self.old), get_access_tables(self.new)


def find_pairs(edits: Iterable[DeclaredEdit], sides: BothVersions) -> Iterator[AccessPair]:
    """The pairs whose answers the edits can touch. The same pair can come more than once."""
    for edit in edits:
        yield from _find_pairs_of(edit, sides)


def _find_pairs_of(edit: DeclaredEdit, sides: BothVersions) -> Iterator[AccessPair]:
    section, field = edit.section, edit.field
    # A pair too many is harmless: its answers are compared and turn out equal.
    if section in _WITHOUT_ACCESS or field in _TEXTS:
        return
    if section == ROLES:
        yield from _find_pairs_of_role(edit, sides)
    elif section in ("renames", "sharing"):
        yield from _find_pairs_of_command(edit.id, sides)
    elif section == "tools":
        yield from _with_resource(f"tool:{edit.id}", sides)
        yield from chain.from_iterable(
            _with_resource(f"credential:{each}", sides) for each in _list_names(edit, "credentials")
        )
    elif section == "policies":
        yield from _with_subjects(_find_matched(edit.id, sides), sides)
        permissions = chain.from_iterable(_list_names(edit, "permissions", "credentials"))
        yield from chain.from_iterable(_with_resource(f"credential:{each}", sides) for each in permissions)
    elif section in ("people", "webhooks", "system_origins", "agents"):
        yield from _with_subjects(_find_entry_subjects(edit, sides), sides)
    elif section == "qualifications":
        for tool in {
            each for view in sides for each in view.list_sources_to(EdgeKind.NEEDS_QUALIFICATION, edit.id)
        }:
            yield from _with_resource(f"tool:{tool}", sides)
    elif section == ORGANIZATION:
        yield from _find_pairs_of_organization(edit, sides)
    elif section == GOVERNANCE and field in _GOVERNANCE_WITHOUT_ACCESS:
        return
    else:
        yield from _with_subjects(_list_everybody(sides), sides)


def _find_pairs_of_role(edit: DeclaredEdit, sides: BothVersions) -> Iterator[AccessPair]:
    role_id, field = edit.id, edit.field
    if field in ("", *_COMMAND):
        yield from _find_pairs_of_command(role_id, sides)
    kinds = RESOURCE_KINDS if field in ("", *_COMMAND) else _GIVEN
    yield from _with_subjects(_find_holders(role_id, sides), sides, kinds)
    for name, kind in (("credentials", "credential"), ("data", "data")):
        if field in ("", name):
            for each in _list_names(edit, name):
                yield from _with_resource(f"{kind}:{each}", sides)
    if field == "file_scope" and len({tables.has_file_scopes for tables in sides.tables}) > 1:
        yield from _with_subjects(_list_everybody(sides), sides)


def _find_pairs_of_organization(edit: DeclaredEdit, sides: BothVersions) -> Iterator[AccessPair]:
    field = edit.field
    if field in _ORGANIZATION_WITHOUT_ACCESS:
        return
    if field == "hierarchy":
        for role_id in find_moved(sides):
            yield from _find_pairs_of_command(role_id, sides)
    elif field == "overrides" and len(edit.route) > 1:
        role_id = str(edit.route[1])
        yield from _find_pairs_of_command(role_id, sides)
        yield from _with_subjects(_find_holders(role_id, sides), sides)
    else:
        yield from _with_subjects(_list_everybody(sides), sides)


def _find_pairs_of_command(role_id: str, sides: BothVersions) -> Iterator[AccessPair]:
    """Who may hand work to a role or escalate to it, and to whom it may, with those below and above it."""
    below = {each for view in sides for each in view.find_below((role_id,))} | {role_id}
    above = {edge.target for view in sides for edge in view.list_chain_above(role_id)}
    for each in below:
        for superior in (*above, role_id):
            for subject in _find_holders(superior, sides):
                yield AccessPair(subject, f"role:{each}")
            for subject in _find_holders(each, sides):
                yield AccessPair(subject, f"role:{superior}")
    yield from _with_resource(f"role:{role_id}", sides)
    for subject in _find_holders(role_id, sides):
        yield from (
            AccessPair(subject, f"role:{edge.target}")
            for view in sides
            for kind in (EdgeKind.MAY_HAND_WORK_TO, EdgeKind.ESCALATES_TO)
            for edge in view.list_edges_from(kind, role_id)
        )


# -- who and what ------------------------------------------------------------------------------------------------------


def _with_subjects(
    subjects: Iterable[str], sides: BothVersions, kinds: tuple[str, ...] = RESOURCE_KINDS
) -> Iterator[AccessPair]:
    """Pairs of the subjects with every resource that they could have in either version."""
    for name in dict.fromkeys(subjects):
        resources: dict[str, None] = {}
        for tables in sides.tables:
            subject = tables.find_subject(name)
            if subject is not None:
                resources.update(dict.fromkeys(find_candidate_resources(tables, EMPTY_STATE, subject, kinds)))
        yield from (AccessPair(name, resource) for resource in resources)


def _with_resource(resource: str, sides: BothVersions) -> Iterator[AccessPair]:
    """Pairs of a resource with every subject that could have it in either version."""
    subjects: dict[str, None] = {}
    for tables in sides.tables:
        known, _ = tables.find(resource)
        subjects.update(dict.fromkeys(find_candidate_subjects(tables, EMPTY_STATE, known, SUBJECT_KINDS)))
    yield from (AccessPair(subject, resource) for subject in subjects)


def _find_holders(role_id: str, sides: BothVersions) -> tuple[str, ...]:
    """A role as a subject, and the agents that fill it in either version."""
    agents = {each for view in sides for each in view.list_sources_to(EdgeKind.FILLS, role_id)}
    return (f"role:{role_id}", *(f"agent:{each}" for each in sorted(agents)))


def _find_matched(policy_id: str, sides: BothVersions) -> Iterator[str]:
    """The subjects that a policy matches in either version, whatever the circumstances."""
    for tables in sides.tables:
        if policy_id in {policy.id for policy in tables.policies.policies}:
            for name in _list_subjects(tables):
                subject = tables.find_subject(name)
                if subject is not None and any(policy.id == policy_id for policy in subject.policies):
                    yield name


def _find_entry_subjects(edit: DeclaredEdit, sides: BothVersions) -> Iterator[str]:
    kind = {"people": "person", "webhooks": "webhook", "system_origins": "system", "agents": "agent"}[
        edit.section
    ]
    yield f"{kind}:{edit.id}"
    for view in sides if kind == "person" and edit.field in ("", "identities") else ():
        entry = view.records.people.get(edit.id)
        if entry is not None:
            yield from list_senders(entry.record)


def list_senders(person: Person) -> Iterator[str]:
    """The subjects by which channels identify a person."""
    for each in person.identities:
        yield f"sender:{each.platform}/{each.space or ''}/{each.id}"


def _list_everybody(sides: BothVersions) -> Iterator[str]:
    for tables in sides.tables:
        yield from _list_subjects(tables)


def _list_subjects(tables: AccessTables) -> Iterator[str]:
    view = tables.view
    yield from (f"role:{each}" for each in view.roles)
    yield from (f"agent:{each}" for each in view.records.agents)
    yield from chain.from_iterable(tables.outside.values())


def find_moved(sides: BothVersions) -> list[str]:
    """The roles with another superior, or on one side only."""
    old, new = sides
    # `superiors` can also contain ids that are not declared as roles. They are compared too.
    role_ids = dict.fromkeys((*old.roles, *new.roles, *old.superiors, *new.superiors))
    return [
        each
        for each in role_ids
        if old.superiors.get(each) != new.superiors.get(each) or old.is_role(each) != new.is_role(each)
    ]


def _list_names(edit: DeclaredEdit, *fields: str) -> tuple[str, ...]:
    """The words in the list at `fields` of an entry, before and after an edit of the entry, of the list or of a field between."""
    names: list[str] = []
    for value in (edit.before, edit.after):
        inner: Any = value
        for field in fields[len(edit.route) :]:
            inner = inner.get(field) if isinstance(inner, Mapping) else None
        if isinstance(inner, list | tuple) and tuple(edit.route[: len(fields)]) == fields[: len(edit.route)]:
            names += (each for each in inner if isinstance(each, str))
    return tuple(dict.fromkeys(names))


# -- circumstances -----------------------------------------------------------------------------------------------------


class StatedCircumstances(NamedTuple):
    """Circumstances that a question states."""

    context: AccessContext = AccessContext()
    time: str = ""
    """The window that its moment is chosen from, as a policy writes it. It is empty for a moment outside of all windows."""


def list_circumstances(subjects: Sequence[Subject | None]) -> tuple[StatedCircumstances, ...]:
    """The circumstances that policies about a subject tell apart, on either side: in each condition, in two of them at
    once, and outside of all. The first states nothing.
    """
    conditions = dict.fromkeys(
        condition
        for subject in subjects
        if subject is not None
        for policy in subject.policies
        for condition in policy.conditions
    )
    if not conditions:
        return (StatedCircumstances(),)
    windows = tuple(dict.fromkeys(each.time for each in conditions if each.time is not None))
    # One policy can allow what another one denies: both can match at once.
    both = (_combine(one, other) for one, other in combinations(conditions, 2))
    wanted = (Circumstance(), *conditions, *(each for each in both if each is not None))
    stated = dict.fromkeys(_satisfy(each, windows) for each in wanted)
    return (StatedCircumstances(), *stated)[:MAX_CONTEXTS]


def _combine(one: Circumstance, other: Circumstance) -> Circumstance | None:
    """What holds where two conditions hold; None if they cannot hold at once, or no moment is known at which they do."""
    values: dict[str, Any] = {}
    for condition in (one, other):
        for field, value in asdict(condition).items():
            if value is None:
                continue
            if values.setdefault(field, value) != value:
                return None
    return Circumstance(**values)


def _satisfy(condition: Circumstance, windows: Sequence[str]) -> StatedCircumstances:
    """Circumstances in which a condition holds; what it leaves out is stated as another value, outside of all windows."""
    others = [each for each in windows if each != condition.time]
    context = AccessContext(
        now=_find_moment(condition.time, others),
        channel=condition.channel or ELSEWHERE,
        peer_kind=condition.peer_kind or "",
        account=condition.account or ELSEWHERE,
        guild=condition.guild or ELSEWHERE,
        hook_id=condition.hook_id or ELSEWHERE,
        event_type=condition.event_type or ELSEWHERE,
        alert=condition.alert or ELSEWHERE,
        watch=condition.watch or ELSEWHERE,
    )
    return StatedCircumstances(context, condition.time or "")


def _find_moment(window: str | None, others: Sequence[str]) -> float:
    """A moment of the first week of 1970: in the window, if one is given, and outside of the other windows, if possible."""
    fitting = [moment for moment in _FULL_WEEK if window is None or is_within(window, moment, 0)]
    apart = (moment for moment in fitting if not any(is_within(each, moment, 0) for each in others))
    return float(next(apart, fitting[0] if fitting else 0))


# -- tasks -------------------------------------------------------------------------------------------------------------


class RoutedTask(NamedTuple):
    """A task to dispatch."""

    kind: str
    """`domain`, `intent` or `text`."""
    value: str


def does_touch_routing(edit: DeclaredEdit) -> bool:
    """Whether an edit can change which role takes a task."""
    if edit.section in _WITHOUT_ROUTING or edit.section == GOVERNANCE:
        return False
    if edit.section == ROLES:
        return edit.field not in _ROLE_WITHOUT_ROUTING
    return edit.section != "tools" or edit.field in ("", "intents", "name")


def does_touch_texts(edit: DeclaredEdit) -> bool:
    """Whether an edit can change which role a described task goes to."""
    return (
        does_touch_routing(edit)
        and edit.section != "aliases"
        and edit.field not in ("intents", "domain_routing", "broader")
    )


def does_ask_texts(edits: Iterable[DeclaredEdit], sides: BothVersions) -> bool:
    """Whether declared examples are dispatched: if the edits can touch them, and the organization is not too large for it."""
    return any(map(does_touch_texts, edits)) and not is_too_large_for_texts(sides)


def is_too_large_for_texts(sides: BothVersions) -> bool:
    """Whether ranking every role by its words, for both versions, would take longer than all other questions."""
    return max(len(view.roles) for view in sides) > MAX_ROLES_FOR_TEXTS


def list_tasks(edits: Iterable[DeclaredEdit], sides: BothVersions) -> Iterator[RoutedTask]:
    """The domains, aliases, intents and, if the edits can touch them, examples that either version declares."""
    names: dict[RoutedTask, None] = {}
    for view in sides:
        records = view.records
        handled = view.list_targets_of_kind(EdgeKind.HANDLES)
        names.update(
            dict.fromkeys(
                RoutedTask("domain", each) for each in (*records.domains, *records.aliases, *handled)
            )
        )
        served = view.list_targets_of_kind(EdgeKind.SERVES_INTENT)
        names.update(dict.fromkeys(RoutedTask("intent", each) for each in served))
    yield from names
    if not does_ask_texts(edits, sides):
        return
    texts: dict[str, None] = {}
    edited = {edit.id for edit in edits if edit.section == "domains"}
    for view in sides:
        for post in view.posts:
            texts.update(dict.fromkeys((*post.profile.examples, *post.profile.not_examples)))
        for definition in view.records.domains.values():
            # The hundreds of examples in the shared catalog are the same for every organization, so they are left out.
            if not (definition.own or definition.id in edited):
                continue
            texts.update(dict.fromkeys((*definition.record.examples, *definition.record.triggers)))
    yield from (RoutedTask("text", each) for each in texts)
