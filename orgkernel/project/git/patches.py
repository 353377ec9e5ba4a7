"""The secrets in the patches that git prints. Also the light start of the hooks of git reads patches here."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from orgkernel.runtime.secret_shapes import UNSEARCHED, find_secrets
from orgkernel.runtime.token_shapes import find_refused, find_runs

# An attribute of the repository could hide a file as binary, and a setting could color or rename it.
PATCH: Final = (
    "-p", "-U0", "--text", "--no-color", "--no-ext-diff", "--no-textconv", "--no-renames", "--no-relative", "--src-prefix=a/",
    "--dst-prefix=b/", "--ignore-submodules=none",
)  # fmt: skip
PLAIN_PATHS: Final = ("-c", "core.quotePath=false")


class AddedSecret(NamedTuple):
    """A secret in an added line, or in the message of a commit."""

    place: str
    """The file and the line, or the commit."""
    what: str
    shown: str
    """A form of it that may be shown."""


def find_in_patch(patch: bytes) -> Iterator[AddedSecret]:
    """The secrets in the added lines of a patch that git prints with the options `PATCH`."""
    path, line, added, columns = "", 0, list[str](), 0

    def search() -> Iterator[AddedSecret]:
        for number, what, shown in find_in_text("\n".join(added)):
            yield AddedSecret(f"{path}:{line + number}", what, shown)

    for each in patch.split(b"\n"):
        if each.startswith((b"@@", b"diff ")):
            yield from search()
            added.clear()
            columns = 0
            if each.startswith(b"@@"):
                columns = len(each) - len(each.lstrip(b"@")) - 1
                line = int(each.rpartition(b"+")[2].split(b" ")[0].split(b",")[0] or 0)
        elif columns == 0 and each.startswith(b"+++ "):
            path = each[4:].decode("utf-8", "replace").strip('"').removeprefix("b/")
        elif columns and b"+" in each[:columns] and b"-" not in each[:columns]:
            added.append(each[columns:].decode("utf-8", "replace"))
    yield from search()


def find_in_text(text: str) -> Iterator[tuple[int, str, str]]:
    """The secrets of a text: the number of lines before each, its kind, and a form that may be shown."""
    for secret in find_secrets(text):
        if secret.what == UNSEARCHED:
            # A long file, such as one that is generated: tokens that are known by their form are found in any length.
            for start, _, what in find_refused(text, find_runs(text)):
                yield text.count("\n", 0, start), what, "…"
            return
        yield text.count("\n", 0, secret.start), secret.what, secret.masked
