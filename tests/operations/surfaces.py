"""One write through each surface: the operation itself, a route of the application, a command; and what came of it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import msgspec
from starlette.testclient import TestClient

from manifest_api import create_app
from orgkernel.decisions.access.request import AccessContext, AccessRequest
from orgkernel.decisions.evidence.crew_records import Personality
from orgkernel.decisions.evidence.skill_levels import SkillTerms
from orgkernel.decisions.evidence.state_records import SCOPES, AuditFilter, RequestApproval
from orgkernel.decisions.handoff.permission import HandoffQuestion
from orgkernel.decisions.ownership.recorded import ChangePage
from orgkernel.decisions.work.contracts.reading import check_read_contract, read_contract
from orgkernel.documents.records import DecisionEntry
from orgkernel.errors import OrgkernelError
from orgkernel.kernel.kernel import Kernel
from orgkernel.loading.files import decode
from orgkernel.operations import (
    agents,
    certificates,
    claims,
    commissions,
    contracts,
    crew,
    handoffs,
    keys,
    locks,
    ownership_audits,
    permissions,
    skills,
)
from orgkernel.operations.context import Actor, Context, build_actor
from orgkernel.operations.permissions import GrantDraft, RequestDraft, RestrictionDraft
from orgkernel.operations.reports import submission as reports
from orgkernel.runtime.salute_format import read_report
from orgkernel.state.audit import read_rows
from orgkernel.state.contracts import WantedContract
from orgkernel.state.crew import CommissionDraft
from orgkernel.state.handoffs import WantedHandoff
from orgkernel.state.location import StoreLocation, parse_location
from orgkernel.state.requests import ApprovalStep
from orgkernel.state.store import Store
from tests.api.running import until
from tests.support.contracts import as_text
from tests.support.in_process import run_here

OPERATOR = "system:cli"
Said = dict[str, Any]


class Happened(NamedTuple):
    """What came of a write, alike for every surface: ids are numbered, times are `now`, the actor is `WHO`."""

    code: str | None
    """Of the refusal; None where the write was done, or where a surface tells no code."""
    message: str
    record: Any
    """What the surface answered."""
    rows: dict[str, Any]
    """New and changed records of the store, by table."""
    audit: list[Any]
    """New rows of the audit, oldest first."""


class World(NamedTuple):
    """An organization, and a store in which something happened before."""

    folder: Path
    kernel: Kernel
    place: StoreLocation
    store: Store


def prepare(store: Store, before: list[list[Any]]) -> list[str]:
    """Do what happened before; the ids of the records, in order."""
    ids: list[str] = []
    for name, given in before:
        part, _, method = name.partition(".")
        with_ids = _filled(given, ids)
        if "terms" in with_ids:
            with_ids["terms"] = SkillTerms(with_ids["terms"], 14)
        if "step" in with_ids:
            added = msgspec.convert(with_ids["step"], RequestApproval)
            seen = store.requests.get(with_ids["request_id"]).approvals
            with_ids["step"] = ApprovalStep(added, seen, (added.approver,), is_last=False)
        if "decide" in with_ids:
            wanted = handed_down(**with_ids["decide"])
            with_ids["decide"] = lambda rows, wanted=wanted: wanted
        if "drafts" in with_ids:
            with_ids["drafts"] = msgspec.convert(with_ids["drafts"], list[CommissionDraft])
        done = getattr(getattr(store, part), method)(**with_ids)
        record = done[0] if isinstance(done, tuple) else done
        if method in ("issue", "create"):
            ids.append(getattr(record, record.__struct_fields__[0]))
    return ids


def handed_down(brief: dict[str, Any] | None = None, **said: Any) -> WantedHandoff:
    """A hand-off as the operation would permit it; its brief is stored with it."""
    stored = None if brief is None else WantedContract("brief", brief, lambda: "unused")
    known: dict[str, Any] = {
        "sender": "person:owner", "receiver": f"role:{said.get('holder', '')}", "queue_mode": "queue", "session_key": "k",
        "code": "CHAIN_OF_COMMAND", "snapshot": "sha256:" + "0" * 64, "seconds": 3_600.0,
        "mission": None if brief is None else brief.get("parent"),
    }  # fmt: skip
    return WantedHandoff(**{**known, **said}, brief=stored)


def run_operation(world: World, who: str, write: str, said: Said) -> Happened:
    """By the function all surfaces call."""
    store = world.store
    before = _Looked(store)
    member = build_actor(who)
    context = Context(world.kernel.with_store(store), store, Actor(who, member.member, uses_grants=True))
    try:
        done, refused = OPERATIONS[write](context, _with_times(said)), None
    except OrgkernelError as error:
        done, refused = None, error
    record = msgspec.to_builtins(done[0] if isinstance(done, tuple) else done)
    code, message = (None, "") if refused is None else (refused.code, refused.message)
    return before.compare(store, who, code, message, record)


def run_route(world: World, who: str, write: str, said: Said) -> Happened | None:
    """Over HTTP with a key of every scope, that of the agent or person who acts; None where there is no route."""
    if write not in ROUTES or not who.startswith((OPERATOR, "agent:", "person:")):
        return None
    kind, _, name = who.partition(":")
    agent, person = (name if kind == each else None for each in ("agent", "person"))
    path, body = ROUTES[write](_with_times(said))
    store = world.store
    orgs = (*world.kernel.state.served, *world.kernel.state.refused)
    scopes = SCOPES if agent is None else [scope for scope in SCOPES if scope != "admin"]
    key, secret = store.keys.create(
        "corpus",
        scopes,
        created_by="corpus",
        agent_id=agent,
        person_id=person,
        org_ids=() if agent is None and person is None else orgs,
    )
    before = _Looked(store)
    with TestClient(create_app(world.kernel, store=world.place), base_url="http://127.0.0.1:8000", client=("127.0.0.1", 1)) as client:  # fmt: skip
        # A server that has not read its store yet refuses to write, as on a machine with other work.
        until(lambda: client.get("/readyz").status_code, lambda status: status == 200)
        answer = client.post(path, json=body, headers={"Authorization": f"Bearer {secret}"})
    told = answer.json()
    actor = f"caller:{key.key_id}"
    if answer.is_success:
        record = told["request"] if write == "request.approve" else told
        return before.compare(store, actor, None, "", record)
    return before.compare(store, actor, told["code"], told["detail"], None)


def run_command(world: World, who: str, write: str, said: Said) -> Happened | None:
    """By the command line; None where there is no command."""
    arguments = COMMANDS[write](dict(said)) if write in COMMANDS else None
    if arguments is None:
        return None
    store = world.store
    before = _Looked(store)
    by = [] if who == OPERATOR else ["--by", who]
    done = run_here(*arguments, *by, "--format", "json", "--store", world.place.path, cwd=world.folder)
    if done.returncode == 0:
        return before.compare(store, who, None, "", json.loads(done.stdout))
    message = re.match(r"error: (.*)", done.stderr)
    assert message, done.stderr
    return before.compare(store, who, None, message[1], None)


SURFACES: dict[str, Callable[[World, str, str, Said], Happened | None]] = {
    "operation": run_operation,
    "route": run_route,
    "command": run_command,
}

OPERATIONS: dict[str, Callable[[Context, Said], Any]] = {
    "grant.issue": lambda context, said: permissions.issue_grant(context, msgspec.convert(said, GrantDraft)),
    "grant.revoke": lambda context, said: permissions.revoke_grant(context, **_renamed(said, id="grant_id")),
    "grant.wake": lambda context, said: permissions.wake_grant(
        context, **_renamed(said, id="grant_id", org_id="org")
    ),
    "restriction.issue": lambda context, said: permissions.issue_restriction(
        context, msgspec.convert(said, RestrictionDraft)
    ),
    "restriction.lift": lambda context, said: permissions.lift_restriction(
        context, **_renamed(said, id="restriction_id")
    ),
    "request.ask": lambda context, said: permissions.ask(context, msgspec.convert(said, RequestDraft)),
    "request.approve": lambda context, said: permissions.approve(context, **_renamed(said, id="request_id")),
    "request.deny": lambda context, said: permissions.deny(context, **_renamed(said, id="request_id")),
    "agent.add": lambda context, said: agents.add_agent(context, **_renamed(said, agent="agent_id")),
    "agent.rank": lambda context, said: agents.set_rank(context, **_renamed(said, agent="agent_id")),
    "agent.trust": lambda context, said: agents.set_trust(context, **_renamed(said, agent="agent_id")),
    "agent.move": lambda context, said: agents.move_agent(context, **_renamed(said, agent="agent_id")),
    "agent.qualify": lambda context, said: agents.record_result(context, **_renamed(said, agent="agent_id")),
    "agent.invalidate": lambda context, said: agents.invalidate_result(
        context, **_renamed(said, agent="agent_id", result="result_id")
    ),
    "agent.promote": lambda context, said: agents.promote_agent(context, **_renamed(said, agent="agent_id")),
    "agent.acquire": lambda context, said: skills.acquire_skill(context, **_renamed(said, agent="agent_id")),
    "agent.exercise": lambda context, said: skills.exercise_skill(
        context, **_renamed(said, agent="agent_id")
    ),
    "agent.assess": lambda context, said: skills.assess_skill(context, **_renamed(said, agent="agent_id")),
    "agent.suspend_skill": lambda context, said: skills.suspend_skill(
        context, **_renamed(said, agent="agent_id")
    ),
    "agent.resume_skill": lambda context, said: skills.resume_skill(
        context, **_renamed(said, agent="agent_id")
    ),
    "agent.commission": lambda context, said: commissions.commission_agents(
        context,
        [msgspec.convert(_without(said, "org", "reason"), commissions.CommissionOrder)],
        org=said.get("org"),
        reason=said.get("reason", ""),
    ),
    "agent.renew_certificate": lambda context, said: certificates.renew_certificate(
        context, **_renamed(said, agent="agent_id")
    ),
    "agent.revoke_certificate": lambda context, said: certificates.revoke_certificate(
        context, **_renamed(said, agent="agent_id")
    ),
    "agent.record": lambda context, said: crew.record_episode(
        context,
        said["agent"],
        msgspec.convert(_without(said, "org", "agent"), crew.EpisodeDraft),
        org=said["org"],
    ),
    "agent.observe": lambda context, said: crew.observe_personality(
        context,
        said["agent"],
        Personality(**_without(said, "org", "agent", "reason")),
        org=said["org"],
        reason=said.get("reason", ""),
    ),
    "org.alert": lambda context, said: crew.set_status(context, "alert", **_renamed(said, alert="value")),
    "org.watch": lambda context, said: crew.set_status(context, "watch", **_renamed(said, watch="value")),
    "lock.acquire": lambda context, said: locks.acquire_lock(context, **_in_circumstances(said)),
    "lock.release": lambda context, said: locks.release_lock(context, **said),
    "lock.break": lambda context, said: locks.break_lock(context, **said),
    "claim.make": lambda context, said: claims.claim_files(context, **said),
    "claim.extend": lambda context, said: claims.extend_claim(context, **said),
    "claim.release": lambda context, said: claims.release_claim(context, **said),
    "claim.transfer": lambda context, said: claims.transfer_claim(context, **said),
    "contract.record": lambda context, said: contracts.record_contract(
        context,
        check_read_contract(
            read_contract(decode("contract", "contract", as_text(said["contract"]).encode()))
        ),
        org=said.get("org"),
    ),
    "audit.record": lambda context, said: ownership_audits.record_audit(
        context,
        msgspec.convert(_without(said, "org", "files", "commits"), ownership_audits.AuditRequest),
        msgspec.convert(
            {"page": 1, "pages": 1, "commits": (), **_only(said, "files", "commits")}, ChangePage
        ),
        context.documents.sacred_files(said["org"]),
        org=said["org"],
    ),
    "handoff.record": lambda context, said: handoffs.record_handoff(
        context,
        handoffs.HandoffOrder(
            **_renamed(_without(said, "org", "brief", *_STATED), **{"from": "sender"}),
            question=HandoffQuestion(sender="", receiver="", **_only(said, *_STATED)),
        ),
        read_contract(decode("brief", "brief", as_text(said["brief"]).encode())) if "brief" in said else None,
        org=said.get("org"),
    ),
    "decision.add": lambda context, said: contracts.add_decision(
        context, msgspec.convert(_without(said, "org"), DecisionEntry), org=said.get("org")
    ),
    "report.hand_in": lambda context, said: reports.hand_in_report(context, read_report(said)),
    "key.create": lambda context, said: keys.create_key(context, **said),
    "key.rotate": lambda context, said: keys.rotate_key(context, **_renamed(said, id="key_id")),
    "key.revoke": lambda context, said: keys.revoke_key(context, **_renamed(said, id="key_id")),
}


_STATED = ("depth", "children", "concurrent", "pace", "on_behalf_of", "budget_guard")


def _only(said: Said, *names: str) -> Said:
    return {name: value for name, value in said.items() if name in names}


def _without(said: Said, *names: str) -> Said:
    return {name: value for name, value in said.items() if name not in names}


def _in_circumstances(said: Said) -> Said:
    """A lock in the circumstances that are said."""
    context = AccessContext(**said.get("context", {}))
    rest = {name: value for name, value in said.items() if name != "context"}
    return rest | {"circumstances": AccessRequest("", "lock", "", context)}


def _route(path: str) -> Callable[[Said], tuple[str, Said]]:
    """A path with names of the body in it, which are then not in the body. The active organization is the default."""

    def fill(said: Said) -> tuple[str, Said]:
        named = re.findall(r"{(\w+)}", path)
        body = {name: value for name, value in said.items() if name not in named}
        return path.format(**{"org": "active", "org_id": "active"} | said), body

    return fill


ROUTES: dict[str, Callable[[Said], tuple[str, Said]]] = {
    "grant.issue": _route("/v1/orgs/{org_id}/grants"),
    "grant.revoke": _route("/v1/orgs/{org_id}/grants/{id}/revoke"),
    "grant.wake": _route("/v1/orgs/{org_id}/grants/{id}/wake"),
    "restriction.issue": _route("/v1/orgs/{org_id}/restrictions"),
    "restriction.lift": _route("/v1/orgs/{org_id}/restrictions/{id}/lift"),
    "request.ask": _route("/v1/orgs/{org_id}/requests"),
    "request.approve": _route("/v1/orgs/{org_id}/requests/{id}/approve"),
    "request.deny": _route("/v1/orgs/{org_id}/requests/{id}/deny"),
    "agent.rank": _route("/v1/orgs/{org}/agents/{agent}/rank"),
    "agent.move": _route("/v1/orgs/{org}/agents/{agent}/lifecycle"),
    "agent.qualify": _route("/v1/orgs/{org}/agents/{agent}/results"),
    "agent.invalidate": _route("/v1/orgs/{org}/agents/{agent}/results/{result}/invalidate"),
    "agent.promote": _route("/v1/orgs/{org}/agents/{agent}/promotion"),
    "agent.acquire": _route("/v1/orgs/{org}/agents/{agent}/skills"),
    "agent.exercise": _route("/v1/orgs/{org}/agents/{agent}/skills/{skill}/exercise"),
    "agent.assess": _route("/v1/orgs/{org}/agents/{agent}/skills/{skill}/assess"),
    "agent.suspend_skill": _route("/v1/orgs/{org}/agents/{agent}/skills/{skill}/suspend"),
    "agent.resume_skill": _route("/v1/orgs/{org}/agents/{agent}/skills/{skill}/resume"),
    "agent.commission": lambda said: (
        f"/v1/orgs/{said['org']}/agents",
        {"agents": [_without(said, "org", "reason")], "reason": said.get("reason", "")},
    ),
    "agent.renew_certificate": _route("/v1/orgs/{org}/agents/{agent}/certificate/renew"),
    "agent.revoke_certificate": _route("/v1/orgs/{org}/agents/{agent}/certificate/revoke"),
    "agent.record": lambda said: (
        f"/v1/orgs/{said['org']}/agents/{said['agent']}/episodes",
        _without(said, "org", "agent"),
    ),
    "agent.observe": lambda said: (
        f"/v1/orgs/{said['org']}/agents/{said['agent']}/personality",
        _without(said, "org", "agent"),
    ),
    "org.alert": _route("/v1/orgs/{org}/alert"),
    "org.watch": _route("/v1/orgs/{org}/watch"),
    "lock.acquire": _route("/v1/orgs/{org}/locks"),
    "lock.release": _route("/v1/orgs/{org}/locks/{tool}/release"),
    "lock.break": _route("/v1/orgs/{org}/locks/{tool}/break"),
    "claim.make": _route("/v1/orgs/{org}/claims"),
    "claim.extend": _route("/v1/orgs/{org}/claims/{token}/extend"),
    "claim.release": _route("/v1/orgs/{org}/claims/{token}/release"),
    "claim.transfer": _route("/v1/orgs/{org}/claims/{token}/transfer"),
    "report.hand_in": lambda said: (
        f"/v1/orgs/{said.get('unit', {}).get('organization') or 'active'}/salute",
        said,
    ),
    "contract.record": _route("/v1/orgs/{org}/contracts"),
    "handoff.record": _route("/v1/orgs/{org}/handoffs"),
    "audit.record": _route("/v1/orgs/{org}/ownership/audits"),
}


def _command(words: str) -> Callable[[Said], list[str] | None]:
    """A command with its arguments by name; what is left are options, repeated for lists. None where one is missing."""

    def fill(said: Said) -> list[str] | None:
        found: list[str] = []
        for word in words.split():
            if not word.startswith("{"):
                found.append(word)
                continue
            if (value := said.pop(word[1:-1], None)) is None:
                return None
            found += value if isinstance(value, list) else [str(value)]
        for name, value in said.items():
            for each in value if isinstance(value, list) else [value]:
                found += [
                    _OPTIONS.get(name, f"--{name}"),
                    json.dumps(each) if isinstance(each, dict) else str(each),
                ]
        return found

    return fill


_OPTIONS = {
    "expires_at": "--expires", "org_id": "--org", "org_ids": "--org", "waives": "--waive", "scopes": "--scope", "agent_id": "--agent",
    "input_digest": "--input-digest", "sample_size": "--sample-size", "digests": "--digest",
    "person_id": "--person", "public_key": "--public-key",
}  # fmt: skip
_OF_DECISIONS = {
    "classification": "class", "written_by": "written-by", "corrects_premise": "corrects-premise",
}  # fmt: skip
_BRIEFS = TemporaryDirectory()


def _contract_command(said: Said) -> list[str]:
    """With the contract in a file that is called as the text in a request."""
    file = Path(_BRIEFS.name, "contract")
    file.write_text(as_text(said["contract"]), encoding="utf-8")
    return _command("task record {contract}")({**said, "contract": str(file)}) or []


def _handoff_command(said: Said) -> list[str] | None:
    """With its brief in a file, and the agent who hands work down as FROM."""
    words = {name.replace("_", "-"): value for name, value in said.items()}
    if "brief" in said:
        file = Path(_BRIEFS.name, "brief.yaml")
        file.write_text(as_text(said["brief"]), encoding="utf-8")
        words["brief"] = str(file)
    return _command("task handoff record {from} {to}")(words)


COMMANDS: dict[str, Callable[[Said], list[str] | None]] = {
    "grant.issue": _command("grant issue {subject} {resources}"),
    "grant.revoke": _command("grant revoke {id}"),
    "grant.wake": _command("grant wake {id}"),
    "restriction.issue": _command("restriction issue {subject} {resources}"),
    "restriction.lift": _command("restriction lift {id}"),
    "request.ask": _command("request create {requester} {resources}"),
    "request.approve": _command("request approve {id} {approval}"),
    "request.deny": _command("request deny {id}"),
    "agent.add": _command("agent add {agent}"),
    "agent.rank": _command("agent set-rank {agent} {rank}"),
    "agent.trust": _command("agent set-trust {agent} {trust}"),
    "agent.move": _command("agent move {agent} {lifecycle}"),
    "agent.qualify": lambda said: _command("agent qualify {agent} {qualification}")(
        {**said, "digests": [f"{name}={digest}" for name, digest in said.get("digests", {}).items()]}
    ),
    "agent.invalidate": _command("agent invalidate {agent} {result}"),
    "agent.promote": _command("agent promote {agent}"),
    "agent.acquire": _command("agent acquire {agent} {skill}"),
    "agent.exercise": _command("agent exercise {agent} {skill}"),
    "agent.assess": _command("agent assess {agent} {skill} {level}"),
    "agent.suspend_skill": _command("agent suspend-skill {agent} {skill}"),
    "agent.resume_skill": _command("agent resume-skill {agent} {skill}"),
    "agent.commission": _command("agent commission {agent}"),
    "agent.renew_certificate": _command("agent renew-certificate {agent}"),
    "agent.revoke_certificate": _command("agent revoke-certificate {agent}"),
    "agent.record": lambda said: _command("agent record {agent}")(
        {{"skills": "skill", "tools": "tool"}.get(name, name): value for name, value in said.items()}
    ),
    "agent.observe": _command("agent personality {agent}"),
    "org.alert": _command("crew alert {alert}"),
    "org.watch": _command("crew watch {watch}"),
    "lock.acquire": _command("lock acquire {org} {tool} {holder}"),
    "lock.release": _command("lock release {org} {tool} {token} {holder}"),
    "lock.break": _command("lock break {org} {tool}"),
    "claim.make": _command("claim add {org} {holder} {paths}"),
    "claim.extend": _command("claim extend {org} {token} {holder}"),
    "claim.release": _command("claim release {org} {token} {holder}"),
    "claim.transfer": _command("claim transfer {org} {token} {holder} {to}"),
    "contract.record": _contract_command,
    "handoff.record": _handoff_command,
    "decision.add": lambda said: _command("task log add {title}")(
        {_OF_DECISIONS.get(name, name): value for name, value in said.items()}
    ),
    "key.create": _command("key create {name}"),
    "key.rotate": lambda said: _command("key rotate {id}")({**said, "overlap": f"{said['overlap']}s"}),
    "key.revoke": _command("key revoke {id}"),
}

_TABLES: dict[str, Callable[[Any], Any]] = {
    "contracts": lambda store: [*store.contracts.list("household"), *store.contracts.list("omega")],
    "handoffs": lambda store: store.handoffs.list(),
    "agents": lambda store: store.agents.list(),
    "grants": lambda store: store.grants.list(),
    "keys": lambda store: [key for key in store.keys.list() if key.name != "corpus"],
    "locks": lambda store: store.locks.list(),
    "claims": lambda store: store.claims.list(),
    "reports": lambda store: store.reports.latest(),
    "requests": lambda store: store.requests.list(),
    "restrictions": lambda store: store.restrictions.list(),
    "results": lambda store: store.results.list(),
    "skills": lambda store: store.skills.list(),
}


_OF_CREW = ("commissions", "outcomes", "personalities", "status")


def _of_crew(store: Any) -> Iterator[tuple[str, list[Any]]]:
    """The records of the household, by table."""
    view = store.read_view("household")
    for field in _OF_CREW:
        found = getattr(view, field).values()
        yield field, [one for each in found for one in (each if isinstance(each, tuple) else (each,))]


_BEGINS = ("claimed_at", "issued_at", "created_at", "acquired_at", "at")
_OFTEN_NOTHING = ("successes", "failures", "exercises", "suspended")
"""Left out where they are 0 or false."""
_NOT_ALIKE = (
    "snapshot",
    "state_version",
    "seconds",
    "key",
    "body",
    "did",
    "issuer",
    "signature",
    "certificate_sha256",
    "since",
    "set_by",
    "born_at",
    "why",
    "previous",
    "digest",
)
"""What no two runs have in common: the secret of a key among it."""


class _Looked:
    """What is in a store at a moment."""

    def __init__(self, store: Any) -> None:
        tables = [*((name, read(store)) for name, read in _TABLES.items()), *_of_crew(store)]
        self._rows = {name: msgspec.to_builtins(tuple(rows)) for name, rows in tables}
        self._audit = [msgspec.to_builtins(row.entry) for row in read_rows(store.context, AuditFilter())][
            ::-1
        ]

    def compare(self, store: Any, actor: str, code: str | None, message: str, record: Any) -> Happened:
        """What a later look finds besides."""
        now = _Looked(store)
        alike = _Alike(actor)
        for rows in self._rows.values():
            alike(rows)  # ids are numbered in the order of what was there first
        changed = {
            name: [alike(row) for row in rows if row not in self._rows[name]]
            + [{"gone": alike(row)} for row in self._rows[name] if not _has(rows, row)]
            for name, rows in now._rows.items()
        }
        audit = [alike(row) for row in now._audit if row not in self._audit]
        return Happened(
            code, alike(message), alike(record), {name: rows for name, rows in changed.items() if rows}, audit
        )


def _has(rows: Any, row: Any) -> bool:
    """Whether a record is still there, changed or not: by its first field, or the first two where that is a lock or a claim."""
    names = list(row)[: 3 if "skill" in row else 2 if "token" in row or "number" in row else 1]
    return any(all(each.get(name) == row[name] for name in names) for each in rows)


class _Alike:
    """Makes what two runs tell alike."""

    def __init__(self, actor: str) -> None:
        self._actor = actor
        self._ids: dict[str, str] = {}

    def __call__(self, value: Any, name: str = "", begin: float | None = None) -> Any:
        if isinstance(value, dict):
            begin = next((value[each] for each in _BEGINS if value.get(each)), begin)
            found = {key: self(each, key, begin) for key, each in value.items() if key not in _NOT_ALIKE}
            return {
                key: each
                for key, each in found.items()
                if each not in (None, "", [], {}) and (each or key not in _OFTEN_NOTHING)
            }
        if isinstance(value, list | tuple):
            return [self(each, name) for each in value]
        if name in ("issued_by", "actor", "responder", "created_by", "credential") and value == self._actor:
            return "WHO"
        if isinstance(value, str):
            value = re.sub(r"[^\s(]*\bcontract:\d+:\d+", "PLACE", value)
            value = re.sub(r"\b[0-9a-f]{12}:decision:\d+", "DECISION", value)
            value = re.sub(r"\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", "UUID", value)
            return re.sub(r"\b[grxk]-[0-9a-f]{12}\b", self._number, value)
        if name == "expires_at" and value and begin and value - begin < 10**7:
            return f"after {round(value - begin)} seconds"
        if name == "expires_at" and value:
            return datetime.fromtimestamp(value, UTC).isoformat()
        if name in ("at", "decays_from") or name.endswith("_at"):
            return "now" if value else None
        return value

    def _number(self, found: re.Match[str]) -> str:
        return self._ids.setdefault(
            found[0], f"{found[0][0]}{len(self._ids) + 1}" if int(found[0][2:], 16) else found[0]
        )


def _filled(said: Any, ids: list[str]) -> Any:
    """What is said, with `$1` for the id of the first record made before."""
    if isinstance(said, dict):
        return {name: _filled(value, ids) for name, value in said.items()}
    if isinstance(said, list):
        return [_filled(each, ids) for each in said]
    return ids[int(said[1:]) - 1] if isinstance(said, str) and re.fullmatch(r"\$\d", said) else said


def filled(said: Said, ids: list[str]) -> Said:
    """What is said, with the ids of what was made before."""
    found: Said = _filled(said, ids)
    return found


def _with_times(said: Said) -> Said:
    ends = said.get("expires_at")
    return said if ends is None else {**said, "expires_at": datetime.fromisoformat(ends).timestamp()}


def _renamed(said: Said, **names: str) -> Said:
    return {names.get(name, name): value for name, value in said.items()}


def place_in(folder: Path) -> StoreLocation:
    """A store in a folder."""
    return parse_location("state.db", str(folder))
