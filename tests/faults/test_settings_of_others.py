"""Settings that another user owns or may write to: settings that grant something are ignored."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from orgkernel.errors import BadProject
from orgkernel.kernel.settings import find_project
from orgkernel.kernel.stored import locate_store
from tests.cli.running import SHOP
from tests.support.in_process import run_here
from tests.support.trees import write_tree

SETTINGS = """store = "theirs.db"
checkpoints = "theirs"
[oidc]
issuer = "https://id.example"
audience = "orgkernel"
jwks = "jwks.json"
[a2a]
url = "https://agents.example"
public_url = "https://org.example"
"""


def open_to_all(path: Path) -> None:
    """Let every user write a file."""
    path.chmod(0o666)


def open_to_group(path: Path) -> None:
    """Let a group write a file that is not the user's own."""
    if os.getuid() != 0:
        pytest.skip("only the administrator can give files to a group")
    os.chown(path, -1, 12345)
    path.chmod(0o664)


def give_away(path: Path) -> None:
    """Make another user the owner."""
    if os.getuid() != 0:
        pytest.skip("only the administrator can give files away")
    os.chown(path, 12345, 12345)


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A project whose settings name a store and an issuer of tokens."""
    return write_tree(tmp_path / "shop", {**SHOP, "orgkernel.toml": SETTINGS})


@pytest.mark.parametrize("expose", [open_to_all, open_to_group, give_away])
def test_what_others_grant_is_refused(expose: Callable[[Path], None], shop: Path) -> None:
    """The store and the issuer of tokens are refused with a remedy; checking the documents goes on."""
    find_project(str(shop)).require_own("store")
    expose(shop / "orgkernel.toml")
    project = find_project(str(shop))
    for setting in ("store", "oidc", "checkpoints", "a2a"):
        with pytest.raises(BadProject, match=f"`{setting}` is ignored, because"):
            project.require_own(setting)
    with pytest.raises(BadProject):
        locate_store(project, str(shop), environment={})
    assert locate_store(project, str(shop), "mine.db", {}).path == str(shop / "mine.db")
    for command in (
        ("grant", "list"),
        ("key", "list"),
        ("serve", "--port", "0"),
        ("serve", "--store", "mine.db"),
    ):
        done = run_here(*command, cwd=shop)
        assert done.returncode == 2, done
        assert "is ignored, because another user owns the file or can write to it" in done.stderr
    assert run_here("check", cwd=shop).returncode == 0
    assert not (shop / "theirs.db").exists()


def test_a_group_of_the_user_alone_may_write(shop: Path) -> None:
    """Where every user has such a group, new files are often made so."""
    if os.getuid() != os.getgid():
        pytest.skip("the user has no group of that number")
    os.chown(shop / "orgkernel.toml", -1, os.getgid())
    (shop / "orgkernel.toml").chmod(0o664)
    find_project(str(shop)).require_own("store")


def test_settings_that_grant_nothing_are_obeyed(shop: Path) -> None:
    """Paths and severities apply regardless of who can write the settings, because they only change what is checked and
    reported.
    """
    (shop / "orgkernel.toml").write_text('paths = ["."]\nactive = "shop"\n')
    open_to_all(shop / "orgkernel.toml")
    project = find_project(str(shop))
    for setting in ("store", "oidc", "toolbox"):
        project.require_own(setting)
    assert project.active == "shop"
    assert locate_store(project, str(shop), environment={}).path
