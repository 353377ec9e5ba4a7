"""`orgkernel upgrade`: what is printed, what is written, and what happens when it cannot be."""

from __future__ import annotations

import errno
import os
import shutil
import stat
import subprocess
from pathlib import Path
from unittest import mock

import pytest

from orgkernel.project import upgrade
from tests.cli.running import SHOP
from tests.cli.running import run as run_process
from tests.support.in_process import run_here as run
from tests.support.trees import TEMPLATES, write_tree

DEV = """\
# The one who writes.
_schema: orgkernel:role_profile   # kept
role_id: dev
description: Writes code.
pace_plan:
  alternate: {action: narrow_scope, trigger: "failures >= 3"}  # kept, too
  contingent:
    action: narrow_scope
    trigger: >-
      context_usage > 0.85
"""
NEW_DEV = DEV.replace("# kept\n", '# kept\n_version: "1.0"\n').replace(
    "failures", "consecutive_tool_failures"
)
BY_HAND = (
    "upgrade by hand: the trigger uses `context_usage`, and it is written with escapes or over several lines; "
    "write `context_fill` instead\n"
)


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """An organization that is up to date but for one role."""
    current = {name: text.replace("profile\n", 'profile\n_version: "1.0"\n') for name, text in SHOP.items()}
    return write_tree(tmp_path / "shop", current | {"roles/dev.yaml": DEV, "package.json": "{}"})


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_line_per_file_says_what_was_changed_and_where(shop: Path) -> None:
    """In the file as it is now; what is left is talk, and nothing else was touched."""
    before = contents(shop)
    done = run_process("upgrade", cwd=shop)
    assert done.returncode == 0
    assert done.stdout == (
        "roles/dev.yaml: 3:1 adds `_version` `1.0`; "
        "7:47 writes `consecutive_tool_failures` instead of `failures`\n"
    )
    assert done.stderr == f"roles/dev.yaml:10:14: {BY_HAND}1 file rewritten, 3 unchanged\n"
    assert contents(shop) == before | {"roles/dev.yaml": NEW_DEV.encode()}
    again = run("upgrade", "--check", cwd=shop)
    assert (again.returncode, again.stdout) == (0, "")
    assert again.stderr.endswith("0 files would be rewritten, 4 unchanged\n")


def test_check_writes_nothing_and_fails_when_something_would_change(shop: Path) -> None:
    """The places are those of the file as it is."""
    before = contents(shop)
    done = run("upgrade", "--check", cwd=shop)
    assert done.returncode == 1
    assert done.stdout == (
        "roles/dev.yaml: 2:41 adds `_version` `1.0`; "
        "6:47 writes `consecutive_tool_failures` instead of `failures`\n"
    )
    assert done.stderr == f"roles/dev.yaml:9:14: {BY_HAND}1 file would be rewritten, 3 unchanged\n"
    assert contents(shop) == before


