"""The container, the compose file and the unit of the system: what they start is started here as they say it.

That they also start in a container is tested by `.ci/container`, which needs docker.
"""

from __future__ import annotations

import configparser
import json
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import tempfile
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from pathspec import GitIgnoreSpec

from tests.api.running import until
from tests.cli.running import ORGKERNEL
from tests.support.in_process import run_here
from tests.support.patience import PATIENCE
from tests.support.trees import REPOSITORY, copy_template
from tests.support.yaml_text import read_yaml_file

DEPLOY = REPOSITORY / "deploy"
CONTAINER = (DEPLOY / "Containerfile").read_text(encoding="utf-8").replace("\\\n", " ")
COMPOSE = read_yaml_file(DEPLOY / "compose.yaml")
SERVE = COMPOSE["services"]["serve"]
UNIT = DEPLOY / "orgkernel.service"


def instructions(name: str) -> list[str]:
    """What follows an instruction of the last stage."""
    stage = CONTAINER.rpartition("\nFROM ")[2]
    return re.findall(rf"(?m)^{name} +(.*)$", stage)


def started() -> list[str]:
    """The command of the container."""
    return [*json.loads(instructions("ENTRYPOINT")[0]), *json.loads(instructions("CMD")[0])]


def unit() -> dict[str, str]:
    parser = configparser.ConfigParser(strict=False, interpolation=None)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read(UNIT, encoding="utf-8")
    return dict(parser["Service"])


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        return int(found.getsockname()[1])


class Place:
    """The folders of the files, in a place of their own."""

    def __init__(self, folder: Path) -> None:
        self.state = folder / "state"
        self.organizations = folder / "organizations"
        self.log = folder / "log"
        self.port = free_port()
        self.organizations.mkdir()
        copy_template(self.organizations, "blank")
        self.state.mkdir(mode=0o700)

    def here(self, words: list[str]) -> list[str]:
        """A command with the paths and the port of this machine."""
        moved = {"/srv/organizations": str(self.organizations), "/etc/orgkernel/organizations": str(self.organizations),
                 "8000": str(self.port), "orgkernel": ORGKERNEL, "/opt/orgkernel/bin/orgkernel": ORGKERNEL}  # fmt: skip
        return [moved.get(word, word.replace(":8000/", f":{self.port}/")) for word in words]

    def run(self, *words: str, **env: str) -> subprocess.CompletedProcess[str]:
        """Run a command as the server runs, until it ends."""
        return subprocess.run(
            self.here(list(words)), cwd=self.state, env=self._env(env), capture_output=True, text=True, check=False,
            timeout=PATIENCE,
        )  # fmt: skip

    def call(self, *words: str, **env: str) -> subprocess.CompletedProcess[str]:
        """Run `orgkernel` as the server runs, without a process of its own."""
        return run_here(*self.here(list(words))[1:], cwd=self.state, env=env)

    @contextmanager
    def serving(self, words: list[str], **env: str) -> Iterator[subprocess.Popen[str]]:
        """Run a command that serves."""
        with (
            self.log.open("w") as log,
            subprocess.Popen(
                self.here(words), cwd=self.state, env=self._env(env), stdout=log, stderr=log, text=True
            ) as process,
        ):  # fmt: skip
            try:
                until(
                    self.log.read_text, lambda said: "Stop with Ctrl-C." in said or process.poll() is not None
                )
                yield process
            finally:
                process.kill()

    def ask(self, path: str, key: str = "") -> int:
        """The status of an answer."""
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}")
        if key:
            request.add_header("Authorization", f"Bearer {key}")
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
                return int(answer.status)
        except urllib.error.HTTPError as error:
            with error:
                return error.code

    def _env(self, more: dict[str, str]) -> dict[str, str]:
        # No HOME, no cache: as in the container.
        return {"PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1", "PYTHONUNBUFFERED": "1", **more}


@pytest.fixture
def place() -> Iterator[Place]:
    with tempfile.TemporaryDirectory(prefix="orgkernel-deploy-") as folder:
        yield Place(Path(folder))


