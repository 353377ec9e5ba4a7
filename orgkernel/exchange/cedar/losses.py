"""What Cedar is not told, or told in another way."""

from __future__ import annotations

from collections.abc import Iterator

from orgkernel.exchange.export import Loss
from orgkernel.graph.records import OrgRecords

COVERS = (
    "disabled tools",
    "departments",
    "restricted_to",
    "role bindings with levels",
    "essential tools",
    "rank matrix",
    "qualifications",
    "policies that allow",
    "policies that deny",
    "ceilings of policies",
    "policies that ask",
    "conditions of policies",
    "fallback policies",
    "credentials",
    "data tiers",
    "position",
    "exclusive lock",
)

_ALWAYS = (
    Loss("stored state", "grants, restrictions, earned ranks, results of tests and the lifecycle of agents are in no document"),
    Loss("delegation", "on whose behalf, by which path and within which envelope somebody acts"),
    Loss("runs", "the PACE tier, how deep and how many: a caller of Cedar has to stop such requests itself"),
    Loss("paths", "`tool:ID:PATH` is asked for as `tool:ID`"),
    Loss("dispatching and escalating", "the chain of command, `dispatch` and layers"),
    Loss("what decided", "Cedar names policies; it has no lines of YAML, remedies or obligations, and no reason for what nobody permits"),
)  # fmt: skip


def find_losses(records: OrgRecords) -> Iterator[Loss]:
    """What this organization declares that is lost or told in another way, then what is always lost."""
    tools = [each.record for each in records.tools.values()]
    policies = [each.record for each in records.policies.values() if each.record.enabled]
    counted = (
        (
            "policies that annotate",
            "sessions, personas and modifiers decide nothing in Cedar",
            sum(each.effect == "annotate" for each in policies),
        ),
        (
            "policies that ask",
            "Cedar has no such outcome: ask with `approved: false`, and where that is denied with `true`; then it is `ask`",
            sum(each.effect == "ask" for each in policies),
        ),
        (
            "conditions of time",
            "the caller tells `minute` and `weekend` of local time",
            sum(any(when.time is not None for when in each.match.conditions) for each in policies),
        ),
        (
            "exclusive tools",
            "the caller tells `holds_lock`; without it only taking the lock is allowed",
            sum(tool.concurrency == "exclusive" for tool in tools),
        ),
        (
            "input schemas",
            "arguments of tools are not checked",
            sum(tool.input_schema is not None for tool in tools),
        ),
        (
            "senders",
            "who writes under which identity is looked up before Cedar is asked",
            sum(bool(each.record.identities) for each in records.people.values()),
        ),
    )
    yield from (Loss(what, why, count) for what, why, count in counted if count)
    yield from _ALWAYS
