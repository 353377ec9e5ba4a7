"""The checks of `orgkernel doctor`: each asks the part of orgkernel that decides, and none changes anything."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from orgkernel.cli.opening import build_request
from orgkernel.cli.operate.checkup_report import CheckResult, CheckupOptions, Lines, run_check
from orgkernel.cli.operate.checkup_store import check_store
from orgkernel.cli.output import format_count
from orgkernel.cli.stores import show_time
from orgkernel.diagnostics import Severity
from orgkernel.diagnostics.wording import listing, quote
from orgkernel.errors import OrgkernelError
from orgkernel.kernel.cache_folder import find_cache_folder, open_cache
from orgkernel.kernel.settings import Project, find_ignored, find_project, is_own


def check_everything(options: CheckupOptions) -> Iterator[CheckResult]:
    """Run all checks, in the order in which a reader should fix the problems."""
    yield from run_check("python", check_python)
    yield from run_check("packages", check_packages)
    try:
        project = find_project(options.folder)
    except OrgkernelError as error:
        yield CheckResult("settings", "problem", error.message, error.help)
        yield CheckResult("settings", "warning", "nothing that depends on the settings was checked")
        return
    yield from run_check("settings", lambda: check_settings(project))
    yield from run_check("documents", lambda: check_documents(options, project))
    yield from run_check("cache", lambda: check_cache(options, project))
    yield from run_check("toolbox", lambda: check_toolbox(project))
    yield from run_check("tokens", lambda: check_tokens(options, project))
    has_keys: list[bool] = []
    yield from check_store(options, project, has_keys)
    yield from run_check("certificate", lambda: check_certificate(options))
    yield from run_check("address", lambda: check_address(options, any(has_keys) or project.oidc is not None))


def check_python() -> Lines:
    """The installed versions, for a bug report."""
    from orgkernel import __version__

    yield "ok", f"Python {platform.python_version()}, orgkernel {__version__}, {platform.system()}", ""


def check_packages() -> Lines:
    """Installed packages against what orgkernel requires."""
    from packaging.requirements import Requirement

    try:
        required = importlib.metadata.requires("orgkernel") or []
    except importlib.metadata.PackageNotFoundError:
        yield "warning", "orgkernel runs from a folder and is not installed", "install it with `pip install`"
        return
    unfit = []
    counted_requirements = 0
    extras: Counter[str] = Counter()
    for written in required:
        requirement = Requirement(written)
        extra = _find_extra(requirement)
        if extra is None:
            continue
        counted_requirements += 1
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
    missing = [extra for extra in _list_extras() if extras[extra]]
    says = f"; not installed: {listing(f'orgkernel[{extra}]' for extra in missing)}" if missing else ""
    yield "ok", f"all {counted_requirements} requirements are met{says}", ""


def _list_extras() -> tuple[str, ...]:
    """The names of the extras. `all` is left out, because it only combines the others."""
    extras = importlib.metadata.metadata("orgkernel").get_all("Provides-Extra") or ()
    return tuple(extra for extra in extras if extra != "all")


def _find_extra(requirement: Any) -> str | None:
    """The extra that a requirement belongs to; empty for the default, None if it is not for this system."""
    if requirement.marker is None:
        return ""
    return next(
        (extra for extra in ("", *_list_extras()) if requirement.marker.evaluate({"extra": extra})), None
    )


def check_settings(project: Project) -> Lines:
    """Check which settings file is used."""
    if not project.file:
        yield "ok", "there are no settings; the defaults apply", ""
        return
    if project.owned_by_others:
        yield (
            "warning",
            f"another user owns `{project.file}` or can write to it, so settings that grant access are ignored",
            "become the owner with `chown`, or run `chmod go-w` on it",
        )
    else:
        yield "ok", f"`{project.file}` is used", ""
    ignored = find_ignored(project)
    if ignored:
        yield "warning", f"the settings in `{ignored}` are ignored", "keep one of the two"


def check_documents(options: CheckupOptions, project: Project) -> Lines:
    """Check the documents, and report their findings."""
    from orgkernel.kernel.kernel import Kernel
    from orgkernel.kernel.names import ACTIVE

    request = build_request(options.paths, project)
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
    counts = Counter(diagnostic.severity for diagnostic in latest.diagnostics)
    counts_text = (
        ", ".join(format_count(counts[each], each.value) for each in Severity if counts[each])
        or "no findings"
    )
    what = f"{format_count(len(latest.organizations), 'organization')} in {shown}: {counts_text}"
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
            f"other users can write to {format_count(len(exposed), 'document')}, such as {quote(exposed[0])}, and so grant permissions",
            "run `chmod -R go-w` on the folder, as its owner",
        )


def check_cache(options: CheckupOptions, project: Project) -> Lines:
    """Whether the cache is used."""
    folder = find_cache_folder(project, options.environment)
    if folder is None:
        yield "ok", "the cache is disabled or has no folder", ""
        return
    cache, problem = open_cache(project, options.environment, create=False)
    problem = problem or (cache.find_problem() if cache is not None else "")
    if problem:
        yield "warning", f"{problem}; all files are read again, which takes longer", ""
    else:
        does_store_exist = os.path.isdir(folder)
        yield "ok", f"`{folder}` is trusted" if does_store_exist else f"`{folder}` is not filled yet", ""


def check_toolbox(project: Project) -> Lines:
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
        make_adapter(tool, provider, _refuse_calls)
    unseen = f"; {format_count(len(functions), 'function')} not imported" if functions else ""
    yield "ok", f"{format_count(len(project.toolbox), 'tool')} in the settings{unseen}", ""


def _refuse_calls(*_: Any) -> Any:
    raise AssertionError("nothing is called")


def check_tokens(options: CheckupOptions, project: Project) -> Lines:
    """Whether tokens of the identity provider can be verified."""
    if project.oidc is None:
        return
    from manifest_api.guards.tokens import TokenVerifier, read_settings

    project.require_own("oidc")
    settings = read_settings(project.oidc, project.folder)
    TokenVerifier(settings, time.time)  # needs PyJWT, and reads a file
    if not settings.jwks.startswith("https://"):
        yield "ok", f"the keys of {quote(settings.issuer)} are in `{settings.jwks}`", ""
        return
    host = urlsplit(settings.jwks).hostname or ""
    if options.offline:
        yield "warning", f"the keys at {quote(host)} were not fetched", "leave `--offline` out"
        return
    from manifest_api.guards.token_keys import fetch_keys

    try:
        keys = fetch_keys(settings.jwks)
    except Exception as error:  # as where tokens are verified: whatever the other side sends
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        yield (
            "problem",
            f"the keys at {quote(host)} cannot be fetched: {reason}",
            "check `jwks` of `[oidc]`, the network, and the certificates that this machine trusts",
        )
        return
    yield "ok", f"{quote(host)} has {format_count(len(keys.keys), 'key')} of {quote(settings.issuer)}", ""


def check_certificate(options: CheckupOptions) -> Lines:
    """Whether clients would accept the certificate."""
    if options.tls is None:
        return
    from manifest_api.guards.tls import SOON_DAYS, count_days_left, read_certificate

    _, expires_at = read_certificate(options.tls)
    left = count_days_left(expires_at)
    if left < SOON_DAYS:
        yield (
            "warning",
            f"the certificate expires at {show_time(expires_at)}",
            "renew it, and send SIGHUP to `serve`",
        )
    else:
        yield "ok", f"the certificate is valid until {show_time(expires_at)}", ""


def check_address(options: CheckupOptions, has_keys: bool) -> Lines:
    """Whether `serve` would listen there, and what protects the keys on their way."""
    from manifest_api.guards.loopback import is_loopback
    from manifest_api.server import resolve_address

    addresses = resolve_address(options.host, 0, has_keys=has_keys, needs_key=options.needs_key)
    is_near = all(is_loopback(str(address[0])) for *_, address in addresses)
    if not is_near and options.tls is None:
        yield (
            "warning",
            f"{quote(options.host)} is not a loopback address, and without TLS the keys can be read in transit",
            "pass `--tls-certificate` and `--tls-key`, or listen on `127.0.0.1` behind a proxy that terminates TLS",
        )
    else:
        where = "a loopback address" if is_near else "not a loopback address"
        who = (
            "callers need a key or a token"
            if not is_near or options.needs_key
            else "callers need no key to read"
        )
        yield "ok", f"{quote(options.host)} is {where}; {who}", ""
