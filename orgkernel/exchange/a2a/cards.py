"""Agent cards (A2A 1.0): what callers can ask a role or the organization for, and at which address.

A card contains what the documents declare. Facts without a field in A2A are in `capabilities.extensions`: the chain
of command, the rank and the PACE plan. A short card has neither extensions nor examples: it is for callers that may
know only that an agent exists and what it is for.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import urlsplit

from orgkernel.documents.records import RoleProfile
from orgkernel.exchange.a2a.canonical import encode_canonical_card, without_empty
from orgkernel.graph.questions import OrgView
from orgkernel.graph.schema import EdgeKind

Card = dict[str, Any]
Binding = Literal["JSONRPC", "HTTP+JSON", "GRPC"]
BINDINGS: tuple[Binding, ...] = ("JSONRPC", "HTTP+JSON", "GRPC")
PROTOCOL_VERSION = "1.0"
CHAIN_OF_COMMAND, RANK, PACE = (
    f"urn:orgkernel:a2a:{name}:1" for name in ("chain-of-command", "rank", "pace")
)
_MODES = ["text/plain"]
_TIERS = ("primary", "alternate", "contingent", "emergency")


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The address of the agents of an organization. One address serves all roles: the tenant is the id of the role."""

    url: str
    binding: Binding = "JSONRPC"


def build_placeholder(org_id: str) -> Endpoint:
    """The endpoint of an export without `--url`: a name that never resolves (RFC 2606).

    >>> build_placeholder("software_dev").url
    'https://agents.invalid/software_dev'
    """
    return Endpoint(f"https://agents.invalid/{org_id}")


def is_address(text: str) -> bool:
    """Whether a string is an absolute web address that can be published: without credentials, query or fragment.

    >>> is_address("https://agents.example/a2a"), is_address("https://me:pw@agents.example"), is_address("agents")
    (True, False, False)
    """
    if not text.isprintable() or " " in text:
        return False
    try:
        parts = urlsplit(text)
        _ = parts.port
    except ValueError:
        return False
    is_private = parts.username or parts.password or parts.query or parts.fragment
    return parts.scheme in ("https", "http") and bool(parts.hostname) and not is_private


def has_card(view: OrgView, role_id: str) -> bool:
    """Whether a role has a card: a card requires a description and something that callers can ask the role for."""
    description = view.records.posts[role_id].profile.description
    return bool(description) and next(_build_skills(view, role_id), None) is not None


def build_role_card(view: OrgView, role_id: str, endpoint: Endpoint, *, short: bool = False) -> Card | None:
    """The card of a role. None if it lacks a description or a skill."""
    if not has_card(view, role_id):
        return None
    profile = view.records.posts[role_id].profile
    skills = list(_build_skills(view, role_id))
    if len(skills) == 1 and profile.examples:
        skills[0]["examples"] = list(dict.fromkeys((*skills[0].get("examples", ()), *profile.examples)))
    extensions = [
        _describe_command(view, role_id, profile),
        *_describe_rank(view, profile),
        *_describe_pace(profile),
    ]
    return _build_card(profile.name, profile.description, endpoint, role_id, skills, extensions, short)


def build_organization_card(view: OrgView, endpoint: Endpoint, *, short: bool = False) -> Card | None:
    """The card of the organization, which can do what its roles can. None if no role has a card."""
    organization = view.records.organization
    carded = [role_id for role_id in view.roles if has_card(view, role_id)]
    if not carded:
        return None
    skills: dict[str, Card] = {}
    for role_id in carded:
        for skill in _build_skills(view, role_id):
            skills.setdefault(skill["id"], skill)
    description = organization.description or organization.mission.objective or f"{organization.name}."
    chain = {
        "organization": view.org_id,
        "roles": [
            {"role": role_id, "reports_to": view.superiors.get(role_id), "has_card": role_id in carded}
            for role_id in view.roles
        ],
    }
    extensions = [_build_extension(CHAIN_OF_COMMAND, "The roles, and whom each one reports to.", chain)]
    return _build_card(organization.name, description, endpoint, "", list(skills.values()), extensions, short)


