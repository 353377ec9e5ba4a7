"""Start something new: a copy of a template, or a role, tool or domain of an existing organization."""

from __future__ import annotations

import codecs
import json
import os
import re
import shutil
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from orgkernel.diagnostics.wording import did_you_mean, quote
from orgkernel.documents.model.json_schema import build_json_schema
from orgkernel.documents.model.kinds import KINDS
from orgkernel.documents.model.record import Id
from orgkernel.documents.records import AUTHORITY_OF_TYPE, USER, RoleType
from orgkernel.errors import UsageError
from orgkernel.graph.records import Definition, OrgRecords
from orgkernel.loading.files import decode
from orgkernel.loading.marks import find_mark, unpack_mark
from orgkernel.loading.scalars import resolve_scalar
from orgkernel.loading.shipped import get_shipped_folder, list_templates
from orgkernel.loading.sources import SourceDocument
from orgkernel.loading.yaml_reader import parse_yaml
from orgkernel.manifest.v1 import build_manifest_schema
from orgkernel.project.replacing import replace_file
from orgkernel.runtime.regular_files import open_regular
from orgkernel.snapshots.snapshot import OrgSnapshot

# Hidden, so that loading the folder ignores it.
_SCHEMAS = os.path.join(".orgkernel", "schemas")
_MODELINE = re.compile(r"^# yaml-language-server: \$schema=\S*/([a-z_]+\.json)$", re.MULTILINE)
_ID = re.compile(Id.__metadata__[0].pattern)  # type: ignore[attr-defined]


class NotEmpty(UsageError):
    """The folder to fill is not empty."""

    code = "NOT_EMPTY"


def copy_template(template: str, folder: str, org_id: str | None = None) -> list[str]:
    """Fill a new or empty folder with a template and the schemas for its editor hints. Returns the written files.

    With `org_id`, the organization of the copy has this id instead of the template's, also in its cases.
    Raises `NotEmpty`, or `UsageError` for an unknown template or a folder that cannot be written. After an error, the
    files written so far are removed.
    """
    if template not in list_templates():
        help = (
            did_you_mean(template, list_templates())
            or f"templates are {', '.join(map(quote, list_templates()))}"
        )
        raise UsageError(f"there is no template {quote(template)}", help)
    if os.path.lexists(folder) and (not os.path.isdir(folder) or os.listdir(folder)):
        raise NotEmpty(f"{quote(folder)} is not an empty folder", "pass the name of a new or empty folder")
    if org_id is not None:
        _require_id(org_id)
    made = _list_missing_folders(folder)
    try:
        shutil.copytree(os.path.join(get_shipped_folder("templates"), template), folder, dirs_exist_ok=True)
        if org_id is not None:
            _rename_organization(folder, template, org_id)
        written = _point_modelines(folder)
        os.makedirs(os.path.join(folder, _SCHEMAS))
        for kind, schema in build_schemas().items():
            with open(os.path.join(folder, _SCHEMAS, f"{kind}.json"), "w", encoding="utf-8") as file:
                file.write(render_schema(schema))
    except OSError as error:
        _is_empty(folder)
        _discard(folder, made)
        raise UsageError(
            f"{quote(folder)} cannot be written: {(error.strerror or str(error)).lower()}"
        ) from None
    return written


def _rename_organization(folder: str, template: str, org_id: str) -> None:
    """Write another id where the organization declares its own, and where its cases name it."""
    own = re.compile(rf"^((?:org_id|    org): ){re.escape(template)}$", re.MULTILINE)
    for here, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(here, name)
            with open(path, encoding="utf-8") as file:
                text = file.read()
            with open(path, "w", encoding="utf-8") as file:
                file.write(own.sub(lambda match: match[1] + _render_scalar(org_id), text))


def _point_modelines(folder: str) -> list[str]:
    """Point the editor hints of every file to the schemas of this folder."""
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


def _is_empty(folder: str) -> None:
    with suppress(OSError):
        for name in os.listdir(folder):
            path = os.path.join(folder, name)
            if os.path.isdir(path):
                shutil.rmtree(path, ignore_errors=True)
            else:
                os.unlink(path)


def _list_missing_folders(folder: str) -> list[str]:
    """The folder and its parents that do not exist yet, innermost first."""
    missing = []
    while folder and not os.path.lexists(folder):
        missing.append(folder)
        folder = os.path.dirname(folder)
    return missing


def _discard(path: str, folders: list[str]) -> None:
    """Remove what was written before an error. Folders are removed only if they are empty."""
    with suppress(OSError):
        os.unlink(path)
    for folder in folders:
        with suppress(OSError):
            os.rmdir(folder)


