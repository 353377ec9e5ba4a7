"""HTTP clients that others generate from `/openapi.json` of a running server: the pages that show it are followed."""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.docs.shown import Command, Reader, steps_of
from tests.support.trees import REPOSITORY

_ENVIRONMENT = REPOSITORY / ".venv" / "clients"
_LOCKS = REPOSITORY / "requirements"
_INSTALLS = re.compile(r"(?:python -m pip|npm) install (.*)")
_CALLS = re.compile(r"\.(?:sync|GET|POST)\(")


class ClientReader(Reader):
    """A reader who has the generators already, in the versions of the locks."""

    def _run(self, step: Command) -> None:
        installation = _INSTALLS.fullmatch(step.text)
        if installation is None:
            super()._run(step)
            return
        names = [re.sub(r"(?<=.)@.*", "", word) for word in shlex.split(installation[1])]
        assert set(names) <= locked_packages()
        packages = self.folder / "node_modules"
        if step.text.startswith("npm"):
            packages.symlink_to(_ENVIRONMENT / "node_modules")

    def _environment(self) -> Mapping[str, str]:
        environment = super()._environment()
        path = f"{_ENVIRONMENT / 'bin'}{os.pathsep}{environment['PATH']}"
        return {**environment, "PATH": path, "npm_config_update_notifier": "false"}


def locked_packages() -> set[str]:
    """The names of the packages that are pinned with a hash, of both registries."""
    python = re.findall(
        r"^([\w-]+)==\S+ ", (_LOCKS / "clients.lock").read_text(encoding="utf-8"), re.MULTILINE
    )
    lock = json.loads((_LOCKS / "clients" / "package-lock.json").read_text(encoding="utf-8"))
    node = [
        name.removeprefix("node_modules/") for name, row in lock["packages"].items() if row.get("integrity")
    ]
    return {*python, *node}


@pytest.mark.parametrize("language", [pytest.param("python", marks=pytest.mark.nightly), "typescript"])
def test_a_generated_client_compiles_and_makes_ten_calls(language: str, tmp_path: Path) -> None:
    """The commands of a page generate a client, its strict types fit ten calls, and the calls print what is shown."""
    if not _ENVIRONMENT.exists():
        pytest.skip("the generators of HTTP clients are not installed: run `make .venv/clients.stamp`")
    text = (REPOSITORY / f"docs/how-to/http-client-{language}.md").read_text(encoding="utf-8")
    assert (
        sum(len(_CALLS.findall(each.text)) for each in steps_of(text) if not isinstance(each, Command)) == 10
    )
    ClientReader(tmp_path).follow(text)


@pytest.mark.nightly
def test_a_call_that_does_not_fit_is_not_compiled(tmp_path: Path) -> None:
    """The compiler refuses a number for a domain, so a page that compiles shows that the types of bodies are checked."""
    if not _ENVIRONMENT.exists():
        pytest.skip("the generators of HTTP clients are not installed: run `make .venv/clients.stamp`")
    text = (REPOSITORY / "docs/how-to/http-client-typescript.md").read_text(encoding="utf-8")
    assert 'domain: "osint"' in text
    with pytest.raises(AssertionError, match="'number' is not assignable to type 'string'"):
        ClientReader(tmp_path).follow(text.replace('domain: "osint"', "domain: 7"))
