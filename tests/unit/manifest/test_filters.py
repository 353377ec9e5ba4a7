"""Which roles a question is about, page by page; forwards and backwards the same."""

from __future__ import annotations

import pytest

from orgkernel.errors import UnknownRole
from orgkernel.kernel.kernel import Kernel
from orgkernel.manifest.filters import RoleFilter

ORGS = ("blank", "sigint_alpha", "software_dev")


def chosen(kernel: Kernel, org: str, **wanted: str) -> list[str]:
    return [role.role_id for role in kernel.crew(org, RoleFilter(**wanted)).roles]


@pytest.mark.parametrize("org", ORGS)
@pytest.mark.parametrize(
    ("condition", "field"), [("domain", "domains"), ("plan", "plans"), ("tool", "tools"), ("skill", "skills")]
)
def test_a_filter_finds_exactly_the_roles_that_list_it(
    shipped: Kernel, org: str, condition: str, field: str
) -> None:
    """For every value that occurs: forward (what a role lists) and reverse (who lists it) agree."""
    roles = shipped.crew(org).roles
    values = {item.id for role in roles for item in getattr(role, field)} | {"nothing_of_the_kind"}
    for value in values:
        listing = [role.role_id for role in roles if value in {item.id for item in getattr(role, field)}]
        assert chosen(shipped, org, **{condition: value}) == listing


@pytest.mark.parametrize("org", ORGS)
def test_reports_to_finds_exactly_the_subordinates(shipped: Kernel, org: str) -> None:
    """Of every role, and of a superior outside."""
    for role in shipped.crew(org).roles:
        assert chosen(shipped, org, reports_to=role.role_id) == [each.id for each in role.subordinates]
    assert chosen(shipped, org, reports_to="user") == ["co"]


@pytest.mark.parametrize("org", ORGS)
def test_dispatch_and_manifest_say_the_same(shipped: Kernel, org: str) -> None:
    """A domain marked `chosen` is dispatched to that role, with the tools, plans and chain its manifest lists."""
    for role in shipped.crew(org).roles:
        for domain in role.domains:
            decision = shipped.dispatch(org, domain.id)
            assert domain.chosen is (decision.role_id == role.role_id)
            if domain.chosen:
                assert decision.tools == tuple(tool.id for tool in role.tools)
                assert decision.allowed_plans == tuple(plan.id for plan in role.plans)
                assert decision.plans == tuple(plan.id for plan in role.plans if domain.id in plan.domains)
                assert decision.escalation == tuple(each.id for each in role.chain_of_command)
    for coverage in shipped.crew(org).domains:
        assert coverage.role_id == shipped.dispatch(org, coverage.id).role_id


@pytest.mark.parametrize("org", ORGS)
def test_chain_of_command_agrees_upwards_and_downwards(shipped: Kernel, org: str) -> None:
    """Superiors and subordinates are inverse, and so are the targets and the sources of hand-offs."""
    roles = {role.role_id: role for role in shipped.crew(org).roles}
    for role_id, role in roles.items():
        for below in role.subordinates:
            assert roles[below.id].chain_of_command[0].id == role_id
        for target in role.handoff_targets:
            assert role_id in {source.id for source in roles[target.id].handoff_sources}
        for source in role.handoff_sources:
            assert role_id in {target.id for target in roles[source.id].handoff_targets}
        for peer in role.peers:
            assert role_id in {each.id for each in roles[peer.id].peers}


def test_a_domain_may_be_asked_for_by_another_vocabularys_word(shipped: Kernel) -> None:
    """`coding` is `codegen`."""
    assert chosen(shipped, "software_dev", domain="coding") == ["codegen_specialist"]


def test_conditions_are_met_together(shipped: Kernel) -> None:
    """All of them, not one of them."""
    assert chosen(shipped, "software_dev", role_type="executive", skill="task_command") == ["engineering_xo", "research_xo"]  # fmt: skip
    assert chosen(shipped, "software_dev", role_type="specialist", reports_to="research_xo", domain="osint") == ["osint_specialist"]  # fmt: skip
    assert chosen(shipped, "software_dev", role_type="commander", domain="osint") == []


def test_department_and_layer_choose_roles(whole: Kernel) -> None:
    """As overridden by the organization."""
    assert chosen(whole, "whole", department="works") == ["chief", "maker"]
    assert chosen(whole, "whole", layer="bottom") == ["maker"]


@pytest.mark.parametrize("limit", [1, 2, 3, 7, 8, 9, 100])
def test_pages_hold_every_role_once_and_in_order(shipped: Kernel, limit: int) -> None:
    """The last page has no cursor; every page says how many there are in all."""
    whole = [role.role_id for role in shipped.crew("software_dev").roles]
    seen: list[str] = []
    after = None
    for _ in range(20):
        page = shipped.crew("software_dev", after=after, limit=limit)
        assert page.count == len(whole)
        assert 0 < len(page.roles) <= limit
        seen += [role.role_id for role in page.roles]
        after = page.next
        if after is None:
            break
    assert seen == whole


def test_pages_of_a_filter_hold_the_roles_that_fit(shipped: Kernel) -> None:
    """The count is that of the filter; a cursor that does not fit it still has a place in the order."""
    wanted = RoleFilter(role_type="specialist")
    first = shipped.crew("software_dev", wanted, limit=2)
    assert (first.count, [role.role_id for role in first.roles]) == (
        5,
        ["codegen_specialist", "bugfix_specialist"],
    )
    rest = shipped.crew("software_dev", wanted, after=first.next)
    assert [role.role_id for role in rest.roles] == [
        "devops_specialist",
        "analysis_specialist",
        "osint_specialist",
    ]
    behind = shipped.crew("software_dev", wanted, after="research_xo")
    assert [role.role_id for role in behind.roles] == ["analysis_specialist", "osint_specialist"]


def test_a_cursor_that_names_no_role_is_refused(shipped: Kernel) -> None:
    """Rather than beginning again from the start without a word."""
    with pytest.raises(UnknownRole, match="the cursor names no role of organization `software_dev`"):
        shipped.crew("software_dev", after="gone")


def test_after_the_last_role_there_is_nothing(shipped: Kernel) -> None:
    """An empty page without a cursor."""
    last = shipped.crew("software_dev").roles[-1].role_id
    page = shipped.crew("software_dev", after=last, limit=5)
    assert (page.roles, page.next, page.count) == ((), None, 8)
