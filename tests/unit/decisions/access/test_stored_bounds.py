"""What is stored gives no more than it says: one organization, one action, one input, one version of the documents, awake,
and a score that is enough.
"""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from orgkernel.decisions.access.decide import decide_access, decide_with_reasons
from orgkernel.decisions.access.explain import explain_access
from orgkernel.decisions.access.listing import what_can, who_can
from orgkernel.decisions.access.request import AccessContext, AccessRequest
from orgkernel.decisions.access.tool_input import digest_input, encode_input
from orgkernel.decisions.evidence.state_view import AgentState, Grant, QualificationResult, StateView
from orgkernel.graph.questions import OrgView
from orgkernel.kernel.kernel import Kernel
from tests.support.trees import write_tree

FILES = {
    "org.yaml": '{_schema: "orgkernel:organization", org_id: shop, hierarchy: {co: {}}}\n',
    "roles/co.yaml": """
        _schema: orgkernel:role_profile
        role_id: co
        role_type: commander
        capabilities: {tools: [{tool: laser, level: full}, {tool: safe, level: full}]}
    """,
    "crew.yaml": '{_schema: "orgkernel:crew_roster", agents: {ann: {rank: senior, assignments: [{role: co}]}}}\n',
    "ranks.yaml": '{_schema: "orgkernel:rank_ladder", ranks: [{id: junior}, {id: senior}, {id: chief}]}\n',
    "tests.yaml": '{_schema: "orgkernel:qualification_catalog", qualifications: {safety: {threshold: 0.8}}}\n',
    "tools.yaml": """
        _schema: orgkernel:tool_catalog
        tools:
          radio: {type: browser, actions: {listen: read, tune: write, send: write}}
          laser: {type: browser, qualifications: [safety]}
          safe: {type: browser, rank_matrix: {junior: none, senior: read, chief: full}}
    """,
}
ANN, INPUT = "agent:ann", {"channel": 7}
DIGEST = digest_input(encode_input(INPUT))
EDITED = "sha256:" + "0" * 64


@pytest.fixture(scope="module")
def view(tmp_path_factory: pytest.TempPathFactory) -> OrgView:
    """An organization with an agent."""
    folder = write_tree(tmp_path_factory.mktemp("bounds") / "shop", FILES)
    kernel = Kernel.open(folder)
    return kernel.organization("shop").snapshot.index


def may(
    view: OrgView, state: StateView, action: str = "send", tool: str = "radio", **context: object
) -> bool:
    request = AccessRequest(ANN, action, f"tool:{tool}", AccessContext(now=10.0, **context))
    return decide_access(view, request, state).outcome == "allow"


def given(**bounds: object) -> StateView:
    return StateView(1, grants={ANN: (Grant("g", ANN, ("tool:radio",), **bounds),)})


def test_a_grant_of_another_organization_gives_nothing(view: OrgView) -> None:
    """And one for all of them does."""
    assert [may(view, given(org_id=org)) for org in ("shop", "*", "yard", "")] == [True, True, False, False]


def test_a_grant_that_sleeps_gives_nothing(view: OrgView) -> None:
    """Wherever a state has it from."""
    assert not may(view, given(asleep_since=1.0))


def test_a_grant_of_one_action_gives_that_action_alone(view: OrgView) -> None:
    """Not another one of the same level, nor a lower one, nor the use of the whole tool; lists say the same."""
    state = given(action="send", level="write")
    assert [may(view, state, action) for action in ("listen", "tune", "send", "use")] == [
        False,
        False,
        True,
        False,
    ]
    rows = what_can(view, ANN, request=AccessRequest(ANN, "", "tool:radio"), state=state)
    assert [(row.outcome, row.actions) for row in rows] == [("allow", ("send",))]
    for action in ("tune", "send"):
        rows = what_can(view, ANN, request=AccessRequest(ANN, action, "tool:radio"), state=state)
        assert [row.actions for row in rows] == ([("send",)] if action == "send" else [])


def test_a_grant_of_one_input_gives_that_input_alone(view: OrgView) -> None:
    """An input that is not stated, or cannot be compared, is not that one; a list says that it depends on the input."""
    state = given(input_digest=DIGEST)
    inputs = ({"channel": 7}, {"channel": 8}, {}, None, {"channel": float("nan")})
    assert [may(view, state, input=each) for each in inputs] == [True, False, False, False, False]
    (row,) = what_can(view, ANN, request=AccessRequest(ANN, "send", "tool:radio"), state=state)
    assert (row.outcome, row.conditions) == ("deny", (f"input:{DIGEST}",))


