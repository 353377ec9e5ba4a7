"""A load that remembers is indistinguishable from one that does not, whatever was done to the files in between.

`warm_equals_cold`: a fresh process with a cache, and the same process again, answer as a first load without one.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orgkernel.loading import tree as reading
from orgkernel.loading.cache import Cache
from orgkernel.manifest.organization import build_organization_manifest
from orgkernel.manifest.role import build_role_manifest
from orgkernel.manifest.v1 import encode
from orgkernel.snapshots import check as checking
from orgkernel.snapshots import loader as loading
from orgkernel.snapshots.loader import Loader
from orgkernel.snapshots.packing import pack_snapshot
from orgkernel.snapshots.roots import resolve_paths
from orgkernel.snapshots.snapshot import Snapshot
from tests.cli.running import SHOP
from tests.support.trees import write_tree

FILES = (
    "org.yaml", "tools.yaml", "roles/co.yaml", "roles/dev.yaml", "roles/ops.yaml", "roles/spare.yaml", "other/org.yaml",
    "note.yaml", "roles/several.yaml",
)  # fmt: skip
TEXTS = (
    SHOP["org.yaml"],
    SHOP["roles/dev.yaml"],
    SHOP["roles/co.yaml"],
    "_schema: orgkernel:role_profile\nrole_id: ops\nrole_type: executive\nchain_of_command: {reports_to: nobody}\n",
    "_schema: orgkernel:role_profile\nrole_id: dev\ncapabilities: {tools_primary: [ticket], bst_domains: [codegen, nowhere]}\n",
    "_schema: orgkernel:role_profile\nrole_id: dev\nx_mine: [1, {a: b}]\nunread: true\nsuppressions: [{rule: ORG102, reason: mine}]\n",
    "_schema: orgkernel:tool_catalog\ntools: {ticket: {type: remote_api, input_schema: {enum: [1, [2]]}}}\n",
    "_schema: orgkernel:organization\norg_id: other\nhierarchy: {dev: {subordinates: [ops]}, ops: {}}\n"
    "overrides: {dev: {doctrine: {salute_interval_turns: 9}, pace_plan: {alternate: null}}}\n",
    "_schema: orgkernel:role_profile\nrole_id: [a\n",
    "_schema: orgkernel:role_profile\nrole_id: spare\ndescription: 12\n",
    "name: a workflow\non: push\n",
    "role_id: dev\n",
    "",
    "_schema: orgkernel:role_profile\nrole_id: one\n---\n_schema: orgkernel:role_profile\nrole_id: two\n",
)  # fmt: skip

Edit = Callable[[Path], None]


def write(name: str, text: str) -> Edit:
    """Write a file, new or not."""
    return lambda folder: void(write_tree(folder, {name: text}))


def delete(name: str) -> Edit:
    """Remove a file."""
    return lambda folder: (folder / name).unlink(missing_ok=True)


def rename(name: str, other: str) -> Edit:
    """Move a file, over another one perhaps."""
    return lambda folder: move(folder / name, folder / other)


def swap(name: str, other: str) -> Edit:
    """Exchange two files without writing to them: sizes may be the same, and times are."""

    def exchange(folder: Path) -> None:
        if (folder / name).exists() and (folder / other).exists():
            move(folder / name, folder / "aside")
            move(folder / other, folder / name)
            move(folder / "aside", folder / other)

    return exchange


def touch(name: str) -> Edit:
    """Another time, the same content."""
    return lambda folder: (folder / name).touch() if (folder / name).exists() else None


def same_size(name: str) -> Edit:
    """Another content of the same length, with the old time of modification."""

    def change(folder: Path) -> None:
        path = folder / name
        if path.is_file() and not path.is_symlink():
            state = path.stat()
            path.write_text(path.read_text().replace("e", "a", 1))
            os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))

    return change


def say(name: str, text: str) -> Edit:
    """Another line in a file: a description, a limit, a tool; a line further down or not."""

    def add(folder: Path) -> None:
        path = folder / name
        if path.is_file() and not path.is_symlink():
            path.write_text(text + path.read_text() if text[0] in "#d" else path.read_text() + text)

    return add


SAID = (
    "description: Says something else.\n", "doctrine: {salute_interval_turns: 20}\n", "# a comment\n",
    "standing_orders: [Look twice.]\n", "does_not_have: [a ghp_012345678901234567890123456789abcdefAB]\n",
    "pace_plan: {contingent: {trigger: no_such_name > 1, escalate_to: co}}\n", "credentials: [deploy_key]\n",
    "handoff: {may_to: [dev], may_from: [ops]}\n", "layer: upper\n", "requirements: {min_context_tokens: 5}\n",
)  # fmt: skip


def link(name: str, target: str) -> Edit:
    """A link in place of a file, to one that may not be there."""

    def make(folder: Path) -> None:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).unlink(missing_ok=True)
        (folder / name).symlink_to(folder / target)

    return make


def void(_: object) -> None:
    """Nothing."""


def move(path: Path, to: Path) -> None:
    """Rename, where there is something."""
    if os.path.lexists(path):
        to.parent.mkdir(parents=True, exist_ok=True)
        path.rename(to)


NAMES = st.sampled_from(FILES)
EDITS = st.one_of(
    st.builds(write, NAMES, st.sampled_from(TEXTS)),
    st.builds(write, NAMES, st.sampled_from(TEXTS)),
    st.builds(say, NAMES, st.sampled_from(SAID)),
    st.builds(
        say, st.sampled_from(["roles/dev.yaml", "roles/co.yaml", "roles/ops.yaml"]), st.sampled_from(SAID)
    ),
    st.builds(delete, NAMES),
    st.builds(rename, NAMES, NAMES),
    st.builds(swap, NAMES, NAMES),
    st.builds(touch, NAMES),
    st.builds(same_size, NAMES),
    st.builds(link, NAMES, NAMES),
)


def everything(snapshot: Snapshot) -> object:
    """All that can be asked of a snapshot: what it is made of, every finding, every manifest byte, every count."""
    tree = snapshot.tree
    manifests = [
        encode(build_role_manifest(each.index, role_id, each.diagnostics))
        for each in snapshot.organizations.values()
        for role_id in each.index.roles
    ]
    crews = [
        encode(build_organization_manifest(each.index, each.index.roles, each.diagnostics, count=1))
        for each in snapshot.organizations.values()
    ]
    return (
        pack_snapshot(snapshot), manifests, crews, tree.paths, tree.skipped, tree.broken, tree.diagnostics,
        [(each.name, each.path, each.shared, each.context, each.unknown, each.digest) for each in tree.documents],
        [
            (
                list(each.columns), each.records.files, each.records.digest, each.has_errors,
                {role: each.records.elsewhere.get(role) for role in ("co", "dev", "ops")},
                [(post.profile, post.shared_profile) for post in each.records.posts.values()],
                msgspec.to_builtins(each.records.organization),
            )
            for each in snapshot.organizations.values()
        ],
        snapshot.digest, snapshot.diagnostics, list(snapshot.organizations),
    )  # fmt: skip


def run_law(folder: Path, steps: list[list[Edit]], wait: float) -> None:
    """After each step of edits, compare all ways of loading with the one that remembers nothing."""
    shutil.rmtree(folder, ignore_errors=True)
    tree = write_tree(folder / "shop", {**SHOP, "tools.yaml": TEXTS[6]})
    cache = str(folder / "cache")
    request = resolve_paths(["."], str(tree))
    staying = Loader(request, {}, Cache(cache))
    for edits in [[], *steps]:
        time.sleep(wait)
        for edit in edits:
            edit(tree)
        request = resolve_paths(["."], str(tree))
        cold = everything(Loader(request, {}).load())
        if request.roots != staying.request.roots:
            staying = Loader(request, {}, Cache(cache))
        assert everything(staying.load()) == cold
        for _ in range(2):
            fresh = Loader(request, {}, Cache(cache))
            assert everything(fresh.load()) == cold
            fresh.save()


STEPS = st.lists(st.lists(EDITS, min_size=1, max_size=3), min_size=1, max_size=4)


@settings(max_examples=12)
@given(steps=STEPS)
def test_warm_equals_cold(steps: list[list[Edit]], tmp_path_factory: pytest.TempPathFactory) -> None:
    """Every file is as new as the cache: contents decide."""
    run_law(tmp_path_factory.getbasetemp() / "new_files", steps, 0)


@settings(max_examples=8)
@given(steps=STEPS)
def test_warm_equals_cold_when_files_are_old(
    steps: list[list[Edit]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Every file is older than the cache, by a clock that is ahead of the file system's: states decide."""
    clock = SimpleNamespace(time_ns=lambda: time.time_ns() + 60 * 10**9)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loading, "time", clock)
        run_law(tmp_path_factory.getbasetemp() / "old_files", steps, 0.012)


