"""Count the facts of an organization that policy engines leave out; each engine gives its own reasons."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from orgkernel.exchange.exported import Loss
from orgkernel.graph.records import OrgRecords

WHY_ALERTS = "the caller must send `alert` and `watch` as they are recorded"
WHY_PATHS = "they deny or ask for the whole tool, not only for some paths"
WHY_ARGUMENTS = "they deny or ask for the whole tool, not only for some arguments"
WHY_COMMANDS = "they deny or ask for the whole tool, not only for some commands"
WHY_LOCKS = "the caller must send `holds_lock`; without it, only taking the lock is allowed"
WHY_APPROVALS = (
    "approvers are not counted: where a policy requires several or certain ones, `approved` opens nothing"
)
WHY_LIMITS = "the caller must count calls and send `within_limits`; without it, tools with a limit are denied"
WHY_GRANTING = "orgkernel decides who may grant a tool to others"
WHY_FILE_SCOPES = "the caller must compare the paths and send `in_file_scope`; without it, nothing is written"


def list_engine_losses(records: OrgRecords, why: Mapping[str, str]) -> Iterator[Loss]:
    """A loss for each reason whose subject the organization declares, in the order of the reasons."""
    tools = [each.record for each in records.tools.values()]
    policies = [each.record for each in records.policies.values() if each.record.enabled]
    counts = {
        "policies that annotate": sum(each.effect == "annotate" for each in policies),
        "policies that ask": sum(each.effect == "ask" for each in policies),
        "required approvals": sum(each.approvals is not None for each in policies),
        "policies about paths": sum(bool(each.permissions.paths) for each in policies),
        "policies about commands": sum(bool(each.permissions.commands) for each in policies),
        "policies about arguments": sum(bool(each.permissions.input) for each in policies),
        "time conditions": sum(
            any(when.time is not None for when in each.match.conditions) for each in policies
        ),
        "alerts and watches": sum(bool(each.match.alert or each.match.watch) for each in policies),
        "exclusive tools": sum(tool.concurrency == "exclusive" for tool in tools),
        "file scopes": sum(bool(post.profile.file_scope) for post in records.posts.values()),
        "limits of calls": len(records.limits),
        "rights to grant": sum(bool(post.profile.may_grant) for post in records.posts.values()),
        "input schemas": sum(tool.input_schema is not None for tool in tools),
        "senders": sum(bool(each.record.identities) for each in records.people.values()),
    }
    return (Loss(what, reason, counts[what]) for what, reason in why.items() if counts[what])
