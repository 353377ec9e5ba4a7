"""The six connections between what an agent is and what it may do, each through a real store.

C1 role to tools, C2 passed test to skill, C3 passed test to tools, C4 skills and tests to rank, C5 tools at onboarding. C6 (the
manifest) stands with the part that makes it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import pytest

from orgkernel import AgentFilter
from orgkernel.decisions.access.request import AccessRequest
from orgkernel.decisions.evidence.skill_levels import get_skill_terms
from orgkernel.decisions.evidence.state_records import AuditFilter
from orgkernel.errors import Conflict, Refused
from orgkernel.graph.records import OrgRecords
from orgkernel.kernel.kernel import Kernel
from orgkernel.operations.agents import invalidate_result, promote_agent, record_result
from orgkernel.operations.commissions import CommissionOrder, CommissionOutcome, commission_agents
from orgkernel.operations.context import OPERATOR, Context, build_actor
from orgkernel.operations.skills import acquire_skill, assess_skill, compute_level_now
from orgkernel.state.audit import read_rows
from orgkernel.state.store import Store
from tests.state.contract_of_skills import pass_days
from tests.state.opening import Clock, opened, sqlite_at
from tests.support.trees import write_tree

FILES = {
    "org.yaml": """
        _schema: orgkernel:organization
        org_id: ship
        hierarchy: {captain: {subordinates: [pilot]}}
        ---
        _schema: orgkernel:skill_catalog
        skills: {maps: {decay_rate_days: 100}, helm: {prerequisites: [maps], decay_rate_days: 100}}
        ---
        _schema: orgkernel:qualification_catalog
        qualifications:
          theory: {threshold: 0.5}
          helm_test: {threshold: 0.6, raises: [helm], unlocks: [warp], prerequisites: [theory], digests: {model: m1}}
        ---
        _schema: orgkernel:tool_catalog
        tools: {rudder: {type: browser}, warp: {type: browser}}
        ---
        _schema: orgkernel:rank_ladder
        ranks: [{id: ensign}, {id: lieutenant, trust_from: 0.5}, {id: commander, trust_from: 0.7}]
        promotions:
          lieutenant: {requirements: [{skills: required_role, min_proficiency: 2}], qualifications: [helm_test]}
        ---
        _schema: orgkernel:crew_roster
        agents:
          ann: {rank: ensign, trust: 0.6, assignments: [{role: pilot}]}
          eve: {rank: lieutenant, assignments: [{role: captain}]}
        ---
        {_schema: "orgkernel:role_profile", role_id: captain, role_type: commander}
        ---
        _schema: orgkernel:role_profile
        role_id: pilot
        capabilities: {tools_primary: [rudder, warp], skills: [helm, maps]}
    """,
}


@pytest.fixture(scope="module")
def documents(tmp_path_factory: pytest.TempPathFactory) -> Kernel:
    return Kernel.open(
        write_tree(tmp_path_factory.mktemp("ship"), {name: dedent(text) for name, text in FILES.items()})
    )


class Ship:
    """The ship with a store."""

    def __init__(self, documents: Kernel, store: Store, clock: Clock) -> None:
        self.store, self.clock = store, clock
        self.kernel = documents.with_store(store, lambda: (clock.now, 0))

    def acting(self, who: str = OPERATOR) -> Context:
        return Context(self.kernel, self.store, build_actor(who))

    def may(self, tool: str, agent: str = "ann") -> str:
        return self.kernel.can("ship", AccessRequest(f"agent:{agent}", "use", f"tool:{tool}")).outcome

    def level(self, skill: str) -> int:
        profile = self.kernel.skill_profile("ship", "ann")
        return {each.skill: each.level for each in (*profile.universal, *profile.role)}[skill]

    def commissioned(self) -> CommissionOutcome:
        order = CommissionOrder(agent="ann", role="pilot")
        (done,) = commission_agents(self.acting(), [order]).commissions
        return done

    def passed(self, test: str, score: float, model: str = "m1", run: str = "") -> int:
        digests = {"model": model} if test == "helm_test" else {}
        return record_result(self.acting(), "ann", test, score, digests=digests, run=run).result_id


@pytest.fixture
def ship(documents: Kernel, quick_folder: Path) -> Iterator[Ship]:
    clock = Clock()
    with opened(sqlite_at(quick_folder), clock) as store:
        yield Ship(documents, store, clock)


def test_c1_a_role_gives_its_tools(ship: Ship) -> None:
    """A role gives its tools to the agents that fill it, and to no other agent."""
    assert (ship.may("rudder"), ship.may("rudder", "eve")) == ("allow", "deny")


def test_c2_passing_a_test_raises_the_skill_by_one_step(ship: Ship) -> None:
    """Up to the level that the score reaches, from what is left of it, and not before the tests it builds on."""
    assert ship.commissioned().new_skills[-2:] == ("maps", "helm")
    with pytest.raises(
        Conflict, match="has not passed `theory`, and `helm_test` builds on it: it was never tested"
    ):
        ship.passed("helm_test", 0.9)
    ship.passed("theory", 0.9)
    ship.passed("helm_test", 0.5)
    assert ship.level("helm") == 1
    ship.passed("helm_test", 0.65, model="m0")  # of something else than is declared
    assert ship.level("helm") == 1
    ship.passed("helm_test", 0.65, run="night 0")
    assert ship.level("helm") == 1  # `maps` is below the level that `helm` needs
    assess_skill(ship.acting(), "ann", "maps", 7)
    levels = []
    for number in range(1, 4):
        ship.passed("helm_test", 0.65, run=f"night {number}")
        levels.append(ship.level("helm"))
    assert levels == [2, 3, 3]
    pass_days(ship.store, ship.clock, 100)
    assert ship.level("helm") == 2
    ship.passed("helm_test", 0.65, run="night 4")
    assert ship.level("helm") == 3
    again = ship.commissioned()
    assert (again.outcome, again.new_skills) == ("already", ())


_TEST = "helm_test: {threshold: 0.6, raises: [helm], unlocks: [warp], prerequisites: [theory], digests: {model: m1}}"


@pytest.mark.parametrize(
    "changed",
    [
        _TEST.replace("m1", "m2"),
        _TEST.replace("threshold: 0.6", "threshold: 0.95"),
        _TEST.replace("threshold: 0.6", "threshold: 0.6, min_sample_size: 5"),
        _TEST.replace("threshold: 0.6", "threshold: 0.6, expires_after_days: 1"),
        "another_test: {raises: [helm]}",
    ],
    ids=["digest", "threshold", "sample", "shorter", "gone"],
)
def test_c2_a_level_rests_on_the_results_that_are_valid_now(ship: Ship, changed: str, tmp_path: Path) -> None:
    """A change of the documents ends a result without an end and the level that it gave, until the change is taken back."""
    ship.commissioned()
    assess_skill(ship.acting(), "ann", "maps", 7)
    ship.passed("theory", 0.9)
    ship.passed("helm_test", 0.9)
    assert ship.level("helm") == 2
    as_declared = ship.kernel
    helm = "helm: {prerequisites: [maps], decay_rate_days: 100}"
    docking = "docking: {prerequisites: [{skill: helm, min_proficiency: 2}]}"
    text = dedent(FILES["org.yaml"]).replace(_TEST, changed).replace(helm, f"{helm}, {docking}")
    text = text.replace("qualifications: [helm_test]", "qualifications: []")
    assert changed in text
    assert docking in text
    tree = write_tree(tmp_path, {"org.yaml": text})
    ship.kernel = Kernel.open(tree).with_store(ship.store, lambda: (ship.clock.now, 0))
    pass_days(ship.store, ship.clock, 2)
    assert ship.level("helm") == 1
    assert ship.kernel.agents("ship", AgentFilter(skill="helm", min_level=2)).count == 0
    with pytest.raises(Conflict, match="has `helm` at level 1, and level 2 is required"):
        acquire_skill(ship.acting(), "ann", "docking")
    ship.store.skills.exercise(
        "ann", get_skill_terms(_records(ship.kernel), "helm"), org_id="ship", actor="a"
    )
    assert ship.level("helm") == 1
    (_, held) = sorted(ship.store.skills.list("ship", "ann"), key=lambda each: each.skill == "helm")[-2:]
    assert (held.proficiency, compute_level_now(ship.acting(), held)) == (2, 1)
    ship.kernel = as_declared
    assert ship.level("helm") == 2


def _records(kernel: Kernel) -> OrgRecords:
    return kernel.organization("ship").snapshot.records


def test_c3_passing_a_test_unlocks_the_tools_it_names(ship: Ship) -> None:
    """As long as it counts: an invalid result locks them again."""
    assert ship.may("warp") == "deny"
    ship.passed("theory", 0.9)
    result = ship.passed("helm_test", 0.9)
    assert ship.may("warp") == "allow"
    invalidate_result(ship.acting(), "ann", result, reason="the answers were in the prompt")
    assert ship.may("warp") == "deny"
    explanation = ship.kernel.why("ship", AccessRequest("agent:ann", "use", "tool:warp"))
    assert (
        "every result is invalid; the last one because `the answers were in the prompt`"
        in explanation.reasons[0].text
    )
    (remedy,) = (each for each in explanation.remedies if "qualify" in " ".join(each.commands))
    assert "--digest model=m1" in " ".join(remedy.commands)


def test_c4_skills_and_tests_gate_a_promotion_that_a_person_decides(ship: Ship) -> None:
    """Nothing promotes by itself; what is missing is named, and an override says why."""
    with pytest.raises(
        Conflict, match="is not eligible for `lieutenant`: level 2 or above is required in all"
    ) as error:
        promote_agent(ship.acting(), "ann")
    assert error.value.code == "NOT_ELIGIBLE"
    acquire_skill(ship.acting(), "ann", "maps", level=3)
    acquire_skill(ship.acting(), "ann", "helm", level=2)
    with pytest.raises(Conflict, match="the test `helm_test` is not passed: it was never tested"):
        promote_agent(ship.acting(), "ann")
    ship.passed("theory", 0.9)
    ship.passed("helm_test", 0.9)
    path = ship.kernel.promotion("ship", "ann").promotion
    assert path.outcome == "eligible"
    assert ship.kernel.promotion("ship", "ann").rank == "ensign"
    with pytest.raises(Refused, match="cannot promote itself"):
        promote_agent(ship.acting("agent:ann"), "ann")
    promote_agent(ship.acting("agent:eve"), "ann", reason="the review")
    assert ship.kernel.promotion("ship", "ann").rank == "lieutenant"
    with pytest.raises(Refused, match="may not give `agent:ann` the rank `commander`"):
        promote_agent(ship.acting("agent:eve"), "ann", override="we need one")
    assert promote_agent(ship.acting(), "ann", override="we need one").rank == "commander"
    with pytest.raises(Conflict, match="no rank above"):
        promote_agent(ship.acting(), "ann", override="more")
    rows = [
        row.entry for row in read_rows(ship.store.context, AuditFilter(kind="agent", activity="promoted"))
    ]
    assert [row.detail["promotion"]["outcome"] for row in rows] == ["not_eligible", "eligible"]
    assert rows[0].detail["promotion"]["override"] == "we need one"
    assert all(each["met"] for each in rows[1].detail["promotion"]["requirements"])


def test_c4_a_skill_that_was_lost_since_is_missing(ship: Ship) -> None:
    """Decay needs no scheduler, and an assessment puts it right."""
    acquire_skill(ship.acting(), "ann", "maps", level=3)
    acquire_skill(ship.acting(), "ann", "helm", level=2)
    ship.clock.now += 100 * 86_400
    unmet = [
        each.kind for each in ship.kernel.promotion("ship", "ann").promotion.requirements if not each.met
    ]
    assert unmet == ["required_role", "qualification"]
    assess_skill(ship.acting(), "ann", "maps", 3)
    assess_skill(ship.acting(), "ann", "helm", 2)
    unmet = [
        each.kind for each in ship.kernel.promotion("ship", "ann").promotion.requirements if not each.met
    ]
    assert unmet == ["qualification"]


def test_c5_a_commissioned_agent_has_the_tools_of_the_role(ship: Ship) -> None:
    """A commissioned agent has the tools that the decision allows at that moment. For each other tool, the
    answer states the reason.
    """

    def tools() -> tuple[tuple[str, ...], tuple[str, ...]]:
        done = ship.commissioned()
        step = next(each for each in done.steps if each.step == "tools")
        return step.items, step.missing

    items, missing = tools()
    assert ("rudder (full)" in items, "warp (full)" in items) == (True, False)
    assert missing == ("tool `warp` cannot be used now; `orgkernel why agent:ann use tool:warp` shows why",)
    assert (ship.may("rudder"), ship.may("warp")) == ("allow", "deny")
    assert ship.level("helm") == 1
    ship.passed("theory", 0.9)
    ship.passed("helm_test", 0.7)
    items, missing = tools()
    assert ("warp (full)" in items, missing) == (True, ())
    assert ship.may("warp") == "allow"
