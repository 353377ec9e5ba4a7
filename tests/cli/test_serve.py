"""`orgkernel serve`: it says what to try, and what it says works."""

from __future__ import annotations

import json
import re
import shlex
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.cli.running import ORGKERNEL, SHOP
from tests.support.in_process import run_here as run
from tests.support.patience import PATIENCE
from tests.support.trees import copy_template, write_tree


@contextmanager
def serving(folder: Path, *arguments: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A server on a free port, and what it said until it was ready."""
    with subprocess.Popen(
        [ORGKERNEL, "serve", "--port", "0", *arguments], cwd=folder, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:  # fmt: skip
        said = ""
        assert process.stderr
        while "Stop with Ctrl-C." not in said:
            line = process.stderr.readline()
            assert line, said
            said += line
        try:
            yield process, said
        finally:
            process.kill()


def test_what_is_printed_to_try_works(tmp_path: Path) -> None:
    """Every `curl` that is shown answers with JSON; the first is one role's manifest; Ctrl-C ends it with 0."""
    copy_template(tmp_path, "software_dev")
    with serving(tmp_path) as (process, said):
        assert re.search(r"^serving software_dev on http://127\.0\.0\.1:\d+$", said, re.MULTILINE)
        commands = re.findall(r"^  (curl .*)$", said, re.MULTILINE)
        answers = [json.loads(subprocess.check_output(shlex.split(command))) for command in commands]
        assert answers[0]["role_id"] == "codegen_specialist"
        assert answers[1]["outcome"] == "role"
        process.send_signal(signal.SIGINT)
        rest, errors = process.communicate(timeout=PATIENCE)
    assert (process.returncode, rest) == (0, "")
    assert "Traceback" not in errors


def test_a_broken_organization_is_named_and_the_rest_is_served(tmp_path: Path) -> None:
    """Starting on a bad one is no reason not to start."""
    copy_template(tmp_path / "good", "blank")
    write_tree(
        tmp_path / "bad",
        SHOP | {"org.yaml": SHOP["org.yaml"].replace("org_name: Corner Shop", "org_name: []")},
    )
    with serving(tmp_path) as (_, said):
        assert re.search(r"^not served: shop has \d+ finding", said, re.MULTILINE)
        assert re.search(r"^serving blank on ", said, re.MULTILINE)
        (manifest,) = (line for line in said.splitlines() if "/roles/" in line)
        assert json.loads(subprocess.check_output(shlex.split(manifest)))["role_id"] == "co"


def test_the_log_is_json_from_the_first_to_the_last_line(tmp_path: Path) -> None:
    """What the server says, a reload and a request: each is an object, and only the request has an id."""
    copy_template(tmp_path, "blank")
    with subprocess.Popen(
        [ORGKERNEL, "serve", "--port", "0", "--access-log", "--log-format", "json"],
        cwd=tmp_path, stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stderr
        try:
            lines = [json.loads(process.stderr.readline())]
            found = re.search(r"^serving blank on (http://127[^ \n]+)$", lines[0]["message"])
            assert found
            subprocess.check_output(["curl", "-s", f"{found[1]}/v1/orgs?limit=1"])
            (tmp_path / "org.yaml").write_text(
                "_schema: orgkernel:organization\norg_id: blank\nhierarchy: {x: {}}\n"
            )
            while lines[-1]["logger"] != "orgkernel.server" or "answers from its" not in lines[-1]["message"]:
                lines.append(json.loads(process.stderr.readline()))
            process.send_signal(signal.SIGINT)
            lines += [json.loads(line) for line in process.communicate(timeout=PATIENCE)[1].splitlines()]
        finally:
            process.kill()
    asked = [(each["path"], each["query_bytes"], each["status"]) for each in lines if "request" in each]
    assert asked == [("/v1/orgs", len("limit=1"), 200)]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--host", "0.0.0.0"), "loopback"),
        (("--host", "example.invalid"), ""),
        (("--path", "gone"), "`gone` does not exist"),
        (("--active", "shp"), "there is no organization `shp`"),
    ],
)
def test_what_cannot_be_served_is_exit_2(tmp_path: Path, arguments: tuple[str, ...], message: str) -> None:
    """Before anything listens."""
    write_tree(tmp_path, SHOP)
    done = run("serve", "--port", "0", *arguments, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr


def test_a_folder_without_documents_is_exit_2(tmp_path: Path) -> None:
    """A server without anything to say would look like one that works."""
    assert run("serve", "--port", "0", cwd=tmp_path).returncode == 2


def test_a_taken_port_is_exit_2(tmp_path: Path) -> None:
    """With the port in the message."""
    write_tree(tmp_path, SHOP)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        done = run("serve", "--port", port, cwd=tmp_path)
    assert done.returncode == 2
    assert port in done.stderr


def test_the_page_is_opened_where_a_server_shows_it(tmp_path: Path) -> None:
    """The address that `serve` prints is the one that `open` takes, with or without a slash or a view."""
    copy_template(tmp_path, "software_dev")
    with serving(tmp_path) as (_, output):
        found = re.search(r"^  (http://127\.0\.0\.1:\d+/) shows them in a browser$", output, re.MULTILINE)
        assert found
        for url in (found[1], found[1].rstrip("/"), f"{found[1]}#/findings"):
            done = run("open", "--print", url, cwd=tmp_path)
            assert (done.returncode, done.stdout) == (0, f"{found[1]}\n"), done.stderr
        done = run("open", "--print", f"{found[1]}docs", cwd=tmp_path)
        assert (done.returncode, done.stdout) == (2, "")
        assert "does not show the page" in done.stderr


@pytest.mark.parametrize(
    ("url", "message"),
    [("http://127.0.0.1:9/", "no server answers at"), ("ftp://127.0.0.1/", "is not a web address"), ("file:///etc/passwd", "is not a web address"), ("http://[", "no server answers at")],
)  # fmt: skip
def test_an_address_without_a_server_is_exit_2(tmp_path: Path, url: str, message: str) -> None:
    """No browser is opened, and the way out is named."""
    done = run("open", url, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert "help: " in done.stderr
