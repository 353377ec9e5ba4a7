"""The texts about a role that sentences are compared with. No other module lists them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

from orgkernel.decisions.dispatch.order import rank_handlers, rank_servers
from orgkernel.diagnostics import Place
from orgkernel.documents.records import UNIVERSAL, CognitiveSkill
from orgkernel.graph.cognitive_skills import find_metadata_key
from orgkernel.graph.memo import PerView, per_view_and_key
from orgkernel.graph.questions import OrgView
from orgkernel.graph.records import Definition
from orgkernel.graph.schema import EdgeKind
from orgkernel.runtime.declared_phrases import DeclaredPhrase
from orgkernel.runtime.learned_work import is_learned
from orgkernel.runtime.progress import show_stage
from orgkernel.runtime.text_index import (
    FIELDS,
    PRIORS,
    RoleTexts,
    TextIndex,
    build_index,
    extract_content,
    map_examples,
)

_LEARNED_SHARE = 0.75
_ROLES_OF_PHRASE = 4
_LARGER = 20
"""The number of roles from which a skill that all of them know is ignored in texts."""


class TextSource(NamedTuple):
    """A text about a role, and its location."""

    field: str
    """The field, one of `runtime.text_index.FIELDS`."""
    subject: str
    """The owner of the text, such as `description of role tester`."""
    text: str
    place: Callable[[], Place]


def find_sources(view: OrgView, role_id: str) -> Iterator[TextSource]:
    """Every text about a role, the strongest kinds first."""
    post = view.records.posts[role_id]
    profile = post.profile
    for edge in view.list_edges_from(EdgeKind.SERVES_INTENT, role_id):
        yield TextSource("intent", "an intent", edge.target, partial(_keep_place, edge.place))
    for number, text in enumerate(profile.examples):
        yield TextSource(
            "example", "an example", text, partial(_locate_item, post.locate_items, ("examples",), number)
        )
    named = bool(profile.role_name)
    yield TextSource(
        "name",
        "the name" if named else "the id",
        profile.role_name or role_id,
        partial(post.place, "role_name" if named else "role_id"),
    )
    if profile.description:
        yield TextSource(
            "description", "the description", profile.description, partial(post.place, "description")
        )
    for edge in view.list_domains(role_id):
        yield from list_domain_texts(view, edge.target)
    skills = view.records.skills
    for edge in view.list_skills(role_id):
        skill = skills.get(edge.target)
        if skill is not None and skill.record.category != UNIVERSAL:
            yield from _list_entry_texts(skill, "skill", skill.record.name, skill.record.description)
        elif skill is None:
            yield TextSource("skill_name", "a skill", edge.target, partial(_keep_place, edge.place))
    for edge in view.list_plans(role_id):
        plan = view.records.plans.get(edge.target)
        if plan is not None:
            yield from _list_entry_texts(plan, "plan", plan.record.name, plan.record.description)
    for edge in view.list_edges_from(EdgeKind.KNOWS, role_id):
        known = view.records.cognitive_skills.get(edge.target)
        if known is not None and not _do_all_know(view, edge.target):
            yield from _list_skill_texts(known)
    for edge in view.list_edges_from(EdgeKind.PERFORMS, role_id):
        procedure = view.records.procedures.get(edge.target)
        if procedure is not None:
            yield from _list_entry_texts(
                procedure, "procedure", procedure.record.name, procedure.record.description
            )
    for edge in view.list_tools(role_id):
        tool = view.records.tools.get(edge.target)
        yield TextSource(
            "tool_name",
            "a tool",
            (tool.record.name if tool else "") or edge.target,
            partial(_keep_place, edge.place),
        )
    for edge in view.list_edges_from(EdgeKind.BELONGS_TO, role_id):
        department = view.records.organization.departments.get(edge.target)
        name = (department.name if department else "") or edge.target
        yield TextSource("department", "the department", name, partial(_keep_place, edge.place))


@per_view_and_key(most=100_000)
def list_domain_texts(view: OrgView, domain: str) -> tuple[TextSource, ...]:
    """The texts of a domain. A domain with passthrough is conversation, so its words do not count as work."""
    declared = view.records.domains.get(domain)
    if declared is None or declared.record.passthrough:
        return ()
    record, of = declared.record, f"of domain {domain}"
    return (
        TextSource("domain_name", f"the id {of}", domain, partial(declared.place)),
        *((TextSource("domain_description", f"the description {of}", record.description, partial(declared.place, "description")),) if record.description else ()),
        *(
            TextSource("domain_trigger", f"a trigger {of}", text, partial(_locate_item, declared.locate_items, ("triggers",), number))
            for number, text in enumerate(record.triggers)
        ),
        *(
            TextSource("domain_example", f"an example {of}", text, partial(_locate_item, declared.locate_items, ("examples",), number))
            for number, text in enumerate(record.examples)
        ),
    )  # fmt: skip


def _list_entry_texts(entry: Definition[Any], kind: str, name: str, description: str) -> Iterator[TextSource]:
    yield TextSource(
        f"{kind}_name",
        f"the name of {kind} {entry.id}",
        name or entry.id,
        partial(entry.place, *(("name",) if name else ())),
    )
    if description:
        yield TextSource(
            f"{kind}_description",
            f"the description of {kind} {entry.id}",
            description,
            partial(entry.place, "description"),
        )


# Asked for every skill of every role: only the first role of an organization pays for the count.
@per_view_and_key(most=100_000)
def _do_all_know(view: OrgView, skill: str) -> bool:
    """Whether every role of a larger organization knows a skill, so it does not tell the roles apart."""
    number = len(view.records.posts)
    return number >= _LARGER and len(view.list_ends_to(EdgeKind.KNOWS, skill)) >= number


def _list_skill_texts(skill: Definition[CognitiveSkill]) -> Iterator[TextSource]:
    """The texts of a SKILL.md, whose description explains when the skill is useful."""
    document, record, of = skill.document, skill.record, f"of skill {skill.id}"
    yield TextSource("cognitive_skill", f"the name {of}", record.name, partial(document.place, "name"))
    yield TextSource(
        "cognitive_skill", f"the description {of}", record.description, partial(document.place, "description")
    )
    key = find_metadata_key(record, "triggers")
    if key in record.metadata:
        yield TextSource(
            "cognitive_skill",
            f"a trigger {of}",
            record.metadata[key],
            partial(document.place, "metadata", key),
        )


def _keep_place(place: Place) -> Place:
    return place


def _locate_item(places: Callable[..., list[Place]], route: tuple[str, ...], number: int) -> Place:
    return places(*route)[number]


@per_view_and_key(most=2_048)
def get_text_sources(view: OrgView, role_id: str) -> tuple[TextSource, ...]:
    """The same texts, cached for roles that answers were about."""
    return tuple(find_sources(view, role_id))


@per_view_and_key(most=2_048)
def map_words_to_sources(view: OrgView, role_id: str) -> dict[str, TextSource]:
    """Every word of these texts, with the strongest text that contains it."""
    sources_by_word: dict[str, TextSource] = {}
    for source in sorted(get_text_sources(view, role_id), key=lambda each: -FIELDS[each.field]):
        for word in extract_content(source.text):
            sources_by_word.setdefault(word, source)
    return sources_by_word


def get_role_texts(view: OrgView, role_id: str) -> RoleTexts:
    """A role in the form that the index takes."""
    profile = view.records.posts[role_id].profile
    return RoleTexts(
        role_id,
        (profile.name, role_id, *_list_callsigns(view, role_id)),
        tuple((each.field, each.text) for each in find_sources(view, role_id)),
        leads=view.subordinates.get(role_id, ()),
        prior=PRIORS[profile.role_type],
        not_examples=profile.not_examples,
        domains=tuple(edge.target for edge in view.list_domains(role_id) if _is_learned(view, edge.target)),
    )


def _list_callsigns(view: OrgView, role_id: str) -> Iterator[str]:
    """The callsigns of the agents that fill a role."""
    for agent_id in view.list_sources_to(EdgeKind.FILLS, role_id):
        agent = view.records.agents.get(agent_id)
        if agent is not None and agent.record.callsign:
            yield agent.record.callsign


def _is_learned(view: OrgView, domain: str) -> bool:
    """Whether learned messages exist for a domain. A domain with passthrough is not work."""
    declared = view.records.domains.get(domain)
    return (
        declared is not None
        and not declared.record.passthrough
        and is_learned(domain, declared.record.triggers)
    )


@PerView
def get_text_index(view: OrgView) -> TextIndex:
    """The index of all roles of an organization, built once."""
    with show_stage("reading the texts of the roles"):
        roles = [get_role_texts(view, role_id) for role_id in view.roles]
        if not uses_shared_domains(view):
            roles = [role._replace(domains=()) for role in roles]
        return build_index(roles, _list_triggers(view), _list_domain_examples(view))


def map_examples_to_roles(view: OrgView) -> dict[str, str]:
    """The role that takes each declared example, by the key of the example."""
    roles = []
    for role_id in view.roles:
        profile = view.records.posts[role_id].profile
        examples = tuple(("example", text) for text in profile.examples)
        roles.append(RoleTexts(role_id, (), examples, not_examples=profile.not_examples))
    return map_examples(roles, _list_domain_examples(view))


def uses_shared_domains(view: OrgView) -> bool:
    """Whether the learned table serves an organization: most of the domains that its roles handle were learned."""
    handled = [each for each in view.list_targets_of_kind(EdgeKind.HANDLES) if list_domain_texts(view, each)]
    learned = sum(_is_learned(view, each) for each in handled)
    return learned > 0 and learned >= _LEARNED_SHARE * len(handled)


def _list_triggers(view: OrgView) -> Iterator[DeclaredPhrase]:
    """The triggers of each domain, and the intents, with the roles in the order of dispatch."""
    for domain, candidates in rank_handlers(view):
        roles = tuple(each.role_id for each in candidates[:_ROLES_OF_PHRASE])
        for source in list_domain_texts(view, domain):
            if source.field == "domain_trigger":
                yield DeclaredPhrase(source.text, roles)
    for intent in view.list_targets_of_kind(EdgeKind.SERVES_INTENT):
        servers = rank_servers(view, intent)[:_ROLES_OF_PHRASE]
        yield DeclaredPhrase(intent, tuple(each.role_id for each in servers))


def _list_domain_examples(view: OrgView) -> Iterator[DeclaredPhrase]:
    for domain, candidates in rank_handlers(view):
        for source in list_domain_texts(view, domain):
            if source.field == "domain_example":
                yield DeclaredPhrase(source.text, tuple(each.role_id for each in candidates[:1]))
