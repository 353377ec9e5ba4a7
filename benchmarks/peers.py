"""The same questions about the same organization, asked of other engines as they are called from Python.

Each is given its data in the form that suits it, parsed once, and has to answer as `governed.expected` says before it is
timed. cedarpy gets our export; regorus a policy that collects every failing reason; casbin, which gives no reasons, says
yes or no.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

from benchmarks.cedar import Cedar, translate
from benchmarks.decisions import ORG, QUESTIONS, open_governed
from benchmarks.governed import (
    ACTIONS,
    TOOLS,
    Question,
    department_of,
    departments_of,
    expected,
    has_ranks,
    is_asked,
    is_denied,
    is_tested,
    is_wide,
    levels_of,
    questions,
    rank_of,
    reaches_by_rank,
    role_count,
)
from benchmarks.timing import NotMeasured, microseconds
from orgkernel.decisions.access.request import AccessRequest
from orgkernel.exchange.cedar.export import ENTITIES_FILE, POLICIES_FILE, SCHEMA_FILE, export_cedar
from orgkernel.exchange.exported import ConvertedFiles

_REGO = """\
package access

import rego.v1

role := data.roles[input.role]
tool := data.tools[input.tool]
need := data.actions[input.action]

failing contains "NOT_VISIBLE" if { tool.departments; not tool.departments[role.department] }
failing contains "NOT_BOUND_TO_ROLE" if object.get(role.tools, input.tool, 0) < need
failing contains "RANK_TOO_LOW" if tool.ranks[role.rank] < need
failing contains "QUALIFICATION_MISSING" if tool.tested
failing contains "POLICY_DENY" if data.denied[input.tool]
failing contains "POLICY_DENY" if role.denied[input.tool]
failing contains "ASK_APPROVAL" if data.asked[input.tool]

default outcome := "deny"
outcome := "allow" if count(failing) == 0
outcome := "ask" if failing == {"ASK_APPROVAL"}

answer := {"outcome": outcome, "codes": failing}

rows contains concat("/", [name, action]) if {
    some name, level in data.roles[input.role].tools
    some action, wanted in data.actions
    level >= wanted
    count(failing) == 0 with input.tool as name with input.action as action
}
"""

_CASBIN = """\
[request_definition]
r = sub, obj, act

[policy_definition]
p = sub, obj, level

[policy_effect]
e = some(where (p.eft == allow))

