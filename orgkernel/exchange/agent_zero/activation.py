"""Activate and deactivate an organization in a host by writing files.

It writes the bundle, the flat role files, a native profile for each role and, last, `active.json`, which is the switch.
The name of a bundle contains its checksum, so `active.json` names a complete bundle at every moment. After a crash
either the old or the new organization is active, and calling again finishes the work.

A foreign file or profile of the same name is kept and named in the report.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from orgkernel.exchange.agent_zero.compiling import render_bundle
from orgkernel.exchange.agent_zero.host import (
    ActivationSettings,
    Generation,
    find_generation,
    open_host,
    read_json,
)
from orgkernel.exchange.agent_zero.owned_files import OwnedFiles
from orgkernel.exchange.agent_zero.profiles import build_profile_files, find_tool_ids
from orgkernel.exchange.confined_folder import ConfinedFolder
from orgkernel.runtime.bundle import Bundle, read_bundle

FOLDER = "usr/organizations"
ACTIVE = f"{FOLDER}/active.json"
SWITCHED_OFF = f"{ACTIVE}.off"
"""The new name of `active.json` when the host's panel switches the organization off."""
JOURNAL = f"{FOLDER}/activation.json"
BUNDLES = f"{FOLDER}/bundles/active"
SCHEMA = "orgkernel:activation"
SETTINGS_KEY = "x_orgkernel"
_SHOWN_OF_CHECKSUM = 12


@dataclass(frozen=True, slots=True)
class ActivationReport:
    """What an activation or deactivation did: sorted paths, relative to the host's root."""

    written: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    """Foreign files and profiles in the way, and written files that were changed later. They are kept."""
    set_aside: str | None = None
    """The new name of a foreign `active.json` that was renamed to keep it."""


def activate(
    root: str, compiled: Mapping[str, Any], chosen: Mapping[str, str | None], source: str | None = None
) -> ActivationReport:
    """Activate a compiled organization. Settings that are not given stay unchanged.

    `source` is the folder of its documents. It is recorded so that the status can report whether they have changed.
    Raises `UsageError` if the folder is not a host, and OSError if it cannot be written to.
    """
    with open_host(root) as tree, tree.locked():
        return _activate(tree, compiled, chosen, source)


def _activate(
    tree: ConfinedFolder, compiled: Mapping[str, Any], chosen: Mapping[str, str | None], source: str | None
) -> ActivationReport:
    generation = find_generation(tree)
    owned = open_journal(tree)
    settings = read_settings(tree).changed(chosen)
    bundle = read_bundle(compiled)
    texts, kept = _choose(tree, owned, _plan_groups(tree, generation, compiled, bundle, settings, owned))
    set_aside = None if owned.is_free(ACTIVE) else _name_aside(tree)
    owned.announce(texts, {"org_id": bundle.org_id, "source": source, "kept": list(kept)})
    before = list(owned.journal.files)
    for path, content in texts.items():
        if path != ACTIVE:
            owned.write(path, content)
    if set_aside is not None and (foreign := tree.read(ACTIVE)) is not None:
        tree.write(set_aside, foreign)
    owned.write(ACTIVE, texts[ACTIVE])
    switched_off = _drop_switched_off(tree, owned)
    removed, changed = owned.remove(path for path in before if path not in texts)
    owned.settle(texts)
    return ActivationReport(
        tuple(sorted(texts)),
        tuple(sorted([*removed, *switched_off])),
        tuple(sorted({*kept, *changed})),
        set_aside,
    )


def deactivate(root: str) -> ActivationReport:
    """Deactivate, and remove what activation wrote. A foreign `active.json` is renamed, not removed."""
    with open_host(root) as tree, tree.locked():
        return _deactivate(tree)


def _deactivate(tree: ConfinedFolder) -> ActivationReport:
    find_generation(tree)
    owned = open_journal(tree)
    set_aside = None
    if tree.exists(ACTIVE) and not owned.is_ours(ACTIVE):
        set_aside = _name_aside(tree)
        tree.rename(ACTIVE, set_aside.rpartition("/")[2])
    first, _ = owned.remove([ACTIVE])
    first += _drop_switched_off(tree, owned)
    removed, changed = owned.remove(path for path in owned.journal.files if path != ACTIVE)
    owned.settle({})
    # If the extension was removed first, it left its folders, because they still held these files.
    if not tree.is_folder(f"{FOLDER}/lib") and tree.remove_folder(f"{FOLDER}/bundles"):
        tree.remove_folder(FOLDER)
    return ActivationReport((), tuple(sorted([*first, *removed])), tuple(sorted(changed)), set_aside)


