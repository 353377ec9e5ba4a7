"""Begin something: a copy of a template, or a role in an organisation that exists."""

from __future__ import annotations

import os
import re
import shutil
from dataclasses import dataclass

from orgkernel.diagnostics.wording import did_you_mean, listing, quote
from orgkernel.errors import UsageError
from orgkernel.kernel.schemas import build_schemas, render_schema
from orgkernel.kernel.shipped import shipped_folder, template_names
from orgkernel.kernel.snapshot import OrgSnapshot
from orgkernel.loading.documents import SourceDocument
from orgkernel.loading.files import decode
from orgkernel.loading.marks import find_mark, unpack_mark
from orgkernel.loading.yaml_reader import parse_yaml
from orgkernel.model.record import Id
from orgkernel.model.role_profile import AUTHORITY_OF_TYPE, RoleType

# Hidden, so that reading the folder passes over it.
_SCHEMAS = os.path.join(".orgkernel", "schemas")
_MODELINE = re.compile(r"^# yaml-language-server: \$schema=\S*/([a-z_]+\.json)$", re.MULTILINE)
_ID = re.compile(Id.__metadata__[0].pattern)  # type: ignore[attr-defined]


class NotEmpty(UsageError):
    """The folder to be filled holds something already."""

    code = "NOT_EMPTY"


def copy_template(template: str, folder: str) -> list[str]:
    """Fill a new or empty folder with a template and the schemas its editor hints point to; returns what was written.

    Raises `NotEmpty`, or `UsageError` for an unknown template or a folder that cannot be written. What was written
    before an error is removed again.
    """
    if template not in template_names():
        help = did_you_mean(template, template_names()) or f"templates are {listing(template_names())}"
        raise UsageError(f"there is no template {quote(template)}", help)
    if os.path.lexists(folder) and (not os.path.isdir(folder) or os.listdir(folder)):
        raise NotEmpty(f"{quote(folder)} is not an empty folder", "name a new one")
    existed = os.path.isdir(folder)
    try:
        shutil.copytree(os.path.join(shipped_folder("templates"), template), folder, dirs_exist_ok=True)
        written = _point_modelines(folder)
        os.makedirs(os.path.join(folder, _SCHEMAS))
        for kind, schema in build_schemas().items():
            with open(os.path.join(folder, _SCHEMAS, f"{kind}.json"), "w", encoding="utf-8") as file:
                file.write(render_schema(schema))
    except OSError as error:
        _remove(folder, keep=existed)
        raise UsageError(
            f"{quote(folder)} cannot be written: {(error.strerror or str(error)).lower()}"
        ) from None
    return written


def _point_modelines(folder: str) -> list[str]:
    """Let the editor hints of every file point to the schemas of this folder."""
    written = []
    for here, _, names in sorted(os.walk(folder)):
        for name in sorted(names):
            path = os.path.join(here, name)
            with open(path, encoding="utf-8") as file:
                text = file.read()
            schemas = os.path.relpath(os.path.join(folder, _SCHEMAS), here).replace(os.sep, "/")
            with open(path, "w", encoding="utf-8") as file:
                file.write(_MODELINE.sub(rf"# yaml-language-server: $schema={schemas}/\1", text))
            written.append(os.path.relpath(path, folder))
    return written


def _remove(folder: str, *, keep: bool) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    if keep:
        os.makedirs(folder, exist_ok=True)


@dataclass(frozen=True, slots=True)
class NewRole:
    """What `add_role` did."""

    path: str
    included: bool
    """Whether the organisation's file could be changed to include the role; otherwise the user has to."""


def add_role(organization: OrgSnapshot, role_id: str, role_type: RoleType, reports_to: str | None) -> NewRole:
    """Write the profile of a new role and include it in the hierarchy, keeping the file as it is otherwise.

    Raises `UsageError` when the id is malformed or taken, or a file cannot be written; then nothing is left behind.
    """
    records = organization.records
    if not _ID.fullmatch(role_id):
        raise UsageError(
            f"{quote(role_id)} is not an id", "use letters, digits and `_`, at most 100 characters"
        )
    folder = os.path.join(os.path.dirname(records.document.path), "roles")
    path = os.path.join(folder, f"{role_id}.yaml")
    if organization.index.names_role(role_id) or os.path.lexists(path):
        raise UsageError(f"organization {quote(records.org_id)} has a role {quote(role_id)} already")
    superior = reports_to or next(iter(organization.index.roots()), "user")
    if superior not in organization.index.external and not organization.index.is_role(superior):
        help = did_you_mean(superior, organization.index.roles)
        raise UsageError(f"organization {quote(records.org_id)} has no role {quote(superior)}", help)
    try:
        os.makedirs(folder, exist_ok=True)
        with open(path, "x", encoding="utf-8") as file:
            file.write(_modeline(os.path.dirname(records.document.path)) + _profile(role_id, role_type, superior))
        return NewRole(path, _include(records.document, role_id))
    except OSError as error:
        raise UsageError(
            f"{quote(path)} cannot be written: {(error.strerror or str(error)).lower()}"
        ) from None


def _modeline(folder: str) -> str:
    """The editor hint, where the organisation's folder has the schemas it would point to."""
    if not os.path.isfile(os.path.join(folder, _SCHEMAS, "role_profile.json")):
        return ""
    schemas = _SCHEMAS.replace(os.sep, "/")
    return f"# yaml-language-server: $schema=../{schemas}/role_profile.json\n"


def _profile(role_id: str, role_type: RoleType, superior: str) -> str:
    delegates = "false" if role_type == "specialist" else "true"
    authority = AUTHORITY_OF_TYPE[role_type]
    return f"""\
_schema: orgkernel:role_profile
_version: "1.0"

role_id: {role_id}
role_name: {role_id.replace("_", " ").title()}
role_type: {role_type}
description: What this role is for, in a sentence.

chain_of_command:
  reports_to: {superior}
  authority_level: {authority}
  can_delegate: {delegates}

capabilities:
  bst_domains: []      # task domains it handles, such as codegen
  htn_plans: []        # plans it follows, such as codegen_module
  tools_primary: []    # tools it reaches for first, such as code_execution_tool
  tools_secondary: []
"""


def _include(document: SourceDocument, role_id: str) -> bool:
    """Add a line to the hierarchy of an organisation's YAML file; leave the file alone unless that is all it does."""
    with open(document.path, "rb") as file:
        content = file.read()
    source = decode(document.path, document.name, content)
    before = parse_yaml(source.text)
    if source.refusal or before.refusals or source.digest != document.digest or len(before.documents) != 1:
        return False
    parsed = before.documents[0]
    hierarchy = parsed.value.get("hierarchy")
    if not isinstance(hierarchy, dict) or not hierarchy:
        return False
    marks = [unpack_mark(find_mark(parsed.marks, ("hierarchy", key), key=True)) for key in hierarchy]
    last_line, column = marks[-1]
    lines = source.text.split("\n")
    end = last_line
    while end < len(lines) and (
        not lines[end].strip() or len(lines[end]) - len(lines[end].lstrip()) >= column
    ):
        end += 1
    while not lines[end - 1].strip():
        end -= 1
    changed = "\n".join([*lines[:end], f"{' ' * (column - 1)}{role_id}: {{}}", *lines[end:]])
    after = parse_yaml(changed)
    wanted = {**parsed.value, "hierarchy": {**hierarchy, role_id: {}}}
    if after.refusals or [each.value for each in after.documents] != [wanted]:
        return False
    replacement = f"{document.path}.new"
    with open(replacement, "w", encoding="utf-8", newline="") as file:
        file.write(changed)
    os.replace(replacement, document.path)
    return True
