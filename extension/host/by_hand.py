"""Compile an organization from `active.json` and `roles/*.json` alone, here in the host.

A user who copies or edits these files gets what they declare: routing by domain, the tools and subordinates of each
role, its plans, its tiers with their triggers, and its file scope. Facts that only the organization's own documents
can declare (policies, levels, approvals, ranks) are not in these files. What is in them and cannot be enforced here
is named in a remark, and what would give a right is then not given. The law `by_hand_equals_the_bundle` compares
both.

The words of domains and the names of tools are in no such file. They come from a compiled bundle that is at hand,
which may be of another organization: nothing else of it counts.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from .runtime import bundle as bundles
from .runtime import learned_work, pace, text_index, tiers, trigger_parser

AUTHORITY_OF_TYPE: Final = {"specialist": 1, "executive": 2, "commander": 3}
_MAX_ITEMS: Final = 500
_MAX_LENGTH: Final = 2_000
_MAX_REMARKS: Final = 20
_MAX_BRIEF_LENGTH: Final = 480
_MAX_WEIGHED_LENGTH: Final = 100_000
"""Maximum number of characters of all descriptions together that are used to choose a role by the message."""
_ANSWER, _HAND_ON = "response", "call_subordinate"
_ALSO_WITH: Final = {"code_execution_tool": "input"}
"""A tool without which another one is a trap: a command that asks is never answered."""
_WRITING: Final = {
    "text_editor": {"read": False, "write": True, "patch": True},
    "code_execution_tool": {"terminal": True, "python": True, "nodejs": True, "output": False, "reset": True},
}
"""Tools of the host that open files, and which of their actions write."""
_PATH_ARGUMENTS: Final = {"text_editor": ["path"]}
REMARK: Final = (
    "The organization is compiled from active.json and roles/*.json\n"
    "Roles, tools, delegation, plans and PACE apply as these files declare them. Files like these cannot declare policies, approvals, hours, ranks and qualifications, so these are not enforced. To compile all of an organization's documents: "
    "`orgkernel host activate`."
)
# The known fields of each file. All other fields are reported as not enforced.
_OF_ORGANIZATION: Final = frozenset(
    ("_schema", "_version", "org_id", "org_name", "description", "mission", "hierarchy", "communication_channels", "mode",
     "microcosm_config", "macrocosm_config", "domain_routing", "domains", "external", "departments", "layers",
     "dispatch_edges", "limits", "workspace_root", "alerts", "watches", "x_orgkernel")
)  # fmt: skip
_OF_ROLE: Final = frozenset(
    ("_schema", "_version", "role_id", "role_name", "role_type", "description", "examples", "not_examples",
     "chain_of_command", "capabilities", "requirements", "pace_plan", "doctrine", "does_not_have", "handoff",
     "department", "layer", "position", "file_scope", "standing_orders")
)  # fmt: skip
_OF_CAPABILITIES: Final = frozenset(
    (
        "bst_domains",
        "htn_plans",
        "tools_primary",
        "tools_secondary",
        "tools",
        "skills",
        "intents",
        "procedures",
    )
)


class NothingUsable(ValueError):
    """The files do not make an organization. The message says what is missing."""


@dataclass(slots=True)
class _Work:
    """An organization while it is compiled."""

    document: Mapping[str, Any]
    profiles: Mapping[str, Mapping[str, Any]]
    words: bundles.Bundle | None
    remarks: list[str] = field(default_factory=list)
    superiors: dict[str, str] = field(default_factory=dict)
    circle: set[str] = field(default_factory=set)
    """Roles that report to each other in a circle."""
    names: dict[str, str] = field(default_factory=dict)
    """The host's names of known tools, by tool id."""

    def remark(self, heading: str, content: str = "") -> None:
        self.remarks.append(f"{heading}\n{content}" if content else heading)

    def host_name(self, tool_id: str) -> str:
        return self.names.get(tool_id) or tool_id.partition(":")[0]


