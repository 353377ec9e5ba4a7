"""Access: the parts of an answer that the corpus does not spell out."""

from __future__ import annotations

from pathlib import Path

import pytest

from orgkernel.decisions.access.circumstances import is_within
from orgkernel.decisions.access.decide import decide_access
from orgkernel.decisions.access.envelope import Routing, decide_envelope
from orgkernel.decisions.access.explain import explain_access
from orgkernel.decisions.access.listing import what_can, who_can
from orgkernel.decisions.access.request import AccessContext, AccessRequest
from orgkernel.decisions.evidence.state_view import Grant, StateView, ToolLock
from orgkernel.graph.questions import OrgView
from orgkernel.kernel.clock import add_current_time
from orgkernel.kernel.kernel import Kernel
from tests.support.trees import REPOSITORY, write_tree

NIGHT, NOON = AccessContext(now=2 * 3600.0), AccessContext(now=12 * 3600.0)


@pytest.fixture(scope="module")
def household() -> OrgView:
    """The shipped household."""
    return Kernel.open().organization("household").snapshot.index


@pytest.mark.parametrize(
    ("window", "clock", "held"),
    [
        ("09:00-17:00", "09:00", True), ("09:00-17:00", "17:00", False), ("09:00-17:00", "08:59", False),
        ("23:00-08:00", "23:00", True), ("23:00-08:00", "00:00", True), ("23:00-08:00", "08:00", False),
        ("08:00-08:00", "07:59", True), ("08:00-08:00", "08:00", True),
    ],
)  # fmt: skip
def test_the_beginning_belongs_to_a_window_and_its_end_does_not(window: str, clock: str, held: bool) -> None:
    """Past midnight too; a window that ends where it begins is the whole day."""
    hours, minutes = map(int, clock.split(":"))
    assert is_within(window, hours * 3600 + minutes * 60, 0) is held


def test_a_weekend_is_that_of_local_time() -> None:
    """Friday evening in Greenwich is Saturday in Sydney."""
    friday = 86400 + 20 * 3600.0
    assert not is_within("weekends", friday, 0)
    assert is_within("weekends", friday, 11 * 3600)
    assert not is_within("weekends", friday + 2 * 86400 + 5 * 3600, 0)


def test_a_pinned_session_wins_over_a_higher_priority(household: OrgView) -> None:
    """In a group the owner talks in the session of the group, alone in the main one."""
    group = AccessContext(channel="signal", peer_kind="group", peer_id="g1", now=43200.0)
    assert decide_envelope(household, "person:owner", group).routing == Routing("signal:group:g1")
    assert decide_envelope(household, "person:owner", NOON).routing == Routing("main")


def test_modifiers_are_collected_without_allowing_anything(household: OrgView) -> None:
    """At night the neighbor's message waits, and gives nothing."""
    envelope = decide_envelope(household, "person:neighbor", NIGHT)
    assert envelope.routing == Routing(None, None, "collect", True)
    assert (envelope.tools, envelope.credentials, envelope.data) == ((), (), "none")
    assert envelope.policies_matched == ("quiet-hours",)
    assert decide_envelope(household, "person:neighbor", NOON).routing == Routing()


def test_an_envelope_holds_tools_credentials_and_data(household: OrgView) -> None:
    """What policies give together, for a sender the directory resolves."""
    slack = AccessContext(channel="slack", account="company", peer_kind="dm", now=43200.0)
    envelope = decide_envelope(household, "sender:slack/company/U-COLLEAGUE", slack)
    assert envelope.subject == "person:colleague"
    assert [row.resource for row in envelope.tools if row.outcome == "allow"] == [
        "tool:web_search", "tool:calendar_read", "tool:read_file", "tool:write_file", "tool:github", "tool:jira",
    ]  # fmt: skip
    assert envelope.credentials == ("github", "jira", "slack")
    assert envelope.data == "contextual"
    assert envelope.routing.session_key == "work"
    assert decide_envelope(household, "person:nobody", slack).tools == ()


