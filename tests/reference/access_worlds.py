"""Generated organizations for access: small, every layer declared in some of them, with a state and requests."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any

from msgspec.structs import replace

from orgkernel.decisions.access.request import AccessContext, AccessRequest
from orgkernel.decisions.evidence.crew_records import OrgStatus
from orgkernel.decisions.evidence.state_view import (
    AgentState,
    Grant,
    QualificationResult,
    Restriction,
    StateView,
    ToolLock,
)
from orgkernel.graph.assemble import assemble
from orgkernel.graph.org_graph import OrgGraph
from orgkernel.graph.org_index import OrgIndex
from tests.reference.access_oracle import SNAPSHOT, digest_of
from tests.reference.organizations import TOP, build_tree, build_views

ROLES = ["r0", "r1", "r2", "r3"]
TOOLS = ["t0", "t1", "t2", "tx_a", "tx_b"]
RANKS = ["k0", "k1", "k2"]
QUALIFICATIONS = ["q0", "q1"]
PEOPLE = ["p0", "p1", "p2"]
AGENTS = ["a0", "a1"]
DEPARTMENTS = ["d0", "d1"]
CREDENTIALS = ["c0", "c1"]
LEVELS = ["none", "observe", "read", "write", "full"]
TIERS = ["none", "minimal", "contextual", "full"]
PATHS = [
    "/bin/a",
    "/bin/b/c",
    "/bin/../etc",
    "x",
    "/bin",
    "/BIN/a",
    "src/a",
    "/w/src//a/.",
    "src/*",
    "../bin/a",
    "~/a",
    "",
]
COMMANDS = (
    "ls -l", "rm x", "git push -f", "git -C a push", "git status", "push git", "sudo rm x", "ls && rm x", "sh -c ls", "ls $x", "$x", "/bin/rm x",
    "r'm' x", "RM x", "rmdir x", "ls | wc", "echo 'a push'", "xargs git", "",
)  # fmt: skip
BEGINNINGS = ("rm", "git push", "ls")
GLOBS = ("/bin/*", "x", "src/**", "/w/src/**", "/w/*/a/*")
SUBJECTS = [
    *(f"role:{each}" for each in (*ROLES, "ghost")), *(f"agent:{each}" for each in (*AGENTS, "ghost")),
    *(f"person:{each}" for each in (*PEOPLE, "user", "unknown", "ghost")), "system:cron", "system:s0", "system:ghost",
    "webhook:w0", "webhook:ghost",
]  # fmt: skip
RESOURCES = [
    *(f"tool:{each}" for each in (*TOOLS, "ghost")), *(f"credential:{each}" for each in (*CREDENTIALS, "ghost")),
    *(f"data:{each}" for each in TIERS), *(f"role:{each}" for each in (*ROLES, "ghost")),
    *(f"tool:{tool}:{path}" for tool in TOOLS[:2] for path in PATHS),
]  # fmt: skip
ENVELOPE_WORDS = [
    "tool:*",
    "tool:tx_*",
    "tool:t0:/bin/*",
    "data:contextual",
    "credential:c*",
    "role:r0",
    "*",
    "tool",
]
"""What is passed on besides the resource that is asked for; the last ones name nothing."""
ALERTS = ["GREEN", "RED"]
WATCHES = ["alpha", "beta"]
WINDOWS = ["08:00-18:00", "22:00-06:00", "weekends", "00:00-00:00"]


ARGUMENT_TESTS = (
    {"a": {"more_than": 1}},
    {"a": {"one_of": ["2"]}},
    {"a": {"less_than": 2}, "b": {"less_than": 5}},
)
"""Tests of arguments: an input has `a`, which is 1 or 2, and never `b`."""


class WorldMaker:
    """Makes an organization with everything access is decided from."""

    def __init__(self, seed: int, *, plain: bool = False) -> None:
        self._random = Random(seed)
        # Of its own, so that the seeds that are named elsewhere still make what they made before.
        self._of_commands = Random(seed)
        self._plain = plain
        """Without what only some circumstances or parents bring along."""

    def world(self) -> dict[str, Any]:
        """An organization as the oracle takes it, with its state."""
        posts = self._hierarchy()
        world: dict[str, Any] = {
            "organization": {
                "_schema": "orgkernel:organization", "org_id": "o", "hierarchy": posts,
                **self._fields(
                    0.5,
                    workspace_root=lambda: "/w",
                    limits=lambda: self._fields(
                        0.5, delegation=lambda: self._one(["envelope", "strict"]),
                        max_spawn_depth=lambda: self._number(1, 3), max_children=lambda: self._number(1, 3),
                    ),
                ),
                **({"layers": ["l0", "l1"], "dispatch_edges": [{"from": "l0", "to": "l1"}]} if self._chance(0.3) else {}),
            },
            "profiles": {role: self._profile(role) for role in ROLES},
            "ranks": [{"id": rank, "trust_from": number / 4} for number, rank in enumerate(RANKS)]
            if self._chance(0.8)
            else [],
            "qualifications": {each: self._fields(0.3, unlocks=lambda: [self._one(TOOLS)], expires_after_days=lambda: 2, threshold=self._random.random, min_sample_size=lambda: 9, digests=self._digests) for each in QUALIFICATIONS},
            "tools": {tool: self._tool() for tool in TOOLS},
            "people": {
                "p0": {"relationship": "owner"},
                "p1": {"relationship": self._one(["family", "friend"]), "tags": self._some(["g0", "g1"])},
                "p2": {},
            },
            "system_origins": {"s0": {}},
            "webhooks": {"w0": {}},
            "policies": {f"o{number}": self._policy() for number in range(self._number(0, 4))} if self._chance(0.8) else {},
            "agents": {
                agent: {
                    "assignments": [{"role": role} for role in self._some(ROLES)[:2]],
                    **self._fields(0.4, rank=lambda: self._one(RANKS), trust=self._random.random),
                }
                for agent in AGENTS
            },
        }  # fmt: skip
        return world | {"state": self._state()}

    def request(self, world: Mapping[str, Any]) -> dict[str, Any]:
        """A question, with anything it may carry."""
        resource = self._likely(RESOURCES)
        kind, _, name = resource.partition(":")
        declared = list(world["tools"].get(name.partition(":")[0], {}).get("actions", ["use"]))
        actions = {
            "tool": [*declared, *declared, "use", "lock"],
            "credential": ["use"],
            "data": ["read"],
            "role": ["handoff", "handoff", "escalate"],
        }
        action = "ghost" if self._chance(0.03) else self._one(actions[kind])
        return {
            "subject": self._likely(SUBJECTS), "action": action, "resource": resource, "context": self.context(),
            **({} if self._plain else self._fields(
                0.1,
                on_behalf_of=lambda: self._likely(SUBJECTS),
                via=lambda: [self._likely(SUBJECTS[:7]) for _ in range(self._number(1, 3))],
                envelope=lambda: {self._one([resource, *ENVELOPE_WORDS]): self._one(LEVELS) for _ in range(2)},
            )),
        }  # fmt: skip

    def context(self) -> dict[str, Any]:
        """Circumstances; every other time the caller says all that policies can ask for."""
        stated = {"channel": "", "peer_kind": ""} if self._chance(0.5) else {}
        return stated | self._circumstances()

    def _circumstances(self) -> dict[str, Any]:
        choices: dict[str, Callable[[], Any]] = {
            "now": lambda: float(self._number(0, 6 * 86400)),
            "channel": lambda: self._one(["slack", "mail"]),
            "peer_kind": lambda: self._one(["dm", "group"]),
            "session": lambda: "s",
            "alert": lambda: self._one([*ALERTS, ""]),
            "watch": lambda: self._one([*WATCHES, ""]),
            "input": lambda: (
                self._fields(
                    0.6, path=lambda: self._one(PATHS), to=lambda: self._one(PATHS), text=lambda: "t"
                )
                | self._commands()
            ),
        }
        if not self._plain:
            choices |= {
                "pace": lambda: self._one(["primary", "alternate", "contingent", "emergency"]),
                "depth": lambda: self._one([0, 1, 1, 2, 3, 4]),
                "children": lambda: self._number(0, 3),
                "utc_offset": lambda: self._one([-3600, 7200]),
                "input": lambda: {"a": self._number(1, 2)} | self._commands(),
            }
        return self._fields(0.25, **choices)

    def _commands(self) -> dict[str, Any]:
        """Some of what an input says about commands."""
        choices: dict[str, Sequence[Any]] = {"run": [*COMMANDS, ["ls -l", "rm x"]], "again": COMMANDS}
        draw = self._of_commands
        return {name: draw.choice(those) for name, those in choices.items() if draw.random() < 0.3}

    def _hierarchy(self) -> dict[str, Any]:
        order = self._random.sample(ROLES, len(ROLES))
        posts: dict[str, Any] = {role: {"subordinates": []} for role in order}
        for number, role in enumerate(order[1:], 1):
            posts[self._one(order[:number])]["subordinates"].append(role)
        return posts

    def _profile(self, role: str) -> dict[str, Any]:
        return {
            "_schema": "orgkernel:role_profile", "role_id": role,
            "capabilities": self._fields(
                0.75, tools_primary=lambda: self._some(TOOLS), tools_secondary=lambda: self._some(TOOLS),
                tools=lambda: [{"tool": tool, "level": self._one(LEVELS)} for tool in self._some(TOOLS)],
            ),
            **self._fields(
                0.4,
                role_type=lambda: self._one(["specialist", "executive", "commander"]),
                chain_of_command=lambda: {"can_delegate": self._chance(0.5), "reports_to": self._one(["user", None])},
                department=lambda: self._one(DEPARTMENTS), entry_rank=lambda: self._one(RANKS),
                credentials=lambda: self._some(CREDENTIALS), data=lambda: [self._one(TIERS)],
                open_to_probation=lambda: True,
                file_scope=lambda: [self._one(["src/**", "/w/src/*", "/bin/*", "x"]) for _ in range(self._number(1, 2))],
                position=lambda: self._one(["manager", "worker", "unified"]), layer=lambda: self._one(["l0", "l1"]),
                handoff=lambda: {"may_to": self._some(ROLES)[:2], "may_from": self._some(ROLES)[:1]},
            ),
        }  # fmt: skip

    def _tool(self) -> dict[str, Any]:
        return {
            "type": self._one(["browser", "browser", "computer_use"]),
            **self._fields(
                0.3,
                actions=lambda: {"a0": self._one(LEVELS), "a1": self._one(LEVELS)},
                side_effects=lambda: self._one(["none", "read", "write", "destructive"]),
                departments=lambda: self._some(DEPARTMENTS),
                restricted_to=lambda: self._some([*ROLES, *AGENTS]),
                rank_matrix=lambda: {rank: self._one(LEVELS) for rank in self._some(RANKS)},
                qualifications=lambda: self._some(QUALIFICATIONS),
            ),
            "command_arguments": self._of_commands.choice([[], ["run"], ["run", "again"]]),
            **self._fields(
                0.15,
                enabled=lambda: self._chance(0.5),
                concurrency=lambda: "exclusive",
                path_arguments=lambda: self._one([[], ["path"], ["path", "to"]]),
                essential=lambda: self._one([True, {"delegating": True}, {"with_tools": ["t0"]}]),
                credentials=lambda: self._some(CREDENTIALS),
            ),
        }  # fmt: skip

    def _policy(self) -> dict[str, Any]:
        return self.policy(self._one(["allow", "allow", "deny", "ask", "annotate"]))

    def policy(self, effect: str) -> dict[str, Any]:
        """A policy of this effect, in any form that loads."""
        policy = self._policy_of(effect)
        if effect in ("deny", "ask") and "tools" in policy["permissions"] and self._chance(0.4):
            policy["permissions"]["paths"] = self._some(GLOBS)
        elif effect in ("deny", "ask") and "tools" in policy["permissions"]:
            count = self._of_commands.choice([0, 0, 1, 2])
            policy["permissions"]["commands"] = self._of_commands.sample(BEGINNINGS, count)
        if effect in ("deny", "ask") and "tools" in policy["permissions"]:
            tests = self._of_commands.choice([{}, {}, {}, *ARGUMENT_TESTS])
            if tests:
                policy["permissions"]["input"] = tests
        return policy

    def _policy_of(self, effect: str) -> dict[str, Any]:
        return {
            "effect": effect,
            "match": self._fields(
                0.7,
                principal=lambda: self._fields(
                    0.2,
                    is_user=lambda: self._chance(0.5), relationship=lambda: self._one(["owner", "family"]),
                    tags=lambda: self._some(["g0", "g1"]), person_id=lambda: self._one(PEOPLE),
                    unknown=lambda: self._chance(0.5), system=lambda: self._one(["*", "cron"]),
                    webhook=lambda: self._one(["*", "w0"]), agent=lambda: self._one(["*", "a0"]),
                    role=lambda: self._one(["*", "r0", "r1"]),
                ),
                **({} if self._chance(0.5) else {"conditions": lambda: [self._condition() for _ in range(self._number(1, 2))]}),
                **({} if self._chance(0.7) else {"alert": lambda: [self._one(ALERTS) for _ in range(self._number(1, 2))]}),
                **({} if self._chance(0.85) else {"watch": lambda: [self._one(WATCHES)]}),
            ),
            "permissions": self._fields(
                0.7, tools=lambda: self._tool_lists(effect), credentials=lambda: self._one(["*", self._some(CREDENTIALS)]),
                data=lambda: self._one(TIERS),
            ),
            **self._fields(
                0.25, ceiling=lambda: True, fallback=lambda: True, enabled=lambda: self._chance(0.7),
                priority=lambda: self._number(0, 100),
            ),
        }  # fmt: skip

    def _tool_lists(self, effect: str) -> Any:
        """Any form that loads with an effect: an allow list beside others than a star is for policies that allow."""
        globs = [*TOOLS, "t*", "tx_*"]
        allow, deny = self._some(globs), self._some([*globs, "*"])[:2]
        mixed = allow if effect == "allow" or ("*" in deny and effect != "annotate") else []
        return self._one(["*", allow, {"allow": mixed, "deny": deny}])

    def _condition(self) -> dict[str, Any]:
        return self._fields(
            0.4, channel=lambda: self._one(["slack", "mail"]), peer_kind=lambda: self._one(["dm", "group"]),
            time=lambda: self._one(WINDOWS),
        ) or {"channel": "slack"}  # fmt: skip

    def _state(self) -> dict[str, Any]:
        subjects = [each for each in SUBJECTS if "ghost" not in each]
        stored_for = [*subjects, "relationship:family", "tag:g0"]
        patterns = [each for each in RESOURCES if each.count(":") == 1] + [
            "tool:t*",
            "tool:t0:/bin/*",
            "tool:t1:x",
            "tool:t1:src/**",
            "tool:t*:/w/src/**",
            "tool:t1:/w/*/a/*",
        ]

        def stored(number: int) -> dict[str, Any]:
            return {
                "id": f"g{number}", "subject": self._one(stored_for),
                "resources": [self._one(patterns) for _ in range(self._number(1, 2))], "level": self._one(LEVELS),
                **self._fields(
                    0.2, expires_at=lambda: float(self._number(0, 6 * 86400)),
                    revoked_at=lambda: float(self._number(0, 6 * 86400)), org_id=lambda: self._one(["o", "other"]),
                ),
            }  # fmt: skip

        waivers = ["rank", "qualification", "visibility", "restricted_to"]
        return {
            "agents": {
                agent: self._fields(
                    0.4, rank=lambda: self._one([*RANKS, "ghost"]), trust=self._random.random,
                    lifecycle=lambda: self._one(["active", "probationary", "suspended", "registered"]),
                    org_id=lambda: "*",
                )
                for agent in self._some(AGENTS)
            },
            "grants": [
                stored(number)
                | {"waives": self._some(waivers)}
                | self._fields(
                    0.15, channel=lambda: "slack", session=lambda: "s", uses_left=lambda: self._number(0, 2),
                    asleep_since=lambda: 1.0, action=lambda: self._one(["use", "a0", "a1"]),
                    input_digest=lambda: self._one([digest_of({"a": 1}), digest_of({"a": 2})]),
                    snapshot=lambda: self._one([SNAPSHOT, "before"]),
                )
                for number in range(self._number(0, 5))
            ],
            "restrictions": [stored(number) for number in range(self._one([0, 0, 1, 2]))],
            "results": [
                {"agent_id": self._one(AGENTS), "qualification": self._one(QUALIFICATIONS), "score": self._random.random() if self._chance(0.5) else 1.0, "passed": self._chance(0.8), "at": float(number * 86400), **self._fields(0.5, sample_size=lambda: self._one([8, 9]), digests=self._digests), **self._fields(0.1, invalidated_at=lambda: 1.0)}
                for number in range(self._number(0, 5))
            ],
            "locks": [
                {"tool_id": tool, "holder": f"agent:{self._one(AGENTS)}", **self._fields(0.4, expires_at=lambda: 86400.0)}
                for tool in self._some(TOOLS)
            ],
            "status": self._fields(
                0.3, alert=lambda: self._one([*ALERTS, "OLD"]), watch=lambda: self._one(WATCHES)
            ),
        }  # fmt: skip

    def _likely(self, items: Sequence[str]) -> str:
        """One of them, hardly ever one that nothing declares; roles and agents, and tools, more often than the rest."""
        known = [each for each in items if "ghost" not in each]
        first = [each for each in known if each.startswith(("role:r", "agent:", "tool:"))]
        return str(
            self._one(items if self._chance(0.06) else first if first and self._chance(0.5) else known)
        )

    def _chance(self, of: float) -> bool:
        return self._random.random() < of

    def _number(self, least: int, most: int) -> int:
        return self._random.randint(least, most)

    def _one(self, items: Sequence[Any]) -> Any:
        return self._random.choice(items)

    def _some(self, items: Sequence[str]) -> list[str]:
        return self._random.sample(items, self._number(0, len(items)))

    def _digests(self) -> dict[str, str]:
        return self._fields(0.8, model=lambda: self._one(["m0", "m0", "m1"]), prompt=lambda: "p0")

    def _fields(self, chance: float, **choices: Callable[[], Any]) -> dict[str, Any]:
        return {name: choose() for name, choose in choices.items() if self._chance(chance)}


def documents_of(world: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The documents that declare a world."""
    organization, profiles, governance = _governed(world)
    tree: dict[str, dict[str, Any]] = {f"{TOP}/o/org.json": organization}
    tree |= {f"{TOP}/o/roles/{role}.json": profile for role, profile in profiles.items()}
    rest = {
        "tools": {"_schema": "orgkernel:tool_catalog", "tools": world["tools"]},
        "qualifications": {
            "_schema": "orgkernel:qualification_catalog",
            "qualifications": world["qualifications"],
        },
        "directory": {
            "_schema": "orgkernel:directory",
            **{key: world[key] for key in ("people", "system_origins", "webhooks")},
        },
        "policies": {"_schema": "orgkernel:access_policies", "policies": world["policies"]},
        "crew": {"_schema": "orgkernel:crew_roster", "agents": world["agents"]},
    }
    if governance is not None:
        rest["governance"] = governance
    if world["ranks"]:
        rest["ranks"] = {"_schema": "orgkernel:rank_ladder", "ranks": world["ranks"]}
    return tree | {f"{TOP}/o/{name}.json": document for name, document in rest.items()}


