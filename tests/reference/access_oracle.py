"""What access decisions have to be, from plain dicts with plain loops. Imports nothing of the project.

A world is a dict: `organization`, `profiles` (by role id), `tools`, `ranks` (a list of ids), `matrices`,
`qualifications`, `people`, `policies`, `agents`, each as in the documents, and `state` with `agents`, `grants`,
`restrictions`, `results` and `locks` as lists of dicts. A request is a dict as well. Nothing is kept or looked up in
an index: where this and the project differ, one of them is wrong, and this one can be read in a sitting.
"""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Iterator
from typing import Any

LEVELS = ["none", "observe", "read", "write", "full"]
TIERS = ["none", "minimal", "contextual", "full"]
INTERNAL = ["cron", "runtime", "boot", "restart", "node", "clock"]
ORDER = [
    "UNKNOWN_PRINCIPAL",
    "AGENT_INACTIVE",
    "TOOL_UNKNOWN",
    "CREDENTIAL_UNKNOWN",
    "DATA_UNKNOWN",
    "ROLE_UNKNOWN",
    "RESOURCE_UNKNOWN",
    "ACTION_UNKNOWN",
    "TOOL_DISABLED",
    "NOT_VISIBLE",
    "NOT_IN_RESTRICTED_TO",
    "NOT_BOUND_TO_ROLE",
    "CANNOT_DELEGATE",
    "TARGET_NOT_ALLOWED",
    "DISPATCH_EDGE_FORBIDDEN",
    "RANK_TOO_LOW",
    "QUALIFICATION_MISSING",
    "POLICY_DENY",
    "PART_NOT_STATED",
    "POLICY_CEILING",
    "NO_POLICY_MATCH",
    "RESTRICTED",
    "POSITION_CAP",
    "WORKER_CANNOT_DISPATCH",
    "WRITE_OUT_OF_FILE_SCOPE",
    "PARENT_CAP",
    "DEPTH_EXCEEDED",
    "CHILD_LIMIT",
    "PACE_CAP",
    "SACRED_READ",
    "LOCKED",
    "INPUT_INVALID",
    "CONTEXT_MISSING",
    "ASK_APPROVAL",
]
STOPS = {
    "UNKNOWN_PRINCIPAL", "AGENT_INACTIVE", "TOOL_UNKNOWN", "CREDENTIAL_UNKNOWN", "DATA_UNKNOWN", "ROLE_UNKNOWN",
    "RESOURCE_UNKNOWN", "ACTION_UNKNOWN", "TOOL_DISABLED", "POLICY_DENY", "PART_NOT_STATED",
    "INPUT_INVALID", "SACRED_READ",
}  # fmt: skip
SIDE_EFFECTS = {"none": "read", "read": "read", "write": "write", "destructive": "full"}

World = dict[str, Any]
Request = dict[str, Any]
Subject = dict[str, Any]


UNSTATED = ["channel", "peer_kind", "account", "guild", "hook_id", "event_type", "alert", "watch"]


def decide(world: World, request: Request) -> tuple[str, list[str], int]:
    """Outcome, codes of what fails in the order of the layers, and the level that is left.

    What is allowed is conditional where another outcome could follow from what the caller did not say.
    """
    # What is recorded of the organization counts, whatever the caller says, as long as it is declared.
    declared = {
        "alert": world["organization"].get("alerts", ["GREEN", "YELLOW", "RED"]),
        "watch": world["organization"].get("watches", ["alpha", "beta", "gamma"]),
    }
    recorded = {
        kind: value for kind, value in world["state"].get("status", {}).items() if value in declared[kind]
    }
    request = {**request, "context": {**request["context"], **recorded}}
    answer = decide_as_stated(world, request)
    if answer[0] != "allow":
        return answer
    for context in completions(world, request["context"]):
        if decide_as_stated(world, {**request, "context": context})[0] != "allow":
            return "conditional", ["CONTEXT_MISSING"], answer[2]
    return answer


