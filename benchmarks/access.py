"""`python -m benchmarks.access [ROLES]`: what access decisions cost on one generated organisation, in microseconds.

Ours only; the same questions asked of other engines are a matter of `make bench`. Everything is asked once before it is
timed, except where a line says cold. Absolute times belong to the machine: compare lines with each other.
"""

from __future__ import annotations

import argparse
import gc
import json
import random
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from orgkernel.decisions.access.decide import decide_access
from orgkernel.decisions.access.explain import explain_access
from orgkernel.decisions.access.listing import what_can, who_can
from orgkernel.decisions.access.request import AccessRequest
from orgkernel.decisions.state_view import Grant, StateView
from orgkernel.graph.questions import OrgView
from orgkernel.kernel.kernel import Kernel

ACTIONS = ["look", "change", "wipe"]
RANKS = ["ensign", "lieutenant", "commander", "senior"]


def write_organization(folder: Path, roles: int, tools_each: int, random_: random.Random) -> None:
    """Roles in a tree of eight each; tools with departments, ranks, qualifications and restrictions; denials."""
    tools, departments = max(200, roles // 5), [f"d{number}" for number in range(10)]
    names = [f"r{number}" for number in range(roles)]
    catalogue: dict[str, Any] = {}
    for number in range(tools):
        tool: dict[str, Any] = {
            "type": "browser",
            "actions": dict(zip(ACTIONS, ["read", "write", "full"], strict=True)),
        }
        if random_.random() < 0.3:
            tool["departments"] = random_.sample(departments, 5)
        if random_.random() < 0.3:
            tool["rank_matrix"] = {"ensign": "read", "lieutenant": "write", "commander": "full"}
        if random_.random() < 0.1:
            tool["qualifications"] = [f"q{random_.randrange(5)}"]
        if random_.random() < 0.05:
            tool["restricted_to"] = random_.sample(names, 5)
        catalogue[f"t{number}"] = tool
    hierarchy: dict[str, Any] = {}
    for number, name in enumerate(names):
        hierarchy.setdefault(name, {})
        if number:
            hierarchy[names[(number - 1) // 8]].setdefault("subordinates", []).append(name)
    denials = {
        f"no_{number}": {
            "effect": "deny", "match": {"principal": {"role": random_.choice(names)}},
            "permissions": {"tools": [f"t{random_.randrange(tools)}"]},
        }
        for number in range(50)
    }  # fmt: skip
    documents = {
        "org": {"_schema": "orgkernel:organization", "org_id": "o", "hierarchy": hierarchy, "departments": {each: {} for each in departments}},
        "tools": {"_schema": "orgkernel:tool_catalog", "tools": catalogue},
        "ranks": {"_schema": "orgkernel:rank_ladder", "ranks": [{"id": rank} for rank in RANKS]},
        "tests": {"_schema": "orgkernel:qualification_catalog", "qualifications": {f"q{number}": {} for number in range(5)}},
        "policies": {"_schema": "orgkernel:access_policies", "policies": denials},
    }  # fmt: skip
    (folder / "roles").mkdir()
    for stem, document in documents.items():
        (folder / f"{stem}.json").write_text(json.dumps(document), encoding="utf-8")
    for number, name in enumerate(names):
        profile = {
            "_schema": "orgkernel:role_profile", "role_id": name, "department": random_.choice(departments),
            "role_type": "executive" if 8 * number + 1 < roles else "specialist", "entry_rank": random_.choice(RANKS),
            "capabilities": {"tools_primary": [f"t{random_.randrange(tools)}" for _ in range(tools_each)]},
        }  # fmt: skip
        (folder / "roles" / f"{name}.json").write_text(json.dumps(profile), encoding="utf-8")


def timed(call: Callable[[Any], Any], arguments: Iterable[Any]) -> list[float]:
    """Microseconds of each call, without garbage collection."""
    gc.collect()
    gc.disable()
    found = []
    for each in arguments:
        start = time.perf_counter_ns()
        call(each)
        found.append((time.perf_counter_ns() - start) / 1000)
    gc.enable()
    return found


def show(what: str, times: list[float]) -> None:
    """A line with the median and the 99th percentile."""
    ordered = sorted(times)
    print(f"{what:<44} {ordered[len(ordered) // 2]:>9.2f} {ordered[int(len(ordered) * 0.99)]:>9.2f}")


def measure(view: OrgView, random_: random.Random) -> None:
    """All lines."""
    roles, tools = list(view.roles), list(view.records.tools)
    requests = []
    for _ in range(20_000):
        role = random_.choice(roles)
        held = list(view.tool_levels_of(role))
        tool = random_.choice(held if random_.random() < 0.6 else tools)
        requests.append(AccessRequest(f"role:{role}", random_.choice(ACTIONS), f"tool:{tool}"))
    requests = [
        each
        for each in requests
        if each.action in view.records.tools[each.resource[5:]].record.required_levels
    ]
    show("a check, everything about it cold", timed(lambda each: decide_access(view, each), requests[:1_000]))
    outcomes = [decide_access(view, each).outcome for each in requests]
    allowed = [each for each, outcome in zip(requests, outcomes, strict=True) if outcome == "allow"]
    denied = [each for each, outcome in zip(requests, outcomes, strict=True) if outcome == "deny"]
    show("the timer alone", timed(lambda each: None, requests))
    show("a check", timed(lambda each: decide_access(view, each), requests))
    show("a check that allows", timed(lambda each: decide_access(view, each), allowed))
    show("a check that denies", timed(lambda each: decide_access(view, each), denied))
    grants = {
        f"agent:a{number}": (Grant(f"g{number}", f"agent:a{number}", ("tool:*",)),)
        for number in range(10_000)
    }
    state = StateView(1, grants=grants)
    show(
        "a check beside 10,000 grants of others",
        timed(lambda each: decide_access(view, each, state), requests),
    )
    subjects = list(dict.fromkeys(each.subject for each in requests))[:300]
    rows = [len(what_can(view, each)) for each in subjects]
    show(
        f"what one role can ({sum(rows) // len(rows)} rows)",
        timed(lambda each: what_can(view, each), subjects),
    )
    asked = [(each.action, each.resource) for each in requests[:300]]
    show("who can, cold", timed(lambda each: who_can(view, *each, kinds=["role"]), asked))
    rows = [len(who_can(view, *each, kinds=["role"])) for each in asked]
    show(
        f"who can ({sum(rows) // len(rows)} rows)",
        timed(lambda each: who_can(view, *each, kinds=["role"]), asked),
    )
    show("an explanation with remedies, cold", timed(lambda each: explain_access(view, each), denied[:300]))
    show("an explanation with remedies", timed(lambda each: explain_access(view, each), denied[:300]))


def main() -> None:
    """Generate, load, measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("roles", nargs="?", type=int, default=1_000)
    parser.add_argument("--tools", type=int, default=100, help="tools of each role")
    wanted = parser.parse_args()
    random_ = random.Random(1)
    with tempfile.TemporaryDirectory() as folder:
        write_organization(Path(folder), wanted.roles, wanted.tools, random_)
        view = Kernel.open(folder).latest("o").index
    print(f"{wanted.roles} roles with {wanted.tools} tools each{'median µs':>24} {'p99 µs':>9}")
    measure(view, random_)


if __name__ == "__main__":
    main()
