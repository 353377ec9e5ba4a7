"""What is exported, read again, says the same where the format can, opens nothing, and the report counts the rest."""

from __future__ import annotations

import copy
import json
import tempfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from orgkernel.decisions.access.circumstances import CIRCUMSTANCES, read_circumstances
from orgkernel.decisions.access.decide import decide_access
from orgkernel.decisions.access.listing import what_can
from orgkernel.decisions.access.request import AccessContext, AccessRequest
from orgkernel.documents.role_fields import ROLE_FIELDS, RoleField
from orgkernel.exchange import backstage
from orgkernel.exchange.a2a import export as a2a
from orgkernel.exchange.agents import claude_code, copilot, crewai
from orgkernel.exchange.agents.roster import ExportedRole, HeldTool, build_roster
from orgkernel.exchange.exported import ConvertedFiles
from orgkernel.exchange.formats import EXPORTS
from orgkernel.graph.questions import OrgView
from orgkernel.graph.schema import EdgeKind
from orgkernel.loading.formats import FORMATS
from orgkernel.loading.formats.copilot.words import holds
from orgkernel.loading.formats.names import convert_to_id
from orgkernel.loading.formats.roles import build_tool_id_from_name
from tests.exchange.organizations import (
    ALL_TEMPLATES,
    guarded_documents,
    hostile_documents,
    template_view,
    view_of,
)
from tests.support.edited_trees import Edit, edited, edits, small_documents, template_documents
from tests.support.trees import read, write_tree

TOOL_LOSSES = frozenset(
    (
        "tools that a role may use in part", "tools that depend on circumstances", "tools that need approval",
        "tools that a role lists and may not use", "tools that have no name in the host", "tools that allow more in the host",
        "tools that share a name in the host", "tools that call agents", "delegation without subordinates", "tools of the manager",
        "tools that cannot be modules",
    )
)  # fmt: skip


class Reading(NamedTuple):
    """How a format is read again."""

    derive_name: Callable[[HeldTool], str | None]
    """What the imported organization calls a tool of ours."""
    prepare: Callable[[Path], None] = lambda folder: None
    """What users of the format have beside the exported files."""


def _claude_name(held: HeldTool) -> str | None:
    return claude_code.find_host_name(held.id, held.tool.names)


def _claude_servers(folder: Path) -> None:
    """The servers that some agent names are there."""
    servers = {}
    for path in (folder / ".claude/agents").glob("*.md"):
        for word in yaml.safe_load(path.read_text().split("---\n")[1])["tools"]:
            if word.startswith("mcp__"):
                servers[word.split("__")[1]] = {"command": "server"}
    if servers:
        (folder / ".mcp.json").write_text(json.dumps({"mcpServers": servers}))


def _crew_tools(folder: Path) -> None:
    """The tools of the project, which its users write."""
    (folder / "tools").mkdir()
    for path in folder.glob("agents/*.jsonc"):
        for word in json.loads(path.read_text().split("\n", 1)[1])["tools"]:
            name = word.removeprefix("custom:")
            (folder / f"tools/{name}.py").write_text(f"class {name.title()}(BaseTool):\n    pass\n")


def _crew_name(held: HeldTool) -> str | None:
    name = crewai.find_host_name(held)
    return None if name is None else build_tool_id_from_name(name)


def _copilot_name(held: HeldTool) -> str | None:
    return copilot.find_host_tool(held.id, held.tool.names)


def _copilot_servers(folder: Path) -> None:
    servers = {}
    for path in (folder / ".github/agents").glob("*.md"):
        for word in yaml.safe_load(path.read_text().split("---\n")[1])["tools"]:
            servers[word.partition("/")[0]] = {"command": "server"}
    (folder / ".vscode").mkdir()
    (folder / ".vscode/mcp.json").write_text(json.dumps({"servers": servers}))


READINGS: Mapping[str, Reading] = {
    "claude-code": Reading(_claude_name, _claude_servers),
    "copilot": Reading(_copilot_name, _copilot_servers),
    "agent-spec": Reading(
        lambda held: None if held.delegates else convert_to_id(held.name_in("agent_spec") or held.id)
    ),
    "crewai": Reading(_crew_name, _crew_tools),
}
READABLE = tuple(name for name in READINGS if name in FORMATS)


def list_contexts(view: OrgView) -> list[AccessContext]:
    """No circumstance, some that no policy may name, and what each condition of a policy names; at night, and on a Saturday."""
    policies = [each.record.match for each in view.records.policies.values()]
    named = [
        {name: value for name in CIRCUMSTANCES if (value := getattr(each, name)) is not None}
        for match in policies
        for each in read_circumstances(match)
    ]
    stated = [
        {},
        {"alert": "RED", "watch": "alpha", "channel": "slack"},
        dict.fromkeys(CIRCUMSTANCES, ""),
        *named,
    ]
    distinct = [each for number, each in enumerate(stated) if each not in stated[:number]]
    return [AccessContext(now=now, **each) for each in distinct for now in (0.0, 216_000.0)]


