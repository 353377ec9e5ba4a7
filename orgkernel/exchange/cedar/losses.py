"""What the Cedar export leaves out or expresses differently."""

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
    Loss("stored state", "grants, restrictions, earned ranks, test results and the lifecycle of agents are not in documents"),
    Loss("delegation", "on whose behalf, by which path and within which envelope a subject acts"),
    Loss("runs", "PACE tier, depth and number of runs: the caller of Cedar must stop such requests itself"),
    Loss("paths", "ask for `tool:ID` instead of `tool:ID:PATH`"),
    Loss("dispatching and escalating", "the chain of command, `dispatch` and layers are not exported"),
    Loss("what decided", "Cedar names policies, but no lines of YAML, remedies or obligations, and no reason if no policy permits"),
)  # fmt: skip


def find_losses(records: OrgRecords) -> Iterator[Loss]:
    """What this organization declares that is lost or expressed differently, then what is always lost."""
    tools = [each.record for each in records.tools.values()]
    policies = [each.record for each in records.policies.values() if each.record.enabled]
    counted = (
        (
            "policies that annotate",
            "sessions, personas and modifiers have no effect in Cedar",
            sum(each.effect == "annotate" for each in policies),
        ),
        (
            "policies that ask",
            "Cedar has no outcome `ask`: send `approved: false`; if that is denied and `true` is allowed, the outcome is `ask`",
            sum(each.effect == "ask" for each in policies),
        ),
        (
            "conditions of time",
            "the caller must send `minute` and `weekend` of local time",
            sum(any(when.time is not None for when in each.match.conditions) for each in policies),
        ),
        (
            "exclusive tools",
            "the caller must send `holds_lock`; without it, only taking the lock is allowed",
            sum(tool.concurrency == "exclusive" for tool in tools),
        ),
        (
            "input schemas",
            "tool arguments are not checked",
            sum(tool.input_schema is not None for tool in tools),
        ),
        (
            "senders",
            "the caller must resolve identities to people before it asks Cedar",
            sum(bool(each.record.identities) for each in records.people.values()),
        ),
    )
    yield from (Loss(what, why, count) for what, why, count in counted if count)
    yield from _ALWAYS
