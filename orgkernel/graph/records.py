"""The resolved declarations of one organization: its posts, the catalog entries it sees, and the levels of its ranks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Generic, TypeVar

import msgspec
from msgspec.structs import replace

from orgkernel.diagnostics import Diagnostic, Place
from orgkernel.documents.records import (
    USER,
    CallLimit,
    CognitiveSkill,
    Domain,
    MatrixRow,
    Organization,
    PacePlan,
    Person,
    Plan,
    Policy,
    Procedure,
    ProgramEntry,
    Promotion,
    Qualification,
    Rank,
    Record,
    RoleOverride,
    RoleProfile,
    RosterMember,
    Skill,
    StandingOrder,
    SystemOrigin,
    Tool,
    ToolLevel,
    Webhook,
)
from orgkernel.graph.governance import LayerEntry, get_declaring_document, locate_edges
from orgkernel.loading.marks import RouteStep
from orgkernel.loading.sources import SourceDocument

EntryT = TypeVar("EntryT")


class Definition(msgspec.Struct, Generic[EntryT], frozen=True):
    """A catalog entry as an organization sees it: the first one with its id, in the order of docs/documents.md."""

    id: str
    record: EntryT
    document: SourceDocument
    section: str
    """The section of the document; empty if the document is the entry."""
    own: bool
    """Whether the organization itself declares it, not a shared catalog."""

    def place(self, *route: RouteStep, key: bool = False) -> Place:
        """The place of the entry, or of a value in it."""
        return self.document.place(*self._route, *route, key=key or not route)

    def locate_items(self, *route: RouteStep) -> list[Place]:
        """The place of each item of a list in the entry."""
        return self.document.locate_items(*self._route, *route)

    @property
    def _route(self) -> tuple[str, ...]:
        return (self.section, self.id) if self.section else ()


class AliasTarget(msgspec.Struct, frozen=True):
    """An id of another vocabulary. Without a target, it is declared to stand for no domain here."""

    target: str | None
    place: Place


Matrices = Mapping[str, Definition[tuple[MatrixRow, ...]]]


class RankRow(msgspec.Struct, frozen=True):
    """The highest level of each rank for a tool."""

    levels: Mapping[str, ToolLevel]
    """The level of every rank on the ladder, lowest first."""
    place: Place
    """The place of the row."""
    statement: str
    """The declaration that contains the row: `tool:ID`, `matrix:ID/ROW`, or `organization:ID`."""
    declared: Mapping[str, ToolLevel]
    """The entries as written."""


def fill_upwards(entries: Mapping[str, ToolLevel], ranks: Iterable[Rank]) -> dict[str, ToolLevel]:
    """The level of every rank: an entry applies upward until the next one, and ranks below the first have none.

    >>> ranks = (Rank(id="ensign"), Rank(id="lieutenant"), Rank(id="commander"))
    >>> fill_upwards({"lieutenant": "read"}, ranks)
    {'ensign': 'none', 'lieutenant': 'read', 'commander': 'read'}
    """
    levels: dict[str, ToolLevel] = {}
    level: ToolLevel = "none"
    for rank in ranks:
        level = entries.get(rank.id, level)
        levels[rank.id] = level
    return levels


def find_row(
    tool: Definition[Tool],
    organization: Organization,
    document: SourceDocument,
    ranks: tuple[Rank, ...],
    matrices: Matrices,
) -> RankRow | None:
    """The row that decides for a tool; None if no rank is limited.

    An undeclared matrix leaves every rank without access, because access fails closed.
    """
    if not ranks:
        return None
    named = tool.record.rank_matrix
    if named is not None and not isinstance(named, str):
        return _build_row(named, tool.place("rank_matrix"), f"tool:{tool.id}", ranks)
    for row, place, statement in _find_candidate_rows(tool, named, organization, matrices):
        return _build_row(row.levels, place, statement, ranks)
    if named is not None and not is_matrix(named, matrices):
        return _build_row({}, tool.place("rank_matrix"), f"tool:{tool.id}", ranks)
    wanted = organization.rank_matrix
    if named is None and wanted is not None and wanted not in matrices:
        return _build_row({}, document.place("rank_matrix"), f"organization:{organization.org_id}", ranks)
    return None


def is_matrix(name: str, matrices: Matrices) -> bool:
    """Whether a tool can refer to this name, because a matrix or a row of a matrix has it."""
    return name in matrices or any(row.name == name for each in matrices.values() for row in each.record)


def _build_row(
    entries: Mapping[str, ToolLevel], place: Place, statement: str, ranks: tuple[Rank, ...]
) -> RankRow:
    return RankRow(fill_upwards(entries, ranks), place, statement, entries)


def _find_candidate_rows(
    tool: Definition[Tool], named: str | None, organization: Organization, matrices: Matrices
) -> Iterator[tuple[MatrixRow, Place, str]]:
    """The candidate rows for a tool, the deciding one first: a row with that name, else the first matching row of a matrix."""
    preferred = organization.rank_matrix
    if named is not None:
        # The organization's matrix comes first, because two matrices can have rows with one name.
        order = sorted(matrices.values(), key=lambda matrix: matrix.id != preferred)
        for matrix in order:
            for number, row in enumerate(matrix.record):
                if row.name == named:
                    yield row, matrix.place(number), f"matrix:{matrix.id}/{row.name}"
    matrix_id = preferred if named is None else named
    if matrix_id is not None and matrix_id in matrices:
        matrix = matrices[matrix_id]
        for number, row in enumerate(matrix.record):
            if does_match_tool(row, tool.record):
                yield row, matrix.place(number), f"matrix:{matrix.id}/{row.name}"


def does_match_tool(row: MatrixRow, tool: Tool) -> bool:
    """Whether a row is for tools of this type with these side effects."""
    return (not row.types or tool.type in row.types) and (
        not row.side_effects or tool.side_effects in row.side_effects
    )


# The depth at which an override replaces values: `pace_plan/contingent` has two levels, `department` one.
_REPLACED_AT = 2


class RolePost:
    """A profile at its place in one organization, with the overrides of the organization. Immutable."""

    __slots__ = (
        "_changed",
        "_override",
        "document",
        "governed",
        "organization",
        "role_id",
        "shared_profile",
        "superior",
    )

    def __init__(
        self,
        role_id: str,
        document: SourceDocument,
        organization: SourceDocument,
        shared_profile: bool = False,
        superior: str | None = None,
        override: RoleOverride | None = None,
        governed: LayerEntry | None = None,
    ) -> None:
        self.role_id = role_id
        self.document = document
        self.organization = organization
        self.shared_profile = shared_profile
        """Whether several organizations include this profile. Then its `reports_to` is only a default."""
        self.superior = superior
        """The superior of a shared profile in the hierarchy."""
        self.governed = governed
        """The hand-off layer that the governance document assigns to the role, with its place."""
        self._changed: RoleProfile | None = None
        self._override = override

    @property
    def profile(self) -> RoleProfile:
        """The profile with the organization's overrides. It is cached if it differs from the document's."""
        if self._changed is not None:
            return self._changed
        written: RoleProfile = self.document.record  # type: ignore[assignment]  # no check here: this is read some thirty times for each role
        if self.superior is None and self._override is None and self.governed is None:
            return written
        profile = adopt_superior(written, self.superior)
        if self._override is not None:
            profile = apply_override(
                profile, self._override, partial(self.organization.has, "overrides", self.role_id)
            )
        if self.governed is not None and profile.layer != self.governed.layer:
            profile = replace(profile, layer=self.governed.layer)
        if profile is not written:
            self._changed = profile
        return profile

    @property
    def written_layer(self) -> str | None:
        """The layer in the profile itself."""
        written: RoleProfile = self.document.record  # type: ignore[assignment]
        return written.layer

    @property
    def is_as_written(self) -> bool:
        """Whether the post depends only on the document of its profile, not on its organization."""
        is_own = self._override is None and self.governed is None
        return is_own and self.superior is None and not self.shared_profile

    @property
    def is_overridden(self) -> bool:
        """Whether the organization overrides anything of the profile."""
        return self._override is not None

    def place(self, *route: RouteStep, key: bool = False) -> Place:
        """The place of a value of the post: among the overrides of the organization, or in the profile."""
        document, full = self.locate_written(route)
        return document.place(*full, key=key)

    def locate(self, route: Sequence[RouteStep], names: Sequence[str]) -> list[tuple[str, int, bool]]:
        """For some keys of the mapping at a route: file, line (or the line where they would be), and whether they are
        written.
        """
        if not self.is_overridden and self.governed is None:
            return self.document.locate(route, names)
        places = [self.place(*route, name, key=True) for name in names]
        return [
            (place.file, place.line, self.has(*route, name))
            for place, name in zip(places, names, strict=True)
        ]

    def locate_items(self, *route: RouteStep) -> list[Place]:
        """The place of each item of a list of the post."""
        document, full = self.locate_written(route)
        return document.locate_items(*full)

    def locate_within(self, offset: int, *route: RouteStep) -> Place:
        """The place of a character in a text of the post."""
        document, full = self.locate_written(route)
        return document.locate_within(offset, *full)

    def has(self, *route: RouteStep) -> bool:
        """Whether the profile, or an override of the organization, sets a value at a route: its keys and list positions."""
        document, full = self.locate_written(route)
        return document.has(*full)

    def locate_written(self, route: tuple[RouteStep, ...]) -> tuple[SourceDocument, tuple[RouteStep, ...]]:
        """The document that contains a value of the post, or would contain it, and its route there."""
        if self.governed is not None and route == ("layer",):
            return self.governed.document, self.governed.route
        if not self.is_overridden:
            return self.document.part(route), route
        # A value that an override replaces as a whole, such as a tier, is written there or nowhere.
        override = ("overrides", self.role_id, *route)
        if route and self.organization.has(*override[: 2 + _REPLACED_AT]):
            return self.organization, override
        return self.document.part(route), route


class WithheldAgent(msgspec.Struct, frozen=True):
    """Why an agent is out of service."""

    role_id: str
    """The first of its roles that is out of service."""
    place: Place
    """The assignment of the agent to it."""
    fault: Diagnostic
    """The error in the file of the role."""


class OrgRecords(msgspec.Struct, frozen=True):
    """The records of an organization, from which its questions are answered together with its edges."""

    org_id: str
    document: SourceDocument
    organization: Organization
    posts: Mapping[str, RolePost]
    """The posts by role id, in the order of the hierarchy."""
    without_profile: Mapping[str, Place]
    """Roles in the hierarchy that have no profile, with their places in it."""
    domains: Mapping[str, Definition[Domain]]
    aliases: Mapping[str, AliasTarget]
    plans: Mapping[str, Definition[Plan]]
    tools: Mapping[str, Definition[Tool]]
    skills: Mapping[str, Definition[Skill]]
    proficiency_scale: tuple[str, ...] = ()
    excused: frozenset[str] = frozenset()
    """Role ids that an unreadable file seems to declare. Their absence is not reported."""
    withheld: Mapping[str, Diagnostic] = msgspec.field(default_factory=dict)
    """Roles that are out of service because of an error in their own files, each with the error."""
    withheld_agents: Mapping[str, WithheldAgent] = msgspec.field(default_factory=dict)
    """Agents that are out of service because a role that they fill is."""
    incomplete: frozenset[str] = frozenset()
    """Kinds of catalog of which a file could not be read. Missing ids of these kinds are not reported."""
    elsewhere: Mapping[str, tuple[str, ...]] = msgspec.field(default_factory=dict)
    """The other organizations that include each role."""
    files: frozenset[str] = frozenset()
    """The names of the organization's files, including unreadable ones."""
    unread: frozenset[str] = frozenset()
    """The names of its unreadable files."""
    digest: str = ""
    catalogs: tuple[SourceDocument, ...] = ()
    """The visible catalog documents, nearest first."""
    catalog_counts: tuple[int, ...] = ()
    """The number of its own catalogs, of those in the parent folder, and of shared ones."""
    skill_categories: frozenset[str] = frozenset()
    ranks: tuple[Rank, ...] = ()
    """The ranks, lowest first, of the first ladder with ranks, from the organization's own folder upward."""
    ladder: SourceDocument | None = None
    """The document of the ladder that `ranks` comes from."""
    promotions: Mapping[str, Definition[Promotion]] = msgspec.field(default_factory=dict)
    """The requirements for each rank, from the same ladder."""
    matrices: Mapping[str, Definition[tuple[MatrixRow, ...]]] = msgspec.field(default_factory=dict)
    qualifications: Mapping[str, Definition[Qualification]] = msgspec.field(default_factory=dict)
    programs: Mapping[str, Definition[ProgramEntry]] = msgspec.field(default_factory=dict)
    """The entries for programs that the organization adds to the shipped command catalog."""
    people: Mapping[str, Definition[Person]] = msgspec.field(default_factory=dict)
    system_origins: Mapping[str, Definition[SystemOrigin]] = msgspec.field(default_factory=dict)
    """Declared origins. Those of `BUILT_IN_ORIGINS` exist in addition."""
    webhooks: Mapping[str, Definition[Webhook]] = msgspec.field(default_factory=dict)
    policies: Mapping[str, Definition[Policy]] = msgspec.field(default_factory=dict)
    limits: Mapping[str, Definition[CallLimit]] = msgspec.field(default_factory=dict)
    agents: Mapping[str, Definition[RosterMember]] = msgspec.field(default_factory=dict)
    """Members of every visible roster. `agent fills role` edges tell which fill roles here."""
    bills: Mapping[str, SourceDocument] = msgspec.field(default_factory=dict)
    """The document of each visible bill, by slug."""
    procedures: Mapping[str, Definition[Procedure]] = msgspec.field(default_factory=dict)
    cognitive_skills: Mapping[str, Definition[CognitiveSkill]] = msgspec.field(default_factory=dict)
    """The cognitive skills, keyed by name."""
    orders: Mapping[tuple[str, str], tuple[Definition[StandingOrder], ...]] = msgspec.field(
        default_factory=dict
    )
    """Standing orders by recipient, farthest first: `("role", "co")`, `("federation", "")`."""
    governance: SourceDocument | None = None
    """The nearest governance document. Its layers, edges and limits replace the organization's own in `organization`."""

    def get_declaring_document(self, section: str, *route: RouteStep) -> SourceDocument:
        """The document whose `layers`, `dispatch_edges` or `limits` apply: the governance document or the organization's."""
        return get_declaring_document(self.document, self.governance, section, *route)

    @property
    def edges_place(self) -> Place:
        """The place of the hand-off edges that apply."""
        return locate_edges(self.document, self.governance)

    def get_rank_row(self, tool_id: str) -> RankRow | None:
        """The row that decides each rank's level for a tool, with its place; None if no rank is limited."""
        tool = self.tools.get(tool_id)
        if tool is None:
            return None
        return find_row(tool, self.organization, self.document, self.ranks, self.matrices)

    def get_rank_levels(self, tool_id: str) -> Mapping[str, ToolLevel] | None:
        """The level of every rank for a tool, lowest rank first; None if no rank is limited."""
        row = self.get_rank_row(tool_id)
        return None if row is None else row.levels


