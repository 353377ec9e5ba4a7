"""Writes SALUTE reports to the place that the specification requires ("Schema 2: SALUTE Report", "File Location").
Only this module of the runtime touches files.

The files are `<role_id>_latest.json`, and `archive/<role_id>_<time>.json` with the time in UTC to the microsecond, so
the names of a role sort by time. A number is appended if the name is taken. An unsafe character is written as `%XX`,
so a role id never leads out of the folder.

A report is written to a temporary file in the same folder, flushed to disk and renamed, so a reader sees either the old
report or the whole new one. A copy in the archive never replaces another. The temporary file of a name is created
exclusively, and only its creator may use the name, so two processes in the same microsecond get two names.

Nothing here raises. A full or read-only disk is a `problem` in words, because a host must not stop for a report.
The folder itself is not flushed: a power cut may lose the newest report, but never leaves half of one.

Standard library only: this module also runs inside hosts.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Iterable
from typing import Final, NamedTuple

from .regular_files import read_regular
from .salute_format import Report, ReportError, read_report
from .utc import as_exact_utc, as_seconds

ARCHIVE: Final = "archive"
"""Folder for the copies, below the folder of the latest reports."""
KEEP_SECONDS: Final = 3_600.0
"""How long copies are kept. The specification allows older ones to be removed."""
TEMPORARY: Final = ".tmp"

_UNSAFE: Final = re.compile(r"[^A-Za-z0-9_-]")
_ARCHIVED: Final = re.compile(r"\.?[A-Za-z0-9_%-]+_\d{8}T\d{6}\.\d{6}Z(?:-\d+)?\.json(?:\.tmp)?", re.ASCII)


def build_latest_name(role_id: str) -> str:
    """The file with the newest report of a role.

    >>> build_latest_name("co"), build_latest_name("../co")
    ('co_latest.json', '%2E%2E%2Fco_latest.json')
    """
    return f"{_build_stem(role_id)}_latest.json"


def build_archive_name(report: Report, sequence: int = 0) -> str:
    """The file with the copy of a report. `sequence` is above 0 if earlier names are taken."""
    seconds = as_seconds(report["time"]["timestamp"])
    moment = (as_exact_utc(seconds or 0.0) or "").replace("-", "").replace(":", "")
    number = f"-{sequence}" if sequence else ""
    return f"{_build_stem(report['unit']['role_id'])}_{moment}{number}.json"


def is_archive_name(name: str) -> bool:
    """Whether a file is such a copy or its leftover temporary file."""
    return _ARCHIVED.fullmatch(name) is not None


def find_stale_archives(
    names_with_times: Iterable[tuple[str, float]], now: float, keep_seconds: float = KEEP_SECONDS
) -> list[str]:
    """Copies older than `keep_seconds` by file time, oldest name first. Other files are never included."""
    return sorted(
        name for name, written in names_with_times if is_archive_name(name) and now - written > keep_seconds
    )


def _build_stem(role_id: str) -> str:
    return _UNSAFE.sub(
        lambda match: "".join(f"%{byte:02X}" for byte in match[0].encode("utf-8", "replace")), role_id
    )


LARGEST_FILE: Final = 1_000_000
"""Maximum size of a report in bytes. A normal report has a few thousand."""
_MAX_NAMES: Final = 1_000
"""Maximum number of copies of one role with the same microsecond."""


class Written(NamedTuple):
    """The paths of a report's files, None for a file that could not be written, and the problem."""

    latest: str | None
    archived: str | None
    problem: str = ""


class Removed(NamedTuple):
    """The number of removed copies, and the problem, if any."""

    copies: int
    problem: str = ""


def write_report(folder: str, report: Report) -> Written:
    """Write a report as the latest of its role, and a copy to the archive. Missing folders are created."""
    try:
        data = (
            json.dumps(report, ensure_ascii=False, allow_nan=False, indent=2).encode("utf-8", "replace")
            + b"\n"
        )
    except (TypeError, ValueError) as error:
        return Written(None, None, f"the report cannot be written as JSON: {error}")
    archive = os.path.join(folder, ARCHIVE)
    archived = latest = None
    problem = ""
    try:
        os.makedirs(archive, exist_ok=True)
        archived = _put(archive, None, report, data)
    except (OSError, ValueError) as error:
        problem = _describe_error(archive, error)
    # Readers look at the latest report only, so it is written even if the archive cannot be written.
    try:
        latest = _put(folder, build_latest_name(report["unit"]["role_id"]), report, data)
    except (OSError, ValueError) as error:
        problem = problem or _describe_error(folder, error)
    return Written(latest, archived, problem)


def _put(folder: str, final: str | None, report: Report, data: bytes) -> str:
    """Write the data under `final`, replacing it, or under the first free archive name. Raises `OSError`."""
    for sequence in range(_MAX_NAMES):
        name = build_archive_name(report, sequence)
        temporary = os.path.join(folder, f".{name}{TEMPORARY}")
        try:
            handle = os.open(
                temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666
            )
        except FileExistsError:
            continue  # another process uses this name, or died while it did
        path = os.path.join(folder, final or name)
        try:
            with os.fdopen(handle, "wb") as file:
                # INVARIANT: only the process that created the temporary file may take the name.
                is_taken = final is None and os.path.lexists(path)
                if not is_taken:
                    file.write(data)
                    file.flush()
                    os.fsync(file.fileno())
            if not is_taken:
                os.replace(temporary, path)
                return path
            os.unlink(temporary)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise
    raise FileExistsError(f"{_MAX_NAMES} copies already have this timestamp")


def remove_stale(folder: str, now: float, keep_seconds: float = KEEP_SECONDS) -> Removed:
    """Remove copies older than `keep_seconds`, and their leftover temporary files. No other file is removed."""
    count, problem = 0, ""
    for place, suffix in ((os.path.join(folder, ARCHIVE), ""), (folder, TEMPORARY)):
        try:
            with os.scandir(place) as entries:
                archives = [
                    (entry.name, entry.stat(follow_symlinks=False).st_mtime)
                    for entry in entries
                    if entry.name.endswith(suffix)
                ]
        except FileNotFoundError:
            continue
        except OSError as error:
            problem = problem or _describe_error(place, error)
            continue
        for name in find_stale_archives(archives, now, keep_seconds):
            try:
                os.unlink(os.path.join(place, name))
                count += 1
            except FileNotFoundError:
                pass  # another process removed it first
            except OSError as error:
                problem = problem or _describe_error(place, error)
    return Removed(count, problem)


def read_latest(folder: str, role_id: str) -> tuple[Report | None, str]:
    """The latest report of a role and the problem with it. Both are empty if the role has not reported."""
    path = os.path.join(folder, build_latest_name(role_id))
    try:
        data = read_regular(path, LARGEST_FILE + 1)
    except FileNotFoundError:
        return None, ""
    except OSError as error:
        return None, _describe_error(path, error)
    if len(data) > LARGEST_FILE:
        return None, f"{path}: larger than {LARGEST_FILE} bytes"
    try:
        return read_report(json.loads(data)), ""
    except ReportError as error:
        return None, f"{path}: {error}"
    except (ValueError, RecursionError):
        return None, f"{path}: not JSON"


def _describe_error(path: str, error: Exception) -> str:
    return f"{path}: {error.strerror if isinstance(error, OSError) and error.strerror else error}"
