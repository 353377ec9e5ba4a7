"""Switch an organization on and off in a host, by files alone (issue 5 §5; facts of the host, §8).

What is written: the bundle, the flat role files, a native profile for each role, and last of all `active.json`, which
is the switch. A bundle's name carries its checksum, so that at every moment the `active.json` in force names a whole
bundle: a crash leaves the old organization or the new one, and calling again finishes the work.

A file or a profile of the same name that is not ours stays as it is and is named in the report.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from orgkernel.exchange.agent_zero.compiling import render_bundle
from orgkernel.exchange.agent_zero.generations import Generation, find_generation
from orgkernel.exchange.agent_zero.owned_files import OwnedFiles
from orgkernel.exchange.agent_zero.profiles import find_tool_ids, profile_files
from orgkernel.exchange.agent_zero.settings import Settings
from orgkernel.runtime.bundle import Bundle, read_bundle

FOLDER = "usr/organizations"
ACTIVE = f"{FOLDER}/active.json"
JOURNAL = f"{FOLDER}/activation.json"
BUNDLES = f"{FOLDER}/bundles/active"
SETTINGS_KEY = "x_orgkernel"
_SHOWN_OF_CHECKSUM = 12


@dataclass(frozen=True, slots=True)
class ActivationReport:
    """What an activation or deactivation did; paths below the host's root, sorted."""

    written: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    """Files and profiles of others in the way of ours, and files of ours that somebody has changed; they stay."""
    set_aside: str | None = None
    """Where an `active.json` that we did not write was moved to."""


def activate(
    root: str, compiled: Mapping[str, Any], chosen: Mapping[str, str | None], source: str | None = None
) -> ActivationReport:
    """Make a compiled organization the active one. Settings that are not chosen stay as they were.

    `source` is the folder of its documents, noted so that the status can say whether they have changed since. Raises
    `UsageError` where no host lies, and OSError where it cannot be written to.
    """
    generation = find_generation(root)
    owned = OwnedFiles(root, JOURNAL)
    settings = read_settings(owned.full(ACTIVE)).changed(chosen)
    bundle = read_bundle(compiled)
    texts, kept = _choose(owned, _planned(root, generation, compiled, bundle, settings))
    set_aside = None if owned.is_free(ACTIVE) else _name_aside(owned)
    owned.announce(texts, {"org_id": bundle.org_id, "source": source, "kept": list(kept)})
    before = list(owned.journal.files)
    for path, text in texts.items():
        if path != ACTIVE:
            owned.write(path, text)
    if set_aside is not None:
        shutil.copyfile(owned.full(ACTIVE), owned.full(set_aside))
    owned.write(ACTIVE, texts[ACTIVE])
    removed, changed = owned.remove(path for path in before if path not in texts)
    owned.settle(texts)
    return ActivationReport(
        tuple(sorted(texts)), tuple(sorted(removed)), tuple(sorted({*kept, *changed})), set_aside
    )


def deactivate(root: str) -> ActivationReport:
    """Switch off, and remove what activation wrote; an `active.json` of somebody else is set aside, not removed."""
    find_generation(root)
    owned = OwnedFiles(root, JOURNAL)
    active = owned.full(ACTIVE)
    set_aside = None
    if os.path.lexists(active) and not owned.is_ours(ACTIVE):
        set_aside = _name_aside(owned)
        os.replace(active, owned.full(set_aside))
    first, _ = owned.remove([ACTIVE])
    removed, changed = owned.remove(path for path in owned.journal.files if path != ACTIVE)
    owned.settle({})
    if not os.path.isdir(owned.full(f"{FOLDER}/lib")):
        # The extension went first, and left the folders it had made because ours lay in them.
        with contextlib.suppress(OSError):  # not empty, or gone
            os.rmdir(owned.full(f"{FOLDER}/bundles"))
            os.rmdir(owned.full(FOLDER))
    return ActivationReport((), tuple(sorted([*first, *removed])), tuple(sorted(changed)), set_aside)


def read_settings(path: str) -> Settings:
    """The settings of an `active.json`; the defaults where there is none that can be read."""
    try:
        with open(path, encoding="utf-8-sig") as file:
            data = json.load(file)
    except (OSError, ValueError, RecursionError):
        return Settings()
    given = data.get(SETTINGS_KEY) if isinstance(data, dict) else None
    return Settings().changed(given if isinstance(given, dict) else {})


@dataclass(frozen=True, slots=True)
class _Group:
    """Files that are written all or none: with one of them in somebody else's hands, the rest would mean nothing."""

    name: str
    texts: Mapping[str, str]
    brought: bool = False
    """Whether the host itself brings something of that name."""
    always: bool = False
    """Whether nothing but ours can be meant by the name, so that whatever stands there is replaced."""


def _planned(
    root: str, generation: Generation, compiled: Mapping[str, Any], bundle: Bundle, settings: Settings
) -> Iterator[_Group]:
    """Everything an activation writes, the switch last."""
    short = bundle.checksum.partition(":")[2][:_SHOWN_OF_CHECKSUM]
    bundle_name = f"{BUNDLES}/{bundle.org_id}-{short}.json"
    yield _Group(bundle_name, {bundle_name: render_bundle(compiled)}, always=True)
    tool_ids = find_tool_ids(root)
    for role in bundle.roles.values():
        flat = f"{FOLDER}/roles/{role.role_id}.json"
        yield _Group(flat, {flat: _as_json(role.profile)})
        if settings.enforcement == "observe":
            continue  # the host would offer every profile to its agents, in their prompts
        folder = f"{generation.profiles}/{role.role_id}"
        files = profile_files(generation, bundle, role, settings, tool_ids)
        # A profile that the host itself brings would be changed by one of the same name.
        brought = folder != f"agents/{role.role_id}" and os.path.lexists(
            os.path.join(root, "agents", role.role_id)
        )
        yield _Group(folder, {f"{folder}/{name}": text for name, text in files.items()}, brought)
    chosen = settings.as_json() | {"bundle": bundle_name.removeprefix(f"{FOLDER}/")}
    yield _Group(ACTIVE, {ACTIVE: _as_json({**bundle.document, SETTINGS_KEY: chosen})}, always=True)


def _choose(owned: OwnedFiles, groups: Iterator[_Group]) -> tuple[dict[str, str], tuple[str, ...]]:
    """What is written, and what is in the way of the rest."""
    texts: dict[str, str] = {}
    kept = []
    for group in groups:
        if group.always or not (group.brought or _is_taken(owned, group)):
            texts |= group.texts
        else:
            kept.append(group.name)
    return texts, tuple(kept)


def _is_taken(owned: OwnedFiles, group: _Group) -> bool:
    """Whether somebody else has a file of the group, or any other file in its folder, or made the folder a link."""
    if group.name in group.texts:
        return not owned.is_free(group.name)
    folder = owned.full(group.name)
    if os.path.islink(folder) or os.path.isfile(folder):
        return True
    inside = (os.path.join(where, name) for where, _, names in os.walk(folder) for name in names)
    return any(not owned.is_ours(owned.name_of(path)) for path in inside)


def _name_aside(owned: OwnedFiles) -> str:
    """A free name beside `active.json`."""
    number = 1
    while os.path.lexists(owned.full(name := f"{ACTIVE}.kept{'' if number == 1 else number}")):
        number += 1
    return name


def _as_json(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"