def _build_card(
    name: str,
    description: str,
    endpoint: Endpoint,
    tenant: str,
    skills: list[Card],
    extensions: list[Card],
    short: bool,
) -> Card:
    interface = {
        "url": endpoint.url,
        "protocolBinding": endpoint.binding,
        "protocolVersion": PROTOCOL_VERSION,
        "tenant": tenant,
    }
    if short:
        skills = [{key: value for key, value in skill.items() if key != "examples"} for skill in skills]
    card: Card = {
        "name": name,
        "description": description,
        "supportedInterfaces": [without_empty(interface)],
        "capabilities": {} if short else {"extensions": extensions},
        "defaultInputModes": _MODES,
        "defaultOutputModes": _MODES,
        "skills": skills,
    }
    # A registry compares versions to detect new cards, so equal content has an equal version.
    digest = hashlib.sha256(encode_canonical_card(card)).hexdigest()
    return {"name": name, "description": description, "version": f"1.0.0+{digest[:12]}", **card}


def _build_skills(view: OrgView, role_id: str) -> Iterator[Card]:
    """The skills of a card: the domains and intents that a role handles, and its skills.

    Equal ids mean equal things.
    """
    records = view.records
    for domain_id in dict.fromkeys(edge.target for edge in view.list_domains(role_id)):
        domain = records.domains.get(domain_id)
        description, examples = (
            ("", ()) if domain is None else (domain.record.description, domain.record.examples)
        )
        yield _build_skill("domain", domain_id, "", description, examples)
    for intent in dict.fromkeys(end for end, _ in view.list_ends_from(EdgeKind.SERVES_INTENT, role_id)):
        yield _build_skill("intent", intent, "", "")
    for skill_id in dict.fromkeys(edge.target for edge in view.list_skills(role_id)):
        skill = records.skills.get(skill_id)
        name, description = ("", "") if skill is None else (skill.record.name, skill.record.description)
        category = None if skill is None else skill.record.category
        yield _build_skill("skill", skill_id, name, description, tags=() if category is None else (category,))
    for name in dict.fromkeys(end for end, _ in view.list_ends_from(EdgeKind.KNOWS, role_id)):
        known = records.cognitive_skills.get(name)
        yield _build_skill("instructions", name, "", "" if known is None else known.record.description)


def _build_skill(
    kind: str,
    name: str,
    title: str,
    description: str,
    examples: tuple[str, ...] = (),
    tags: tuple[str, ...] = (),
) -> Card:
    shown = title or name.replace("_", " ").replace("-", " ")
    card: Card = {
        "id": f"{kind}:{name}",
        "name": shown,
        "description": description or f"The {kind} `{name}`.",
        "tags": list(dict.fromkeys((kind, *tags))),
    }
    return card | ({"examples": list(examples)} if examples else {})


def _build_extension(uri: str, description: str, params: Card) -> Card:
    """An extension that clients need not understand, which a missing `required` declares."""
    kept: Card = without_empty(params)
    return {"uri": uri, "description": description, "params": kept}


def _describe_command(view: OrgView, role_id: str, profile: RoleProfile) -> Card:
    params = {
        "organization": view.org_id,
        "role": role_id,
        "role_type": profile.role_type,
        "authority_level": profile.authority_level,
        "can_delegate": profile.can_delegate,
        "reports_to": view.superiors.get(role_id),
        "chain": list(view.list_superiors_above(role_id)),
        "subordinates": list(view.subordinates.get(role_id, ())),
        "department": profile.department,
        "layer": profile.layer,
    }
    return _build_extension(CHAIN_OF_COMMAND, "Whom the role reports to, and who reports to it.", params)


def _describe_rank(view: OrgView, profile: RoleProfile) -> Iterator[Card]:
    ladder = [rank.id for rank in view.records.ranks]
    if ladder:
        params = {"entry_rank": profile.entry_rank or ladder[0], "ladder": ladder}
        yield _build_extension(
            RANK, "The rank at which an agent enters the role; the ladder, lowest first.", params
        )


def _describe_pace(profile: RoleProfile) -> Iterator[Card]:
    plan = profile.pace_plan
    if plan is None:
        return
    tiers = []
    for name in _TIERS:
        tier = getattr(plan, name)
        if tier is not None:
            tier_fields = {
                key: getattr(tier, key) for key in ("description", "action", "trigger", "escalate_to")
            }
            tiers.append(without_empty({"tier": name, **tier_fields}))
    yield _build_extension(PACE, "What the role does when its work fails, tier by tier.", {"tiers": tiers})
