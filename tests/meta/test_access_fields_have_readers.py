"""Every field that access is declared with has a reader: a finding or a decision changes with its value.

What says something to people, or about what comes next, changes a manifest (`SHOWN`); what only `orgkernel diff` tells of
the directory is in `TOLD`.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml
from pydantic import BaseModel

from orgkernel.decisions.access.decide import decide_access
from orgkernel.decisions.access.envelope import decide_envelope
from orgkernel.decisions.access.layers.limits import list_charges
from orgkernel.decisions.access.limits import CompiledLimit
from orgkernel.decisions.access.request import AccessContext, AccessRequest
from orgkernel.decisions.access.tables import get_access_tables
from orgkernel.decisions.evidence.crew_records import Personality, PersonalityObservation
from orgkernel.decisions.evidence.state_view import AgentState, QualificationResult, StateView
from orgkernel.diff.directory_effects import compare_directories
from orgkernel.documents.model.kinds import KINDS
from orgkernel.kernel.drift import find_drift
from orgkernel.manifest.agent import build_agent_manifest
from orgkernel.manifest.organization import build_organization_manifest
from orgkernel.snapshots.snapshot import Snapshot
from tests.support.sampling import sample_every
from tests.support.trees import copy_template, read
from tests.support.yaml_text import read_yaml_file

FILES = {
    "rank_ladder": "ranks.yaml",
    "qualification_catalog": "qualifications.yaml",
    "directory": "directory.yaml",
    "access_policies": "policies.yaml",
    "crew_roster": "crew.yaml",
    "tool_catalog": "tools.yaml",
    "organization": "org.yaml",
    "role_profile": "roles/steward.yaml",
}
LADDER = {
    "_schema": "orgkernel:rank_ladder",
    "ranks": [{"id": "lieutenant"}, {"id": "commander", "trust_from": 0.7}],
    "promotions": {
        "commander": {
            "requirements": [{"skills": "universal", "min_proficiency": 2, "min_count": 3}],
            "qualifications": ["safety"],
        }
    },
    "matrices": {
        "mine": [
            {
                "name": "mail",
                "types": ["communication"],
                "side_effects": ["write"],
                "levels": {"commander": "write"},
            },
            {"name": "files", "types": ["deterministic_function"], "levels": {"commander": "full"}},
        ]
    },
}
QUALIFICATIONS = {
    "_schema": "orgkernel:qualification_catalog",
    "qualifications": {
        "safety": {"unlocks": ["smart_home"]},
        "basics": {"raises": ["communication"]},
        "first": {},
        "spare": {"prerequisites": ["first"], "unlocks": ["notify"]},
    },
}
TOOL = "tool_catalog:tools.send_email"
POLICY = "access_policies:policies"
# Each test of an argument: the argument, a value of the test that it fails, and one that it passes.
ARGUMENT_TESTS: dict[str, tuple[Any, Any, Any]] = {
    "one_of": ("rome", ["oslo"], ["rome"]),
    "none_of": ("rome", ["rome"], ["oslo"]),
    "matches": ("rome", ["o*"], ["r*"]),
    "not_matches": ("rome", ["r*"], ["o*"]),
    "host_in": ("https://b.org/", ["a.org"], ["b.org"]),
    "host_not_in": ("https://b.org/", ["b.org"], ["a.org"]),
    "under": ("src/a", ["docs/**"], ["src/**"]),
    "not_under": ("src/a", ["src/**"], ["docs/**"]),
    "more_than": (5, 10, 3),
    "less_than": (5, 3, 10),
    "longer_than": ("rome", 10, 2),
}
# Kind and route to another valid value.
FIELDS: dict[str, Any] = {
    f"{TOOL}.enabled": False,
    f"{TOOL}.departments": ["attic"],
    f"{TOOL}.restricted_to": ["clerk"],
    f"{TOOL}.rank_matrix": {"commander": "read"},
    f"{TOOL}.qualifications": ["basics"],
    f"{TOOL}.credentials": ["mail"],
    f"{TOOL}.concurrency": "exclusive",
    "tool_catalog:tools.shell.lock_timeout_seconds": None,
    "organization:rank_matrix": None,
    "organization:separations.keep_and_send.tools": ["smart_home", "send_email"],
    "organization:separations.keep_and_send.roles": ["steward", "errand_runner"],
    "role_profile:may_grant": [{"tool": "shell", "level": "read"}],
    "role_profile:entry_rank": "lieutenant",
    "rank_ladder:ranks.0.id": "private",
    "rank_ladder:ranks.1.trust_from": 0.5,
    "rank_ladder:promotions.commander.requirements.0.min_count": 30,
    "rank_ladder:promotions.commander.requirements.0.skills": "required_role",
    "rank_ladder:promotions.commander.qualifications": ["saefty"],
    "rank_ladder:matrices.mine.0.name": "post",
    "rank_ladder:matrices.mine.0.types": ["browser"],
    "rank_ladder:matrices.mine.0.side_effects": ["read"],
    "rank_ladder:matrices.mine.0.levels": {"commander": "read"},
    "qualification_catalog:qualifications.safety.unlocks": ["shell"],
    "qualification_catalog:qualifications.basics.raises": [],
    "qualification_catalog:qualifications.spare.prerequisites": [],
    "qualification_catalog:qualifications.safety.expires_after_days": 2,
    "qualification_catalog:qualifications.safety.min_sample_size": 5,
    "qualification_catalog:qualifications.safety.digests": {"model": "m1"},
    "directory:people.partner.relationship": "friend",
    "directory:people.colleague.tags": [],
    "directory:people.partner.identities.0.platform": "telegram",
    "directory:people.partner.identities.0.space": "home",
    "directory:people.partner.identities.0.id": "another-phone",
    "directory:system_origins": {},
    "directory:webhooks": {"stripe": {}},
    f"{POLICY}.partner-access.effect": "ask",
    f"{POLICY}.partner-access.enabled": False,
    f"{POLICY}.partner-access.ceiling": True,
    f"{POLICY}.webhook-unknown.fallback": False,
    f"{POLICY}.partner-access.permissions.tools": "*",
    f"{POLICY}.partner-access.permissions.tools.allow": ["weather"],
    f"{POLICY}.partner-access.permissions.tools.deny": ["weather"],
    f"{POLICY}.partner-access.permissions.credentials": ["github"],
    f"{POLICY}.partner-access.permissions.roles": ["clerk"],
    f"{POLICY}.partner-access.permissions.data": "full",
    f"{POLICY}.group-chat-restrictions.permissions.paths": ["docs/**"],
    f"{POLICY}.no-rm.permissions.commands": ["ls"],
    **{
        f"{POLICY}.by-{test.replace('_', '-')}.permissions.input.{test}.{test}": other
        for test, (_, _, other) in ARGUMENT_TESTS.items()
    },
    "access_policies:limits": {},
    "access_policies:limits.visits.tools": ["shell"],
    "access_policies:limits.visits.subjects": {"roles": ["clerk"]},
    "access_policies:limits.visits.subjects.roles": ["clerk"],
    "access_policies:limits.visits.subjects.agents": ["clerk"],
    "access_policies:limits.visits.subjects.people": ["partner"],
    "access_policies:limits.visits.each": "subject",
    "access_policies:limits.visits.calls": 6,
    "access_policies:limits.visits.per": "2h",
    "access_policies:limits.visits.concurrent": 2,
    "access_policies:limits.spends.budget": 6,
    "access_policies:limits.spends.cost": 2,
    "access_policies:limits.spends.cost_argument": "text",
    "access_policies:limits.spends.unit": "EUR",
    "tool_catalog:tools.calendar_read.command_arguments": ["other"],
    f"{POLICY}.partner-access.match": {},
    f"{POLICY}.partner-access.match.principal.relationship": "friend",
    f"{POLICY}.partner-access.match.principal.is_user": True,
    f"{POLICY}.partner-access.match.principal.tags": ["engineering"],
    f"{POLICY}.partner-access.match.principal.person_id": "friend",
    f"{POLICY}.partner-access.match.principal.unknown": True,
    f"{POLICY}.partner-access.match.principal.agent": "clerk",
    f"{POLICY}.partner-access.match.principal.role": "steward",
    f"{POLICY}.webhook-github.match.principal.webhook": "stripe",
    f"{POLICY}.system-timer-default.match.principal.system": "cron",
    f"{POLICY}.group-chat-restrictions.match.conditions.0.peer_kind": "dm",
    f"{POLICY}.work-slack-context.match.conditions.0.channel": "signal",
    f"{POLICY}.work-slack-context.match.conditions.0.account": "another",
    f"{POLICY}.work-discord-context.match.conditions.0.guild": "another",
    f"{POLICY}.hook-daily-backup.match.conditions.0.hook_id": "another",
    f"{POLICY}.system-timer-default.match.conditions.0.event_type": "another",
    f"{POLICY}.partner-access.match.conditions": [{"time": "08:00-23:00"}],
    f"{POLICY}.partner-access.match.alert": ["RED"],
    f"{POLICY}.partner-access.match.watch": ["gamma"],
    "organization:alerts": ["calm", "storm"],
    "organization:watches": ["day", "night"],
    "organization:limits.personality_drift": 0.5,
    "crew_roster:agents.clerk.personality": {"openness": 0.6},
    **{
        f"crew_roster:agents.butler.personality.{trait}": 0.9
        for trait in ("openness", "conscientiousness", "extraversion", "agreeableness", "neuroticism")
    },
    f"{POLICY}.partner-access.session.pin": True,
    f"{POLICY}.partner-access.session.key": "another",
    f"{POLICY}.partner-access.session.persona": "calm",
    f"{POLICY}.partner-access.priority": 99,
    f"{POLICY}.quiet-hours.modifiers.queue_mode": "steer",
    f"{POLICY}.quiet-hours.modifiers.delay_response": False,
    "directory:people.partner.name": "Somebody",
    "crew_roster:org": "elsewhere",
    "crew_roster:agents.butler.rank": "lieutenant",
    "crew_roster:agents.clerk.trust": 0.9,
    "crew_roster:agents.butler.assignments.0.role": "record_keeper",
    "crew_roster:agents.butler.assignments.0.org": "elsewhere",
    "crew_roster:agents.clerk.crew_tier": "utility",
}
# Kind and route to another valid value, which a manifest of an agent or of the organization shows.
SHOWN: dict[str, Any] = {
    "access_policies:policies.two.approvals.count": 3,
    "access_policies:policies.two.approvals.by": ["person:owner", "person:partner"],
    "crew_roster:agents.clerk.trust_weight": 9.0,
    "rank_ladder:ranks.0.name": "Lieutenant of the house",
    "rank_ladder:ranks.1.name": "Commander of the house",
    "rank_ladder:ranks.0.description": "Another.",
    "rank_ladder:ranks.0.agency": "suggestive",
    "rank_ladder:ranks.0.recall_tier": "enhanced",
    "rank_ladder:promotions.commander.requirements.0.min_proficiency": 4,
    "rank_ladder:promotions.commander.requirements.0.skills": "role",
    "qualification_catalog:qualifications.spare.name": "A spare test",
    "qualification_catalog:qualifications.spare.description": "Another.",
    "qualification_catalog:qualifications.spare.tier": 2,
    "qualification_catalog:qualifications.spare.threshold": 0.75,
    f"{POLICY}.partner-access.description": "Another.",
    "crew_roster:agents.clerk.callsign": "Scribe",
    "crew_roster:agents.clerk.description": "Another.",
    "crew_roster:agents.clerk.assignments.0.watches": ["gamma"],
}
# Kind and route to another valid value, which a comparison of the two trees tells.
TOLD: dict[str, Any] = {
    "directory:webhooks.stripe.description": "Another.",
    "directory:system_origins.hook_runner.description": "Another.",
    "directory:people.partner.name": "Somebody",
}
SUBJECTS = [
    "agent:butler", "agent:clerk", "role:steward", "person:owner", "person:partner", "person:friend",
    "person:colleague", "sender:signal//partner-phone", "sender:signal/home/partner-phone", "system:cron",
    "system:hook_runner", "webhook:stripe", "webhook:github",
]  # fmt: skip
TOOLS = ["send_email", "weather", "calendar_read", "smart_home", "notify", "jira", "write_file", "shell"]
RESOURCES = [
    *(f"tool:{tool}" for tool in TOOLS),
    "tool:send_email:notes/a",
    "credential:github",
    "credential:mail",
    "data:full",
]
CONTEXTS = [
    AccessContext(channel="signal", peer_kind="dm"),
    AccessContext(
        channel="signal",
        peer_kind="dm",
        input={"text": "ls", **{test: value for test, (value, _, _) in ARGUMENT_TESTS.items()}},
    ),
    AccessContext(channel="signal", peer_kind="group"),
    AccessContext(channel="slack", account="company"),
    AccessContext(channel="discord", guild="project"),
    AccessContext(hook_id="daily-backup"),
    AccessContext(event_type="timer"),
]
DAY = 86_400.0
STATE = StateView(
    agents={"clerk": AgentState("clerk")},
    results={
        "butler": (
            QualificationResult("butler", "safety", 1.0, True, -3 * DAY),
            QualificationResult("butler", "spare", 1.0, True, 0.0),
        )
    },
    personalities={
        agent: PersonalityObservation(agent, "household", Personality(0.9, 0.9, 0.9, 0.9, 0.9), 0.0, "")
        for agent in ("butler", "clerk")
    },
)


def write(folder: Path, kind: str, route: str = "", value: Any = None) -> None:
    """A file of the household with another value, or with nothing where that is None."""
    path = folder / FILES[kind]
    document = read_yaml_file(path)
    *above, last = route.split(".")
    inner: Any = document
    for step in above:
        inner = inner[int(step)] if isinstance(inner, list) else inner.setdefault(step, {})
    if isinstance(inner, list):
        inner[int(last)] = value
    elif value is None:
        del inner[last]
    else:
        assert inner.get(last) != value, "no other value"
        inner[last] = value
    path.write_text(yaml.safe_dump(document, sort_keys=False), encoding="utf-8")


def lay_out(folder: Path) -> Path:
    """The household with ranks, a matrix, qualifications and a policy about a tag."""
    copy_template(folder, "household")
    (folder / "ranks.yaml").write_text(yaml.safe_dump(LADDER, sort_keys=False), encoding="utf-8")
    text = yaml.safe_dump(QUALIFICATIONS, sort_keys=False)
    (folder / "qualifications.yaml").write_text(text, encoding="utf-8")
    write(folder, "organization", "rank_matrix", "mine")
    write(folder, "tool_catalog", "tools.jira.rank_matrix", "mail")
    write(folder, "crew_roster", "agents.clerk.rank")
    write(folder, "access_policies", "policies.work-contacts.match.principal.tags", ["engineering"])
    in_red = {"effect": "annotate", "match": {"alert": ["RED"]}, "modifiers": {"delay_response": True}}
    write(folder, "access_policies", "policies.in-red", in_red)
    no_rm = {"effect": "deny", "permissions": {"tools": ["calendar_read"], "commands": ["rm"]}}
    write(folder, "access_policies", "policies.no-rm", no_rm)
    two = {
        "effect": "ask",
        "match": {"principal": {"webhook": "stripe"}},
        "permissions": {"tools": ["jira"]},
        "approvals": {"count": 2},
    }
    write(folder, "access_policies", "policies.two", two)
    spends = {"tools": ["calendar_read"], "budget": 5, "cost": 1}
    limits = {"visits": {"tools": ["calendar_read"], "calls": 5}, "spends": spends}
    write(folder, "access_policies", "limits", limits)
    write(folder, "tool_catalog", "tools.calendar_read.command_arguments", ["text"])
    for test, (_, failing, _) in ARGUMENT_TESTS.items():
        permissions = {"tools": ["weather"], "input": {test: {test: failing}}}
        policy = {"effect": "deny", "permissions": permissions}
        write(folder, "access_policies", f"policies.by-{test.replace('_', '-')}", policy)
    return folder


def observe(snapshot: Snapshot) -> Iterator[Any]:
    """What is found, what is decided and where messages go; without places and digests, which change with any value."""
    view = snapshot.organizations["household"].index
    drift = find_drift(snapshot, lambda org_id: STATE, {})
    yield sorted((each.code, each.message) for each in (*snapshot.diagnostics, *drift))
    yield [
        (decision.outcome, decision.codes, decision.level_effective, decision.obligations)
        for subject in SUBJECTS
        for resource in RESOURCES
        for context in CONTEXTS
        for action in (
            ["use"] if resource.startswith("tool:") else ["read" if resource.startswith("data:") else "use"]
        )
        for decision in [decide_access(view, AccessRequest(subject, action, resource, context), STATE)]
    ]
    tables = get_access_tables(view)
    yield [list_charges(tables, AccessRequest(subject, "use", "tool:calendar_read")) for subject in SUBJECTS]
    limits = [CompiledLimit(each) for each in view.records.limits.values()]
    yield [each.describe(charge) for each in limits for charge in each.list_charges_of("*")]
    yield [
        decide_envelope(view, subject, context, STATE).routing for subject in SUBJECTS for context in CONTEXTS
    ]


def show(snapshot: Snapshot) -> Any:
    """What the manifests say, without lines and digests, which change with any value."""
    organization = snapshot.organizations["household"]
    view = organization.index
    agents = [
        msgspec.to_builtins(build_agent_manifest(view, agent_id, (), STATE, CONTEXTS[0]))
        for agent_id in view.records.agents
    ]
    return without_lines([*agents, msgspec.to_builtins(build_organization_manifest(view, view.roles, ()))])


def without_lines(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: without_lines(each) for name, each in value.items() if name not in ("why", "snapshot")}
    return [without_lines(each) for each in value] if isinstance(value, list | tuple) else value


def list_parameters(values: dict[str, Any]) -> list[Any]:
    return [pytest.param(*each, id=each[0]) for each in values.items()]


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return tuple(observe(read(lay_out(tmp_path_factory.mktemp("before")))))


@pytest.mark.parametrize(("field", "value"), sample_every(list_parameters(FIELDS), 3))
def test_another_value_is_noticed(field: str, value: Any, tmp_path: Path, before: Any) -> None:
    """Each field changes a finding, a decision or the receiver of a message; otherwise no code reads it."""
    kind, _, route = field.partition(":")
    folder = lay_out(tmp_path)
    if route.endswith("departments"):
        write(folder, "organization", "departments", {"attic": {}})
    write(folder, kind, route, copy.deepcopy(value))
    snapshot = read(folder)
    assert not [found for found in snapshot.diagnostics if found.code.startswith("ORG1")], "not a valid value"
    # The last part is asked for only where the others are the same: it takes longest.
    assert any(after != part for after, part in zip(observe(snapshot), before, strict=True))


@pytest.mark.parametrize(("field", "value"), sample_every(list_parameters(SHOWN), 3))
def test_another_value_is_shown(field: str, value: Any, tmp_path: Path) -> None:
    """In the manifest of an agent or of the organization."""
    kind, _, route = field.partition(":")
    shown = show(read(lay_out(tmp_path / "before")))
    folder = lay_out(tmp_path / "after")
    write(folder, kind, route, copy.deepcopy(value))
    snapshot = read(folder)
    assert not [found for found in snapshot.diagnostics if found.code.startswith("ORG1")], "not a valid value"
    assert show(snapshot) != shown


@pytest.mark.parametrize(("field", "value"), list_parameters(TOLD))
def test_another_value_is_told(field: str, value: Any, tmp_path: Path) -> None:
    """By the comparison of two trees, as one change of whom it is about."""
    kind, _, route = field.partition(":")
    folders = [lay_out(tmp_path / name) for name in ("before", "after")]
    write(folders[1], kind, route, copy.deepcopy(value))
    old, new = (read(folder).organizations["household"].index for folder in folders)
    (change,) = compare_directories(old, new)
    assert change.classification == "neutral"
    assert change.path[1].partition(":")[2] == route.split(".")[1]  # type: ignore[union-attr]


def models_of(kind: str) -> dict[str, type[BaseModel]]:
    """The records a kind of document is made of, by their names."""
    return {
        model.__name__: model
        for model in vars(__import__(KINDS[kind].__module__, fromlist=["*"])).values()
        if isinstance(model, type)
        and issubclass(model, BaseModel)
        and model.__module__ == KINDS[kind].__module__
    }


def test_every_field_is_looked_at() -> None:
    """None is forgotten here."""
    kinds = ("rank_ladder", "qualification_catalog", "directory", "access_policies", "crew_roster")
    looked_at = {step for field in {**FIELDS, **SHOWN, **TOLD} for step in field.partition(":")[2].split(".")}
    # Written on the way: what they hold is looked at.
    looked_at |= {"requirements", "permissions", "modifiers", "time"}
    fields = {
        f"{name}.{field}"
        for kind in kinds
        for name, model in models_of(kind).items()
        if model is not KINDS[kind]
        for field in model.model_fields
    }
    assert {each for each in fields if each.partition(".")[2] not in looked_at} == set()
