"""Laws of the comparison of answers: whatever a document changes, every answer that differs is told, and every line is true.

The oracle asks both versions everything: every subject, every resource, every action, in circumstances that the documents
name and in others, and every task. It knows nothing of edits and of what they can touch.
"""

from __future__ import annotations

import copy
import json
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orgkernel.decisions.access.compiled import AccessTables
from orgkernel.decisions.access.decide import decide_access
from orgkernel.decisions.access.request import AccessContext, AccessRequest
from orgkernel.decisions.access.tables import get_access_tables
from orgkernel.decisions.dispatch.by_domain import decide_dispatch
from orgkernel.diff import organizations
from orgkernel.diff.changes import Change
from orgkernel.diff.organizations import OrganizationComparison, Version, compare_versions_of
from orgkernel.diff.sections import ANSWERS, resolve_address
from orgkernel.documents.records import DATA_TIERS
from orgkernel.graph.questions import OrgView
from tests.support.trees import read, write_tree

ROLES = ("lead", "deployer", "sre", "dev")
TOOLS = ("deploy", "approve", "shell", "mail", "notes")


def profile(role: str, superior: str | None, tools: list[str], **fields: Any) -> dict[str, Any]:
    return {
        "_schema": "orgkernel:role_profile",
        "role_id": role,
        "role_type": "executive" if superior is None else "specialist",
        "description": f"Does the work of {role}.",
        "chain_of_command": {"reports_to": superior, "can_delegate": superior is None},
        "department": "eng",
        "capabilities": {
            "bst_domains": ["ops"] if superior else ["sales"],
            "tools": [{"tool": each, "level": "full"} for each in tools],
        },
        **fields,
    }


DOCUMENTS: Mapping[str, Any] = {
    "org.json": {
        "_schema": "orgkernel:organization",
        "org_id": "shop",
        "hierarchy": {"lead": {"subordinates": ["deployer", "sre", "dev"]}, "deployer": {}, "sre": {}, "dev": {}},
        "departments": {"eng": {}, "biz": {}},
        "domains": ["ops"],
    },
    "tools.json": {
        "_schema": "orgkernel:tool_catalog",
        "tools": {
            "deploy": {
                "type": "deterministic_function", "side_effects": "write", "command_arguments": ["command"],
                "actions": {"plan": "read", "apply": "write"}, "restricted_to": ["deployer", "sre"],
            },
            "approve": {"type": "deterministic_function", "side_effects": "write", "departments": ["eng"]},
            "shell": {
                "type": "deterministic_function", "side_effects": "destructive", "path_arguments": ["path"],
                "rank_matrix": {"ensign": "read", "captain": "full"}, "credentials": ["cluster"],
            },
            "mail": {"type": "remote_api", "side_effects": "write"},
            "notes": {"type": "deterministic_function", "side_effects": "read"},
        },
    },
    "ranks.json": {
        "_schema": "orgkernel:rank_ladder",
        "ranks": [{"id": "ensign", "trust_from": 0.0}, {"id": "captain", "trust_from": 0.8}],
    },
    "crew.json": {
        "_schema": "orgkernel:crew_roster",
        "agents": {
            "ada": {"rank": "ensign", "assignments": [{"role": "dev"}]},
            "bob": {"trust": 0.5, "assignments": [{"role": "sre"}]},
        },
    },
    "people.json": {
        "_schema": "orgkernel:directory",
        "people": {
            "olga": {"relationship": "owner", "identities": [{"platform": "slack", "id": "U1"}]},
            "carl": {"relationship": "partner", "tags": ["ops"]},
        },
        "webhooks": {"ci": {}},
    },
    "domains.json": {
        "_schema": "orgkernel:domain_catalog",
        "domains": {"ops": {}, "sales": {}, "deals": {"broader": "sales"}},
        "aliases": {"operations": "ops"},
    },
    "policies.json": {
        "_schema": "orgkernel:access_policies",
        "policies": {
            "approve_deploy": {"match": {"principal": {"role": "*"}}, "effect": "ask", "permissions": {"tools": ["deploy"]}},
            "partner_mail": {
                "match": {"principal": {"relationship": "partner"}, "conditions": [{"channel": "slack"}]},
                "effect": "allow", "permissions": {"tools": ["mail", "notes"]},
            },
            "no_shell": {
                "match": {"principal": {"role": "deployer"}, "conditions": [{"time": "22:00-06:00"}]},
                "effect": "deny", "permissions": {"tools": ["shell"]},
            },
            "owner": {"match": {"principal": {"relationship": "owner"}}, "effect": "allow", "permissions": {"tools": "*", "data": "full"}},
            "strangers": {"match": {}, "effect": "allow", "fallback": True, "permissions": {"tools": ["notes"]}},
        },
    },
    "roles/lead.json": profile("lead", None, ["shell", "mail"]),
    "roles/deployer.json": profile("deployer", "lead", ["deploy", "shell"]),
    "roles/sre.json": profile("sre", "lead", ["deploy", "shell", "approve"], credentials=["cluster"]),
    "roles/dev.json": profile("dev", "lead", ["shell", "notes"], data=["minimal"]),
}  # fmt: skip