def list_external_ids(records: OrgRecords) -> frozenset[str]:
    """Ids of superiors outside the organization."""
    return frozenset({USER, *records.organization.external})


def apply_override(
    profile: RoleProfile, override: RoleOverride, is_written: Callable[..., bool]
) -> RoleProfile:
    """The profile with the fields that the override sets (`is_written(*route)`)."""
    changes: dict[str, object] = {}
    for name in filter(is_written, override.__struct_fields__):
        in_profile, in_override = getattr(profile, name), getattr(override, name)
        if in_profile is None and name == "pace_plan":
            in_profile = PacePlan()
        if isinstance(in_override, Record) and isinstance(in_profile, Record):
            fields = in_override.__struct_fields__
            written = {each: getattr(in_override, each) for each in fields if is_written(name, each)}
            kept = {key: each for key, each in written.items() if not _is_null_for_required(key, each)}
            changes[name] = replace(in_profile, **kept)
        elif not _is_null_for_required(name, in_override):
            changes[name] = in_override
    return replace(profile, **changes)


def _is_null_for_required(name: str, value: object) -> bool:
    """Whether `null` is written for a field that every role has. It cannot be removed, so it is kept."""
    return value is None and name in ("doctrine", "requirements", "primary")


def adopt_superior(profile: RoleProfile, superior: str | None) -> RoleProfile:
    """A shared profile with its superior in one organization.

    Its `reports_to` is only a default, and a tier that escalates to this default escalates to the actual superior.
    """
    default, plan = profile.chain_of_command.reports_to, profile.pace_plan
    if plan is None or default is None or superior in (None, default):
        return profile
    tiers = {name: getattr(plan, name) for name in plan.__struct_fields__}
    moved = {
        name: replace(tier, escalate_to=superior)
        for name, tier in tiers.items()
        if tier is not None and tier.escalate_to == default
    }
    return replace(profile, pace_plan=replace(plan, **moved)) if moved else profile