@pytest.mark.parametrize("head", ["", "\ufeff"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_the_diff_is_a_patch(shop: Path, head: str, end: str) -> None:
    """Applied to the old files it gives the new ones, byte for byte; nothing is written."""
    path = shop / "roles/dev.yaml"
    path.write_bytes((head + DEV.replace("\n", end)).encode())
    before = contents(shop)
    subprocess.run(["git", "init", "-q", "."], cwd=shop, check=True)
    for arguments, code in (("--diff",), 0), (("--diff", "--check"), 1):
        done = run("upgrade", "roles", *arguments, cwd=shop)
        assert done.returncode == code
    assert done.stdout.startswith("--- roles/dev.yaml\n+++ roles/dev.yaml\n@@ ")
    assert {name: text for name, text in contents(shop).items() if name in before} == before
    subprocess.run(["git", "apply", "-p0", "-"], input=done.stdout.encode(), cwd=shop, check=True)
    assert path.read_bytes() == (head + NEW_DEV.replace("\n", end)).encode()


def test_mode_links_and_the_byte_order_mark_are_kept(shop: Path) -> None:
    """A link stays a link, and what it leads to is written once."""
    path, link = shop / "roles/dev.yaml", shop / "linked.yaml"
    path.write_bytes(b"\xef\xbb\xbf" + DEV.encode())
    path.chmod(0o640)
    link.symlink_to("roles/dev.yaml")
    done = run("upgrade", "linked.yaml", "roles", cwd=shop)
    assert (done.returncode, done.stdout.count("\n")) == (0, 1)
    assert link.is_symlink()
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert path.read_bytes() == b"\xef\xbb\xbf" + NEW_DEV.encode()


@pytest.mark.parametrize(
    ("call", "error"),
    [("os.fsync", errno.ENOSPC), ("os.replace", errno.EACCES), ("builtins.open", errno.EROFS)],
)
def test_a_failure_stops_and_says_what_was_rewritten_before_it(shop: Path, call: str, error: int) -> None:
    """A full disk, a folder that may not be written: nothing is left behind, every file is old or new."""
    write_tree(shop, {"roles/eve.yaml": DEV.replace("dev", "eve")})
    real = {"os.fsync": os.fsync, "os.replace": os.replace, "builtins.open": open}[call]
    calls = 0

    def failing(*arguments: object, **options: object) -> object:
        nonlocal calls
        if call == "builtins.open" and arguments[1:] != ("xb",):
            return real(*arguments, **options)
        calls += 1
        if calls == 2:
            raise OSError(error, os.strerror(error))
        return real(*arguments, **options)

    before = contents(shop)
    with mock.patch(call, failing):
        done = run("upgrade", cwd=shop)
    assert done.returncode == 2
    assert done.stdout.startswith("roles/dev.yaml: 3:1 adds")
    assert done.stderr == (
        f"error: `roles/eve.yaml` cannot be rewritten: {os.strerror(error).lower()}\n"
        "help: already rewritten: `roles/dev.yaml`\n"
    )
    assert contents(shop) == before | {"roles/dev.yaml": NEW_DEV.encode()}


@pytest.mark.parametrize("error", [errno.EACCES, errno.EROFS])
def test_a_file_that_may_not_be_written_is_not_replaced(shop: Path, error: int) -> None:
    """Although its folder would allow it."""

    def refusing(path: object, mode: str = "r", *arguments: object, **options: object) -> object:
        if mode == "r+b":
            raise OSError(error, os.strerror(error))
        return real(path, mode, *arguments, **options)

    real, before = open, contents(shop)
    with mock.patch("builtins.open", refusing):
        done = run("upgrade", cwd=shop)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        f"error: `roles/dev.yaml` cannot be rewritten: {os.strerror(error).lower()}\n"
        "help: nothing was rewritten\n"
    )
    assert contents(shop) == before


def test_an_edit_made_meanwhile_is_not_lost(shop: Path) -> None:
    """What was computed is for the text that was read."""
    path = shop / "roles/dev.yaml"
    real = upgrade.write_upgrades

    def late(upgrades: object) -> object:
        path.write_text(DEV + "# more\n", encoding="utf-8")
        return real(upgrades)

    with mock.patch("orgkernel.cli.author.upgrade.write_upgrades", late):
        done = run("upgrade", cwd=shop)
    assert done.returncode == 2
    assert "the file has changed since it was read" in done.stderr
    assert path.read_text(encoding="utf-8") == DEV + "# more\n"


def test_a_broken_file_is_named_and_the_others_are_rewritten(shop: Path) -> None:
    """`orgkernel check` has more to say about it."""
    write_tree(shop, {"roles/bad.yaml": "_schema: orgkernel:role_profile\nrole_id: a\nrole_id: b\n"})
    done = run("upgrade", ".", cwd=shop)
    assert (done.returncode, done.stdout.count("\n")) == (0, 1)
    assert "roles/bad.yaml: not upgraded: the key `role_id` is already on line 2\n" in done.stderr


def test_only_what_is_named_is_rewritten(shop: Path) -> None:
    """A role is not a reason to rewrite its organization; without a path, orgkernel.toml says where to look."""
    org = (shop / "org.yaml").read_text(encoding="utf-8").replace('_version: "1.0"\n', "")
    write_tree(shop, {"org.yaml": org, "orgkernel.toml": 'paths = ["org.yaml"]\n'})
    done = run("upgrade", "dev.yaml", cwd=shop / "roles")
    assert done.stdout.startswith("dev.yaml: ")
    assert (shop / "org.yaml").read_text(encoding="utf-8") == org
    assert run("upgrade", "--check", cwd=shop / "roles").stdout.startswith(f"{shop}/org.yaml: 1:32 adds")


def test_there_has_to_be_something_of_ours(tmp_path: Path) -> None:
    """As for `check`."""
    for path in (".", "missing"):
        done = run("upgrade", path, cwd=tmp_path)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith("error: ")


def test_what_ships_is_up_to_date(tmp_path: Path) -> None:
    """Every template, copied or where it lies."""
    shutil.copytree(TEMPLATES, tmp_path / "templates")
    for path in (tmp_path / "templates", TEMPLATES):
        done = run("upgrade", path, "--check", cwd=tmp_path)
        assert (done.returncode, done.stdout) == (0, ""), done.stdout
