"""Trees of documents made of a template by a drawn list of edits, for laws about any two of them."""

from __future__ import annotations

import copy
import json
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from orgkernel.diff.manifests import OrganizationVersion
from orgkernel.manifest.organization import build_organization_manifest
from orgkernel.manifest.why import get_places
from tests.support.trees import TEMPLATES, read, write_tree
from tests.support.yaml_text import read_yaml

Documents = dict[str, Any]
"""File name to document; the organization's is `org.json`."""
Edit = Callable[[Documents], None]

NEW_IDS = ("alpha", "bravo", "charlie")
TOOLS = (
    "code_execution_tool",
    "text_editor",
    "memory_load",
    "browser_agent",
    "response",
    "call_subordinate",
    "own_tool",
)
DOMAINS = ("codegen", "refactor", "bugfix", "osint", "analysis", "own_domain")
PLANS = ("codegen_module", "refactor_safe", "own_plan", "unknown_plan")
LEVELS = ("none", "observe", "read", "write", "full")


@cache
def template_documents(template: str) -> Documents:
    """A template as data; not to be altered."""
    folder = TEMPLATES / template
    names = ["org.yaml", *(f"roles/{path.name}" for path in sorted((folder / "roles").glob("*.yaml")))]
    return {name.replace(".yaml", ".json"): read_yaml((folder / name).read_text("utf-8")) for name in names}


def small_documents() -> Documents:
    """An organization of three roles that says next to nothing."""
    roles = {
        f"roles/{role}.json": {"_schema": "orgkernel:role_profile", "role_id": role}
        for role in ("a", "b", "c")
    }
    hierarchy = {"a": {"subordinates": ["b", "c"]}, "b": {}, "c": {}}
    return {
        "org.json": {"_schema": "orgkernel:organization", "org_id": "small", "hierarchy": hierarchy},
        **roles,
    }


def versions_of(documents: Documents) -> dict[str, OrganizationVersion]:
    """The organizations of a tree, read as users' trees are."""
    with tempfile.TemporaryDirectory() as folder:
        write_tree(Path(folder), {name: json.dumps(document) for name, document in documents.items()})
        found = read(Path(folder)).organizations
    return {
        org_id: OrganizationVersion(
            build_organization_manifest(each.index, each.index.roles, each.diagnostics),
            get_places(each.index),
        )
        for org_id, each in found.items()
    }


def edited(documents: Documents, edits: list[Edit]) -> Documents:
    """The documents after all edits; one that does not fit any more does nothing."""
    result = copy.deepcopy(documents)
    for edit in edits:
        edit(result)
    return result


def roles_in(documents: Documents) -> list[str]:
    return [each["role_id"] for name, each in documents.items() if name.startswith("roles/")]


@st.composite
def edits(draw: st.DrawFn) -> Edit:
    """One edit of a role, of the organization or of a catalog."""
    number = draw(st.integers(0, 20))
    make = draw(st.sampled_from((_profile, _profile, _place, _organization, _catalog)))
    change = draw(make())

    def edit(documents: Documents) -> None:
        roles = roles_in(documents)
        change(documents, roles[number % len(roles)] if roles else "a")

    return edit


def _words(*words: str) -> st.SearchStrategy[list[str]]:
    return st.lists(st.sampled_from(words), unique=True, max_size=4)


def _put(document: Any, route: tuple[str, ...], value: Any) -> None:
    for step in route[:-1]:
        if document.get(step) is None:
            document[step] = {}
        document = document[step]
    document[route[-1]] = copy.deepcopy(value)


@st.composite
def _profile(draw: st.DrawFn) -> Callable[[Documents, str], None]:
    """A field of a profile takes another value."""
    fields: dict[tuple[str, ...], st.SearchStrategy[Any]] = {
        ("description",): st.sampled_from(("", "Does it.", "Does it `well`, and says so.")),
        ("role_name",): st.sampled_from(("", "Chief", "A")),
        ("role_type",): st.sampled_from(("specialist", "executive", "commander")),
        ("chain_of_command", "can_delegate"): st.booleans(),
        ("chain_of_command", "authority_level"): st.integers(1, 3),
        ("capabilities", "bst_domains"): _words(*DOMAINS),
        ("capabilities", "htn_plans"): _words(*PLANS),
        ("capabilities", "tools_primary"): _words(*TOOLS),
        ("capabilities", "tools_secondary"): _words(*TOOLS),
        ("capabilities", "tools"): st.lists(
            st.fixed_dictionaries({"tool": st.sampled_from(TOOLS), "level": st.sampled_from(LEVELS)}), max_size=3
        ),
        ("capabilities", "skills"): _words("collaboration", "self_assessment", "unknown_skill"),
        ("capabilities", "intents"): _words("ask", "tell"),
        ("requirements", "required_extensions"): _words("x", "y", "z"),
        ("doctrine", "salute_interval_turns"): st.integers(1, 4),
        ("pace_plan", "contingent"): st.fixed_dictionaries(
            {"action": st.just("escalate"), "trigger": st.just("context_fill > 0.5"), "escalate_to": st.sampled_from(("co", "a", "user", None))}
        ),
        ("handoff", "may_to"): _words("co", "a", "b", "codegen_specialist"),
        ("department",): st.sampled_from(("engineering", "research", None)),
        ("layer",): st.sampled_from(("L1", None)),
        ("open_to_probation",): st.booleans(),
        ("clearance",): st.sampled_from(("basic", "oracle", None)),
        ("credentials",): _words("github", "registry"),
        ("file_scope",): _words("src/", "docs/", "*.md"),
        ("standing_orders",): st.lists(st.sampled_from(("Ask.", "Tell.", "Ask#1")), max_size=3),
        ("does_not_have",): st.lists(st.sampled_from(("A say.", "A way.")), max_size=3),
    }  # fmt: skip
    route = draw(st.sampled_from(list(fields)))
    value = draw(fields[route])

    def change(documents: Documents, role: str) -> None:
        if f"roles/{role}.json" in documents:
            _put(documents[f"roles/{role}.json"], route, value)

    return change


