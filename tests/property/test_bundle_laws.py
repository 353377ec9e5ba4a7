"""Laws of the bundle: what a host reads from it is what the decisions answer, for every organization there is."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from orgkernel.decisions.access.decide import decide_access
from orgkernel.decisions.access.request import AccessRequest
from orgkernel.decisions.dispatch import decide_dispatch
from orgkernel.exchange.agent_zero.compiling import compile_bundle, render_bundle
from orgkernel.graph.assemble import assemble
from orgkernel.graph.questions import OrgView
from orgkernel.kernel.kernel import Kernel
from orgkernel.runtime.bundle import Bundle, find_role, read_bundle
from tests.reference.organizations import WORDS, build_tree, build_views, trees

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
        assert ("call_subordinate" in role.essential) or not role.can_delegate
        may = {
            other
            for other in view.roles
            if decide_access(view, AccessRequest(subject, "dispatch", f"role:{other}")).outcome == "allow"
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
