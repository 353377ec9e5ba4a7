"""Assemble an organization's manifest: its purpose, its crew, and the role for each domain."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from msgspec import to_builtins
from msgspec.structs import asdict

from orgkernel.decisions.access.arguments import describe_tests
from orgkernel.decisions.access.request import AccessContext
from orgkernel.decisions.dispatch.by_domain import decide_dispatch
from orgkernel.decisions.dispatch.order import get_routing_order, locate_routing
from orgkernel.decisions.evidence.state_records import ToolUsage
from orgkernel.decisions.evidence.state_view import EMPTY_STATE, StateView
from orgkernel.decisions.reasons import Why, cite_edge, cite_place
from orgkernel.diagnostics import Diagnostic
from orgkernel.documents.records import STAR, Policy, Record
from orgkernel.graph.questions import OrgView
from orgkernel.manifest import v1
from orgkernel.manifest.abilities import NOWHERE
from orgkernel.manifest.role import build_finding_item, build_role_manifest
from orgkernel.manifest.why import build_cited_item, build_fact, build_facts, list_settings, listed

_FIELD_OF = {"allow": "allows", "ask": "asks", "deny": "denies"}


def build_organization_manifest(
    view: OrgView,
    role_ids: Sequence[str],
    findings: Sequence[Diagnostic] = (),
    state: StateView = EMPTY_STATE,
    context: AccessContext = NOWHERE,
    *,
    count: int | None = None,
    cursor: str | None = None,
    unknown_words: tuple[str, ...] = (),
    usage: Mapping[str, Sequence[ToolUsage]] = MappingProxyType({}),
) -> v1.OrganizationManifest:
    """An organization with the manifests of some of its roles.

    `count` is the number of matching roles on all pages, `cursor` the cursor of the next page. `usage` are recorded calls of
    tools by agent.
    """
    document, organization = view.records.document, view.records.organization
    by_subject: dict[str, list[Diagnostic]] = defaultdict(list)
    for finding in findings:
        by_subject[finding.subject].append(finding)
    mode = organization.mode
    configs = {"microcosm": organization.microcosm_config, "macrocosm": organization.macrocosm_config}
    other_mode = next(name for name in configs if name != mode)
    return v1.OrganizationManifest(
        org_id=view.org_id,
        org_name=organization.name,
        description=organization.description,
        why=(cite_place(f"organization {view.org_id}", document.place("org_id")),),
        mission=tuple(list_settings(document, organization.mission, "mission")),
        mode=build_fact(document, "mode", mode, ("mode",)),
        execution=tuple(list_settings(document, configs[mode], f"{mode}_config")),
        other_execution=tuple(list_settings(document, configs[other_mode], f"{other_mode}_config")),
        channels=tuple(_list_channels(view)),
        departments=tuple(_build_departments(view)),
        layers=tuple(_list_layers(view)),
        dispatch_edges=tuple(_dispatch_edges(view)),
        limits=(
            *_list_limits(view),
            *build_facts(document, (), {"workspace_root": organization.workspace_root}),
        ),
        external=listed(document, ("external",), organization.external),
        domains=tuple(_compute_coverage(view)),
        roots=view.list_roots(),
        roles=tuple(
            build_role_manifest(view, role_id, by_subject.get(f"role:{role_id}", ()), state, context, usage)
            for role_id in role_ids
        ),
        count=len(role_ids) if count is None else count,
        next=cursor,
        unknown_words=unknown_words,
        agents=tuple(
            build_cited_item(agent_id, f"agent {agent_id} is in the crew", definition.place())
            for agent_id, definition in view.records.agents.items()
            if view.list_roles_filled_by(agent_id)
        ),
        policies=tuple(_build_policies(view)),
        findings=tuple(build_finding_item(each) for each in findings if not each.subject.startswith("role:")),
        snapshot=view.digest,
        state_version=state.version,
    )


def _build_policies(view: OrgView) -> Iterator[v1.PolicyItem]:
    """The enabled policies by priority, then by name. The order of files has no effect."""
    enabled = [each for each in view.records.policies.values() if each.record.enabled]
    for each in sorted(enabled, key=lambda each: (-each.record.priority, each.id)):
        policy = each.record
        yield v1.PolicyItem(
            id=each.id,
            why=(cite_place(f"policy {each.id}", each.place()),),
            effect=policy.effect,
            description=policy.description,
            priority=policy.priority,
            ceiling=policy.is_ceiling,
            fallback=policy.fallback,
            **list_policy_permissions(policy),
            match=_get_written_fields(policy.match),
            approvals={} if policy.approvals is None else to_builtins(policy.approvals),
            session=_get_written_fields(policy.session),
            modifiers=_get_written_fields(policy.modifiers),
        )


def _get_written_fields(record: Record) -> dict[str, Any]:
    """The fields that a part of a policy sets."""
    fields: dict[str, Any] = to_builtins(record)
    default: dict[str, Any] = to_builtins(type(record)())
    return {name: value for name, value in fields.items() if value is not None and value != default.get(name)}


def _list_layers(view: OrgView) -> Iterator[v1.Item]:
    document = view.records.get_declaring_document("layers")
    is_governed = document is view.records.governance
    for number, layer in enumerate(view.records.organization.layers):
        place = document.place("layers", layer, key=True) if is_governed else document.place("layers", number)
        yield build_cited_item(layer, f"layers[{number}]", place)


def _list_limits(view: OrgView) -> Iterator[v1.Fact]:
    """Each limit with its line in the document that sets it."""
    for name, value in asdict(view.records.organization.limits).items():
        document = view.records.get_declaring_document("limits", name)
        yield from build_facts(document, ("limits",), {name: value})


def _dispatch_edges(view: OrgView) -> Iterator[v1.Item]:
    document = view.records.get_declaring_document("dispatch_edges")
    is_written = document.has("dispatch_edges")
    for number, edge in enumerate(view.records.organization.dispatch_edges):
        text = f"layer {edge.source} may hand work to layer {edge.target}"
        place = document.place("dispatch_edges", number) if is_written else view.records.edges_place
        yield build_cited_item(f"{edge.source}>{edge.target}", text, place)


def _list_channels(view: OrgView) -> Iterator[v1.ChannelItem]:
    for channel_id, channel in view.records.organization.communication_channels.items():
        place = view.records.document.place("communication_channels", channel_id, key=True)
        yield v1.ChannelItem(
            id=channel_id,
            description=channel.description,
            direction=channel.direction,
            protocol=channel.protocol,
            allowed_pairs=channel.allowed_pairs,
            why=(cite_place(f"channel {channel_id}", place),),
        )


def _build_departments(view: OrgView) -> Iterator[v1.DepartmentItem]:
    for department_id, department in view.records.organization.departments.items():
        place = view.records.document.place("departments", department_id, key=True)
        why = cite_place(f"department {department_id}", place)
        yield v1.DepartmentItem(
            id=department_id,
            name=department.name or department_id,
            description=department.description,
            why=(why,),
        )


def _compute_coverage(view: OrgView) -> Iterator[v1.Coverage]:
    """Domains that the organization names, then other domains that its roles handle."""
    document, organization = view.records.document, view.records.organization
    reasons_by_domain: dict[str, list[Why]] = {}
    for number, domain in enumerate(organization.domains):
        why = cite_place(
            f"organization {view.org_id} answers for domain {domain}", document.place("domains", number)
        )
        reasons_by_domain.setdefault(domain, []).append(why)
    for role_id in view.roles:
        for edge in view.list_domains(role_id):
            reasons_by_domain.setdefault(edge.target, [])
    for domain, reasons in reasons_by_domain.items():
        taker = decide_dispatch(view, domain).role_id
        handlers = view.list_handlers(domain)
        edges = [edge for edge in handlers if edge.source == taker] or handlers
        yield v1.Coverage(
            id=domain,
            role_id=taker,
            answers_for=domain in organization.domains,
            routing=get_routing_order(view, domain),
            why=(*reasons, *map(cite_edge, edges), *locate_routing(view, domain)),
        )


def list_policy_permissions(policy: Policy) -> dict[str, Any]:
    """The lists of a policy in a manifest, sorted by name, because their written order has no meaning."""
    names = ("allows", "asks", "denies", "spares", "bounds")
    terms: dict[str, set[str]] = {name: set() for name in names}
    field = _FIELD_OF.get(policy.effect)
    if field is not None:
        terms[field].update(_list_covered_resources(policy))
    terms["denies"].update(_list_tool_parts(policy, policy.denied_tools))
    terms["spares"].update(f"tool:{name}" for name in policy.spared_tools)
    if policy.is_ceiling:
        terms["bounds"].update(
            kind for kind in ("tools", "credentials", "data") if getattr(policy.permissions, kind) is not None
        )
    return {name: tuple(sorted(words)) for name, words in terms.items()}


def _list_tool_parts(policy: Policy, tools: Iterable[str]) -> Iterator[str]:
    """Tools, each as a whole or as the parts that the policy covers."""
    paths, commands = policy.permissions.paths, policy.permissions.commands
    tests = policy.permissions.input
    for name in tools:
        if not paths and not commands and not tests:
            yield f"tool:{name}"
        if tests:
            yield f"tool:{name}({describe_tests(tuple(tests.items()))})"
        yield from (f"tool:{name}:{path}" for path in paths)
        yield from (f"tool:{name}({text}:*)" for text in commands)


def _list_covered_resources(policy: Policy) -> Iterator[str]:
    permissions = policy.permissions
    if policy.is_everything:
        yield STAR
    yield from _list_tool_parts(policy, policy.named_tools or ())
    listed: Any = permissions.credentials or ()
    yield from (f"credential:{name}" for name in ((listed,) if isinstance(listed, str) else listed))
    roles: Any = permissions.roles or ()
    yield from (f"role:{name}" for name in ((roles,) if isinstance(roles, str) else roles))
    if permissions.data is not None:
        yield f"data:{permissions.data}"
