"""Files that a person copied or wrote by hand apply as written, and a bundle that disagrees with them is ignored."""

from __future__ import annotations

import copy
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from extension.host import gate
from extension.host.organization import Active, find_active
from orgkernel import Kernel
from orgkernel.exchange.agent_zero.compiling import compile_bundle
from orgkernel.exchange.agent_zero.specification import build_organization_form, build_role_form
from orgkernel.runtime.bundle import read_bundle
from orgkernel.runtime.text_index import rank_roles
from tests.agent_zero.installing import compiled
from tests.support.trees import REPOSITORY

SHIPPED = REPOSITORY / "extension/organizations"
Change = Callable[[dict[str, Any], dict[str, Any]], None]


def put(folder: Path, document: Any, profiles: dict[str, Any]) -> None:
    """Write the files as a person would."""
    (folder / "roles").mkdir(parents=True, exist_ok=True)
    (folder / "active.json").write_text(json.dumps(document), encoding="utf-8")
    for role_id, profile in profiles.items():
        text = profile if isinstance(profile, str) else json.dumps(profile)
        (folder / "roles" / f"{role_id}.json").write_text(text, encoding="utf-8")


def bring(folder: Path, *org_ids: str) -> None:
    """Bring the bundles that the installer brings."""
    (folder / "bundles").mkdir(parents=True, exist_ok=True)
    for org_id in org_ids:
        text = (SHIPPED / f"bundles/{org_id}.json").read_text(encoding="utf-8")
        (folder / f"bundles/{org_id}.json").write_text(text, encoding="utf-8")


