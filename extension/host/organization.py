"""The active organization: `active.json`, its settings and its bundle, read again only when a file changed.

A bundle is used only if it was compiled from what `active.json` and the role files say now; otherwise these files are
compiled here (`by_hand.py`). Without `active.json` the activation is off, at once. An `active.json` or a bundle that cannot be read is reported as an
error; an organization that was loaded before stays active until the files are fixed.

The agent can edit all these files. If the environment of the host names the digest of `active.json` (`PIN`), only this file with its compiled
bundle is used, and calls that nothing else decides are refused.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NamedTuple

from . import places
from .runtime import bundle as bundles
from .runtime import pace, regular_files, text_index, written

_CHOICES = {
    "enforcement": ("observe", "trim", "enforce"),
    "on_error": ("pass", "refuse"),
    "unlisted_tools": ("warn", "refuse"),
    "examples": ("arguments", "all", "first"),
}
_MAX_BYTES = 20_000_000
_MAX_BYTES_OF_ROLE = 1_000_000
_MAX_TRIED = 8
_SECONDS_BETWEEN = 1.0

PIN = "ORGKERNEL_ACTIVE"
"""Variable of the host's environment: the SHA-256 of `active.json` in hexadecimal digits, as `sha256sum` prints it."""
_CHECKSUM_IN_NAME = re.compile(r"-([0-9a-f]{12})\.json$")

Stamp = tuple[tuple[str, tuple[int, int, int] | None], ...]


class OrganizationError(Exception):
    """The organization in `active.json` cannot be used. The message says why."""


class Settings(NamedTuple):
    """The user's settings in `active.json`, under `x_orgkernel`."""

    enforcement: str = "enforce"
    on_error: str = "pass"
    unlisted_tools: str = "warn"
    examples: str = "arguments"
    bundle: str | None = None
    kept_roles: tuple[str, ...] = ()
    """Roles whose file in `roles/` existed before the activation and belongs to the user."""


class Active(NamedTuple):
    """An organization that is on."""

    settings: Settings
    bundle: bundles.Bundle
    words: text_index.TextIndex | None
    """The words of the roles. Without them, no role is chosen by the message."""
    compiled: bool
    """Whether a bundle of `orgkernel` is in force. If not, the files were compiled here."""
    remarks: tuple[str, ...] = ()
    """Remarks on differences from what the user could expect. Each is logged once."""
    plans: Mapping[str, pace.CompiledPacePlan] = MappingProxyType({})
    """The PACE plan of each role."""


@dataclass(slots=True)
class Held:
    """The organization that was last loaded from a folder, with the stamps of its files."""

    stamps: Stamp = ()
    active: Active | None = None
    error: str | None = None
    files: tuple[str, ...] = field(default_factory=tuple)
    looked_at: float = 0.0


_held: dict[str, Held] = {}
_looked: dict[str, float] = {}
"""The time when the files of a folder were last checked."""
_WITHOUT_LOOKING = 1.0
"""Seconds during which a hook in the middle of a model call does not check the files again."""


def _read_pin() -> str | None:
    """The value of `PIN` with which the host was started. None without one.

    Hosts load a file of variables into `os.environ`, which the agent can edit, so the initial environment counts too.
    """
    values = [os.environ.get(PIN)]
    with contextlib.suppress(OSError, ValueError):
        with open("/proc/self/environ", "rb") as file:
            initial = dict(each.partition(b"=")[::2] for each in file.read().split(b"\0"))
        values.insert(0, initial.get(PIN.encode(), b"").decode("utf-8", "replace"))
    return next((value.strip().lower() for value in values if value), None)


_pin = _read_pin()


def is_pinned() -> bool:
    """Whether the environment of the host names the only `active.json` that may be used."""
    return _pin is not None


def find_active(
    folder: str = places.ORGANIZATIONS, *, look: bool = True, thorough: bool = True
) -> tuple[Active | None, str | None]:
    """The active organization, None if off, and the problem with its files, None if there is none.

    With `look=False` the answer can be a second old. Otherwise the files are checked, which takes time in a
    container: all of them, or only `active.json` if this is not `thorough` and the others were checked recently.
    """
    now = time.monotonic()
    held = _held.get(folder)
    if not look and now - _looked.get(folder, -_WITHOUT_LOOKING) < _WITHOUT_LOOKING:
        return (held.active, held.error) if held is not None else (None, None)
    path = os.path.join(folder, places.ACTIVE)
    stamp = places.stamp(path)
    _looked[folder] = now
    if stamp is None and not is_pinned():
        _held.pop(folder, None)
        return None, None
    # The first of the files is `active.json`.
    if held is not None and held.stamps[0][1] == stamp:
        if not thorough and now - held.looked_at < _SECONDS_BETWEEN:
            return held.active, held.error
        held.looked_at = now
        if _read_stamps(held.files[1:]) == held.stamps[1:]:
            return held.active, held.error
    # Each file is stamped before it is read, so a change during the read is noticed.
    stamps: dict[str, tuple[int, int, int] | None] = {path: stamp}
    try:
        active = _load(folder, stamps)
        held = Held(active=active)
    except Exception as error:
        last = held.active if held is not None else None
        kept = "; the organization loaded before stays active" if last is not None else ""
        held = Held(active=last, error=f"{str(error) or type(error).__name__}{kept}")
    held.files, held.stamps, held.looked_at = tuple(stamps), tuple(stamps.items()), now
    _held[folder] = held
    return held.active, held.error


