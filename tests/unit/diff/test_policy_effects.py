"""What a change of a policy does: more, less, or perhaps more."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from orgkernel.decisions.access.decide import decide_access
from orgkernel.decisions.access.request import AccessContext, AccessRequest
from orgkernel.diff.render_diff import render_github, render_markdown, render_summary, render_text
from orgkernel.kernel.kernel import Kernel
from orgkernel.manifest.organization import build_organization_manifest
from tests.support.compared import OrganizationVersion, compare_versions, report_of
from tests.support.reverse_changes import reverse
from tests.support.trees import write_tree

ORG = """\
_schema: orgkernel:organization
org_id: home
hierarchy:
  one: {}
"""
ROLE = """\
_schema: orgkernel:role_profile
role_id: one
role_name: One
role_type: commander
capabilities:
  tools_primary: [lamp, lock]
"""
TOOLS = """\
_schema: orgkernel:tool_catalog
tools:
  lamp: {type: browser}
  lock: {type: browser}
"""
DIRECTORY = """\
_schema: orgkernel:directory
people:
  anna: {relationship: friend, tags: [cook, close]}
  ben: {relationship: family}
webhooks:
  bell: {}
"""
SUBJECTS = ("person:anna", "person:ben", "person:unknown", "webhook:bell", "role:one", "sender:slack/hq/u1",
            "sender:slack/hq/u2")  # fmt: skip
CHANNELS, PEERS = (None, "slack", "discord"), (None, "dm", "group")


def kernel_of(folder: Path, policies: dict[str, Any], people: dict[str, Any] | None = None) -> Kernel:
    """The home with these policies, and these people where others than usual are meant; JSON is YAML."""
    document = {"_schema": "orgkernel:access_policies", "policies": policies}
    files = {"org.yaml": ORG, "roles/one.yaml": ROLE, "tools.yaml": TOOLS, "directory.yaml": DIRECTORY,
             "policies.json": json.dumps(document)}  # fmt: skip
    if people is not None:
        files["directory.yaml"] = json.dumps(
            {"_schema": "orgkernel:directory", "people": people, "webhooks": {"bell": {}}}
        )
    write_tree(folder, files)
    return Kernel.open(folder)


def effects(
    folder: Path, before: dict[str, Any], after: dict[str, Any], *people: dict[str, Any]
) -> tuple[Any, ...]:
    """The changes between two sets of policies, and of people where they are given, and both kernels."""
    kernels = [
        kernel_of(folder / name, each, people[number] if people else None)
        for number, (name, each) in enumerate((("old", before), ("new", after)))
    ]
    sides = []
    for kernel in kernels:
        view = kernel.latest("home").index
        sides.append(
            {"home": OrganizationVersion(build_organization_manifest(view, view.roles, ()), view=view)}
        )
    changes = compare_versions(*sides)
    assert reverse(changes) == compare_versions(*sides[::-1])
    return changes, *kernels


def allow(principal: dict[str, Any] | None = None, tools: Any = "*", **more: Any) -> dict[str, Any]:
    """A policy that allows, unless it is said to do something else."""
    match: dict[str, Any] = {} if principal is None else {"principal": principal}
    conditions = more.pop("conditions", None)
    if conditions:
        match["conditions"] = conditions
    return {"effect": "allow", "match": match, "permissions": {"tools": tools}, **more}


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (allow({"person_id": "anna"}), allow(), "widened"),
        (allow({"tags": ["cook"]}), allow({"tags": ["cook", "close"]}), "narrowed"),
        (allow({"webhook": "bell"}), allow({"webhook": "*"}), "widened"),
        (allow({"person_id": "anna"}), allow({"person_id": "ben"}), "unclear"),
        (allow({"relationship": "friend"}), allow({"relationship": "family"}), "unclear"),
        (allow(conditions=[{"channel": "slack"}]), allow(), "widened"),
        (allow(conditions=[{"channel": "slack"}]), allow(conditions=[{"channel": "discord"}]), "unclear"),
        (
            allow(conditions=[{"channel": "slack"}]),
            allow(conditions=[{"channel": "slack"}, {"peer_kind": "dm"}]),
            "widened",
        ),
        (allow({"role": "*"}, effect="deny"), allow({"role": "one"}, effect="deny"), "widened"),
        (allow({"person_id": "anna"}, effect="ask"), allow(effect="ask"), "narrowed"),
        (allow(effect="annotate"), allow({"unknown": True}, effect="annotate"), "neutral"),
        (allow(tools=["lamp"]), allow(tools=["lock"]), "widened narrowed"),
        (allow(tools=["lamp"]), allow(tools=["l*"]), "widened narrowed"),
        (allow(tools=["lamp"], effect="deny"), allow(tools=["lamp", "lock"], effect="deny"), "narrowed"),
        (allow(tools={"allow": ["*"], "deny": ["lock"]}), allow(tools={"allow": ["*"]}), "widened"),
        (allow({"tags": ["cook"]}, {"allow": ["*"], "deny": ["lock"]}),
         allow({"tags": ["close"]}, {"allow": ["*"], "deny": ["lock"]}), "unclear"),
        (allow(effect="deny"), allow(effect="ask"), "widened widened narrowed"),
        (allow({"role": "one"}, ceiling=True), allow({"role": "one"}), "widened widened"),
        (allow(effect="deny"), allow(effect="deny", fallback=True), "widened"),
        (allow(), allow(fallback=True), "narrowed"),
        (allow(tools=["lamp"], effect="deny"), allow(tools={"allow": ["lamp"], "deny": ["*"]}, effect="deny"),
         "widened widened narrowed"),
        (allow(tools=["lamp"], effect="ask"), allow(tools={"deny": ["lamp"]}, effect="ask"), "widened narrowed"),
        (allow(effect="annotate"), allow(tools={"deny": ["lock"]}, effect="annotate"), "narrowed"),
    ],
)  # fmt: skip
def test_the_direction_of_a_change(
    tmp_path: Path, before: dict[str, Any], after: dict[str, Any], expected: str
) -> None:
    """If one side covers the other, the result is certain; otherwise some subject could gain. The reverse is the inverse."""
    changes, *_ = effects(tmp_path, {"p": before}, {"p": after})
    about = [each for each in changes if each.path[0] == "policies"]
    assert sorted(each.classification for each in about) == sorted(expected.split())


def test_what_may_widen_is_shown_like_what_does(tmp_path: Path) -> None:
    """A sign and a count of its own in text, a row of the table in markdown, a warning on GitHub."""
    changes, *_ = effects(tmp_path, {"p": allow({"person_id": "anna"})}, {"p": allow({"person_id": "ben"})})
    assert "0 widened, 1 may widen, 0 narrowed, 0 neutral" in render_summary(report_of(changes))
    assert "\n  ? " in render_text(report_of(changes))
    assert "| may widen: " in render_markdown(report_of(changes))
    assert "title=orgkernel diff%3A may widen::" in render_github(report_of(changes))


PRINCIPALS = st.sampled_from(
    [None, {"person_id": "anna"}, {"person_id": "ben"}, {"relationship": "friend"}, {"tags": ["cook"]},
     {"tags": ["cook", "close"]}, {"unknown": True}, {"webhook": "bell"}, {"webhook": "*"}, {"role": "one"}, {"role": "*"}]
)  # fmt: skip
CONDITIONS = st.lists(
    st.sampled_from(
        [
            {"channel": "slack"},
            {"channel": "discord"},
            {"peer_kind": "dm"},
            {"channel": "slack", "peer_kind": "dm"},
        ]
    ),
    max_size=2,
)
PERMITTED = st.sampled_from(["*", ["lamp"], ["lock"], ["la*"]])
ALL_BUT = {"allow": ["lamp"], "deny": ["*"]}
"""All tools but one: what `deny` denies, `ask` asks for, and `allow` leaves out."""
LISTS: dict[str, list[Any]] = {
    "allow": [{"allow": ["*"], "deny": ["lock"]}, {"allow": ["lamp"], "deny": ["lamp"]}, ALL_BUT],
    "deny": [{"deny": ["lock"]}, {"allow": ["lamp"], "deny": ["*", "lamp"]}, {"deny": ["*"]}, ALL_BUT],
    "ask": [{"deny": ["lock"]}, {"allow": ["lo*"], "deny": ["*"]}, {"deny": ["*"]}, ALL_BUT],
    "annotate": [{"deny": ["lock"]}, {"deny": ["*"]}],
}
"""The other forms that load, by effect."""
POLICIES = st.sampled_from(["allow", "deny", "ask", "annotate"]).flatmap(
    lambda effect: st.builds(
        lambda principal, conditions, tools, ceiling, fallback: allow(
            principal, tools, conditions=conditions, effect=effect, ceiling=ceiling and effect == "allow", fallback=fallback
        ),
        PRINCIPALS, CONDITIONS, PERMITTED | st.sampled_from(LISTS[effect]), st.booleans(), st.booleans(),
    )
)  # fmt: skip
IDENTITIES = st.lists(
    st.sampled_from([{"platform": "slack", "id": "u1"}, {"platform": "slack", "id": "u2", "space": "hq"}]),
    max_size=2,
    unique_by=lambda each: each["id"],
)
PERSONS = st.builds(
    lambda relationship, tags, identities: {
        "tags": tags, "identities": identities, **({"relationship": relationship} if relationship else {})
    },
    st.sampled_from([None, "friend", "family", "owner"]), st.sampled_from([[], ["cook"], ["close", "cook"]]), IDENTITIES,
)  # fmt: skip
PEOPLE = st.dictionaries(st.sampled_from(["anna", "ben"]), PERSONS, max_size=2)


@given(before=POLICIES, after=POLICIES, other=POLICIES)
@settings(deadline=None, max_examples=21, phases=[Phase.explicit, Phase.reuse, Phase.generate])
def test_no_subject_gains_without_a_flag(
    tmp_path_factory: pytest.TempPathFactory,
    before: dict[str, Any],
    after: dict[str, Any],
    other: dict[str, Any],
) -> None:
    """Decided for every subject in every circumstance of the policies: a gain is always in a change that reports it."""
    policies = {"p": before, "q": other}, {"p": after, "q": other}
    hold_flagged(effects(tmp_path_factory.mktemp("tree"), *policies))


@given(comes=POLICIES, others=st.lists(POLICIES, min_size=1, max_size=2))
@settings(deadline=None, max_examples=14, phases=[Phase.explicit, Phase.reuse, Phase.generate])
def test_no_subject_gains_by_an_added_or_removed_policy_without_a_flag(
    tmp_path_factory: pytest.TempPathFactory, comes: dict[str, Any], others: list[dict[str, Any]]
) -> None:
    """Also not where one that only takes silences a fallback that took more, or leaves one that gives to speak."""
    there = {f"q{number}": each for number, each in enumerate(others)}
    hold_flagged(effects(tmp_path_factory.mktemp("comes"), there, {**there, "p": comes}))
    hold_flagged(effects(tmp_path_factory.mktemp("goes"), {**there, "p": comes}, there))


@given(people=st.tuples(PEOPLE, PEOPLE), policies=st.lists(POLICIES, max_size=3))
@settings(deadline=None, max_examples=21, phases=[Phase.explicit, Phase.reuse, Phase.generate])
def test_no_subject_gains_by_the_directory_without_a_flag(
    tmp_path_factory: pytest.TempPathFactory,
    people: tuple[dict[str, Any], dict[str, Any]],
    policies: list[dict[str, Any]],
) -> None:
    """Persons get a relationship, a tag or an identity, are added, or become unknown again."""
    there = {f"p{number}": each for number, each in enumerate(policies)}
    hold_flagged(effects(tmp_path_factory.mktemp("people"), there, there, *people))


def hold_flagged(found: tuple[Any, ...]) -> None:
    """No subject gains without a flagged change."""
    changes, old, new = found
    for subject, tool, channel, peer in product(SUBJECTS, ("lamp", "lock"), CHANNELS, PEERS):
        context = AccessContext(now=1.0, channel=channel, peer_kind=peer)  # type: ignore[arg-type]
        request = AccessRequest(subject, "use", f"tool:{tool}", context)
        was, now = (decide_access(kernel.latest("home").index, request).outcome for kernel in (old, new))
        if now == "allow" != was or (now == "ask" and was == "deny"):
            flagged = {each.classification for each in changes} & {"widened", "unclear"}
            assert flagged, f"{request} was {was} and is {now}"


WORK = {"w": allow({"relationship": "friend"}, ["lamp"]), "x": allow({"tags": ["cook"]}, effect="deny")}
ANNA = {"relationship": "friend", "tags": [], "identities": []}


@pytest.mark.parametrize(
    ("before", "after", "said", "classification"),
    [
        ({**ANNA, "relationship": "family"}, ANNA,
         "person anna of home: relationship is `friend` instead of `family`, now matched by `w`", "widened"),
        (ANNA, {**ANNA, "tags": ["cook"]}, "person anna of home: tags gained `cook`, now matched by `x`", "narrowed"),
        (ANNA, {**ANNA, "tags": ["close"]}, "person anna of home: tags gained `close`", "neutral"),
        (ANNA, {**ANNA, "identities": [{"platform": "slack", "id": "u1"}]},
         "person anna of home: identities gained `slack//u1`", "widened"),
        (ANNA, {"tags": ["cook"]},
         "person anna of home: relationship is nothing instead of `friend`, tags gained `cook`, now matched by `x`, "
         "no longer matched by `w`", "narrowed"),
        (None, ANNA, "home gains person anna, matched by `w`", "widened"),
        (ANNA, {**ANNA, "name": "Anna"}, "person anna of home: name is `Anna` instead of nothing", "neutral"),
    ],
)  # fmt: skip
def test_what_the_directory_changes(
    tmp_path: Path, before: dict[str, Any] | None, after: dict[str, Any], said: str, classification: str
) -> None:
    """One change for each person, with what matches now and with its line; turned round, the inverse."""
    people = [{"anna": each} if each is not None else {} for each in (before, after)]
    changes, *_ = effects(tmp_path, WORK, WORK, *people)
    (change,) = changes
    assert (change.sentence, change.classification, change.subject) == (said, classification, "person:anna")
    assert change.why_after[0].file.endswith("directory.yaml")


def test_an_identity_that_moves_is_a_change_of_both(tmp_path: Path) -> None:
    """The sender may now do what the other one may; both entries are flagged or narrowed as it goes."""
    moves = {"relationship": "friend", "identities": [{"platform": "slack", "id": "u1"}]}
    keeps = {"relationship": "family"}
    one = {"anna": moves, "ben": keeps}
    other = {"anna": {"relationship": "friend"}, "ben": {**keeps, "identities": moves["identities"]}}
    changes, *_ = effects(tmp_path, WORK, WORK, one, other)
    assert [(each.subject, each.classification) for each in changes] == [
        ("person:anna", "narrowed"),
        ("person:ben", "narrowed"),
    ]


def test_a_webhook_that_comes_is_judged_by_what_matches_it(tmp_path: Path) -> None:
    """And one whose description changes is neither."""
    policies = {"w": allow({"webhook": "*"}, ["lamp"])}
    for name, hooks in (("old", "bell: {}"), ("new", "bell: {description: rings}, gong: {}")):
        kernel_of(tmp_path / name, policies)
        text = f"_schema: orgkernel:directory\nwebhooks: {{{hooks}}}\n"
        (tmp_path / name / "directory.yaml").write_text(text, encoding="utf-8")
    views = [Kernel.open(tmp_path / name).latest("home").index for name in ("old", "new")]
    old, new = (
        {"home": OrganizationVersion(build_organization_manifest(view, view.roles, ()), view=view)}
        for view in views
    )
    assert [(each.sentence, each.classification) for each in compare_versions(old, new)] == [
        ("webhook bell of home: description is `rings` instead of nothing", "neutral"),
        ("home gains webhook gong, matched by `w`", "widened"),
    ]


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("deny", "ask", {("one may now ask for action use of tool lamp", "widened")}),
        ("ask", "deny", {("one no longer asks for action use of tool lamp", "narrowed")}),
        (
            "annotate",
            "ask",
            {
                ("one may now ask for action use of tool lamp", "narrowed"),
                ("one may no longer use action use of tool lamp", "narrowed"),
            },
        ),
        (
            "ask",
            "annotate",
            {
                ("one no longer asks for action use of tool lamp", "widened"),
                ("one may now use action use of tool lamp", "widened"),
            },
        ),
    ],
)
def test_asking_is_more_than_nothing_and_less_than_being_allowed(
    tmp_path: Path, before: str, after: str, said: set[tuple[str, str]]
) -> None:
    """What a role may ask for is judged by what it could do before; turned round, the inverse."""
    changes, *_ = effects(
        tmp_path, *({"p": allow({"role": "one"}, ["lamp"], effect=each)} for each in (before, after))
    )
    about = {(each.sentence, each.classification) for each in changes if "action" in each.sentence}
    assert about == said


@pytest.mark.parametrize(
    ("comes", "others", "expected"),
    [
        (allow({"webhook": "bell"}, ["lamp"]), {"q": allow({"webhook": "*"}, effect="deny", fallback=True)}, "widened"),
        (allow({"webhook": "bell"}, ["lamp"], effect="deny"), {"q": allow({"webhook": "*"}, effect="deny", fallback=True)},
         "narrowed"),
        (allow({"webhook": "bell"}, ["lamp"], effect="deny"), {"q": allow({"webhook": "*"}, ["lock"], fallback=True)},
         "narrowed"),
        (allow({"webhook": "bell"}, {"allow": ["lamp"], "deny": ["lock"]}), {"q": allow({"webhook": "*"}, fallback=True)},
         "unclear"),
        (allow({"webhook": "bell"}, effect="annotate"), {"q": allow({"webhook": "*"}, effect="deny", fallback=True)},
         "neutral"),
        (allow({"webhook": "bell"}, ["lamp"]), {"q": allow({"webhook": "*"}, fallback=True)}, "unclear"),
        (allow({"person_id": "anna"}, ["lamp"], effect="deny"), {"q": allow({"webhook": "*"}, effect="deny", fallback=True)},
         "narrowed"),
        (allow({"webhook": "bell"}, ["lamp"], effect="deny"), {"q": allow({"webhook": "*"}, effect="deny")}, "narrowed"),
    ],
)  # fmt: skip
def test_a_policy_that_silences_a_fallback_does_what_the_fallback_did(
    tmp_path: Path, comes: dict[str, Any], others: dict[str, Any], expected: str
) -> None:
    """Turned round: where it speaks no longer, the fallback does what the policy kept it from."""
    changes, *_ = effects(tmp_path, others, {**others, "p": comes})
    (about,) = (each for each in changes if each.path[:2] == ("policies", "p"))
    assert about.classification == expected


@pytest.mark.parametrize(
    "policy",
    [
        allow({"role": "one"}, ceiling=True),
        allow(ceiling=True, effect="annotate"),
        allow(effect="deny", tools=[]),
        allow({"role": "one"}, effect="ask", tools=[]),
    ],
)
def test_a_policy_that_bounds_nothing_is_neutral(tmp_path: Path, policy: dict[str, Any]) -> None:
    """A ceiling that allows everything, or a list without an entry, takes no permission from a subject."""
    changes, before, after = effects(tmp_path, {}, {"x": policy})
    assert {each.classification for each in changes if each.subject == "policy:x"} == {"neutral"}
    for subject in SUBJECTS:
        request = AccessRequest(subject, "use", "tool:lamp")
        assert before.can("home", request).outcome == after.can("home", request).outcome


def test_limits_of_handoffs_are_neutral_if_no_role_may_hand_off(tmp_path: Path) -> None:
    """And they narrow as soon as a role may hand work to another one."""
    helper = "_schema: orgkernel:role_profile\nrole_id: two\n"
    manages = ROLE + "chain_of_command: {can_delegate: true}\n"
    chart = ORG.replace("one: {}", "one: {subordinates: [two]}")
    for number, (org, role, effect) in enumerate(((ORG, ROLE, "neutral"), (chart, manages, "narrowed"))):
        sides = []
        for name, limits in (("old", ""), ("new", "limits: {max_children: 1}\n")):
            files = {"org.yaml": org + limits, "one.yaml": role, "two.yaml": helper, "tools.yaml": TOOLS}
            view = Kernel.open(write_tree(tmp_path / f"{number}{name}", files)).latest("home").index
            sides.append(
                {"home": OrganizationVersion(build_organization_manifest(view, view.roles, ()), view=view)}
            )
        (change,) = compare_versions(*sides)
        assert change.classification == effect
