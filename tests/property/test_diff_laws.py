"""Laws of the diff, over edits of the templates, of a small organization, and of manifests as such."""

from __future__ import annotations

import tempfile
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orgkernel.diff.changes import Change
from orgkernel.diff.manifests import OrganizationVersion
from orgkernel.diff.normal_form import normalize
from orgkernel.manifest.v1 import OrganizationManifest
from tests.support.apply_changes import apply_changes
from tests.support.compared import compare_versions
from tests.support.edited_trees import edited, edits, small_documents, template_documents, versions_of
from tests.support.reverse_changes import reverse
from tests.support.trees import TEMPLATES, copy_template, read, write_tree
from tests.unit.manifest.everything import EVERYTHING

INVERSE = {"widened": "narrowed", "narrowed": "widened", "unclear": "unclear", "neutral": "neutral"}
OPPOSITE = {"gained": "lost", "lost": "gained", "added": "removed", "removed": "added"}
TREES = {
    "small": small_documents(),
    **{name: template_documents(name) for name in ("software_dev", "sigint_alpha")},
}


def plainly(manifest: OrganizationManifest) -> Any:
    """What a manifest says, in the plainest way: no reasons, no version, findings without their places and in no order."""

    def stripped(value: Any) -> Any:
        if isinstance(value, dict):
            left_out = {"why", "snapshot"} | ({"file", "line", "column"} if "severity" in value else set())
            found = {name: stripped(each) for name, each in sorted(value.items()) if name not in left_out}
            return found | ({"findings": sorted(map(repr, found["findings"]))} if "findings" in found else {})
        return [stripped(each) for each in value] if isinstance(value, list) else value

    return stripped(msgspec.json.decode(msgspec.json.encode(manifest)))


def hold_laws(old: dict[str, OrganizationVersion], new: dict[str, OrganizationVersion]) -> None:
    """Every law for two trees."""
    changes, back = compare_versions(old, new), compare_versions(new, old)
    same = {org_id: plainly(each.manifest) for org_id, each in old.items()} == {
        org_id: plainly(each.manifest) for org_id, each in new.items()
    }
    assert (changes == ()) == same
    assert reverse(changes) == back
    assert reverse(back) == changes
    effects = Counter((OPPOSITE.get(each.kind, each.kind), INVERSE[each.classification]) for each in changes)
    assert effects == Counter((each.kind, each.classification) for each in back)
    if not any(each.kind == "renamed" for each in changes):
        inverse = {
            (each.path, OPPOSITE.get(each.kind, each.kind)): INVERSE[each.classification] for each in changes
        }
        assert inverse == {(each.path, each.kind): each.classification for each in back}
    for org_id in old.keys() & new.keys():
        before, after = normalize(old[org_id].manifest), normalize(new[org_id].manifest)
        theirs = [each for each in changes if each.org_id == org_id]
        assert apply_changes(before, theirs) == after
        assert apply_changes(after, reverse(theirs)) == before
    for each in changes:
        assert each.sentence
        assert each.subject
        assert each.why_before or each.why_after


@pytest.mark.parametrize("tree", TREES)
@settings(max_examples=12)
@given(first=st.lists(edits(), max_size=2), second=st.lists(edits(), min_size=1, max_size=6))
def test_two_trees(tree: str, first: list[Any], second: list[Any]) -> None:
    """The diff of any two trees is empty if and only if their manifests are equal, leads from the one to the other and
    back, and comes out inverted when they are compared the other way round.
    """
    old = edited(TREES[tree], first)
    hold_laws(versions_of(old), versions_of(edited(old, second)))


@pytest.mark.parametrize("tree", ["software_dev", "sigint_alpha"])
@settings(max_examples=3)
@given(data=st.data())
def test_moving_lines_changes_nothing(tree: str, data: st.DataObject) -> None:
    """Blank lines and comments between the lines of any file yield an empty diff."""
    with tempfile.TemporaryDirectory() as folder:
        copied = copy_template(Path(folder), tree)
        for path in sorted(copied.rglob("*.yaml")):
            lines = path.read_text("utf-8").split("\n")
            count = data.draw(st.integers(0, 5))
            path.write_text("\n".join(["# moved"] * count + lines), encoding="utf-8")
        (moved,) = read(copied).organizations.values()
    (still,) = read(TEMPLATES / tree).organizations.values()
    one, other = _manifest(still), _manifest(moved)
    assert compare_manifests(one, other) == ()
    assert normalize(one) == normalize(other)


def compare_manifests(old: OrganizationManifest, new: OrganizationManifest) -> tuple[Change, ...]:
    """All changes between two manifests of one organization, each with all its roles."""
    return compare_versions({old.org_id: OrganizationVersion(old)}, {new.org_id: OrganizationVersion(new)})


def _manifest(snapshot: Any) -> OrganizationManifest:
    from orgkernel.manifest.organization import build_organization_manifest

    return build_organization_manifest(snapshot.index, snapshot.index.roles, snapshot.diagnostics)


@cache
def manifest_data(tree: str) -> bytes:
    if tree == "whole":
        with tempfile.TemporaryDirectory() as folder:
            (whole,) = read(write_tree(Path(folder), EVERYTHING)).organizations.values()
        return msgspec.json.encode(_manifest(whole))
    (version,) = versions_of(TREES[tree]).values()
    return msgspec.json.encode(version.manifest)


NAMES_OF_IT = ("_schema", "_version", "manifest_of", "org_id")
# They follow from levels, caps and grants, which are compared: of no real manifest does one differ alone.
DERIVED = ("decided_by", "declared_level")


def leaves(value: Any, route: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The routes to everything in a manifest, lists included."""
    if isinstance(value, dict):
        return [found for name, each in value.items() for found in leaves(each, (*route, name))]
    if isinstance(value, list):
        return [
            route,
            *(found for number, each in enumerate(value) for found in leaves(each, (*route, number))),
        ]
    return [route]


@settings(max_examples=60)
@given(data=st.data())
def test_any_value_of_a_manifest(data: st.DataObject) -> None:
    """Whatever single value of a manifest is another one, even where it then contradicts the rest: the diff says so
    exactly where the value counts, and leads there and back.
    """
    tree = data.draw(st.sampled_from(["whole", "software_dev"]))
    before = msgspec.json.decode(manifest_data(tree))
    after = msgspec.json.decode(manifest_data(tree))
    for _ in range(data.draw(st.integers(1, 2))):
        route = data.draw(st.sampled_from(leaves(after)))
        if route[-1] in NAMES_OF_IT or route[-1] in DERIVED or "allowed_pairs" in route[:-1]:
            continue
        holder = after
        for step in route[:-1]:
            holder = holder[step]
        holder[route[-1]] = _another(holder[route[-1]], route, data)
    one, other = (msgspec.convert(each, OrganizationManifest) for each in (before, after))
    changes = compare_manifests(one, other)
    assert (changes == ()) == (plainly(one) == plainly(other))
    assert apply_changes(normalize(one), changes) == normalize(other)
    assert apply_changes(normalize(other), reverse(changes)) == normalize(one)
    assert reverse(changes) == compare_manifests(other, one)


def _another(value: Any, route: tuple[Any, ...], data: st.DataObject) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    if isinstance(value, str):
        if route[-1] == "preference":
            return "primary" if value != "primary" else "stated"
        return f"{value}_x"
    if isinstance(value, list) and value:
        return data.draw(st.sampled_from((value[1:], value[:-1], value[::-1], [*value, value[0]])))
    if value is None and isinstance(route[-1], str) and route[-1] == "stale_after_turns":
        return 3
    return value