@st.composite
def _place(draw: st.DrawFn) -> Callable[[Documents, str], None]:
    """A role is added, removed, renamed, moved, or listed first."""
    what = draw(st.sampled_from(("add", "remove", "rename", "rename", "move", "first", "override")))
    other = draw(st.sampled_from(NEW_IDS))
    turns = draw(st.integers(1, 4))

    def change(documents: Documents, role: str) -> None:
        organization = documents["org.json"]
        hierarchy = organization["hierarchy"]
        if what == "override":
            _put(organization, ("overrides", role, "doctrine", "salute_interval_turns"), turns)
        elif what == "first" and role in hierarchy:
            organization["hierarchy"] = {role: hierarchy.pop(role), **hierarchy}
        elif what == "add" and other not in roles_in(documents):
            documents[f"roles/{other}.json"] = {"_schema": "orgkernel:role_profile", "role_id": other}
            _put(organization, ("hierarchy", other), {})
            hierarchy.setdefault(role, {}).setdefault("subordinates", []).append(other)
        elif what == "rename" and other not in roles_in(documents):
            renamed = json.loads(
                json.dumps(documents).replace(f'"{role}"', f'"{other}"').replace(f"/{role}.", f"/{other}.")
            )
            documents.clear()
            documents.update(renamed)
        elif what in ("remove", "move"):
            for post in hierarchy.values():
                if role in post.get("subordinates", ()):
                    post["subordinates"].remove(role)
            if what == "remove":
                hierarchy.pop(role, None)
                documents.pop(f"roles/{role}.json", None)
            else:
                superiors = [each for each in hierarchy if each != role]
                if superiors:
                    hierarchy[superiors[turns % len(superiors)]].setdefault("subordinates", []).append(role)

    return change


@st.composite
def _organization(draw: st.DrawFn) -> Callable[[Documents, str], None]:
    """A field of the organization takes another value."""
    fields: dict[tuple[str, ...], st.SearchStrategy[Any]] = {
        ("org_name",): st.sampled_from(("", "Other")),
        ("description",): st.sampled_from(("", "Another one.")),
        ("mission", "objective"): st.sampled_from(("", "Do it.")),
        ("mission", "success_criteria"): st.sampled_from(("It is done.", ["It is done.", "It works."])),
        ("mode",): st.sampled_from(("microcosm", "macrocosm")),
        ("macrocosm_config", "network", "heartbeat_interval_seconds"): st.integers(29, 31),
        ("limits", "max_children"): st.integers(4, 6),
        ("limits", "delegation"): st.sampled_from(("envelope", "strict")),
        ("domains",): _words(*DOMAINS),
        ("domain_routing",): st.just({"codegen": ["b", "bugfix_specialist"]}),
        ("external",): _words("board"),
        ("layers",): _words("L1", "L2"),
        ("dispatch_edges",): st.sampled_from(([], [{"from": "L1", "to": "L2"}])),
        ("departments",): st.sampled_from(({}, {"engineering": {"name": "Makers"}})),
        ("communication_channels",): st.sampled_from(
            ({}, {"lateral": {"allowed_pairs": [["a", "b"], ["b", "a"]]}, "other": {"allowed_pairs": [["a", "b"]]}})
        ),
    }  # fmt: skip
    route = draw(st.sampled_from(list(fields)))
    value = draw(fields[route])
    return lambda documents, _role: _put(documents["org.json"], route, value)


@st.composite
def _catalog(draw: st.DrawFn) -> Callable[[Documents, str], None]:
    """The organization's own catalogs say something else, also of what is shared."""
    level = st.sampled_from(LEVELS)
    tool = st.fixed_dictionaries(
        {"type": st.just("browser")},
        optional={
            "description": st.sampled_from(("One.", "Two.")),
            "actions": st.dictionaries(st.sampled_from(("use", "see", "do")), level, max_size=3),
            "essential": st.booleans(),
            "names": st.sampled_from(({}, {"claude_code": "Bash"})),
        },
    )
    tools = draw(st.dictionaries(st.sampled_from(TOOLS), tool, max_size=2))
    plan = st.fixed_dictionaries(
        {"domains": _words(*DOMAINS), "tools": _words(*TOOLS), "name": st.sampled_from(("", "P"))}
    )
    plans = draw(st.dictionaries(st.sampled_from(("codegen_module", "own_plan")), plan, max_size=2))
    domains = draw(
        st.sampled_from(({}, {"own_domain": {"description": "Ours."}}, {"codegen": {"description": "Ours."}}))
    )

    def change(documents: Documents, _role: str) -> None:
        documents["tools.json"] = {"_schema": "orgkernel:tool_catalog", "tools": tools}
        documents["plans.json"] = {"_schema": "orgkernel:plan_catalog", "plans": plans}
        documents["domains.json"] = {"_schema": "orgkernel:domain_catalog", "domains": domains}

    return change
