"""Baselines on disk: read whole, replaced whole, and never in the place of something else."""

from __future__ import annotations

import os
from collections.abc import Mapping

from orgkernel.diagnostics.baseline import HELP, Entry, parse_baseline, render_baseline
from orgkernel.diagnostics.wording import quote
from orgkernel.errors import BadBaseline
from orgkernel.loading.files import SUFFIXES, read_text
from orgkernel.project.replacing import replace_file
from orgkernel.snapshots.roots import Request


def read_baseline(path: str) -> dict[Entry, int]:
    """The baseline in a file. Raises `BadBaseline` for one that cannot be read or is none."""
    source = read_text(path, path)
    if source.refusal:
        raise BadBaseline(f"the baseline {quote(path)} cannot be used: {source.refusal.message}", HELP)
    return parse_baseline(source.text, path)


def find_baseline(path: str, request: Request) -> dict[Entry, int]:
    """What a baseline that is about to be written holds so far; nothing where there is none.

    Raises `BadBaseline` for a file that is something else, and for one that would be checked as a document.
    """
    name, full = os.path.basename(path), os.path.abspath(path)
    is_document = name.endswith(SUFFIXES) and not name.startswith(".")
    if is_document and any(is_within(full, root.path) for root in request.roots):
        raise BadBaseline(
            f"the baseline {quote(path)} would be checked as a document",
            f"begin its name with a dot: {quote(f'.{name}')}",
        )
    return read_baseline(path) if os.path.lexists(path) else {}


def write_baseline(path: str, baseline: Mapping[Entry, int]) -> None:
    """Replace the file at once: whoever reads it sees the old one or the new one. Raises `BadBaseline`."""
    try:
        replace_file(os.path.realpath(path), render_baseline(baseline).encode())
    except (OSError, ValueError) as error:
        reason = (getattr(error, "strerror", None) or "its name cannot be used").lower()
        raise BadBaseline(f"the baseline {quote(path)} cannot be written: {reason}") from None


def is_within(path: str, folder: str) -> bool:
    """Whether a full path is a folder, or below it."""
    return path == folder or path.startswith(f"{folder.rstrip(os.sep)}{os.sep}")
