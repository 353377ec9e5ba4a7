"""The data of an organization for OPA: subjects, resources, and the conditions and effects of policies.

Names with a star are resolved here: a policy lists what it covers, and Rego only looks names up.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from typing import Any

from orgkernel.documents.records import DATA_TIERS, LEVELS, STAR, Condition, Policy, Principal
from orgkernel.exchange.cedar.entities import build_entities, list_scoped_actions
from orgkernel.exchange.cedar.words import NAMESPACE, build_holders_id
from orgkernel.graph.questions import OrgView

OpaValue = dict[str, Any]
HIGHEST = LEVELS[-1]
CIRCUMSTANCES = ("channel", "peer_kind", "account", "guild", "hook_id", "event_type")
_SUBJECTS = {"Role": "role", "Agent": "agent", "Person": "person", "System": "system", "Webhook": "webhook"}
# The groups of a `*` of each kind. A role means any agent that fills it.
_ANY = {
    "system": ["any:system"],
    "webhook": ["any:webhook"],
    "agent": ["any:role", "any:agent"],
    "role": ["Group:crew"],
}


def build_data(view: OrgView) -> OpaValue:
    """Build the data. The same documents always produce the same data."""
    entities = [(_build_key(each["uid"]), each) for each in build_entities(view)]
    parents = {key: [_build_key(parent) for parent in each["parents"]] for key, each in entities}
    tools: OpaValue = {}
    subjects: OpaValue = {}
    ranks: dict[str, Mapping[str, str] | None] = {}
    credentials: OpaValue = {}
    data: OpaValue = {}
    for key, entity in entities:
        kind, _, name = key.partition(":")
        attrs = entity["attrs"]
        if kind in _SUBJECTS:
            subject = _build_subject(_SUBJECTS[kind], key, attrs, parents)
            if "scoped" in attrs:
                roles = [name] if kind == "Role" else [each.partition(":")[2] for each in parents[key]]
                subject["scoped"] |= _build_flags(list_scoped_actions(view, roles, lambda _: {"": HIGHEST}))
            subjects[f"{_SUBJECTS[kind]}:{name}"] = subject
        elif kind == "Tool":
            tools[name] = _build_tool(attrs)
            ranks[name] = view.records.get_rank_levels(name)
        elif kind == "ToolAction":
            tool, _, action = name.rpartition("/")
            tools[tool]["actions"][action] = _build_action(attrs)
            if action == "use":
                tools[tool]["undeclared_action"] = _build_undeclared_action(tool, attrs, ranks[tool])
        elif kind == "Credential":
            credentials[name] = {"holders": _build_key(attrs["holders"]["__entity"])}
        elif kind == "Data":
            data[name] = {
                "holders": _build_key(attrs["holders"]["__entity"]),
                "tier": attrs["tier"],
                "level": attrs["level"],
            }
    policies = {
        each.id: _build_policy(each.record, list(tools), list(credentials), data)
        for each in sorted(view.records.policies.values(), key=lambda each: each.id)
        if (each.record.enabled and each.record.effect != "annotate") or _does_deny(each.record)
    }
    return {
        "id": view.org_id,
        "subjects": subjects,
        "tools": tools,
        "credentials": credentials,
        "data": data,
        "policies": policies,
    }


def _does_deny(policy: Policy) -> bool:
    return policy.enabled and bool(policy.denied_tools)


def _build_key(reference: Mapping[str, str]) -> str:
    return f"{reference['type'].removeprefix(f'{NAMESPACE}::')}:{reference['id']}"


def _build_flags(names: Iterable[str]) -> dict[str, bool]:
    return dict.fromkeys(names, True)


def _build_subject(kind: str, key: str, attrs: OpaValue, parents: Mapping[str, list[str]]) -> OpaValue:
    """A subject with everything that it belongs to, itself and its kind included."""
    groups: dict[str, None] = {}
    pending = [key]
    while pending:
        group = pending.pop()
        if group not in groups:
            groups[group] = None
            pending += parents.get(group, ())
    subject: OpaValue = {"groups": _build_flags((*sorted(groups), f"any:{kind}")), "crew": "names" in attrs}
    if "names" in attrs:
        subject |= {
            "names": _build_flags(attrs["names"]),
            "worker": attrs["worker"],
            "scoped": _build_flags(attrs.get("scoped", ())),
        }
        subject |= {"rank": attrs["rank"]} if "rank" in attrs else {}
    return subject


def _build_tool(attrs: OpaValue) -> OpaValue:
    tool: OpaValue = {
        "enabled": attrs["enabled"],
        "delegating": attrs["delegating"],
        "essential_for": [_build_key(each["__entity"]) for each in attrs["essential_for"]],
        "qualifications": attrs.get("qualifications", []),
        "actions": {},
    }
    if "departments" in attrs:
        tool["departments"] = [_build_key(each["__entity"]) for each in attrs["departments"]]
    if "restricted_to" in attrs:
        tool["restricted_to"] = attrs["restricted_to"]
    return tool


def _build_action(attrs: OpaValue) -> OpaValue:
    action = {
        "holders": _build_key(attrs["holders"]["__entity"]),
        "needs_lock": attrs["needs_lock"],
        "limited": attrs["limited"],
        "word": attrs["word"],
    }
    return action | ({"ranks": _build_flags(attrs["ranks"])} if "ranks" in attrs else {})


def _build_undeclared_action(tool_id: str, attrs: OpaValue, ranks: Mapping[str, str] | None) -> OpaValue:
    """What an action that the tool does not declare would need: the highest level, and the lock and the limits of `use`."""
    action = {
        "holders": f"Group:{build_holders_id(f'tool:{tool_id}', HIGHEST)}",
        "needs_lock": attrs["needs_lock"],
        "limited": attrs["limited"],
        "word": f"{tool_id}/",
    }
    if ranks is None:
        return action
    return action | {"ranks": _build_flags(rank for rank, level in ranks.items() if level == HIGHEST)}


def _build_policy(policy: Policy, tools: list[str], credentials: list[str], data: OpaValue) -> OpaValue:
    covers = _list_covered(policy, tools, credentials, data)
    denies = {"tool": _list_matching(tools, policy.denied_tools)}
    if policy.effect == "deny":
        denies = {kind: {**covers[kind], **denies.get(kind, {})} for kind in covers}
    return {
        "effect": policy.effect,
        "fallback": policy.fallback,
        "principal": [] if policy.match.principal is None else list(_build_clauses(policy.match.principal)),
        "when": list(_build_alternatives(policy)),
        "covers": covers,
        "denies": denies,
        "leaves_out": _list_left_out(policy, covers, tools, credentials, data) if policy.is_ceiling else {},
        "has_parts": _has_parts(policy),
        "undeclared": dict(_build_undeclared_words(policy)),
    }


def _has_parts(policy: Policy) -> bool:
    """Whether it is about some paths, commands or arguments of its tools."""
    permissions = policy.permissions
    return policy.named_tools is not None and bool(
        permissions.paths or permissions.commands or permissions.input
    )


def _build_undeclared_words(policy: Policy) -> Iterator[tuple[str, dict[str, list[str]]]]:
    """The words of a policy that undeclared names can match, by the kind of resource."""
    permissions = policy.permissions
    everything = [STAR] if policy.is_everything else None
    named = everything or policy.named_tools
    if (named is not None or policy.denied_tools) and not _has_parts(policy):
        spared = [] if policy.is_everything else list(policy.spared_tools)
        yield "tool", {"named": list(named or ()), "spared": spared, "denied": list(policy.denied_tools)}
    credentials = everything or permissions.credentials
    if credentials is not None:
        yield "credential", {"named": list(credentials), "spared": [], "denied": []}
    if everything or permissions.data is not None:
        # Undeclared data is of the lowest tier.
        tier = 0 if permissions.data is None else DATA_TIERS.index(permissions.data)
        covered = everything or (tier > 0 if policy.effect == "allow" else tier == 0)
        yield "data", {"named": [STAR] if covered else [], "spared": [], "denied": []}


def _list_covered(
    policy: Policy, tools: list[str], credentials: list[str], data: OpaValue
) -> dict[str, dict[str, bool]]:
    if policy.is_everything:
        return {
            "tool": _build_flags(tools),
            "credential": _build_flags(credentials),
            "data": _build_flags(data),
        }
    spared = _list_matching(tools, policy.spared_tools)
    named = _list_matching(tools, policy.named_tools or ())
    return {
        "tool": _build_flags(tool for tool in tools if tool not in spared) if policy.spared_tools else named,
        "credential": _list_matching(credentials, policy.permissions.credentials or ()),
        "data": _build_tiers(policy, data),
    }


def _list_left_out(
    policy: Policy,
    covers: Mapping[str, Mapping[str, bool]],
    tools: list[str],
    credentials: list[str],
    data: OpaValue,
) -> OpaValue:
    """The resources that a ceiling removes: all that it does not name, of the kinds that it covers."""
    spoken = {
        "tool": (policy.named_tools, tools),
        "credential": (policy.permissions.credentials, credentials),
        "data": (policy.permissions.data, data),
    }
    return {
        kind: _build_flags(name for name in names if name not in covers[kind])
        for kind, (statement, names) in spoken.items()
        if statement is not None
    }


def _build_tiers(policy: Policy, data: OpaValue) -> dict[str, bool]:
    """An allow covers its tier and the lower ones. A deny or ask covers its tier and the higher ones."""
    if policy.permissions.data is None:
        return {}
    tier = DATA_TIERS.index(policy.permissions.data)
    if policy.effect == "allow":
        return _build_flags(name for name, each in data.items() if each["level"] <= tier)
    return _build_flags(name for name, each in data.items() if each["tier"] >= tier)


def _list_matching(names: Iterable[str], words: Iterable[str]) -> dict[str, bool]:
    """The names that one of the words means: a name, the beginning of names and a star, or a star alone."""
    exact = set(words)
    beginnings = tuple(word[:-1] for word in exact if word.endswith(STAR))
    return _build_flags(name for name in names if name in exact or name.startswith(beginnings))


def _build_clauses(principal: Principal) -> Iterator[OpaValue]:
    """The groups that the subject must belong to, or must not (`unless`)."""
    if principal.is_user is not None:
        yield {"groups": ["Group:owner"], "unless": not principal.is_user}
    if principal.relationship is not None:
        yield {"groups": [f"Relationship:{principal.relationship}"], "unless": False}
    for tag in principal.tags:
        yield {"groups": [f"Tag:{tag}"], "unless": False}
    if principal.person_id is not None:
        yield {"groups": [f"Person:{principal.person_id}"], "unless": False}
    if principal.unknown is not None:
        yield {"groups": ["Group:unknown"], "unless": not principal.unknown}
    for kind in ("System", "Webhook", "Agent", "Role"):
        named = getattr(principal, kind.lower())
        if named is not None:
            groups = _ANY[kind.lower()] if named == STAR else [f"{kind}:{named}"]
            yield {"groups": groups, "unless": False}


def _build_alternatives(policy: Policy) -> Iterator[OpaValue]:
    """The sets of circumstances of which one must match. None means always."""
    match = policy.match
    if not (match.conditions or match.alert or match.watch):
        return
    for condition, alert, watch in product(
        match.conditions or (Condition(),), match.alert or (None,), match.watch or (None,)
    ):
        stated = {name: getattr(condition, name) for name in CIRCUMSTANCES} | {"alert": alert, "watch": watch}
        alternative: OpaValue = {
            "states": {name: value for name, value in stated.items() if value is not None}
        }
        if condition.time == "weekends":
            alternative["weekend"] = True
        elif condition.time is not None:
            alternative["from"], alternative["to"] = map(_count_minutes, condition.time.split("-"))
        yield alternative


def _count_minutes(words: str) -> int:
    hours, minutes = words.split(":")
    return int(hours) * 60 + int(minutes)