def test_a_row_says_what_could_change_it(household: OrgView) -> None:
    """The partner's calendar is gone in a group, and work's files come with Slack."""
    rows = {
        row.resource: row
        for row in what_can(household, "person:partner", request=AccessRequest("", "", "", NOON))
    }
    calendar, jira = rows["tool:calendar_read"], rows["tool:jira"]
    assert (calendar.outcome, calendar.conditions, calendar.conditional) == (
        "conditional",
        ("peer_kind:group",),
        True,
    )
    assert (jira.outcome, jira.conditions) == ("deny", ("channel:slack", "account:company"))
    assert rows["tool:web_search"].outcome == "allow"
    assert not rows["tool:web_search"].conditional
    (lock,) = [
        row
        for row in what_can(household, "person:owner")
        if row.resource == "tool:shell" and "use" in row.actions
    ]
    assert (lock.outcome, lock.code) == ("deny", "LOCKED")
    assert "lock:shell" in lock.conditions


def test_taking_a_lock_depends_on_who_holds_it(household: OrgView) -> None:
    """The row says so whether the lock is free or held, and is listed for those who have to wait."""
    held = ToolLock("household", "shell", "agent:butler", 1, 0.0)
    for locks, outcome in (({}, "allow"), ({"shell": held}, "deny")):
        asked = AccessRequest("", "", "", AccessContext(peer_kind=""))
        rows = what_can(household, "person:owner", request=asked, state=StateView(locks=locks))
        (row,) = [row for row in rows if row.resource == "tool:shell" and "lock" in row.actions]
        assert (row.outcome, "lock:shell" in row.conditions) == (outcome, True)


def test_who_can_follows_the_state(household: OrgView) -> None:
    """A grant makes a role appear, a restriction makes one go, and others stay as they were."""
    before = who_can(household, "use", "tool:github", kinds=["role"])
    assert [row.subject for row in before] == ["role:errand_runner"]
    grant = Grant("g", "role:record_keeper", ("tool:github",))
    state = StateView(1, grants={"role:record_keeper": (grant,)})
    after = who_can(household, "use", "tool:github", state=state, kinds=["role"])
    assert [(row.subject, row.code) for row in after] == [
        ("role:errand_runner", "CONTEXT_MISSING"), ("role:record_keeper", "CONTEXT_MISSING"),
    ]  # fmt: skip
    assert who_can(household, "use", "tool:github", kinds=["role"]) == before


def test_every_sentence_of_a_denial_names_its_line(household: OrgView) -> None:
    """The policy that denies is quoted with the file and line that says so."""
    request = AccessRequest("person:partner", "use", "tool:shell", NOON)
    explanation = explain_access(household, request)
    assert explanation.decision.codes == ("POLICY_DENY", "NO_POLICY_MATCH", "LOCKED")
    (why,) = explanation.reasons[0].why
    lines = (REPOSITORY / why.file).read_text(encoding="utf-8").split("\n")
    assert why.text == "policy partner-access covers tool shell"
    assert "deny: [shell" in lines[why.line - 1]
    told = {line.access_layer: line.statement for line in explanation.trace}
    assert told["pre-flight"] == "not configured"
    changed = [(line.access_layer, line.value, line.after) for line in explanation.trace if line.value]
    assert changed == [("policies", "stopped", "deny"), ("exclusive lock", "ceiling", "none")]


def test_a_misspelled_name_is_suggested(household: OrgView) -> None:
    """A denial for a name nothing declares says which one was likely meant."""
    reasons = explain_access(household, AccessRequest("role:stewart", "use", "tool:weathr")).reasons
    assert [reason.text for reason in reasons] == [
        "`role:stewart` is not declared; did you mean `steward`?",
        "tool `weathr` is not declared; did you mean `weather`?",
    ]


def test_the_kernel_supplies_time_and_state(tmp_path: Path) -> None:
    """A request that states no time is decided at that of the clock, with the state of the store."""
    request = AccessRequest("person:neighbor", "use", "tool:weather")
    asked = add_current_time(request, lambda: (7.0, 3600))
    assert (asked.context.now, asked.context.utc_offset) == (7.0, 3600)
    assert add_current_time(asked, lambda: (9.0, 0)) is asked

    class Store:
        """One grant."""

        def read_view(self, org_id: str | None = None) -> StateView:
            assert org_id == "household"
            grant = Grant("g", "person:neighbor", ("tool:weather",), expires_at=4e9)
            return StateView(3, grants={"person:neighbor": (grant,)})

    kernel = Kernel.open(store=Store())
    decision = kernel.can("household", request)
    assert (decision.outcome, decision.state_version, decision.grants) == ("allow", 3, ("g",))
    assert kernel.with_store(None).can("household", request).outcome == "deny"
    rows = kernel.what_can("household", "person:neighbor")
    assert [row.resource for row in rows if row.outcome == "allow"] == ["tool:weather"]
    assert kernel.why("household", request).decision == decision
    assert "person:neighbor" in [row.subject for row in kernel.who_can("household", "use", "tool:weather")]


