"""What a page of the documentation shows, run in the order in which it is shown.

- a `console` block holds commands after `$ `, each with the output below it, which is compared exactly where there is any;
  a command that shows nothing has to succeed;
- a block with `title="PATH"` is a file that the reader writes, and so do we;
- a `python` block with `>>> ` is a doctest;
- `orgkernel serve` and `orgkernel gateway --http` go on running, on a free port, and are asked by the commands that follow.
"""

from __future__ import annotations

import contextlib
import doctest
import os
import re
import shlex
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.support.in_process import run_here
from tests.support.patience import PATIENCE
from tests.support.trees import REPOSITORY

BIN = Path(sys.executable).parent
PORT = "8000"
_SERVING = re.compile(r"orgkernel (?:serve\b|gateway .*--http )")
_BLOCK = re.compile(
    r"^(?P<indent> *)```(?P<language>[a-z]+)(?P<options>[^\n]*)\n(?P<body>.*?)^(?P=indent)```$",
    re.MULTILINE | re.DOTALL,
)
# `orgkernel` with its words, in a folder, and where what it prints goes: it is run in this process, which is a hundred
# times faster. The shell does the rest. A command of any other form is left to the shell as a whole.
_OWN = re.compile(
    r"""(?:cd\ (?P<folder>\w+)\ &&\ )? orgkernel (?P<words>(?:\ +(?:'[^']*'|"[^"]*"|\$\([^()]*\)|[^\s'"|&;<>$`]++)++)*)
    (?P<silent>\ 2>\ ?/dev/null)? (?P<rest>\ (?:>(?!&)|\|(?!\|))(?:[^;&|]|\|(?!\|))*)?""",
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class Command:
    """A command and the output shown below it."""

    text: str
    shown: str


@dataclass(frozen=True, slots=True)
class File:
    """A file the reader writes."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Example:
    """Python with its answers."""

    text: str


Step = Command | File | Example


def steps_of(page: str) -> Iterator[Step]:
    """What the page shows, in order."""
    for block in _BLOCK.finditer(page):
        body = re.sub(rf"^{block['indent']}", "", block["body"], flags=re.MULTILINE)
        title = re.search(r'title="([^"]+)"', block["options"])
        if title:
            yield File(title[1], body)
        elif block["language"] == "console":
            for text, shown in console_commands(body):
                yield Command(text, shown)
        elif block["language"] == "python" and ">>> " in body:
            yield Example(body)


def console_commands(block: str) -> Iterator[tuple[str, str]]:
    """Each command of a console block, with the output shown below it."""
    yield from re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE)


def console_blocks(page: str) -> Iterator[tuple[str, str]]:
    """Each command of all console blocks, with the output shown below it."""
    for block in re.findall(r"```console\n(.*?)```", page, re.DOTALL):
        yield from console_commands(block)


class Reader:
    """A reader who follows a page in an empty folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.servers: list[subprocess.Popen[str]] = []
        self.ports = {PORT: PORT}
        """The port of each server that is shown, and its own."""
        self.names: dict[str, object] = {}
        self.ran = 0

    def follow(self, page: str) -> None:
        """Do everything, and compare what is shown."""
        try:
            for step in steps_of(page):
                self._do(step)
        finally:
            for server in self.servers:
                server.terminate()
                server.wait(PATIENCE)
                assert server.stderr is not None
                server.stderr.close()

    def _do(self, step: Step) -> None:
        if isinstance(step, File):
            path = self.folder / step.name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(step.text, encoding="utf-8")
        elif isinstance(step, Example):
            self._try(step)
        elif step.text.startswith("make "):
            self._make(step)
        elif _SERVING.match(step.text) and not step.text.endswith("--help"):
            self._serve(step)
        else:
            self._run(step)
        self.ran += 1

    def _run(self, step: Command) -> None:
        text = self._with_own_ports(step.text)
        own = _OWN.fullmatch(text)
        done = self._run_here(own) if own else self._shell(text)
        assert "Traceback" not in done.stderr, done.stderr
        if step.shown:
            self._compare(step, done.stdout.rstrip() or done.stderr.rstrip(), done.stdout + done.stderr)
        else:
            assert done.returncode == 0, f"{step.text}\n{done.stdout}{done.stderr}"

    def _run_here(self, own: re.Match[str]) -> subprocess.CompletedProcess[str]:
        folder = self.folder / (own["folder"] or "")
        words = shlex.split(own["words"])
        if re.search(r"[$*?~\\]", own["words"]):
            words = self._shell(f"printf '%s\\0'{own['words']}", folder).stdout.split("\0")[:-1]
        done = run_here(*words, cwd=folder, env=self._environment())
        if own["silent"]:
            done.stderr = ""
        if own["rest"]:
            after = self._shell(f"cat{own['rest']}", folder, done.stdout)
            done.stdout, done.stderr = after.stdout, done.stderr + after.stderr
            # A pipe succeeds if its last command does.
            done.returncode = after.returncode or (0 if "|" in own["rest"] else done.returncode)
        return done

    def _shell(
        self, text: str, folder: Path | None = None, given: str = ""
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["bash", "-c", text], cwd=folder or self.folder, env=self._environment(), input=given,
            capture_output=True, text=True, timeout=PATIENCE, check=False,
        )  # fmt: skip

    def _with_own_ports(self, text: str) -> str:
        for shown, own in self.ports.items():
            text = text.replace(f":{shown}/", f":{own}/")
        return text

    def _compare(self, step: Command, *printed: str) -> None:
        """Data alone may be shown, or all that a terminal shows."""
        for shown, port in self.ports.items():
            printed = tuple(each.replace(f":{port}", f":{shown}") for each in printed)
        own = [each.strip("\n") for each in printed]
        assert step.shown.strip("\n") in own, f"{step.text}\n{own[-1]}"

    def _make(self, step: Command) -> None:
        """Targets exist; `make run` is its recipe, and the other targets are what CI runs."""
        target = step.text.removeprefix("make ").partition("#")[0].strip()
        recipe = re.search(
            rf"^{re.escape(target)}:.*\n((?:\t.*\n)*)",
            (REPOSITORY / "Makefile").read_text(encoding="utf-8"),
            re.MULTILINE,
        )
        assert recipe, f"the Makefile has no target {target}"
        if target == "run":
            for line in recipe[1].splitlines():
                self._do(Command(line.strip().removeprefix("$(BIN)/"), ""))

    def _serve(self, step: Command) -> None:
        words = shlex.split(step.text)[1:]
        shown = PORT
        if "--http" in words:
            place = words.index("--http") + 1
            shown = words[place].rpartition(":")[2]
            words[place] = "127.0.0.1:0"
        else:
            words += ["--port", "0", "--drain", "0"]
        server = subprocess.Popen(
            [BIN / "orgkernel", *words],
            cwd=self.folder,
            env=self._environment(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.servers.append(server)
        assert server.stderr is not None
        printed = []
        for line in server.stderr:
            printed.append(line)
            if line.startswith("Stop with") or '"message": "serving ' in line:
                break
        said = "".join(printed)
        serving = re.search(r"(?:serving .*|gateway) on https?://127\.0\.0\.1:(\d+)(?:/mcp)?[\n\"]", said)
        assert serving, said
        self.ports[shown] = serving[1]
        threading.Thread(target=server.stderr.read, daemon=True).start()
        if step.shown:
            self._compare(step, re.sub(r"^\d{4}-\d\d-\d\d .*\n", "", said, flags=re.MULTILINE))

    def _try(self, step: Example) -> None:
        example = doctest.DocTestParser().get_doctest(
            self._with_own_ports(step.text), self.names, "page", None, 0
        )
        with contextlib.chdir(self.folder):
            said: list[str] = []
            outcome = doctest.DocTestRunner().run(example, out=said.append, clear_globs=False)
        self.names = example.globs
        assert outcome.attempted
        assert outcome.failed == 0, "".join(said)

    def _environment(self) -> Mapping[str, str]:
        name = {"NAME": "Ada", "EMAIL": "ada@example.org", "DATE": "2026-01-01T00:00:00+0000"}
        who = {f"GIT_{role}_{key}": value for role in ("AUTHOR", "COMMITTER") for key, value in name.items()}
        return {
            "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}",
            "ORGKERNEL_MEANING": "off",
            "HOME": str(self.folder),
            "COLUMNS": "80",
            "LC_ALL": "C.UTF-8",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
        } | who