@dataclass(frozen=True, slots=True)
class NewRole:
    """The result of `add_role`."""

    path: str
    included: bool
    """Whether the organization's file now includes the role. If not, the user must add it."""


def add_role(organization: OrgSnapshot, role_id: str, role_type: RoleType, reports_to: str | None) -> NewRole:
    """Write the profile of a new role and include it in the hierarchy. The rest of the file stays unchanged.

    Raises `UsageError` if the id is malformed or taken, or a file cannot be written. Then nothing is left behind.
    """
    records = organization.records
    _require_id(role_id)
    view, folder = organization.index, os.path.dirname(records.document.path)
    path = os.path.join(folder, "roles", f"{role_id}.yaml")
    if view.is_role(role_id) or view.is_excused(role_id) or os.path.lexists(path):
        raise UsageError(f"organization {quote(records.org_id)} already has a role {quote(role_id)}")
    edge = view.get_superior_edge(role_id)
    superior = reports_to or (edge.target if edge else next(iter(view.list_roots()), USER))
    if superior not in view.external and not view.does_name_role(superior):
        help = did_you_mean(superior, view.roles)
        raise UsageError(f"organization {quote(records.org_id)} has no role {quote(superior)}", help)
    text = _build_modeline(folder) + _render_profile(
        role_id, role_type, superior, _find_layer_below(records, superior)
    )
    made = _list_missing_folders(os.path.dirname(path))
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return NewRole(path, role_id in records.without_profile or _include(records.document, role_id))
    except OSError as error:
        _discard(path, made)
        raise UsageError(
            f"{quote(path)} cannot be written: {(error.strerror or str(error)).lower()}"
        ) from None


def _find_layer_below(records: OrgRecords, superior: str) -> str | None:
    """The layer that the superior's layer hands work to; None if layers do not bind it."""
    post = records.posts.get(superior)
    layer = None if post is None else post.profile.layer
    if layer is None:
        return None
    organization = records.organization
    targets = [edge.target for edge in organization.dispatch_edges if edge.source == layer]
    if not targets and not organization.dispatch_edges and layer in organization.layers:
        targets = list(organization.layers)[list(organization.layers).index(layer) + 1 :]
    return targets[0] if targets else layer


def _build_modeline(folder: str, kind: str = "role_profile", up: str = "../") -> str:
    """The editor hint of a file `up` from the organization's folder, if that has the schemas."""
    if not os.path.isfile(os.path.join(folder, _SCHEMAS, f"{kind}.json")):
        return ""
    schemas = _SCHEMAS.replace(os.sep, "/")
    return f"# yaml-language-server: $schema={up}{schemas}/{kind}.json\n"


def _render_profile(role_id: str, role_type: RoleType, superior: str, layer: str | None) -> str:
    delegates = "false" if role_type == "specialist" else "true"
    authority = AUTHORITY_OF_TYPE[role_type]
    return f"""\
_schema: orgkernel:role_profile
_version: "1.0"

role_id: {_render_scalar(role_id)}
role_name: {_render_scalar(role_id.replace("_", " ").strip().title() or role_id)}
role_type: {role_type}
{"" if layer is None else f"layer: {_render_scalar(layer)}{chr(10)}"}description: What this role does, in one sentence.

chain_of_command:
  reports_to: {_render_scalar(superior)}
  authority_level: {authority}
  can_delegate: {delegates}

capabilities:
  bst_domains: []      # task domains it handles, such as codegen
  htn_plans: []        # plans it follows, such as codegen_module
  tools_primary: []    # tools it prefers, such as code_execution_tool
  tools_secondary: []
"""


def _render_scalar(text: str) -> str:
    """A text in YAML, quoted if it would otherwise be read as another value."""
    return text if isinstance(resolve_scalar(text), str) else f'"{text}"'


def _include(document: SourceDocument, role_id: str) -> bool:
    """Add a line to the hierarchy of an organization's YAML file. If that would change anything else, do nothing."""
    return _insert(document.path, document.digest, "hierarchy", role_id, {}, ("{}",))


