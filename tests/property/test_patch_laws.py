"""A snapshot in which profiles were exchanged is the one that would be built.

`patched_equals_rebuilt`: whatever profiles come to be able to do, in organizations where every rule that looks at
abilities has something to look for.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orgkernel.graph.exchange import in_order
from orgkernel.graph.schema import EdgeKind
from orgkernel.index.org_index import OrgIndex
from orgkernel.snapshots.loader import Loader
from orgkernel.snapshots.roots import resolve_paths
from orgkernel.snapshots.snapshot import OrgSnapshot
from tests.property.test_cache_laws import everything
from tests.support.trees import write_tree

ROLES = ("co", "xo", "dev", "ops", "doc")
# Two organizations share the profiles; one keeps tools apart, prefers roles, counts skills and caps a tool by rank.
TREE = {
    "org.yaml": """\
_schema: orgkernel:organization
org_id: shop
hierarchy: {co: {subordinates: [xo, doc]}, doc: {}, xo: {subordinates: [dev, ops]}, dev: {}, ops: {}}
domains: [codegen, docker_ops]
domain_routing: {codegen: [ops, dev]}
separations: {hands: {tools: [ticket, shell]}}
""",
    "second/org.yaml": """\
_schema: orgkernel:organization
org_id: second
hierarchy: {xo: {subordinates: [dev]}, dev: {}}
overrides: {xo: {doctrine: {salute_interval_turns: 9}, pace_plan: {alternate: null}}}
""",
    "tools.yaml": """\
_schema: orgkernel:tool_catalog
tools:
  ticket: {type: remote_api, departments: [front]}
  shell: {type: computer_use, actions: {run: full}, rank_matrix: {senior: write}}
  lamp: {type: remote_api, side_effects: read}
""",
    "plans.yaml": """\
_schema: orgkernel:plan_catalog
plans:
  sell: {domains: [docker_ops], tools: [ticket], steps: [a]}
  count: {domains: [codegen], steps: [a]}
""",
    "ladder.yaml": """\
_schema: orgkernel:rank_ladder
ranks: [{id: junior}, {id: senior, trust_from: 0.6}]
promotions: {senior: {requirements: [{scope: role, min_proficiency: 1, min_count: 2}]}}
""",
    "policies.yaml": """\
_schema: orgkernel:access_policies
policies: {night: {effect: deny, match: {principal: {role: dev}}, permissions: {tools: [lamp]}}}
""",
    "crew.yaml": """\
_schema: orgkernel:crew_roster
agents: {a1: {assignments: [{role: dev}, {role: ops}]}}
""",
}
_IDS = {
    "bst_domains": ("codegen", "docker_ops", "bugfix", "codgen", "nowhere"),
    "htn_plans": ("sell", "count", "codegen_module", "cuont"),
    "tools_primary": ("ticket", "shell", "lamp", "call_subordinate", "tikcet"),
    "tools_secondary": ("ticket", "lamp", "shell"),
    "skills": ("communication", "collaboration", "no_such_skill"),
    "intents": ("buy", "ask"),
}
_USES = st.lists(
    st.tuples(st.sampled_from(("ticket", "shell", "lamp")), st.sampled_from(("none", "read", "full"))),
    max_size=2,
)
ABLE = st.fixed_dictionaries(
    {}, optional={field: st.lists(st.sampled_from(ids), max_size=4) for field, ids in _IDS.items()}
)


@st.composite
def profiles(draw: st.DrawFn, role_id: str) -> str:
    """A profile whose other fields are always the same, at other lines perhaps."""
    lines = [*draw(st.lists(st.sampled_from(("# a line", "description: Does it.")), max_size=2, unique=True))]
    lines += ["_schema: orgkernel:role_profile", f"role_id: {role_id}"]
    kind = {"co": "commander", "xo": "executive", "doc": "executive"}.get(role_id, "specialist")
    lines += [f"role_type: {kind}"]
    able = draw(ABLE)
    if able:
        lines += ["capabilities:", *(f"  {field}: [{', '.join(ids)}]" for field, ids in able.items())]
        uses = draw(_USES)
        if uses:
            lines += ["  tools:", *(f"    - {{tool: {tool}, level: {level}}}" for tool, level in uses)]
    if role_id == "ops":
        lines += [
            "dispatch: {may_from: [xo]}",
            "may_grant: [{tool: lamp, level: read}]",
            "pace_plan: {contingent: {trigger: context_fill > 0.9, escalate_to: xo}}",
        ]
    if role_id == "dev":
        lines += ["chain_of_command: {reports_to: xo}"]
    return "\n".join(lines) + "\n"


EDITS = st.sampled_from(ROLES).flatmap(lambda role_id: st.tuples(st.just(role_id), profiles(role_id)))


def answers(organization: OrgSnapshot, index: OrgIndex) -> object:
    """All that tables of edges say, in their order."""
    nodes = sorted({word for edge in organization.columns for word in (edge.source, edge.target)})
    return [
        (
            kind,
            index.edges_of(kind), index.ends_of(kind), index.targets_of(kind), index.cycles(kind),
            [(index.edges_from(kind, node), index.ends_from(kind, node)) for node in nodes],
            [(index.edges_to(kind, node), index.sources_to(kind, node)) for node in nodes],
            index.superiors, index.roles,
        )
        for kind in EdgeKind
    ]  # fmt: skip


@settings(max_examples=60)
@given(
    start=st.tuples(*(profiles(role_id) for role_id in ROLES)),
    steps=st.lists(st.lists(EDITS, min_size=1, max_size=2), min_size=1, max_size=5),
    asked=st.booleans(),
)
def test_patched_equals_rebuilt(
    start: tuple[str, ...],
    steps: list[list[tuple[str, str]]],
    asked: bool,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """Profiles that get other abilities, one or two at once, with tables of edges or without."""
    texts = {f"roles/{role_id}.yaml": text for role_id, text in zip(ROLES, start, strict=True)}
    folder = tmp_path_factory.mktemp("patched")
    tree = write_tree(folder, {**TREE, **texts})
    request = resolve_paths(["."], str(tree))
    staying, told = Loader(request, {}), Loader(request, {})
    told.load()
    for edits in [[], *steps]:
        write_tree(folder, {f"roles/{role_id}.yaml": text for role_id, text in edits})
        patched, rebuilt = staying.load(), everything(Loader(request, {}).load())
        assert everything(patched) == rebuilt
        # Whoever watches says which files alone may have changed.
        assert everything(told.load([str(tree / f"roles/{role_id}.yaml") for role_id, _ in edits])) == rebuilt
        for organization in patched.organizations.values() if asked else ():
            columns = in_order(organization.columns)
            anew = OrgIndex(organization.records, columns)
            assert answers(organization, organization.index) == answers(organization, anew)
            assert list(columns) == list(organization.columns)


def test_what_abilities_say_is_patched(tmp_path: Path) -> None:
    """The law above does not hold because nothing is ever patched: what did not change is the same object."""
    able = {f"roles/{role_id}.yaml": _plain(role_id, "lamp") for role_id in ROLES}
    tree = write_tree(tmp_path, {**TREE, **able})
    loader = Loader(resolve_paths(["."], str(tree)), {})
    posts = loader.load().organizations["shop"].records.posts
    for more in ("ticket, lamp", "lamp, tikcet", "lamp, shell, shell", "lamp"):
        write_tree(tmp_path, {"roles/dev.yaml": _plain("dev", more)})
        assert loader.load().organizations["shop"].records.posts["co"] is posts["co"]


def test_columns_that_were_exchanged_often_are_made_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Positions out of use do not pile up, however often one profile says something else."""
    monkeypatch.setattr("orgkernel.graph.exchange._OUT_OF_USE", 40)
    able = {f"roles/{role_id}.yaml": _plain(role_id, "lamp") for role_id in ROLES}
    tree = write_tree(tmp_path, {**TREE, **able})
    request = resolve_paths(["."], str(tree))
    loader = Loader(request, {})
    for number in range(60):
        write_tree(tmp_path, {"roles/dev.yaml": _plain("dev", f"tool_{number}, lamp, tool_{number}_too")})
        columns = loader.load().organizations["shop"].columns
        assert len(columns.columns()[0]) - len(columns) <= len(columns) // 8 + 40
    assert everything(loader.load()) == everything(Loader(request, {}).load())


