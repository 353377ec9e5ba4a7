"""What a change of a policy does: more, less, or perhaps more."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from orgkernel.crew.diff import Version, compare_versions, reverse
from orgkernel.crew.organization import build_organization_manifest
from orgkernel.crew.render_diff import render_github, render_markdown, render_summary, render_text
from orgkernel.decisions.access.decide import decide_access
from orgkernel.decisions.access.request import AccessContext, AccessRequest
from orgkernel.kernel.kernel import Kernel
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
SUBJECTS = ("person:anna", "person:ben", "person:unknown", "webhook:bell", "role:one")
CHANNELS, PEERS = (None, "slack", "discord"), (None, "dm", "group")


def kernel_of(folder: Path, policies: dict[str, Any]) -> Kernel:
    """The home with these policies; JSON is YAML."""
    document = {"_schema": "orgkernel:access_policies", "policies": policies}
    files = {"org.yaml": ORG, "roles/one.yaml": ROLE, "tools.yaml": TOOLS, "directory.yaml": DIRECTORY,
             "policies.json": json.dumps(document)}  # fmt: skip
    write_tree(folder, files)
    return Kernel.open(folder)


def effects(folder: Path, before: dict[str, Any], after: dict[str, Any]) -> tuple[Any, ...]:
    """The changes between two sets of policies, and both kernels."""
    kernels = [kernel_of(folder / name, each) for name, each in (("old", before), ("new", after))]
    sides = []
    for kernel in kernels:
        view = kernel.latest("home").index
        sides.append({"home": Version(build_organization_manifest(view, view.roles, ()))})
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
    ],
)  # fmt: skip
def test_the_direction_of_a_change(
    tmp_path: Path, before: dict[str, Any], after: dict[str, Any], expected: str
) -> None:
    """Where one side covers the other it is certain; anything else may let somebody do more. Turned round, the inverse."""
    changes, *_ = effects(tmp_path, {"p": before}, {"p": after})
    about = [each for each in changes if each.path[0] == "policies"]
    assert sorted(each.classification for each in about) == sorted(expected.split())


def test_what_may_widen_is_shown_like_what_does(tmp_path: Path) -> None:
    """A sign and a count of its own in text, a row of the table in markdown, a warning on GitHub."""
    changes, *_ = effects(tmp_path, {"p": allow({"person_id": "anna"})}, {"p": allow({"person_id": "ben"})})
    assert "0 widened, 1 may widen, 0 narrowed, 0 neither" in render_summary(changes)
    assert "\n  ? " in render_text(changes)
    assert "| may widen: " in render_markdown(changes)
    assert "title=orgkernel diff%3A may widen::" in render_github(changes)


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
PERMITTED = st.sampled_from(
    [
        "*",
        ["lamp"],
        ["lock"],
        ["la*"],
        {"allow": ["*"], "deny": ["lock"]},
        {"allow": ["lamp"], "deny": ["lamp"]},
    ]
)
POLICIES = st.builds(
    lambda principal, conditions, tools, effect, ceiling: allow(
        principal, tools, conditions=conditions, effect=effect, ceiling=ceiling and effect == "allow"
    ),
    PRINCIPALS, CONDITIONS, PERMITTED, st.sampled_from(["allow", "deny", "ask", "annotate"]), st.booleans(),
)  # fmt: skip


@given(before=POLICIES, after=POLICIES, other=POLICIES)
@settings(deadline=None, max_examples=40, phases=[Phase.explicit, Phase.reuse, Phase.generate])
def test_nobody_gains_without_a_flag(
    tmp_path_factory: pytest.TempPathFactory,
    before: dict[str, Any],
    after: dict[str, Any],
    other: dict[str, Any],
) -> None:
    """Decided for everybody in every circumstance the policies speak of: who may do more is in a change that says so."""
    policies = {"p": before, "q": other}, {"p": after, "q": other}
    changes, old, new = effects(tmp_path_factory.mktemp("tree"), *policies)
    for subject, tool, channel, peer in product(SUBJECTS, ("lamp", "lock"), CHANNELS, PEERS):
        context = AccessContext(now=1.0, channel=channel, peer_kind=peer)  # type: ignore[arg-type]
        request = AccessRequest(subject, "use", f"tool:{tool}", context)
        was, now = (decide_access(kernel.latest("home").index, request).outcome for kernel in (old, new))
        if now == "allow" != was or (now == "ask" and was == "deny"):
            flagged = {each.classification for each in changes} & {"widened", "unclear"}
            assert flagged, f"{request} was {was} and is {now}"
