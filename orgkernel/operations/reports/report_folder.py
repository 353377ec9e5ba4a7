"""Read a folder of SALUTE reports that a host writes, without trusting its content.

`<role>_latest.json` and the copies in `archive/` (specification, "Schema 2"). Other users of the folder could put anything there: links, pipes,
and files that are huge, half written or replaced while they are read. So links are not
followed, only regular files are opened, and at most the size of a report is read.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import msgspec

from orgkernel.decisions.evidence.state_view import StoredReport
from orgkernel.diagnostics.wording import printable, quote
from orgkernel.errors import NothingToRead
from orgkernel.runtime.regular_files import FileIdentity, get_file_identity
from orgkernel.runtime.report_files import ARCHIVE
from orgkernel.runtime.salute_format import ReportError, read_report
from orgkernel.runtime.utc import as_seconds
from orgkernel.state.reports import MAX_REPORT_BYTES

REJECTED = "rejected"
"""Folder next to the reports for files that are not reports."""
_LATEST = "_latest.json"
_SUFFIX = ".json"
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class ReportFile(NamedTuple):
    """A file that could contain a report, as it was when the folder was listed."""

    name: str
    """Path within the folder, such as `archive/co_20270131T120000.000000Z.json`."""
    identity: FileIdentity
    """Identity of the content: device, inode, time of the last change and size."""


@dataclass(frozen=True, slots=True)
class NotAReport:
    """Why a file is not a report."""

    code: str
    """`LINK`, `TOO_LARGE`, `NOT_JSON`, `UNREADABLE`, or the code of a `ReportError`."""
    text: str


def list_reports(folder: str) -> list[ReportFile]:
    """Files that could be reports: copies first, oldest first, so they are collected in the order they were made.

    Raises `NothingToRead` if the folder does not exist.
    """
    with _open_folder(folder) as there:
        reports = list(_list(there, ""))
        with contextlib.suppress(OSError), _open_parent(there, f"{ARCHIVE}/") as (archive, _):
            reports += _list(archive, f"{ARCHIVE}/")
    return sorted(reports, key=lambda file: (file.name.endswith(_LATEST), file.identity[2], file.name))


def list_latest(folder: str) -> list[ReportFile]:
    """The latest report of each role only. Raises `NothingToRead`."""
    with _open_folder(folder) as there:
        return sorted(file for file in _list(there, "") if file.name.endswith(_LATEST))


def read_file(folder: str, file: ReportFile) -> dict[str, Any] | NotAReport | None:
    """The report in a file, or the reason why there is none. None if the file was replaced or removed in the meantime."""
    try:
        with _open_folder(folder) as there, _open_parent(there, file.name) as (parent, base):
            number = os.open(base, _FILE, dir_fd=parent)
        try:
            # The content belongs to the listed file only if its identity is the same before and after reading.
            before = os.fstat(number)
            content = _read(number) if stat.S_ISREG(before.st_mode) else b""
            is_same = get_file_identity(before) == get_file_identity(os.fstat(number)) == file.identity
        finally:
            os.close(number)
    except FileNotFoundError:
        return None
    except OSError as error:
        if error.errno == errno.ELOOP:
            return NotAReport("LINK", "links are not followed")
        return NotAReport("UNREADABLE", (error.strerror or "it cannot be read").lower())
    return parse_report(content) if is_same else None


def parse_report(content: bytes) -> dict[str, Any] | NotAReport:
    """The report in some bytes, or the reason why they are not a report."""
    if len(content) > MAX_REPORT_BYTES:
        return NotAReport("TOO_LARGE", f"the file is larger than {MAX_REPORT_BYTES} bytes")
    try:
        return read_report(msgspec.json.decode(content))
    except ReportError as error:
        return NotAReport(
            error.code, printable(f"{quote(error.where)} {error.text}" if error.where else error.text)
        )
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return NotAReport("NOT_JSON", "the file is not JSON")


def set_aside(folder: str, file: ReportFile) -> ReportFile | None:
    """Move a file to the folder for files that are not reports. None if it cannot be moved.

    The result differs from `file` if a host just replaced it: that file could be a report.
    """
    base = file.name.rpartition("/")[2]
    moved = f"{base}.{file.identity[2]}"
    try:
        with _open_folder(folder) as there, _open_parent(there, file.name) as (parent, _):
            with contextlib.suppress(FileExistsError):
                os.mkdir(REJECTED, dir_fd=there)
            with _open_parent(there, f"{REJECTED}/") as (rejected, _):
                if get_file_identity(os.stat(base, dir_fd=parent, follow_symlinks=False)) != file.identity:
                    return None
                os.rename(base, moved, src_dir_fd=parent, dst_dir_fd=rejected)
                status = os.stat(moved, dir_fd=rejected, follow_symlinks=False)
    except OSError:
        return None
    return ReportFile(f"{REJECTED}/{moved}", get_file_identity(status))


@contextlib.contextmanager
def _open_folder(folder: str) -> Iterator[int]:
    try:
        there = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        reason = (error.strerror or "it cannot be read").lower()
        raise NothingToRead(
            f"the folder {quote(folder)} cannot be read: {reason}",
            "pass the folder that a host writes its reports to, such as `usr/organizations/reports`",
        ) from None
    try:
        yield there
    finally:
        os.close(there)


@contextlib.contextmanager
def _open_parent(there: int, name: str) -> Iterator[tuple[int, str]]:
    """The open folder of a file, which must not be a link, and the file's name in it."""
    folder, slash, base = name.rpartition("/")
    if not slash:
        yield there, base
        return
    inner = os.open(folder, _FOLDER, dir_fd=there)
    try:
        yield inner, base
    finally:
        os.close(inner)


def _list(there: int, prefix: str) -> Iterator[ReportFile]:
    with os.scandir(there) as entries:
        for entry in entries:
            if entry.name.endswith(_SUFFIX) and not entry.name.startswith("."):
                with contextlib.suppress(OSError):
                    status = entry.stat(follow_symlinks=False)
                    if stat.S_ISREG(status.st_mode) or stat.S_ISLNK(status.st_mode):
                        yield ReportFile(f"{prefix}{entry.name}", get_file_identity(status))


def _read(number: int) -> bytes:
    """Read at most one byte more than the limit for a report."""
    parts: list[bytes] = []
    left = MAX_REPORT_BYTES + 1
    while left and (part := os.read(number, left)):
        parts.append(part)
        left -= len(part)
    return b"".join(parts)


def read_latest(folder: str) -> tuple[list[StoredReport], list[tuple[str, NotAReport]]]:
    """The latest report of each role in a folder, and the files that are not reports. Raises `NothingToRead`.

    A report counts as received when its file was written.
    """
    reports: list[StoredReport] = []
    unfit: list[tuple[str, NotAReport]] = []
    for number, file in enumerate(list_latest(folder), 1):
        report = read_file(folder, file)
        if isinstance(report, NotAReport):
            unfit.append((file.name, report))
        elif report is not None:
            written = file.identity[2] / 1e9
            unit, at = report["unit"], as_seconds(report["time"]["timestamp"]) or written
            reports.append(
                StoredReport(
                    number,
                    unit["organization"],
                    unit["role_id"],
                    "",
                    unit["agent_number"],
                    min(at, written),
                    written,
                    report["status"]["pace_level"],
                    report,
                )
            )
    return sorted(reports, key=lambda each: (each.org_id, each.role_id, each.agent_number)), unfit
