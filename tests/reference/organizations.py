"""Generated organizations: small, with everything that can go wrong in them, as documents by path."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any

from hypothesis import strategies as st

from orgkernel.graph.columns import EdgeColumns
from orgkernel.graph.extract import extract_edges
from orgkernel.graph.org_graph import OrgGraph
from orgkernel.graph.org_index import OrgIndex
from orgkernel.graph.records import OrgRecords
from orgkernel.loading.documents import read_documents
from orgkernel.loading.files import decode
from orgkernel.loading.sources import LoadedFiles

TOP = "/t"
SHARED = f"{TOP}/shared/"
ROLES = [f"r{number}" for number in range(7)]
DOMAINS = [f"d{number}" for number in range(5)]
ALIASES = [f"w{number}" for number in range(3)]
PLANS = ["p0", "p1", "p2"]
TOOLS = ["t0", "t1", "server.t2"]
SKILLS = ["s0", "s1", "s2"]
QUALIFICATIONS = ["q0", "q1", "q2"]
PROCEDURES = ["c0", "c1"]
POLICIES = ["p0-first", "p1"]
AGENTS = ["a0", "a1"]
WORDS = [*DOMAINS, *ALIASES, "ghost", "nobody"]
LEVELS = ["none", "observe", "read", "write", "full"]


class Maker:
    """Makes documents from a seed: many of them in the time in which single draws would make a few."""

    def __init__(self, seed: int, size: int) -> None:
        self._random = Random(seed)
        self._roles = ROLES[:size]
        self._size = size

    def tree(self, org_ids: tuple[str, ...]) -> dict[str, dict[str, Any]]:
        """Organizations in folders of their own, in one folder, or one inside another's; profiles near and far."""
        folders = [TOP, f"{TOP}/one", f"{TOP}/two", f"{TOP}/two/inner"]
        tree: dict[str, dict[str, Any]] = {}
        for org_id in org_ids[: self._number(1, len(org_ids))]:
            tree[f"{self._one(folders)}/{org_id}.json"] = self.organization(org_id)
        for folder in (*folders, SHARED.rstrip("/")):
            for role_id in self._some(self._roles):
                tree[f"{folder}/roles/{role_id}.json"] = self.profile(role_id)
        if self._chance(0.3):
            folder = self._one(folders)
            tree |= {f"{folder}/{name}": document for name, document in self.catalogs().items()}
        return tree | {SHARED + name: document for name, document in self.catalogs().items()}

    def organization(self, org_id: str) -> dict[str, Any]:
        """An organization of the few roles there are."""
        heads = self._some(self._roles) or self._roles[:1]
        hierarchy = {role: self._fields(subordinates=lambda: self._few(self._roles)) for role in heads}
        words = [*DOMAINS, *ALIASES, "ghost"]
        return {
            "_schema": "orgkernel:organization",
            "org_id": org_id,
            "hierarchy": hierarchy,
            **self._fields(
                domain_routing=lambda: {word: self._few(self._roles) for word in self._some(words)[:3]},
                external=lambda: ["board"],
                communication_channels=lambda: {
                    "lateral": {"allowed_pairs": [["r0", "r1"], ["r1", "ghost"]]}
                },
                overrides=lambda: {role: {"department": "c"} for role in self._some(self._roles)[:2]},
            ),
        }

    def profile(self, role_id: str) -> dict[str, Any]:
        """A profile with any of its fields."""
        somebody = [*self._roles, "ghost", "user", "board"]
        return {
            "_schema": "orgkernel:role_profile",
            "role_id": role_id,
            **self._fields(
                role_type=lambda: self._one(["specialist", "executive", "commander"]),
                chain_of_command=lambda: {"reports_to": self._one([*somebody, None])},
                capabilities=lambda: self._fields(
                    bst_domains=lambda: self._few(DOMAINS),
                    htn_plans=lambda: self._few(PLANS),
                    tools_primary=lambda: self._few(TOOLS),
                    tools_secondary=lambda: self._few(TOOLS),
                    tools=lambda: [
                        {"tool": tool, **self._fields(level=lambda: self._one(LEVELS))}
                        for tool in self._some(TOOLS)
                    ],
                    skills=lambda: self._few(SKILLS),
                    intents=lambda: self._few(["i0", "i1"]),
                    procedures=lambda: self._few(PROCEDURES),
                ),
                department=lambda: self._one(["a", "b"]),
                pace_plan=lambda: self._fields(
                    contingent=lambda: {"escalate_to": self._one(somebody)},
                    emergency=lambda: {"escalate_to": self._one(somebody)},
                ),
                handoff=lambda: self._fields(
                    may_to=lambda: self._few(self._roles), may_from=lambda: self._few(self._roles)
                ),
            ),
        }

    def catalogs(self) -> dict[str, dict[str, Any]]:
        """Catalogs by the names of their files."""

        def entries(ids: list[str], **choices: Callable[[], Any]) -> dict[str, Any]:
            return {each: self._fields(**choices) for each in self._some(ids)}

        domains = {
            "_schema": "orgkernel:domain_catalog",
            "domains": entries(DOMAINS, broader=lambda: self._one([*DOMAINS, "ghost"])),
            "aliases": {alias: self._one([*DOMAINS, "ghost"]) for alias in self._some(ALIASES[:2])},
            "unmapped": ["w2"],
        }
        plans = entries(PLANS, domains=lambda: self._few(DOMAINS), tools=lambda: self._few(TOOLS))
        tools = entries(
            TOOLS,
            falls_back_to=lambda: self._few(TOOLS),
            essential=lambda: self._chance(0.3),
            qualifications=lambda: self._few(QUALIFICATIONS),
            command_arguments=lambda: ["command"],
        )
        skills = entries(SKILLS, prerequisites=lambda: self._few(SKILLS))
        return self._fields(
            **{
                "domains.json": lambda: domains,
                "plans.json": lambda: {"_schema": "orgkernel:plan_catalog", "plans": plans},
                "tools.json": lambda: {
                    "_schema": "orgkernel:tool_catalog",
                    "tools": {tool: {"type": "browser", **entry} for tool, entry in tools.items()},
                },
                "skills.json": lambda: {"_schema": "orgkernel:skill_catalog", "skills": skills},
                **self._access(),
            }
        )

    def _access(self) -> dict[str, Callable[[], Any]]:
        """Qualifications, policies and a roster."""

        def qualification() -> Any:
            raises = self._few(SKILLS)
            return self._fields(
                raises=lambda: raises if self._chance(0.5) else dict.fromkeys(raises, 3),
                unlocks=lambda: self._few(TOOLS),
                prerequisites=lambda: self._few(QUALIFICATIONS),
            )

        def policy() -> Any:
            globs = [*TOOLS, "t*", "server.*", "*"]
            effect = self._one(["allow", "deny", "ask", "annotate"])
            permissions = self._fields(
                tools=lambda: self._one(
                    ["*", self._few(globs), {"allow": self._few(globs), "deny": self._few(globs)}]
                )
            )
            if effect in ("deny", "ask") and "tools" in permissions and self._chance(0.4):
                permissions["paths"] = self._few(["**/.env", "docs/**", "/etc/*", "src/a.py"])
            elif effect in ("deny", "ask") and "tools" in permissions and self._chance(0.4):
                permissions["commands"] = self._few(["rm", "git push"])
            return {"effect": effect, "ceiling": self._chance(0.3), "permissions": permissions}

        def member() -> Any:
            return {
                "assignments": [
                    {"role": role, **self._fields(org=lambda: self._one(["a", "b", "c"]))}
                    for role in self._few(ROLES)
                ]
            }

        def procedure() -> Any:
            return self._fields(
                intents=lambda: self._few(["i0", "i1"]),
                skill=lambda: self._one(SKILLS),
                steps=lambda: [{"id": "one", "required_tools": self._few(TOOLS)}],
            )

        return {
            "procedures.json": lambda: {
                "_schema": "orgkernel:procedure_catalog",
                "procedures": {each: procedure() for each in self._some(PROCEDURES)},
            },
            "qualifications.json": lambda: {
                "_schema": "orgkernel:qualification_catalog",
                "qualifications": {each: qualification() for each in self._some(QUALIFICATIONS)},
            },
            "policies.json": lambda: {
                "_schema": "orgkernel:access_policies",
                "policies": {each: policy() for each in self._some(POLICIES)},
            },
            "crew.json": lambda: {
                "_schema": "orgkernel:crew_roster",
                **self._fields(org=lambda: self._one(["a", "b", "c"])),
                "agents": {each: member() for each in self._some(AGENTS)},
            },
        }

    def _chance(self, of: float) -> bool:
        return self._random.random() < of

    def _number(self, least: int, most: int) -> int:
        return self._random.randint(least, most)

    def _one(self, items: Sequence[Any]) -> Any:
        return self._random.choice(items)

    def _some(self, items: Sequence[str]) -> list[str]:
        """Distinct items, in any order."""
        return self._random.sample(items, self._number(0, min(len(items), self._size)))

    def _few(self, items: Sequence[str]) -> list[str]:
        """Up to three ids, perhaps one twice, perhaps one that nothing declares."""
        return [
            self._one([*items, "ghost"] if self._chance(0.2) else items) for _ in range(self._number(0, 3))
        ]

    def _fields(self, **choices: Callable[[], Any]) -> dict[str, Any]:
        """Most of some fields."""
        return {name: choose() for name, choose in choices.items() if self._chance(0.7)}


