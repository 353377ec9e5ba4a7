"""The files of an upgrade. All are read and upgraded in memory first, then each is replaced in one step."""

from __future__ import annotations

import codecs
import hashlib
import os
from collections.abc import Iterator, Sequence

from orgkernel.diagnostics.wording import listing, quote
from orgkernel.errors import NothingToRead, UsageError
from orgkernel.loading.files import Root, find_files, read_text
from orgkernel.project.replacing import replace_file
from orgkernel.project.upgrade import FileUpgrade, upgrade_source
from orgkernel.snapshots.roots import Request


def plan_upgrades(request: Request, folder: str) -> list[FileUpgrade]:
    """The upgrade of every orgkernel document in the request. Raises `NothingToRead` if there is none."""
    found: list[FileUpgrade] = []
    seen: set[str] = set()
    for asked in sorted(request.asked):
        root = Root(os.path.normpath(os.path.join(folder, asked)), asked)
        for path, name in find_files(root):
            real = os.path.realpath(path)
            if real in seen:
                continue
            seen.add(real)
            upgrade = upgrade_source(read_text(path, name), named=path == root.path)
            if upgrade is not None:
                found.append(upgrade)
    if not found:
        raise NothingToRead(
            "nothing to upgrade: no orgkernel documents there", "pass a file or a folder of documents"
        )
    return found


def byte_order_mark(upgrade: FileUpgrade) -> str:
    """The byte order mark at the start of a file, or an empty text."""
    with open(upgrade.source.path, "rb") as file:
        return "\ufeff" if file.read(3) == codecs.BOM_UTF8 else ""


def write_upgrades(upgrades: Sequence[FileUpgrade]) -> Iterator[FileUpgrade]:
    """Write the changed files and yield each one. Raises `UsageError` at the first that cannot be written."""
    written: list[str] = []
    for upgrade in upgrades:
        if not upgrade.is_changed:
            continue
        try:
            _write(upgrade)
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            done = f"already rewritten: {listing(written)}" if written else "nothing was rewritten"
            raise UsageError(f"{quote(upgrade.source.name)} cannot be rewritten: {reason}", done) from None
        written.append(upgrade.source.name)
        yield upgrade


def _write(upgrade: FileUpgrade) -> None:
    """Replace a file in one step, through links, and keep its mode. Readers see the old or the new text."""
    target = os.path.realpath(upgrade.source.path)
    with open(target, "r+b") as file:  # replacing the file would not check that it is writable
        content = file.read()
    if hashlib.sha256(content).hexdigest() != upgrade.source.digest:
        raise OSError("the file has changed since it was read")
    mark = codecs.BOM_UTF8 if content.startswith(codecs.BOM_UTF8) else b""
    replace_file(target, mark + upgrade.text.encode())
