"""`orgkernel site`: write a copy of the page that needs no server."""

from __future__ import annotations

import os

import click

from orgkernel.cli.opening import add_path_options, cache_option, find_cache, open_kernel, read_as, save
from orgkernel.diagnostics.wording import listing, printable, quote
from orgkernel.diff.report import ChangeReport
from orgkernel.errors import UsageError
from orgkernel.kernel.kernel import Kernel
from orgkernel.kernel.settings import find_project
from orgkernel.project.compare import compare_trees

_FOLDERS = ("data", "page")


@click.command("site")
@click.argument("folder", metavar="DIR")
@add_path_options
@click.option(
    "--against",
    metavar="REV",
    help="Also show what changed since this tree: a folder, or `git:REV` as in `orgkernel diff`.",
)
@cache_option
def command(folder: str, paths: tuple[str, ...], against: str | None, no_cache: bool) -> None:
    """Write a read-only copy of the page to DIR: organizations, roles, agents, bills, findings, and changes since a revision.

    It needs no server: open `index.html`, or put DIR on any static host. It has what the documents declare, for every
    reader of the files, and nothing from a store. DIR is created. An existing folder is only changed if it is empty, or if it
    is an earlier copy; other files in it stay.
    """
    from manifest_api.site import MARK, build_site, list_surplus  # the server is imported where it is used

    _require_own(folder, MARK)
    kernel = open_kernel(paths, no_cache=no_cache)
    reports = {} if against is None else _compare(kernel, against, paths, no_cache)
    files = build_site(kernel, reports)
    try:
        for name in _FOLDERS:
            os.makedirs(os.path.join(folder, name), exist_ok=True)
        for name in list_surplus(os.listdir(os.path.join(folder, "data")), files):
            os.remove(os.path.join(folder, name))
        # The page comes last, so that a reader of an earlier copy never sees a page without its answers.
        for name in sorted(files, key=lambda name: name == "index.html"):
            _write(os.path.join(folder, name), files[name])
    except OSError as error:
        raise UsageError(
            f"{quote(folder)} cannot be written: {error.strerror}", "choose another folder"
        ) from None
    click.echo(f"wrote a copy of {listing(kernel.state.served)} to {printable(folder)}")
    click.echo(f"  {printable(os.path.join(folder, 'index.html'))} shows it in a browser")
    save(kernel)


def _require_own(folder: str, mark: str) -> None:
    """Raise `UsageError` for a folder with files of something else, and for one behind a link."""
    if not os.path.lexists(folder):
        return
    page = os.path.join(folder, "index.html")
    places = [folder, page, *(os.path.join(folder, name) for name in _FOLDERS)]
    if link := next((each for each in places if os.path.islink(each)), None):
        raise UsageError(f"{quote(link)} is a link", "choose another folder")
    if not os.path.isdir(folder):
        raise UsageError(f"{quote(folder)} is not a folder", "choose another name")
    if not os.listdir(folder):
        return
    try:
        with open(page, encoding="utf-8") as file:
            is_own = mark in file.read(1_000)
    except (OSError, UnicodeDecodeError):
        is_own = False
    if not is_own:
        raise UsageError(
            f"{quote(folder)} has files of something else", "choose an empty folder, or a new name"
        )


def _compare(
    kernel: Kernel, against: str, paths: tuple[str, ...], no_cache: bool
) -> dict[str, tuple[str, ChangeReport]]:
    """The changes of every served organization since a tree."""
    if len(paths) > 1:
        raise UsageError("`--against` compares with one path", "pass one `--path`")
    project = find_project(os.getcwd())
    cache = find_cache(project, no_cache)
    new = paths[0] if paths else None if against.startswith("git:") else os.getcwd()
    reports = {}
    for org_id in kernel.state.served:
        comparison = compare_trees(against, new, project, os.getcwd(), org_id, read_as(), cache)
        reports[org_id] = (against, comparison.report)
    return reports


def _write(path: str, content: bytes) -> None:
    """Replace a file as a whole. A link in its place is replaced, and not followed."""
    temporary = f"{path}.new"
    if os.path.lexists(temporary):
        os.remove(temporary)
    with open(temporary, "xb") as file:
        file.write(content)
    os.replace(temporary, path)