def _governed(
    world: Mapping[str, Any],
) -> tuple[dict[str, Any], dict[str, dict[str, Any]], dict[str, Any] | None]:
    """The organization and the profiles of a world. Layers, edges and limits of every second one stand in a governance document.

    The oracle knows of none: where they are written makes no difference to access.
    """
    organization, profiles = dict(world["organization"]), dict(world["profiles"])
    if "layers" not in organization or len(world["policies"]) % 2:
        return organization, profiles, None
    layers: dict[str, dict[str, Any]] = {layer: {} for layer in organization.pop("layers")}
    for role, profile in list(profiles.items())[::2]:
        if profile.get("layer") in layers:
            profiles[role] = {name: value for name, value in profile.items() if name != "layer"}
            layers[profile["layer"]].setdefault("roles", []).append(role)
    governance = {
        "_schema": "orgkernel:governance", "layers": layers, "dispatch_edges": organization.pop("dispatch_edges"),
    }  # fmt: skip
    limits = dict(organization.get("limits", {}))
    moved = {name: limits.pop(name) for name in ("max_spawn_depth", "max_children") if name in limits}
    if moved:
        organization["limits"], governance["limits"] = limits, moved
    return organization, profiles, governance


def views_of(world: Mapping[str, Any]) -> tuple[OrgIndex, OrgGraph]:
    """Both views of a world."""
    tree = build_tree(documents_of(world))
    assert not [found for found in tree.diagnostics if found.severity.value == "error"], tree.diagnostics
    (records,) = assemble(tree).organizations
    return build_views(replace(records, digest=SNAPSHOT))


