"""The file names of SALUTE reports (specification, "Schema 2: SALUTE Report", "File Location").

`<role_id>_latest.json`, and `archive/<role_id>_<time>.json` with the time in UTC to the microsecond, so that the names
of a role sort by time. A number follows if the name is taken. An unsafe character is written `%XX`, so a role id never
leads out of the folder.

Standard library only: this module also runs inside hosts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from .salute_format import Report
from .utc import as_exact_utc, as_seconds

ARCHIVE: Final = "archive"
"""Folder of the copies, below the folder of the latest reports."""
KEEP_SECONDS: Final = 3_600.0
"""How long copies are kept. The specification allows removing older ones."""
TEMPORARY: Final = ".tmp"

_UNSAFE: Final = re.compile(r"[^A-Za-z0-9_-]")
_ARCHIVED: Final = re.compile(r"\.?[A-Za-z0-9_%-]+_\d{8}T\d{6}\.\d{6}Z(?:-\d+)?\.json(?:\.tmp)?", re.ASCII)


def latest_name(role_id: str) -> str:
    """The file with the newest report of a role.

    >>> latest_name("co"), latest_name("../co")
    ('co_latest.json', '%2E%2E%2Fco_latest.json')
    """
    return f"{_stem(role_id)}_latest.json"


def archive_name(report: Report, sequence: int = 0) -> str:
    """The file with the copy of a report. `sequence` is above 0 if the name before it is taken."""
    seconds = as_seconds(report["time"]["timestamp"])
    moment = (as_exact_utc(seconds or 0.0) or "").replace("-", "").replace(":", "")
    number = f"-{sequence}" if sequence else ""
    return f"{_stem(report['unit']['role_id'])}_{moment}{number}.json"


def is_archive_name(name: str) -> bool:
    """Whether a file is such a copy or its leftover temporary file."""
    return _ARCHIVED.fullmatch(name) is not None


def stale_archives(
    names_with_times: Iterable[tuple[str, float]], now: float, keep_seconds: float = KEEP_SECONDS
) -> list[str]:
    """Copies older than `keep_seconds` by file time, oldest name first. Other files are never named."""
    return sorted(
        name for name, written in names_with_times if is_archive_name(name) and now - written > keep_seconds
    )


def _stem(role_id: str) -> str:
    return _UNSAFE.sub(
        lambda found: "".join(f"%{byte:02X}" for byte in found[0].encode("utf-8", "replace")), role_id
    )
