"""Generated organisations: small, with everything that can go wrong in them, as documents by path."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from typing import Any

from hypothesis import strategies as st

from orgkernel.graph.columns import EdgeColumns
from orgkernel.graph.extract import extract_edges
from orgkernel.graph.org_graph import OrgGraph
from orgkernel.graph.records import OrgRecords
from orgkernel.index.org_index import OrgIndex
from orgkernel.loading.documents import read_documents
from orgkernel.loading.files import decode
from orgkernel.loading.tree import Tree

TOP = "/t"
SHARED = f"{TOP}/shared/"
ROLES = [f"r{number}" for number in range(7)]
DOMAINS = [f"d{number}" for number in range(5)]
ALIASES = [f"w{number}" for number in range(3)]
PLANS = ["p0", "p1", "p2"]
TOOLS = ["t0", "t1", "server.t2"]
SKILLS = ["s0", "s1", "s2"]
WORDS = [*DOMAINS, *ALIASES, "ghost", "nobody"]
LEVELS = ["none", "observe", "read", "write", "full"]


def few(items: Iterable[str], *, ghosts: bool = True) -> st.SearchStrategy[list[str]]:
    """A few ids, perhaps one twice, perhaps one that nothing declares."""
    return st.lists(st.sampled_from([*items, "ghost"] if ghosts else [*items]), max_size=3)


def fields(**optional: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """A mapping with any of some fields."""
    return st.fixed_dictionaries({}, optional=optional)


def profiles(role_id: str) -> st.SearchStrategy[dict[str, Any]]:
    """Profiles of one role."""
    somebody = st.sampled_from([*ROLES, "ghost", "user", "board"])
    return st.fixed_dictionaries(
        {"_schema": st.just("orgkernel:role_profile"), "role_id": st.just(role_id)},
        optional={
            "role_type": st.sampled_from(["specialist", "executive", "commander"]),
            "chain_of_command": fields(reports_to=st.none() | somebody),
            "capabilities": fields(
                bst_domains=few(DOMAINS),
                htn_plans=few(PLANS),
                tools_primary=few(TOOLS),
                tools_secondary=few(TOOLS),
                tools=st.lists(
                    st.fixed_dictionaries(
                        {"tool": st.sampled_from(TOOLS)}, optional={"level": st.sampled_from(LEVELS)}
                    ),
                    max_size=2,
                ),
                skills=few(SKILLS),
                intents=few(["i0", "i1"]),
            ),
            "department": st.sampled_from(["a", "b"]),
            "pace_plan": fields(
                contingent=st.fixed_dictionaries({"escalate_to": somebody}),
                emergency=st.fixed_dictionaries({"escalate_to": somebody}),
            ),
            "dispatch": fields(may_to=few(ROLES), may_from=few(ROLES)),
        },
    )


def organizations(org_id: str) -> st.SearchStrategy[dict[str, Any]]:
    """Organisations of one id, over the same few roles."""
    return st.fixed_dictionaries(
        {
            "_schema": st.just("orgkernel:organization"),
            "org_id": st.just(org_id),
            "hierarchy": st.dictionaries(
                st.sampled_from(ROLES), fields(subordinates=few(ROLES)), min_size=1, max_size=7
            ),
        },
        optional={
            "domain_routing": st.dictionaries(
                st.sampled_from([*DOMAINS, *ALIASES, "ghost"]), few(ROLES), max_size=3
            ),
            "external": st.just(["board"]),
            "communication_channels": st.just(
                {"lateral": {"allowed_pairs": [["r0", "r1"], ["r1", "ghost"]]}}
            ),
            "overrides": st.dictionaries(
                st.sampled_from(ROLES), fields(department=st.sampled_from(["a", "c"])), max_size=2
            ),
        },
    )


def catalogues() -> st.SearchStrategy[dict[str, dict[str, Any]]]:
    """One catalogue of each kind, by the name of its file."""

    def entries(ids: list[str], **optional: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
        return st.dictionaries(st.sampled_from(ids), fields(**optional), max_size=len(ids))

    def document(kind: str, **optional: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
        return st.fixed_dictionaries({"_schema": st.just(f"orgkernel:{kind}")}, optional=optional)

    targets = st.dictionaries(st.sampled_from(ALIASES[:2]), st.sampled_from([*DOMAINS, "ghost"]), max_size=2)
    tools = entries(TOOLS, falls_back_to=few(TOOLS), essential=st.booleans())
    return st.fixed_dictionaries(
        {},
        optional={
            "domains.json": document(
                "domain_catalog",
                domains=entries(DOMAINS, broader=st.sampled_from([*DOMAINS, "ghost"])),
                aliases=targets,
                unmapped=st.just(["w2"]),
            ),
            "plans.json": document(
                "plan_catalog", plans=entries(PLANS, domains=few(DOMAINS), tools=few(TOOLS))
            ),
            "tools.json": document(
                "tool_catalog",
                tools=tools.map(
                    lambda each: {tool: {"type": "browser", **entry} for tool, entry in each.items()}
                ),
            ),
            "skills.json": document("skill_catalog", skills=entries(SKILLS, prerequisites=few(SKILLS))),
        },
    )


@st.composite
def trees(draw: st.DrawFn, org_ids: tuple[str, ...] = ("a", "b", "c")) -> dict[str, dict[str, Any]]:
    """Organisations in folders of their own, in one folder, or one inside another's, with profiles near and far."""
    folders = [TOP, f"{TOP}/one", f"{TOP}/two", f"{TOP}/two/inner"]
    tree: dict[str, dict[str, Any]] = {}
    for org_id in org_ids[: draw(st.integers(1, len(org_ids)))]:
        tree[f"{draw(st.sampled_from(folders))}/{org_id}.json"] = draw(organizations(org_id))
    for folder in [*folders, SHARED.rstrip("/")]:
        role_ids = draw(st.lists(st.sampled_from(ROLES), max_size=7, unique=True))
        tree |= {f"{folder}/roles/{role_id}.json": draw(profiles(role_id)) for role_id in role_ids}
    for folder in draw(st.lists(st.sampled_from(folders), max_size=1)):
        tree |= {f"{folder}/{name}": document for name, document in draw(catalogues()).items()}
    return tree | {SHARED + name: document for name, document in draw(catalogues()).items()}


def build_tree(documents: Mapping[str, Mapping[str, Any]]) -> Tree:
    """The tree that reading these documents yields, without a disk."""
    read = [
        read_documents(
            decode(path, os.path.relpath(path, TOP), json.dumps(document, indent=1).encode()),
            named=True,
            among_ours=True,
            shared=path.startswith(SHARED),
        )
        for path, document in documents.items()
    ]
    return Tree(
        tuple(document for file in read for document in file.documents),
        tuple(document for file in read for document in file.broken),
        tuple(found for file in read for found in file.diagnostics),
        {os.path.relpath(path, TOP): path for path in documents},
        0,
    )


def build_views(records: OrgRecords) -> tuple[OrgIndex, OrgGraph]:
    """Both views of an organisation."""
    columns = EdgeColumns(extract_edges(records))
    return OrgIndex(records, columns), OrgGraph(records, columns)