def find_loaded(folder: str = places.ORGANIZATIONS) -> Active | None:
    """The organization that `find_active` last found. The files are not looked at."""
    held = _held.get(folder)
    return held.active if held is not None else None


def _read_stamps(files: tuple[str, ...]) -> Stamp:
    return tuple((file, places.stamp(file)) for file in files)


def _load(folder: str, stamps: dict[str, tuple[int, int, int] | None]) -> Active:
    """Read everything. `stamps` receives the files and their stamps."""
    document, digest = _read_json(os.path.join(folder, places.ACTIVE), _MAX_BYTES)
    if _pin is not None and digest != _pin:
        raise OrganizationError(
            f"{places.ACTIVE} is not the file that `{PIN}` names in the environment of the host"
        )
    if (
        not isinstance(document, dict)
        or document.get("_schema", "orgkernel:organization") != "orgkernel:organization"
    ):
        raise OrganizationError(f"{places.ACTIVE} is not an organization document")
    org_id = document.get("org_id")
    if not isinstance(org_id, str) or not org_id:
        raise OrganizationError(f"{places.ACTIVE} has no `org_id`")
    settings, remarks = read_settings(document.get(written.SETTINGS))
    name = settings.bundle or f"{places.BUNDLES}/{org_id}.json"
    bundle, problem = _read_bundle(folder, name, org_id, stamps)
    profiles = _read_profiles(folder, written.list_written_roles(document), settings.kept_roles, stamps)
    changed = written.find_changed(bundle, document, profiles) if bundle is not None else []
    compiled = bundle is not None and not changed
    if _pin is not None:
        if bundle is None or not compiled or not _CHECKSUM_IN_NAME.search(name):
            what = (
                f"{', '.join(changed[:6])} was changed" if changed else problem or f"{name[:60]} is missing"
            )
            raise OrganizationError(f"`{PIN}` is set, and the compiled bundle cannot be used: {what}")
        settings = settings._replace(on_error="refuse")
    if bundle is None or changed:
        if changed:
            text = f"The files are used, not the bundle: {', '.join(changed[:6])}."
            remarks = (*remarks, f"Files were changed since {name[:60]} was compiled\n{text}")
        elif settings.bundle or problem:
            remarks = (*remarks, f"The bundle {name[:60]} cannot be used\n{problem or 'It is missing.'}")
        bundle, more = _compile(folder, document, profiles, bundle, stamps)
        remarks = (*remarks, *more)
    plans = {
        role.role_id: pace.read_plan(
            {"pace": role.pace, "max_turns": role.max_turns, "reports_to": role.reports_to}
        )
        for role in bundle.roles.values()
    }
    return Active(settings, bundle, _get_index(bundle), compiled, remarks, plans)


def _read_bundle(
    folder: str, name: str, org_id: str, stamps: dict[str, tuple[int, int, int] | None]
) -> tuple[bundles.Bundle | None, str]:
    """The compiled bundle of that name, or why it cannot be used. Neither if it is missing."""
    path = os.path.normpath(os.path.join(folder, name))
    if os.path.isabs(name) or not path.startswith(os.path.normpath(folder) + os.sep) or "\0" in name:
        return None, f"It is outside {folder}."
    stamps[path] = places.stamp(path)
    if stamps[path] is None:
        return None, ""
    try:
        bundle = bundles.read_bundle(read_json(path))
    except (OrganizationError, bundles.BundleError) as error:
        return None, str(error)
    stated = _CHECKSUM_IN_NAME.search(name)
    if stated is not None and not bundle.checksum.startswith(f"sha256:{stated[1]}"):
        return None, "Its content is not the one whose checksum is in its name."
    if bundle.org_id != org_id:
        return None, f"It was compiled from another organization than {places.ACTIVE}."
    return bundle, ""