def _drop_switched_off(tree: ConfinedFolder, owned: OwnedFiles) -> list[str]:
    """Remove an activation that was switched off in the host: its bundle goes too. A foreign file is kept."""
    if not owned.is_ours(SWITCHED_OFF, written_as=ACTIVE):
        return []
    tree.remove(SWITCHED_OFF)
    return [SWITCHED_OFF]


def open_journal(tree: ConfinedFolder) -> OwnedFiles:
    """The files that activations wrote."""
    return OwnedFiles(tree, JOURNAL, SCHEMA, _may_own)


def _may_own(path: str) -> bool:
    """Whether an activation of any version writes files of this name."""
    profile = path.startswith(("agents/", "usr/agents/"))
    return profile or path == ACTIVE or path.startswith((f"{BUNDLES}/", f"{FOLDER}/roles/"))


def read_settings(tree: ConfinedFolder) -> ActivationSettings:
    """The settings of `active.json`; the defaults if it is missing or cannot be read."""
    data = read_json(tree, ACTIVE)
    given = data.get(SETTINGS_KEY) if isinstance(data, dict) else None
    return ActivationSettings().changed(given if isinstance(given, dict) else {})


@dataclass(frozen=True, slots=True)
class _Group:
    """Files that are written together or not at all, because a part of them would be useless."""

    name: str
    contents: Mapping[str, bytes]
    brought: bool = False
    """Whether the host itself has something of that name."""
    always: bool = False
    """Whether the name is unique to orgkernel; then an existing file is replaced."""


def _plan_groups(
    tree: ConfinedFolder,
    generation: Generation,
    compiled: Mapping[str, Any],
    bundle: Bundle,
    settings: ActivationSettings,
    owned: OwnedFiles,
) -> Iterator[_Group]:
    """Everything that an activation writes, with the switch last."""
    short = bundle.checksum.partition(":")[2][:_SHOWN_OF_CHECKSUM]
    bundle_name = f"{BUNDLES}/{bundle.org_id}-{short}.json"
    yield _Group(bundle_name, {bundle_name: render_bundle(compiled).encode()}, always=True)
    tool_ids = find_tool_ids(tree)
    kept_roles = []
    for role in bundle.roles.values():
        flat = f"{FOLDER}/roles/{role.role_id}.json"
        if not owned.is_free(flat):
            kept_roles.append(role.role_id)
        yield _Group(flat, {flat: _encode_json(role.profile)})
        if settings.enforcement == "observe":
            continue
        folder = f"{generation.profiles}/{role.role_id}"
        files = build_profile_files(generation, bundle, role, settings, tool_ids)
        if not files:
            continue
        # A profile of the same name would change one of the host's own.
        brought = folder != f"agents/{role.role_id}" and tree.exists(f"agents/{role.role_id}")
        yield _Group(folder, {f"{folder}/{name}": text.encode() for name, text in files.items()}, brought)
    chosen = settings.as_json() | {"bundle": bundle_name.removeprefix(f"{FOLDER}/")}
    # A host compares role files with the bundle. Foreign role files do not describe this organization.
    given = chosen | ({"kept_roles": kept_roles} if kept_roles else {})
    yield _Group(ACTIVE, {ACTIVE: _encode_json({**bundle.document, SETTINGS_KEY: given})}, always=True)


def _choose(
    tree: ConfinedFolder, owned: OwnedFiles, groups: Iterator[_Group]
) -> tuple[dict[str, bytes], tuple[str, ...]]:
    """The files to write, and the paths in the way of the others."""
    texts: dict[str, bytes] = {}
    kept = []
    for group in groups:
        if group.always or not (group.brought or _is_taken(tree, owned, group)):
            texts |= group.contents
        else:
            kept.append(group.name)
    return texts, tuple(kept)


def _is_taken(tree: ConfinedFolder, owned: OwnedFiles, group: _Group) -> bool:
    """Whether a file of the group is foreign, its folder contains another file, or its folder is a link."""
    if group.name in group.contents:
        return not owned.is_free(group.name)
    if tree.exists(group.name) and not tree.is_folder(group.name):
        return True
    return any(not owned.is_ours(path) for path in tree.walk(group.name, 9))


def _name_aside(tree: ConfinedFolder) -> str:
    """A free name next to `active.json`."""
    number = 1
    while tree.exists(name := f"{ACTIVE}.kept{'' if number == 1 else number}"):
        number += 1
    return name


def _encode_json(value: Mapping[str, Any]) -> bytes:
    return (json.dumps(value, ensure_ascii=False, indent=2) + "\n").encode()