[matchers]
m = r.sub == p.sub && r.obj == p.obj && reaches(p.level, r.act) && uncapped(r.sub, r.obj, r.act)
"""
# Regorus needs some 5 KB for every tool of a role, casbin one row for each; who can is asked of every role.
_PROBED = 3


def access_cedar(folder: Path) -> dict[str, Any]:
    """Outcome and the policies that decided; everything one role can do is asked one by one."""
    cedar, started = _open_cedar(folder)
    asked = questions(role_count(folder), QUESTIONS)
    for outcome, those in asked.items():
        for question in those:
            said, ids = cedar.decide(_of_cedar(question))
            reasons = set(expected(question)[1]) - {"NOT_BOUND_TO_ROLE"}
            assert said == outcome, (question, said)
            assert {name.partition(":")[0] for name in ids} >= reasons, (question, ids)
    requests = [_of_cedar(each) for each in _mixed(asked)]
    wide = [role for role in range(role_count(folder)) if is_wide(role)][:_PROBED]
    lists = [
        [_of_cedar((role, tool, action)) for tool in range(TOOLS) for action in ACTIONS] for role in wide
    ]
    return {
        "load": started,
        "check": microseconds(lambda turn: cedar.allows(requests[turn % len(requests)]).decision),
        "list": microseconds(lambda turn: cedar.allow_all(lists[turn % len(lists)]), repeat=30, warm=1),
        "floor": microseconds(lambda turn: cedar.constant(requests[turn % len(requests)]).decision),
    }


def access_regorus(folder: Path) -> dict[str, Any]:
    """Outcome and every failing reason, from a policy of our codes over plain data."""
    try:
        import regorus
    except ImportError:
        raise NotMeasured("regorus (celine-regorus) is not installed") from None
    roles = role_count(folder)
    start = time.perf_counter()
    engine = regorus.Engine()
    engine.add_policy("access.rego", _REGO)
    engine.add_data_json(json.dumps(_data(roles)))
    started = time.perf_counter() - start

    def ask(question: dict[str, str], rule: str = "data.access.answer") -> Any:
        engine.set_input(question)
        return engine.eval_rule(rule)

    asked = questions(roles, QUESTIONS)
    for question in _mixed(asked):
        said, (outcome, codes) = ask(_of_rego(question)), expected(question)
        wanted = set() if outcome == "allow" else set(codes)
        assert (said["outcome"], set(said["codes"])) == (outcome, wanted), (question, said)
    requests = [_of_rego(each) for each in _mixed(asked)]
    wide = [role for role in range(roles) if is_wide(role)][:_PROBED]
    for role in wide:
        found = set(ask({"role": f"role_{role}"}, "data.access.rows"))
        wanted_rows = {
            f"tool_{tool}/{action}"
            for tool in levels_of(role)
            for action in ACTIONS
            if expected((role, tool, action))[0] == "allow"
        }
        assert found == wanted_rows, found ^ wanted_rows
    lists = [{"role": f"role_{role}"} for role in wide]
    return {
        "load": started,
        "check": microseconds(lambda turn: ask(requests[turn % len(requests)])),
        "list": microseconds(
            lambda turn: ask(lists[turn % len(lists)], "data.access.rows"), repeat=30, warm=1
        ),
        "floor": microseconds(lambda turn: ask(requests[turn % len(requests)], "data.access.need")),
    }


def access_casbin(folder: Path) -> dict[str, Any]:
    """Yes or no, with a policy for every tool of a role, found by both; the other layers are a function of ours."""
    try:
        import casbin
        from casbin.model.model_fast import FastModel
    except ImportError:
        raise NotMeasured("casbin is not installed") from None
    roles = role_count(folder)
    start = time.perf_counter()
    model = FastModel([0, 1])
    model.load_model_from_text(_CASBIN)
    enforcer = casbin.FastEnforcer(model, cache_key_order=[0, 1])
    enforcer.add_function("reaches", lambda level, action: int(level) >= ACTIONS[action])
    enforcer.add_function("uncapped", _uncapped)
    for role in range(roles):
        for tool, step in levels_of(role).items():
            # As an adapter does that reads them from a file; `add_policy` looks through all of them each time.
            model["p"]["p"].policy.append([f"role_{role}", f"tool_{tool}", str(step)])
    started = time.perf_counter() - start
    asked = questions(roles, QUESTIONS)
    for question in _mixed(asked):
        role, tool, action = question
        allowed = enforcer.enforce(f"role_{role}", f"tool_{tool}", action)
        assert allowed == (expected(question)[0] == "allow"), question
    requests = [(f"role_{role}", f"tool_{tool}", action) for role, tool, action in _mixed(asked)]
    return {
        "load": started,
        "check": microseconds(lambda turn: enforcer.enforce(*requests[turn % len(requests)])),
    }


def _mixed(asked: dict[str, list[Question]]) -> list[Question]:
    return [each for pair in zip(asked["allow"], asked["deny"], strict=True) for each in pair]


def _open_cedar(folder: Path) -> tuple[Cedar, float]:
    """The export of the governed organization, written by the first who asks, and the seconds that parsing it took."""
    place = folder.parent / "governed_cedar"
    names = (SCHEMA_FILE, POLICIES_FILE, ENTITIES_FILE)
    if not place.exists():
        files = export_cedar(open_governed(folder).organization(ORG).snapshot.index).files
        place.mkdir()
        for name, text in files.items():
            (place / name).write_text(text, encoding="utf-8")
    export = ConvertedFiles({name: (place / name).read_text(encoding="utf-8") for name in names}, (), ())
    start = time.perf_counter()
    cedar = Cedar(export)
    return cedar, time.perf_counter() - start


def _of_cedar(question: Question) -> dict[str, Any]:
    role, tool, action = question
    return translate(AccessRequest(f"role:role_{role}", action, f"tool:tool_{tool}"))


def _of_rego(question: Question) -> dict[str, str]:
    role, tool, action = question
    return {"role": f"role_{role}", "tool": f"tool_{tool}", "action": action}


def _data(roles: int) -> dict[str, Any]:
    """The organization as plain data, everything that is asked for a key."""
    tools = {}
    for number in range(TOOLS):
        tool: dict[str, Any] = {"tested": is_tested(number)}
        if departments_of(number):
            tool["departments"] = {f"d{each}": True for each in departments_of(number)}
        if has_ranks(number):
            tool["ranks"] = [reaches_by_rank(step) for step in range(5)]
        tools[f"tool_{number}"] = tool
    return {
        "actions": ACTIONS,
        "tools": tools,
        "denied": {f"tool_{tool}": True for tool in range(TOOLS) if is_denied(roles, tool)},
        "asked": {f"tool_{tool}": True for tool in range(TOOLS) if is_asked(tool)},
        "roles": {
            f"role_{role}": {
                "department": f"d{department_of(role)}",
                "rank": rank_of(role),
                "tools": {f"tool_{tool}": step for tool, step in levels_of(role).items()},
                "denied": {f"tool_{tool}": True for tool in range(TOOLS) if role < 16 and is_denied(role, tool)},
            }
            for role in range(roles)
        },
    }  # fmt: skip


def _uncapped(subject: str, resource: str, action: str) -> bool:
    role, tool = int(subject[5:]), int(resource[5:])
    return set(expected((role, tool, action))[1]) <= {"BOUND_TO_ROLE", "NOT_BOUND_TO_ROLE"}