def state_of(world: Mapping[str, Any]) -> StateView:
    """A world's state as decisions read it."""
    state = world["state"]

    def by_subject(rows: list[Any]) -> dict[str, tuple[Any, ...]]:
        found: dict[str, tuple[Any, ...]] = {}
        for row in rows:
            found[row.subject] = (*found.get(row.subject, ()), row)
        return found

    def row(kind: Any, name: str, each: dict[str, Any]) -> Any:
        rest = {key: value for key, value in each.items() if key not in ("id", "resources", "waives")}
        more = {"waives": tuple(each["waives"])} if "waives" in each else {}
        return kind(**{name: each["id"]}, resources=tuple(each["resources"]), **more, **rest)

    results: dict[str, tuple[QualificationResult, ...]] = {}
    for result in state["results"]:
        agent = result["agent_id"]
        results[agent] = (*results.get(agent, ()), QualificationResult(**result))
    return StateView(
        1,
        {agent: AgentState(agent, **fields) for agent, fields in state["agents"].items()},
        by_subject([row(Grant, "grant_id", each) for each in state["grants"]]),
        by_subject([row(Restriction, "restriction_id", each) for each in state["restrictions"]]),
        results,
        {lock["tool_id"]: ToolLock(org_id="o", token=1, acquired_at=0.0, **lock) for lock in state["locks"]},
        status={kind: OrgStatus("o", kind, value) for kind, value in state["status"].items()},
    )


def build_load_request(asked: Mapping[str, Any]) -> AccessRequest:
    """A question as the decider takes it."""
    return AccessRequest(
        asked["subject"], asked["action"], asked["resource"], AccessContext(**asked["context"]),
        asked.get("on_behalf_of"), tuple(asked.get("via", ())), asked.get("envelope"),
    )  # fmt: skip
