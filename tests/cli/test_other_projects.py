"""Without a path, a command never adopts documents of a folder above that is no project of ours."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.cli.running import SHOP
from tests.support.in_process import run_here as run
from tests.support.trees import write_tree

THEIRS = {
    "theirs.yaml": "_schema: orgkernel:tool_catalog\ntools:\n  memory_load:\n    type: computer_use\n    enabled: false\n",
    "roles/dev.yaml": SHOP["roles/dev.yaml"].replace("memory_load", "wait"),
    "roles/boss.yaml": "_schema: orgkernel:role_profile\nrole_id: boss\n",
    "skills/x/SKILL.md": "---\nname: x\ndescription: Somebody else's.\n---\nDo it.\n",
    "site.yaml": "- hosts: all\n  roles: [dev]\n",
}
"""In the folder above: an older trial, and things of other programs."""
NEVER = ("theirs.yaml", "boss", "skills/x")
COMMANDS = (
    ("check", "--format", "json"),
    ("manifest", "--format", "json"),
    ("why", "role:dev", "use", "tool:memory_load", "--format", "json"),
    ("dispatch", "codegen", "--format", "json"),
    ("graph",),
    ("compile", "--agent-zero"),
    ("export", "--to", "cedar"),
    ("upgrade", "--check"),
    ("doctor",),
)


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """An organization in a folder of a folder of others."""
    write_tree(tmp_path, THEIRS)
    return write_tree(tmp_path / "shop", SHOP)


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_every_command_answers_as_if_the_folder_above_were_empty(
    command: tuple[str, ...], shop: Path
) -> None:
    """The same answer, and one note about what was not read."""
    done = (
        run(*command, "--no-cache", cwd=shop)
        if command[0] not in ("upgrade", "doctor")
        else run(*command, cwd=shop)
    )
    for name in NEVER:
        assert name not in done.stdout, done.stdout
    assert "also read" not in done.stderr
    for name in THEIRS:
        (shop.parent / name).unlink()
    alone = (
        run(*command, "--no-cache", cwd=shop)
        if command[0] not in ("upgrade", "doctor")
        else run(*command, cwd=shop)
    )
    assert (alone.returncode, alone.stdout) == (done.returncode, done.stdout)


def test_what_was_not_read_is_said_with_what_to_do(shop: Path) -> None:
    """Once, on standard error; a path given by hand reads it as before."""
    done = run("check", cwd=shop)
    assert "note: not read: `../roles`, `../theirs.yaml`, because" in done.stderr
    assert "put an orgkernel.toml there, or pass the paths" in done.stderr
    assert "4 files" in done.stderr
    assert "7 files" in run("check", ".", cwd=shop).stderr


@pytest.mark.parametrize("mark", ["orgkernel.toml", "pyproject.toml", ".git"])
def test_a_folder_above_that_is_marked_is_ours(mark: str, shop: Path) -> None:
    """By its settings, or because both lie in one repository."""
    above = shop.parent
    if mark == ".git":
        subprocess.run(["git", "init", "-q", above], check=True)
    else:
        head = "[tool.orgkernel]\n" if mark == "pyproject.toml" else ""
        (above / mark).write_text(f'{head}paths = ["shop"]\n', encoding="utf-8")
    done = run("why", "role:dev", "use", "tool:memory_load", "--format", "json", cwd=shop)
    assert json.loads(done.stdout)["outcome"] == "deny", done.stdout


def test_a_home_folder_with_a_repository_is_no_project(shop: Path) -> None:
    """People keep their settings in one, and all their projects below."""
    (shop.parent / ".git").mkdir()
    done = run("check", cwd=shop, env={"HOME": str(shop.parent)})
    assert "note: not read: " in done.stderr


@pytest.mark.skipif(
    not hasattr(os, "getuid") or os.getuid() != 0, reason="only the administrator can give files away"
)
def test_what_another_user_puts_above_is_not_obeyed(shop: Path) -> None:
    """Settings and a repository of another user in a folder above, as in a shared `/tmp`, are ignored."""
    above = shop.parent
    (above / "orgkernel.toml").write_text('paths = ["."]\n', encoding="utf-8")
    (above / ".git").mkdir()
    for name in ("orgkernel.toml", ".git"):
        os.chown(above / name, 12345, 12345)
    done = run("check", "--format", "json", cwd=shop)
    assert "reading" not in done.stderr
    assert "boss" not in done.stdout


def test_roles_of_an_organization_above_that_names_them_are_understood(tmp_path: Path) -> None:
    """Who stands in `roles/` stands in the organization above; a catalog alone says nothing of the kind."""
    shop = write_tree(tmp_path / "shop", SHOP)
    assert "no role" not in run("check", cwd=shop / "roles").stdout
    write_tree(tmp_path / "shop/lonely", {"domains.yaml": "_schema: orgkernel:domain_catalog\ndomains: {}\n"})
    assert "also read" not in run("check", cwd=tmp_path / "shop/lonely").stderr