_SETS: tuple[tuple[str, tuple[str, ...], tuple[Any, ...]], ...] = (
    ("tools.json", ("tools", "deploy", "restricted_to"), (None, ["dev"], ["deployer", "sre", "dev"], ["bob"])),
    ("tools.json", ("tools", "deploy", "actions"), ({"plan": "read", "apply": "full"}, {"plan": "write"}, None)),
    ("tools.json", ("tools", "deploy", "concurrency"), ("exclusive",)),
    ("tools.json", ("tools", "approve", "departments"), (None, ["biz"], ["eng", "biz"])),
    ("tools.json", ("tools", "approve", "enabled"), (False,)),
    ("tools.json", ("tools", "shell", "rank_matrix"), (None, {"ensign": "full"}, {"captain": "full"})),
    ("tools.json", ("tools", "shell", "credentials"), (None, ["cluster", "vault"])),
    ("tools.json", ("tools", "mail", "side_effects"), ("read", "destructive")),
    ("tools.json", ("tools", "notes", "essential"), (True, {"with_tools": ["shell"]})),
    ("tools.json", ("tools", "notes"), (None,)),
    ("tools.json", ("tools", "fax"), ({"type": "remote_api", "side_effects": "write"},)),
    ("ranks.json", ("ranks",), ([{"id": "ensign"}, {"id": "captain", "trust_from": 0.4}], [{"id": "captain"}, {"id": "ensign", "trust_from": 0.9}])),
    ("crew.json", ("agents", "ada", "rank"), ("captain", None)),
    ("crew.json", ("agents", "ada", "trust"), (0.9,)),
    ("crew.json", ("agents", "ada", "assignments"), ([{"role": "sre"}], [{"role": "dev"}, {"role": "lead"}], [])),
    ("crew.json", ("agents", "eve"), ({"assignments": [{"role": "lead"}]},)),
    ("crew.json", ("agents", "bob"), (None,)),
    ("people.json", ("people", "carl", "relationship"), ("owner", "family", None)),
    ("people.json", ("people", "olga", "identities"), (None, [{"platform": "slack", "id": "U2"}])),
    ("people.json", ("people", "zoe"), ({"relationship": "owner"},)),
    ("people.json", ("webhooks", "ci"), (None,)),
    ("domains.json", ("aliases", "deploys"), ("sales", "ops")),
    ("domains.json", ("aliases", "operations"), (None, "sales")),
    ("domains.json", ("domains", "deals", "broader"), ("ops", None)),
    ("domains.json", ("domains", "deals"), (None,)),
    ("policies.json", ("policies", "approve_deploy"), (None,)),
    ("policies.json", ("policies", "approve_deploy", "enabled"), (False,)),
    ("policies.json", ("policies", "approve_deploy", "effect"), ("deny", "annotate")),
    ("policies.json", ("policies", "approve_deploy", "permissions"), ({"tools": ["deploy"], "commands": ["kubectl delete"]}, {"tools": "*"})),
    ("policies.json", ("policies", "partner_mail", "match", "conditions"), (None, [{"channel": "teams"}], [{"channel": "slack", "peer_kind": "dm"}])),
    ("policies.json", ("policies", "partner_mail", "permissions", "tools"), (["mail"], ["mail", "shell"], ["*"])),
    ("policies.json", ("policies", "no_shell", "match", "conditions"), (None, [{"time": "22:00-08:00"}], [{"time": "weekends"}])),
    ("policies.json", ("policies", "no_shell", "permissions"), ({"tools": ["shell"], "paths": ["secrets/**"]},)),
    ("policies.json", ("policies", "owner", "permissions"), ({"tools": ["notes"]}, {"tools": "*", "credentials": "*"})),
    ("policies.json", ("policies", "strangers", "fallback"), (False,)),
    ("policies.json", ("policies", "strangers", "priority"), (90,)),
    ("policies.json", ("policies", "cap"), ({"match": {"principal": {"role": "dev"}}, "effect": "allow", "ceiling": True, "permissions": {"tools": ["notes"]}},)),
    ("policies.json", ("policies", "gamma"), ({"match": {"watch": ["gamma"]}, "effect": "ask", "permissions": {"tools": ["shell"]}},)),
    ("org.json", ("hierarchy",), (
        {"lead": {"subordinates": ["deployer", "sre"]}, "deployer": {"subordinates": ["dev"]}, "sre": {}, "dev": {}},
        {"lead": {"subordinates": ["deployer", "sre"]}, "deployer": {}, "sre": {}},
        {"lead": {"subordinates": ["sre", "dev", "deployer"]}, "sre": {}, "dev": {}, "deployer": {}},
    )),
    ("org.json", ("domain_routing",), ({"ops": ["dev"]}, {"ops": ["sre", "deployer"]})),
    ("org.json", ("overrides",), ({"dev": {"department": "biz"}}, {"dev": {"credentials": ["vault"]}})),
    ("org.json", ("description",), ("A shop.",)),
    ("roles/dev.json", ("department",), ("biz", None)),
    ("roles/dev.json", ("data",), (None, ["full"])),
    ("roles/dev.json", ("credentials",), (["cluster"],)),
    ("roles/dev.json", ("entry_rank",), ("captain",)),
    ("roles/dev.json", ("position",), ("worker", "manager")),
    ("roles/dev.json", ("file_scope",), (["src/**"],)),
    ("roles/dev.json", ("role_name",), ("Developer",)),
    ("roles/dev.json", ("may_grant",), ([{"tool": "shell", "level": "read"}],)),
    ("roles/dev.json", ("capabilities", "tools"), ([{"tool": "shell", "level": "read"}], [{"tool": "deploy", "level": "full"}], [])),
    ("roles/dev.json", ("capabilities", "bst_domains"), (["ops", "deals"], [])),
    ("roles/dev.json", ("handoff",), ({"may_to": ["sre"]},)),
    ("roles/lead.json", ("chain_of_command", "can_delegate"), (False,)),
    ("roles/lead.json", ("capabilities", "tools"), ([{"tool": "call_subordinate", "level": "full"}], [])),
    ("roles/sre.json", ("chain_of_command", "can_delegate"), (True,)),
    ("roles/sre.json", ("pace_plan",), ({"primary": {"action": "go"}, "emergency": {"action": "stop", "trigger": "unrecoverable_error", "escalate_to": "deployer"}},)),
)  # fmt: skip
Edit = tuple[str, tuple[str, ...], Any]
_EDITS: tuple[Edit, ...] = tuple((file, route, value) for file, route, values in _SETS for value in values)


