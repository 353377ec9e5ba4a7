"""The wheel is complete: it brings its ontology and templates, and works where the sources are not."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

from tests.support.hosts import make_host
from tests.support.trees import REPOSITORY


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from a copy of what the build reads, so that nothing is left in the repository."""
    sources = tmp_path_factory.mktemp("sources")
    for name in ("orgkernel", "manifest_api", "ontology", "templates", "extension"):
        shutil.copytree(REPOSITORY / name, sources / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(REPOSITORY / name, sources / name)
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", "dist"],
        cwd=sources,
        check=True,
        capture_output=True,
    )
    (built,) = (sources / "dist").glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel unpacked by pip into a folder of its own."""
    target = tmp_path_factory.mktemp("installed")
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--target", str(target), str(wheel)],
        check=True,
        capture_output=True,
    )  # fmt: skip
    return target


def run_installed(installed: Path, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the installed command away from the sources; the editable install of this environment is not on the path."""
    return run_program(
        installed,
        folder,
        "sys.argv = ['orgkernel', *sys.argv[2:]]\nfrom orgkernel.cli import main\nmain()",
        *arguments,
    )


def run_program(
    installed: Path, folder: Path, program: str, *arguments: str
) -> subprocess.CompletedProcess[str]:
    """Run a program with the installed package, away from the sources."""
    libraries = f"{installed}{os.pathsep}{sysconfig.get_paths()['purelib']}"
    check = "import sys, orgkernel\nassert orgkernel.__file__.startswith(sys.argv[1]), orgkernel.__file__\n"
    return subprocess.run(
        [sys.executable, "-S", "-c", check + program, str(installed), *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": libraries},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_wheel_holds_what_the_package_ships(wheel: Path) -> None:
    """Every document of the ontology and the templates, the schemas and the typing markers."""
    names = set(zipfile.ZipFile(wheel).namelist())
    for folder in ("ontology", "templates", "extension"):
        for path in (
            each for each in (REPOSITORY / folder).rglob("*.*") if each.parent.name != "__pycache__"
        ):
            assert f"orgkernel/_data/{path.relative_to(REPOSITORY)}" in names
    assert {"orgkernel/py.typed", "manifest_api/py.typed", "orgkernel/exchange/opa/policy.rego"} <= names
    assert {
        "orgkernel/state/migrations/env.py",
        "orgkernel/state/migrations/versions/v0001_first_tables.py",
    } <= names
    assert not [name for name in names if name.startswith(("tests/", "docs/"))]


def test_the_wheel_shows_the_page(wheel: Path, installed: Path, tmp_path: Path) -> None:
    """The built page is inside and is served from there, without its sources and without what builds it."""
    names = {name for name in zipfile.ZipFile(wheel).namelist() if name.startswith("manifest_api/page/")}
    built = REPOSITORY / "manifest_api" / "page" / "built"
    assert names == {f"manifest_api/page/built/{each.name}" for each in built.iterdir()}
    done = run_program(
        installed,
        tmp_path,
        "from starlette.testclient import TestClient\nfrom manifest_api import create_app\nfrom orgkernel import Kernel\n"
        "client = TestClient(create_app(Kernel.open()), client=('127.0.0.1', 1), base_url='http://localhost')\n"
        "print([client.get(path).status_code for path in ('/', '/page/page.js', '/page/page.css')])",
    )
    assert done.stdout == "[200, 200, 200]\n", done.stderr


def test_the_installed_command_checks_what_came_with_it(installed: Path, tmp_path: Path) -> None:
    """From a folder that has nothing to do with it."""
    done = run_installed(installed, tmp_path, "check", "--shipped", "--fail-on", "info")
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert done.stderr.startswith("no findings in 6 organizations, 42 roles, ")


def test_the_installed_command_installs_the_extension(installed: Path, tmp_path: Path) -> None:
    """The installer finds the runtime in the package it came with."""
    root = make_host(tmp_path, "G3")
    done = run_installed(installed, tmp_path, "host", "install", "--agent-zero", str(root))
    assert done.returncode == 0, done.stderr
    done = run_installed(installed, tmp_path, "host", "activate", "software_dev", "--agent-zero", str(root))
    assert done.returncode == 0, done.stderr
    done = run_installed(installed, tmp_path, "host", "status", "--agent-zero", str(root))
    assert done.stdout.startswith("activation:     on: an organization is active\n"), done.stdout


def test_the_installed_templates_and_ontology_are_those_of_the_wheel(installed: Path, tmp_path: Path) -> None:
    """A template is copied from there, and what the copy is checked against is read there."""
    data = installed / "orgkernel" / "_data"
    with (data / "templates" / "blank" / "org.yaml").open("a", encoding="utf-8") as file:
        file.write("# from the wheel\n")
    domains = data / "ontology" / "domains.yaml"
    text = domains.read_text(encoding="utf-8")
    domains.write_text(
        text.replace("\naliases:\n", "\naliases:\n  only_in_the_wheel: codegen\n"), encoding="utf-8"
    )
    assert run_installed(installed, tmp_path, "new", "mine").returncode == 0
    assert (tmp_path / "mine" / "org.yaml").read_text(encoding="utf-8").endswith("# from the wheel\n")
    asked = run_installed(
        installed, tmp_path, "dispatch", "only_in_the_wheel", "--org", "blank", "--path", "mine"
    )
    assert asked.stdout.startswith("only_in_the_wheel → co (Commanding Officer)\n"), asked.stderr
