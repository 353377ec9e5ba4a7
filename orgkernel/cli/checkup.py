"""The checks of `orgkernel doctor`: each asks the part of orgkernel that decides, and none changes anything."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import stat
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

import msgspec

from orgkernel.cli.opening import request_of
from orgkernel.cli.output import counted
from orgkernel.cli.stores import show_time
from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import listing, quote
from orgkernel.errors import OrgkernelError
from orgkernel.kernel.cache_folder import find_cache_folder, open_cache
from orgkernel.kernel.settings import Project, find_ignored, find_project, is_own
from orgkernel.kernel.stored import StoreLocation, locate_store, open_store

if TYPE_CHECKING:
    from manifest_api.guards.tls import TlsFiles
    from orgkernel.kernel.stored import Store

CheckStatus = Literal["ok", "warning", "problem"]
_LATE_SECONDS = 60.0
"""Seconds by which the newest row of the audit may be ahead of the clock: other machines write rows, too."""
_MOST_SHOWN = 3
"""Findings of the audit that are shown one by one."""
_MOST_ROWS = 200_000
"""Rows of an audit that is verified here. A larger one takes long."""


class Checked(msgspec.Struct, frozen=True):
    """What one check found."""

    check: str
    status: CheckStatus
    message: str
    help: str = ""


@dataclass(frozen=True, slots=True)
class Asked:
    """What is to be checked: the options, with the same meaning as those of `orgkernel serve`."""

    folder: str
    environment: Mapping[str, str]
    paths: tuple[str, ...] = ()
    store: str | None = None
    host: str = "127.0.0.1"
    needs_key: bool = False
    tls: TlsFiles | None = None
    budget: int = 0
    offline: bool = False


def check_everything(asked: Asked) -> Iterator[Checked]:
    """All checks, in the order in which a reader should mend what they find."""
    yield from _checked("python", check_python)
    yield from _checked("packages", check_packages)
    try:
        project = find_project(asked.folder)
    except OrgkernelError as error:
        yield Checked("settings", "problem", error.message, error.help)
        yield Checked("settings", "warning", "nothing that depends on the settings was checked")
        return
    yield from _checked("settings", lambda: check_settings(project))
    yield from _checked("documents", lambda: check_documents(asked, project))
    yield from _checked("cache", lambda: check_cache(asked, project))
    yield from _checked("toolbox", lambda: check_toolbox(project))
    yield from _checked("tokens", lambda: check_tokens(asked, project))
    has_keys: list[bool] = []
    yield from check_store(asked, project, has_keys)
    yield from _checked("certificate", lambda: check_certificate(asked))
    yield from _checked("address", lambda: check_address(asked, any(has_keys) or project.oidc is not None))


def _checked(name: str, check: Any) -> Iterator[Checked]:
    """A check; what it raises is a problem, and the others go on."""
    try:
        for status, message, help in check():
            yield Checked(name, status, message, help)
    except OrgkernelError as error:
        yield Checked(name, "problem", error.message, error.help)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        where = f"`{error.filename}`: " if error.filename else ""
        yield Checked(name, "problem", f"{where}{reason}", "allow this user to read it")


_Lines = Iterator[tuple[CheckStatus, str, str]]


def check_python() -> _Lines:
    """The versions that run, for a report of a fault."""
    from orgkernel import __version__

    yield "ok", f"Python {platform.python_version()}, orgkernel {__version__}, {platform.system()}", ""


def check_packages() -> _Lines:
    """Installed packages against what orgkernel requires."""
    from packaging.requirements import Requirement

    try:
        required = importlib.metadata.requires("orgkernel") or []
    except importlib.metadata.PackageNotFoundError:
        yield "warning", "orgkernel runs from a folder and is not installed", "install it with `pip install`"
        return
    unfit = []
    extras: Counter[str] = Counter()
    for written in required:
        requirement = Requirement(written)
        extra = next((each for each in _extras() if _belongs_to(requirement, each)), "")
        try:
            version = importlib.metadata.version(requirement.name)
        except importlib.metadata.PackageNotFoundError:
            extras[extra] += bool(extra)
            if not extra:
                unfit.append(f"{requirement.name} is not installed")
            continue
        if not requirement.specifier.contains(version, prereleases=True):
            unfit.append(f"{requirement.name} {version} is installed, and {requirement.specifier} is needed")
    if unfit:
        yield (
            "problem",
            "; ".join(unfit),
            "install orgkernel again in the same environment, with what it requires",
        )
        return
    missing = [extra for extra in _extras() if extras[extra]]
    says = f"; not installed: {listing(f'orgkernel[{extra}]' for extra in missing)}" if missing else ""
    yield "ok", f"all {len(required)} requirements fit{says}", ""


def _extras() -> tuple[str, ...]:
    return tuple(importlib.metadata.metadata("orgkernel").get_all("Provides-Extra") or ())


def _belongs_to(requirement: Any, extra: str) -> bool:
    return (
        requirement.marker is not None
        and requirement.marker.evaluate({"extra": extra})
        and not requirement.marker.evaluate({"extra": ""})
    )


def check_settings(project: Project) -> _Lines:
    """Which file of settings is obeyed."""
    if not project.file:
        yield "ok", "there are no settings; the defaults apply", ""
        return
    if project.owned_by_others:
        yield (
            "warning",
            f"another user owns `{project.file}` or may write to it, so settings that grant something are not obeyed",
            "become the owner with `chown`, or run `chmod go-w` on it",
        )
    else:
        yield "ok", f"`{project.file}` is obeyed", ""
    ignored = find_ignored(project)
    if ignored:
        yield "warning", f"the settings in `{ignored}` are ignored", "keep one of the two"


def check_documents(asked: Asked, project: Project) -> _Lines:
    """What is read, and what is found in it."""
    from orgkernel.kernel.kernel import Kernel
    from orgkernel.kernel.names import ACTIVE

    request = request_of(asked.paths, project)
    kernel = Kernel(request, active=project.active, severities=project.severities)
    latest = kernel.state.latest
    shown = listing(sorted(request.asked))
    if not latest.read_anything:
        yield (
            "problem",
            f"there are no orgkernel documents in {shown}",
            "create them with `orgkernel new DIR`",
        )
        return
    counts = Counter(found.severity for found in latest.diagnostics)
    said = ", ".join(counted(counts[each], each.value) for each in Severity if counts[each]) or "no findings"
    what = f"{counted(len(latest.organizations), 'organization')} in {shown}: {said}"
    if counts[Severity.ERROR]:
        refused = listing(kernel.state.refused)
        serves = f"; not served: {refused}" if kernel.state.refused else ""
        yield "problem", f"{what}{serves}", "run `orgkernel check`"
    else:
        yield "ok", what, ""
    if project.active is not None:
        kernel.organization(ACTIVE)
    read = (file.located for file in latest.tree.files)
    exposed = sorted(located.name for located in read if not located.root.shared and not is_own(located.path))
    if exposed:
        yield (
            "warning",
            f"other users may write to {counted(len(exposed), 'document')}, such as {quote(exposed[0])}, and so give rights",
            "run `chmod -R go-w` on the folder, as its owner",
        )


def check_cache(asked: Asked, project: Project) -> _Lines:
    """Whether the cache is used."""
    folder = find_cache_folder(project, asked.environment)
    if folder is None:
        yield "ok", "the cache is off, or has no place", ""
        return
    cache, problem = open_cache(project, asked.environment, create=False)
    problem = problem or (cache.find_problem() if cache is not None else "")
    if problem:
        yield "warning", f"{problem}; everything is read anew, which takes longer", ""
    else:
        is_there = os.path.isdir(folder)
        yield "ok", f"`{folder}` is trusted" if is_there else f"`{folder}` is not filled yet", ""


def check_toolbox(project: Project) -> _Lines:
    """Whether each tool can be called. Functions are not imported: importing runs them."""
    if not project.toolbox:
        return
    from orgkernel.toolbox.settings import read_providers
    from orgkernel.toolbox.toolbox import make_adapter

    functions = [
        tool for tool, table in project.toolbox.items() if isinstance(table, dict) and "python" in table
    ]
    others = {tool: table for tool, table in project.toolbox.items() if tool not in functions}
    for tool, provider in read_providers(others).items():
        make_adapter(tool, provider, _never)
    unseen = f"; {counted(len(functions), 'function')} not imported" if functions else ""
    yield "ok", f"{counted(len(project.toolbox), 'tool')} in the settings{unseen}", ""


def _never(*_: Any) -> Any:
    raise AssertionError("nothing is called")


def check_tokens(asked: Asked, project: Project) -> _Lines:
    """Whether tokens of the identity provider can be verified."""
    if project.oidc is None:
        return
    from manifest_api.guards.token_keys import fetch, parse_keys
    from manifest_api.guards.tokens import TokenVerifier, read_settings

    project.require_own("oidc")
    settings = read_settings(project.oidc, project.folder)
    TokenVerifier(settings, time.time)  # needs PyJWT, and reads a file
    if not settings.jwks.startswith("https://"):
        yield "ok", f"the keys of {quote(settings.issuer)} are in `{settings.jwks}`", ""
        return
    host = urlsplit(settings.jwks).hostname or ""
    if asked.offline:
        yield "warning", f"the keys at {quote(host)} were not fetched", "leave `--offline` out"
        return
    import jwt

    try:
        keys = parse_keys(jwt, fetch(settings.jwks))
    except Exception as error:  # as where tokens are verified: whatever the other side sends
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        yield (
            "problem",
            f"the keys at {quote(host)} cannot be fetched: {reason}",
            "check `jwks` of `[oidc]`, the network, and the certificates that this machine trusts",
        )
        return
    yield "ok", f"{quote(host)} has {counted(len(keys.keys), 'key')} of {quote(settings.issuer)}", ""


def check_store(asked: Asked, project: Project, has_keys: list[bool]) -> Iterator[Checked]:
    """Whether the store can be read, has room, and proves its audit. It adds to `has_keys` whether a key is valid."""
    try:
        location = locate_store(project, asked.folder, asked.store, asked.environment)
        if location.path and not os.path.exists(location.path):
            yield _missing(location, asked)
            return
        store = open_store(location, read_only=True)
    except OrgkernelError as error:
        yield Checked("store", "problem", error.message, error.help)
        return
    with store:
        yield from _checked("store", lambda: _describe(store, asked.budget))
        yield from _checked("files", lambda: _check_files(location))
        yield from _checked("clock", lambda: _check_clock(store))
        yield from _checked("audit", lambda: _check_audit(store))
        yield from _checked("keys", lambda: _check_keys(store, has_keys))


def _missing(location: StoreLocation, asked: Asked) -> Checked:
    from orgkernel.operations.upkeep import find_lost_store

    for lost in find_lost_store(location):
        return Checked("store", "problem", lost.message, "put a backup back with `orgkernel store restore`")
    shown = _near(location.shown, asked.folder)
    return Checked("store", "ok", f"there is none yet; the first change makes `{shown}`")


def _describe(store: Store, budget: int) -> _Lines:
    from manifest_api.capacity import MIB, Capacity
    from orgkernel.operations.upkeep import measure

    capacity = Capacity(store.location, budget)
    capacity.used = measure(store)
    problem = capacity.find_problem()
    if problem:
        yield (
            "problem" if capacity.is_used_up else "warning",
            problem,
            "free some space, drop old rows with `orgkernel audit prune`, or give more with `serve --store-budget`",
        )
    else:
        size = f"{capacity.used / MIB:.1f} of {budget // MIB} MiB"
        yield "ok", f"`{store.location.shown}` is up to date and uses {size}", ""


def _check_files(location: StoreLocation) -> _Lines:
    """Who may read and write the store says who may do what."""
    names = [f"{location.path}{suffix}" for suffix in ("", "-wal", "-shm")] if location.path else []
    names += [location.checkpoints, os.path.join(location.checkpoints, "key")]
    for name in names:
        try:
            state = os.stat(name)
        except FileNotFoundError:
            continue
        if not hasattr(os, "getuid"):
            return
        help = f"become its owner with `chown`, and run `chmod go-rwx {name}`"
        if state.st_uid != os.getuid():
            yield (
                "warning",
                f"`{name}` belongs to another user",
                "run orgkernel as the owner of the store",
            )
        if state.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            yield "problem", f"other users may write to `{name}`", help
        elif state.st_mode & (stat.S_IRGRP | stat.S_IROTH):
            is_key = name.endswith("key")
            yield "problem" if is_key else "warning", f"other users may read `{name}`", help


def _check_clock(store: Store) -> _Lines:
    from orgkernel.decisions.state_records import AuditFilter
    from orgkernel.operations.upkeep import read_audit

    for newest in read_audit(store, AuditFilter(), 1):
        behind = newest.entry.at - time.time()
        if behind > _LATE_SECONDS:
            yield (
                "problem",
                f"the clock is {behind:,.0f} seconds behind the newest row of the audit",
                "set the clock; what expires would live longer",
            )


def _check_audit(store: Store) -> _Lines:
    from orgkernel.operations.upkeep import describe_store, verify

    rows = describe_store(store).rows["audit"]
    if rows > _MOST_ROWS:
        yield "ok", f"{counted(rows, 'row')}, too many to verify here; `orgkernel audit verify` does", ""
        return
    found = verify(store)
    for each in found.findings[:_MOST_SHOWN]:
        yield "problem", each.message, "run `orgkernel audit verify`"
    if (more := max(0, len(found.findings) - _MOST_SHOWN) + found.more_findings) > 0:
        yield "problem", f"{counted(more, 'more finding')}", "run `orgkernel audit verify`"
    if found.accepted:
        yield "warning", f"{counted(len(found.accepted), 'finding')} accepted", "run `orgkernel audit verify`"
    if not found.findings:
        yield "ok", f"{counted(found.rows, 'row')}, unchanged", ""


def _check_keys(store: Store, has_keys: list[bool]) -> _Lines:
    from orgkernel.operations.keys import expiring_keys

    now = time.time()
    keys = [key for key in store.keys.list() if key.is_active(now)]
    has_keys.append(bool(keys))
    for key in expiring_keys(store, now):
        yield (
            "warning",
            f"the key {quote(key.name)} ({key.key_id}) expires at {show_time(key.expires_at)}",
            "replace it with `orgkernel key rotate`",
        )
    if keys:
        admins = sum("admin" in key.scopes for key in keys)
        yield "ok", f"{counted(len(keys), 'valid API key')}, {admins} of them for everything", ""
    else:
        yield "ok", "no valid API key: only loopback may ask, and nothing can be changed over HTTP", ""


def check_certificate(asked: Asked) -> _Lines:
    """Whether clients would accept the certificate."""
    if asked.tls is None:
        return
    from manifest_api.guards.tls import SOON_DAYS, days_left, read_certificate

    _, expires_at = read_certificate(asked.tls)
    left = days_left(expires_at)
    if left < SOON_DAYS:
        yield (
            "warning",
            f"the certificate expires at {show_time(expires_at)}",
            "renew it, and send SIGHUP to `serve`",
        )
    else:
        yield "ok", f"the certificate is valid until {show_time(expires_at)}", ""


def check_address(asked: Asked, has_keys: bool) -> _Lines:
    """Whether `serve` would listen there, and what protects the keys on their way."""
    from manifest_api.guards.loopback import is_loopback
    from manifest_api.server import resolve_address

    found = resolve_address(asked.host, 0, has_keys=has_keys, needs_key=asked.needs_key)
    is_near = all(is_loopback(str(address[0])) for *_, address in found)
    if not is_near and asked.tls is None:
        yield (
            "warning",
            f"{quote(asked.host)} is not a loopback address, and without TLS everybody on the way can read the keys",
            "give `--tls-certificate` and `--tls-key`, or listen on `127.0.0.1` behind a proxy that ends TLS",
        )
    else:
        where = "a loopback address" if is_near else "an address for all"
        who = (
            "keys and tokens are asked for"
            if not is_near or asked.needs_key
            else "loopback needs no key to read"
        )
        yield "ok", f"{quote(asked.host)} is {where}; {who}", ""


def _near(path: str, folder: str) -> str:
    """A path as somebody in the folder would write it."""
    inside = os.path.relpath(path, folder) if os.path.isabs(path) else path
    return path if inside.startswith("..") else inside
