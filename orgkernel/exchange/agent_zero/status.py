"""The status of a host, read from its files and from the status that its extension wrote."""

from __future__ import annotations

from typing import Any

import msgspec

from orgkernel.diagnostics.wording import listing
from orgkernel.exchange.agent_zero.activation import (
    ACTIVE,
    FOLDER,
    SETTINGS_KEY,
    SWITCHED_OFF,
    open_journal,
    read_settings,
)
from orgkernel.exchange.agent_zero.host import ActivationSettings, find_generation, open_host, read_json
from orgkernel.exchange.agent_zero.installer import open_installed
from orgkernel.exchange.confined_folder import ConfinedFolder
from orgkernel.runtime import written
from orgkernel.runtime.bundle import Bundle, BundleError, read_bundle
from orgkernel.runtime.effect_counts import read_effect

# Fields that differ between two compilations of the same documents.
_OF_COMPILING = ("digest", "checksum", "compiled_by")
HOST_STATUS = f"{FOLDER}/status.json"
HOST_EFFECT = f"{FOLDER}/effect.json"
TOGGLED_OFF = "usr/plugins/orgkernel/.toggle-0"


class HostStatus(msgspec.Struct, frozen=True, kw_only=True):
    """Whether the organization layer of a host is on, and the facts that explain why."""

    on: bool
    why: str
    """Why it is on, off or only partly on."""
    generation: str
    installed: str | None
    """Version of the extension. None if it is not installed."""
    shims: tuple[str, ...]
    missing: tuple[str, ...]
    """Installed files that are missing now."""
    organization: str | None
    enforcement: str | None
    on_error: str | None
    unlisted_tools: str | None
    examples: str | None
    bundle: str | None
    digest: str | None
    """Digest of the documents that the bundle was compiled from."""
    source: str | None
    """The folder of those documents. None for a template or if it was not recorded."""
    behind: bool | None
    """Whether the documents have changed since. None if they are not available."""
    slips: tuple[str, ...]
    """Invalid settings."""
    kept: tuple[str, ...]
    """Foreign files and profiles that have the names of activation's files."""
    loaded: str | None
    """Digest of the bundle that the host last reported as loaded."""
    last_error: str | None
    since: str | None
    effect: dict[str, Any] | None
    """The effect of the organization in all chats, as counts. None if nothing was counted."""
    effect_problem: str | None


def read_status(root: str) -> HostStatus:
    """The status of the host in a folder. Raises `UsageError` if the folder is not a host."""
    with open_host(root) as tree:
        return _read_status(tree)


def _read_status(tree: ConfinedFolder) -> HostStatus:
    generation = find_generation(tree)
    version, files = _read_installed(tree)
    # The installed files that the host calls at its hooks.
    shims = tuple(name for name in files if "/extensions/" in name and name.endswith(".py"))
    host_status = read_json(tree, HOST_STATUS)
    host_status = host_status if isinstance(host_status, dict) else {}
    owned = open_journal(tree).journal
    journal = owned.about
    document, problem = _read_active(tree)
    bundle, name, by_hand = (None, None, "") if document is None else _read_named_bundle(tree, document)
    missing = tuple(name for name in files if not tree.is_file(name))
    if document is not None and by_hand and not _has_roles(tree, document, bundle):
        problem = f"{by_hand}, and roles/ lacks the file of one of its roles; activate the organization again"
    if by_hand:
        bundle = name = None
    on, why = _judge(version, missing, document, problem, by_hand, host_status)
    if on and tree.exists(TOGGLED_OFF):
        on, why = False, "the plugin is disabled in the host's settings"
    elif version is not None and document is None and not problem and tree.is_file(SWITCHED_OFF):
        why = f"it was switched off in the host; its panel can switch it on again, or rename {SWITCHED_OFF} to active.json"
    elif version is not None and document is None and not problem and owned.files:
        why += "; files of an activation are left; remove them with `orgkernel host deactivate`"
    settings = read_settings(tree) if document else None
    effect, effect_problem = _read_effect(tree)
    return HostStatus(
        on=on, why=why, generation=f"{generation.name} ({generation.words})", installed=version, shims=shims,
        missing=missing, organization=document["org_id"] if document else None,
        **(settings.as_json() if settings else dict.fromkeys(ActivationSettings().as_json())),
        bundle=name, digest=bundle.digest if bundle else None,
        source=_read_text(journal, "source"), behind=None,
        slips=ActivationSettings.slips(document.get(SETTINGS_KEY)) if document else (),
        kept=tuple(map(str, journal.get("kept", ()))), loaded=_read_text(host_status, "loaded"),
        last_error=_read_text(host_status, "last_error"), since=_read_text(host_status, "since"),
        effect=effect, effect_problem=effect_problem,
    )  # fmt: skip


