"""The checks of `orgkernel doctor` for the store: its files, its clock, its audit and its keys."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

from orgkernel.cli.operate.checkup_report import CheckResult, CheckupOptions, Lines, run_check
from orgkernel.cli.output import format_count
from orgkernel.cli.stores import show_time
from orgkernel.diagnostics.wording import quote
from orgkernel.errors import OrgkernelError
from orgkernel.kernel.settings import Project
from orgkernel.kernel.stored import StoreLocation, locate_store, open_store

if TYPE_CHECKING:
    from orgkernel.kernel.stored import Store

_LATE_SECONDS = 60.0
"""Seconds by which the newest row of the audit can be ahead of the clock, because other machines also write rows."""
_MAX_SHOWN = 3
"""Findings of the audit that are shown one by one."""
_MAX_ROWS = 200_000
"""Maximum number of audit rows that are verified here. Larger audits take long."""


def check_store(options: CheckupOptions, project: Project, has_keys: list[bool]) -> Iterator[CheckResult]:
    """Whether the store can be read, has room, and proves its audit. It adds to `has_keys` whether a key is valid."""
    try:
        location = locate_store(project, options.folder, options.store, options.environment)
        if location.path and not os.path.exists(location.path):
            yield _check_missing(location, options)
            return
        store = open_store(location, read_only=True)
    except OrgkernelError as error:
        yield CheckResult("store", "problem", error.message, error.help)
        return
    with store:
        yield from run_check("store", lambda: _describe(store, options.budget))
        yield from run_check("files", lambda: _check_files(location))
        yield from run_check("clock", lambda: _check_clock(store))
        yield from run_check("audit", lambda: _check_audit(store))
        yield from run_check("keys", lambda: _check_keys(store, has_keys))
        yield from run_check("certificates", lambda: _check_certificates(store))


def _check_missing(location: StoreLocation, options: CheckupOptions) -> CheckResult:
    from orgkernel.operations.upkeep import find_lost_store

    for lost in find_lost_store(location):
        return CheckResult(
            "store", "problem", lost.message, "restore a backup with `orgkernel store restore`"
        )
    shown = _shorten_path(location.shown, options.folder)
    return CheckResult("store", "ok", f"there is none yet; the first change creates `{shown}`")


def _describe(store: Store, budget: int) -> Lines:
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


def _check_files(location: StoreLocation) -> Lines:
    """Check who can read and write the files of the store, because the store decides about permissions."""
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
            yield "problem", f"other users can write to `{name}`", help
        elif state.st_mode & (stat.S_IRGRP | stat.S_IROTH):
            is_key = name.endswith("key")
            yield "problem" if is_key else "warning", f"other users can read `{name}`", help


def _check_clock(store: Store) -> Lines:
    from orgkernel.decisions.evidence.state_records import AuditFilter
    from orgkernel.operations.upkeep import read_audit

    for newest in read_audit(store, AuditFilter(), 1):
        behind = newest.entry.at - time.time()
        if behind > _LATE_SECONDS:
            yield (
                "problem",
                f"the clock is {behind:,.0f} seconds behind the newest row of the audit",
                "set the clock; if it is right, an earlier clock was ahead: `orgkernel store fix-dates` restarts the terms of such rows",
            )


def _check_audit(store: Store) -> Lines:
    from orgkernel.operations.upkeep import describe_store, verify

    rows = describe_store(store).rows["audit"]
    if rows > _MAX_ROWS:
        yield "ok", f"{format_count(rows, 'row')}, too many to verify here; `orgkernel audit verify` does", ""
        return
    verification = verify(store)
    for each in verification.findings[:_MAX_SHOWN]:
        yield "problem", each.message, "run `orgkernel audit verify`"
    if (more := max(0, len(verification.findings) - _MAX_SHOWN) + verification.more_findings) > 0:
        yield "problem", f"{format_count(more, 'more finding')}", "run `orgkernel audit verify`"
    if verification.accepted:
        yield (
            "warning",
            f"{format_count(len(verification.accepted), 'finding')} accepted",
            "run `orgkernel audit verify`",
        )
    if not verification.findings:
        number = sum(each.rows for each in verification.open)
        still_open = f", {number:,} still open" if number else ""
        yield "ok", f"{format_count(verification.rows, 'row')}, unchanged{still_open}", ""


def _check_keys(store: Store, has_keys: list[bool]) -> Lines:
    from orgkernel.operations.keys import list_expiring_keys, list_unbound_keys

    now = time.time()
    keys = [key for key in store.keys.list() if key.is_active(now)]
    has_keys.append(bool(keys))
    for key in list_expiring_keys(store, now):
        yield (
            "warning",
            f"the key {quote(key.name)} ({key.key_id}) expires at {show_time(key.expires_at)}",
            "replace it with `orgkernel key rotate`",
        )
    for key in list_unbound_keys(store, now)[:_MAX_SHOWN]:
        yield (
            "warning",
            f"the key {quote(key.name)} ({key.key_id}) names no organization, so it is good for none",
            f"state its organization with `orgkernel key bind {key.key_id} --org ORG`, or revoke it",
        )
    if keys:
        admins = sum("admin" in key.scopes for key in keys)
        yield "ok", f"{format_count(len(keys), 'valid API key')}, {admins} with all scopes", ""
    else:
        yield (
            "ok",
            "no valid API key: only callers on loopback are answered, and nothing can be changed over HTTP",
            "",
        )


def _check_certificates(store: Store) -> Lines:
    from orgkernel.operations.certificates import list_ending_certificates

    ending = list_ending_certificates(store, time.time())
    for each in ending[:_MAX_SHOWN]:
        yield (
            "warning",
            f"the certificate of {quote(each.agent_id)} in {quote(each.org_id)} ends at {each.expires_at}",
            f"issue a new one with `orgkernel agent renew-certificate {each.agent_id}`",
        )
    if len(ending) > _MAX_SHOWN:
        more = format_count(len(ending) - _MAX_SHOWN, "more certificate")
        yield (
            "warning",
            f"{more} of agents within 30 days of the end",
            "`orgkernel agent renew-certificate` renews one",
        )


def _shorten_path(path: str, folder: str) -> str:
    """A path relative to the folder, if the path is inside it."""
    inside = os.path.relpath(path, folder) if os.path.isabs(path) else path
    return path if inside.startswith("..") else inside
