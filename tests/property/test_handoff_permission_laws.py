"""Laws of hand-off permission, on generated organizations, runs and briefs."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from orgkernel.decisions.access.request import AccessContext
from orgkernel.decisions.evidence.state_view import Grant, StateView
from orgkernel.decisions.handoff.briefs import NO_BRIEFS, HandoffBriefs
from orgkernel.decisions.handoff.decide import decide_handoff, decide_handoff_permission
from orgkernel.decisions.handoff.governed_briefs import (
    _PLAIN_PATH,
    _find_needed_name,
    _is_sacred,
    _may_reach,
)
from orgkernel.decisions.handoff.permission import STEPS, HandoffQuestion
from orgkernel.decisions.ownership.claims import ClaimIndex, FileClaim
from orgkernel.decisions.ownership.overlap import do_owned_paths_overlap
from orgkernel.decisions.work.contracts.reading import ReadContract, read_contract
from orgkernel.graph.questions import OrgView
from orgkernel.loading.files import decode
from orgkernel.runtime.paths import fold, is_inside
from tests.support.trees import TEMPLATES, read, write_tree

ROLES = ("a", "b", "c", "d")
OMEGA = tuple(f"L{number}" for number in range(6))
PATHS = ("src/a.py", "src/b.py", "src/deep/a.py", "docs/a.md", "a.py")
GLOBS = (
    "src/**",
    "src/*.py",
    "src/a.py",
    "src/deep/**",
    "docs/**",
    "*.py",
    "**",
    "src/[ab].py",
    "src/../docs/a.md",
)


@cache
def omega() -> OrgView:
    return read(TEMPLATES / "omega").organizations["omega"].index


@st.composite
def organizations(draw: st.DrawFn) -> OrgView:
    """Four roles in some layers, with some edges, rights and positions."""
    layers = draw(st.lists(st.sampled_from(("x", "y", "z")), min_size=1, max_size=3, unique=True))
    of_role = {role: draw(st.sampled_from((*layers, None))) for role in ROLES}
    pairs = st.tuples(st.sampled_from(layers), st.sampled_from(layers))
    edges = draw(st.lists(pairs, max_size=4, unique=True))
    governance = {
        "_schema": "orgkernel:governance",
        "layers": {
            layer: {
                "roles": [role for role in ROLES if of_role[role] == layer],
                "read_only": draw(st.booleans()),
            }
            for layer in layers
        },
        "dispatch_edges": [{"from": one, "to": other} for one, other in edges],
    }
    files = {"org.json": json.dumps({"_schema": "orgkernel:organization", "org_id": "made", "hierarchy": {"a": {"subordinates": ["b"]}, "b": {"subordinates": ["c"]}, "c": {}, "d": {}}})}  # fmt: skip
    if draw(st.booleans()):
        files["governance.json"] = json.dumps(governance)
    for role in ROLES:
        profile = {
            "_schema": "orgkernel:role_profile",
            "role_id": role,
            "role_type": draw(st.sampled_from(("specialist", "executive"))),
            "position": draw(st.sampled_from(("worker", "manager", "unified"))),
            "handoff": {"may_to": draw(st.lists(st.sampled_from(ROLES), max_size=2, unique=True))},
        }
        files[f"{role}.json"] = json.dumps(profile)
    with TemporaryDirectory() as folder:
        return read(write_tree(Path(folder), files)).organizations["made"].index


@st.composite
def states(draw: st.DrawFn) -> StateView:
    """Grants of roles to roles: what is stored may open something, and never these."""
    role = st.sampled_from(ROLES)
    found: dict[str, tuple[Grant, ...]] = {}
    for number in range(draw(st.integers(0, 3))):
        subject = f"role:{draw(role)}"
        grant = Grant(f"g{number}", subject, (f"role:{draw(role)}",), "full", ("visibility", "restricted_to"))
        found[subject] = (*found.get(subject, ()), grant)
    return StateView(1, grants=found)


def brief(number: int, files: list[str], parent: int | None = None) -> ReadContract:
    """A sound brief over some files."""
    document: dict[str, Any] = {
        "_schema": "orgkernel:brief", "id": identity(number), "mission": "Do it", "purpose": "It helps", "context": {},
        "whats_done": [], "current_task": "All of it", "done_criteria": "It works", "verify_command": "pytest -q",
        "key_decisions": [], "spec": {"scope": {"files_owned": files}}, "relevant_memories": [], "ship": False,
    }  # fmt: skip
    if parent is not None:
        document["parent"] = identity(parent)
    return read_contract(decode("brief", "brief", json.dumps(document).encode()))


@st.composite
def claims_of_others(draw: st.DrawFn) -> ClaimIndex:
    """Claims of several holders, some of the same mission, some expired at time 5."""
    count = draw(st.integers(0, 4))
    return ClaimIndex(
        FileClaim(
            org_id="made", token=number, holder="agent:x", claimed_at=0, expires_at=draw(st.sampled_from((5.0, 9.0))),
            paths=(draw(st.sampled_from((*PATHS, *GLOBS))),), mission=draw(st.sampled_from((None, identity(1)))),
        )
        for number in range(count)
    )  # fmt: skip


def identity(number: int) -> str:
    return f"6f1c1d3a-8a52-4d0e-9a3b-{number:012d}"


@given(view=organizations(), state=states(), sender=st.sampled_from(ROLES), receiver=st.sampled_from(ROLES))
def test_worker_never_hands_work_down(view: OrgView, state: StateView, sender: str, receiver: str) -> None:
    """Whatever is declared besides, granted or stated. With a role that is out of service nothing can be told, and nothing opens."""
    found = decide_handoff_permission(view, HandoffQuestion(sender=sender, receiver=receiver), state)
    if not view.records.withheld.keys().isdisjoint((sender, receiver)):
        assert found.outcome == "cannot_tell"
    elif view.records.posts[sender].profile.position == "worker":
        assert found.outcome == "deny"
        assert "WORKER_CANNOT_DISPATCH" in {each.code for each in found.findings}


@given(view=organizations(), state=states(), sender=st.sampled_from(ROLES), receiver=st.sampled_from(ROLES))
def test_an_allowed_pair_has_an_edge_and_a_right(
    view: OrgView, state: StateView, sender: str, receiver: str
) -> None:
    """Under a governance document, some edge leads from the one layer to the other; a right is told in any case."""
    found = decide_handoff_permission(view, HandoffQuestion(sender=sender, receiver=receiver), state)
    codes = [each.step for each in found.findings]
    assert codes == sorted(codes, key=STEPS.index)
    if found.outcome != "allow":
        assert found.routing is None
        assert found.findings
        return
    records = view.records
    assert not found.findings
    assert any(reason.code in ("CHAIN_OF_COMMAND", "MAY_HAND_OFF", "GRANTED") for reason in found.reasons)
    if records.governance is not None:
        layers = [records.posts[role].profile.layer for role in (sender, receiver)]
        assert layers in [[edge.source, edge.target] for edge in records.organization.dispatch_edges]


@given(
    mine=st.lists(st.sampled_from(GLOBS), max_size=3, unique=True),
    theirs=st.lists(st.sampled_from(GLOBS), min_size=1, max_size=3, unique=True),
)
def test_child_scope_within_parent(mine: list[str], theirs: list[str]) -> None:
    """What a permitted brief owns, the brief of the sender owns as well."""
    briefs = HandoffBriefs(brief(2, theirs, parent=1), brief(1, mine))
    asked = HandoffQuestion(sender="L4", receiver="L5", depth=2, children=0, concurrent=0)
    found = decide_handoff_permission(omega(), asked, briefs=briefs)
    if found.outcome == "allow":
        for path in PATHS:
            if any(is_inside(path, glob) for glob in theirs):
                assert any(is_inside(path, glob) for glob in mine), (path, mine, theirs)
    else:
        assert {each.code for each in found.findings} == {"BRIEF_EXCEEDS_PARENT"}


@given(
    sender=st.sampled_from(OMEGA),
    receiver=st.sampled_from(OMEGA),
    files=st.lists(st.sampled_from(GLOBS), max_size=2),
)
def test_a_brief_never_opens(sender: str, receiver: str, files: list[str]) -> None:
    """With any brief, no pair may hand work down that may not without one."""
    asked = HandoffQuestion(sender=sender, receiver=receiver)
    bare = decide_handoff_permission(omega(), asked, briefs=NO_BRIEFS)
    with_one = decide_handoff_permission(omega(), asked, briefs=HandoffBriefs(brief(1, files)))
    assert bare.outcome == "allow" or with_one.outcome == "deny"


@given(
    sender=st.sampled_from(OMEGA), receiver=st.sampled_from(OMEGA), depth=st.integers(0, 5), children=st.integers(0, 6),
    running=st.integers(0, 6),
)  # fmt: skip
def test_a_fuller_run_never_opens(
    sender: str, receiver: str, depth: int, children: int, running: int
) -> None:
    """Deeper, with more children and more of them running, nothing becomes permitted."""

    def outcome(**run: int) -> str:
        asked = HandoffQuestion(sender=sender, receiver=receiver, **run)
        return decide_handoff_permission(omega(), asked).outcome

    now = {"depth": depth, "children": children, "concurrent": running}
    for name, value in now.items():
        assert outcome(**now) == "allow" or outcome(**{**now, name: value + 1}) == "deny"


@settings(max_examples=40, deadline=None)
@given(
    view=organizations(), state=states(), sender=st.sampled_from((*ROLES, "x", "y", "nobody")),
    receiver=st.sampled_from((*ROLES, "x", "y")), files=st.lists(st.sampled_from(GLOBS), max_size=2),
    parent=st.booleans(), claims=claims_of_others(),
    run=st.fixed_dictionaries({}, optional={"depth": st.integers(0, 4), "children": st.integers(0, 6)}),
)  # fmt: skip
def test_the_quick_answer_is_the_explained_one(
    view: OrgView,
    state: StateView,
    sender: str,
    receiver: str,
    files: list[str],
    parent: bool,
    claims: ClaimIndex,
    run: dict[str, int],
) -> None:
    """The same outcome, codes, obligations and hints; asked again, and by others meanwhile, they are the same too."""
    briefs = HandoffBriefs(brief(2, files, parent=1), brief(1, ["src/**"]) if parent else None)
    asked = HandoffQuestion(sender=sender, receiver=receiver, context=AccessContext(now=5.0), **run)
    now = replace(state, claims=claims)
    told = decide_handoff_permission(view, asked, now, briefs)
    for _ in range(2):
        quick = decide_handoff(view, asked, now, briefs)
        assert quick.failures == tuple((each.step, each.code) for each in told.findings)
        for name in (
            "outcome",
            "code",
            "sender",
            "receiver",
            "obligations",
            "routing",
            "snapshot",
            "state_version",
        ):
            assert getattr(quick, name) == getattr(told, name)
        decide_handoff(view, asked, state)
    taken = [text for claim in claims.claims if claim.expires_at > 5 for text in claim.paths]
    overlaps = any(do_owned_paths_overlap(mine, theirs) for mine in files for theirs in taken)
    assert (
        overlaps == ("live claims" in {step for step, _ in quick.failures})
        or told.findings[0].step == "names"
    )


@given(files=st.lists(st.sampled_from(GLOBS), min_size=1, max_size=2), claims=claims_of_others())
def test_a_claim_never_opens(files: list[str], claims: ClaimIndex) -> None:
    """Whatever others work on only takes away."""
    briefs = HandoffBriefs(brief(2, files, parent=1), brief(1, ["**"]))
    asked = HandoffQuestion(sender="L4", receiver="L5", depth=2, children=0, concurrent=0)
    free = decide_handoff(omega(), asked, briefs=briefs)
    beside = decide_handoff(omega(), asked, StateView(1, claims=claims), briefs)
    assert set(free.failures) <= set(beside.failures)
    assert free.outcome != "deny" or beside.outcome == "deny"


NAMES = st.sampled_from(("a", "A", "b", "auth", "Auth", ".env", ".Env", "x.py", "auth.", ".git", "-"))
GLOB_NAMES = st.sampled_from(
    (
        "**",
        "*",
        "a",
        "A",
        "auth",
        "au*",
        "?uth",
        ".env*",
        ".env",
        "*.py",
        "[ab]",
        "a**",
        "{a}",
        "..",
        ".git",
        "",
    )
)


@settings(max_examples=500)
@given(
    st.lists(NAMES, min_size=1, max_size=4),
    st.lists(GLOB_NAMES, min_size=1, max_size=4),
    st.sampled_from((None, "/srv/a")),
)
def test_a_path_without_the_needed_name_touches_no_sacred_glob(path_names: list[str], glob_names: list[str], root: str | None) -> None:  # fmt: skip
    """What the quick comparison leaves out, the slow one leaves out too."""
    path, glob = "/".join(path_names), "/".join(glob_names)
    name, is_first = _find_needed_name(glob)
    if name is None or not _PLAIN_PATH.fullmatch(path):
        return
    folded = tuple(map(fold, path_names[:1] if is_first else path_names))
    if not any(re.fullmatch(name, each) for each in folded):
        assert not _is_sacred(path, glob, root)
        assert not _may_reach(path, glob, root)