def trees(org_ids: tuple[str, ...] = ("a", "b", "c")) -> st.SearchStrategy[dict[str, dict[str, Any]]]:
    """Trees of up to so many organizations; smaller numbers make smaller trees."""
    return st.builds(
        lambda size, seed: Maker(seed, size).tree(org_ids), st.integers(1, 7), st.integers(0, 2**32)
    )


def build_tree(documents: Mapping[str, Mapping[str, Any]]) -> LoadedFiles:
    """The tree that reading these documents yields, without a disk."""
    read = [
        read_documents(
            decode(path, os.path.relpath(path, TOP), json.dumps(document, indent=1).encode()),
            named=True,
            has_orgkernel_siblings=True,
            shared=path.startswith(SHARED),
        )
        for path, document in documents.items()
    ]
    return LoadedFiles(
        tuple(document for file in read for document in file.documents),
        tuple(document for file in read for document in file.broken),
        tuple(found for file in read for found in file.diagnostics),
        {os.path.relpath(path, TOP): path for path in documents},
        0,
    )


def build_views(records: OrgRecords) -> tuple[OrgIndex, OrgGraph]:
    """Both views of an organization."""
    columns = EdgeColumns(extract_edges(records))
    return OrgIndex(records, columns), OrgGraph(records, columns)
