"""Limits of calls hold through the toolbox: each call is reserved before it runs and settled afterwards."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest

from orgkernel import AccessRequest, Kernel
from orgkernel.decisions.access.tool_input import encode_input
from orgkernel.operations.limits import list_limits
from orgkernel.operations.permits import Permits
from tests.state.opening import Clock, opened, sqlite_at
from tests.toolbox.crew import organization

NOW = 1_000_000.0
INPUT = encode_input({"id": "1"})
ANN = AccessRequest("agent:ann", "read", "tool:mail")
LIMITS = """\
_schema: orgkernel:access_policies
_version: "1.0"
limits:
  mails: {tools: [mail], each: subject, calls: 3, per: 1h, concurrent: 2}
"""


@pytest.fixture
def kernel(tmp_path: Path) -> Kernel:
    organization(tmp_path)
    (file,) = list(tmp_path.rglob("org.yaml"))
    (file.parent / "limits.yaml").write_text(LIMITS)
    return organization(tmp_path)


def decide(permits: Permits) -> Any:
    return permits.decide("post", ANN, INPUT)


def test_without_usage_a_limited_call_is_conditional(kernel: Kernel) -> None:
    """The documents alone never allow a call that a limit counts, and the answer names the limit."""
    decision, reasons = kernel.can_with_reasons("post", ANN)
    assert (decision.outcome, decision.codes, decision.obligations) == (
        "conditional", ("CONTEXT_MISSING",), ("state:limit",),
    )  # fmt: skip
    assert "if limit `mails` is used up, limit `mails` allows 3 calls per 1h" in reasons[0].text


def test_a_permitted_call_is_charged_and_the_next_one_is_denied(kernel: Kernel, tmp_path: Path) -> None:
    """Slots are full after two calls, free again when they are settled, and the window ends the third."""
    with opened(sqlite_at(tmp_path), Clock(NOW)) as store:
        permits = Permits(kernel, store)
        first, second = decide(permits), decide(permits)
        assert first.permit is not None
        assert second.permit is not None
        assert decide(permits).decision.codes == ("LIMIT_REACHED",)
        store.limits.settle("post", first.call_id)
        third = decide(permits)
        assert third.permit is not None
        for ruling in (second, third):
            store.limits.settle("post", ruling.call_id)
        fourth = decide(permits)
        assert (fourth.decision.outcome, fourth.permit, fourth.call_id) == ("deny", None, "")
        explanation = permits.kernel.why("post", ANN)
        assert [reason.text for reason in explanation.reasons] == [
            "limit `mails` allows 3 calls per 1h for `agent:ann`, and none is left; the next call is possible after"
            " 1970-01-12T14:46:40Z"
        ]


def test_concurrent_callers_get_exactly_the_limit(kernel: Kernel, tmp_path: Path) -> None:
    """Two permits are given, however many ask at once with two stores."""
    rulings: list[Any] = []
    with opened(sqlite_at(tmp_path), Clock(NOW)) as one, opened(sqlite_at(tmp_path), Clock(NOW)) as other:
        permits = [Permits(kernel, one), Permits(kernel, other)]
        threads = [
            threading.Thread(target=lambda number=number: rulings.append(decide(permits[number % 2])))
            for number in range(24)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sum(ruling.permit is not None for ruling in rulings) == 2
    assert len(rulings) == 24


def test_state_in_memory_does_not_hide_the_usage(kernel: Kernel, tmp_path: Path) -> None:
    """A gateway that holds the state in memory counts calls like any other."""
    with opened(sqlite_at(tmp_path), Clock(NOW)) as store:
        permits = Permits(kernel, store, has_state=True)

        async def ask() -> Any:
            return await permits.decide_soon("post", ANN, INPUT, may_overlap=True, is_held=True)

        rulings = [asyncio.run(ask()) for _ in range(3)]
        assert [ruling.decision.outcome for ruling in rulings] == ["allow", "allow", "deny"]
        assert all(ruling.row is None for ruling in rulings)


def test_a_decision_without_a_permit_is_charged_nothing(kernel: Kernel, tmp_path: Path) -> None:
    """Asking whether a call is allowed takes nothing from its limits."""
    with opened(sqlite_at(tmp_path), Clock(NOW)) as store:
        permits = Permits(kernel, store)
        for _ in range(5):
            assert permits.decide("post", ANN, INPUT, permit=False).decision.outcome == "allow"
            assert asyncio.run(permits.decide_soon("post", ANN, INPUT, permit=False)).call_id == ""
        assert decide(permits).permit is not None


BUDGET = """\
_schema: orgkernel:access_policies
limits:
  postage: {tools: [mail], each: subject, budget: 1, cost_argument: postage, per: 1h, unit: EUR}
"""


def test_the_cost_of_each_call_is_charged_exactly(tmp_path: Path) -> None:
    """Ten calls of 0.1 fit into 1, and the eleventh does not, also with simultaneous callers; the list shows the sum."""
    organization(tmp_path)
    (file,) = list(tmp_path.rglob("org.yaml"))
    (file.parent / "limits.yaml").write_text(BUDGET)
    kernel = organization(tmp_path)
    cost, unknown = (encode_input({"id": "1", "postage": each}) for each in (0.1, "0.1"))
    with opened(sqlite_at(tmp_path), Clock(NOW)) as store:
        permits = Permits(kernel, store)
        assert permits.decide("post", ANN, unknown).decision.codes == ("LIMIT_REACHED",)
        rulings: list[Any] = []
        threads = [
            threading.Thread(target=lambda: rulings.append(permits.decide("post", ANN, cost)))
            for _ in range(16)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sum(ruling.permit is not None for ruling in rulings) == 10
        (standing,) = list_limits(kernel.organization("post").snapshot.index, store)
        assert (standing.used, standing.left, standing.allows) == (1.0, 0.0, "1 EUR per 1h")