def edited(documents: Mapping[str, Any], edits: list[Edit]) -> dict[str, Any]:
    """The documents after all edits; a value of None is removed, and an edit below what is gone does nothing."""
    result = copy.deepcopy(dict(documents))
    for file, route, value in edits:
        inner = result[file]
        for step in route[:-1]:
            inner = inner.get(step) if isinstance(inner, dict) else None
        if isinstance(inner, dict):
            if value is None:
                inner.pop(route[-1], None)
            else:
                inner[route[-1]] = copy.deepcopy(value)
    return result


def read_version(documents: Mapping[str, Any]) -> Version:
    with tempfile.TemporaryDirectory() as folder:
        write_tree(Path(folder), {name: json.dumps(each) for name, each in documents.items()})
        (organization,) = read(Path(folder)).organizations.values()
    return Version(organization.index, organization.diagnostics)


CONTEXTS = (
    AccessContext(),
    AccessContext(channel="slack", peer_kind="dm"),
    AccessContext(channel="slack", peer_kind="group"),
    AccessContext(channel="teams", peer_kind="group"),
    AccessContext(channel="mail", peer_kind="", watch="gamma", now=12 * 3600.0),
    AccessContext(channel="mail", peer_kind="", watch="alpha", now=23 * 3600.0),
    AccessContext(channel="slack", peer_kind="group", watch="alpha", now=7 * 3600.0),
    AccessContext(channel="slack", peer_kind="group", watch="alpha", now=2 * 86400.0 + 43200.0),
)


