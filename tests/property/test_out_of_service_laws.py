"""What is out of service opens nothing and decides nothing: with any profiles broken in any way, every answer about the other
roles is the same or stricter, and a question about a broken role is refused and names the error.

`broken_profiles_open_nothing`: for subsets of roles, with and without subordinates.
`broken_is_told`: for each role in it.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from orgkernel import AccessRequest, HandlingRequest, HandoffQuestion, Kernel
from orgkernel.decisions.access.request import AccessContext
from orgkernel.decisions.evidence.state_view import AgentState, Grant, StateView
from orgkernel.decisions.work.bills.fitness import may_activate, read_bill
from orgkernel.decisions.work.contracts.terms import MODES
from orgkernel.errors import UnknownRole
from orgkernel.graph.schema import EdgeKind
from orgkernel.project.cases import FixedState
from orgkernel.snapshots.snapshot import OrgSnapshot
from tests.support.trees import copy_template, write_tree

Answers = dict[tuple[str, ...], int]
"""Questions with the permissiveness of their answers."""
OUTCOME = {"deny": 0, "cannot_tell": 0, "conditional": 1, "ask": 2, "allow": 3}

STARSHIP = {
    # An agent with a second role, one on probation, and one whose other role commands.
    "more_crew.yaml": """
        _schema: orgkernel:crew_roster
        org: starship
        agents:
          twin: {assignments: [{role: surgeon}, {role: counselor}], rank: commander}
          novice: {assignments: [{role: builder}, {role: scout}], rank: ensign}
          both: {assignments: [{role: pathologist}, {role: chief_medical}], rank: commander}
    """,
    # What is denied to a role is denied to an agent that fills it, whatever its other roles allow.
    "more_policies.yaml": """
        _schema: orgkernel:access_policies
        policies:
          no_surgery: {match: {principal: {role: surgeon}}, effect: deny, permissions: {tools: "*"}, priority: 90}
          no_building: {match: {principal: {role: builder}}, effect: ask, permissions: {tools: "*"}, priority: 90}
    """,
    "bills/drill.yaml": """
        _schema: orgkernel:bill
        slug: drill
        title: Drill
        activation: {trigger: manual, authority: department_chief}
        roles: {doctor: {role: pharmacologist}}
        steps: [{id: begin, name: Begin, action: tool, role: doctor, tool: vitals_query}]
    """,
}
SOFTWARE = {
    "more.yaml": """
        _schema: orgkernel:crew_roster
        agents:
          pair: {assignments: [{role: codegen_specialist}, {role: devops_specialist}]}
          one: {assignments: [{role: osint_specialist}]}
    """,
}
WORLDS = {"starship": STARSHIP, "software_dev": SOFTWARE, "omega": {}, "sigint_alpha": {}, "household": {}}
FAULTS = {
    "not_yaml": lambda text: text + "\nx: [\n",
    "wrong_type": lambda text: text + "\ndescription: {a: b}\n" if "\ndescription:" not in text else text + "\nexamples: 3\n",
    "duplicate_key": lambda text: text + "\nrole_type: specialist\nrole_type: specialist\n",
    "unprintable": lambda text: text + "\n# \x04\n",
    "trigger": lambda text: text + '\npace_plan: {primary: {action: x}, alternate: {trigger: "no_such >= 3", action: y}}\n',
}  # fmt: skip


def lay_out(folder: Path, world: str, broken: dict[str, str]) -> Path:
    """A template with more documents, and with faults in the profiles of some roles."""
    copy_template(folder, world)
    write_tree(
        folder,
        {name: "\n".join(line[8:] for line in text.split("\n")) for name, text in WORLDS[world].items()},
    )
    for role_id, mode in {"builder": "full", "scout": "lite"}.items() if world == "starship" else ():
        path = folder / "roles" / f"{role_id}.yaml"
        path.write_text(f"{path.read_text(encoding='utf-8')}\nlmc_mode: {mode}\n", encoding="utf-8")
    for role_id, fault in broken.items():
        path = folder / "roles" / f"{role_id}.yaml"
        path.write_text(FAULTS[fault](path.read_text(encoding="utf-8")), encoding="utf-8")
    return folder


def open_kernel(folder: Path) -> Kernel:
    """The organizations of a folder, with an agent on probation, a low rank, and grants."""
    states = {name: AgentState(name, lifecycle="probationary") for name in ("novice", "twin")}
    grants = {
        subject: (Grant(f"g{number}", subject, ("tool:*",), "full"),)
        for number, subject in enumerate(
            ("agent:novice", "agent:one", "agent:both", "role:surgeon", "role:scout")
        )
    }
    return Kernel.open(folder).with_store(FixedState(StateView(1, states, grants)), clock=lambda: (1000.0, 0))


@cache
def intact(world: str) -> tuple[Kernel, Answers]:
    """The intact organization, opened once."""
    folder = lay_out(Path(tempfile.mkdtemp()), world, {})
    kernel = open_kernel(folder)
    assert not [each for each in kernel.check() if each.severity.value == "error"]
    return kernel, collect(kernel, world, kernel.organization(world).snapshot)


def list_roles(world: str) -> list[str]:
    """All roles, in the order of the hierarchy."""
    return list(intact(world)[0].organization(world).snapshot.index.roles)


def choose_roles(world: str, group: str) -> list[str]:
    """A group of roles that are broken together."""
    view = intact(world)[0].organization(world).snapshot.index
    above = {role: bool(view.list_edges_to(EdgeKind.REPORTS_TO, role)) for role in view.roles}
    if group == "every second":
        return [role for number, role in enumerate(view.roles) if number % 2]
    return [role for role in view.roles if above[role] == (group == "superiors")]


def collect(kernel: Kernel, world: str, names: OrgSnapshot) -> Answers:
    """How much each answer permits, about everything that the intact organization names."""
    return dict(iterate(kernel, world, names))


def iterate(kernel: Kernel, world: str, names: OrgSnapshot) -> Iterator[tuple[tuple[str, ...], int]]:
    """The questions and answers, about every subject, resource and document."""
    records, view = names.records, kernel.organization(world).snapshot.index
    roles = [f"role:{each}" for each in records.posts]
    subjects = [
        *roles,
        *(f"agent:{each}" for each in records.agents),
        *(f"person:{each}" for each in records.people),
    ]
    subjects += ["person:unknown", "system:cron"]
    tools = [
        (f"tool:{name}", action)
        for name, tool in records.tools.items()
        for action in tool.record.required_levels
    ]
    others = [
        (f"credential:{each}", "use") for post in records.posts.values() for each in post.profile.credentials
    ]
    others += [(f"data:{each}", "read") for post in records.posts.values() for each in post.profile.data]
    others += [(role, action) for role in roles for action in ("handoff", "escalate")]
    for subject in subjects:
        for resource, action in (*tools, *others):
            for principal in (None, "role:" + next(iter(records.posts))):
                request = AccessRequest(subject, action, resource, AccessContext(), principal)
                outcome = kernel.can(world, request).outcome
                yield ("can", subject, action, resource, str(principal)), OUTCOME[outcome]
        for row in kernel.what_can(world, subject, kinds=("tool", "credential", "data", "role")):
            for action in row.actions:
                yield ("row", row.subject, action, row.resource), 1 + OUTCOME[row.outcome]
        for receiver in (*records.posts, *records.organization.layers):
            answer = kernel.handoff_permission(
                world, HandoffQuestion(sender=subject, receiver=receiver, depth=0, children=0)
            )
            yield ("handoff", subject, receiver), OUTCOME[answer.outcome]
        for skill in kernel.cognitive_skills(world, subject).skills:
            yield ("skill", subject, skill.name), 1
        for intent in names.index.list_targets_of_kind(EdgeKind.SERVES_INTENT):
            if subject.startswith(("role:", "agent:")):
                handling = kernel.handle(world, HandlingRequest(subject, intent))
                yield ("handle", subject, intent), handling.tier != "decline"
        for slug, bill in records.bills.items():
            state = kernel.access(world).state
            yield ("bill", subject, slug), may_activate(view, state, read_bill(bill), subject)
    terms = kernel.contract_terms(world)
    for lead in (*records.posts, *records.agents, "nameless"):
        demanded = terms.leads.get(lead, terms.others)
        yield ("mode", lead), len(MODES) - (0 if demanded is None else MODES.index(demanded.mode))


@pytest.mark.nightly
@pytest.mark.parametrize("world", WORLDS)
@settings(deadline=None, phases=(Phase.explicit, Phase.generate))
@given(data=st.data())
def test_any_broken_profiles_open_nothing(world: str, data: st.DataObject) -> None:
    """For any half of the roles: without nearly all, other documents can have errors of their own."""
    roles = list_roles(world)
    faults = st.dictionaries(
        st.sampled_from(roles), st.sampled_from(sorted(FAULTS)), min_size=1, max_size=len(roles) // 2
    )
    check_law(world, data.draw(faults))


@pytest.mark.nightly
@pytest.mark.parametrize("world", WORLDS)
def test_one_broken_profile_opens_nothing(world: str) -> None:
    """For each role alone."""
    for number, role_id in enumerate(list_roles(world)):
        check_law(world, {role_id: sorted(FAULTS)[number % len(FAULTS)]})


@pytest.mark.parametrize("group", ["superiors", "leaves", "every second"])
@pytest.mark.parametrize("world", WORLDS)
def test_broken_profiles_open_nothing(world: str, group: str) -> None:
    """For all superiors, for all other roles, and for roles of both kinds."""
    faults = sorted(FAULTS)
    check_law(
        world,
        {role: faults[number % len(faults)] for number, role in enumerate(choose_roles(world, group))},
    )


def check_law(world: str, broken: dict[str, str]) -> None:
    """Compare the answers with and without faults in the profiles of some roles."""
    before_kernel, before = intact(world)
    with tempfile.TemporaryDirectory() as folder:
        kernel = open_kernel(lay_out(Path(folder), world, broken))
        snapshot = kernel.organization(world).snapshot
        assert set(snapshot.records.withheld) == set(broken)
        names = before_kernel.organization(world).snapshot
        after = collect(kernel, world, names)
        opened = {
            question for question, permissiveness in after.items() if permissiveness > before.get(question, 0)
        }
        assert not opened
        for question, permissiveness in after.items():
            if question[0] in ("can", "row", "handoff", "skill", "handle", "bill"):
                kind, _, name = question[1].partition(":")
                is_out = (kind == "role" and name in broken) or name in snapshot.records.withheld_agents
                assert not (is_out and permissiveness), question
        for domain in names.records.domains:
            chosen, was = (
                each.dispatch(world, domain, as_documents=True).role_id for each in (kernel, before_kernel)
            )
            assert chosen == was or was in broken
            assert chosen not in broken
        for role_id in broken:
            place = snapshot.records.withheld[role_id].place
            with pytest.raises(UnknownRole, match=f"out of service: .*{role_id}.yaml:{place.line}:"):
                kernel.manifest(world, role_id)
            request = AccessRequest(f"role:{role_id}", "use", "tool:" + next(iter(names.records.tools)))
            decision, reasons = kernel.can_with_reasons(world, request)
            assert "UNKNOWN_PRINCIPAL" in decision.codes
            assert any(
                why.file == place.file and why.line == place.line for each in reasons for why in each.why
            )
