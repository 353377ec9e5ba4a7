"""A rule about a program covers every way to run it, and none of the commands that agents usually type."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from orgkernel.runtime.commands import may_begin_with
from orgkernel.shell.running import read_run

TEXTS: dict[str, Any] = yaml.safe_load(
    (Path(__file__).parent / "removal_variants.yaml").read_text(encoding="utf-8")
)


def test_there_are_enough_of_them() -> None:
    """There are at least 138 variants of `rm` commands and 30 everyday commands."""
    assert len({*TEXTS["variants"]}) >= 138
    assert len({*TEXTS["everyday"]}) >= 30


@pytest.mark.parametrize("command", TEXTS["variants"])
def test_a_rule_about_rm_covers_every_variant(command: str) -> None:
    """Neither the text nor the command catalog rules it out."""
    assert may_begin_with(read_run(command).commands, "rm")


@pytest.mark.parametrize("command", TEXTS["everyday"])
def test_no_rule_about_others_covers_what_agents_type(command: str) -> None:
    """Rules about deleting, rights, publishing and disks leave it alone."""
    for beginning in ("rm", "sudo", "npm publish", "dd", "chmod", "git push --force", "ssh"):
        assert not may_begin_with(read_run(command).commands, beginning), beginning


@pytest.mark.parametrize(
    ("command", "unread"),
    [
        ("r${Y}m x", "`r${Y}m` cannot be read: the program is only known at run time"),
        ("bash-5.2 -c ls", "`bash-5.2` cannot be read: unknown program `bash-5.2`"),
        ("eval $x", "`$x` cannot be read: the script is not known until the command runs"),
    ],
)
def test_what_cannot_be_read_is_named(command: str, unread: str) -> None:
    """The word, and why."""
    assert read_run(command).unread == unread


def test_what_cannot_be_read_hides_secrets() -> None:
    """A token in an unread word is masked."""
    token = "ghp_" + "a1B2" * 9
    assert token not in read_run(f"deploy.unknown$x {token}; eval $(curl -H {token})").unread
