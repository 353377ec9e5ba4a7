"""A project's settings: the nearest `orgkernel.toml`, or `[tool.orgkernel]` of a `pyproject.toml` (docs/documents.md)."""

from __future__ import annotations

import os
import stat
from collections.abc import Collection
from typing import Any

import msgspec
from msgspec.structs import replace

from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import did_you_mean, listing, quote
from orgkernel.errors import BadProject
from orgkernel.runtime.regular_files import NotRegular, read_regular

FILE = "orgkernel.toml"
LINKS = "ORGKERNEL_LINKS"
"""The environment variable with the files and folders that links can lead to, as in `PATH`."""
_MAX_BYTES = 1024 * 1024
_SETTINGS = (
    "paths",
    "active",
    "severities",
    "fail_on",
    "cache",
    "store",
    "checkpoints",
    "toolbox",
    "oidc",
    "links",
    "a2a",
)
_LEVELS = {severity.value: severity for severity in Severity}


class Project(msgspec.Struct, frozen=True):
    """The settings, and the folder at which their paths start."""

    folder: str
    paths: tuple[str, ...] = (".",)
    active: str | None = None
    """The organization that answers if none is named."""
    severities: dict[str, Severity | None] = msgspec.field(default_factory=dict)
    """The severity of each rule code; None switches the rule off."""
    fail_on: Severity = Severity.ERROR
    cache: str | bool = True
    """The folder of the cache, relative to `folder`; True for the user's own, False for none."""
    store: str | None = None
    """The location of the state: a file, relative to `folder`, or a PostgreSQL URL."""
    toolbox: dict[str, Any] = msgspec.field(default_factory=dict)
    """The settings of each tool as written; `toolbox.settings` parses them."""
    oidc: dict[str, Any] | None = None
    """The identity provider whose tokens the HTTP API accepts in addition to keys; `manifest_api.guards.tokens` reads it."""
    checkpoints: str | None = None
    """The folder of the audit keys and checkpoints, relative to `folder`; by default next to the store."""
    links: tuple[str, ...] = ()
    """Files and folders outside of `paths` that links can lead to, relative to `folder`."""
    a2a: dict[str, Any] | None = None
    """The agent cards that the HTTP API publishes; `manifest_api.agent_cards` reads it."""
    owned_by_others: str = ""
    """The settings file, if another user owns it or can write to it. Then `require_own` refuses settings that grant
    something.
    """
    file: str = ""
    """The path of the settings file. Empty for the default settings."""

    def require_own(self, setting: str) -> None:
        """Raise `BadProject` if another user could have written a setting that grants something."""
        if self.owned_by_others and getattr(self, setting):
            raise BadProject(
                f"`{self.owned_by_others}`: `{setting}` is ignored, because another user owns the file or can write to it",
                "become the owner with `chown`, run `chmod go-w` on it, or give the setting on the command line",
            )

    @property
    def full_links(self) -> list[str]:
        """The full paths of files and folders outside of `paths` that links can lead to: in the tree, as its settings say,
        and anywhere, as `ORGKERNEL_LINKS` says.
        """
        return [
            *(os.path.join(self.folder, os.path.expanduser(link)) for link in self.links),
            *list_callers_links(),
        ]


def find_project(folder: str) -> Project:
    """The project of a folder; default settings if there is none. Raises `BadProject`."""
    here = folder
    while True:
        for name, section in ((FILE, ()), ("pyproject.toml", ("tool", "orgkernel"))):
            where = os.path.join(here, name)
            if here != folder and _is_of_others(where):
                continue  # another user's file above this folder must not make it part of a project
            settings = _read(where, section)
            if settings is not None:
                project = replace(_build_project(here, name, settings), file=where)
                _require_inside(project)
                return replace(project, owned_by_others="" if is_own(where) else where)
        parent = os.path.dirname(here)
        if parent == here:
            return Project(folder)
        here = parent


def list_callers_links() -> list[str]:
    """The full paths that links can lead to on behalf of the caller, from `ORGKERNEL_LINKS`."""
    listed = os.environ.get(LINKS, "").split(os.pathsep)
    return [os.path.abspath(os.path.expanduser(each)) for each in listed if each]


