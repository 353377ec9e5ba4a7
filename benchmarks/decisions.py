"""Access decisions of ours on an organization every layer of which decides something, in microseconds."""

from __future__ import annotations

import gc
import time
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import msgspec

from benchmarks.governed import ACTIONS, Question, expected, governed, is_wide, levels_of, questions
from benchmarks.timing import microseconds
from orgkernel.decisions.access.decide import decide_access
from orgkernel.decisions.access.explain import explain_access
from orgkernel.decisions.access.listing import what_can, who_can
from orgkernel.decisions.access.request import AccessRequest
from orgkernel.decisions.evidence.state_view import EMPTY_STATE, Grant, StateView
from orgkernel.graph.org_index import OrgIndex
from orgkernel.kernel.kernel import Kernel
from orgkernel.loading.cache import Cache
from orgkernel.snapshots.roots import resolve_paths

ORG = "governed"
QUESTIONS = 1_500
_GRANTS = 10_000
_FIRST = 3_000


def open_governed(folder: Path) -> Kernel:
    """A kernel over the governed organization beside a generated one, from the cache where an earlier process filled it."""
    place = governed(folder)
    request = resolve_paths([str(place)], str(place.parent))
    kernel = Kernel(request, cache=Cache(str(place.parent / ".governed_cache")))
    kernel.save()
    return kernel


def access_check(folder: Path) -> dict[str, Any]:
    """Outcome, code and every failing reason's code: of what is allowed, of what is denied, of both in turns.

    And of both with ten thousand stored grants of others; and the first question about a role.
    """
    view = open_governed(folder).organization(ORG).snapshot.index
    asked = questions(len(view.roles), QUESTIONS)
    allowed, denied = ([_request(each) for each in asked[outcome]] for outcome in ("allow", "deny"))
    mixed = [each for pair in zip(allowed, denied, strict=True) for each in pair]
    grants = {f"person:p{number}": (_grant(number),) for number in range(_GRANTS)}
    others = StateView(1, grants=grants)
    unasked = [_request((role, 3, "look")) for role in range(min(len(view.roles), _FIRST))]
    first = [_seconds(view, each) for each in unasked]
    for outcome, those in asked.items():
        for question in those:
            said = decide_access(view, _request(question))
            assert (said.outcome, said.codes) == (outcome, expected(question)[1]), question
            assert decide_access(view, _request(question), others).codes == said.codes
    return {
        "allow": _time(view, allowed),
        "deny": _time(view, denied),
        "check": _time(view, mixed),
        "others": _time(view, mixed, others),
        "first": median(first) * 1e6,
    }


def access_list(folder: Path) -> dict[str, Any]:
    """Everything one role can do: a hundred rows with their reasons, as values, as bytes, and as bytes kept."""
    kernel = open_governed(folder)
    view = kernel.organization(ORG).snapshot.index
    wide = [role for role in range(len(view.roles)) if is_wide(role)]
    subjects = [f"role:role_{role}" for role in wide]
    for role, subject in zip(wide, subjects, strict=True):
        _check_list(view, role, subject)
    encode = msgspec.json.Encoder().encode
    for role in wide:
        kernel.manifest_bytes(ORG, f"role_{role}")
    names = [f"role_{role}" for role in wide[:500]]
    return {
        "rows": median(len(what_can(view, subject)) for subject in subjects),
        "values": microseconds(lambda turn: what_can(view, subjects[turn % len(subjects)])),
        "bytes": microseconds(lambda turn: encode(what_can(view, subjects[turn % len(subjects)]))),
        "kept": microseconds(lambda turn: kernel.manifest_bytes(ORG, names[turn % len(names)])),
    }


def access_who(folder: Path) -> dict[str, Any]:
    """Who can: the roles that may do something with a tool. The very first question, those about tools that were not asked
    about before, and all of them again.
    """
    view = open_governed(folder).organization(ORG).snapshot.index
    numbers = range(len(view.roles))
    tool, action = 8, "change"
    wanted = [f"role:role_{role}" for role in numbers if expected((role, tool, action))[0] == "allow"]
    gc.collect()
    gc.disable()
    start = time.perf_counter()
    rows = who_can(view, action, f"tool:tool_{tool}", kinds=("role",))
    very_first = time.perf_counter() - start
    assert [row.subject for row in rows] == wanted
    for number in range(100, 104):  # the tables that all tools share are made when a few were asked about
        who_can(view, "look", f"tool:tool_{number}", kinds=("role",))
    first: list[float] = []
    results = 0
    for number in range(100):
        start = time.perf_counter()
        rows = who_can(view, "look", f"tool:tool_{number}", kinds=("role",))
        first.append(time.perf_counter() - start)
        results += len(rows)
    again = microseconds(lambda turn: who_can(view, "look", f"tool:tool_{turn % 100}", kinds=("role",)))
    return {
        "results": results / 100,
        "allowance": 3.0 + 0.25 * results / 100,
        "very_first": very_first * 1e6,
        "first": {"median": median(first) * 1e6, "p99": quantiles(first, n=100)[98] * 1e6},
        "first_per_result": (sum(first) * 1e6 - 3.0 * len(first)) / results,
        "again": again,
    }


def access_explain(folder: Path) -> dict[str, Any]:
    """A denial with the trace, the lines, every smallest remedy and who already can."""
    view = open_governed(folder).organization(ORG).snapshot.index
    denied = [_request(each) for each in questions(len(view.roles), QUESTIONS)["deny"][:300]]
    for request in denied:
        explained = explain_access(view, request)
        assert explained.decision == decide_access(view, request)
        assert explained.remedies, request
    return microseconds(lambda turn: explain_access(view, denied[turn % len(denied)]), repeat=1_500)


def _time(view: OrgIndex, requests: list[AccessRequest], state: StateView = EMPTY_STATE) -> dict[str, float]:
    return microseconds(lambda turn: decide_access(view, requests[turn % len(requests)], state))


def _seconds(view: OrgIndex, request: AccessRequest) -> float:
    start = time.perf_counter()
    decide_access(view, request)
    return time.perf_counter() - start


def _request(question: Question) -> AccessRequest:
    role, tool, action = question
    return AccessRequest(f"role:role_{role}", action, f"tool:tool_{tool}")


def _grant(number: int) -> Grant:
    return Grant(f"g{number}", f"person:p{number}", (f"tool:tool_{number % 200}",), "read")


def _check_list(view: OrgIndex, role: int, subject: str) -> None:
    """The list holds what is expected, at its level, and nothing more."""
    rows = [row for row in what_can(view, subject) if row.resource.startswith("tool:tool_")]
    said = {(row.resource, row.outcome, action) for row in rows for action in row.actions}
    wanted = {
        (f"tool:tool_{tool}", outcome, action)
        for tool in levels_of(role)
        for action in ACTIONS
        if (outcome := expected((role, tool, action))[0]) != "deny"
    }
    assert said == wanted, (subject, said ^ wanted)