def build_bundle(
    document: Mapping[str, Any], files: Mapping[str, object], words: bundles.Bundle | None = None
) -> tuple[bundles.Bundle, tuple[str, ...]]:
    """The organization that the files declare, with remarks on content that has no effect.

    `files` maps each role to its profile, or to the error of reading its file. Raises
    `NothingUsable`.
    """
    remarks = [REMARK]
    profiles = {}
    for role_id, profile in files.items():
        if isinstance(profile, Exception):
            remarks.append(f"Role {role_id[:60]} is left out\n{profile}")
        elif not isinstance(profile, dict) or profile.get("role_id", role_id) != role_id:
            remarks.append(f"Role {role_id[:60]} is left out\nroles/{role_id}.json is not its profile.")
        else:
            profiles[role_id] = profile
    if not profiles:
        why = next((each for each in files.values() if isinstance(each, Exception)), None)
        missing = f": {why}" if why is not None else "; its `hierarchy` names none" if not files else ""
        raise NothingUsable(f"active.json has no role that can be used{missing}")
    work = _Work(document, profiles, words, remarks)
    if words is not None:
        work.names = {tool.tool: name for name, tool in reversed(list(words.tools.items()))}
    _read_chain(work)
    _find_unknown(work)
    roles = {role_id: _build_role(work, role_id) for role_id in profiles}
    for role_id, role in roles.items():
        role["delegates_to"] = _list_delegates(work, roles, role_id)
        if role["delegates_to"] and _HAND_ON not in role["essential"]:
            role["essential"].append(_HAND_ON)
            role["host_tools"] = list(dict.fromkeys((*role["host_tools"], _HAND_ON)))
            role["tools"].setdefault(_HAND_ON, _grant(_HAND_ON, _HAND_ON, False, ()))
        role["brief"] = _write_brief(work, roles, role)
    data: dict[str, Any] = {
        "_schema": bundles.SCHEMA,
        "_version": bundles.VERSION,
        "digest": compute_digest(document, profiles),
        "compiled_by": "the extension, by hand",
        "organization": {
            "org_id": document["org_id"],
            "org_name": _read_text(document.get("org_name")) or document["org_id"],
            "description": _read_text(document.get("description")),
            "mode": _read_text(document.get("mode")) or "microcosm",
            "workspace_root": _read_text(document.get("workspace_root")) or None,
            "document": {name: value for name, value in document.items() if name != "x_orgkernel"},
        },
        **_build_domains(work, roles),
        "roles": roles,
        "tools": _build_tools(work, roles),
        "signals": {},
        "limits": _read_limits(work),
    }
    shown = work.remarks
    if len(shown) > _MAX_REMARKS:
        rest = len(shown) - _MAX_REMARKS
        shown = [*shown[:_MAX_REMARKS], f"{rest} more remarks about active.json and roles/*.json"]
    return bundles.read_bundle(data | {"checksum": bundles.compute_checksum_of(data)}), tuple(shown)


def _read_limits(work: _Work) -> dict[str, Any]:
    """The run limits that the organization states. A missing or invalid limit has its default value."""
    stated_limits, least = _read_mapping(work.document.get("limits")), bundles.BundleLimits()
    limits: dict[str, Any] = {}
    for name in ("max_spawn_depth", "max_children", "max_concurrent"):
        value = stated_limits.get(name, getattr(least, name))
        limits[name] = value if type(value) is int and value > 0 else getattr(least, name)
    given = stated_limits.get("delegation", "envelope")
    limits["delegation"] = given if given in ("envelope", "strict") else "strict"
    wrong = [name for name, value in limits.items() if stated_limits.get(name, value) != value]
    if wrong:
        work.remark(
            "Limits in active.json cannot be read", f"{', '.join(wrong)}: the default applies, or `strict`."
        )
    return limits