def test_the_container_and_the_compose_file_serve_with_postgresql(
    place: Place, empty_postgres_place: Any
) -> None:
    """The container refuses to start without a key; with one it is healthy, refuses callers without a key, and ends with
    0 on SIGTERM.
    """
    command = started()
    assert SERVE["command"] == command[1:]
    stated = SERVE["environment"]["ORGKERNEL_STORE"]
    assert re.fullmatch(r"postgresql://\w+@database/\w+", stated)
    env = {"ORGKERNEL_STORE": empty_postgres_place.url.replace("postgresql+psycopg://", "postgresql://")}
    refused = place.call(*command, **env)
    assert refused.returncode == 2
    assert "orgkernel key create --admin" in refused.stderr
    made = place.call("orgkernel", "key", "create", "--admin", **env)
    assert made.returncode == 0, made.stderr
    looked = place.call("orgkernel", "doctor", "--host", "0.0.0.0", "--path", "/srv/organizations", **env)
    assert looked.returncode == 0, looked.stdout + looked.stderr
    assert "is up to date and uses" in looked.stdout
    (health,) = re.findall(r"CMD (\[.*\])", instructions("HEALTHCHECK")[0])
    assert place.run(*json.loads(health)).returncode != 0  # nothing listens yet
    with place.serving(command, **env) as process:
        assert place.run(*json.loads(health)).returncode == 0, place.log.read_text()
        assert place.ask("/v1/orgs/blank", made.stdout.strip()) == 200
        process.send_signal(signal.SIGTERM)
        until(lambda: place.ask("/readyz"), lambda status: status == 503)
        assert place.run(*json.loads(health)).returncode != 0  # it drains
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == 0
    # The root can be read only: there are the checkpoints of the audit, and nothing else was written.
    assert [path.name for path in place.state.iterdir()] == [".orgkernel"]
    assert {path.name for path in place.state.parent.iterdir()} == {"state", "organizations", "log"}


def test_the_container_has_no_rights_and_a_lock() -> None:
    """Its user is a number, only its folder is written, and what it installs is verified by hashes."""
    (user,) = instructions("USER")
    assert re.fullmatch(r"[1-9]\d+:[1-9]\d+", user)
    assert instructions("WORKDIR") == instructions("VOLUME") == ["/var/lib/orgkernel"]
    assert "--require-hashes" in CONTAINER
    for copied in re.findall(r"(?m)^COPY (?!--from)(.+) \S+$", CONTAINER):
        assert all((REPOSITORY / each).exists() for each in copied.split())
    assert SERVE["read_only"] is True
    assert SERVE["cap_drop"] == ["ALL"]
    assert SERVE["security_opt"] == ["no-new-privileges:true"]
    assert all(volume.endswith((":ro", ":/var/lib/orgkernel")) for volume in SERVE["volumes"])
    assert all(port.startswith("127.0.0.1:") for port in SERVE["ports"])
    assert COMPOSE["networks"]["inside"]["internal"] is True
    assert COMPOSE["services"]["database"]["networks"] == ["inside"]


def test_everything_is_installed_with_hashes() -> None:
    """Packages come with the hashes of a lock file. `docs/threat-model.md` names the exceptions."""
    texts = {
        name: (REPOSITORY / name).read_text(encoding="utf-8")
        for name in ("Makefile", "action.yml", "deploy/Containerfile")
    }
    texts |= {path.name: path.read_text(encoding="utf-8") for path in (REPOSITORY / ".github").rglob("*.yml")}
    texts |= {path.name: path.read_text(encoding="utf-8") for path in sorted((REPOSITORY / ".ci").iterdir())}
    lines = [line for text in texts.values() for line in text.replace("\\\n", " ").splitlines()]
    installing = [
        line
        for line in lines
        if re.search(
            r"\b(?:(?:pip|pipx|uv|npm|go|cargo|gem) (?:pip )?(?:install|sync|add)|(?:npx|uvx)\b)", line
        )
    ]
    assert len(installing) > 5
    own = ("--require-hashes", "--no-deps", "--package-lock-only")
    assert [line.split()[1:6] for line in installing if not any(each in line for each in own)] == [
        ["-m", "pip", "install", "--quiet", "uv"],
    ]
    from_npm = [line for line in lines if re.search(r"\bnpm (?!run\b)[a-z]", line)]
    assert len(from_npm) >= 6
    assert [line for line in from_npm if "--ignore-scripts" not in line] == []
    assert [
        line for line in from_npm if not re.search(r"\bnpm (?:ci|install --package-lock-only) ", line)
    ] == []


def test_packages_of_npm_have_versions_and_hashes() -> None:
    """Each lock file has the exact version of everything that is named, and a hash of every package."""
    locks = sorted((REPOSITORY / "requirements").glob("*/package-lock.json"))
    assert len(locks) == len(list((REPOSITORY / "requirements").glob("*/package.json"))) > 5
    for lock in locks:
        packages = json.loads(lock.read_text(encoding="utf-8"))["packages"]
        stated = packages.pop("")
        assert (
            json.loads((lock.parent / "package.json").read_text(encoding="utf-8")).items()
            >= {
                group: stated[group] for group in ("dependencies", "devDependencies") if group in stated
            }.items()
        )
        named = {**stated.get("dependencies", {}), **stated.get("devDependencies", {})}
        assert named
        assert [version for version in named.values() if not re.fullmatch(r"\d+\.\d+\.\d+\S*", version)] == []
        assert [
            name for name, each in packages.items() if not each.get("integrity", "").startswith("sha512-")
        ] == [], lock