def test_a_star_to_deny_beside_a_list_is_that_list_whatever_else_is_written(tmp_path: Path) -> None:
    """Also where the policy is not marked as a ceiling."""
    files = {
        "org.yaml": "_schema: orgkernel:organization\norg_id: o\nhierarchy: {r: {}}\n",
        "r.yaml": "{_schema: 'orgkernel:role_profile', role_id: r, capabilities: {tools_primary: [a, b]}}\n",
        "tools.yaml": "_schema: orgkernel:tool_catalog\ntools: {a: {type: browser}, b: {type: browser}}\n",
        "policies.yaml": "_schema: orgkernel:access_policies\npolicies:\n"
        "  only_a: {effect: allow, permissions: {tools: {allow: [a], deny: ['*']}}}\n",
    }
    view = Kernel.open(write_tree(tmp_path, files)).latest("o").index
    outcomes = [decide_access(view, AccessRequest("role:r", "use", f"tool:{tool}")) for tool in ("a", "b")]
    assert [decision.codes for decision in outcomes] == [("BOUND_TO_ROLE",), ("POLICY_CEILING",)]


def test_a_layer_says_what_it_gave_although_another_took_it_away(household: OrgView) -> None:
    """A denial shows what grants and what denies, with the line of each."""
    denied = explain_access(
        household, AccessRequest("person:partner", "use", "tool:calendar_read", AccessContext(peer_kind="group", now=1.0))
    )  # fmt: skip
    told = [
        (line.value, line.statement, len(line.why))
        for line in denied.trace
        if line.access_layer == "policies"
    ]
    assert told == [
        ("granted", "policy `partner-access` allows tool `calendar_read`", 1),
        ("ceiling", "policy `group-chat-restrictions` allows only what it lists, and tool `calendar_read` is not listed", 1),
    ]  # fmt: skip
    request = AccessRequest("agent:butler", "use", "tool:smart_home", on_behalf_of="person:grandmother")
    lines = {line.access_layer: line for line in explain_access(household, request).trace if line.value}
    assert lines["role binding"].statement == "role steward is equipped with tool smart_home"
    assert lines["role binding"].why[0].file.endswith("roles/steward.yaml")
    said = "person `grandmother`, on whose behalf this runs, may not use tool `smart_home`: policy `family-access`"
    assert lines["delegation"].statement.startswith(said)
    assert lines["delegation"].why[0].file.endswith("policies.yaml")


def test_every_line_of_a_trace_that_changed_something_has_a_place(household: OrgView) -> None:
    """So have the names of the question, and what a role lacks is looked for where it says what it has."""
    explanation = explain_access(household, AccessRequest("agent:clerk", "use", "tool:github", NOON))
    places = {line.access_layer: [Path(why.file).name for why in line.why] for line in explanation.trace}
    assert places["identity"] == ["crew.yaml"]
    assert places["structure"] == ["tools.yaml"]
    assert places["role binding"] == ["record_keeper.yaml"]


@pytest.mark.parametrize(
    ("subject", "resource", "said"),
    [
        ("persn:partner", "tool:weather", "`persn:partner` is not declared; did you mean `person`?"),
        ("user:partner", "tool:weather",
         "`user:partner` is not declared; kinds are `role`, `agent`, `person`, `system`, `webhook`, `sender`"),
        ("person:partner", "tol:weather", "`tol:weather` is not a resource; did you mean `tool`?"),
        ("person:partner", "thing:weather",
         "`thing:weather` is not a resource; the kinds are `tool`, `credential`, `data`, `role`"),
    ],
)  # fmt: skip
def test_a_kind_that_does_not_exist_is_told_apart_from_a_name(
    household: OrgView, subject: str, resource: str, said: str
) -> None:
    """A denial says which kinds there are."""
    (reason, *_) = explain_access(household, AccessRequest(subject, "use", resource, NOON)).reasons
    assert reason.text == said