def is_same(root: str, status: HostStatus, compiled: dict[str, Any]) -> bool:
    """Whether the active bundle equals a newly compiled one."""
    with open_host(root) as tree:
        held = read_json(tree, f"{FOLDER}/{status.bundle}")
    return {**held, **dict.fromkeys(_OF_COMPILING)} == {**compiled, **dict.fromkeys(_OF_COMPILING)}


def _judge(
    version: str | None,
    missing: tuple[str, ...],
    document: dict[str, Any] | None,
    problem: str,
    by_hand: str,
    host_status: dict[str, Any],
) -> tuple[bool, str]:
    """Decide whether the organization layer is on or off, with the reason."""
    if version is None:
        active = " (an organization is active, but has no effect)" if document else ""
        return False, f"the extension is not installed{active}"
    if missing:
        files = "file of the extension is" if len(missing) == 1 else "files of the extension are"
        return False, f"{len(missing)} installed {files} missing; install it again"
    if problem:
        still = (
            "; a running host keeps the loaded organization until it is restarted"
            if _read_text(host_status, "loaded")
            else ""
        )
        return False, f"{problem}{still}"
    if document is None:
        return False, "no organization is active"
    if _read_text(host_status, "last_error"):
        return True, "an organization is active, and the host reported an error"
    if by_hand:
        return True, f"{by_hand}, so the host compiles active.json and roles/*.json itself"
    return True, "an organization is active"


def _read_active(tree: ConfinedFolder) -> tuple[dict[str, Any] | None, str]:
    """The active organization, or the problem with its file. A missing file is not a problem."""
    if not tree.exists(ACTIVE):
        return None, ""
    document = read_json(tree, ACTIVE)
    if not isinstance(document, dict):
        return None, "active.json cannot be read as JSON"
    if not isinstance(document.get("org_id"), str) or not document["org_id"]:
        return None, "active.json is not an organization document: it has no `org_id`"
    return document, ""


def _read_named_bundle(
    tree: ConfinedFolder, document: dict[str, Any]
) -> tuple[Bundle | None, str | None, str]:
    """The bundle that the host reads for an `active.json`, its name, and why it is not in force."""
    given = document.get(SETTINGS_KEY)
    named = given.get("bundle") if isinstance(given, dict) else None
    name = named if isinstance(named, str) else f"bundles/{document['org_id']}.json"
    path = f"{FOLDER}/{name}"
    if not tree.is_below(path) or not tree.is_file(path):
        return None, None, f"the bundle `{name}` is missing" if named else "there is no compiled bundle"
    try:
        bundle = read_bundle(read_json(tree, path))
    except BundleError as error:
        return None, name, f"the bundle `{name}` cannot be used: {error}"
    if bundle.org_id != document["org_id"]:
        return None, name, f"the bundle `{name}` belongs to organization `{bundle.org_id}`"
    kept = given.get("kept_roles") if isinstance(given, dict) else None
    others = kept if isinstance(kept, list) else []
    profiles = {
        role_id: read_json(tree, file)
        for role_id in written.list_written_roles(document)
        if role_id not in others and tree.is_file(file := f"{FOLDER}/roles/{role_id}.json")
    }
    changed = written.find_changed(bundle, document, profiles)
    return bundle, name, f"{listing(changed)} changed since the bundle was compiled" if changed else ""


def _has_roles(tree: ConfinedFolder, document: dict[str, Any], bundle: Bundle | None) -> bool:
    """Whether the organization has a role with a profile."""
    roles = written.list_written_roles(document)
    return any(
        tree.is_file(f"{FOLDER}/roles/{each}.json") or (bundle is not None and each in bundle.roles)
        for each in roles
    )


def _read_installed(tree: ConfinedFolder) -> tuple[str | None, tuple[str, ...]]:
    """Version and files of the extension, as its installer recorded them."""
    journal = open_installed(tree).journal
    if not journal.files:
        return None, ()
    return _read_text(journal.about, "version") or "unknown", tuple(journal.files)


def _read_effect(tree: ConfinedFolder) -> tuple[dict[str, Any] | None, str | None]:
    """The effect that the host counted, and the problem if its file cannot be read."""
    if not tree.exists(HOST_EFFECT):
        return None, None
    try:
        return read_effect(read_json(tree, HOST_EFFECT)).as_json(), None
    except ValueError as error:
        return None, f"effect.json cannot be read: {error}; remove it to start counting again"


def _read_text(data: dict[str, Any], key: str) -> str | None:
    value = data.get(key)
    return value if isinstance(value, str) else None