def test_no_secret_beside_the_sources_gets_into_a_layer() -> None:
    """The build sees what git knows of the folders that it copies, and no store, key or environment in them."""
    ignored = GitIgnoreSpec.from_lines(
        (REPOSITORY / ".dockerignore").read_text(encoding="utf-8").splitlines()
    )
    copied = [
        each for line in re.findall(r"(?m)^COPY (?!--from)(.+) \S+$", CONTAINER) for each in line.split()
    ]
    tracked = subprocess.run(
        ["git", "ls-files", *copied],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=True,
        timeout=PATIENCE,
    ).stdout.splitlines()
    assert len(tracked) > 1_000
    assert [name for name in tracked if ignored.match_file(name)] == []
    for folder in (each for each in copied if (REPOSITORY / each).is_dir()):
        for secret in (
            ".orgkernel/state.db", ".orgkernel/state.db.audit/key", "shop/.orgkernel/state.db.audit/identities/shop/organization.key",
            ".env", "shop/.env.local", "shop/card.pem", "shop/state.db", "shop/state.db.audit/key", ".git/config",
        ):  # fmt: skip
            assert ignored.match_file(f"{folder}/{secret}"), secret
    for name in (
        ".git/config",
        ".venv/bin/python",
        ".orgkernel/state.db",
        "deploy/.env",
        "tests/conftest.py",
        "orgkernel.toml",
    ):
        assert ignored.match_file(name), name
    assert re.findall(r"(?m)^COPY (.+)$", CONTAINER.rpartition("\nFROM ")[2]) == [
        "--from=build /opt/orgkernel /opt/orgkernel"
    ]
    assert not re.search(r"(?mi)^(ARG|ENV) .*(secret|token|passw|key)", CONTAINER)
    assert not re.search(r"(?m)^ADD ", CONTAINER)


def test_no_password_is_in_the_files() -> None:
    """It comes from `.env`, and without one nothing starts."""
    for service in COMPOSE["services"].values():
        for name, value in service["environment"].items():
            assert "PASSWORD" not in name or re.fullmatch(r"\$\{\w+:\?.*\}", value)


def test_the_unit_serves_reloads_and_ends(place: Place) -> None:
    """What systemd is told to start."""
    service = unit()
    assert service["WorkingDirectory"] == f"/var/lib/{service['StateDirectory']}"
    assert service["User"] != "root"
    assert service["ExecReload"] == "/bin/kill -HUP $MAINPID"
    words = shlex.split(service["ExecStart"])
    with place.serving([*words, "--port", "8000"]) as process:
        assert place.ask("/readyz") == 200, place.log.read_text()
        for each in place.organizations.rglob("*.yaml"):
            each.unlink()
        process.send_signal(signal.SIGHUP)
        until(lambda: place.ask("/v1/orgs/blank"), lambda status: status == 404)
        process.send_signal(signal.SIGTERM)
        until(lambda: place.ask("/readyz"), lambda status: status == 503)
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == 0
    assert int(service["TimeoutStopSec"]) > int(words[words.index("--drain") + 1]) + 5


def test_the_unit_is_what_systemd_reads(tmp_path: Path) -> None:
    """Where systemd is installed, it verifies the unit, and grades how far it is locked in."""
    text = UNIT.read_text(encoding="utf-8")
    names = re.findall(r"(?m)^(\w+)=", text)
    assert not {name for name in names if names.count(name) > 1} - {"SystemCallFilter"}
    if shutil.which("systemd-analyze") is None:
        return
    program = tmp_path / "orgkernel"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    copy = tmp_path / "orgkernel.service"
    copy.write_text(text.replace("/opt/orgkernel/bin/orgkernel", str(program)))
    for command in (["verify", "--man=no"], ["security", "--offline=true", "--threshold=20", "--no-pager"]):
        done = subprocess.run(
            ["systemd-analyze", *command, copy], capture_output=True, text=True, check=False, timeout=PATIENCE
        )
        assert done.returncode == 0, done.stdout + done.stderr
        assert "orgkernel.service:" not in done.stderr, done.stderr


def test_the_script_that_starts_the_container_is_sound() -> None:
    """It cannot be run here, so at least a checker of shell scripts has nothing to say."""
    script = REPOSITORY / ".ci/container"
    assert os.access(script, os.X_OK)
    checker = Path(ORGKERNEL).with_name("shellcheck")
    done = subprocess.run([checker, script], capture_output=True, text=True, check=False, timeout=PATIENCE)
    assert done.returncode == 0, done.stdout