def list_subjects(*tables: AccessTables) -> Iterator[str]:
    for each in tables:
        yield from (f"role:{role}" for role in each.view.roles)
        yield from (f"agent:{agent}" for agent in each.view.records.agents)
        yield from (name for names in each.outside.values() for name in names)
    yield from ("sender:slack//U1", "sender:slack//U2")


def list_resources(*tables: AccessTables) -> Iterator[str]:
    for each in tables:
        yield from (f"tool:{tool}" for tool in each.view.records.tools)
        yield from (f"credential:{credential}" for credential in each.credentials)
        yield from (f"role:{role}" for role in each.view.roles)
    yield from (f"data:{tier}" for tier in DATA_TIERS)
    yield from ("tool:shell:secrets/key", "tool:shell:src/main.py", "tool:shell:elsewhere.txt")


def answer(
    view: OrgView, subject: str, action: str, resource: str, context: AccessContext
) -> tuple[Any, ...]:
    decision = decide_access(view, AccessRequest(subject, action, resource, context))
    return decision.outcome, decision.obligations


def find_flips(old: OrgView, new: OrgView) -> Iterator[tuple[str, str]]:
    """Every subject and resource that both versions declare and about which any answer differs."""
    tables = get_access_tables(old), get_access_tables(new)
    for subject in dict.fromkeys(list_subjects(*tables)):
        known_subjects = [each.find_subject(subject) for each in tables]
        if None in known_subjects:
            continue
        is_sender = subject.startswith("sender:")
        if is_sender and len({each.subject for each in known_subjects if each is not None}) == 1:
            continue  # the person, who is asked about anyway
        for resource in dict.fromkeys(list_resources(*tables)):
            known = [each.find(resource)[0] for each in tables]
            if any(each.unknown for each in known):
                continue
            actions = dict.fromkeys((*known[0].actions, *known[1].actions))
            if any(
                answer(old, subject, action, resource, context)
                != answer(new, subject, action, resource, context)
                for action in actions
                for context in CONTEXTS
            ):
                yield subject, resource


def is_told(subject: str, resource: str, changes: tuple[Change, ...]) -> bool:
    """Whether a change names the subject and the resource, or is of the manifest of that role and of that resource."""
    kind, _, name = subject.partition(":")
    whole = resource if resource.count(":") < 2 else resource.rpartition(":")[0]
    resource_id = whole.partition(":")[2]
    for change in changes:
        if change.path[0] == ANSWERS:
            parts = {each if each.count(":") < 2 else each.rpartition(":")[0] for each in change.resources}
            if subject in change.subjects and whole in parts:
                return True
        elif kind == "role":
            role_id, _, key, _ = resolve_address(change.path)
            if role_id == name and key is not None and key.partition("@")[0] == resource_id:
                return True
    return False


