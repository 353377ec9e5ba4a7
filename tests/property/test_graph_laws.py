"""Laws of the graph: both views agree, the naive reference agrees with them, and what must not matter does not."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orgkernel.decisions.dispatch.by_domain import DispatchDecision, decide_dispatch
from orgkernel.graph.assemble import assemble
from orgkernel.graph.questions import OrgView
from orgkernel.graph.records import OrgRecords
from orgkernel.graph.schema import EdgeKind
from tests.reference import oracle
from tests.reference.organizations import (
    AGENTS,
    DOMAINS,
    PLANS,
    POLICIES,
    QUALIFICATIONS,
    ROLES,
    SHARED,
    SKILLS,
    TOOLS,
    TOP,
    WORDS,
    build_tree,
    build_views,
    trees,
)
from tests.support.trees import ONTOLOGY, TEMPLATES, copy_template, read

NEEDS: tuple[tuple[str, ...], ...] = ((), ("t0",), ("t0", "server.t2"), ("ghost",))
# What each parameter of a question may be asked with, besides what the organization itself declares.
ASKED = {
    "role_id": [*ROLES, "ghost", "user"],
    "domain_id": [*DOMAINS, "ghost"],
    "word": WORDS,
    "plan_id": [*PLANS, "ghost"],
    "tool_id": [*TOOLS, "ghost"],
    "source": [*ROLES, *DOMAINS, *PLANS, *TOOLS, *SKILLS, *QUALIFICATIONS, *POLICIES, *AGENTS, "a", "ghost"],
    "target": [*ROLES, *DOMAINS, *PLANS, *TOOLS, *SKILLS, *QUALIFICATIONS, "a", "i0", "user", "ghost"],
    "policy_id": [*POLICIES, "ghost"],
    "agent_id": [*AGENTS, "ghost"],
    "sources": [(), ("r0",), ("r0", "r1")],
    "role_ids": [(), ("r0",), ("r1", "r2")],
    "kind": list(EdgeKind),
}


def declared(records: OrgRecords) -> dict[str, list[str]]:
    """The ids an organization declares, by the name of the parameter they are asked for with."""
    found = {
        "role_id": [*records.posts, *records.without_profile],
        "domain_id": [*records.domains],
        "word": [*records.domains, *records.aliases],
        "plan_id": [*records.plans],
        "tool_id": [*records.tools],
        "policy_id": [*records.policies],
        "agent_id": [*records.agents],
    }
    everything = [each for ids in found.values() for each in ids]
    everything += [*records.skills, *records.qualifications, records.org_id]
    return {**found, "source": everything, "target": everything}


def questions(records: OrgRecords) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """Every question of the protocol with everything it can be asked with."""
    own = declared(records)
    for name, member in inspect.getmembers(OrgView):
        if name.startswith("_") or name == "get_place":  # no questions, or places only
            continue
        if isinstance(member, property | cached_property):
            yield name, ()
            continue
        rows: list[tuple[Any, ...]] = [()]
        for parameter in list(inspect.signature(member).parameters)[1:]:
            asked = dict.fromkeys([*ASKED[parameter], *own.get(parameter, [])])
            rows = [(*row, each) for row in rows for each in asked]
        yield from ((name, row) for row in rows)


def answers(view: OrgView) -> dict[Any, Any]:
    """Every question with its answer."""
    found = {}
    for name, arguments in questions(view.records):
        member = getattr(view, name)
        found[name, arguments] = member(*arguments) if callable(member) else member
    return found


def check_views(records: OrgRecords) -> None:
    """Graph and index give equal answers to everything, dispatch included."""
    index, graph = build_views(records)
    assert answers(index) == answers(graph)
    for word in [*WORDS, *records.domains, *records.aliases]:
        for needs in NEEDS:
            asked = {"needs": needs, "all_considered": True}
            assert decide_dispatch(index, word, **asked) == decide_dispatch(graph, word, **asked)


@given(trees())
@settings(max_examples=24)
def test_index_equals_graph(documents: Mapping[str, Any]) -> None:
    """For any organization, with circles, dangling ids and repetitions, graph and index answer alike."""
    for records in assemble(build_tree(documents)).organizations:
        check_views(records)


@pytest.mark.parametrize("template", ["software_dev", "sigint_alpha", "blank"])
def test_index_equals_graph_for_the_templates(template: str) -> None:
    """For every shipped organization, graph and index answer alike."""
    check_views(read(TEMPLATES / template).organizations[template].records)


@given(trees())
def test_forward_and_reverse_agree(documents: Mapping[str, Any]) -> None:
    """What a role is said to have, its domain, plan or tool is said to be had by that role, and the other way round."""
    for records in assemble(build_tree(documents)).organizations:
        index, _ = build_views(records)
        pairs = (
            (index.list_domains, index.list_handlers, [*DOMAINS, "ghost"]),
            (index.list_plans, index.list_followers, [*PLANS, "ghost"]),
            (index.list_tools, index.list_holders, [*TOOLS, "ghost"]),
        )
        for forward, reverse, ids in pairs:
            had = [(edge.source, edge.target) for role in index.roles for edge in forward(role)]
            assert sorted(had) == sorted((edge.source, edge.target) for each in ids for edge in reverse(each))
            assert len(had) == len(set(had))


def plain(
    tree: Mapping[str, Any], org_path: str
) -> tuple[Any, dict[str, Any], dict[str, Any], dict[str, Any]]:
    """Organization, profiles, domains and aliases as the reference sees them."""
    organization = tree[org_path]
    paths = {
        role: oracle.find_profile(tree, org_path, SHARED, role)
        for role in oracle.included_roles(organization)
    }
    catalog = ("domain_catalog", "domains"), ("domain_catalog", "aliases")
    domains, aliases = (oracle.merged(tree, org_path, SHARED, *each) for each in catalog)
    return (
        organization,
        {role: tree[path] for role, path in paths.items() if path is not None},
        domains,
        aliases,
    )


@given(trees())
@settings(max_examples=48)
def test_lookup_agrees_with_the_reference(documents: Mapping[str, Any]) -> None:
    """Each organization sees the nearest profile and the nearest catalog entry of every id."""
    assembly = assemble(build_tree(documents))
    for records in assembly.organizations:
        path = records.document.path
        included = oracle.included_roles(documents[path])
        found = {role: oracle.find_profile(documents, path, SHARED, role) for role in included}
        assert {role: post.document.path for role, post in records.posts.items()} == {
            role: each for role, each in found.items() if each is not None
        }
        assert list(records.posts) == [role for role in included if found[role]]
        assert list(records.without_profile) == [role for role in included if not found[role]]
        for kind, section in (
            ("domain_catalog", "domains"),
            ("plan_catalog", "plans"),
            ("skill_catalog", "skills"),
            ("qualification_catalog", "qualifications"),
            ("access_policies", "policies"),
            ("crew_roster", "agents"),
        ):
            expected = oracle.merged(documents, path, SHARED, kind, section)
            assert {entry: each.id for entry, each in getattr(records, section).items()} == {
                each: each for each in expected
            }
        assert {
            alias: each.target for alias, each in records.aliases.items() if each.target
        } == oracle.merged(documents, path, SHARED, "domain_catalog", "aliases")


@given(trees())
@settings(max_examples=48)
def test_command_agrees_with_the_reference(documents: Mapping[str, Any]) -> None:
    """Superiors, chains of command and subordinates are those plain loops find."""
    for records in assemble(build_tree(documents)).organizations:
        organization, profiles, _, _ = plain(documents, records.document.path)
        index, _ = build_views(records)
        for role in oracle.included_roles(organization):
            command = index.get_superior_edge(role)
            assert (command.target if command else None) == oracle.superior(organization, profiles, role)
            chain = [edge.target for edge in index.list_chain_above(role)]
            assert chain == oracle.chain_of_command(organization, profiles, role)
            below = [edge.source for edge in index.list_subordinates(role)]
            assert set(below) == oracle.subordinates(organization, profiles, role)
            assert len(below) == len(set(below))


@given(trees())
@settings(max_examples=60)
def test_dispatch_agrees_with_the_reference(documents: Mapping[str, Any]) -> None:
    """Who takes a task is whom plain loops over the documents choose."""
    for records in assemble(build_tree(documents)).organizations:
        organization, profiles, domains, aliases = plain(documents, records.document.path)
        index, _ = build_views(records)
        tools = set(records.tools)
        essential = {tool.id for tool in records.tools.values() if tool.record.essential is True}
        for word in WORDS:
            for needs in NEEDS:
                decided = decide_dispatch(index, word, needs=needs)
                wanted = tuple(tool for tool in needs if tool not in essential)
                expected = oracle.dispatch(organization, profiles, domains, aliases, tools, word, wanted)
                assert decided.role_id == expected
                assert (decided.outcome == "role") == (expected is not None)
                if expected is not None:
                    assert [*decided.tools] == oracle.held_tools(profiles[expected], tools)
                    assert [*decided.escalation] == oracle.chain_of_command(organization, profiles, expected)


def dispatches(documents: Mapping[str, Any]) -> dict[tuple[str, str, tuple[str, ...]], DispatchDecision]:
    """The dispatch of every word for every organization."""
    return {
        (records.org_id, word, needs): decide_dispatch(
            build_views(records)[0], word, needs=needs, all_considered=True
        )
        for records in assemble(build_tree(documents)).organizations
        for word in WORDS
        for needs in NEEDS[:2]
    }


@given(trees(), st.randoms(use_true_random=False))
@settings(max_examples=20)
def test_the_order_of_files_does_not_matter(documents: Mapping[str, Any], random: Any) -> None:
    """Files read in another order give the same answers, word for word, and the same digests."""
    shuffled = list(documents.items())
    random.shuffle(shuffled)
    assert dispatches(documents) == dispatches(dict(shuffled))


def doubled(value: Any) -> Any:
    """A document with everything its lists of ids hold listed again at the end."""
    if isinstance(value, dict):
        return {key: doubled(item) for key, item in value.items()}
    return (
        [*value, *value]
        if isinstance(value, list) and all(isinstance(item, str) for item in value)
        else value
    )


@given(trees())
@settings(max_examples=20)
def test_listing_something_twice_does_not_matter(documents: Mapping[str, Any]) -> None:
    """Ids repeated in any list of any document leave role, plans, tools and chain of command as they were."""

    def chosen(tree: Mapping[str, Any]) -> dict[Any, Any]:
        return {
            asked: (
                each.role_id,
                each.plans,
                each.allowed_plans,
                each.tools,
                each.escalation,
                each.considered_count,
            )
            for asked, each in dispatches(tree).items()
        }

    assert chosen(documents) == chosen({path: doubled(document) for path, document in documents.items()})


@given(trees(("a",)), st.sampled_from(["specialist", "executive", "commander"]))
@settings(max_examples=20)
def test_a_role_for_another_domain_changes_no_answer(documents: dict[str, Any], role_type: str) -> None:
    """A new role for another domain never takes work from an existing role."""
    (path,) = (
        path for path, document in documents.items() if document["_schema"] == "orgkernel:organization"
    )
    newcomer = {
        "_schema": "orgkernel:role_profile",
        "role_id": "newcomer",
        "role_type": role_type,
        "capabilities": {"bst_domains": ["fresh"], "tools_primary": TOOLS},
    }
    organization = {**documents[path], "hierarchy": {**documents[path]["hierarchy"], "newcomer": {}}}
    more = {**documents, path: organization, f"{oracle.folder_of(path)}/newcomer.json": newcomer}
    before, after = dispatches(documents), dispatches(more)
    assert {asked: each.role_id for asked, each in before.items()} == {
        asked: each.role_id for asked, each in after.items()
    }


@given(trees(), st.data())
@settings(max_examples=32)
def test_an_organization_is_its_files(documents: dict[str, Any], data: st.DataObject) -> None:
    """The digest names exactly what an organization is made of: any change in those files changes it, no other does."""
    before = {each.org_id: each for each in assemble(build_tree(documents)).organizations}
    assert {org: each.digest for org, each in before.items()} == {
        each.org_id: each.digest for each in assemble(build_tree(documents)).organizations
    }
    path = data.draw(st.sampled_from(sorted(documents)))
    changed = {**documents, path: {**documents[path], "x_note": data.draw(st.integers())}}
    for after in assemble(build_tree(changed)).organizations:
        touched = path.removeprefix(f"{TOP}/") in before[after.org_id].files
        assert (after.digest != before[after.org_id].digest) == touched


FILES = sorted(
    [path.relative_to(TEMPLATES / "software_dev") for path in (TEMPLATES / "software_dev").rglob("*.yaml")]
)


@pytest.mark.parametrize("name", FILES, ids=str)
def test_every_byte_and_name_counts(name: Path, tmp_path: Path) -> None:
    """A comment in any file, or another name for it, changes the snapshot's digest, and nothing else does."""
    folder = copy_template(tmp_path / "organization", "software_dev")
    first, again = read(folder), read(folder)
    assert first.digest == again.digest
    (folder / name).write_bytes((folder / name).read_bytes() + b"# \n")
    commented = read(folder)
    (folder / name).rename((folder / name).with_name("renamed.yaml"))
    renamed = read(folder)
    assert len({first.digest, commented.digest, renamed.digest}) == 3
    organizations = [each.organizations["software_dev"].digest for each in (first, commented, renamed)]
    assert len(set(organizations)) == (1 if name.name == "cases.yaml" else 3)


def test_the_ontology_counts(tmp_path: Path) -> None:
    """A change in a shared catalog changes every organization that sees it."""
    (tmp_path / "shared").mkdir()
    for path in ONTOLOGY.glob("*.yaml"):
        (tmp_path / "shared" / path.name).write_bytes(path.read_bytes())
    copy_template(tmp_path / "org", "blank")
    before = read(tmp_path / "org")
    (tmp_path / "org" / "more.yaml").write_text(
        "_schema: orgkernel:domain_catalog\ndomains: {}\n", encoding="utf-8"
    )
    assert read(tmp_path / "org").organizations["blank"].digest != before.organizations["blank"].digest