def _insert(path: str, digest: str, section: str, key: str, value: object, lines: Sequence[str]) -> bool:
    """Add an entry at the end of a mapping of a YAML file, which still has this digest.

    `lines` is the value as YAML: one line goes behind the key, several below it. If the entry would change anything else,
    do nothing and return False.
    """
    original = os.path.realpath(path)
    with open_regular(original) as file:
        content = file.read()
    source = decode(path, path, content)
    before = parse_yaml(source.text)
    if source.problem or before.problems or source.digest != digest or len(before.documents) != 1:
        return False
    parsed = before.documents[0]
    entries = parsed.value.get(section) if isinstance(parsed.value, dict) else None
    if not isinstance(entries, dict) or not entries:
        return False
    marks = [unpack_mark(find_mark(parsed.marks, (section, each), key=True)) for each in entries]
    last_line, column = marks[-1]
    text = source.text.split("\n")
    end = last_line
    while end < len(text) and (not text[end].strip() or len(text[end]) - len(text[end].lstrip()) >= column):
        end += 1
    while not text[end - 1].strip():
        end -= 1
    indent, ending = " " * (column - 1), "\r" * text[0].endswith("\r")
    if len(lines) == 1:
        added = [f"{indent}{_render_scalar(key)}: {lines[0]}{ending}"]
    else:
        added = [f"{indent}{_render_scalar(key)}:{ending}", *(f"{indent}  {line}{ending}" for line in lines)]
    changed = "\n".join([*text[:end], *added, *text[end:]])
    after = parse_yaml(changed)
    wanted = {**parsed.value, section: {**entries, key: value}}
    if after.problems or [each.value for each in after.documents] != [wanted]:
        return False
    replace_file(original, codecs.BOM_UTF8 * content.startswith(codecs.BOM_UTF8) + changed.encode())
    return True


def add_tool(organization: OrgSnapshot, tool_id: str) -> str:
    """Declare a tool in the organization's own catalog. Returns the file. Raises `UsageError`."""
    name = tool_id.replace("_", " ").strip()
    lines = (
        f"name: {_render_scalar(name[:1].upper() + name[1:] or tool_id)}",
        "description: What this tool does, in one sentence.",
        "type: deterministic_function",
        "actions: {use: full}",
    )
    return _add_entry(organization, "tool", tool_id, organization.records.tools, lines)


def add_domain(organization: OrgSnapshot, domain_id: str) -> str:
    """Declare a domain in the organization's own catalog. Returns the file. Raises `UsageError`."""
    lines = ("description: What belongs to this domain, in one sentence.", "examples: []", "triggers: []")
    return _add_entry(organization, "domain", domain_id, organization.records.domains, lines)


def _add_entry(
    organization: OrgSnapshot,
    what: str,
    entry_id: str,
    known: Mapping[str, Definition[Any]],
    lines: Sequence[str],
) -> str:
    _require_id(entry_id)
    records = organization.records
    if entry_id in known:
        place = known[entry_id].place()
        raise UsageError(
            f"{what} {quote(entry_id)} is already declared", f"see {quote(f'{place.file}:{place.line}')}"
        )
    folder = os.path.dirname(records.document.path)
    section, kind = f"{what}s", f"{what}_catalog"
    catalogs = [
        each for each in records.catalogs if each.kind == kind and os.path.dirname(each.path) == folder
    ]
    value = parse_yaml("\n".join(lines)).documents[0].value
    try:
        for catalog in catalogs:
            if _insert(catalog.path, catalog.digest, section, entry_id, value, lines):
                return catalog.path
        path = os.path.join(folder, f"{section}.yaml")
        if os.path.lexists(path):
            shown = "\n".join(
                f"  {line}" for line in (f"{_render_scalar(entry_id)}:", *(f"  {line}" for line in lines))
            )
            raise UsageError(f"{quote(path)} cannot be extended", f"add to it under `{section}:`\n{shown}")
        body = "".join(f"    {line}\n" for line in lines)
        text = (
            f'_schema: orgkernel:{kind}\n_version: "1.0"\n\n{section}:\n  {_render_scalar(entry_id)}:\n{body}'
        )
        with open(path, "w", encoding="utf-8") as file:
            file.write(_build_modeline(folder, kind, "") + text)
        return path
    except OSError as error:
        raise UsageError(
            f"{quote(folder)} cannot be written: {(error.strerror or str(error)).lower()}"
        ) from None


def _require_id(text: str) -> None:
    if not _ID.fullmatch(text):
        raise UsageError(f"{quote(text)} is not an id", "use letters, digits and `_`, at most 100 characters")


def build_schemas() -> dict[str, dict[str, Any]]:
    """The JSON Schema of each kind."""
    return {**{kind: build_json_schema(kind) for kind in KINDS}, "crew_manifest": build_manifest_schema()}


def render_schema(schema: dict[str, Any]) -> str:
    """The text of a schema, as checked in: a line for each definition, because programs read them and all of them ship."""

    def render(value: Any) -> str:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))

    definitions = ",\n".join(
        f"{json.dumps(name)}:{render(each)}" for name, each in schema.get("$defs", {}).items()
    )
    parts = (
        f"{json.dumps(name)}:" + (f"{{\n{definitions}\n}}" if name == "$defs" else render(value))
        for name, value in schema.items()
    )
    return "{\n" + ",\n".join(parts) + "\n}\n"
