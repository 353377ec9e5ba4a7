"""`orgkernel new DIR`: a copy of a template that its user can edit."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from tests.cli.running import run as run_process
from tests.support.in_process import run_here as run
from tests.support.trees import TEMPLATES

NAMES = ("blank", "sigint_alpha", "software_dev")


@pytest.mark.parametrize("template", NAMES)
def test_a_copy_passes_check_and_its_own_cases_from_its_folder(tmp_path: Path, template: str) -> None:
    """What one starts from has no finding, and the answers its author expects."""
    done = run("new", "mine", "--template", template, cwd=tmp_path)
    assert done.returncode == 0
    checked = run("check", "--fail-on", "info", cwd=tmp_path / "mine")
    assert (checked.returncode, checked.stdout) == (0, "")
    if (tmp_path / "mine" / "cases.yaml").exists():
        tested = run("test", "cases.yaml", cwd=tmp_path / "mine")
        assert (tested.returncode, tested.stdout) == (0, "")
        assert tested.stderr.endswith(" passed, 0 failed\n")


def test_every_file_is_listed_and_what_to_do_next_is_said(tmp_path: Path) -> None:
    """The paths are data, the advice is talk; the advice works as it stands."""
    done = run("new", "mine", "--template", "blank", cwd=tmp_path)
    assert done.stdout == "mine/org.yaml\nmine/roles/co.yaml\n"
    advice = [line.split() for line in done.stderr.splitlines() if line.startswith("  orgkernel ")]
    assert [words[1] for words in advice] == ["check", "graph"]
    for words in advice:
        assert run(*words[1:], cwd=tmp_path).returncode == 0


def test_the_template_is_blank_unless_named(tmp_path: Path) -> None:
    """The smallest organization is the default."""
    run("new", "mine", cwd=tmp_path)
    assert sorted(path.name for path in (tmp_path / "mine").rglob("*.yaml")) == ["co.yaml", "org.yaml"]


@pytest.mark.parametrize("template", NAMES)
def test_a_copy_differs_from_the_template_only_in_its_editor_hints(tmp_path: Path, template: str) -> None:
    """Comments, order and spacing are those of the template."""
    run("new", "mine", "--template", template, cwd=tmp_path)
    for original in (TEMPLATES / template).rglob("*.yaml"):
        copy = tmp_path / "mine" / original.relative_to(TEMPLATES / template)
        assert (
            copy.read_text(encoding="utf-8").split("\n")[1:]
            == original.read_text(encoding="utf-8").split("\n")[1:]
        )


@pytest.mark.parametrize("template", NAMES)
def test_editor_hints_point_to_schemas_that_exist(tmp_path: Path, template: str) -> None:
    """Every file begins with a modeline, and the schema it names lies there and is the one of its kind."""
    run("new", "mine", "--template", template, cwd=tmp_path)
    for path in (tmp_path / "mine").rglob("*.yaml"):
        first, *_ = path.read_text(encoding="utf-8").split("\n")
        match = re.fullmatch(r"# yaml-language-server: \$schema=(\S+)", first)
        assert match, path
        schema = json.loads((path.parent / match[1]).read_text(encoding="utf-8"))
        kind = re.search(r"^_schema: orgkernel:(\w+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
        assert kind
        assert schema["title"] == f"orgkernel {kind[1]}"


def test_an_existing_empty_folder_is_filled(tmp_path: Path) -> None:
    """`mkdir x && cd x && orgkernel new .` works."""
    done = run("new", ".", cwd=tmp_path)
    assert done.returncode == 0
    assert (tmp_path / "org.yaml").exists()


@pytest.mark.parametrize("content", ["notes.txt", ".hidden", "sub"])
def test_a_folder_that_holds_something_is_refused_and_left_alone(tmp_path: Path, content: str) -> None:
    """Nothing of the user's is ever mixed with a template."""
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / content).mkdir() if content == "sub" else (folder / content).write_text("keep me")
    done = run("new", "mine", cwd=tmp_path)
    assert done.returncode == 2
    assert (
        done.stderr == "error: `mine` is not an empty folder\nhelp: pass the name of a new or empty folder\n"
    )
    assert os.listdir(folder) == [content]


def test_a_file_is_refused_and_left_alone(tmp_path: Path) -> None:
    """The name is taken, whatever by."""
    (tmp_path / "mine").write_text("keep me")
    (tmp_path / "loop").symlink_to("loop")
    for name in ("mine", "loop"):
        assert run("new", name, cwd=tmp_path).returncode == 2
    assert (tmp_path / "mine").read_text() == "keep me"


def test_an_unknown_template_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    """With the names there are; a path is not a name."""
    done = run("new", "mine", "--template", "software_dv", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr == "error: there is no template `software_dv`\nhelp: did you mean `software_dev`?\n"
    for name in ("../templates/blank", "/etc", ".", ""):
        assert run("new", "mine", "--template", name, cwd=tmp_path).returncode == 2
    assert not (tmp_path / "mine").exists()


def test_a_failure_leaves_nothing_behind(tmp_path: Path) -> None:
    """Whether the folder cannot be made at all, or writing stops half way: no file, no new folder."""
    (tmp_path / "file").write_text("")
    done = run("new", "file/deep/mine", cwd=tmp_path)
    assert done.returncode == 2
    assert "cannot be written: not a directory" in done.stderr
    # Schemas are written last: a full disk there must take back the documents and the folders above them, too.
    hook = tmp_path / "hook"
    hook.mkdir()
    (hook / "sitecustomize.py").write_text(
        "import errno, orgkernel.project.scaffold as s\n"
        "def full(schema): raise OSError(errno.ENOSPC, 'No space left on device')\n"
        "s.render_schema = full\n"
    )
    done = run_process("new", "a/b/mine", cwd=tmp_path, env={"PYTHONPATH": str(hook)})
    assert done.returncode == 2
    assert done.stderr == "error: `a/b/mine` cannot be written: no space left on device\n"
    (tmp_path / "empty").mkdir()
    assert run_process("new", "empty", cwd=tmp_path, env={"PYTHONPATH": str(hook)}).returncode == 2
    assert sorted(os.listdir(tmp_path)) == ["empty", "file", "hook"]
    assert os.listdir(tmp_path / "empty") == []


@pytest.mark.parametrize("arguments", [(), ("role",), ("a", "b"), ("role", "a", "b"), ("role", "a")])
def test_other_shapes_of_the_command_are_explained(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    """A folder called `role` cannot be meant by accident."""
    done = run("new", *arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert os.listdir(tmp_path) == []


def test_a_folder_name_that_would_drive_the_terminal_is_written_out(tmp_path: Path) -> None:
    """Escape characters in an argument are shown, not sent."""
    (tmp_path / "\x1b[31m").write_text("")
    done = run("new", "\x1b[31m", cwd=tmp_path)
    assert done.returncode == 2
    assert "\x1b" not in done.stderr