@settings(max_examples=8)
@given(
    texts=st.lists(
        st.tuples(st.sampled_from(["dev", "co", "ops"]), st.sampled_from(SAID)), min_size=1, max_size=6
    )
)
def test_profiles_that_gain_lines_are_reloaded_as_if_cold(
    texts: list[tuple[str, str]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """One after the other, in two organizations that share them."""
    other = (
        "_schema: orgkernel:organization\norg_id: other\nhierarchy: {co: {subordinates: [dev]}, dev: {}}\n"
    )
    edits = [[write("second/org.yaml", other)], *([say(f"roles/{role}.yaml", text)] for role, text in texts)]
    run_law(tmp_path_factory.getbasetemp() / "gaining", edits, 0)


def test_only_the_changed_file_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every other document is the one of the last snapshot; where nothing changed, the snapshot itself is."""
    tree = write_tree(tmp_path, SHOP)
    loader = Loader(resolve_paths(["."], str(tree)), {})
    before = loader.load()
    assert loader.load() is before
    path = tree / "roles/dev.yaml"
    path.write_text(path.read_text() + "credentials: [deploy_key]\n")
    read: list[str] = []
    original = reading.read_located
    monkeypatch.setattr(reading, "read_located", lambda file: read.append(file.name) or original(file))
    after = loader.load()
    assert read == ["roles/dev.yaml"]
    kept = {id(document) for document in before.tree.documents}
    anew = [document.name for document in after.tree.documents if id(document) not in kept]
    assert anew == ["roles/dev.yaml"]


def test_only_the_changed_document_is_checked_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process takes the findings about the other documents from the cache, and finds the same as one without it."""
    tree = write_tree(tmp_path / "shop", SHOP)
    request = resolve_paths(["."], str(tree))
    first = Loader(request, {}, Cache(str(tmp_path / "cache")))
    first.load()
    first.save()
    path = tree / "roles/dev.yaml"
    path.write_text(path.read_text() + "credentials: [deploy_key, deploy_key]\n")
    checked: list[str] = []
    original = checking.check_post
    monkeypatch.setattr(checking, "check_post", lambda post: checked.append(post.role_id) or original(post))
    after = Loader(request, {}, Cache(str(tmp_path / "cache"))).load()
    assert checked == ["dev"]
    assert everything(after) == everything(Loader(request, {}).load())


ROLES = ("co", "xo", "dev", "ops", "doc")
# Two organizations share the profiles; one keeps tools apart, prefers roles, counts skills and caps a tool by rank.
CROSSING = {
    "org.yaml": """\
_schema: orgkernel:organization
org_id: shop
hierarchy: {co: {subordinates: [xo, doc]}, doc: {}, xo: {subordinates: [dev, ops]}, dev: {}, ops: {}}
domains: [codegen, docker_ops]
domain_routing: {codegen: [ops, dev]}
separations: {hands: {tools: [ticket, shell]}}
""",
    "second/org.yaml": """\
_schema: orgkernel:organization
org_id: second
hierarchy: {xo: {subordinates: [dev]}, dev: {}}
overrides: {xo: {doctrine: {salute_interval_turns: 9}, pace_plan: {alternate: null}}}
""",
    "tools.yaml": """\
_schema: orgkernel:tool_catalog
tools:
  ticket: {type: remote_api, departments: [front]}
  shell: {type: computer_use, actions: {run: full}, rank_matrix: {senior: write}}
  lamp: {type: remote_api, side_effects: read}
""",
    "plans.yaml": """\
_schema: orgkernel:plan_catalog
plans:
  sell: {domains: [docker_ops], tools: [ticket], steps: [a]}
  count: {domains: [codegen], steps: [a]}
""",
    "ladder.yaml": """\
_schema: orgkernel:rank_ladder
ranks: [{id: junior}, {id: senior, trust_from: 0.6}]
promotions: {senior: {requirements: [{skills: role, min_proficiency: 1, min_count: 2}]}}
""",
    "policies.yaml": """\
_schema: orgkernel:access_policies
policies: {night: {effect: deny, match: {principal: {role: dev}}, permissions: {tools: [lamp]}}}
""",
    "crew.yaml": """\
_schema: orgkernel:crew_roster
agents: {a1: {assignments: [{role: dev}, {role: ops}]}}
""",
}
_IDS = {
    "bst_domains": ("codegen", "docker_ops", "bugfix", "codgen", "nowhere"),
    "htn_plans": ("sell", "count", "codegen_module", "cuont"),
    "tools_primary": ("ticket", "shell", "lamp", "call_subordinate", "tikcet"),
    "tools_secondary": ("ticket", "lamp", "shell"),
    "skills": ("communication", "collaboration", "no_such_skill"),
    "intents": ("buy", "ask"),
}
_USES = st.lists(
    st.tuples(st.sampled_from(("ticket", "shell", "lamp")), st.sampled_from(("none", "read", "full"))),
    max_size=2,
)
ABLE = st.fixed_dictionaries(
    {}, optional={field: st.lists(st.sampled_from(ids), max_size=4) for field, ids in _IDS.items()}
)


@st.composite
def profiles(draw: st.DrawFn, role_id: str) -> str:
    """A profile whose other fields are always the same, at other lines perhaps."""
    lines = [*draw(st.lists(st.sampled_from(("# a line", "description: Does it.")), max_size=2, unique=True))]
    lines += ["_schema: orgkernel:role_profile", f"role_id: {role_id}"]
    kind = {"co": "commander", "xo": "executive", "doc": "executive"}.get(role_id, "specialist")
    lines += [f"role_type: {kind}"]
    able = draw(ABLE)
    if able:
        lines += ["capabilities:", *(f"  {field}: [{', '.join(ids)}]" for field, ids in able.items())]
        uses = draw(_USES)
        if uses:
            lines += ["  tools:", *(f"    - {{tool: {tool}, level: {level}}}" for tool, level in uses)]
    if role_id == "ops":
        lines += [
            "handoff: {may_from: [xo]}",
            "may_grant: [{tool: lamp, level: read}]",
            "pace_plan: {contingent: {trigger: context_fill > 0.9, escalate_to: xo}}",
        ]
    if role_id == "dev":
        lines += ["chain_of_command: {reports_to: xo}"]
    return "\n".join(lines) + "\n"


EDITED_PROFILES = st.sampled_from(ROLES).flatmap(
    lambda role_id: st.tuples(st.just(role_id), profiles(role_id))
)


@settings(max_examples=16)
@given(
    start=st.tuples(*(profiles(role_id) for role_id in ROLES)),
    steps=st.lists(st.lists(EDITED_PROFILES, min_size=1, max_size=2), min_size=1, max_size=4),
)
def test_reloaded_equals_rebuilt_where_files_refer_to_each_other(
    start: tuple[str, ...],
    steps: list[list[tuple[str, str]]],
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """Profiles that get other abilities, one or two at once, where every rule about abilities has something to say."""
    texts = {f"roles/{role_id}.yaml": text for role_id, text in zip(ROLES, start, strict=True)}
    folder = tmp_path_factory.mktemp("crossing")
    tree = write_tree(folder, {**CROSSING, **texts})
    request = resolve_paths(["."], str(tree))
    staying = Loader(request, {})
    for edits in [[], *steps]:
        write_tree(folder, {f"roles/{role_id}.yaml": text for role_id, text in edits})
        assert everything(staying.load()) == everything(Loader(request, {}).load())