def test_a_grant_that_ran_out_is_named_with_its_end(household: OrgView) -> None:
    """The one that ended last, also where it was given to whom the subject acts for; the trace has it in its layer."""
    first = Grant("g1", "person:friend", ("tool:github",), expires_at=60.0)
    last = Grant("g2", "person:friend", ("tool:git*",), expires_at=3600.0)
    state = StateView(grants={"person:friend": (first,)}, expired={"person:friend": (last,)})
    said = "grant `g2` of `tool:git*` to `person:friend` expired at 1970-01-01T01:00:00Z"
    own = explain_access(household, AccessRequest("person:friend", "use", "tool:github", NOON), state)
    assert [(reason.code, reason.text) for reason in own.reasons[1:]] == [("GRANT_EXPIRED", said)]
    assert own.decision.codes == ("NO_POLICY_MATCH",)
    assert [line.access_layer for line in own.trace if line.statement == said] == ["grants and restrictions"]
    acting = AccessRequest("agent:butler", "use", "tool:github", NOON, "person:friend")
    told = explain_access(household, acting, state)
    assert told.decision.codes == ("PARENT_CAP",)
    assert told.reasons[-1].text == said


LIMITS = """\
# Nothing stands here.
_schema: orgkernel:organization
org_id: home
limits: {delegation: strict}
hierarchy: {one: {}}
"""


def test_a_default_limit_is_reported_at_the_other_limits(tmp_path: Path) -> None:
    """With the words `by default`; one that is written, at its own line; without limits no line speaks of it."""
    role = "_schema: orgkernel:role_profile\nrole_id: one\nrole_type: commander\n"
    for limits, said, line in (
        ("limits: {delegation: strict}", "max_spawn_depth 3 by default", 4),
        ("limits: {max_spawn_depth: 2}", "max_spawn_depth 2", 4),
        ("limits: {}", "max_spawn_depth 3 by default", 4),
        ("departments: {}", "max_spawn_depth 3 by default", 0),
    ):
        text = LIMITS.replace("limits: {delegation: strict}", limits)
        write_tree(tmp_path, {"org.yaml": text, "roles/one.yaml": role})
        view = Kernel.open(tmp_path).latest("home").index
        request = AccessRequest("role:one", "handoff", "role:one", AccessContext(depth=4))
        reasons = {reason.code: reason for reason in explain_access(view, request).reasons}
        found = [(why.text, why.line) for why in reasons["DEPTH_EXCEEDED"].why]
        assert found == ([(said, line)] if line else [])
        assert reasons["DEPTH_EXCEEDED"].text == (
            f"role `one` is at depth 4 of the run, and the limit {said.replace('max_spawn_depth', '`max_spawn_depth` is')}"
        )


PART_POLICY = {
    "org.yaml": "_schema: orgkernel:organization\norg_id: shop\nhierarchy: {boss: {}}\n",
    "roles/boss.yaml": """
_schema: orgkernel:role_profile
role_id: boss
role_type: commander
capabilities: {tools_primary: [write]}
""",
    "tools.yaml": """
_schema: orgkernel:tool_catalog
tools:
  write:
    name: Write
    type: deterministic_function
    description: Writes a file.
    path_arguments: [path]
    input_schema: {type: object, properties: {path: {type: string}}}
""",
    "policies.yaml": """
_schema: orgkernel:access_policies
policies:
  no_secrets: {effect: deny, match: {principal: {role: boss}}, permissions: {tools: [write], paths: ["secret/**"]}}
""",
}


def test_a_list_without_a_policy_changes_no_later_decision(tmp_path: Path) -> None:
    """The tables without a policy are made for one question, and share with the others only what does not depend on it."""
    write_tree(tmp_path, PART_POLICY)
    view = Kernel.open(tmp_path).organization("shop").snapshot.index
    assert what_can(view, "role:boss", without=frozenset({"no_secrets"}))
    decision = decide_access(view, AccessRequest("role:boss", "use", "tool:write:secret/a"))
    assert (decision.outcome, decision.code) == ("deny", "POLICY_DENY")
