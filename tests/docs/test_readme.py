"""The README shows what really happens: its commands are run and their output compared."""

from __future__ import annotations

import doctest
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.trees import REPOSITORY, change_line

README = (REPOSITORY / "README.md").read_text(encoding="utf-8")
ORGKERNEL = Path(sys.executable).with_name("orgkernel")


def console_blocks(text: str) -> Iterator[tuple[str, str]]:
    """Each command of the console blocks, with the output shown below it."""
    for block in re.findall(r"```console\n(.*?)```", text, re.DOTALL):
        yield from re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A folder that looks like the repository from where the README's commands are run."""
    for name in ("ontology", "templates", "orgkernel.toml"):
        (tmp_path / name).symlink_to(REPOSITORY / name)
    return tmp_path


def test_commands_print_what_is_shown(checkout: Path) -> None:
    """Every `orgkernel` command of the README prints exactly what stands below it, where something does."""
    ran = []
    for command, shown in console_blocks(README):
        if not command.startswith("orgkernel "):
            continue
        if "enginering_xo" in shown:
            role = checkout / "my_org/roles/codegen_specialist.yaml"
            change_line(role, "  reports_to: engineering_xo", "  reports_to: enginering_xo")
        done = subprocess.run(
            [ORGKERNEL, *shlex.split(command)[1:]], cwd=checkout, capture_output=True, text=True, check=False
        )
        assert "Traceback" not in done.stderr
        if "enginering_xo" in shown:
            change_line(role, "  reports_to: enginering_xo", "  reports_to: engineering_xo")
        if shown:
            assert (done.stdout.rstrip() or done.stderr.rstrip()) == shown.rstrip(), command
        else:
            assert done.returncode == 0, done.stderr
        ran.append(command)
    assert len(ran) >= 7


def test_python_does_what_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """The Python block of the README runs as shown."""
    monkeypatch.chdir(REPOSITORY)
    examples = doctest.DocTestParser().get_doctest(
        "".join(re.findall(r"```python\n(.*?)```", README, re.DOTALL)), {}, "README", "README.md", 0
    )
    assert examples.examples
    outcome = doctest.DocTestRunner().run(examples)
    assert outcome.failed == 0


def test_links_lead_somewhere() -> None:
    """Every relative link in the documentation names a file that exists."""
    pages = [REPOSITORY / "README.md", REPOSITORY / "CONTRIBUTING.md", *(REPOSITORY / "docs").rglob("*.md")]
    missing = [
        f"{page.relative_to(REPOSITORY)}: {link}"
        for page in pages
        for link in re.findall(r"\]\(([^)#:\s]+)\)", page.read_text(encoding="utf-8"))
        if not (page.parent / link).exists()
    ]
    assert missing == []
