"""Describe how to carry out a remedy: the circumstances to state, the commands to run, and the lines to edit."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from orgkernel.decisions.access.decision import ChangeKind, Remedy, RemedyChange, RemedyEdit
from orgkernel.decisions.access.evaluation import Evaluation
from orgkernel.decisions.access.identity import UNKNOWN_SENDER
from orgkernel.decisions.access.layers.identity import RESUMED_AS
from orgkernel.decisions.access.layers.lock import find_lock
from orgkernel.decisions.access.layers.policies import describe_required_approvals
from orgkernel.decisions.access.lines import locate_in_profile
from orgkernel.decisions.access.resource import LOCK
from orgkernel.decisions.evidence.limit_usage import INPUT, LIMIT
from orgkernel.decisions.evidence.state_view import ALL_ORGANIZATIONS
from orgkernel.decisions.evidence.tested_parts import is_part
from orgkernel.diagnostics import Place
from orgkernel.diagnostics.wording import listing, quote
from orgkernel.documents.records import PREFIX
from orgkernel.graph.records import OrgRecords, RolePost

STATED: Final[tuple[ChangeKind, ...]] = ("path", "other_path", "other_command", "other_input")
"""Changes that the request itself has to state."""
_AFTERWARDS = ("lock", "envelope", "state", *STATED)
"""Changes that must be made after all others."""


def render_remedy(evaluation: Evaluation, changes: tuple[RemedyChange, ...], opens: str = "") -> Remedy:
    """A set of changes as a remedy with texts, commands and edits."""
    ordered = tuple(sorted(changes, key=lambda change: (change.kind in _AFTERWARDS, change.kind in STATED)))
    return Remedy(
        ordered,
        " and ".join(_TEXTS[change.kind](evaluation, change) for change in ordered),
        tuple(command for change in ordered for command in _commands(evaluation, change, ordered)),
        tuple(edit for change in ordered for edit in _build_edits(evaluation, change)),
        opens,
    )


# -- texts -------------------------------------------------------------------------------------------------------------


def _grant(evaluation: Evaluation, change: RemedyChange) -> str:
    waiving = f", waiving {', '.join(change.waives)}" if change.waives else ""
    others = f" to {quote(change.subject)}" if change.subject != evaluation.subject.subject else ""
    return f"grant {quote(change.value)} at level {quote(change.level)}{others}{waiving}"


def _describe_approvals(evaluation: Evaluation, change: RemedyChange) -> str:
    by = describe_required_approvals(evaluation) or "every required approver"
    return f"get a request for {quote(change.value)} at level {quote(change.level)} approved by {by}"


def _rank(evaluation: Evaluation, change: RemedyChange) -> str:
    if change.subject.startswith("role:"):
        return f"raise the entry rank to {quote(change.value)}"
    who = f"{quote(change.subject)} " if change.subject != evaluation.subject.subject else ""
    return f"promote {who}to {quote(change.value)}"


def _describe_qualification(evaluation: Evaluation, change: RemedyChange) -> str:
    who = f" as {quote(change.subject)}" if change.subject != evaluation.subject.subject else ""
    return f"pass {quote(change.value)}{who}"


def _describe_lock(evaluation: Evaluation, change: RemedyChange) -> str:
    lock = find_lock(evaluation)
    broken = f"break {quote(lock.holder)}'s lock on {quote(change.value)}" if lock else ""
    if evaluation.action == LOCK:
        return broken
    return f"{broken} and acquire it" if broken else f"acquire the lock on {quote(change.value)}"


def _equip(evaluation: Evaluation, change: RemedyChange) -> str:
    if change.value.startswith("role:"):
        return f"let {quote(change.subject)} hand work to {quote(change.value)}"
    level = f" at level {quote(change.level)}" if change.level else ""
    return f"add {quote(change.value)}{level} to {quote(change.subject)}"


def _describe_stating(names: list[str]) -> str:
    """What the caller states, and the usage of limits, which only a store can count."""
    stated = [name for name in names if name != LIMIT]
    texts = [f"state {listing(stated)}"] if stated else []
    return " and ".join(
        [*texts, "ask with a store, which counts the calls of limits"] if LIMIT in names else texts
    )


_TEXTS: Mapping[str, Callable[[Evaluation, RemedyChange], str]] = {
    "state": lambda _, change: _describe_stating(change.value.split(",")),
    "path": lambda _, change: f"state a path in {change.value}",
    "other_path": lambda _, change: f"state a path outside of {change.value}",
    "other_command": lambda _, change: f"state a command that does not begin with {change.value}",
    "other_input": lambda _, change: f"state an input for which this is not true: {change.value}",
    "lock": _describe_lock,
    "envelope": lambda _, change: (
        f"pass on {quote(change.value)} at level {quote(change.level)} in the envelope"
    ),
    "resume": lambda _, change: f"resume agent {quote(change.value)}",
    "lift": lambda _, change: f"lift restriction {quote(change.value)}",
    "qualification": _describe_qualification,
    "grant": _grant,
    "approvals": _describe_approvals,
    "rank": _rank,
    "role": lambda _, change: f"fill role {quote(change.value)}",
    "equip": _equip,
    "declare": lambda _, change: f"declare {quote(change.value)}",
    "enable": lambda _, change: f"enable tool {quote(change.value)}",
    "policy_removed": lambda _, change: f"remove policy {quote(change.value)}",
}


# -- commands ----------------------------------------------------------------------------------------------------------


def _commands(
    evaluation: Evaluation, change: RemedyChange, changes: tuple[RemedyChange, ...]
) -> Iterator[str]:
    org, kind = evaluation.tables.org_id, change.kind
    name = change.subject.partition(":")[2]
    if kind == "grant":
        waives = [word for waiver in change.waives for word in ("--waive", waiver)]
        yield _get_command_line(
            "grant", "issue", change.subject, change.value, "--level", change.level, *waives, "--org", org
        )
    elif kind == "approvals":
        yield _get_command_line(
            "request", "create", change.subject, change.value, "--level", change.level, "--org", org
        )
    elif kind == "rank" and change.subject.startswith("agent:"):
        # A rank that was not earned needs a reason, and one that was earned may have it.
        reason = f"to use {evaluation.resource.resource}"
        yield _get_command_line("agent", "set-rank", name, change.value, "--org", org, "--reason", reason)
    elif kind == "resume":
        agent = evaluation.state.agents[change.value]
        where = ("--all-orgs",) if agent.org_id == ALL_ORGANIZATIONS else ("--org", org)
        yield _get_command_line("agent", "move", change.value, RESUMED_AS[agent.lifecycle], *where)
    elif kind == "qualification" and change.subject.startswith("agent:"):
        declared = evaluation.view.records.qualifications[change.value].record
        size = ("--sample-size", str(declared.min_sample_size)) if declared.min_sample_size else ()
        digests = (
            word
            for digest_name, digest in declared.digests.items()
            # The current digest of a part is filled in when the result is recorded.
            for word in ("--digest", digest_name if is_part(digest) else f"{digest_name}={digest}")
        )
        score = f"{declared.threshold:g}"
        yield _get_command_line(
            "agent", "qualify", name, change.value, "--score", score, *size, *digests, "--org", org
        )
    elif kind == "lift":
        yield _get_command_line("restriction", "lift", change.value)
    elif kind == "lock":
        if find_lock(evaluation) is not None:
            yield _get_command_line("lock", "break", org, change.value)
        if evaluation.action != LOCK:
            circumstances = _get_stated_circumstances(
                evaluation,
                [
                    name
                    for each in changes
                    if each.kind == "state"
                    for name in each.value.split(",")
                    if name != LIMIT
                ],
            )
            context = ["--context", json.dumps(circumstances)] if circumstances else []
            yield _get_command_line("lock", "acquire", org, change.value, change.subject, *context)
    elif kind == "state":
        names = change.value.split(",")
        if LIMIT in names:
            yield _get_command_line("store", "upgrade")
        if stated := [name for name in names if name != LIMIT]:
            yield _repeat_question(evaluation, stated)


def _repeat_question(evaluation: Evaluation, names: list[str]) -> str:
    """The command that asks again, with placeholders for circumstances that are not stated."""
    request, stated = evaluation.request, _get_stated_circumstances(evaluation, names)
    words = ["can", request.subject, request.action, request.resource, "--org", evaluation.tables.org_id]
    words += [] if request.on_behalf_of is None else ["--on-behalf-of", request.on_behalf_of]
    words += [word for each in request.via for word in ("--via", each)]
    return _get_command_line(*words, "--context", json.dumps(stated))


def _get_stated_circumstances(evaluation: Evaluation, names: list[str]) -> dict[str, Any]:
    """The stated circumstances without the time, and those that must be stated, as empty values."""
    context = evaluation.request.context
    circumstances = {
        name: getattr(context, name)
        for name in context.__struct_fields__
        if name not in ("now", "utc_offset")
    }
    missing: dict[str, Any] = {name: {} if name == INPUT else "" for name in names}
    return {name: value for name, value in circumstances.items() if value not in (None, 0)} | missing


def _get_command_line(*words: str) -> str:
    return shlex.join(("orgkernel", *words))


# -- edits -------------------------------------------------------------------------------------------------------------


def _build_edits(evaluation: Evaluation, change: RemedyChange) -> Iterator[RemedyEdit]:
    records, kind = evaluation.view.records, change.kind
    name = change.subject.partition(":")[2]
    post = records.posts.get(name)
    is_foreign = records.document.format or (post is not None and post.document.format)
    if is_foreign and (records.document.format or kind in ("rank", "equip")):
        yield from _build_foreign_edits(evaluation, post, change)
    elif kind == "rank" and change.subject.startswith("role:"):
        yield _edit(locate_in_profile(records.posts[name], "entry_rank"), f"entry_rank: {change.value}")
    elif kind == "equip":
        yield _build_profile_entry(evaluation, change, name)
    elif kind == "role":
        place = records.agents[name].place("assignments", key=True)
        yield _edit(place, f"- role: {change.value}", f"agents.{name}.assignments")
    elif kind == "policy_removed":
        yield _edit(records.policies[change.value].place(), "enabled: false", f"policies.{change.value}")
    elif kind == "enable":
        place = records.tools[change.value].place("enabled")
        yield _edit(place, "enabled: true", f"tools.{change.value}")
    elif kind == "declare":
        yield from _find_declaration_edits(evaluation, change.value)


def _build_foreign_edits(
    evaluation: Evaluation, post: RolePost | None, change: RemedyChange
) -> Iterator[RemedyEdit]:
    """The edits for a role in the format of another host: its own file lists its tools, and an overlay adds the rest."""
    kind, _, name = change.value.partition(":")
    records = evaluation.view.records
    if post is None:
        return
    if change.kind == "equip" and kind == "tool":
        is_theirs = name in records.tools and records.tools[name].document.format == post.document.format
        if is_theirs and post.document.has("tools") and name not in post.profile.does_not_have:
            yield _edit(post.document.place("tools"), name, "tools")
    elif not records.document.format and change.kind == "rank":
        yield from _build_overlay_edit(records, post, "entry_rank", change.value)
    elif not records.document.format and change.kind == "equip":
        field = {"role": "handoff.may_to", "credential": "credentials"}.get(kind, kind)
        yield from _build_overlay_edit(records, post, field, name, in_list=True)


def _build_overlay_edit(
    records: OrgRecords, post: RolePost, field: str, value: str, *, in_list: bool = False
) -> Iterator[RemedyEdit]:
    """The edit of a role's overlay, or the overlay to create if there is none."""
    route = field.split(".")
    overlay = next((part for part in post.document.parts if not part.format), None)
    if overlay is not None:
        written = next(
            (route[:length] for length in range(len(route), 0, -1) if overlay.has(*route[:length])), None
        )
        place = overlay.place(*(written or ("role_id",)), key=True)
        yield _edit(place, f"- {value}", field) if in_list else _edit(place, f"{field}: {value}")
        return
    field_text = f"{route[-1]}: [{value}]" if in_list else f"{route[-1]}: {value}"
    for step in reversed(route[:-1]):
        field_text = f"{step}: {{{field_text}}}"
    folder, slash, _ = records.document.name.rpartition("/")
    lines = (f"_schema: {PREFIX}role_profile", f"role_id: {post.role_id}", "overlay: true", field_text)
    for number, line in enumerate(lines, 1):
        yield RemedyEdit(f"{folder}{slash}roles/{post.role_id}.yaml", number, line)


