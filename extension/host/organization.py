"""The active organization: `active.json`, its settings and its bundle, read again only when a file changed.

Without `active.json` the layer is off, at once. An `active.json` or a bundle that cannot be read is reported as an
error; an organization that was loaded before stays active until the files are fixed.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from . import by_hand, places
from .runtime import bundle as bundles
from .runtime import pace, regular_files, text_index

_CHOICES = {
    "enforcement": ("observe", "trim", "enforce"),
    "on_error": ("pass", "refuse"),
    "unlisted_tools": ("warn", "refuse"),
}
_MOST_BYTES = 20_000_000

Stamp = tuple[tuple[str, tuple[int, int, int] | None], ...]


class OrganizationError(Exception):
    """The organization in `active.json` cannot be used. The message says why."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What the user chose in `active.json`, under `x_orgkernel`."""

    enforcement: str = "enforce"
    on_error: str = "pass"
    unlisted_tools: str = "warn"
    bundle: str | None = None


@dataclass(frozen=True, slots=True)
class Active:
    """An organization that is on."""

    settings: Settings
    bundle: bundles.Bundle
    index: text_index.TextIndex | None
    """The words of the roles. Without them, no role is chosen by the message."""
    compiled: bool
    """Whether there is a compiled bundle. Without one, tools are neither trimmed nor refused."""
    remarks: tuple[str, ...] = ()
    """Remarks on what differs from what the user may expect. Each is logged once."""
    plans: Mapping[str, pace.CompiledPacePlan] = field(default_factory=dict)
    """The PACE plan of each role."""


@dataclass(slots=True)
class Held:
    """What was last loaded from a folder, and the stamps of its files then."""

    stamps: Stamp = ()
    active: Active | None = None
    error: str | None = None
    files: tuple[str, ...] = field(default_factory=tuple)


_held: dict[str, Held] = {}


def find_active(folder: str = places.ORGANIZATIONS) -> tuple[Active | None, str | None]:
    """The active organization, None if off, and the problem with its files, None if there is none."""
    path = os.path.join(folder, places.ACTIVE)
    if places.stamp(path) is None:
        _held.pop(folder, None)
        return None, None
    held = _held.get(folder)
    if held is not None and _stamps(held.files) == held.stamps:
        return held.active, held.error
    # Each file is stamped before it is read, so a change during the read is noticed.
    stamps = dict(_stamps((path,)))
    try:
        active = _load(folder, stamps)
        held = Held(active=active)
    except Exception as error:
        last = held.active if held is not None else None
        kept = "; the organization loaded before stays active" if last is not None else ""
        held = Held(active=last, error=f"{str(error) or type(error).__name__}{kept}")
    held.files, held.stamps = tuple(stamps), tuple(stamps.items())
    _held[folder] = held
    return held.active, held.error


def find_loaded(folder: str = places.ORGANIZATIONS) -> Active | None:
    """The organization that `find_active` last found. The files are not looked at."""
    held = _held.get(folder)
    return held.active if held is not None else None


def _stamps(files: tuple[str, ...]) -> Stamp:
    return tuple((file, places.stamp(file)) for file in files)


