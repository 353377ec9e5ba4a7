"""Read and write baseline files. Writing never replaces a file that is not a baseline."""

from __future__ import annotations

import os

from orgkernel.diagnostics.baseline import HELP, Allowed, Baseline, Entry, parse_baseline, render_baseline
from orgkernel.diagnostics.wording import quote
from orgkernel.errors import BadBaseline
from orgkernel.loading.files import SUFFIXES, is_within, read_text
from orgkernel.project.replacing import replace_file
from orgkernel.snapshots.roots import Request


def read_baseline(path: str) -> dict[Entry, Allowed]:
    """Read a baseline file. Raises `BadBaseline` if it cannot be read or is not a baseline."""
    source = read_text(path, path)
    if source.problem:
        raise BadBaseline(f"the baseline {quote(path)} cannot be used: {source.problem.message}", HELP)
    return parse_baseline(source.text, path)


def find_baseline(path: str, request: Request) -> dict[Entry, Allowed]:
    """The current content of a baseline that will be written, empty if the file does not exist.

    Raises `BadBaseline` if the file is not a baseline or would be checked as a document.
    """
    name, full = os.path.basename(path), os.path.abspath(path)
    is_document = name.endswith(SUFFIXES) and not name.startswith(".")
    if is_document and any(is_within(full, root.path) for root in request.roots):
        raise BadBaseline(
            f"the baseline {quote(path)} would be checked as a document",
            f"start its name with a dot: {quote(f'.{name}')}",
        )
    return read_baseline(path) if os.path.lexists(path) else {}


def write_baseline(path: str, baseline: Baseline) -> None:
    """Replace the file in one step, so readers see the old or the new one. Raises `BadBaseline`."""
    try:
        replace_file(os.path.realpath(path), render_baseline(baseline).encode())
    except (OSError, ValueError) as error:
        reason = (getattr(error, "strerror", None) or "the file name is not valid").lower()
        raise BadBaseline(f"the baseline {quote(path)} cannot be written: {reason}") from None