def build_role_texts(bundle: bundles.Bundle, role: bundles.BundleRole) -> text_index.RoleTexts:
    """The strings that describe a role.

    In large organizations, each role has shorter ones, because comparing them takes time.
    """
    longest = max(_MAX_WEIGHED_LENGTH // len(bundle.roles), 200)
    capabilities = _read_mapping(role.profile.get("capabilities"))
    skills = [_read_mapping(each).get("skill", each) for each in _read_list(capabilities.get("skills"))]
    fields: list[tuple[str, str]] = [
        *(("intent", each) for each in _read_texts(capabilities.get("intents"))),
        *(("example", each) for each in _read_texts(role.profile.get("examples"))),
        ("name", role.role_name),
        ("description", role.description[:longest]),
        *(("skill_name", each) for each in skills if isinstance(each, str)),
        *(("plan_name", each) for each in role.plans),
        *(("tool_name", _get_tool_name(bundle, each)) for each in role.host_tools - role.essential),
    ]
    learned = []
    for name in role.domains:
        domain = bundle.domains.get(name)
        if domain is not None and not domain.passthrough:
            if learned_work.is_learned(name, domain.triggers):
                learned.append(name)
            fields.append(("domain_name", name))
            fields += (("domain_trigger", each) for each in domain.triggers)
            fields += (("domain_example", each) for each in domain.examples)
    return text_index.RoleTexts(
        role.role_id,
        (role.role_name, role.role_id),
        tuple(fields),
        leads=role.subordinates,
        prior=text_index.PRIORS.get(role.role_type, 1.0),
        not_examples=tuple(_read_texts(role.profile.get("not_examples"))),
        domains=tuple(learned),
    )


def _get_tool_name(bundle: bundles.Bundle, tool: str) -> str:
    known = bundle.tools.get(tool)
    return known.name if known is not None else tool


def compute_digest(document: Mapping[str, Any], profiles: Mapping[str, Any]) -> str:
    """Compute the digest of the content of the files."""
    text = json.dumps([document, profiles], sort_keys=True, ensure_ascii=True)
    return f"by hand, sha256:{hashlib.sha256(text.encode('ascii')).hexdigest()}"


# -- the chain of command ----------------------------------------------------------------------------------------------


def _read_chain(work: _Work) -> None:
    """Read the superior of each role from the hierarchy, or from the role's own file if the hierarchy does not name
    one.
    """
    for superior, entry in _read_mapping(work.document.get("hierarchy")).items():
        for each in _read_texts(_read_mapping(entry).get("subordinates")):
            known = work.superiors.setdefault(each, superior)
            if known != superior:
                work.remark(
                    f"Role {each[:60]} has two superiors",
                    f"active.json puts it below {known} and {superior}; {known} is used.",
                )
    for role_id, profile in work.profiles.items():
        reports_to = _read_text(_read_mapping(profile.get("chain_of_command")).get("reports_to"))
        known = (
            work.superiors.setdefault(role_id, reports_to) if reports_to else work.superiors.get(role_id, "")
        )
        if reports_to and reports_to != known:
            work.remark(
                f"Role {role_id[:60]} reports to {known[:60]}",
                f"active.json declares it, and roles/{role_id}.json declares {reports_to}; active.json is used.",
            )
    for role_id in work.profiles:
        chain = _list_superiors(work, role_id)
        if role_id in chain:
            work.circle.update(chain)
    if work.circle:
        names = ", ".join(sorted(work.circle)[:6])
        work.remark("Roles report to each other in a circle", f"{names}: these roles may not delegate.")


def _list_superiors(work: _Work, role_id: str) -> list[str]:
    """All superiors, nearest first. A cycle ends the list."""
    chain: list[str] = []
    above = work.superiors.get(role_id)
    while above and above not in chain:
        chain.append(above)
        above = work.superiors.get(above)
    return chain


def _list_delegates(work: _Work, roles: Mapping[str, Any], role_id: str) -> list[str]:
    """The roles below it, if it may delegate, and those that its file names; not where layers or its position forbid it."""
    profile, role = work.profiles[role_id], roles[role_id]
    named = _read_texts(_read_mapping(profile.get("handoff")).get("may_to"))
    if role_id in work.circle or profile.get("position") == "worker":
        return []
    return [
        each
        for each in roles
        if each != role_id
        and (each in named or (role["can_delegate"] and role_id in _list_superiors(work, each)))
        and not _do_layers_forbid(work, profile, work.profiles[each])
    ]


def _do_layers_forbid(work: _Work, profile: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    edges = work.document.get("dispatch_edges")
    source, target = profile.get("layer"), other.get("layer")
    if not edges or source is None or target is None:
        return False
    pairs = [_read_mapping(each) for each in edges] if isinstance(edges, list) else []
    return not any(each.get("from") == source and each.get("to") == target for each in pairs)


# -- roles -------------------------------------------------------------------------------------------------------------


def _build_role(work: _Work, role_id: str) -> dict[str, Any]:
    profile = work.profiles[role_id]
    capabilities, doctrine = (
        _read_mapping(profile.get("capabilities")),
        _read_mapping(profile.get("doctrine")),
    )
    kind = _read_text(profile.get("role_type")) or "specialist"
    kind = kind if kind in AUTHORITY_OF_TYPE else "specialist"
    can_delegate = _read_mapping(profile.get("chain_of_command")).get("can_delegate")
    delegates = can_delegate if isinstance(can_delegate, bool) else kind in ("executive", "commander")
    listed = _list_role_tools(work, role_id, capabilities)
    also = [_ALSO_WITH[each] for each in listed if each in _ALSO_WITH]
    essential = [*also, _ANSWER, *([_HAND_ON] if delegates else [])]
    names = [work.host_name(each) for each in listed]
    scope = _read_texts(profile.get("file_scope"))
    limit = doctrine.get("max_turns_without_progress")
    chain = _list_superiors(work, role_id)
    entry = _read_mapping(_read_mapping(work.document.get("hierarchy")).get(role_id))
    return {
        "role_id": role_id,
        "role_name": _name(profile, entry, role_id),
        "role_type": kind,
        "description": _read_text(profile.get("description")),
        "brief": "",
        "reports_to": work.superiors.get(role_id) or None,
        "chain": chain,
        "subordinates": [each for each in work.profiles if work.superiors.get(each) == role_id],
        "can_delegate": delegates,
        "delegates_to": [],
        "domains": _read_texts(capabilities.get("bst_domains")),
        "plans": _read_texts(capabilities.get("htn_plans")),
        "tools": {
            each: _grant(
                each, work.host_name(each), each in _read_texts(capabilities.get("tools_primary")), scope
            )
            for each in dict.fromkeys((*listed, *essential))
        },
        "host_tools": list(dict.fromkeys([*names, *essential])),
        "essential": essential,
        "pace": _plan(work, role_id, _read_mapping(profile.get("pace_plan"))),
        "max_turns": limit if type(limit) is int and limit > 0 else pace.DEFAULT_MAX_TURNS,
        "doctrine": dict(doctrine),
        "file_scope": scope,
        "profile": dict(profile),
    }


def _list_role_tools(work: _Work, role_id: str, capabilities: Mapping[str, Any]) -> list[str]:
    """The tools that a role's file lists, preferred ones first."""
    tool_names = [
        *_read_texts(capabilities.get("tools_primary")),
        *_read_texts(capabilities.get("tools_secondary")),
    ]
    limited = []
    for each in _read_list(capabilities.get("tools")):
        use = _read_mapping(each)
        if use.get("level", "full") == "full" and isinstance(use.get("tool"), str):
            tool_names.append(use["tool"])
        else:
            limited.append(str(use.get("tool"))[:60])
    tools = list(dict.fromkeys(tool_names))
    if limited:
        text = f"A host does not know what a tool may do at a level below full: {', '.join(limited[:6])}."
        work.remark(f"Role {role_id[:60]} does not get tools at a lower level", text)
    if work.words is not None:
        unknown = [each for each in tools if each not in work.names and each not in work.words.tools]
        if unknown:
            text = f"{', '.join(unknown[:6])}: allowed if the host has a tool of that name."
            work.remark(f"Role {role_id[:60]} has tools that no catalog here knows", text)
    if not tools:
        work.remark(f"Role {role_id[:60]} lists no tools", "It may only answer, and delegate if it leads.")
    elif "file_scope" in work.profiles[role_id]:
        free = [each for each in tools if work.host_name(each) not in _WRITING]
        if free:
            text = f"It is checked for {' and '.join(_WRITING)}. Not checked: {', '.join(free[:6])}."
            work.remark(f"The file scope of role {role_id[:60]} is checked for some tools only", text)
    return tools


def _grant(tool_id: str, name: str, preferred: bool, scope: Sequence[str]) -> dict[str, Any]:
    writing = _WRITING.get(name, {})
    scoped = [action for action, writes in writing.items() if writes] if scope else []
    return {
        "level": "full",
        "preferred": preferred,
        "actions": {action: action not in scoped for action in writing},
        "ask": [],
        "conditional": None,
        "scoped": scoped,
    }


def _plan(work: _Work, role_id: str, plan: Mapping[str, Any]) -> dict[str, Any]:
    pace_tiers = {}
    for name in tiers.TIERS:
        if name not in plan:
            continue
        tier = _read_mapping(plan[name])
        text = _read_text(tier.get("trigger"))
        tree = None
        if text and name in tiers.ABOVE_PRIMARY:
            parsed = trigger_parser.parse_trigger(text)
            tree = parsed.tree
            if tree is None:
                problem = parsed.problems[0]
                advice = f"; {problem.help}" if problem.help else ""
                work.remark(
                    f"The trigger of {name} of role {role_id[:60]} is never true",
                    f"{problem.message}{advice}.",
                )
        pace_tiers[name] = {
            "action": _read_text(tier.get("action")),
            "description": _read_text(tier.get("description")),
            "escalate_to": _read_text(tier.get("escalate_to")) or None,
            "trigger": tree,
            "text": text,
        }
    return pace_tiers


def _name(profile: Mapping[str, Any], entry: Mapping[str, Any], role_id: str) -> str:
    return (
        _read_text(profile.get("role_name"))
        or _read_text(entry.get("role_name"))
        or role_id.replace("_", " ").title()[:200]
    )


def _write_brief(work: _Work, roles: Mapping[str, Any], role: Mapping[str, Any]) -> str:
    """Write the brief of a role, limited to about 120 tokens."""
    organization = _read_text(work.document.get("org_name")) or work.document["org_id"]
    above = role["reports_to"]
    superior = roles[above]["role_name"] if above in roles else above if above not in (None, "user") else ""
    below = sorted(role["delegates_to"], key=lambda each: each not in role["subordinates"])
    hand_on = "delegate it, or " if below else ""
    first = f"You are the {_shorten_line(role['role_name'], 60)} ({_shorten_line(role['role_id'], 60)}) of {_shorten_line(organization, 60)}."
    last = (
        f"Use only tools shown here. If you cannot do something, do not work around it: {hand_on}answer with `response`, "
        f"and say what is missing and that {_shorten_line(superior, 60) or 'the user'} should take over."
    )
    middle = []
    left = _MAX_BRIEF_LENGTH - len(first) - len(last)
    names = ", ".join(_shorten_line(each, 60) for each in below[:6])
    lacks = [
        f"You do not have: {each}"
        for each in _read_texts(work.profiles[role["role_id"]].get("does_not_have"))
    ]
    delegation = [f"Delegate with `call_subordinate` to one of these profiles: {names}."] if names else []
    for sentence in (*delegation, role["description"], *lacks):
        line = _shorten_line(sentence, _MAX_LENGTH)
        if line and len(line) < left:
            middle.append(line if line[-1] in ".!?" else f"{line}.")
            left -= len(line) + 2
    return "\n".join((first, *middle, last))


def _shorten_line(text: str, most: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[:most].rstrip()}…"


# -- domains and tools -------------------------------------------------------------------------------------------------


def _build_domains(work: _Work, roles: Mapping[str, Any]) -> dict[str, Any]:
    known: Mapping[str, bundles.BundleDomain] = work.words.domains if work.words is not None else {}
    own = (domain for role in roles.values() for domain in role["domains"])
    domains: dict[str, dict[str, Any]] = {}
    for name in dict.fromkeys((*known, *own)):
        it = known.get(name)
        domains[name] = {
            "aliases": list(it.aliases) if it else [],
            "broader": list(it.broader) if it else [],
            "passthrough": it.passthrough if it else False,
            "examples": list(it.examples) if it else [],
            "triggers": list(it.triggers) if it else [],
        }
    aliases = dict(work.words.aliases) if work.words is not None else {}
    return {
        "domains": domains,
        "aliases": aliases,
        "dispatch": {name: _find_taker(work, roles, name, each["broader"]) for name, each in domains.items()},
    }


def _find_taker(work: _Work, roles: Mapping[str, Any], domain: str, broader: Sequence[str]) -> str | None:
    """The role for a domain: by the nearest domain it handles, by its type, by routing, with fewest domains."""
    near = (domain, *broader)
    candidates = []
    for number, (role_id, role) in enumerate(roles.items()):
        distance = next((at for at, each in enumerate(near) if each in role["domains"]), None)
        if distance is not None:
            routed = _read_texts(_read_mapping(work.document.get("domain_routing")).get(near[distance]))
            place = routed.index(role_id) if role_id in routed else len(routed)
            rank = AUTHORITY_OF_TYPE[role["role_type"]]
            candidates.append((distance, rank, place, len(role["domains"]), number, role_id))
    return min(candidates)[-1] if candidates else None


def _build_tools(work: _Work, roles: Mapping[str, Any]) -> dict[str, Any]:
    """Build all tools that a role lists or that the bundle's words know.

    A tool that no role lists is refused to all roles.
    """
    known: Mapping[str, bundles.BundleTool] = work.words.tools if work.words is not None else {}
    ids = {work.host_name(tool): tool for role in roles.values() for tool in role["tools"]}
    essential = {name for role in roles.values() for name in role["essential"]}
    tools = {}
    for name in dict.fromkeys((*known, *ids, *_WRITING, _ANSWER, _HAND_ON)):
        it = known.get(name)
        tools[name] = {
            "tool": it.tool if it else ids.get(name, name),
            "name": it.name if it else name,
            "roles": [role_id for role_id, role in roles.items() if name in role["host_tools"]],
            "essential": name in essential,
            "path_arguments": list(it.path_arguments) if it else _PATH_ARGUMENTS.get(name, []),
        }
    return tools


def _say_without_effect(names: Sequence[str]) -> str:
    return f"{_join_names(names)}: they have no effect here."


def _find_unknown(work: _Work) -> None:
    """Name the parts of the files that are not enforced here."""
    unused = _list_unread_fields(work.document, _OF_ORGANIZATION)
    if unused:
        work.remark("Parts of active.json are not enforced", _say_without_effect(unused))
    by_role: dict[str, list[str]] = {}
    for role_id, profile in work.profiles.items():
        capabilities = _list_unread_fields(_read_mapping(profile.get("capabilities")), _OF_CAPABILITIES)
        for name in (
            *_list_unread_fields(profile, _OF_ROLE),
            *(f"capabilities.{each}" for each in capabilities),
        ):
            by_role.setdefault(name, []).append(role_id)
        if _read_mapping(profile.get("handoff")).get("may_from"):
            by_role.setdefault("handoff.may_from", []).append(role_id)
        kind = _read_text(profile.get("role_type", "specialist"))
        if kind not in AUTHORITY_OF_TYPE:
            by_role.setdefault(f"role_type {kind[:30]}", []).append(role_id)
    if by_role:
        parts = [f"{name} ({', '.join(each[:3])})" for name, each in by_role.items()]
        work.remark("Parts of roles/*.json are not enforced", _say_without_effect(parts))


def _list_unread_fields(data: Mapping[str, Any], known: frozenset[str]) -> list[str]:
    return [
        str(name)[:60] for name, value in data.items() if name not in known and value not in (None, [], {})
    ]


def _join_names(names: Sequence[str]) -> str:
    more = f" and {len(names) - 8} more" if len(names) > 8 else ""
    return ", ".join(names[:8]) + more


def _read_mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _read_list(value: object) -> list[Any]:
    return value[:_MAX_ITEMS] if isinstance(value, list) else []


def _read_text(value: object) -> str:
    return _clean_text(value) if isinstance(value, str) else ""


def _read_texts(value: object) -> list[str]:
    return [_clean_text(each) for each in _read_list(value) if isinstance(each, str)]


def _clean_text(text: str) -> str:
    """A string that can be encoded as UTF-8, limited in length."""
    return text[:_MAX_LENGTH].encode("utf-8", "replace").decode()
