"""Budgets: a limit sums what calls cost, and a cost that is not known never passes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from orgkernel import AccessContext, AccessRequest, Kernel
from orgkernel.decisions.access.decide import decide_with_reasons
from orgkernel.decisions.access.listing import what_can
from orgkernel.decisions.evidence.limit_usage import LimitUsage
from orgkernel.decisions.evidence.state_view import EMPTY_STATE
from tests.support.trees import write_tree

TREE = {
    "org.yaml": "{_schema: 'orgkernel:organization', org_id: shop, hierarchy: {clerk: {}}}",
    "tools.yaml": "{_schema: 'orgkernel:tool_catalog', tools: {pay: {type: remote_api, actions: {pay: write}}}}",
    "clerk.yaml": "_schema: orgkernel:role_profile\nrole_id: clerk\ncapabilities: {tools_primary: [pay]}\n",
    "limits.yaml": "_schema: orgkernel:access_policies\nlimits:\n"
    "  spending: {tools: [pay], each: subject, budget: 100, cost_argument: amount, per: 1d, unit: USD}\n",
}


@pytest.fixture
def shop(tmp_path: Path) -> Kernel:
    write_tree(tmp_path, TREE)
    return Kernel.open(tmp_path)


def decide(shop: Kernel, tool_input: Any, used: int | None = 0) -> tuple[str, tuple[str, ...], str]:
    """The outcome, its codes and the first reason, with some millionths used."""
    state = EMPTY_STATE
    if used is not None:
        key = ("spending.budget", "role:clerk")
        state = replace(EMPTY_STATE, usage={key: LimitUsage(*key, 0, used)})
    request = AccessRequest("role:clerk", "pay", "tool:pay", AccessContext(input=tool_input))
    decision, reasons = decide_with_reasons(shop.organization("shop").snapshot.index, request, state)
    return decision.outcome, decision.codes, reasons[0].text if reasons else ""


def test_what_is_left_decides(shop: Kernel) -> None:
    """The last cent passes, and one millionth more is denied with both amounts in the reason."""
    assert decide(shop, {"amount": 60}, 40_000_000)[0] == "allow"
    outcome, codes, text = decide(shop, {"amount": 60.000001}, 40_000_000)
    assert (outcome, codes) == ("deny", ("LIMIT_REACHED",))
    assert text == (
        "limit `spending` allows 100 USD per 1d for `role:clerk`, and 60 USD of it is left, but the call costs 60.000001 USD"
    )


@pytest.mark.parametrize("cost", ["5", -1, True, None, float("nan"), float("inf"), [5], 10**400])
def test_an_unknown_cost_is_denied(shop: Kernel, cost: Any) -> None:
    """Whatever is no number of 0 or more could be any cost to the tool."""
    outcome, codes, text = decide(shop, {"amount": cost})
    assert (outcome, codes) == ("deny", ("LIMIT_REACHED",))
    assert "`amount` is not a number of 0 or more" in text


def test_a_missing_argument_is_an_unknown_cost(shop: Kernel) -> None:
    """An input without the argument is denied, not charged nothing."""
    assert decide(shop, {})[:2] == ("deny", ("LIMIT_REACHED",))


def test_without_input_the_answer_is_conditional(shop: Kernel) -> None:
    """It names the argument, unless nothing is left whatever the call costs."""
    outcome, codes, text = decide(shop, None)
    assert (outcome, codes) == ("conditional", ("CONTEXT_MISSING",))
    assert text == (
        "the request does not state `input`: if `amount` is too high, limit `spending` allows 100 USD per 1d for `role:clerk`, "
        "and the call may cost more"
    )
    assert decide(shop, None, 100_000_001)[:2] == ("deny", ("LIMIT_REACHED",))


def test_without_usage_and_input_both_are_named(shop: Kernel) -> None:
    """Lists show both as conditions."""
    assert decide(shop, None, None)[0] == "conditional"
    rows = what_can(shop.organization("shop").snapshot.index, "role:clerk")
    (row,) = [each for each in rows if each.resource == "tool:pay"]
    assert (row.outcome, row.conditions) == ("conditional", ("limit:spending", "input:`amount` is too high"))


def test_an_amount_below_a_millionth_is_rounded_up(shop: Kernel) -> None:
    """Many tiny costs never add up to more than the budget."""
    assert decide(shop, {"amount": 1e-12}, 100_000_000)[0] == "deny"
    assert decide(shop, {"amount": 0}, 100_000_000)[0] == "allow"
