"""Reads one file of ProbOS: a domain of its ontology, a standing order, a personality profile or a skill.

A fact of one role or of the organization that is in another file than `organization.yaml` becomes a part of its document,
which `whole` joins, so every value keeps its place.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, NamedTuple, cast, get_args

from msgspec import convert
from msgspec.structs import replace

from orgkernel.diagnostics import catalog as row
from orgkernel.diagnostics.wording import did_you_mean, quote
from orgkernel.documents.records import (
    UNIVERSAL,
    Assignment,
    Capabilities,
    ChainOfCommand,
    CrewRoster,
    Department,
    HierarchyEntry,
    Organization,
    PersonalitySeed,
    Promotion,
    RankLadder,
    RecallTier,
    Requirement,
    RoleProfile,
    RosterMember,
    Skill,
    SkillCatalog,
    SkillCategory,
    SkillUse,
    StandingOrder,
    Tool,
    ToolCatalog,
)
from orgkernel.loading.documents import build_diagnostic, read_broken
from orgkernel.loading.files import Root, SourceText
from orgkernel.loading.formats.building import read_as
from orgkernel.loading.formats.fields import FieldReader
from orgkernel.loading.formats.host_skills import read_skill
from orgkernel.loading.formats.mappings import ReadMapping, read_mapping
from orgkernel.loading.formats.names import MAX_NAME_LENGTH, convert_to_id
from orgkernel.loading.formats.probos.layout import ORDERS, PROFILES
from orgkernel.loading.marks import Marks, pack_mark, start_of
from orgkernel.loading.parsed import MAX_PROBLEMS, DocumentProblem, describe
from orgkernel.loading.shipped_tables import read_ontology_table
from orgkernel.loading.sources import BrokenDocument, FileResult, SourceDocument
from orgkernel.loading.yaml_reader import parse_yaml

READER = "ProbOS"
EVERYONE = "all_crew"
"""The word for tools that the whole crew has."""
AVAILABLE = "available_to"
_FIRST = pack_mark(1, 1)
_ROLE = "role_profile"
_FROM_RANK = "_plus"
_HIGHEST_LEVEL = 7
_TIERS = ("crew", "utility", "infrastructure", "external")
_POST_FIELDS = (
    "id", "title", "department", "reports_to", "authority_over", "tier", "clearance", "capabilities", "does_not_have", "note",
)  # fmt: skip
_TOOL_FIELDS = ("name", "description", "provider", AVAILABLE)
_SCOPES: dict[str, Literal["universal", "role", "required_role"]] = {
    "all_pccs": "universal",
    "role_skills": "role",
    "required_role_skills": "required_role",
}
_RANK_WORDS = {"senior_officer": "senior"}
"""Words of ProbOS for ranks that the shared ladder calls by another one."""
_TRAITS = ("openness", "conscientiousness", "extraversion", "agreeableness", "neuroticism")

Marked = tuple[int, Marks]


class _Reading(NamedTuple):
    """The file that is read, and what was refused in it."""

    source: SourceText
    root: Root
    problems: list[DocumentProblem]
    broken: set[str]
    """The ids of posts that cannot be read."""

    def build(
        self, kind: str, record: Any, marks: Marks, raw: dict[str, Any] | None = None
    ) -> SourceDocument:
        """A document of the file."""
        return read_as(self.source, self.root, kind, record, marks, raw)

    def read_id(self, fields: FieldReader, key: str) -> str:
        """An id that must be there. Empty if it is refused."""
        word = fields.get_text(key, needed=True)
        if len(convert_to_id(word)) > MAX_NAME_LENGTH:
            text = f"{quote(key)} of {fields.subject} has more than {MAX_NAME_LENGTH} characters"
            fields.refuse(key, text, row=row.MALFORMED_ID)
            return ""
        return convert_to_id(word)

    def list_items(self, value: FieldReader, key: str, what: str) -> Iterator[FieldReader]:
        """The mappings of a list, each with its own problems, which are kept."""
        before = len(value.problems)
        items = value.get_only_mappings(key, "id")
        self.problems.extend(value.problems[before:])
        del value.problems[before:]
        for item, marks in items:
            fields = FieldReader(item, marks, what)
            yield fields
            self.problems.extend(fields.problems)

    def finish(self, documents: list[SourceDocument]) -> FileResult:
        """The result for the file."""
        findings = tuple(build_diagnostic(self.source, each) for each in self.problems[:MAX_PROBLEMS])
        broken = (BrokenDocument(self.source.name, self.source.path, _ROLE, frozenset(self.broken)),)
        return FileResult(tuple(documents), broken if self.broken else (), findings)


def read_file(source: SourceText, root: Root) -> FileResult:
    """Read one file, by its name and its folder."""
    folder, name = os.path.split(source.path)
    if name == "SKILL.md":
        return read_skill(source, root)
    if os.path.basename(folder) == ORDERS:
        return _read_order(source, root)
    mapping = read_mapping(source, parse_yaml)
    if mapping.problems:
        return read_broken(source, None, list(mapping.problems))
    reading = _Reading(source, root, [], set())
    if os.path.basename(folder) == PROFILES:
        return _read_profile(reading, mapping)
    read = _DOMAINS.get(os.path.splitext(name)[0], _read_unused)
    return reading.finish(list(read(reading, _open(mapping, f"`{name}`"))))


def _open(mapping: ReadMapping, subject: str) -> FieldReader:
    return FieldReader(mapping.value, (mapping.start, mapping.marks), subject, mapping.start)


def _find_key(value: FieldReader, key: str) -> int:
    """The mark of a key, or of the mapping if the key is missing."""
    return value.marks[key][0] if key in value.marks else value.at


def _list_others(value: FieldReader, *used: str) -> dict[str, Marked]:
    """The marks of the fields that no document contains. An import counts them as lost."""
    return {key: each for key, each in value.marks.items() if key not in used}


def _read_order(source: SourceText, root: Root) -> FileResult:
    """An order. Only the ontology tells for whom it is, by the name of its file."""
    if source.problem is not None:
        return read_broken(source, "standing_order", [source.problem])
    if not source.text.strip():
        return FileResult(skipped=True)
    name = os.path.splitext(os.path.basename(source.path))[0]
    order = StandingOrder(audience="unknown", target=convert_to_id(name)[:MAX_NAME_LENGTH], body=source.text)
    marks = (_FIRST, {"body": (_FIRST, _FIRST), "target": (_FIRST, _FIRST)})
    return FileResult((read_as(source, root, "standing_order", order, marks),))


def _read_profile(reading: _Reading, mapping: ReadMapping) -> FileResult:
    """The personality with which an agent starts."""
    name = os.path.splitext(os.path.basename(reading.source.path))[0]
    agent_id = convert_to_id(name)[:MAX_NAME_LENGTH]
    traits: dict[str, float] = {}
    written, marks = mapping.value.get("personality"), mapping.marks.get("personality")
    if isinstance(written, dict) and marks is not None:
        for trait in _TRAITS:
            value = written.get(trait)
            if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1:
                traits[trait] = float(value)
            elif value is not None:
                text = (
                    f"{quote(trait)} of profile {quote(name)} is {describe(value)}, not a number from 0 to 1"
                )
                at = start_of(marks[1][1][trait][1])
                reading.problems.append(DocumentProblem(row.OUT_OF_RANGE, at, text))
    member = RosterMember(personality=PersonalitySeed(**traits) if traits else None)
    own = {key: each for key, each in mapping.marks.items() if key == "personality"}
    at = mapping.start
    roster = reading.build(
        "crew_roster", CrewRoster(agents={agent_id: member}), (at, {"agents": (at, (at, {agent_id: (at, (at, own))}))})
    )  # fmt: skip
    return reading.finish([roster])


# -- domains of the ontology -------------------------------------------------------------------------------------------


def _read_organization(reading: _Reading, value: FieldReader) -> Iterator[SourceDocument]:
    """The departments, the posts as roles with their chain of command, and the agents that fill them."""
    departments: dict[str, Department] = {}
    department_marks: dict[str, Marked] = {}
    for fields in reading.list_items(value, "departments", "a department"):
        department = reading.read_id(fields, "id")
        if department:
            departments[department] = Department(
                name=fields.get_text("name"), description=fields.get_text("description")
            )
            department_marks[department] = (fields.start("id"), (fields.at, fields.marks))
    hierarchy: dict[str, HierarchyEntry] = {}
    hierarchy_marks: dict[str, Marked] = {}
    external: dict[str, int] = {}
    for fields in reading.list_items(value, "posts", "a post"):
        post = reading.read_id(fields, "id")
        if not post:
            continue
        fields.subject = f"post {quote(post)}"
        if post in hierarchy or post in external:
            text = f"{fields.subject} is declared twice"
            fields.refuse("id", text, "give each post its own id", row.DUPLICATE_KEY)
            continue
        below = fields.get_words("authority_over")
        role = _read_post(reading, fields, post, below)
        if role is None:
            if fields.is_refused:
                reading.broken.add(post)
            else:
                external[post] = fields.start("id")
            continue
        yield role
        names = tuple(convert_to_id(word) for word, _ in below)
        hierarchy[post] = HierarchyEntry(subordinates=names)
        key = fields.marks.get("authority_over", (fields.at, fields.at))[0]
        listed = (key, (key, [mark for _, mark in below]))
        hierarchy_marks[post] = (fields.start("id"), (fields.at, {"subordinates": listed} if below else {}))
    at = _find_key(value, "posts")
    record = Organization(
        org_id="probos",
        departments=departments,
        hierarchy=hierarchy,
        external=tuple(external),
    )
    marks = _list_others(value, "departments", "posts", "assignments")
    marks["hierarchy"] = (at, (at, hierarchy_marks))
    if departments:
        key = _find_key(value, "departments")
        marks["departments"] = (key, (key, department_marks))
    if external:
        marks["external"] = (at, (at, list(external.values())))
    yield reading.build("organization", record, (at, marks))
    yield _read_assignments(reading, value)


def _read_post(
    reading: _Reading, fields: FieldReader, post: str, below: Sequence[tuple[str, int]]
) -> SourceDocument | None:
    """The role of a post. None if a person fills it, or if it is refused."""
    department = convert_to_id(fields.get_text("department", needed=True))
    tier = _read_choice(fields, "tier", _TIERS) or "crew"
    clearance = _read_choice(fields, "clearance", get_args(RecallTier))
    superior = convert_to_id(fields.get_text("reports_to"))
    cannot = fields.get_words("does_not_have")
    fields.report_unknown(_POST_FIELDS, READER, only_misspelled=False, way_out="ProbOS ignores it")
    summaries: list[str] = []
    intents: dict[str, int] = {}
    tools: dict[str, int] = {}
    outputs: list[Marked] = []
    for ability in reading.list_items(fields, "capabilities", f"a capability of {fields.subject}"):
        intent = reading.read_id(ability, "id")
        if intent:
            intents.setdefault(intent, ability.start("id"))
        if summary := ability.get_text("summary"):
            summaries.append(summary)
        for word, mark in ability.get_words("tools"):
            tools.setdefault(convert_to_id(word), mark)
        outputs += [ability.marks[key] for key in ("outputs",) if key in ability.marks]
    if fields.is_refused or tier == "external":
        return None
    record = RoleProfile(
        role_id=post,
        role_name=fields.get_text("title"),
        description=". ".join(each.rstrip(".") for each in summaries) + ("." if summaries else ""),
        department=department or None,
        crew_tier=cast(Any, tier),
        clearance=cast(Any, clearance),
        chain_of_command=ChainOfCommand(reports_to=superior or "user"),
        capabilities=Capabilities(intents=tuple(intents), tools_primary=tuple(tools)),
        does_not_have=tuple(word for word, _ in cannot),
    )
    key, start = fields.marks.get("capabilities", (fields.at, fields.at))
    at = start_of(start)
    own: dict[str, Marked] = {
        name: (key, (at, [*marks.values()]))
        for name, marks in (("intents", intents), ("tools_primary", tools))
        if marks
    }
    empty = {
        name
        for name, given in (("does_not_have", cannot), ("clearance", clearance), ("authority_over", below))
        if not given
    }
    marks = {name: each for name, each in fields.marks.items() if name not in empty}
    marks |= {"role_id": fields.marks["id"], "capabilities": (key, (at, own))}
    for ours, theirs in (("role_name", "title"), ("crew_tier", "tier"), ("description", "capabilities")):
        if theirs in fields.marks and (ours != "description" or summaries):
            marks[ours] = (fields.marks[theirs][0], fields.start(theirs))
    if superior:
        key, start = fields.marks["reports_to"]
        marks["chain_of_command"] = (key, (key, {"reports_to": (key, start)}))
    for each in outputs[:1]:
        marks["outputs"] = each
    return reading.build(_ROLE, record, (fields.at, marks))


def _read_choice(fields: FieldReader, key: str, choices: tuple[str, ...]) -> str | None:
    """One of some words, in any case. None if it is missing, empty or refused."""
    word = fields.get_text(key).casefold()
    if not word or word in choices:
        return word or None
    text = f"{quote(key)} of {fields.subject} is {quote(fields.get_text(key))}"
    fields.refuse(key, text, did_you_mean(word, choices) or f"write {', '.join(choices)}", row.UNKNOWN_VALUE)
    return None


def _read_assignments(reading: _Reading, value: FieldReader) -> SourceDocument:
    """The agents, each with all posts that are assigned to it."""
    agents: dict[str, RosterMember] = {}
    marks: dict[str, Marked] = {}
    for fields in reading.list_items(value, "assignments", "an assignment"):
        agent_id, post = reading.read_id(fields, "agent_type"), reading.read_id(fields, "post_id")
        watches = tuple(convert_to_id(word) for word, _ in fields.get_words("watches")) or ("alpha",)
        if not agent_id or not post:
            continue
        before = agents.get(agent_id, RosterMember(callsign=fields.get_text("callsign")))
        agents[agent_id] = RosterMember(
            callsign=before.callsign,
            assignments=(*before.assignments, Assignment(role=post, watches=watches)),
        )
        own: dict[str, Marked] = {"role": fields.marks["post_id"]}
        if "watches" in fields.marks:
            own["watches"] = fields.marks["watches"]
        if agent_id not in marks:
            listed: Marks = (fields.at, [])
            below = {"assignments": (fields.at, listed)}
            below |= {key: fields.marks[key] for key in ("callsign",) if key in fields.marks}
            marks[agent_id] = (fields.start("agent_type"), (fields.at, below))
        marks[agent_id][1][1]["assignments"][1][1].append((fields.at, own))
    at = _find_key(value, "assignments")
    return reading.build("crew_roster", CrewRoster(agents=agents), (at, {"agents": (at, (at, marks))}))


def _read_skills(reading: _Reading, value: FieldReader) -> Iterator[SourceDocument]:
    """The skills that posts require, for each post a part of its role, and the requirements for promotions.

    The skills themselves are in the program code of ProbOS. The shared catalog has those of the whole crew.
    """
    catalog = read_ontology_table("skills.yaml")
    shared = catalog["skills"]
    universal = [skill for skill, entry in shared.items() if entry.get("category") == UNIVERSAL]
    skills = {skill: convert(shared[skill], Skill) for skill in universal}
    marks: dict[str, Marked] = dict.fromkeys(skills, (value.at, value.at))
    for post, fields in _list_entries(reading, value, "role_templates"):
        uses: list[SkillUse] = []
        use_marks: list[Marks] = []
        for key in ("required", "optional"):
            for item in reading.list_items(fields, key, f"a skill of post {quote(post)}"):
                skill = reading.read_id(item, "skill_id")
                if not skill:
                    continue
                level = item.get_number("min_proficiency", _HIGHEST_LEVEL) or 1
                uses.append(SkillUse(skill=skill, min_proficiency=level, optional=key == "optional"))
                use_marks.append((item.at, {"skill": item.marks["skill_id"]} | item.marks))
                if skill not in skills:
                    entry = shared.get(skill)
                    skills[skill] = convert(entry, Skill) if entry else Skill(category="role")
                    marks[skill] = (item.start("skill_id"), item.start("skill_id"))
        if uses:
            at = fields.at
            role = RoleProfile(
                role_id=convert_to_id(post), overlay=True, capabilities=Capabilities(skills=tuple(uses))
            )
            yield reading.build(
                _ROLE, role, (at, {"capabilities": (at, (at, {"skills": (at, (at, use_marks))}))})
            )
    at = _find_key(value, "role_templates")
    taxonomy = value.value.get("skill_taxonomy")
    categories = convert(catalog["categories"], dict[str, SkillCategory])
    scale: list[str] = []
    if isinstance(taxonomy, dict):
        inner = FieldReader(taxonomy, value.marks["skill_taxonomy"][1], "`skill_taxonomy`")
        for item in reading.list_items(inner, "categories", "a category"):
            if category := reading.read_id(item, "id"):
                categories[category] = SkillCategory(
                    name=item.get_text("name"), description=item.get_text("description")
                )
        levels = reading.list_items(inner, "proficiency_scale", "a level")
        scale = [item.get_text("name", needed=True).casefold() for item in levels]
        if scale and len(scale) != _HIGHEST_LEVEL:
            text = f"the proficiency scale has {len(scale)} levels, not {_HIGHEST_LEVEL}"
            reading.problems.append(DocumentProblem(row.WRONG_LENGTH, inner.start("proficiency_scale"), text))
            scale = []
    record = SkillCatalog(
        skills=skills, categories=categories, proficiency_scale=tuple(scale) if scale and all(scale) else None
    )
    others = _list_others(value, "role_templates", "skill_taxonomy", "qualification_paths")
    yield reading.build("skill_catalog", record, (at, {**others, "skills": (at, (at, marks))}))
    yield from _read_paths(reading, value)


def _list_entries(reading: _Reading, value: FieldReader, key: str) -> Iterator[tuple[str, FieldReader]]:
    """The mappings below a mapping, by name."""
    written = value.value.get(key)
    if written is None:
        return
    if not isinstance(written, dict):
        text = f"{quote(key)} is {describe(written)}, not a mapping"
        reading.problems.append(DocumentProblem(row.WRONG_TYPE, value.start(key), text))
        return
    for name, item in written.items():
        marks = value.marks[key][1][1][name]
        if isinstance(item, dict):
            fields = FieldReader(item, marks[1], f"{quote(name)} of {quote(key)}")
            yield name, fields
            reading.problems.extend(fields.problems)
        else:
            text = f"{quote(name)} of {quote(key)} is {describe(item)}, not a mapping"
            reading.problems.append(DocumentProblem(row.WRONG_TYPE, marks[0], text))


def _read_paths(reading: _Reading, value: FieldReader) -> Iterator[SourceDocument]:
    """The ladder of the shared catalog with these requirements. ProbOS has its ranks in its program code."""
    promotions: dict[str, Promotion] = {}
    marks: dict[str, Marked] = {}
    for path, fields in _list_entries(reading, value, "qualification_paths"):
        rank = find_rank(path.rpartition("_to_")[2])
        requirements: list[Requirement] = []
        for item in reading.list_items(fields, "requirements", f"a requirement of {quote(path)}"):
            scope = _read_choice(item, "scope", tuple(_SCOPES))
            level = item.get_number("min_proficiency", _HIGHEST_LEVEL)
            count = item.get_number("min_count", 1_000)
            if scope is not None and level is not None:
                requirements.append(
                    Requirement(skills=_SCOPES[scope], min_proficiency=level, min_count=count)
                )
        promotions[rank] = Promotion(requirements=tuple(requirements))
        marks[rank] = (fields.at, (fields.at, fields.marks))
    if promotions:
        ladder = get_shared_ladder()
        unknown = [rank for rank in promotions if rank not in {each.id for each in ladder.ranks}]
        for rank in unknown:
            text = (
                f"a qualification path leads to the rank {quote(rank)}, which the shared ladder does not have"
            )
            help = did_you_mean(rank, [each.id for each in ladder.ranks])
            reading.problems.append(DocumentProblem(row.UNKNOWN_VALUE, marks[rank][0], text, help))
        known = {rank: each for rank, each in promotions.items() if rank not in unknown}
        record = replace(ladder, promotions=known)
        at = value.start("qualification_paths")
        yield reading.build("rank_ladder", record, (at, {"promotions": (at, (at, marks))}))


def get_shared_ladder() -> RankLadder:
    """The ranks of the shared catalog, without its promotions: those of ProbOS are in its own file."""
    table = read_ontology_table("ranks.yaml")
    fields = {key: table[key] for key in ("ranks", "matrices")}
    return convert(fields, RankLadder, strict=False)


def find_rank(word: str) -> str:
    """The rank of the shared ladder for a word of ProbOS.

    >>> find_rank("lieutenant"), find_rank("senior_officer")
    ('lieutenant', 'senior')
    """
    return _RANK_WORDS.get(word, convert_to_id(word))


def _read_resources(reading: _Reading, value: FieldReader) -> Iterator[SourceDocument]:
    """The tools. What they do is not declared, so each is treated as able to delete or overwrite data."""
    tools: dict[str, Tool] = {}
    marks: dict[str, Marked] = {}
    below = _list_others(value, "tool_capabilities")
    available: dict[str, list[str]] = {}
    for fields in reading.list_items(value, "tool_capabilities", "a tool"):
        tool = reading.read_id(fields, "id")
        if not tool:
            continue
        fields.subject = f"tool {quote(tool)}"
        to = fields.get_text(AVAILABLE) or EVERYONE
        rank = find_rank(to.removesuffix(_FROM_RANK)) if to.endswith(_FROM_RANK) else None
        if to != EVERYONE and rank is None:
            text = f"{quote(AVAILABLE)} of {fields.subject} is {quote(to)}, so no role has the tool"
            way_out = f"write `{EVERYONE}`, or a rank such as `lieutenant{_FROM_RANK}`"
            fields.refuse(AVAILABLE, text, way_out, row.UNKNOWN_VALUE)
        else:
            available[tool] = [EVERYONE]
        tools[tool] = Tool(
            name=fields.get_text("name"),
            description=fields.get_text("description"),
            type="infra_service",
            provider=fields.get_text("provider"),
            side_effects="destructive",
            rank_matrix={rank: "full"} if rank else None,
        )
        own = {key: each for key, each in fields.marks.items() if key in _TOOL_FIELDS}
        if rank:
            own["rank_matrix"] = own[AVAILABLE]
        marks[tool] = (fields.start("id"), (fields.at, own))
        below |= {key: each for key, each in fields.marks.items() if key not in (*own, "id")}
    at = _find_key(value, "tool_capabilities")
    below["tools"] = (at, (at, marks))
    yield reading.build("tool_catalog", ToolCatalog(tools=tools), (at, below), {AVAILABLE: list(available)})


def _read_vessel(reading: _Reading, value: FieldReader) -> Iterator[SourceDocument]:
    """The name of the organization, and its alert conditions."""
    vessel = value.value.get("vessel")
    if not isinstance(vessel, dict):
        return
    fields = FieldReader(vessel, value.marks["vessel"][1], "`vessel`")
    marks = _list_others(fields, "identity", "alert_conditions")
    name = description = ""
    if isinstance(vessel.get("identity"), dict):
        identity = FieldReader(vessel["identity"], fields.marks["identity"][1], "`identity`")
        name, description = identity.get_text("name"), identity.get_text("description")
        marks |= _list_others(identity, "name", "description")
        for ours, theirs in (("org_name", "name"), ("description", "description")):
            if theirs in identity.marks:
                marks[ours] = identity.marks[theirs]
        reading.problems.extend(identity.problems)
    alerts = [convert_to_id(word) for word, _ in fields.get_words("alert_conditions")]
    if alerts:
        marks["alerts"] = fields.marks["alert_conditions"]
    reading.problems.extend(fields.problems)
    record = Organization(org_id="probos", org_name=name, description=description, hierarchy={})
    if alerts:
        record = Organization(
            org_id="probos", org_name=name, description=description, hierarchy={}, alerts=tuple(alerts)
        )
    yield reading.build("organization", record, (value.at, marks))


def _read_operations(reading: _Reading, value: FieldReader) -> Iterator[SourceDocument]:
    """The watches."""
    watches = {
        watch: fields.start("id")
        for fields in reading.list_items(value, "watch_types", "a watch")
        if (watch := reading.read_id(fields, "id"))
    }
    marks = _list_others(value, "watch_types")
    record = Organization(org_id="probos", hierarchy={})
    if watches:
        record = Organization(org_id="probos", hierarchy={}, watches=tuple(watches))
        key = value.marks["watch_types"][0]
        marks["watches"] = (key, (key, list(watches.values())))
    yield reading.build("organization", record, (value.at, marks))


def _read_unused(reading: _Reading, value: FieldReader) -> Iterator[SourceDocument]:
    """A domain without a counterpart. Its sections are kept as an empty catalog, so that an import counts them as lost."""
    yield reading.build("tool_catalog", ToolCatalog(), (value.at, value.marks))


_DOMAINS: dict[str, Callable[[_Reading, FieldReader], Iterator[SourceDocument]]] = {
    "organization": _read_organization,
    "skills": _read_skills,
    "resources": _read_resources,
    "vessel": _read_vessel,
    "operations": _read_operations,
}