def _edit(place: Place, write: str, under: str = "") -> RemedyEdit:
    return RemedyEdit(place.file, place.line, write, under)


def _build_profile_entry(evaluation: Evaluation, change: RemedyChange, role: str) -> RemedyEdit:
    post = evaluation.view.records.posts[role]
    kind, _, name = change.value.partition(":")
    if kind == "tool":
        place = locate_in_profile(post, "capabilities", "tools")
        return _edit(place, f"- {{tool: {name}, level: {change.level}}}", "capabilities.tools")
    if kind == "role":
        return _edit(locate_in_profile(post, "handoff", "may_to"), f"- {name}", "handoff.may_to")
    field = {"credential": "credentials"}.get(kind, kind)
    return _edit(locate_in_profile(post, field), f"- {name}", field)


def _build_identity(name: str) -> str:
    """A sender as an identity of a person, with placeholders for an unknown one."""
    platform, *rest = name.split("/")
    if not rest:
        return "{platform: PLATFORM, id: ID}"
    space = f"space: {rest[0]}, " if len(rest) > 1 and rest[0] else ""
    return f"{{platform: {platform}, {space}id: {'/'.join(rest[1:]) if len(rest) > 1 else rest[0]}}}"


def _find_declaration_edits(evaluation: Evaluation, subject: str) -> Iterator[RemedyEdit]:
    """The place where other subjects of the kind are declared; nothing if there are none, or the kind does not exist."""
    records = evaluation.view.records
    kind, _, name = subject.partition(":")
    if subject == f"person:{UNKNOWN_SENDER}":
        kind, name = "sender", ""
    if kind == "role":
        place = records.document.place("hierarchy", key=True)
        yield _edit(place, f"{name}: {{}}", "hierarchy")
        # A role in the hierarchy without a profile is an error, and an organization with errors is not served.
        folder, slash, _ = records.document.name.rpartition("/")
        for number, line in enumerate((f"_schema: {PREFIX}role_profile", f"role_id: {name}"), 1):
            yield RemedyEdit(f"{folder}{slash}roles/{name}.yaml", number, line)
        return
    known: dict[str, tuple[Mapping[str, Any], str, str]] = {
        "agent": (records.agents, f"{name}: {{assignments: [{{role: ROLE}}]}}", "agents"),
        "person": (records.people, f"{name}: {{relationship: RELATIONSHIP}}", "people"),
        "sender": (records.people, f"identities: [{_build_identity(name)}]", "people.PERSON"),
        "system": (records.system_origins, f"{name}: {{}}", "system_origins"),
        "webhook": (records.webhooks, f"{name}: {{}}", "webhooks"),
    }  # fmt: skip
    declared, write, under = known.get(kind, ({}, "", ""))
    for definition in list(declared.values())[:1]:
        yield _edit(definition.document.place(definition.section, key=True), write, under)