@pytest.mark.parametrize(
    ("score", "passed", "counts"),
    [(0.8, True, True), (0.79, True, False), (0.9, False, False), (0.0, True, False)],
)
def test_a_score_counts_by_the_threshold_that_is_declared_now(
    view: OrgView, score: float, passed: bool, counts: bool
) -> None:
    """Whatever was recorded; what was recorded as failed stays failed."""
    result = QualificationResult("ann", "safety", score, passed, 1.0)
    assert may(view, StateView(1, results={"ann": (result,)}), "use", "laser") is counts


def test_the_reason_names_the_score_and_the_threshold(view: OrgView) -> None:
    """Only where a score is too low; without one nothing is there to name."""
    result = QualificationResult("ann", "safety", 0.79, True, 1.0)
    request = AccessRequest(ANN, "use", "tool:laser")
    texts = [
        decide_with_reasons(view, request, StateView(1, results=results))[1][0].text
        for results in ({"ann": (result,)}, {})
    ]
    assert texts[0] == f"{texts[1]}; its score in `safety` is 0.79, and 0.8 is required"


def test_a_rank_that_is_stored_for_all_organizations_can_only_lower(view: OrgView) -> None:
    """One that is stored for this one can raise, too."""
    for rank, everywhere, here in (
        ("junior", "none", "none"),
        ("chief", "read", "full"),
        ("ghost", "none", "none"),
    ):
        own = AgentState("ann", rank, org_id="shop")
        levels = [
            decide_access(
                view, AccessRequest(ANN, "use", "tool:safe"), StateView(1, agents={"ann": each})
            ).level_effective
            for each in (replace(own, org_id="*"), own)
        ]
        assert levels == [everywhere, here], rank


def test_a_grant_of_one_version_of_the_documents_gives_nothing_in_another(view: OrgView) -> None:
    """Checks and lists in both directions say so alike, whatever the circumstances."""
    for snapshot, counts in ((view.digest, True), (EDITED, False), ("", False)):
        state = given(snapshot=snapshot, action="send")
        assert may(view, state) is counts
        asked = AccessRequest(ANN, "send", "tool:radio")
        told = ("send",) if counts else None
        rows = what_can(view, ANN, request=asked, state=state)
        assert [row.actions for row in rows] == ([told] if told else [])
        there = who_can(view, "send", "tool:radio", state=state, kinds=("agent",))
        assert [row.subject for row in there] == ([ANN] if counts else [])


def test_a_refusal_names_the_grant_of_another_version_and_the_way_out(view: OrgView) -> None:
    """Where the grant would have helped, and only there; the remedies say what to give now."""
    asked = AccessRequest(ANN, "send", "tool:radio", AccessContext(now=10.0))
    found = explain_access(view, asked, given(snapshot=EDITED, level="write"))
    assert [reason.code for reason in found.reasons] == ["NOT_BOUND_TO_ROLE", "GRANT_OUTDATED"]
    assert found.reasons[-1].text == (
        "grant `g` of `tool:radio` to `agent:ann` applies only to another version of the documents; request it again"
    )
    assert "grant `tool:radio` at level `write`" in [each.text for each in found.remedies]
    for bounds in ({"action": "tune"}, {"level": "read"}, {"expires_at": 9.0}, {"uses_left": 0}):
        told = explain_access(view, asked, given(snapshot=EDITED, **bounds)).reasons
        assert [reason.code for reason in told] == ["NOT_BOUND_TO_ROLE"], bounds


def test_a_version_is_no_circumstance(view: OrgView) -> None:
    """A grant for this version that also needs a session is conditional on the session; one for another is never told."""
    asked = AccessRequest(ANN, "send", "tool:radio")
    rows = what_can(view, ANN, request=asked, state=given(session="s", snapshot=view.digest))
    assert [(row.outcome, row.conditions) for row in rows] == [("deny", ("session:s",))]
    assert what_can(view, ANN, request=asked, state=given(session="s", snapshot=EDITED)) == ()


def test_an_approval_given_twice_tells_the_later_one(view: OrgView) -> None:
    """Of the grants for other versions, the one that was issued last is named."""
    asked = AccessRequest(ANN, "send", "tool:radio", AccessContext(now=10.0))
    rows = tuple(
        Grant(f"g{number}", ANN, ("tool:radio",), snapshot=f"sha256:{number:064}", issued_at=at)
        for number, at in enumerate((3.0, 5.0, 4.0, 1.0, 2.0, 0.0))
    )
    told = explain_access(view, asked, StateView(1, grants={ANN: rows})).reasons
    assert told[-1].text.startswith("grant `g1` of")
