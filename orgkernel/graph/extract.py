"""Extract the edges of an organization from its records, each with the place that declares it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from orgkernel.diagnostics import Place
from orgkernel.documents.records import (
    STAR,
    Capabilities,
    CrewRoster,
    HandoffRights,
    PlanStep,
    Policy,
    Prerequisite,
    Procedure,
    Qualification,
    RoleProfile,
    RosterMember,
    SkillUse,
    Tool,
    ToolNeed,
    ToolRules,
)
from orgkernel.graph.cognitive_skills import (
    find_metadata_key,
    is_for_department,
    list_required_skills,
    open_skills,
)
from orgkernel.graph.columns import EdgeFan, EdgeRun, build_single_run
from orgkernel.graph.records import Definition, OrgRecords, RolePost
from orgkernel.graph.schema import Edge, EdgeKind, NodeKind
from orgkernel.loading.marks import Marks, RouteStep, find_item_marks, find_mark, get_children
from orgkernel.loading.sources import SourceDocument
from orgkernel.runtime.tiers import ABOVE_PRIMARY

_NO_CAPABILITIES, _NO_RIGHTS = Capabilities(), HandoffRights()
_Marked = tuple[Sequence[str], Sequence[int]]


def extract_edges(records: OrgRecords) -> Iterator[EdgeRun | EdgeFan]:
    """Every edge of an organization, in the order of declaration. Undeclared ids are kept as written."""
    yield from _extract_hierarchy(records)
    overridden = records.organization.overrides
    for role_id, post in records.posts.items():
        document, profile = post.document, post.profile
        parts = document.parts
        for part in parts:
            able = profile.capabilities if len(parts) == 1 else _select_capabilities(part, document)
            yield from _extract_capabilities(role_id, able, part.name, part.marks)
        # Most roles have one file and no override. Then the marks of the file serve directly, without a search for each
        # value.
        alone = len(parts) == 1 and role_id not in overridden
        yield from _extract_relations(records, post, profile, document.marks if alone else None)
    yield from _extract_channels(records)
    yield from _extract_catalogs(records)
    yield from map(build_single_run, extract_access_edges(records))
    by_skill = _group_roles_by_skill(records) if records.cognitive_skills or records.procedures else {}
    yield from _extract_cognitive_skills(records, by_skill)
    yield from _extract_procedures(records, by_skill)


def _extract_hierarchy(records: OrgRecords) -> Iterator[EdgeRun]:
    document, hierarchy = records.document, records.organization.hierarchy
    commanded: dict[str, tuple[str, int]] = {}
    reporting = []
    for superior, post in hierarchy.items():
        if post.subordinates:
            route = ("hierarchy", superior, "subordinates")
            part = document.part(route)
            item_marks = find_item_marks(part.marks, route)
            for subordinate, mark in zip(post.subordinates, item_marks, strict=True):
                # A role that two superiors list is a finding. The first one commands it, so that every other answer
                # stays defined.
                commanded.setdefault(subordinate, (part.name, mark))
                reporting.append(
                    EdgeRun(EdgeKind.REPORTS_TO, subordinate, (superior,), "hierarchy", part.name, (mark,))
                )
    yield from _extract_inclusions(records, commanded)
    yield from reporting
    for role_id, role_post in records.posts.items():
        # The hierarchy of an organization decides over the profile, because organizations share profiles.
        if role_id in commanded:
            continue
        reports_to = role_post.profile.chain_of_command.reports_to
        if reports_to is not None:
            yield _build_single_edge(
                role_post, EdgeKind.REPORTS_TO, reports_to, "profile", ("chain_of_command", "reports_to")
            )


def _extract_inclusions(records: OrgRecords, commanded: Mapping[str, tuple[str, int]]) -> Iterator[EdgeRun]:
    """The roles in the hierarchy and in the sources of the organization."""
    document, hierarchy = records.document, records.organization.hierarchy
    by_file: dict[str, dict[str, int]] = {}
    for role_id in records.posts:
        if role_id in hierarchy:
            part = document.part(("hierarchy", role_id))
            file, mark = part.name, find_mark(part.marks, ("hierarchy", role_id), key=True)
        else:
            file, mark = commanded[role_id]
        by_file.setdefault(file, {})[role_id] = mark
    for file, named in by_file.items():
        yield EdgeRun(EdgeKind.INCLUDES, records.org_id, tuple(named), "", file, tuple(named.values()))


def _select_capabilities(part: SourceDocument, document: SourceDocument) -> Capabilities:
    """The capabilities in one of the files of a role that no earlier file of it sets."""
    profile, merged = part.record, document.record
    assert isinstance(profile, RoleProfile)
    assert isinstance(merged, RoleProfile)
    counts = {
        name: getattr(merged.capabilities, name)
        for name in Capabilities.__struct_fields__
        if document.part(("capabilities", name)) is part
    }
    return Capabilities(**counts)


def _extract_capabilities(role: str, able: Capabilities, file: str, marks: Marks) -> Iterator[EdgeRun]:
    # Most edges come from these lists, which overrides cannot replace. The marks of ids are integers.
    if able == _NO_CAPABILITIES:
        return
    written = get_children(marks, "capabilities")
    if able.bst_domains:
        domains, at = _drop_repeats(able.bst_domains, written["bst_domains"][1][1])
        yield EdgeRun(EdgeKind.HANDLES, role, domains, "", file, at)
    if able.htn_plans:
        plans, at = _drop_repeats(able.htn_plans, written["htn_plans"][1][1])
        yield EdgeRun(EdgeKind.FOLLOWS, role, plans, "", file, at)
    if able.tools_primary:
        at = written["tools_primary"][1][1]
        yield EdgeRun(EdgeKind.EQUIPPED_WITH, role, able.tools_primary, "primary:full", file, at)
    if able.tools_secondary:
        at = written["tools_secondary"][1][1]
        yield EdgeRun(EdgeKind.EQUIPPED_WITH, role, able.tools_secondary, "secondary:full", file, at)
    for number, use in enumerate(able.tools):
        mark = find_mark(marks, ("capabilities", "tools", number, "tool"))
        yield EdgeRun(EdgeKind.EQUIPPED_WITH, role, (use.tool,), f"stated:{use.level}", file, (mark,))
    for number, entry in enumerate(able.skills):
        skill = entry if isinstance(entry, SkillUse) else SkillUse(skill=entry)
        need = "optional" if skill.optional else "required"
        mark = find_mark(marks, ("capabilities", "skills", number, "skill"))
        attribute = f"{need}:{skill.min_proficiency}"
        yield EdgeRun(EdgeKind.REQUIRES, role, (skill.skill,), attribute, file, (mark,))
    if able.intents:
        intents, at = _drop_repeats(able.intents, written["intents"][1][1])
        yield EdgeRun(EdgeKind.SERVES_INTENT, role, intents, "", file, at)


def _drop_repeats(ids: Sequence[str], marks: Sequence[int]) -> _Marked:
    """Each id once, with its first place."""
    if len(set(ids)) == len(ids):
        return ids, marks
    first: dict[str, int] = {}
    for each, mark in zip(ids, marks, strict=True):
        first.setdefault(each, mark)
    return tuple(first), tuple(first.values())


def _build_single_edge(
    post: RolePost, kind: EdgeKind, target: str, attribute: str, route: tuple[RouteStep, ...]
) -> EdgeRun:
    """The edge for one value of a post."""
    document, full = post.locate_written(route)
    return EdgeRun(
        kind, post.role_id, (target,), attribute, document.name, (find_mark(document.marks, full),)
    )


def _extract_relations(
    records: OrgRecords, post: RolePost, profile: RoleProfile, marks: Marks | None
) -> Iterator[EdgeRun]:
    """The edges for single values; `marks` are those of the profile if nothing of it is overridden."""
    role, file = post.role_id, post.document.name
    if profile.department is not None:
        yield _build_single_edge(post, EdgeKind.BELONGS_TO, profile.department, "", ("department",))
    plan = profile.pace_plan
    if plan is not None:
        tiers = (plan.alternate, plan.contingent, plan.emergency)
        for tier_name, tier in zip(ABOVE_PRIMARY, tiers, strict=True):
            if tier is None or tier.escalate_to is None:
                continue
            if marks is None:
                route = ("pace_plan", tier_name, "escalate_to")
                yield _build_single_edge(post, EdgeKind.ESCALATES_TO, tier.escalate_to, tier_name, route)
            else:
                mark = get_children(marks, "pace_plan", tier_name)["escalate_to"][1]
                yield EdgeRun(EdgeKind.ESCALATES_TO, role, (tier.escalate_to,), tier_name, file, (mark,))
    if profile.entry_rank is not None:
        yield _build_single_edge(post, EdgeKind.STARTS_AT, profile.entry_rank, "", ("entry_rank",))
    for number, use in enumerate(profile.may_grant):
        yield _build_single_edge(post, EdgeKind.MAY_GRANT, use.tool, use.level, ("may_grant", number, "tool"))
    if profile.handoff == _NO_RIGHTS:
        return
    for number, target in enumerate(profile.handoff.may_to):
        yield _build_single_edge(post, EdgeKind.MAY_HAND_WORK_TO, target, "", ("handoff", "may_to", number))
    for number, source in enumerate(profile.handoff.may_from):
        # One edge for one permission, or it would be listed, and counted, twice.
        if source in records.posts and role in records.posts[source].profile.handoff.may_to:
            continue  # declared on both sides
        yield build_single_run(
            Edge(
                EdgeKind.MAY_HAND_WORK_TO,
                source,
                role,
                "",
                post.document.place("handoff", "may_from", number),
            )
        )


def _extract_channels(records: OrgRecords) -> Iterator[EdgeRun]:
    document = records.document
    for channel_id, channel in records.organization.communication_channels.items():
        for number, (one, other) in enumerate(channel.allowed_pairs):
            place = document.place("communication_channels", channel_id, "allowed_pairs", number)
            yield build_single_run(Edge(EdgeKind.SPEAKS_WITH, one, other, channel_id, place))


def _extract_catalogs(records: OrgRecords) -> Iterator[EdgeRun]:
    for domain in records.domains.values():
        if domain.record.broader is not None:
            mark = find_mark(domain.document.marks, ("domains", domain.id, "broader"))
            yield _build_entry_edges(
                EdgeKind.NARROWER_THAN, domain.document, domain.id, (domain.record.broader,), (mark,)
            )
    for plan in records.plans.values():
        marks = plan.document.marks
        if plan.record.domains:
            served, at = _drop_repeats(
                plan.record.domains, find_item_marks(marks, ("plans", plan.id, "domains"))
            )
            yield _build_entry_edges(EdgeKind.SERVES, plan.document, plan.id, served, at)
        needed: dict[str, int] = {}
        for number, tool_id in enumerate(plan.record.tools):
            needed.setdefault(tool_id, find_mark(marks, ("plans", plan.id, "tools", number)))
        for step_number, step in enumerate(plan.record.steps):
            for number, tool_id in enumerate(step.tools if isinstance(step, PlanStep) else ()):
                route = ("plans", plan.id, "steps", step_number, "tools", number)
                needed.setdefault(tool_id, find_mark(marks, route))
        if needed:
            yield _build_entry_edges(
                EdgeKind.NEEDS, plan.document, plan.id, tuple(needed), tuple(needed.values())
            )
    for tool in records.tools.values():
        if tool.record.falls_back_to:
            at = find_item_marks(tool.document.marks, ("tools", tool.id, "falls_back_to"))
            yield _build_entry_edges(
                EdgeKind.FALLS_BACK_TO, tool.document, tool.id, tool.record.falls_back_to, at
            )
    for skill in records.skills.values():
        for number, needed_first in enumerate(skill.record.prerequisites):
            is_plain = isinstance(needed_first, str)
            prerequisite = Prerequisite(skill=needed_first) if isinstance(needed_first, str) else needed_first
            route = ("skills", skill.id, "prerequisites", number, *(() if is_plain else ("skill",)))
            mark = find_mark(skill.document.marks, route)
            yield EdgeRun(
                EdgeKind.PRESUPPOSES, skill.id, (prerequisite.skill,), str(prerequisite.min_proficiency),
                skill.document.name, (mark,),
            )  # fmt: skip


def _group_roles_by_skill(records: OrgRecords) -> dict[str, list[str]]:
    """The roles that require each skill, in their order."""
    role_ids_by_skill: dict[str, list[str]] = {}
    for role_id, post in records.posts.items():
        for skill in list_required_skills(post.profile):
            role_ids_by_skill.setdefault(skill, []).append(role_id)
    return role_ids_by_skill


def _extract_cognitive_skills(
    records: OrgRecords, by_skill: Mapping[str, Sequence[str]]
) -> Iterator[EdgeRun | EdgeFan]:
    """The edges for cognitive skills: the roles that know each one, and the intents that they serve with it."""
    everyone = tuple(records.posts)
    for definition, gates in open_skills(records):
        document, name = definition.document, definition.id
        known = find_mark(document.marks, ("name",))
        able = by_skill.get(gates.skill_id, ()) if gates.skill_id else everyone
        if gates.departments:
            able = [role_id for role_id in able if is_for_department(records.posts[role_id].profile, gates)]
        # One edge with many sources takes a fraction of the memory: a skill without gates is known to every role.
        if not (gates.intents and gates.is_found_by_intent):
            yield EdgeFan(EdgeKind.KNOWS, able, name, "", document.name, known)
            continue
        served = find_mark(document.marks, ("metadata", find_metadata_key(definition.record, "intents")))
        marks = [served] * len(gates.intents)
        by = f"{NodeKind.COGNITIVE_SKILL.value}:{name}"
        for role_id in able:
            yield EdgeRun(EdgeKind.KNOWS, role_id, (name,), "", document.name, (known,))
            yield EdgeRun(EdgeKind.SERVES_INTENT, role_id, gates.intents, by, document.name, marks)


def _extract_procedures(records: OrgRecords, by_skill: Mapping[str, Sequence[str]]) -> Iterator[EdgeRun]:
    """The edges for procedures: the roles that perform each one, the intents that they serve with it, and its tools."""
    listing: dict[str, list[str]] = {}
    for role_id, post in records.posts.items():
        listed = post.profile.capabilities.procedures
        if listed:
            part = post.document.part(("capabilities", "procedures"))
            named, at = _drop_repeats(listed, find_item_marks(part.marks, ("capabilities", "procedures")))
            for procedure_id in named:
                listing.setdefault(procedure_id, []).append(role_id)
            yield EdgeRun(EdgeKind.PERFORMS, role_id, named, "", part.name, at)
    for procedure in records.procedures.values():
        wanted = procedure.record.skill
        skilled = by_skill.get(wanted, ()) if wanted is not None else ()
        yield from _extract_procedure(procedure, skilled, listing.get(procedure.id, ()))


def _extract_procedure(
    procedure: Definition[Procedure], skilled: Sequence[str], listed_by: Sequence[str]
) -> Iterator[EdgeRun]:
    document, record = procedure.document, procedure.record
    marks = document.marks
    route = (procedure.section, procedure.id)
    for role_id in skilled:
        mark = find_mark(marks, (*route, "skill"))
        yield EdgeRun(EdgeKind.PERFORMS, role_id, (procedure.id,), record.skill or "", document.name, (mark,))
    if record.intents:
        intents, at = _drop_repeats(record.intents, find_item_marks(marks, (*route, "intents")))
        by = f"{NodeKind.PROCEDURE.value}:{procedure.id}"
        for role_id in dict.fromkeys((*skilled, *listed_by)):
            yield EdgeRun(EdgeKind.SERVES_INTENT, role_id, intents, by, document.name, at)
    for number, step in enumerate(record.steps):
        called: dict[str, int] = {}
        for place, need in enumerate(step.required_tools):
            tool = need.tool if isinstance(need, ToolNeed) else need
            called.setdefault(tool, find_mark(marks, (*route, "steps", number, "required_tools", place)))
        if called:
            yield EdgeRun(
                EdgeKind.CALLS, procedure.id, tuple(called), step.id, document.name, tuple(called.values())
            )


def _build_entry_edges(
    kind: EdgeKind, document: SourceDocument, source: str, targets: Sequence[str], marks: Sequence[int]
) -> EdgeRun:
    """The edges for a list in an entry of a catalog."""
    return EdgeRun(kind, source, targets, "", document.name, marks)


def extract_access_edges(records: OrgRecords) -> Iterator[Edge]:
    """Edges that concern access, in the order of declaration. Undeclared ids are kept as written."""
    yield from _extract_qualifications(records)
    for policy in records.policies.values():
        yield from _extract_covered_tools(policy, records.tools)
    for agent in records.agents.values():
        yield from _extract_fills(records, agent)


def _extract_qualifications(records: OrgRecords) -> Iterator[Edge]:
    pairs: set[tuple[str, str]] = set()
    for tool in records.tools.values():
        for number, qualification_id in enumerate(tool.record.qualifications):
            if (tool.id, qualification_id) not in pairs:
                pairs.add((tool.id, qualification_id))
                place = tool.place("qualifications", number)
                yield Edge(EdgeKind.NEEDS_QUALIFICATION, tool.id, qualification_id, "", place)
    for qualification in records.qualifications.values():
        for number, tool_id in enumerate(qualification.record.unlocks):
            if (tool_id, qualification.id) not in pairs:
                pairs.add((tool_id, qualification.id))
                place = qualification.place("unlocks", number)
                yield Edge(EdgeKind.NEEDS_QUALIFICATION, tool_id, qualification.id, "", place)
    for qualification in records.qualifications.values():
        yield from _extract_raises(qualification)
        for number, other_id in enumerate(qualification.record.prerequisites):
            place = qualification.place("prerequisites", number)
            yield Edge(EdgeKind.BUILDS_ON, qualification.id, other_id, "", place)


def _extract_raises(qualification: Definition[Qualification]) -> Iterator[Edge]:
    raises = qualification.record.raises
    if isinstance(raises, dict):
        for skill_id, level in raises.items():
            place = qualification.place("raises", skill_id, key=True)
            yield Edge(
                EdgeKind.RAISES, qualification.id, skill_id, "" if level is None else str(level), place
            )
        return
    first = {skill_id: number for number, skill_id in reversed(list(enumerate(raises)))}
    for skill_id, number in sorted(first.items(), key=lambda each: each[1]):
        yield Edge(EdgeKind.RAISES, qualification.id, skill_id, "", qualification.place("raises", number))


def _extract_covered_tools(
    policy: Definition[Policy], tools: Mapping[str, Definition[Tool]]
) -> Iterator[Edge]:
    """One edge for each tool and word. A tool that is denied whatever the effect is covered with `deny`."""
    record, written = policy.record, policy.record.permissions.tools
    route: tuple[str, ...] = ("permissions", "tools")
    if record.is_everything:
        yield from _match_tools(policy, STAR, record.effect, policy.place("effect"), tools)
        return
    if isinstance(written, str):
        named: Iterable[tuple[str, Place]] = ((written, policy.place(*route)),)
    elif isinstance(written, ToolRules) and record.spared_tools:
        named = ((STAR, policy.place(*route, "deny", written.deny.index(STAR))),)
    else:
        listed = route if isinstance(written, tuple) else (*route, "allow")
        named = (
            (glob, policy.place(*listed, number)) for number, glob in enumerate(record.named_tools or ())
        )
    if record.effect != "annotate":
        yield from _extract_covered_by_effect(policy, named, record.effect, tools)
    if isinstance(written, ToolRules):
        denied = (
            (glob, policy.place(*route, "deny", number))
            for number, glob in enumerate(written.deny)
            if glob in record.denied_tools
        )
        yield from _extract_covered_by_effect(policy, denied, "deny", tools)


def _extract_covered_by_effect(
    policy: Definition[Policy],
    words: Iterable[tuple[str, Place]],
    effect: str,
    tools: Mapping[str, Definition[Tool]],
) -> Iterator[Edge]:
    """The edges for the words of an effect. If several words match a tool, the first one applies."""
    targets: set[str] = set()
    spared = policy.record.spared_tools
    for glob, place in words:
        for edge in _match_tools(policy, glob, effect, place, tools):
            left_out = glob == STAR and any(matches_glob(edge.target, each) for each in spared)
            if edge.target not in targets and not left_out:
                targets.add(edge.target)
                yield edge


def _match_tools(
    policy: Definition[Policy], glob: str, effect: str, place: Place, tools: Mapping[str, Definition[Tool]]
) -> Iterator[Edge]:
    if not glob.endswith(STAR):
        yield Edge(EdgeKind.COVERS, policy.id, glob, effect, place)
        return
    for tool_id in tools:
        if matches_glob(tool_id, glob):
            yield Edge(EdgeKind.COVERS, policy.id, tool_id, effect, place)


def matches_glob(tool_id: str, glob: str) -> bool:
    """Whether a tool matches a name, a prefix with a star, or a star alone.

    >>> matches_glob("credentials_read", "credentials_*"), matches_glob("credentials", "credentials_*")
    (True, False)
    """
    return tool_id.startswith(glob[:-1]) if glob.endswith(STAR) else tool_id == glob


def _extract_fills(records: OrgRecords, agent: Definition[RosterMember]) -> Iterator[Edge]:
    roster = agent.document.record
    assert isinstance(roster, CrewRoster)
    role_ids: set[str] = set()
    for number, assignment in enumerate(agent.record.assignments):
        org_id = assignment.org or roster.org
        if org_id not in (None, records.org_id) or assignment.role in role_ids:
            continue
        is_here = assignment.role in records.posts or assignment.role in records.without_profile
        if org_id is None and not agent.own and not is_here:
            continue  # a role of another organization, in a roster that several share
        role_ids.add(assignment.role)
        place = agent.place("assignments", number, "role")
        yield Edge(EdgeKind.FILLS, agent.id, assignment.role, ",".join(assignment.watches), place)