def _read_profiles(
    folder: str, role_ids: list[str], kept: tuple[str, ...], stamps: dict[str, tuple[int, int, int] | None]
) -> dict[str, object]:
    """The existing role files, keyed by role. An unreadable file yields its error."""
    profiles: dict[str, object] = {}
    left = _MAX_BYTES
    for role_id in role_ids:
        path = os.path.join(folder, places.ROLES, f"{role_id}.json")
        if role_id in kept:
            continue
        stamps[path] = places.stamp(path)
        if stamps[path] is None:
            continue
        try:
            profiles[role_id] = read_json(path, min(left, _MAX_BYTES_OF_ROLE))
            left -= os.path.getsize(path)
        except (OrganizationError, OSError) as error:
            profiles[role_id] = error
    return profiles


def _compile(
    folder: str,
    document: Mapping[str, Any],
    profiles: Mapping[str, object],
    old: bundles.Bundle | None,
    stamps: dict[str, tuple[int, int, int] | None],
) -> tuple[bundles.Bundle, tuple[str, ...]]:
    """Compile the files. A role without a file has the profile that it was compiled with."""
    files: dict[str, object] = {}
    without = []
    hierarchy = document.get("hierarchy")
    for role_id in written.list_written_roles(document):
        compiled = old.roles.get(role_id) if old is not None else None
        if role_id in profiles:
            files[role_id] = profiles[role_id]
        elif compiled is not None and _is_same_role(hierarchy, role_id, compiled):
            files[role_id] = compiled.profile
            without.append(role_id)
        else:
            files[role_id] = OrganizationError(f"roles/{role_id}.json is missing")
    from . import by_hand  # a quarter of the imports of a first turn, and seldom needed

    bundle, remarks = by_hand.build_bundle(document, files, old or _find_bundle_with_words(folder, stamps))
    if without:
        text = f"There is no file in roles/ for {', '.join(without[:6])}."
        remarks = (*remarks, f"{len(without)} roles have the profile they were compiled with\n{text}")
    return bundle, remarks


def _is_same_role(hierarchy: object, role_id: str, compiled: bundles.BundleRole) -> bool:
    """Whether the hierarchy means the role that was compiled, and not another one with its id."""
    entry = hierarchy.get(role_id) if isinstance(hierarchy, dict) else None
    name = entry.get("role_name") if isinstance(entry, dict) else None
    return name in (None, compiled.role_name)


def _find_bundle_with_words(
    folder: str, stamps: dict[str, tuple[int, int, int] | None]
) -> bundles.Bundle | None:
    """Any compiled bundle: the words of domains and the names of tools are the same for all organizations."""
    place = os.path.join(folder, places.BUNDLES)
    try:
        names = sorted(name for name in os.listdir(place) if name.endswith(".json"))[:_MAX_TRIED]
    except OSError:
        return None
    for name in names:
        path = os.path.join(place, name)
        stamps[path] = places.stamp(path)
        with contextlib.suppress(OrganizationError, bundles.BundleError):
            return bundles.read_bundle(read_json(path))
    return None


def read_json(path: str, most: int = _MAX_BYTES) -> Any:
    """The content of a JSON file. Raises `OrganizationError`."""
    return _read_json(path, most)[0]


def _read_json(path: str, most: int) -> tuple[Any, str]:
    """The content of a JSON file, and its SHA-256. Raises `OrganizationError`."""
    name = os.path.basename(path)
    try:
        content = regular_files.read_regular(path, most + 1)
        if len(content) > most:
            raise OrganizationError(f"{name} is larger than {most:,} bytes")
        return json.loads(content.decode("utf-8-sig")), hashlib.sha256(content).hexdigest()
    except OSError as error:
        raise OrganizationError(f"{name} cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise OrganizationError(f"{name} is not valid JSON: {error}") from error


def read_settings(data: object) -> tuple[Settings, tuple[str, ...]]:
    """The settings. An unknown value becomes the default and yields a remark."""
    chosen: dict[str, Any] = {}
    remarks = []
    if data is not None and not isinstance(data, dict):
        remarks.append("`x_orgkernel` is not a mapping, so all settings have their default values")
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
    if isinstance(given.get("kept_roles"), list):
        chosen["kept_roles"] = tuple(each for each in given["kept_roles"] if isinstance(each, str))
    known = Settings._fields
    chosen_by_users = [name for name in known if name != "kept_roles"]
    remarks += [
        f"`x_orgkernel` has an unknown setting `{str(name)[:40]}`, which has no effect; settings are {', '.join(chosen_by_users)}"
        for name in given
        if name not in known
    ]
    return Settings(**chosen), tuple(remarks)


def _get_index(bundle: bundles.Bundle) -> text_index.TextIndex:
    """The text index of the roles. If a bundle has none, it is built from the bundle's content."""
    if bundle.text_index is not None:
        return bundle.text_index
    from . import by_hand

    return text_index.build_index([by_hand.build_role_texts(bundle, role) for role in bundle.roles.values()])