@settings(max_examples=60, deadline=None)
@given(
    first=st.lists(st.sampled_from(_EDITS), max_size=2),
    second=st.lists(st.sampled_from(_EDITS), min_size=1, max_size=3),
)
def test_every_answer_that_differs_is_told(first: list[Edit], second: list[Edit]) -> None:
    """Whatever is edited, each pair of a subject and a resource that is answered differently is named by a line."""
    documents = edited(DOCUMENTS, first)
    old, new = read_version(documents), read_version(edited(documents, second))
    comparison = compare_versions_of("shop", old, new)
    assert not comparison.is_cut
    flips = list(find_flips(old.view, new.view))
    assert [flip for flip in flips if not is_told(*flip, comparison.changes)] == []
    tasks = [
        word
        for word in ("ops", "sales", "deals", "operations", "deploys")
        if decide_dispatch(old.view, word).role_id != decide_dispatch(new.view, word).role_id
    ]
    said = " ".join(change.sentence for change in comparison.changes)
    assert [word for word in tasks if f"`{word}`" not in said and f"domain {word}" not in said] == []
    replay(comparison, old.view, new.view)


def replay(comparison: OrganizationComparison, old: OrgView, new: OrgView) -> None:
    """Every line about an answer is true: asked again, both versions answer as it says; and every change has a cause."""
    for change in comparison.changes:
        assert change.sentence
        assert comparison.edits == () or change.causes
        question = change.question
        if question is None or "subject" not in question:
            continue
        context = AccessContext(**question["context"])
        request = AccessRequest(question["subject"], question["action"], question["resource"], context)
        assert decide_access(old, request).outcome == change.before["outcome"], change.sentence
        assert decide_access(new, request).outcome == change.after["outcome"], change.sentence


@settings(max_examples=25, deadline=None)
@given(edits=st.lists(st.sampled_from(_EDITS), max_size=3))
def test_nothing_is_told_of_equal_documents(edits: list[Edit]) -> None:
    """Versions that are read from the same documents have no edit and no change."""
    documents = edited(DOCUMENTS, edits)
    comparison = compare_versions_of("shop", read_version(documents), read_version(documents))
    assert (comparison.edits, comparison.changes) == ((), ())


@settings(max_examples=40, deadline=None)
@given(edit=st.sampled_from(_EDITS))
def test_one_edit_causes_everything(edit: Edit) -> None:
    """With one edited value, every change names an edit of that value's document entry as its cause."""
    new = edited(DOCUMENTS, [edit])
    comparison = compare_versions_of("shop", read_version(DOCUMENTS), read_version(new))
    if new == DOCUMENTS:
        assert comparison.edits == ()
    numbers = set(range(len(comparison.edits)))
    assert all(set(change.causes) <= numbers and change.causes for change in comparison.changes)


@settings(max_examples=40, deadline=None)
@given(edits=st.lists(st.sampled_from(_EDITS), min_size=1, max_size=3))
def test_roles_that_are_left_out_do_not_change(edits: list[Edit]) -> None:
    """Comparing only the roles that an edit can touch leaves out no change of a manifest."""
    old, new = read_version(DOCUMENTS), read_version(edited(DOCUMENTS, edits))
    some = compare_versions_of("shop", old, new)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            organizations,
            "find_touched_roles",
            lambda _edit, sides: frozenset((*sides.old.roles, *sides.new.roles)),
        )
        every = compare_versions_of("shop", old, new)
    assert list_told(some) == list_told(every)


def list_told(comparison: OrganizationComparison) -> list[tuple[Any, ...]]:
    return sorted((change.path, change.kind, change.sentence) for change in comparison.changes)
