"""Organizations in which every layer of access decides something, and questions about them; from a number alone.

Most tools have one peculiarity, and most roles have most tools, so that a question is decided by one layer more often
than by several at once. `differential.py` asks us and Cedar; it counts how often each layer decided.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import Any

from orgkernel.decisions.access.circumstances import CIRCUMSTANCES
from orgkernel.decisions.access.request import AccessContext, AccessRequest

ORG = "world"
IN_FILE_SCOPE = ":src/a"
"""The path of a question that lies in the scope of every role that has one."""
_ROLES = tuple(f"r{number}" for number in range(10))
_AGENTS = tuple(f"a{number}" for number in range(6))
_PEOPLE = tuple(f"p{number}" for number in range(5))
_RANKS = ("k0", "k1", "k2", "k3")
_DEPARTMENTS = tuple(f"d{number}" for number in range(8))
_CREDENTIALS = ("c0", "c1", "c2")
_TIERS = ("none", "minimal", "contextual", "full")
_LEVELS = ("observe", "read", "write", "full")
# Everything that has to be escaped in a policy.
_ACCOUNT = 'a "b"\\'
_QUALIFICATIONS = ("q0", "q1")
_TAGS = ("g0", "g1")
_TOOLS = (
    "plain_0", "plain_1", "plain_2", "plain_3", "plain_4", "plain_5", "mail_read", "mail_send", "seen_0", "seen_1", "named_0", "named_1", "ranked_0",
    "ranked_1", "matrix_0", "tested_0", "tested_1", "off_0", "off_1", "vital_0", "vital_1", "vital_2", "hands_0",
    "lock_0", "lock_1", "bound_0", "bound_1", "mixed_0", "mixed_1", "mixed_2",
)  # fmt: skip
_OUTSIDE = (
    *(f"person:{each}" for each in (*_PEOPLE, "user", "unknown")), "system:cron", "system:s0", "webhook:w0", "webhook:w1",
)  # fmt: skip
# How often questions are about tools of a name's beginning, and about what is no tool: of the crew, and of others.
_OF_CREW = {
    "plain": 34, "mail": 5, "seen": 22, "named": 23, "ranked": 22, "matrix": 1, "tested": 20, "off": 19, "vital": 19, "hands": 18,
    "lock": 23, "bound": 19, "mixed": 1, "credential": 2, "data": 2,
}  # fmt: skip
_OF_OTHERS = {"plain": 5, "mail": 4, "off": 1, "mixed": 2, "credential": 6, "data": 6}
_CREW = 0.77


class World:
    """An organization and the questions about it."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)
        self._levels: dict[str, dict[str, str]] = {tool: self._actions() for tool in _TOOLS}
        self._levels |= {tool: {"do_0": self._one(("write", "full"))} for tool in ("bound_0", "bound_1")}

    def write(self, folder: Path) -> None:
        """Write the documents, one kind a file."""
        (folder / "roles").mkdir(parents=True)
        order = self._random.sample(_ROLES, len(_ROLES))
        posts: dict[str, Any] = {role: {"subordinates": []} for role in order}
        for number, role in enumerate(order[1:], 1):
            posts[self._one(order[:number])]["subordinates"].append(role)
        documents = {
            "org": {
                "_schema": "orgkernel:organization", "org_id": ORG, "hierarchy": posts,
                "departments": {each: {} for each in _DEPARTMENTS}, **self._some_fields(0.5, rank_matrix=lambda: "usual"),
            },
            "ranks": {
                "_schema": "orgkernel:rank_ladder",
                "ranks": [{"id": rank, "trust_from": number / 5} for number, rank in enumerate(_RANKS)],
                "matrices": {
                    "usual": [
                        {"name": "risky", "side_effects": ["destructive"], "levels": self._row()},
                        {"name": "services", "types": ["infra_service"], "levels": self._row()},
                    ]
                },
            },
            "qualifications": {
                "_schema": "orgkernel:qualification_catalog",
                "qualifications": {
                    "q0": self._some_fields(0.9, unlocks=lambda: ["tested_1"]), "q1": {},
                },
            },
            "tools": {"_schema": "orgkernel:tool_catalog", "tools": {tool: self._tool(tool) for tool in _TOOLS}},
            "directory": {
                "_schema": "orgkernel:directory",
                "people": {
                    person: self._some_fields(
                        0.8, relationship=lambda: self._one(["owner", "family", "friend", "work"]), tags=lambda: self._some(_TAGS)
                    )
                    for person in _PEOPLE
                },
                "system_origins": {"s0": {}}, "webhooks": {"w0": {}, "w1": {}},
            },
            "policies": {"_schema": "orgkernel:access_policies", "policies": self._policies()},
            "crew": {
                "_schema": "orgkernel:crew_roster",
                "agents": {
                    agent: {
                        "assignments": [{"role": role} for role in self._random.sample(_ROLES, self._one([0, *[1] * 26, 2, 2, 2]))],
                        **self._some_fields(0.3, rank=lambda: self._one(_RANKS), trust=self._random.random),
                    }
                    for agent in _AGENTS
                },
            },
            **{f"roles/{role}": self._profile(role) for role in _ROLES},
        }  # fmt: skip
        for name, document in documents.items():
            (folder / f"{name}.json").write_text(json.dumps(document), encoding="utf-8")

    def ask(self) -> tuple[AccessRequest, bool]:
        """A question, and whether the subject holds the lock of the tool."""
        about_crew = self._chance(_CREW)
        weights = _OF_CREW if about_crew else _OF_OTHERS
        kind = self._random.choices(list(weights), list(weights.values()))[0]
        crew = [*(f"role:{each}" for each in _ROLES), *(f"agent:{each}" for each in _AGENTS)]
        subject = self._one(crew if about_crew else _OUTSIDE)
        if kind == "credential":
            action, resource = "use", f"credential:{self._one(_CREDENTIALS)}"
        elif kind == "data":
            action, resource = "read", f"data:{self._one([*_TIERS, 'own'])}"
        else:
            tool = self._one([each for each in _TOOLS if each.startswith(kind)])
            actions = [*[*self._levels[tool]] * 3, "use", *(["lock"] if kind == "lock" else [])]
            action, resource = self._one(actions), f"tool:{tool}"
            if kind == "bound" and self._chance(0.15):
                resource += self._one([IN_FILE_SCOPE, ":../src/a"])
        if self._chance(0.01):
            subject, action, resource = self._one(
                [("role:nobody", action, resource), (subject, "nothing", resource), (subject, action, "tool:nowhere")]
            )  # fmt: skip
        # Cedar has no conditional answer, so every question states all circumstances, an empty text where there is none.
        context = dict.fromkeys(CIRCUMSTANCES, "") | self._some_fields(
            0.6,
            channel=lambda: self._one(["slack", "mail"]), peer_kind=lambda: self._one(["dm", "group"]),
            account=lambda: _ACCOUNT, guild=lambda: "gü", hook_id=lambda: "h", event_type=lambda: "timer",
        )  # fmt: skip
        now = float(self._random.randrange(14 * 86_400))
        offset = self._one([0, 0, 3_600, -19_800])
        asked = AccessRequest(subject, action, resource, AccessContext(now=now, utc_offset=offset, **context))
        return asked, self._chance(0.08)

    def _actions(self) -> dict[str, str]:
        return {f"do_{number}": self._one(("none", *_LEVELS * 6)) for number in range(self._one([1, 2, 3]))}

    def _row(self) -> dict[str, str]:
        """Most ranks have little."""
        return {
            rank: self._one(("none", "none", "none", "none", "observe", "full"))
            for rank in self._most(_RANKS[1:])
        }

    def _tool(self, tool: str) -> dict[str, Any]:
        kind = tool.partition("_")[0]
        peculiar: dict[str, Callable[[], Any]] = {
            "departments": lambda: [self._one(_DEPARTMENTS)],
            "restricted_to": lambda: self._random.sample([*_ROLES, *_AGENTS], 2),
            "rank_matrix": self._row,
            "qualifications": lambda: self._random.sample(_QUALIFICATIONS, self._number(1, 2)),
        }
        named = {
            "seen": "departments",
            "named": "restricted_to",
            "ranked": "rank_matrix",
            "tested": "qualifications",
        }
        fields: dict[str, Any] = {
            "type": "infra_service" if kind == "matrix" else "browser",
            "actions": self._levels[tool],
        }
        if kind in named and tool != "tested_1":
            fields[named[kind]] = peculiar[named[kind]]()
        if kind == "matrix":
            fields["rank_matrix"] = self._one(["usual", "services", "risky"])
        if kind == "off":
            fields["enabled"] = self._chance(0.05)
        if kind == "bound":
            fields |= {"type": "computer_use", **self._some_fields(0.5, path_arguments=lambda: ["path"])}
        else:
            fields["path_arguments"] = []
        if kind == "lock":
            fields["concurrency"] = "exclusive"
            fields["lock_timeout_seconds"] = 60
        if kind == "hands":
            fields["essential"] = {"delegating": True}
        if kind == "vital":
            fields["essential"] = {
                "0": True,
                "1": {"delegating": False, "with_tools": ["plain_0"]},
                "2": {"with_tools": ["seen_0", "plain_1"]},
            }[tool[-1]]
        if kind == "mixed":
            fields |= self._some_fields(0.4, **peculiar)
        return fields

    def _profile(self, role: str) -> dict[str, Any]:
        levels = [
            {"tool": tool, "level": "full" if self._chance(0.985) else self._one(("none", *_LEVELS))}
            for tool in _TOOLS
            if self._chance(0.1 if tool.startswith("vital") else 0.99)
        ]
        return {
            "_schema": "orgkernel:role_profile",
            "role_id": role,
            "description": "A role.",
            "role_type": self._one(["specialist", "executive"]),
            "department": self._one(_DEPARTMENTS),
            "capabilities": {"tools": levels},
            "credentials": self._some(_CREDENTIALS),
            "data": [self._one(_TIERS), *(["own"] if self._chance(0.5) else [])],
            **self._some_fields(
                0.97, file_scope=lambda: ["src/**"], entry_rank=lambda: self._one(_RANKS[1:]), position=lambda: "worker",
            ),
        }  # fmt: skip

    def _policies(self) -> dict[str, Any]:
        """Of each effect some, most of them about few: what stops everything would hide every other layer."""
        others, anybody = self._other_principal, self._any_principal
        written: dict[str, Any] = {
            "open": {
                "effect": "allow", "fallback": True, "match": {},
                "permissions": {"tools": "*", "credentials": "*", "data": "full"},
            },
            "note": {
                "effect": "annotate", "match": {"principal": self._other_principal(), "conditions": [{"guild": "gü"}]},
                "session": {"key": "k"}, "permissions": {"tools": {"deny": ["mail_*"]}},
            },
            "broad": {
                "effect": "allow", "match": {"conditions": [{"channel": "slack"}, {"peer_kind": "dm"}]},
                "permissions": {"tools": "*", "credentials": "*", "data": "full"},
            },
            "exact": {
                "effect": "allow", "match": self._match(self._one([others, anybody])),
                "permissions": {"tools": {"allow": self._tool_names(), "deny": ["*"]}},
            },
        }  # fmt: skip
        few = self._random.sample(_TOOLS[:8], 8)
        written["crew_cap"] = {
            "effect": "allow", "ceiling": True, "permissions": {"tools": [tool for tool in _TOOLS if tool not in few[5:]]},
            "match": {"principal": {"role": "*"}, "conditions": [{"channel": "slack"}, {"channel": "mail"}, {"time": "08:00-18:00"}]},
        }  # fmt: skip
        written["crew_else"] = {
            "effect": "ask", "fallback": True, "match": {"principal": {"role": "*"}}, "permissions": {"tools": few[1:]},
        }  # fmt: skip
        written["crew_not"] = {
            "effect": "deny", "permissions": {"tools": few[:2]},
            "match": {"principal": {"role": "*"}, "conditions": [{"peer_kind": "dm"}, {"guild": "gü"}, {"channel": "mail"}]},
        }  # fmt: skip
        written["crew_ask"] = {
            "effect": "ask", "permissions": {"tools": few[2:5]},
            "match": {"principal": {"role": "*"}, "conditions": [{"hook_id": "h"}, {"event_type": "timer"}]},
        }  # fmt: skip
        written["any_not"] = {
            "effect": "deny", "permissions": {"tools": ["mail_*"], "credentials": ["c0"], "data": "full"},
            "match": {"conditions": [{"account": _ACCOUNT}]},
        }  # fmt: skip
        written["any_ask"] = {
            "effect": "ask", "permissions": {"tools": ["plain_5", "plain_4"], "credentials": ["c1"], "data": "contextual"},
            "match": {"conditions": [{"hook_id": "h"}]},
        }  # fmt: skip
        for number in range(3):
            written[f"narrow_{number}"] = {
                "effect": "allow", "match": self._match(others, 0.5), "permissions": self._permissions(0.9, few=True),
                "ceiling": True,
            }  # fmt: skip
        for number in range(self._number(1, 3)):
            written[f"allow_{number}"] = {
                "effect": "allow", "match": self._match(others, 0.1), "permissions": self._permissions(0.9),
                **self._some_fields(0.1, ceiling=lambda: True, priority=lambda: self._number(0, 100)),
            }  # fmt: skip
        for effect in ("deny", "ask"):
            for principal in (others, others, anybody):
                written[f"{effect}_{len(written)}"] = {
                    "effect": effect, "match": self._match(principal),
                    **({} if self._chance(0.04) else {"permissions": self._permissions(0.6, few=principal is anybody, stops=True)}),
                    **self._some_fields(0.1, fallback=lambda: True, enabled=lambda: False),
                }  # fmt: skip
        return written

    def _match(self, principal: Callable[[], dict[str, Any]], always: float = 0.35) -> dict[str, Any]:
        match: dict[str, Any] = {"principal": principal()}
        if not self._chance(always):
            match["conditions"] = [self._condition() for _ in range(self._number(1, 2))]
        return match

    def _other_principal(self) -> dict[str, Any]:
        """Some of those outside the crew."""
        return self._one([
            {"is_user": True}, {"relationship": self._one(["family", "work"])}, {"tags": self._most(_TAGS)},
            {"person_id": self._one([*_PEOPLE, "user"])}, {"unknown": True}, {"system": self._one(["*", "s0"])},
            {"webhook": self._one(["*", "w0"])},
        ])  # fmt: skip

    def _any_principal(self) -> dict[str, Any]:
        return self._one([
            *({"role": self._one(_ROLES)} for _ in range(30)), {"agent": self._one([*_AGENTS, "*"])}, {"role": "*"},
            {"is_user": False}, {"unknown": False}, {},
        ])  # fmt: skip

    def _condition(self) -> dict[str, Any]:
        return self._one([
            {"channel": self._one(["slack", "mail"])}, {"peer_kind": self._one(["dm", "group"])}, {"account": _ACCOUNT},
            {"guild": "gü"}, {"hook_id": "h"}, {"event_type": "timer"},
            {"time": self._one(["08:00-18:00", "22:00-06:00", "weekends", "00:00-00:00"])},
            {"time": "08:00-20:00", "channel": "slack"},
        ])  # fmt: skip

    def _permissions(self, chance: float, few: bool = False, stops: bool = False) -> dict[str, Any]:
        if few:
            return self._some_fields(
                chance, tools=lambda: self._one([["plain_*"], ["mail_send", "mixed_1"], []]),
                credentials=lambda: self._some(_CREDENTIALS)[:1], data=lambda: self._one(_TIERS[:2]),
            )  # fmt: skip
        return self._some_fields(
            chance,
            tools=lambda: self._one([self._tool_names(), "*", self._tool_rules(stops)]),
            credentials=lambda: self._one(["*", self._some(_CREDENTIALS)]), data=lambda: self._one(_TIERS),
        ) or {"tools": self._tool_names()}  # fmt: skip

    def _tool_rules(self, stops: bool) -> dict[str, Any]:
        """Lists to allow and to deny, of a policy that stops something or of one that allows."""
        denied = ["mail_*", "mixed_1"]
        if not stops:
            return {"allow": self._tool_names(), "deny": denied}
        return self._one([{"deny": denied}, {"allow": self._tool_names(), "deny": ["*", "mixed_1"]}])

    def _tool_names(self) -> list[str]:
        return self._one([self._most(_TOOLS), ["plain_*", "mail_*"], [*self._some(_TOOLS), "vital_*"]])

    def _chance(self, of: float) -> bool:
        return self._random.random() < of

    def _number(self, least: int, most: int) -> int:
        return self._random.randint(least, most)

    def _one(self, items: Sequence[Any]) -> Any:
        return self._random.choice(items)

    def _some(self, items: Sequence[str]) -> list[str]:
        return self._random.sample(items, self._number(0, len(items)))

    def _most(self, items: Sequence[str]) -> list[str]:
        return self._random.sample(items, self._number(1, len(items)))

    def _some_fields(self, chance: float, **choices: Callable[[], Any]) -> dict[str, Any]:
        return {name: choose() for name, choose in choices.items() if self._chance(chance)}