def completions(world: World, context: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Everything that a caller could still say: each value some policy names, or nothing of the kind."""
    conditions = [
        condition
        for policy in world["policies"].values()
        for condition in policy.get("match", {}).get("conditions", [])
    ]
    for policy in world["policies"].values():
        for name in ("alert", "watch"):
            conditions += [{name: each} for each in policy.get("match", {}).get(name, [])]
    open_names = [name for name in UNSTATED if context.get(name) is None]
    values = [["", *{each[name] for each in conditions if name in each}] for name in open_names]
    for chosen in itertools.product(*values):
        yield {**context, **dict(zip(open_names, chosen, strict=True))}


def decide_as_stated(world: World, request: Request) -> tuple[str, list[str], int]:
    """The answer where nothing holds but what the caller says."""
    subject = find_subject(world, request["subject"])
    kind, name, _ = split(request["resource"])
    if subject is None:
        failing = {"UNKNOWN_PRINCIPAL", *unknown_names(world, kind, name)}
        if len(failing) == 1 and request["action"] not in required_levels(world, kind, name):
            failing.add("ACTION_UNKNOWN")
        return "deny", [code for code in ORDER if code in failing], 0
    failing, granted, ceiling = weigh(world, request, subject)
    failing, ceiling = weigh_run(world, request, subject, set(failing), granted, ceiling)
    level = 0 if failing & STOPS else min(granted, ceiling)
    if not failing:
        return "allow", [], level
    if failing == {"ASK_APPROVAL"}:
        return "ask", ["ASK_APPROVAL"], level
    return "deny", [code for code in ORDER if code in failing], level


# -- subjects and resources --------------------------------------------------------------------------------------------


def find_subject(world: World, written: str) -> Subject | None:
    """Everything known about who asks."""
    kind, name = written.split(":", 1)
    subject: Subject = {"kind": kind, "id": name, "roles": [], "owner": False, "person": {}}
    if kind == "role":
        if name not in included(world):
            return None
        subject["roles"] = [name]
    elif kind == "agent":
        if name not in world["agents"]:
            return None
        for assignment in world["agents"][name].get("assignments", []):
            if assignment["role"] in included(world) and assignment["role"] not in subject["roles"]:
                subject["roles"].append(assignment["role"])
    elif kind == "person":
        if name in world["people"]:
            subject["person"] = world["people"][name]
            subject["owner"] = subject["person"].get("relationship") == "owner"
        elif name == "user":
            subject["person"], subject["owner"] = {"relationship": "owner"}, True
        elif name == "unknown":
            subject["kind"] = "unknown"
        else:
            return None
    elif kind == "system":
        if name not in INTERNAL and name not in world["system_origins"]:
            return None
        subject["owner"] = name in INTERNAL
    elif kind == "webhook":
        if name not in world["webhooks"]:
            return None
    else:
        return None
    return subject


def words_for(subject: Subject) -> list[str]:
    """The subjects under which grants and restrictions can be stored for a subject."""
    words = [f"{'person' if subject['kind'] == 'unknown' else subject['kind']}:{subject['id']}"]
    words += [f"role:{role}" for role in subject["roles"] if f"role:{role}" not in words]
    if subject["person"].get("relationship"):
        words.append(f"relationship:{subject['person']['relationship']}")
    words += [f"tag:{tag}" for tag in subject["person"].get("tags", [])]
    return words


def crew(subject: Subject) -> bool:
    """Whether the subject gets permissions from roles."""
    return subject["kind"] in ("role", "agent")


def included(world: World) -> list[str]:
    """The roles of the organization."""
    names = list(world["organization"]["hierarchy"])
    for post in world["organization"]["hierarchy"].values():
        names += [each for each in post.get("subordinates", []) if each not in names]
    return [name for name in names if name in world["profiles"]]


def split(resource: str) -> tuple[str, str, str | None]:
    """Kind, name and path."""
    kind, name = resource.split(":", 1)
    if kind == "tool" and ":" in name:
        name, path = name.split(":", 1)
        return kind, name, path
    return kind, name, None


def unknown_names(world: World, kind: str, name: str) -> set[str]:
    """What fails because a resource is not declared."""
    if kind == "tool":
        return set() if name in world["tools"] else {"TOOL_UNKNOWN"}
    if kind == "credential":
        named = [
            each for profile in included(world) for each in world["profiles"][profile].get("credentials", [])
        ]
        for tool in world["tools"].values():
            named += tool.get("credentials", [])
        for policy in world["policies"].values():
            listed = policy.get("permissions", {}).get("credentials", [])
            named += [] if listed == "*" or policy.get("effect") == "deny" else listed
        return set() if name in named else {"CREDENTIAL_UNKNOWN"}
    if kind == "data":
        return set() if name in TIERS else {"DATA_UNKNOWN"}
    if kind == "role":
        return set() if name in included(world) else {"ROLE_UNKNOWN"}
    return {"RESOURCE_UNKNOWN"}


def required_levels(world: World, kind: str, name: str) -> dict[str, int]:
    """Action to the level it requires."""
    if unknown_names(world, kind, name):
        return {}
    if kind == "credential":
        return {"use": 4}
    if kind == "data":
        return {"read": max(1, TIERS.index(name))}
    if kind == "role":
        return {"handoff": 4, "escalate": 4}
    tool = world["tools"][name]
    declared = tool.get("actions") or {"use": SIDE_EFFECTS[tool.get("side_effects", "none")]}
    levels = {action: max(1, LEVELS.index(level)) for action, level in declared.items()}
    found = {"use": max(levels.values()), "run": max(levels.values()), **levels}
    if tool.get("concurrency") == "exclusive" and "lock" not in found:
        found["lock"] = min(levels.values())
    return found


def is_essential(world: World, subject: Subject, kind: str, name: str) -> bool:
    """Whether a tool is never refused to a subject."""
    if kind != "tool" or name not in world["tools"]:
        return False
    essential = world["tools"][name].get("essential", False)
    if isinstance(essential, bool):
        return essential and bool(subject["roles"])
    for role in subject["roles"]:
        if essential.get("delegating") and can_delegate(world, role):
            return True
        if set(essential.get("with_tools", [])) & set(tool_levels(world, role)):
            return True
    return False


def can_delegate(world: World, role: str) -> bool:
    """Whether a role may hand work down."""
    profile = world["profiles"][role]
    stated = profile.get("chain_of_command", {}).get("can_delegate")
    return profile.get("role_type", "specialist") != "specialist" if stated is None else stated


def tool_levels(world: World, role: str) -> dict[str, int]:
    """Tool to level, as a profile gives them."""
    able = world["profiles"][role].get("capabilities", {})
    levels: dict[str, int] = {}
    for tool in [*able.get("tools_primary", []), *able.get("tools_secondary", [])]:
        levels[tool] = 4
    for use in able.get("tools", []):
        level = LEVELS.index(use.get("level", "full"))
        if level:
            levels[use["tool"]] = max(level, levels.get(use["tool"], 0))
    return levels


# -- what a subject brings along ---------------------------------------------------------------------------------------


def weigh(world: World, request: Request, subject: Subject) -> tuple[set[str], int, int]:
    """What fails, what is granted, and the ceiling."""
    kind, name, _ = split(request["resource"])
    failing = unknown_names(world, kind, name)
    known = not failing
    needed = required_levels(world, kind, name).get(request["action"])
    if needed is None:
        needed = 4
        failing |= {"ACTION_UNKNOWN"} if known else set()
    tool = world["tools"].get(name, {}) if kind == "tool" else {}
    if is_inactive(world, subject):
        failing.add("AGENT_INACTIVE")
    if not tool.get("enabled", True):
        failing.add("TOOL_DISABLED")
    essential = is_essential(world, subject, kind, name)
    given, waived = granted_by_grants(world, request, subject)

    granted = 4 if essential else bound(world, subject, kind, name)
    lacks: set[str] = set()
    if kind == "role" and known:
        gives, lacks = command(world, subject, name, request["action"])
        granted = 4 if gives else granted
    ceiling = 4
    if not essential:
        for code, cap in declared_caps(world, request, subject, name, tool, needed):
            lifted = max(cap, waived.get(code, 0))
            ceiling = min(ceiling, lifted)
            failing |= {code} if lifted < needed else set()
    asked = False
    allowed, tops = 0, []
    matching = matching_policies(world, subject, request["context"])
    for policy in matching:
        said = (
            says(policy, kind, name)
            if is_about(world, policy, kind, stated_paths(request, tool))
            and is_about_commands(policy, kind, stated_commands(request, tool))
            and (kind != "tool" or pass_tests(policy, request) is not False)
            else set()
        )
        if policy.get("fallback") and any(
            not each.get("fallback") and each["effect"] == "allow" for each in matching
        ):
            continue
        if "deny" in said:
            divided = policy.get("permissions", {}) if kind == "tool" else {}
            divided = divided if "tools" in divided else {}
            is_open = (divided.get("paths") and not stated_paths(request, tool)) or (
                divided.get("commands") and not stated_commands(request, tool)
            )
            is_open = is_open or (divided.get("input") and request["context"].get("input") is None)
            if (
                divided
                and not is_open
                and is_unread(world, policy, request, tool)
                and is_for_person(world, request, subject)
            ):
                approved_once = granted_by_grants(world, request, subject, limited=True)[0] >= needed
                failing |= set() if approved_once else {"ASK_APPROVAL"}
            else:
                failing.add("PART_NOT_STATED" if is_open else "POLICY_DENY")
        if "ask" in said:
            asked = True
        if policy["effect"] == "allow":
            top = allows(policy, kind, name)
            others = [each for each in matching if not each.get("fallback") and each["effect"] != "annotate"]
            if top is not None:
                allowed = max(allowed, 0 if policy.get("fallback") and others else top)
                tops += [top] if is_ceiling(policy) else []
    if tops and not essential:
        ceiling = min(ceiling, *tops)
        failing |= {"POLICY_CEILING"} if min(tops) < needed else set()
    if not crew(subject):
        granted = max(granted, allowed)
    granted = max(granted, given)
    if asked and given < needed:
        failing.add("ASK_APPROVAL")
    if granted < needed and known:
        failing |= lacks or {"NOT_BOUND_TO_ROLE" if crew(subject) else "NO_POLICY_MATCH"}
    for restriction in stored_for(world, request, subject, "restrictions"):
        left = stored_level(world, restriction, kind, name, stated_paths(request, tool), is_grant=False)
        if left is not None:
            ceiling = min(ceiling, left)
            failing |= {"RESTRICTED"} if left < needed else set()
    positions = {world["profiles"][role].get("position") for role in subject["roles"]}
    if delegates(tool) and positions == {"worker"}:
        ceiling = 0
        failing.add("POSITION_CAP")
    if crew(subject) and tool and needed >= 3 and request["action"] != "lock":
        globs = scope_of(world, subject, name, tool, needed, essential)
        stated = stated_paths(request, tool)
        if globs and not (stated and all(surely_in(world, each, globs) for each in stated)):
            ceiling = min(ceiling, 2)
            failing.add("WRITE_OUT_OF_FILE_SCOPE")
    return failing, granted, ceiling


def scope_of(
    world: World, subject: Subject, name: str, tool: dict[str, Any], needed: int, essential: bool
) -> list[str]:
    """The globs in which a subject may write with a tool; empty if it may write anywhere."""
    local = ("infra_service", "mcp_server", "computer_use", "deterministic_function")
    arguments = tool.get("path_arguments")
    if not (arguments or (arguments is None and tool["type"] in local)) or (essential and not arguments):
        return []
    giving = [role for role in subject["roles"] if tool_levels(world, role).get(name, 0) >= needed]
    scopes = [world["profiles"][role].get("file_scope", []) for role in giving or subject["roles"]]
    return [glob for scope in scopes for glob in scope] if all(scopes) else []


# -- paths: of the spellings that worlds are made of -------------------------------------------------------------------


def stated_paths(request: Request, tool: dict[str, Any]) -> list[str]:
    """The paths of a request; an empty one for an input in which none can be found."""
    found = split(request["resource"])[2]
    paths = [] if found is None else [found]
    said = request["context"].get("input")
    if tool.get("path_arguments") and said is not None:
        paths += [said[name] for name in tool["path_arguments"] if name in said] or [""]
    return paths


def stated_commands(request: Request, tool: dict[str, Any]) -> list[str]:
    """The commands of a request; one that may be any for an input in which none can be found."""
    said, arguments = request["context"].get("input"), tool.get("command_arguments")
    if said is None or not arguments:
        return []
    found = [said[name] for name in arguments if name in said]
    return [text for each in found for text in (each if isinstance(each, list) else [each])] or ["$x"]


ANYTHING = {"rm", "git push", "ls"}
UNREAD = {"$x"}
"""The shell commands that cannot be parsed."""
MAY_BEGIN = {
    "ls -l": {"ls"},
    "rm x": {"rm"},
    "git push -f": {"git push"},
    "git -C a push": {"git push"},
    "git status": set(),
    "push git": set(),
    "sudo rm x": {"rm"},
    "ls && rm x": {"ls", "rm"},
    "sh -c ls": {"ls"},
    "$x": ANYTHING,
    "ls $x": {"ls"},
    "/bin/rm x": {"rm"},
    "r'm' x": {"rm"},
    "RM x": {"rm"},
    "rmdir x": {"rm"},
    "ls | wc": {"ls"},
    "echo 'a push'": set(),
    "xargs git": ANYTHING,
    "": set(),
}
"""The commands that worlds are made of, and how each, or one in it, may begin. What runs words from elsewhere may begin in any way."""


def place(world: World, path: str) -> tuple[bool, list[str]] | None:
    """Whether a path starts at the top, and its names; None if they are unknown."""
    root = world["organization"].get("workspace_root")
    if not path or any(sign in path for sign in "\\~\0") or path != path.strip():
        return None
    if root and not path.startswith("/"):
        path = f"{root}/{path}"
    names: list[str] = []
    for name in path.split("/"):
        if name == ".." and not names and not path.startswith("/"):
            return None
        if name == "..":
            names = names[:-1]
        elif name not in ("", "."):
            names.append(name)
    return path.startswith("/"), names


def surely_in(world: World, path: str, globs: list[str]) -> bool:
    """Whether one of the globs surely holds a path: their names are `*`, `**` or have no star."""
    found = place(world, path)
    for glob in globs:
        wanted = place(world, glob)
        if found is None or wanted is None or found[0] != wanted[0] or any("*" in name for name in found[1]):
            continue
        if fits(found[1], wanted[1]):
            return True
    return False


def fits(names: list[str], pattern: list[str]) -> bool:
    """Whether names are those of a pattern, `**` being any number of them, and at the end one or more."""
    if not names or not pattern:
        return not names and not pattern
    if pattern[0] == "**":
        return pattern == ["**"] or any(fits(names[at:], pattern[1:]) for at in range(len(names)))
    return pattern[0] in ("*", names[0]) and fits(names[1:], pattern[1:])


def may_be_in(world: World, path: str, glob: str) -> bool:
    """Whether a glob may speak of a path: of what it holds, of what lies below, of a folder that contains it."""
    found, wanted = place(world, path), place(world, glob)
    if found is None or wanted is None or found[0] != wanted[0]:
        return True
    names, pattern = ([name.lower() for name in each[1]] for each in (found, wanted))
    fixed = [name for at, name in enumerate(pattern) if "*" not in "".join(pattern[: at + 1])]
    if "*" in names:
        # Whatever lies in the folder before the star.
        names = names[: names.index("*")]
        if names[: len(fixed)] == fixed:
            return True
    folder = pattern[: len(names)]
    contains = len(names) <= len(pattern) and "**" not in folder and fits(names, folder)
    return contains or any(fits(names[:at], pattern) for at in range(len(names) + 1))


def is_inactive(world: World, subject: Subject) -> bool:
    """Whether a subject is an agent that is not at work."""
    stored = world["state"]["agents"].get(subject["id"], {}) if subject["kind"] == "agent" else {}
    lifecycle = stored.get("lifecycle", "active")
    open_roles = [role for role in subject["roles"] if world["profiles"][role].get("open_to_probation")]
    if lifecycle == "probationary":
        return not open_roles or open_roles != subject["roles"]
    return bool(lifecycle != "active")


def delegates(tool: dict[str, Any]) -> bool:
    """Whether using a tool hands work to others."""
    essential = tool.get("essential", False)
    return isinstance(essential, dict) and bool(essential.get("delegating"))


def bound(world: World, subject: Subject, kind: str, name: str) -> int:
    """The permissions that the roles of a subject give."""
    level = 0
    for role in subject["roles"]:
        profile = world["profiles"][role]
        if kind == "tool":
            level = max(level, tool_levels(world, role).get(name, 0))
        if kind == "credential" and name in profile.get("credentials", []):
            level = 4
        if kind == "data":
            level = max([level, *(TIERS.index(each) for each in profile.get("data", []) if each in TIERS)])
    return level


def declared_caps(
    world: World, request: Request, subject: Subject, name: str, tool: dict[str, Any], needed: int
) -> Iterator[tuple[str, int]]:
    """The ceilings in the declaration of a tool for a subject: departments and ranks bind the crew, the others bind all
    subjects.
    """
    seen = tool.get("departments", [])
    if (
        crew(subject)
        and seen
        and not any(world["profiles"][role].get("department") in seen for role in subject["roles"])
    ):
        yield "NOT_VISIBLE", 0
    named = tool.get("restricted_to", [])
    own = [*subject["roles"], *([subject["id"]] if subject["kind"] == "agent" else [])]
    if named and not set(named) & set(own):
        yield "NOT_IN_RESTRICTED_TO", 0
    matrix = tool.get("rank_matrix")
    if crew(subject) and matrix is not None and world["ranks"]:
        rank, level = rank_of(world, subject), "none"
        for each in world["ranks"]:
            level = matrix.get(each["id"], level)
            if each["id"] == rank:
                yield "RANK_TOO_LOW", LEVELS.index(level)
        if rank not in [each["id"] for each in world["ranks"]]:
            yield "RANK_TOO_LOW", 0
    needs = [*tool.get("qualifications", [])]
    needs += [
        each for each, one in world["qualifications"].items() if name in one.get("unlocks", []) and tool
    ]
    for qualification in needs:
        if not has_passed(world, subject, qualification, request["context"].get("now", 0.0)):
            yield "QUALIFICATION_MISSING", 0


def rank_of(world: World, subject: Subject) -> str | None:
    """The rank of a subject."""
    if not world["ranks"]:
        return None
    if subject["kind"] == "agent":
        stored, member = world["state"]["agents"].get(subject["id"], {}), world["agents"][subject["id"]]
        if stored.get("org_id") == "*":
            ladder = [each["id"] for each in world["ranks"]]
            agents = world["state"]["agents"]
            here = {key: value for key, value in stored.items() if key != "org_id"}
            now, start = (
                rank_of({**world, "state": {"agents": {**agents, subject["id"]: each}}}, subject)
                for each in (here, {})
            )
            steps = [ladder.index(each) if each in ladder else -1 for each in (now, start)]
            return ladder[min(steps)] if min(steps) >= 0 else None
        if stored.get("rank"):
            return str(stored["rank"])
        if member.get("rank"):
            return str(member["rank"])
        for trust in (stored.get("trust"), member.get("trust")):
            if trust is not None:
                reached = [each["id"] for each in world["ranks"] if trust >= each.get("trust_from", 0.0)]
                return reached[-1] if reached else None
    for role in subject["roles"]:
        if world["profiles"][role].get("entry_rank"):
            return str(world["profiles"][role]["entry_rank"])
    return str(world["ranks"][0]["id"])


def has_passed(world: World, subject: Subject, qualification: str, now: float) -> bool:
    """Whether the latest valid result of a subject is a pass that has not expired and is for the current tested parts."""
    passed = False
    for result in world["state"]["results"]:
        own = result["agent_id"] == subject["id"] and subject["kind"] == "agent"
        if own and result["qualification"] == qualification and result.get("invalidated_at") is None:
            days = world["qualifications"].get(qualification, {}).get("expires_after_days")
            late = days is not None and result["at"] + days * 86400 <= now
            ended = result.get("expires_at") is not None and result["expires_at"] <= now
            test = world["qualifications"].get(qualification)
            enough = test is not None and result["score"] >= test.get("threshold", 0.5)
            least = (test or {}).get("min_sample_size")
            large = least is None or (
                result.get("sample_size") is not None and result["sample_size"] >= least
            )
            tested, wanted = result.get("digests", {}), (test or {}).get("digests", {})
            same = all(name in tested and tested[name] == wanted[name] for name in wanted)
            passed = result["passed"] and enough and large and same and not late and not ended
    return passed


# -- command -----------------------------------------------------------------------------------------------------------


def above(world: World, role: str) -> list[str]:
    """All superiors of a role, nearest first."""
    chain: list[str] = []
    current: str | None = role
    while current is not None and current not in chain[:-1]:
        superior = None
        for candidate, post in world["organization"]["hierarchy"].items():
            if current in post.get("subordinates", []):
                superior = candidate
                break
        if superior is None and current in world["profiles"]:
            superior = world["profiles"][current].get("chain_of_command", {}).get("reports_to")
        if superior is not None:
            chain.append(superior)
        current = superior
    return chain


def command(world: World, subject: Subject, target: str, action: str) -> tuple[bool, set[str]]:
    """Whether a subject may hand work to a role or escalate to it, and what it lacks."""
    if not crew(subject):
        names = ([subject["id"]] if subject["kind"] == "person" else []) + (
            ["user"] if subject["owner"] and subject["kind"] == "person" else []
        )
        gives = action == "handoff" and bool(set(names) & set(above(world, target)))
        return gives, {"NO_POLICY_MATCH"}
    lacks: set[str] = set()
    for role in subject["roles"]:
        if action != "handoff":
            if target in above(world, role):
                return True, set()
            lacks.add("TARGET_NOT_ALLOWED")
            continue
        missing: set[str] = set()
        right = target in world["profiles"][role].get("handoff", {}).get("may_to", [])
        right = right or role in world["profiles"][target].get("handoff", {}).get("may_from", [])
        commands = role in above(world, target) and role != target
        if commands and not can_delegate(world, role):
            missing.add("CANNOT_DELEGATE")
        if not commands and not right:
            missing |= {"TARGET_NOT_ALLOWED"} | (set() if can_delegate(world, role) else {"CANNOT_DELEGATE"})
        gives = right or (commands and can_delegate(world, role))
        layers = [world["profiles"][each].get("layer") for each in (role, target)]
        edges = [[edge["from"], edge["to"]] for edge in world["organization"].get("dispatch_edges", [])]
        if edges and None not in layers and layers not in edges:
            gives, missing = False, missing | {"DISPATCH_EDGE_FORBIDDEN"}
        if world["profiles"][role].get("position") == "worker":
            gives, missing = False, missing | {"WORKER_CANNOT_DISPATCH"}
        if gives:
            return True, set()
        lacks |= missing
    return False, lacks or {"TARGET_NOT_ALLOWED"}


# -- policies ----------------------------------------------------------------------------------------------------------


def matching_policies(world: World, subject: Subject, context: dict[str, Any]) -> list[dict[str, Any]]:
    """The enabled policies about a subject in these circumstances."""
    return [
        policy
        for policy in world["policies"].values()
        if policy.get("enabled", True)
        and meets(policy.get("match", {}).get("principal"), subject)
        and circumstances(policy.get("match", {}).get("conditions", []), context)
        and all(
            not policy.get("match", {}).get(name) or context.get(name) in policy["match"][name]
            for name in ("alert", "watch")
        )
    ]


def meets(principal: dict[str, Any] | None, subject: Subject) -> bool:
    """Whether a policy matches a subject."""
    if principal is None:
        return True
    person = subject["person"]
    tests = {
        "is_user": lambda wanted: wanted == (subject["owner"] and subject["kind"] == "person"),
        "relationship": lambda wanted: wanted == person.get("relationship"),
        "tags": lambda wanted: all(tag in person.get("tags", []) for tag in wanted),
        "person_id": lambda wanted: subject["kind"] == "person" and wanted == subject["id"],
        "unknown": lambda wanted: wanted == (subject["kind"] == "unknown"),
        "system": lambda wanted: subject["kind"] == "system" and wanted in ("*", subject["id"]),
        "webhook": lambda wanted: subject["kind"] == "webhook" and wanted in ("*", subject["id"]),
        "agent": lambda wanted: (
            (crew(subject) and wanted == "*") or (subject["kind"] == "agent" and wanted == subject["id"])
        ),
        "role": lambda wanted: bool(subject["roles"]) and (wanted == "*" or wanted in subject["roles"]),
    }
    return all(tests[key](wanted) for key, wanted in principal.items())


def circumstances(conditions: list[dict[str, Any]], context: dict[str, Any]) -> bool:
    """Whether one of the conditions holds, all its keys together; none at all always hold."""
    for condition in conditions:
        held = True
        for key, wanted in condition.items():
            if key == "time":
                held = held and within(wanted, context.get("now", 0.0) + context.get("utc_offset", 0))
            else:
                held = held and context.get(key) == wanted
        if held:
            return True
    return not conditions


def within(window: str, local: float) -> bool:
    """Whether a local time lies in a window."""
    if window == "weekends":
        return int(local // 86400) % 7 in (2, 3)  # the third and fourth day of 1970 were Saturday and Sunday
    start, end = ([int(part) for part in each.split(":")] for each in window.split("-"))
    minute = int(local % 86400) // 60
    first, last = start[0] * 60 + start[1], end[0] * 60 + end[1]
    minutes = range(first, last) if first < last else [*range(first, 1440), *range(last)]
    return minute in minutes


def listed(words: Any, name: str) -> bool:
    """Whether a list of names, of beginnings with a star, or a star alone speaks of a name."""
    words = [words] if isinstance(words, str) else words
    return any(name.startswith(word[:-1]) if word.endswith("*") else name == word for word in words)


def tool_lists(policy: dict[str, Any]) -> tuple[Any, list[str]]:
    """What a policy says of tools outside of its `deny` list, None where nothing, and that list."""
    tools = policy.get("permissions", {}).get("tools")
    if isinstance(tools, dict):
        return tools.get("allow", []), tools.get("deny", [])
    return tools, []


def all_but(policy: dict[str, Any]) -> bool:
    """Whether a policy names a list, and everything else with a star."""
    allowed, denied = tool_lists(policy)
    return bool(allowed) and "*" in denied and policy["effect"] != "annotate"


def is_ceiling(policy: dict[str, Any]) -> bool:
    """Whether what an allowing policy allows is all there can be."""
    return bool(policy.get("ceiling")) or all_but(policy)


def says(policy: dict[str, Any], kind: str, name: str) -> set[str]:
    """Whether a policy denies, and whether it asks."""
    allowed, denied = tool_lists(policy)
    effect = str(policy["effect"])
    said: set[str] = set()
    if kind == "tool":
        if any(listed([word], name) for word in denied if word != "*" or not all_but(policy)):
            said.add("deny")
        if effect in ("deny", "ask") and all_but(policy):
            return said if listed(allowed, name) else {*said, effect}
    if effect in ("deny", "ask"):
        permissions = policy.get("permissions", {})
        if not any(permissions.get(key) is not None for key in ("tools", "credentials", "roles", "data")):
            said.add(effect)
        elif kind == "data" and permissions.get("data") is not None:
            if TIERS.index(name) >= TIERS.index(permissions["data"]):
                said.add(effect)
        elif kind != "data" and allows(policy, kind, name):
            said.add(effect)
    return said


def is_about(world: World, policy: dict[str, Any], kind: str, stated: list[str]) -> bool:
    """Whether a policy speaks of paths that a request states, or of everything; one without a path is about all of them."""
    permissions = policy.get("permissions", {})
    globs = permissions.get("paths", []) if kind == "tool" and "tools" in permissions else []
    return not globs or not stated or any(may_be_in(world, path, glob) for path in stated for glob in globs)


def is_unread(world: World, policy: dict[str, Any], request: Request, tool: dict[str, Any]) -> bool:
    """Whether a policy about a part applies to a request only because the request cannot be parsed completely."""
    permissions = policy.get("permissions", {})
    if permissions.get("input") and pass_tests(policy, request) is None:
        return True
    paths = [path for path in stated_paths(request, tool) if place(world, path) is not None]
    commands = [text for text in stated_commands(request, tool) if text not in UNREAD]
    in_paths = any(may_be_in(world, path, glob) for path in paths for glob in permissions.get("paths", []))
    begins = {each for text in commands for each in MAY_BEGIN[text]} & {*permissions.get("commands", [])}
    is_part = permissions.get("paths") or permissions.get("commands")
    return bool(is_part) and not in_paths and not begins


def pass_tests(policy: dict[str, Any], request: Request) -> bool | None:
    """Whether the input passes the tests of a policy about tools; None where an argument or the whole input is missing."""
    permissions, given = policy.get("permissions", {}), request["context"].get("input")
    tests = permissions.get("input", {}) if "tools" in permissions else {}
    if given is None:
        return None if tests else True
    results: set[bool | None] = set()
    for name, test in tests.items():
        value = given.get(name)
        if value is None:
            results.add(None)
        elif "one_of" in test:
            results.add(str(value) in test["one_of"])
        else:
            results.add(value > test["more_than"] if "more_than" in test else value < test["less_than"])
    return False if False in results else None if None in results else True


def is_for_person(world: World, request: Request, subject: Subject) -> bool:
    """Whether a person who is known asks, or had the work begun."""
    first = find_subject(world, request["on_behalf_of"]) if request.get("on_behalf_of") else subject
    return first is not None and first["kind"] == "person"


def is_about_commands(policy: dict[str, Any], kind: str, stated: list[str]) -> bool:
    """The same for commands."""
    permissions = policy.get("permissions", {})
    beginnings = permissions.get("commands", []) if kind == "tool" and "tools" in permissions else []
    return not beginnings or not stated or any(MAY_BEGIN[text] & {*beginnings} for text in stated)


def allows(policy: dict[str, Any], kind: str, name: str) -> int | None:
    """The level an allowing policy gives; None where it says nothing."""
    permissions = policy.get("permissions", {})
    if kind == "tool":
        names = tool_lists(policy)[0]
        return None if names is None else 4 * listed(names, name)
    if kind == "credential" and permissions.get("credentials") is not None:
        return 4 * listed(permissions["credentials"], name)
    if kind == "role" and permissions.get("roles") is not None:
        return 4 * listed(permissions["roles"], name)
    if kind == "data" and permissions.get("data") is not None:
        return TIERS.index(permissions["data"])
    return None


# -- what is stored ----------------------------------------------------------------------------------------------------

SNAPSHOT = "now"
"""What the digest of every world is called."""


def stored_for(world: World, request: Request, subject: Subject, what: str) -> list[dict[str, Any]]:
    """The grants or restrictions of a subject that are in effect."""
    now = request["context"].get("now", 0.0)
    return [
        each
        for each in world["state"][what]
        if each["subject"] in words_for(subject)
        and each.get("org_id", "*") in ("*", world["organization"]["org_id"])
        and each.get("asleep_since") is None
        and each.get("action") in (None, request["action"])
        and each.get("input_digest") in (None, digest_of(request["context"].get("input")))
        and each.get("snapshot") in (None, SNAPSHOT)
        and (each.get("expires_at") is None or each["expires_at"] > now)
        and (each.get("revoked_at") is None or each["revoked_at"] > now)
        and (each.get("uses_left") is None or each["uses_left"] > 0)
    ]


def digest_of(tool_input: dict[str, Any] | None) -> str:
    """The SHA-256 of an input; empty where none is stated."""
    if tool_input is None:
        return ""
    text = json.dumps(tool_input, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def granted_by_grants(
    world: World, request: Request, subject: Subject, *, limited: bool = False
) -> tuple[int, dict[str, int]]:
    """What grants give, and the codes they waive, each with the level up to which they do."""
    kind, name, _ = split(request["resource"])
    paths = stated_paths(request, world["tools"].get(name, {}) if kind == "tool" else {})
    waived_by = {
        "rank": "RANK_TOO_LOW", "qualification": "QUALIFICATION_MISSING", "visibility": "NOT_VISIBLE",
        "restricted_to": "NOT_IN_RESTRICTED_TO",
    }  # fmt: skip
    level, waived = 0, dict[str, int]()
    for grant in stored_for(world, request, subject, "grants"):
        if limited and grant.get("uses_left") is None:
            continue
        fits = all(grant.get(key) in (None, request["context"].get(key)) for key in ("channel", "session"))
        given = stored_level(world, grant, kind, name, paths, is_grant=True) if fits else None
        if given is not None:
            level = max(level, given)
            for each in grant.get("waives", []):
                waived[waived_by[each]] = max(given, waived.get(waived_by[each], 0))
    return level, waived


def stored_level(
    world: World, stored: dict[str, Any], kind: str, name: str, paths: list[str], *, is_grant: bool
) -> int | None:
    """The level something stored speaks of for a resource; None where it does not."""
    found: list[int] = []
    for resource in stored["resources"]:
        of_kind, of_name, glob = split(resource)
        level = LEVELS.index(stored["level"])
        if of_kind != kind:
            continue
        if kind == "data":
            tier = TIERS.index(of_name)
            if is_grant:
                found.append(min(tier, level))
            elif TIERS.index(name) >= tier:
                found.append(level)
        elif listed([of_name], name):
            given = bool(paths) and all(surely_in(world, each, [glob or ""]) for each in paths)
            taken = not paths or any(may_be_in(world, each, glob or "") for each in paths)
            if glob is None or (given if is_grant else taken):
                found.append(level)
    return max(found) if found else None


# -- the run -----------------------------------------------------------------------------------------------------------


def weigh_run(
    world: World, request: Request, subject: Subject, failing: set[str], granted: int, ceiling: int
) -> tuple[set[str], int]:
    """What the run adds: delegation, depth, PACE and locks."""
    kind, name, _ = split(request["resource"])
    context, limits = request["context"], world["organization"].get("limits", {})
    tool = world["tools"].get(name, {}) if kind == "tool" else {}
    needed = required_levels(world, kind, name).get(request["action"], 4)
    hands_off = delegates(tool) or (kind == "role" and request["action"] == "handoff")
    essential = is_essential(world, subject, kind, name)
    of_role, escalates = kind == "role", kind == "role" and request["action"] == "escalate"
    triggered = [request["on_behalf_of"]] if request.get("on_behalf_of") else []
    for number, parent in enumerate([*triggered, *request.get("via", [])]):
        who = find_subject(world, parent)
        if who is None:
            failing.add("UNKNOWN_PRINCIPAL")
            ceiling = 0
            continue
        if is_inactive(world, who):
            failing.add("AGENT_INACTIVE")
            ceiling = 0
            continue
        counts = number < len(triggered) or limits.get("delegation") == "strict"
        enveloped = not of_role and not essential
        if counts and not escalates and (enveloped or hands_off):
            theirs, has, most = weigh(world, {**request, "subject": parent}, who)
            theirs -= {"ACTION_UNKNOWN", *unknown_names(world, kind, name)}
            if not enveloped:
                theirs &= {*STOPS, "ASK_APPROVAL"}
            else:
                stopped = theirs & STOPS or unknown_names(world, kind, name)
                ceiling = min(ceiling, 0 if stopped else min(has, most))
            if theirs - {"ASK_APPROVAL"}:
                failing.add("PARENT_CAP")
                ceiling = ceiling if enveloped else 0
            failing |= theirs & {"ASK_APPROVAL"}
    if request.get("envelope") is not None and not essential and not of_role:
        most, paths = 0, stated_paths(request, tool)
        for word, level in request["envelope"].items():
            row = {"resources": [word] if ":" in word else [], "level": level}
            most = max(most, stored_level(world, row, kind, name, paths, is_grant=True) or 0)
        ceiling = min(ceiling, most)
        failing |= {"PARENT_CAP"} if most < needed else set()
    depth = max(context.get("depth", 0), len(request.get("via", [])))
    deepest = limits.get("max_spawn_depth", 3)
    too_deep = depth > deepest and not essential and not escalates
    if too_deep or (hands_off and depth >= deepest):
        failing.add("DEPTH_EXCEEDED")
        ceiling = 0
    if hands_off and context.get("children", 0) >= limits.get("max_children", 5):
        failing.add("CHILD_LIMIT")
        ceiling = 0
    pace = context.get("pace")
    if crew(subject) and request["action"] != "escalate":
        work = hands_off or (kind == "tool" and not essential)
        if (pace == "contingent" and hands_off) or (pace == "emergency" and work):
            failing.add("PACE_CAP")
            ceiling = 0
    if tool.get("concurrency") == "exclusive":
        holder = None
        for lock in world["state"]["locks"]:
            current = lock.get("expires_at") is None or lock["expires_at"] > context.get("now", 0.0)
            if lock["tool_id"] == name and current:
                holder = lock["holder"]
        if holder != request["subject"] and (holder is not None or request["action"] != "lock"):
            failing.add("LOCKED")
            ceiling = 0
    return failing, ceiling