def _plain(role_id: str, tools: str) -> str:
    able = f"capabilities: {{bst_domains: [codegen], tools_primary: [{tools}]}}"
    return f"_schema: orgkernel:role_profile\nrole_id: {role_id}\n{able}\n"


def test_what_is_not_certain_is_compared_whole(tmp_path: Path) -> None:
    """Files that come, go, become links or folders are noticed by a load that is told of their paths."""
    able = {f"roles/{role_id}.yaml": _plain(role_id, "lamp") for role_id in ROLES}
    tree = write_tree(tmp_path, {**TREE, **able})
    request = resolve_paths(["."], str(tree))
    told = Loader(request, {})
    told.load()

    def come(path: Path) -> None:
        path.write_text(_plain("late", "lamp"), encoding="utf-8")

    def become_a_link(path: Path) -> None:
        path.unlink()
        path.symlink_to(tree / "roles/co.yaml")

    def become_a_folder(path: Path) -> None:
        path.unlink()
        path.mkdir()
        (path / "note.yaml").write_text(_plain("late", "lamp"), encoding="utf-8")

    edits = [
        (tree / "roles/late.yaml", come),
        (tree / "roles/late.yaml", Path.unlink),
        (tree / "roles/late", Path.mkdir),
        (tree / "roles/dev.yaml", become_a_link),
        (tree / "roles/ops.yaml", become_a_folder),
        (tree / "roles", lambda path: path.rename(tree / "people")),
    ]
    for path, edit in edits:
        edit(path)
        assert everything(told.load([str(path)])) == everything(Loader(request, {}).load())


def test_only_what_is_told_of_is_looked_at(tmp_path: Path) -> None:
    """Told of one file, and of what an editor left for a moment, a load does not see the others; the next one does."""
    able = {f"roles/{role_id}.yaml": _plain(role_id, "lamp") for role_id in ROLES}
    tree = write_tree(tmp_path, {**TREE, **able})
    request = resolve_paths(["."], str(tree))
    told = Loader(request, {})
    told.load()
    write_tree(tmp_path, {"roles/dev.yaml": _plain("dev", "shell"), "roles/ops.yaml": _plain("ops", "shell")})
    index = (
        told.load([str(tree / "roles/dev.yaml"), str(tree / "roles/dev.yaml~")]).organizations["shop"].index
    )
    assert [edge.source for edge in index.holders_of("shell")] == ["dev"]
    assert everything(told.load()) == everything(Loader(request, {}).load())
