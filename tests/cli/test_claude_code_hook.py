"""The hook of Claude Code: what it says of writes and of shell commands, and settings that it leaves as they were."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from orgkernel.project.hooks.quick_answers import is_surely_allowed, read_current
from tests.support.contracts import as_text, changed
from tests.support.in_process import run_here
from tests.support.trees import copy_template

A = "6f1c1d3a-8a52-4d0e-9a3b-5d1b1a1c0001"


class AgentProject:
    """A project with an organization, a brief that owns `src/a` and `package.json`, and our hook."""

    def __init__(self, folder: Path) -> None:
        self.folder = Path(os.path.realpath(folder)) / "project"
        for name, text in {
            "src/a/one.py": "1\n", "src/b/two.py": "2\n", "package.json": '{"version": "1", "dependencies": {}}\n',
        }.items():  # fmt: skip
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        copy_template(self.folder / "acme", "omega")
        self.give_brief(["src/a/**", "package.json", "src/auth/**", ".orgkernel/**"])
        done = run_here("ownership", "install-hooks", "--claude-code", cwd=self.folder)
        assert done.returncode == 0, done.stderr

    def give_brief(self, owned: list[str], **more: Any) -> None:
        values = {
            "id": A,
            "spec.scope.files_owned": owned,
            "spec.scope.destructive": [],
            "audit_gates": [],
            **more,
        }
        path = self.folder / ".orgkernel/brief.yaml"
        path.parent.mkdir(exist_ok=True)
        path.write_text(as_text(changed("brief", values)), encoding="utf-8")

    def command(self) -> str:
        settings = json.loads((self.folder / ".claude/settings.json").read_text(encoding="utf-8"))
        found: str = settings["hooks"]["PreToolUse"][-1]["hooks"][0]["command"]
        return found

    def asks(self, tool: str, given: dict[str, Any], raw: bytes | None = None) -> tuple[str, str]:
        """The answer to a call: allow, deny or ask, and why."""
        stdin = io.TextIOWrapper(io.BytesIO(raw or self.call(tool, given)))
        with mock.patch.object(sys, "stdin", stdin):
            done = run_here(
                "ownership",
                "hook",
                "claude-code",
                cwd=self.folder,
                env={"CLAUDE_PROJECT_DIR": str(self.folder)},
            )
        assert done.returncode == 0, done.stderr
        return _answer(done.stdout)

    def runs(self, tool: str, given: dict[str, Any]) -> tuple[str, str]:
        """The same, by the command in the settings."""
        own = {name: value for name, value in os.environ.items() if not name.startswith("ORGKERNEL")}
        done = subprocess.run(
            ["sh", "-c", self.command()], input=self.call(tool, given), cwd=self.folder, capture_output=True,
            env=own | {"CLAUDE_PROJECT_DIR": str(self.folder)}, check=False,
        )  # fmt: skip
        return (f"exit {done.returncode}", done.stderr.decode()) if done.returncode else _answer(done.stdout)

    def call(self, tool: str, given: dict[str, Any]) -> bytes:
        call = {"session_id": "s", "hook_event_name": "PreToolUse", "cwd": str(self.folder)}
        return json.dumps({**call, "tool_name": tool, "tool_input": given}).encode()

    def writes(self, path: str, tool: str = "Write", **given: Any) -> tuple[str, str]:
        return self.asks(tool, {"file_path": str(self.folder / path), **given})


def _answer(printed: str | bytes) -> tuple[str, str]:
    if not printed.strip():
        return "allow", ""
    answer = json.loads(printed)["hookSpecificOutput"]
    assert answer["hookEventName"] == "PreToolUse"
    return answer["permissionDecision"], answer["permissionDecisionReason"]


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> AgentProject:
    return AgentProject(tmp_path_factory.mktemp("agent"))


@pytest.fixture
def project(tmp_path: Path) -> AgentProject:
    return AgentProject(tmp_path)


@pytest.mark.parametrize(
    ("path", "answer", "code"),
    [
        ("src/a/new.py", "allow", ""),
        ("src/b/two.py", "deny", "WRITE_NOT_OWNED"),
        ("src/A/one.py", "deny", "WRITE_NOT_OWNED"),
        ("src/a/../b/two.py", "deny", "WRITE_NOT_OWNED"),
        ("../elsewhere.py", "deny", "WRITE_NOT_OWNED"),
        ("src/auth/login.py", "deny", "SACRED_SCOPE_LOCKED"),
        ("src/a/.env", "deny", "SACRED_SCOPE"),
        (".orgkernel/brief.yaml", "deny", "SACRED_SCOPE"),
    ],
)
def test_a_file_is_written(shared: AgentProject, path: str, answer: str, code: str) -> None:
    """Only what the brief owns passes, by whatever way the path is written, and sacred files are held."""
    found = shared.writes(path, content="x")
    assert (found[0], found[1].partition(":")[0]) == (answer, code), found


def test_other_tools_and_manifests(shared: AgentProject) -> None:
    """The hook recognizes every tool that writes, distinguishes dependencies from versions, and asks a person about
    unknown tools.
    """
    assert shared.writes("src/a/one.py", "Edit", old_string="1", new_string="2")[0] == "allow"
    notebook = {"notebook_path": str(shared.folder / "src/b/x.ipynb"), "new_source": ""}
    assert shared.asks("NotebookEdit", notebook)[0] == "deny"
    version = {"old_string": '"1"', "new_string": '"2"'}
    assert shared.writes("package.json", "Edit", **version)[0] == "allow"
    more = {"edits": [version, {"old_string": "{}", "new_string": '{"x": "1"}'}]}
    assert "SACRED_SCOPE_LOCKED" in shared.writes("package.json", "MultiEdit", **more)[1]
    assert shared.asks("Strange", {"x": 1})[0] == "ask"
    assert shared.asks("", {}, raw=b"{")[0] == "ask"


@pytest.mark.parametrize(
    ("command", "answer"),
    [
        ("pytest -q && git status", "allow"),
        ("echo x > src/a/new.py; touch src/a/y; cat src/b/two.py", "allow"),
        ("echo x > src/b/two.py", "deny"),
        ("cd src/b && touch new.py", "deny"),
        ("sed -i s/1/2/ src/b/two.py", "deny"),
        ("cp src/a/one.py src/b/", "deny"),
        ("git mv src/a/one.py src/c.py", "deny"),
        ("sh -c 'rm src/b/two.py'", "deny"),
        ("echo KEY=1 >> src/a/.env", "deny"),
        ("git push --force", "deny"),
        ("echo x > ../elsewhere", "deny"),
        ("curl -s http://127.0.0.1/x | sh", "ask"),
        ('echo x > "$FILE"', "ask"),
        ("tar -xf a.tgz", "ask"),
        ("tar cf src/a/a.tgz src", "allow"),
        ("sh -c 'unzip a.zip'", "ask"),
        ("git apply x.patch", "ask"),
        ("perl -pi -e s/1/2/ src/b/two.py", "deny"),
        ("npm install && npm test", "allow"),
        ("npm install --save left-pad", "deny"),
        ("cargo add serde", "deny"),
        ("black src/a/one.py && ruff format src/a", "allow"),
        ("black --check src/b", "allow"),
        ("black src/b/two.py", "deny"),
        ("python -m black src/b/two.py", "deny"),
        ("cd src/b && black two.py", "deny"),
        ("ruff check --select E --fix src/a/one.py", "allow"),
        ("ruff check --fix src/b", "deny"),
        ("npx -y prettier --write src/b/x.js", "deny"),
        ("prettier src/b/x.js", "allow"),
        ("uv run isort src/b/two.py", "deny"),
        ("pandoc -o src/b/x.pdf src/a/x.md", "deny"),
        ("gcc -osrc/b/x src/a/x.c", "deny"),
        ("ffmpeg -i src/a/x.mp4 src/b/x.mp3", "deny"),
        ("scp host:x src/b/two.py", "deny"),
        ("scp src/b/two.py host:x", "allow"),
        ("cat src/b/two.py | sponge src/b/two.py", "deny"),
        ("tar cf src/b/a.tgz src", "deny"),
        ("git log --output=src/b/x", "deny"),
        ("git log --outp src/b/x", "deny"),
        ("git -C src/b log --output=x", "deny"),
        ("git log --output=.orgkernel/owned-files.json", "deny"),
        ("git log -p src/b", "allow"),
        ("awk -i inplace 1 src/b/two.py", "deny"),
        ("npm version patch", "ask"),
        ("git merge x", "ask"),
        ("git rebase x", "ask"),
        ("git stash pop", "ask"),
        ("git stash list", "allow"),
        ("git checkout -b x", "allow"),
        ("git checkout x", "ask"),
        ("shuf -o src/b/two.py src/a/one.py", "deny"),
        ("pytest --junitxml=src/b/two.py", "deny"),
        ("kitty rm src/b/two.py", "deny"),
        ("gnome-terminal -- rm src/b/two.py", "deny"),
        ("jc rm src/b/two.py", "deny"),
        ("bat --pager='rm src/b/two.py' a", "deny"),
        ("complete -C 'rm src/b/two.py' ls", "deny"),
        ("echo '!rm src/b/two.py' | dc", "ask"),
        ("ls # '\nrm src/b/two.py #'", "deny"),
        ("cat <<E\n\tE\ncat <<'X'\nE\nrm src/b/two.py\nX\n", "ask"),
        ('echo "5$"; rm src/b/two.py; echo "b"', "deny"),
    ],
)
def test_a_command_is_run(shared: AgentProject, command: str, answer: str) -> None:
    """Files that a command writes are decided like other writes; if they cannot be determined, a person is asked."""
    found = shared.asks("Bash", {"command": command})
    assert found[0] == answer, found


def test_links_are_followed(shared: AgentProject) -> None:
    """What counts is where a write would end."""
    (shared.folder / "src/a/link").symlink_to("../b")
    (shared.folder / "src/a/out").symlink_to("/etc")
    assert shared.writes("src/a/link/two.py", content="")[0] == "deny"
    assert shared.writes("src/a/out/x", content="")[0] == "deny"
    assert shared.asks("Bash", {"command": "echo x > src/a/link/new.py"})[0] == "deny"


def test_what_was_passed_once_is_passed_quickly_until_something_changes(project: AgentProject) -> None:
    """The script passes it alone; after a change of the brief or of the documents, it asks again."""
    scope = project.folder / ".orgkernel/owned-files.json"
    assert project.writes("src/a/one.py", content="")[0] == "allow"
    for name, answer in (
        ("src/a/one.py", True),
        ("src/b/two.py", False),
        ("src/a/.env", False),
        ("src/auth/x", False),
    ):
        assert _script_passes(project, name) is answer, name
    governance = project.folder / "acme/governance.yaml"
    text = governance.read_text(encoding="utf-8")
    governance.write_text(text.replace('"**/*.age"', '"src/a/**"'), encoding="utf-8")
    assert not _script_passes(project, "src/a/one.py")
    assert project.writes("src/a/one.py", content="")[0] == "deny"
    assert not _script_passes(project, "src/a/one.py")
    governance.write_text(text, encoding="utf-8")
    assert project.writes("src/a/one.py", content="")[0] == "allow"
    assert _script_passes(project, "src/a/one.py")
    project.give_brief(["src/b/**"])
    assert project.writes("src/a/one.py", content="")[0] == "deny"
    scope.write_text("{}", encoding="utf-8")
    assert project.writes("src/b/two.py", content="")[0] == "allow"


def _script_passes(project: AgentProject, name: str) -> bool:
    root = str(project.folder)
    owned_files = read_current(root)
    return owned_files is not None and is_surely_allowed(str(project.folder / name), root, owned_files)


def test_without_a_brief_a_person_is_asked_and_without_python_nothing_passes(project: AgentProject) -> None:
    """What is missing never opens."""
    (project.folder / ".orgkernel/brief.yaml").unlink()
    found = project.writes("src/a/one.py", content="")
    assert found[0] == "ask"
    assert "put the brief into .orgkernel/brief.yaml" in found[1]
    settings = project.folder / ".claude/settings.json"
    settings.write_text(
        settings.read_text(encoding="utf-8").replace("/bin/python", "/bin/no-python"), encoding="utf-8"
    )
    assert project.runs("Read", {})[0] == "exit 2"


def test_the_installed_command(project: AgentProject) -> None:
    """It answers as a process of its own, the second time from what it remembered."""

    def runs(path: str) -> str:
        return project.runs("Write", {"file_path": str(project.folder / path), "content": ""})[0]

    assert [runs(path) for path in ("src/a/one.py", "src/a/one.py", "src/b/two.py")] == [
        "allow",
        "allow",
        "deny",
    ]


SETTINGS = [
    b'{"permissions": {"allow": ["Read"]},\n\n   "model":"x"}',
    b'{\n\t"hooks": {\n\t\t"PreToolUse": [\n\t\t\t{"matcher": "Bash", "hooks": []}\n\t\t],\n\t\t"Stop": []\n\t},\n\t"a": 1.0\n}\n',
    b'{"hooks": {"PreToolUse": []}}',
    b'{"hooks": {}, "name": "\xc3\xbc"}\r\n',
    None,
]


@pytest.mark.parametrize("content", SETTINGS)
def test_settings_come_back_byte_for_byte(tmp_path: Path, content: bytes | None) -> None:
    """The hook is entered once, beside what was there, and taken out without a trace."""
    settings = tmp_path / ".claude/settings.json"
    if content is not None:
        settings.parent.mkdir()
        settings.write_bytes(content)
    for _ in range(2):
        assert run_here("ownership", "install-hooks", "--claude-code", cwd=tmp_path).returncode == 0
    found = json.loads(settings.read_bytes())
    ours = [each for each in found["hooks"]["PreToolUse"] if "write_hook" in str(each)]
    assert len(ours) == 1
    assert {name: each for name, each in found.items() if name != "hooks"} == {
        name: each for name, each in json.loads(content or b"{}").items() if name != "hooks"
    }
    for _ in range(2):
        assert (
            run_here("ownership", "install-hooks", "--claude-code", "--uninstall", cwd=tmp_path).returncode
            == 0
        )
    assert [path.name for path in tmp_path.rglob("*")] == (
        [] if content is None else [".claude", "settings.json"]
    )
    assert content is None or settings.read_bytes() == content


def test_what_others_entered_since_then_stays(tmp_path: Path) -> None:
    """Only our entry is taken out, and settings that cannot be read are left alone."""
    settings = tmp_path / ".claude/settings.json"
    settings.parent.mkdir()
    settings.write_text('{"model": "x"}')
    run_here("ownership", "install-hooks", "--claude-code", cwd=tmp_path)
    found = json.loads(settings.read_text())
    found["hooks"]["PreToolUse"].append({"matcher": "Read", "hooks": []})
    settings.write_text(json.dumps(found))
    run_here("ownership", "install-hooks", "--claude-code", "--uninstall", cwd=tmp_path)
    assert json.loads(settings.read_text()) == {
        "model": "x", "hooks": {"PreToolUse": [{"matcher": "Read", "hooks": []}]},
    }  # fmt: skip
    settings.write_text("{ // comment\n}")
    done = run_here("ownership", "install-hooks", "--claude-code", cwd=tmp_path)
    assert (done.returncode, "cannot be read as settings" in done.stderr) == (2, True)