def _load(folder: str, stamps: dict[str, tuple[int, int, int] | None]) -> Active:
    """Read everything. `stamps` receives the files and their stamps."""
    document = read_json(os.path.join(folder, places.ACTIVE))
    if (
        not isinstance(document, dict)
        or document.get("_schema", "orgkernel:organization") != "orgkernel:organization"
    ):
        raise OrganizationError(f"{places.ACTIVE} is not an organization document")
    org_id = document.get("org_id")
    if not isinstance(org_id, str) or not org_id:
        raise OrganizationError(f"{places.ACTIVE} has no `org_id`")
    settings, remarks = read_settings(document.get("x_orgkernel"))
    name = settings.bundle or f"{places.BUNDLES}/{org_id}.json"
    path = os.path.normpath(os.path.join(folder, name))
    if os.path.isabs(name) or not path.startswith(os.path.normpath(folder) + os.sep):
        raise OrganizationError(f"bundle `{name}` is outside {folder}")
    stamps[path] = places.stamp(path)
    compiled = stamps[path] is not None
    if compiled:
        found = bundles.read_bundle(read_json(path))
        if found.organization.get("org_id") != org_id:
            raise OrganizationError(f"{name} was compiled from another organization than {places.ACTIVE}")
    elif settings.bundle:
        raise OrganizationError(f"bundle `{name}` is missing")
    else:
        roles_folder = os.path.join(folder, places.ROLES)
        names = by_hand.role_files(document)
        stamps.update(_stamps(tuple(os.path.join(roles_folder, each) for each in names)))
        found, more = by_hand.build_bundle(document, _read_all(roles_folder, names))
        remarks = (*remarks, *more)
    plans = {
        role.role_id: pace.read_plan(
            {"pace": role.pace, "max_turns": role.max_turns, "reports_to": role.reports_to}
        )
        for role in found.roles.values()
    }
    return Active(settings, found, _index(found) if compiled else None, compiled, remarks, plans)


def read_json(path: str) -> Any:
    """The content of a JSON file. Raises `OrganizationError`."""
    name = os.path.basename(path)
    try:
        content = regular_files.read_regular(path, _MOST_BYTES + 1)
        if len(content) > _MOST_BYTES:
            raise OrganizationError(f"{name} is larger than {_MOST_BYTES:,} bytes")
        return json.loads(content.decode("utf-8-sig"))
    except OSError as error:
        raise OrganizationError(f"{name} cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise OrganizationError(f"{name} is not valid JSON: {error}") from error


def _read_all(folder: str, names: list[str]) -> dict[str, object]:
    """Read role files. A missing or broken file yields its error, which the builder reports."""
    read: dict[str, object] = {}
    for name in names:
        try:
            read[name] = read_json(os.path.join(folder, name))
        except OrganizationError as error:
            read[name] = error
    return read


def read_settings(data: object) -> tuple[Settings, tuple[str, ...]]:
    """The settings. An unknown value becomes the default and yields a remark."""
    chosen: dict[str, Any] = {}
    remarks = []
    if data is not None and not isinstance(data, dict):
        remarks.append("`x_orgkernel` is not a mapping, so all settings have their defaults")
    given = data if isinstance(data, dict) else {}
    for name, words in _CHOICES.items():
        if name in given and given[name] in words:
            chosen[name] = given[name]
        elif name in given:
            default = getattr(Settings(), name)
            remarks.append(
                f"`{name}` is `{str(given[name])[:40]}`, not one of {', '.join(words)}; the default {default} is used"
            )
    if isinstance(given.get("bundle"), str):
        chosen["bundle"] = given["bundle"]
    known = [each.name for each in fields(Settings)]
    remarks += [
        f"`x_orgkernel` has an unknown setting `{str(name)[:40]}`, which has no effect; settings are {', '.join(known)}"
        for name in given
        if name not in known
    ]
    return Settings(**chosen), tuple(remarks)


def _index(bundle: bundles.Bundle) -> text_index.TextIndex:
    """The words of the roles; of a bundle that was compiled before it held them, made from what it says."""
    if bundle.text_index is not None:
        return bundle.text_index
    return text_index.build_index(
        [
            text_index.RoleTexts(
                role.role_id,
                (role.role_name, role.role_id),
                (
                    ("name", role.role_name),
                    ("description", role.description),
                    *(
                        (field, text)
                        for name in role.domains
                        if name in bundle.domains and not bundle.domains[name].passthrough
                        for field, texts in (
                            ("domain_name", (name,)),
                            ("domain_trigger", bundle.domains[name].triggers),
                            ("domain_example", bundle.domains[name].examples),
                        )
                        for text in texts
                    ),
                ),
            )
            for role in bundle.roles.values()
        ]
    )