def files_of(org_id: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """An organization and its roles in the form of the specification."""
    bundle = copy.deepcopy(compiled(org_id))
    return bundle["organization"]["document"], {
        role_id: role["profile"] for role_id, role in bundle["roles"].items()
    }


def load(folder: Path) -> Active:
    """What is in force."""
    active, error = find_active(str(folder))
    assert error is None, error
    assert active is not None
    return active


def refused(active: Active, role_id: str, tool: str, action: str | None = None, **arguments: Any) -> bool:
    role = active.bundle.roles[role_id]
    return gate.judge(active, role, tool, action, (), lambda _: False, arguments) is not None


def test_a_shipped_file_that_was_copied_uses_what_was_compiled_from_it(tmp_path: Path) -> None:
    """Its bundle came with it, and says the same."""
    bring(tmp_path, "software_dev")
    text = (SHIPPED / "software_dev.json").read_text(encoding="utf-8")
    (tmp_path / "active.json").write_text(text, encoding="utf-8")
    active = load(tmp_path)
    assert active.compiled
    assert active.remarks == ()
    assert refused(active, "bugfix_specialist", "browser_agent")


def test_the_same_file_without_its_bundle_acts_as_it_says(tmp_path: Path) -> None:
    """Tools, delegation, tiers and the choice of a role by the message are all there, and the log says what is not."""
    document, profiles = files_of("software_dev")
    put(tmp_path, document, profiles)
    active = load(tmp_path)
    assert not active.compiled
    assert not refused(active, "bugfix_specialist", "code_execution_tool", "terminal")
    assert refused(active, "bugfix_specialist", "browser_agent")
    assert active.bundle.roles["research_xo"].delegates_to == ("analysis_specialist", "osint_specialist")
    assert active.plans["bugfix_specialist"].tiers["contingent"].trigger is not None
    assert active.words is not None
    best = rank_roles(active.words, "Fix the bug in parser.py").ranked[0]
    assert active.words.roles[best.role] == "bugfix_specialist"
    assert active.remarks[0].startswith("The organization is compiled from active.json and roles/*.json\n")


def _tools(document: dict[str, Any], profiles: dict[str, Any]) -> None:
    profiles["bugfix_specialist"]["capabilities"]["tools_primary"] = ["browser_agent"]


def _hierarchy(document: dict[str, Any], profiles: dict[str, Any]) -> None:
    document["hierarchy"]["research_xo"]["subordinates"].append("devops_specialist")
    document["hierarchy"]["engineering_xo"]["subordinates"].remove("devops_specialist")


@pytest.mark.parametrize(
    ("change", "named"), [(_tools, "roles/bugfix_specialist.json"), (_hierarchy, "active.json")]
)
def test_an_edited_file_beside_an_old_bundle_acts_as_edited(
    tmp_path: Path, change: Change, named: str
) -> None:
    """The bundle of the same name does not take its place, and the log says which file was changed."""
    bring(tmp_path, "software_dev", "sigint_alpha")
    document, profiles = files_of("software_dev")
    put(tmp_path, document, profiles)
    assert load(tmp_path).compiled
    change(document, profiles)
    put(tmp_path, document, profiles)
    active = load(tmp_path)
    assert not active.compiled
    assert named in active.remarks[0]
    assert active.remarks[0].startswith("Files were changed since bundles/software_dev.json was compiled")
    roles = active.bundle.roles
    if change is _tools:
        assert not refused(active, "bugfix_specialist", "browser_agent")
        assert refused(active, "bugfix_specialist", "code_execution_tool")
        assert refused(active, "bugfix_specialist", "scheduler")
    else:
        assert roles["devops_specialist"].chain == ("research_xo", "co", "user")
        assert "devops_specialist" in roles["research_xo"].delegates_to
        assert "devops_specialist" not in roles["engineering_xo"].delegates_to
        assert any(
            remark.startswith("Role devops_specialist reports to research_xo\n") for remark in active.remarks
        )
    assert active.bundle.aliases["coding"] == "codegen"
    assert roles["devops_specialist"].host_tools == read_bundle(compiled("software_dev")).roles["devops_specialist"].host_tools  # fmt: skip


def test_an_organization_of_ones_own_with_a_shipped_name_is_ones_own(tmp_path: Path) -> None:
    """Not the shipped one, of which only the words of domains and the names of tools are taken."""
    bring(tmp_path, "software_dev", "sigint_alpha")
    role = {"role_id": "co", "role_type": "commander", "capabilities": {"tools_primary": ["wait"]}}
    put(tmp_path, {"org_id": "software_dev", "hierarchy": {"co": {}}}, {"co": role})
    active = load(tmp_path)
    assert list(active.bundle.roles) == ["co"]
    assert active.bundle.roles["co"].host_tools == {"wait", "response", "call_subordinate"}
    assert set(active.bundle.dispatch.values()) == {None}
    assert active.bundle.limits.max_spawn_depth == 3
    assert refused(active, "co", "code_execution_tool")


def test_what_an_activation_found_in_its_way_is_not_read(tmp_path: Path) -> None:
    """`kept_roles` names role files of other authors, which stay in place and have no effect."""
    bring(tmp_path, "software_dev")
    document, profiles = files_of("software_dev")
    profiles["co"] = {"role_id": "co", "role_name": "Somebody else's"}
    put(tmp_path, {**document, "x_orgkernel": {"kept_roles": ["co"]}}, profiles)
    assert load(tmp_path).compiled


@pytest.mark.parametrize(
    ("write", "remark"),
    [
        ({"co": None}, "Role co is left out\nroles/co.json is missing"),
        ({"co": "{"}, "Role co is left out\nco.json is not valid JSON"),
        ({"co": "[]"}, "Role co is left out\nroles/co.json is not its profile."),
        ({"co": '{"role_id": "xo"}'}, "Role co is left out\nroles/co.json is not its profile."),
        ({"co": json.dumps({"description": "x" * 1_100_000})}, "Role co is left out\nco.json is larger than 1,000,000"),
        ({"co": {"capabilities": {"tools_primary": ["sledgehammer"]}}}, "Role co has tools that no catalog here knows\nsledgehammer"),
        ({"co": {}}, "Role co lists no tools\n"),
        ({"co": {"capabilities": {"tools": [{"tool": "wait", "level": "read"}]}}}, "Role co does not get tools at a lower level\n"),
        ({"co": {"chain_of_command": {"reports_to": "xo"}}, "xo": {"chain_of_command": {"reports_to": "co"}, "role_type": "commander"}}, "Roles report to each other in a circle\nco, xo"),
        ({"co": {"pace_plan": {"alternate": {"trigger": "failures => 3"}}}}, "The trigger of alternate of role co is never true\n`=>` is not an operator of triggers; write `>=`."),
        ({"co": {"pace_plan": {"alternate": {"trigger": "no_such_thing > 3"}}}}, "The trigger of alternate of role co is never true\nname `no_such_thing` is unknown"),
        ({"co": {"clearance": "full", "capabilities": {"wings": 2}}}, "Parts of roles/*.json are not enforced\nclearance (co), capabilities.wings (co)"),
        ({"co": {"role_type": "emperor"}}, "Parts of roles/*.json are not enforced\nrole_type emperor (co)"),
        ({"co": {"chain_of_command": {"reports_to": "xo"}}, "active": {"hierarchy": {"co": {}, "xo": {}, "boss": {"subordinates": ["co"]}}}}, "Role co reports to boss\n"),
        ({"active": {"separations": {"s": {}}, "rank_matrix": "m"}}, "Parts of active.json are not enforced\nseparations, rank_matrix"),
        ({"active": {"limits": {"max_spawn_depth": "deep"}}}, "Limits in active.json cannot be read\nmax_spawn_depth"),
        ({"co": {"file_scope": ["src/**"], "capabilities": {"tools_primary": ["text_editor", "wait"]}}}, "The file scope of role co is checked for some tools only\n"),
    ],
)  # fmt: skip
def test_what_has_no_effect_is_said(tmp_path: Path, write: dict[str, Any], remark: str) -> None:
    """In a heading of its own, and the rest works."""
    bring(tmp_path, "software_dev")
    document = {"org_id": "mine", "hierarchy": {"co": {}, "xo": {}}, **write.pop("active", {})}
    profiles = {each: {"capabilities": {"tools_primary": ["wait"]}} for each in ("co", "xo")} | write
    put(tmp_path, document, {role_id: each for role_id, each in profiles.items() if each is not None})
    active = load(tmp_path)
    assert [each for each in active.remarks if each.startswith(remark)], active.remarks
    assert refused(active, "xo", "browser_agent")
    assert not refused(active, "xo", "response")
    if "circle" in remark:
        assert all(not role.delegates_to for role in active.bundle.roles.values())


def test_a_file_scope_is_held_without_a_bundle(tmp_path: Path) -> None:
    """As in a compiled bundle."""
    tools = {"tools_primary": ["text_editor", "code_execution_tool"]}
    put(
        tmp_path,
        {"org_id": "mine", "hierarchy": {"co": {}}},
        {"co": {"file_scope": ["src/**"], "capabilities": tools}},
    )
    active = load(tmp_path)
    assert refused(active, "co", "text_editor", "write", path="/etc/passwd")
    assert not refused(active, "co", "text_editor", "write", path="src/a.py")
    assert not refused(active, "co", "text_editor", "read", path="/etc/passwd")
    assert refused(active, "co", "code_execution_tool", "terminal", code="rm -r /")


NASTY: list[Any] = [None, True, 0, -1, 1e308, "", "co", "../../etc/passwd", "\ud800", [], ["co"], [["co"]], {}, {"co": "co"}, [None], "x" * 3_000]  # fmt: skip
PLACES = [
    ("active", "hierarchy"), ("active", "org_name"), ("active", "domain_routing"), ("active", "dispatch_edges"), ("active", "mode"),
    ("active", "x_orgkernel"), ("active", "limits"), ("active", "limits", "delegation"), ("active", "limits", "max_children"), ("active", "hierarchy", "co"), ("active", "hierarchy", "co", "subordinates"),
    ("co", "role_id"), ("co", "role_type"), ("co", "role_name"), ("co", "chain_of_command"), ("co", "chain_of_command", "reports_to"),
    ("co", "capabilities"), ("co", "capabilities", "tools_primary"), ("co", "capabilities", "tools"), ("co", "capabilities", "bst_domains"),
    ("co", "capabilities", "skills"), ("co", "pace_plan"), ("co", "pace_plan", "alternate"), ("co", "pace_plan", "alternate", "trigger"),
    ("co", "doctrine"), ("co", "doctrine", "max_turns_without_progress"), ("co", "handoff"), ("co", "file_scope"), ("co", "layer"),
]  # fmt: skip


@pytest.mark.parametrize("place", PLACES, ids="/".join)
def test_no_value_in_any_place_is_a_trap(tmp_path: Path, place: tuple[str, ...]) -> None:
    """Either the organization works, and `response` always may be called, or the error says what is wrong."""
    for nasty in NASTY:
        co = {
            "capabilities": {"tools_primary": ["wait"]},
            "layer": "one",
            "pace_plan": {"alternate": {}},
            "doctrine": {},
            "chain_of_command": {},
        }
        whole: dict[str, Any] = {
            "active": {"org_id": "mine", "hierarchy": {"co": {}}, "limits": {}},
            "co": co,
        }
        inner = whole
        for step in place[:-1]:
            inner = inner[step]
        inner[place[-1]] = nasty
        put(tmp_path, whole["active"], {"co": whole["co"]})
        find_active.__globals__["_held"].clear()
        active, error = find_active(str(tmp_path))
        if active is None:
            assert error, nasty
            assert "Error" not in error, (nasty, error)
        else:
            for role_id in active.bundle.roles:
                assert not refused(active, role_id, "response")
            assert all(len(each) < 2_000 for each in active.remarks)
            json.dumps([role.brief for role in active.bundle.roles.values()], ensure_ascii=False).encode()


def test_a_huge_organization_is_read_in_time(tmp_path: Path) -> None:
    """No more roles than can be used, and not for long; a file that is larger than anything is refused."""
    names = [f"role_{number}" for number in range(1_200)]
    document = {"org_id": "mine", "hierarchy": {name: {"subordinates": names} for name in names[:300]}}
    profile = {
        "description": "Mends the roof of the house " * 90,
        "capabilities": {"tools_primary": ["wait"] * 3_000},
    }
    put(tmp_path, document, dict.fromkeys(names[:200], profile))
    before = time.process_time()
    active = load(tmp_path)
    assert time.process_time() - before < 5
    assert len(active.bundle.roles) == 200
    assert len(active.remarks) <= 25
    (tmp_path / "active.json").write_text(" " * 20_000_001, encoding="utf-8")
    _, error = find_active(str(tmp_path))
    assert error is not None
    assert error.startswith("active.json is larger than 20,000,000 bytes")


SAME = ("reports_to", "chain", "subordinates", "can_delegate", "delegates_to", "domains", "plans", "host_tools", "essential", "pace", "max_turns", "file_scope")  # fmt: skip


@pytest.mark.parametrize("org_id", ["software_dev", "sigint_alpha"])
def test_by_hand_equals_the_bundle(tmp_path: Path, org_id: str) -> None:
    """What the files of a shipped organization say is all that its bundle says of takers, tools, command and tiers."""
    view = Kernel.open().latest(org_id).index
    other = "sigint_alpha" if org_id == "software_dev" else "software_dev"
    bring(tmp_path, other)
    put(
        tmp_path,
        build_organization_form(view),
        {role_id: build_role_form(view, role_id) for role_id in view.roles},
    )
    active = load(tmp_path)
    hand, bundle = active.bundle, read_bundle(json.loads(json.dumps(compile_bundle(view, "tests"))))
    assert active.words is not None
    assert bundle.text_index is not None
    assert active.words.domains
    assert active.words.domains.items() <= bundle.text_index.domains.items()
    assert hand.dispatch == bundle.dispatch
    assert hand.limits == bundle.limits
    assert list(hand.roles) == list(bundle.roles)
    for role_id, role in bundle.roles.items():
        own = hand.roles[role_id]
        for name in SAME:
            assert getattr(own, name) == getattr(role, name), (role_id, name)
        assert set(own.tools) == set(role.tools)
        assert own.role_name in own.brief
        assert len(own.brief) < 500
    for name, tool in bundle.tools.items():
        assert set(hand.tools[name].roles) == set(tool.roles)
        assert hand.tools[name].path_arguments == tool.path_arguments
