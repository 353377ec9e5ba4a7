"""The table of the fields of a role profile: every field has a row, and what the row says of the manifest is so."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest
from pydantic import BaseModel

from orgkernel.cli.tables import render_role
from orgkernel.documents.model.role_profile import RoleProfile
from orgkernel.documents.role_fields import OF_DOCUMENT, ROLE_FIELDS, RoleField
from orgkernel.manifest.role import build_role_manifest
from orgkernel.manifest.v1 import RoleManifest, encode
from tests.support.edited_trees import small_documents
from tests.support.trees import read, write_tree

ORGANIZATION: dict[str, Any] = {
    "layers": ["l"],
    "departments": {"d": {"name": "Works"}},
    # The hierarchy would decide to whom the role reports.
    "hierarchy": {"a": {"subordinates": ["c"]}, "b": {}, "c": {}},
}


class Shown(NamedTuple):
    """A role of a small organization."""

    manifest: dict[str, Any]
    text: str


def show(folder: Path, profile: dict[str, Any]) -> Shown:
    """The manifest of role `b` with this profile."""
    documents = small_documents()
    documents["org.json"] |= ORGANIZATION
    documents["roles/b.json"] |= profile
    write_tree(folder, {name: json.dumps(each) for name, each in documents.items()})
    (organization,) = read(folder).organizations.values()
    manifest = build_role_manifest(organization.index, "b")
    text = render_role(manifest).replace(manifest.snapshot, "")
    return Shown(msgspec.json.decode(encode(manifest)), text)


def with_field(field: RoleField) -> dict[str, Any]:
    """A profile that says this field alone."""
    value = copy.deepcopy(field.another)
    for step in reversed(field.route):
        value = {step: value}
    return dict(value)


def without_why(value: Any) -> Any:
    """A part of a manifest without the lines that declare it."""
    if isinstance(value, dict):
        return {key: without_why(each) for key, each in value.items() if key != "why"}
    return [without_why(each) for each in value] if isinstance(value, list) else value


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Shown:
    return show(tmp_path_factory.mktemp("plain"), {})


def test_every_field_has_one_row() -> None:
    """The fields of the model, those of a part of the profile one by one, and no other."""
    expected = []
    for name, declared in RoleProfile.model_fields.items():
        kind = declared.annotation
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            expected += [(name, inner) for inner in kind.model_fields]
        elif name not in OF_DOCUMENT:
            expected.append((name,))
    assert sorted(field.route for field in ROLE_FIELDS) == sorted(expected)


def test_every_part_is_one_of_the_manifest() -> None:
    """A row names a part of the JSON manifest, and a list of ids or texts is filled whole from one field."""
    assert {field.part for field in ROLE_FIELDS} - set(RoleManifest.__struct_fields__) == set()
    lists = [field.part for field in ROLE_FIELDS if field.shown in ("ids", "texts")]
    assert len(lists) == len(set(lists))


@pytest.mark.parametrize("field", [pytest.param(each, id=".".join(each.route)) for each in ROLE_FIELDS])
def test_another_value_is_shown_where_the_row_says(field: RoleField, plain: Shown, tmp_path: Path) -> None:
    """In the part of the JSON manifest, and in the text for people."""
    changed = show(tmp_path, with_field(field))
    assert without_why(changed.manifest[field.part]) != without_why(plain.manifest[field.part])
    assert changed.text != plain.text


@pytest.mark.parametrize(
    "field",
    [pytest.param(each, id=".".join(each.route)) for each in ROLE_FIELDS if each.shown == "setting"],
)
def test_a_setting_is_shown_with_its_value(field: RoleField, plain: Shown, tmp_path: Path) -> None:
    """Under its own name, and with the default where the profile says nothing."""
    facts = {each["id"]: each["value"] for each in show(tmp_path, with_field(field)).manifest[field.part]}
    assert facts[field.route[-1]] == field.another
    assert field.route[-1] in {each["id"] for each in plain.manifest[field.part]}