def read_again(export: ConvertedFiles, target: str) -> OrgView:
    """The organization that the exported files describe to a reader without orgkernel."""
    with tempfile.TemporaryDirectory() as folder:
        write_tree(Path(folder), export.files)
        READINGS[target].prepare(Path(folder))
        (organization,) = read(Path(folder)).organizations.values()
        return organization.index


def tools_in(view: OrgView, role: str) -> set[str]:
    """What a role may use, or may use after it was asked, whatever the circumstances are."""
    rows = what_can(view, f"role:{role}")
    return {
        row.resource.partition(":")[2]
        for row in rows
        if row.outcome in ("allow", "ask") and not row.conditions
    }


def check_laws(view: OrgView, target: str) -> None:
    """Every law about one organization and one format."""
    export = EXPORTS[target].export(view)
    roster = build_roster(view)
    if not roster.roles:
        return
    again = read_again(export, target)
    lost = {each.what: each.count for each in export.lost}
    assert set(again.roles) == set(roster.names.values())
    assert len(lost) == len(export.lost)
    derive_name = READINGS[target].derive_name
    contexts = list_contexts(view)
    asked = asked_in(export, target)
    given = elsewhere = 0
    for role in roster.roles.values():
        post = again.records.posts[role.name].profile
        there = tools_in(again, role.name)
        for name in there:
            same = [each for each in role.tools if derive_name(each) == name]
            # A set or a server holds tools that only the host knows.
            inside = any(holds(other, name) for other in there)
            # The host limits whom it may start, which is read as the whole tool.
            starts = name in ("Agent", "Task") and bool(role.subordinates)
            assert same or inside or starts, f"{role.id} got {name}, which nothing of ours is"
            if starts:
                continue
            given += len(same)
            for held in same:
                check_given(view, role.id, held, contexts, may_ask=name in asked)
        if calls_others(export, target, role):
            elsewhere += sum(calls(held) for held in role.held("given"))
        assert (again.get_superior(role.name) is None) or again.get_superior(
            role.name
        ) in roster.names.values()
        if target != "crewai":
            assert post.description == role.description
        assert post.requirements.preferred_model == role.model_in(target.replace("-", "_"))
    differing = sum(
        again.get_superior(role.name) != (superior and roster.names.get(superior, "nobody"))
        for role in roster.roles.values()
        for superior in [view.get_superior(role.id)]
    )
    assert lost.get("chain of command", 0) == differing
    listed = sum(len(role.tools) for role in roster.roles.values())
    reported = sum(count or 0 for what, count in lost.items() if what in TOOL_LOSSES)
    assert listed == given + elsewhere + reported


def check_given(
    view: OrgView, role: str, held: HeldTool, contexts: Iterable[AccessContext], *, may_ask: bool
) -> None:
    """Nothing is given that our own decision refuses: every action, in every circumstance that a policy names, and in none."""
    allowed = {"allow", "ask"} if may_ask else {"allow"}
    for action in held.tool.required_levels:
        for context in contexts:
            request = AccessRequest(f"role:{role}", action, f"tool:{held.id}", context)
            assert decide_access(view, request).outcome in allowed, (role, held.id, action)


def asked_in(export: ConvertedFiles, target: str) -> set[str]:
    """The tools that the format asks for before they are used."""
    if target == "agent-spec":
        components = (
            yaml.load(text, yaml.CSafeLoader).get("$referenced_components", {})
            for text in export.files.values()
        )
        known = [each for found in components for each in found.values()]
        return {convert_to_id(each["name"]) for each in known if each["requires_confirmation"]}
    if target != "claude-code" or claude_code.SETTINGS not in export.files:
        return set()
    return set(json.loads(export.files[claude_code.SETTINGS])["permissions"].get("ask", ()))


def calls_others(export: ConvertedFiles, target: str, role: ExportedRole) -> bool:
    """Whether the format says, without a tool of ours, that a role calls just its subordinates."""
    if target == "crewai":
        crew = json.loads(export.files["crew.jsonc"].split("\n", 1)[1])
        return crew.get("manager_agent") == role.name
    if target != "claude-code":
        return target == "agent-spec" and bool(role.subordinates)
    front = yaml.safe_load(export.files[f"{claude_code.FOLDER}/{role.name}.md"].split("---\n")[1])
    return any(each.startswith("Agent(") for each in front["tools"])


def calls(held: HeldTool) -> bool:
    return (
        held.delegates or held.name_in(claude_code.HOST) in ("Agent", "Task") or held.id in ("Agent", "Task")
    )


@pytest.mark.parametrize("target", READABLE)
@pytest.mark.parametrize("template", ALL_TEMPLATES)
def test_templates_keep_the_laws(template: str, target: str) -> None:
    """All of them, in every format."""
    check_laws(template_view(template), target)


@pytest.mark.parametrize("target", READABLE)
@pytest.mark.parametrize("documents", [guarded_documents, hostile_documents])
def test_organizations_made_for_exports_keep_the_laws(
    documents: Callable, target: str, tmp_path: Path
) -> None:
    """They hold what the templates do not: guards, and texts that are meant to break a format."""
    check_laws(view_of(tmp_path, documents()), target)


