"""The graph that callers get: everything an organization sees, with kinds, names and places."""

from __future__ import annotations

from pathlib import Path

import networkx

from orgkernel import Kernel
from orgkernel.graph.export import build_networkx
from orgkernel.graph.schema import SCHEMA, EdgeKind
from tests.support.trees import write_tree

TREE = {
    "org.yaml": """\
_schema: orgkernel:organization
org_id: shop
hierarchy: {co: {subordinates: [dev]}, dev: {}}
departments: {front: {name: Front of house}}
""",
    "roles/co.yaml": "_schema: orgkernel:role_profile\nrole_id: co\nrole_type: commander\nentry_rank: senior\n",
    "roles/dev.yaml": """\
_schema: orgkernel:role_profile
role_id: dev
role_name: Developer
department: front
capabilities:
  bst_domains: [codegen]
  tools_primary: [shell]
  tools: [{tool: shell, level: read}]
  skills: [{skill: ghost, min_proficiency: 3, optional: true}]
""",
    "tools.yaml": """\
_schema: orgkernel:tool_catalog
tools:
  shell: {type: computer_use, name: Shell, falls_back_to: [lamp]}
  lamp: {type: remote_api}
""",
    "ladder.yaml": "_schema: orgkernel:rank_ladder\nranks: [{id: senior, name: Senior}]\n",
    "crew.yaml": "_schema: orgkernel:crew_roster\nagents: {ada: {callsign: Ada, assignments: [{role: dev}]}}\n",
}


def graph_of(tmp_path: Path) -> networkx.MultiDiGraph[str]:
    """The graph of the shop, also where its documents are not sound."""
    write_tree(tmp_path, TREE)
    organization = Kernel.open(tmp_path).latest("shop")
    return build_networkx(organization.records, organization.columns)


def place(found: dict[str, object]) -> tuple[str, object]:
    return Path(str(found["file"])).name, found["line"]


def test_nodes_say_what_they_are_and_where_they_are_declared(tmp_path: Path) -> None:
    """Kinds, names and places of things of every sort; what nothing declares has no place."""
    nodes = graph_of(tmp_path).nodes
    for name, found in nodes.items():
        assert name == f"{found['kind']}:{found['id']}"
        assert found["name"]
    declared = {
        "organization:shop": ("Shop", ("org.yaml", 2)),
        "role:dev": ("Developer", ("dev.yaml", 2)),
        "department:front": ("Front of house", ("org.yaml", 4)),
        "tool:shell": ("Shell", ("tools.yaml", 3)),
        "tool:lamp": ("lamp", ("tools.yaml", 4)),
        "rank:senior": ("Senior", ("ladder.yaml", 2)),
        "agent:ada": ("Ada", ("crew.yaml", 2)),
    }
    for name, (called, written) in declared.items():
        assert (nodes[name]["name"], place(nodes[name])) == (called, written), name
    assert nodes["skill:ghost"] == {"kind": "skill", "id": "ghost", "name": "ghost"}


def test_edges_say_what_their_documents_say(tmp_path: Path) -> None:
    """Every sentence is an edge, two about the same pair as well, with its attribute taken apart and its line."""
    graph = graph_of(tmp_path)

    def said(source: str, target: str) -> list[dict[str, object]]:
        rows = graph[source][target].values()
        return [{k: v for k, v in row.items() if k not in ("file", "line", "column")} for row in rows]

    assert said("role:dev", "role:co") == [{"kind": "reports_to", "said_by": "hierarchy"}]
    assert said("role:dev", "tool:shell") == [
        {"kind": "equipped_with", "preference": "primary", "level": "full"},
        {"kind": "equipped_with", "preference": "stated", "level": "read"},
    ]
    assert said("role:dev", "skill:ghost") == [{"kind": "requires", "need": "optional", "proficiency": "3"}]
    assert said("agent:ada", "role:dev") == [{"kind": "fills", "watches": "alpha"}]
    assert [place(row) for row in graph["role:dev"]["tool:shell"].values()] == [
        ("dev.yaml", 7),
        ("dev.yaml", 8),
    ]


def test_the_graph_is_the_callers_own() -> None:
    """Whatever is done to one graph, the next one is as before, and the kernel answers as before."""
    kernel = Kernel.open()
    first = kernel.graph("software_dev")
    before = len(first), first.size()
    first.clear()
    again = kernel.graph("software_dev")
    assert (len(again), again.size()) == before
    assert kernel.dispatch("software_dev", "codegen").role_id == "codegen_specialist"


def test_what_an_edge_says_besides_has_a_name() -> None:
    """Every kind whose edges have an attribute names its parts, and the other way round."""
    for kind in EdgeKind:
        row = SCHEMA[kind]
        assert bool(row.attribute) == bool(row.parts)
        assert row.read_attribute("") == {}
