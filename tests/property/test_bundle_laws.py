"""Laws of the bundle: what a host reads from it is what the decisions answer, for every organization there is."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from extension.host import delegation
from orgkernel.decisions.access.decide import decide_access
from orgkernel.decisions.access.request import AccessContext, AccessRequest
from orgkernel.decisions.dispatch.by_domain import decide_dispatch
from orgkernel.exchange.agent_zero.compiling import compile_bundle, render_bundle
from orgkernel.graph.assemble import assemble
from orgkernel.graph.questions import OrgView
from orgkernel.kernel.kernel import Kernel
from orgkernel.runtime.bundle import Bundle, BundleLimits, BundleRole, find_role, read_bundle
from tests.reference.organizations import WORDS, build_tree, build_views, trees
from tests.support.trees import REPOSITORY

KERNEL = Kernel.open()
TEMPLATES = tuple(KERNEL.state.served)


def compiled(view: OrgView) -> Bundle:
    """What a host holds: compiled, written, read again."""
    return read_bundle(json.loads(render_bundle(compile_bundle(view, "orgkernel test"))))


def assert_bundle_equals_decisions(view: OrgView, bundle: Bundle) -> None:
    for word in (*WORDS, *view.records.domains, *view.records.aliases, "", "unheard of"):
        choice, decision = find_role(bundle, word), decide_dispatch(view, word)
        chosen = choice.role.role_id if choice.role else None
        assert (chosen, choice.domain) == (decision.role_id, decision.domain), word
        assert choice.reason
    assert list(bundle.roles) == list(view.roles)
    for role_id, role in bundle.roles.items():
        subject = f"role:{role_id}"
        allowed = set(role.essential)
        for tool_id, definition in view.records.tools.items():
            actions = {
                action: decide_access(view, AccessRequest(subject, action, f"tool:{tool_id}")).outcome
                for action in definition.record.required_levels
            }
            grant = role.tools.get(tool_id)
            expected = {action: outcome == "allow" for action, outcome in actions.items()}
            assert (grant.actions if grant else dict.fromkeys(actions, False)) == expected, (role_id, tool_id)
            assert list(grant.ask if grant else ()) == [
                each for each, outcome in actions.items() if outcome == "ask"
            ]
            if any(expected.values()):
                allowed.add((definition.record.names.get("agent_zero") or tool_id).partition(":")[0])
        assert role.host_tools == allowed, role_id
        assert "response" in role.essential
        assert ("call_subordinate" in role.essential) >= (role.can_delegate or bool(role.delegates_to))
        may = {
            other
            for other in view.roles
            if decide_access(view, AccessRequest(subject, "handoff", f"role:{other}")).outcome == "allow"
        }
        assert set(role.delegates_to) == may, role_id
    for name, tool in bundle.tools.items():
        assert list(tool.roles) == [each for each, role in bundle.roles.items() if name in role.host_tools]


@pytest.mark.parametrize("org", TEMPLATES)
def test_bundle_equals_decisions_for_templates(org: str) -> None:
    """Every word finds the role the dispatch decides, every tool is what the access decision allows."""
    view = KERNEL.organization(org).snapshot.index
    assert_bundle_equals_decisions(view, compiled(view))


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(documents=trees())
def test_bundle_equals_decisions_for_generated_organizations(documents: dict[str, dict[str, Any]]) -> None:
    """The same for organizations with everything in them that can go wrong."""
    for records in assemble(build_tree(documents)).organizations:
        for view in build_views(records):
            assert_bundle_equals_decisions(view, compiled(view))


def assert_delegation_equals_decisions(view: OrgView, bundle: Bundle) -> None:
    """For each caller and each role, at each depth: a call of a subordinate is the kernel's decision about `handoff`.

    For each chain of two that the kernel allows: what the one below may use is the kernel's decision with `via`.
    """
    deepest = view.records.organization.limits.max_spawn_depth
    for caller in bundle.roles.values():
        for role_id in bundle.roles:
            for depth in (0, deepest - 1, deepest):
                place = delegation.RunPlace(depth)
                call = delegation.SubordinateCall(profile=role_id)
                found = delegation.decide(bundle, bundle.text_index, caller, call, place)
                asked = AccessRequest(
                    f"role:{caller.role_id}", "handoff", f"role:{role_id}", AccessContext(depth=depth)
                )
                decided = decide_access(view, asked).outcome == "allow"
                assert (found.refusal is None) == decided, (caller.role_id, role_id, depth)
                if decided:
                    assert found.role_id == role_id
            if role_id in caller.delegates_to:
                assert_chain_equals_decisions(view, bundle, caller.role_id, role_id, deepest)


def assert_chain_equals_decisions(
    view: OrgView, bundle: Bundle, above: str, below: str, deepest: int
) -> None:
    superior, role = bundle.roles[above], bundle.roles[below]
    for tool_id, definition in view.records.tools.items():
        name = (definition.record.names.get("agent_zero") or tool_id).partition(":")[0]
        for action in definition.record.required_levels:
            for depth in (1, deepest + 1):
                asked = AccessRequest(
                    f"role:{below}",
                    action,
                    f"tool:{tool_id}",
                    AccessContext(depth=depth),
                    via=(f"role:{above}",),
                )
                decided = decide_access(view, asked).outcome == "allow"
                found = is_allowed(bundle, role, superior, tool_id, action, depth)
                if name in role.essential:
                    # Never refused; a call of a subordinate is decided by whom it calls, see above.
                    found = name != "call_subordinate" or depth < deepest
                assert found == decided, (above, below, tool_id, action, depth)


def is_allowed(
    bundle: Bundle, role: BundleRole, superior: BundleRole, tool_id: str, action: str, depth: int
) -> bool:
    """Whether a gate lets a role, called by another, use a tool; all this without the tools that are never refused."""

    def may(each: BundleRole) -> bool:
        grant = each.tools.get(tool_id)
        return grant is not None and grant.actions.get(action, False)

    refused = delegation.find_chain_refusal(bundle, role, [superior], depth, lambda each: not may(each))
    return may(role) and refused is None


@pytest.mark.parametrize("org", TEMPLATES)
def test_delegation_equals_decisions_for_templates(org: str) -> None:
    """Whom a role may call in a host is whom it may hand work to, and what the subordinate may use is what the run allows."""
    view = KERNEL.organization(org).snapshot.index
    assert_delegation_equals_decisions(view, compiled(view))


def test_delegation_equals_decisions_where_each_hop_narrows(tmp_path: Path) -> None:
    """The same under `strict`, where a specialist below a commander keeps only what both may use."""
    shutil.copytree(REPOSITORY / "templates/software_dev", tmp_path / "org")
    with (tmp_path / "org/org.yaml").open("a", encoding="utf-8") as file:
        file.write("\nlimits:\n  delegation: strict\n  max_spawn_depth: 2\n")
    view = Kernel.open(tmp_path / "org").latest("software_dev").index
    bundle = compiled(view)
    assert bundle.limits == BundleLimits(2, 5, 8, strict=True)
    assert_delegation_equals_decisions(view, bundle)
    specialist, commander = bundle.roles["bugfix_specialist"], bundle.roles["co"]
    shell = ("code_execution_tool", "terminal", 1)
    assert not is_allowed(bundle, specialist, commander, *shell)
    assert is_allowed(
        compiled(KERNEL.organization("software_dev").snapshot.index), specialist, commander, *shell
    )


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(documents=trees(), strict=st.booleans(), deepest=st.integers(1, 3))
def test_delegation_equals_decisions_for_generated_organizations(
    documents: dict[str, dict[str, Any]], strict: bool, deepest: int
) -> None:
    """The same for organizations with everything in them that can go wrong, and with limits of any kind."""
    limits = {"max_spawn_depth": deepest, "delegation": "strict" if strict else "envelope"}
    for document in documents.values():
        if document["_schema"] == "orgkernel:organization":
            document["limits"] = limits
    for records in assemble(build_tree(documents)).organizations:
        view = build_views(records)[0]
        assert_delegation_equals_decisions(view, compiled(view))


@pytest.mark.parametrize("org", TEMPLATES)
def test_the_same_documents_compile_to_the_same_bytes(org: str) -> None:
    """From the index, from the graph, and from documents read anew."""
    snapshot = KERNEL.organization(org).snapshot
    texts = {
        render_bundle(compile_bundle(view, "x"))
        for view in (snapshot.index, snapshot.graph, Kernel.open().organization(org).snapshot.index)
    }
    assert len(texts) == 1


@pytest.mark.parametrize("org", TEMPLATES)
def test_a_brief_is_short_and_names_the_way_out(org: str) -> None:
    """It is paid for at every model call; tests/agent_zero/test_brief.py counts its tokens."""
    for role in compiled(KERNEL.organization(org).snapshot.index).roles.values():
        assert len(role.brief.split()) <= 100, role.role_id
        assert role.role_name in role.brief
        assert "`response`" in role.brief