def _require_inside(project: Project) -> None:
    """Raise `BadProject` if settings lead out of their tree. They come with the tree, so they could be an attacker's."""
    # Paths on the command line are the choice of the caller. Paths in settings are the choice of the author of the
    # tree.
    top = os.path.realpath(find_top(project) or project.folder)
    for setting, paths in (("paths", project.paths), ("links", project.links)):
        for path in paths:
            full = os.path.join(project.folder, os.path.expanduser(path) if setting == "links" else path)
            # A link to a file is reported when it is read.
            is_followed = setting == "links" or os.path.isdir(full)
            inside = os.path.join(_find_real_path(full) if is_followed else os.path.normpath(full), "")
            if not inside.startswith((os.path.join(top, ""), os.path.join(project.folder, ""))):
                instead = (
                    f"set the environment variable `{LINKS}`"
                    if setting == "links"
                    else "name it on the command line"
                )
                raise BadProject(
                    f"`{project.file}`: `{setting}` leads out of the tree that the settings are in: {quote(path)}",
                    f"{instead}, or move it into the tree",
                )


def _find_real_path(path: str) -> str:
    """The path without links. The top of the disk if this user may not know it."""
    try:
        return os.path.realpath(path)
    except OSError:
        return os.sep


def find_top(project: Project) -> str | None:
    """The topmost folder of a project: that of its settings, or of its git repository. None without either.

    A repository in a home folder is not treated as a project, and neither is a repository of another user.
    """
    otherwise = project.folder if project.file else None
    here = project.folder
    home = os.path.realpath(os.path.expanduser("~"))
    while True:
        mark = os.path.join(here, ".git")
        if os.path.lexists(mark):
            # Many people keep their home folder in git. Then settings in it could reach every file of the user.
            return otherwise if _is_of_others(mark) or os.path.realpath(here) == home else here
        parent = os.path.dirname(here)
        if parent == here:
            return otherwise
        here = parent


def _is_of_others(path: str) -> bool:
    """Whether a file or folder exists and belongs neither to this user nor to the administrator."""
    if not hasattr(os, "getuid"):
        return False
    try:
        return os.lstat(path).st_uid not in (os.getuid(), 0)
    except OSError:
        return False


def find_ignored(project: Project) -> str:
    """A `pyproject.toml` whose settings are ignored, because there is an `orgkernel.toml` next to it."""
    beside = os.path.join(project.folder, "pyproject.toml")
    is_ignored = os.path.basename(project.file) == FILE and _read(beside, ("tool", "orgkernel")) is not None
    return beside if is_ignored else ""


def _read(path: str, section: tuple[str, ...]) -> dict[str, Any] | None:
    if not os.path.lexists(path):
        return None
    import tomllib  # most folders have no settings

    from orgkernel.runtime.bounded_toml import parse_bounded_toml

    try:
        # One byte more than the limit shows that the file is larger, without reading all of it.
        content = read_regular(path, _MAX_BYTES + 1)
        if len(content) > _MAX_BYTES:
            raise BadProject(f"`{path}` cannot be read: it is larger than {_MAX_BYTES // 1024} KiB")
        settings: Any = parse_bounded_toml(content.decode())
    except NotRegular:
        raise BadProject(f"`{path}` is not a regular file", "put a file there, or remove it") from None
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        if section:
            return None  # not an orgkernel file; other tools report its errors
        raise BadProject(f"`{path}` cannot be read: {error}") from None
    for step in section:
        settings = settings.get(step) if isinstance(settings, dict) else None
    return settings if isinstance(settings, dict) else None


def is_own(path: str) -> bool:
    """Whether only this user and the administrator can write a file, and the target of a link.

    Many systems give each user a group with the same number, which can write new files.
    """
    if not hasattr(os, "getuid"):
        return True
    try:
        states = (os.lstat(path), os.stat(path))
    except OSError:
        return False
    user = os.getuid()
    owners = (user, 0)
    # A group with the number of the user has no other members, so what the group can write is still the own file.
    has_own_group = states[1].st_gid == user == os.getgid()
    is_writable = states[1].st_mode & (stat.S_IWOTH if has_own_group else stat.S_IWGRP | stat.S_IWOTH)
    return all(state.st_uid in owners for state in states) and not is_writable