@pytest.mark.parametrize("start", [small_documents, lambda: template_documents("software_dev")])
@settings(max_examples=3, phases=(Phase.generate,))
@given(changes=st.lists(edits(), min_size=1, max_size=8), target=st.sampled_from(READABLE))
def test_edited_organizations_keep_the_laws(start: Callable, changes: Iterable[Edit], target: str) -> None:
    """Whatever roles, tools and the hierarchy become."""
    documents = edited(start(), list(changes))
    with tempfile.TemporaryDirectory() as folder:
        write_tree(Path(folder), {name: json.dumps(each) for name, each in documents.items()})
        organizations = read(Path(folder)).organizations
    for organization in organizations.values():
        check_laws(organization.index, target)


@pytest.mark.parametrize("template", ["starship", "omega"])
def test_skills_are_read_again(template: str, tmp_path: Path) -> None:
    """The name, description and text of each skill that a role has."""
    view = template_view(template)
    write_tree(tmp_path, EXPORTS["skills"].export(view).files)
    (organization,) = read(tmp_path).organizations.values()
    found = {name: each.record for name, each in organization.index.records.cognitive_skills.items()}
    assert len(found) == len(list(tmp_path.glob("skills/*/SKILL.md")))
    known = view.records.cognitive_skills
    kept = {name: each.record for name, each in known.items() if view.list_sources_to(EdgeKind.KNOWS, name)}
    assert {
        name: (found[name].description, found[name].body.strip(), found[name].metadata) for name in kept
    } == {name: (each.description, each.body.strip(), each.metadata) for name, each in kept.items()}


# A field of the organization, and a value that it does not have by default.
_ORGANIZATION: Mapping[str, object] = {
    "org_name": "Other", "mission": {"objective": "x"}, "communication_channels": {"c": {"allowed_pairs": [["a", "b"]]}},
    "domain_routing": {"codegen": ["a"]}, "dispatch_edges": [{"from": "l", "to": "l"}], "limits": {"max_children": 2},
    "separations": {"s": {"roles": ["a", "b"]}},
}  # fmt: skip


def with_value(profile: Mapping[str, Any], field: RoleField) -> dict[str, Any]:
    """A profile that says one field."""
    changed = copy.deepcopy(dict(profile))
    inner = changed
    for step in field.route[:-1]:
        inner = inner.setdefault(step, {})
    inner[field.route[-1]] = field.another
    return changed


def test_no_field_is_lost_in_silence(tmp_path: Path) -> None:
    """Each field of a role, and those of the organization that roles work by, change a file or the report, in every format."""
    fields = {"__".join(field.route): field for field in ROLE_FIELDS}
    trees: dict[str, str] = {}
    for name in ("plain", *fields, *_ORGANIZATION):
        documents = small_documents()
        documents["org.json"] |= {
            "org_id": f"o_{name}",
            "org_name": "Small",
            "layers": ["l"],
            "departments": {"d": {}},
        }
        # The hierarchy would decide to whom the role reports; a card requires a description.
        documents["org.json"]["hierarchy"]["a"]["subordinates"].remove("b")
        documents["roles/b.json"]["description"] = "Is there."
        if name in fields:
            documents["roles/b.json"] = with_value(documents["roles/b.json"], fields[name])
        elif name in _ORGANIZATION:
            documents["org.json"][name] = _ORGANIZATION[name]
        documents["ranks.json"] = {
            "_schema": "orgkernel:rank_ladder",
            "ranks": [{"id": "recruit"}, {"id": "ensign"}],
        }
        trees |= {f"{name}/{path}": json.dumps(each) for path, each in documents.items()}
        trees[f"{name}/skills/exist/SKILL.md"] = "---\nname: exist\ndescription: Be there.\n---\nBe there.\n"
    organizations = {
        org_id: each.index for org_id, each in read(write_tree(tmp_path, trees)).organizations.items()
    }
    in_access = {f"o_{name}" for name, field in fields.items() if field.decides == "access"}
    about_roles = {f"o_{name}" for name in fields}
    for target in (*READABLE, "agent-framework", "a2a", "backstage", "cedar", "opa"):
        export = EXPORTS[target].export
        plain = _said(export(organizations["o_plain"]), "o_plain")
        silent = {org_id for org_id, view in organizations.items() if _said(export(view), org_id) == plain}
        expected = set(organizations)
        if target in ("cedar", "opa"):
            expected = in_access
        elif target in ("a2a", "backstage"):
            expected = about_roles
        assert silent & expected == {"o_plain"} & expected, target


def test_what_a_target_says_is_a_field() -> None:
    """A misspelled name would hide nothing and count what is said."""
    routes = {".".join(field.route) for field in ROLE_FIELDS}
    assert {*a2a.EXPRESSED, *backstage.EXPRESSED} - routes == set()


def _said(export: ConvertedFiles, org_id: str) -> tuple[object, ...]:
    files = {path: text.replace(org_id, "") for path, text in export.files.items()}
    return files, [(each.what, each.count) for each in export.lost]