def _build_project(folder: str, name: str, settings: dict[str, Any]) -> Project:
    where = os.path.join(folder, name)
    if _holds_nul(settings):
        raise BadProject(f"`{where}`: a setting contains the character U+0000, which no path can contain")
    for key in settings:
        if key not in _SETTINGS:
            hint = did_you_mean(key, _SETTINGS) or f"settings are {listing(_SETTINGS)}"
            raise BadProject(f"`{where}`: the setting {quote(key)} is not known", hint)
    paths = settings.get("paths", ["."])
    if not (isinstance(paths, list) and paths and all(isinstance(path, str) for path in paths)):
        raise BadProject(f"`{where}`: `paths` is not a list of strings", 'write `paths = ["organizations"]`')
    links = settings.get("links", [])
    if not (isinstance(links, list) and all(isinstance(link, str) and link for link in links)):
        raise BadProject(f"`{where}`: `links` is not a list of strings", 'write `links = ["../shared"]`')
    active = settings.get("active")
    if active is not None and not isinstance(active, str):
        raise BadProject(f"`{where}`: `active` is not a string")
    store = settings.get("store")
    if store is not None and not isinstance(store, str):
        raise BadProject(f"`{where}`: `store` is not a string", 'write `store = "state.db"`')
    checkpoints = settings.get("checkpoints")
    if checkpoints is not None and not (isinstance(checkpoints, str) and checkpoints):
        raise BadProject(
            f"`{where}`: `checkpoints` is not a string", 'write `checkpoints = "/mnt/audit/production"`'
        )
    oidc = settings.get("oidc")
    if oidc is not None and not isinstance(oidc, dict):
        raise BadProject(f"`{where}`: `oidc` is not a table", "write `[oidc]` and its settings below")
    a2a = settings.get("a2a")
    if a2a is not None and not isinstance(a2a, dict):
        raise BadProject(f"`{where}`: `a2a` is not a table", "write `[a2a]` and its settings below")
    severities = settings.get("severities", {})
    if not isinstance(severities, dict):
        raise BadProject(
            f"`{where}`: `severities` is not a table", 'write `[severities]` and `ORG702 = "off"`'
        )
    # Listing the codes imports every rule, which would slow down each command.
    known = _list_all_codes() if severities else ()
    for code in severities:
        if code not in known:
            raise BadProject(
                f"`{where}`: there is no rule {quote(code)}", "list all rules with `orgkernel rule`"
            )
    toolbox = settings.get("toolbox", {})
    if not isinstance(toolbox, dict):
        raise BadProject(f"`{where}`: `toolbox` is not a table", "write `[toolbox.TOOL]` for each tool")
    return Project(
        folder,
        tuple(paths),
        active,
        {
            code: None if level == "off" else _parse_severity(where, code, level)
            for code, level in severities.items()
        },
        _parse_severity(where, "fail_on", settings.get("fail_on", "error")),
        _cache(where, settings.get("cache", True)),
        store,
        toolbox,
        oidc,
        checkpoints,
        tuple(links),
        a2a,
    )


def _holds_nul(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(_holds_nul, (*value, *value.values())))
    if isinstance(value, list):
        return any(map(_holds_nul, value))
    return isinstance(value, str) and "\0" in value


def _cache(where: str, value: Any) -> str | bool:
    if isinstance(value, bool) or (isinstance(value, str) and value):
        return value
    raise BadProject(
        f"`{where}`: `cache` is neither a folder nor `false`", 'write `cache = ".orgkernel_cache"`'
    )


def _list_all_codes() -> Collection[str]:
    from orgkernel.diagnostics.catalog import ROWS
    from orgkernel.rules.catalog import list_rules  # imports every rule

    return {*ROWS, *(rule.code for rule in list_rules())}


def _parse_severity(where: str, name: str, level: Any) -> Severity:
    if level in _LEVELS:
        return _LEVELS[level]
    allowed = listing([*_LEVELS, *([] if name == "fail_on" else ["off"])])
    raise BadProject(f"`{where}`: {quote(name)} is {quote(level)}", f"use {allowed}")
