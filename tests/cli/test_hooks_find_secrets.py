"""The hooks of git and of Claude Code refuse secrets: in files, in messages, in commits that are pushed, and in tool calls."""

from __future__ import annotations

import base64
import json
import subprocess
import sys
from pathlib import Path

import orgkernel
from tests.cli.test_ownership_hooks import Hooked

# Put together here, so that no scanner of this repository finds one.
TOKEN = f"ghp{'_'}{'0123456789abcdefghijABCDEFGHIJ012345'}"
ENCODED = base64.b64encode(TOKEN.encode()).decode()
DIGEST = f"sha256:{'9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'}"


def test_secrets_are_neither_committed_nor_pushed(tmp_path: Path) -> None:
    """Also in a file that is marked as binary, in Base64, in a message, and if a later commit removes it again."""
    hooked = Hooked(tmp_path)
    hooked.write({"src/a/one.py": f"1\nDIGEST = '{DIGEST}'\n"})
    assert hooked.tries("commit", "-qam", "a digest").returncode == 0

    hooked.write({"src/a/one.py": f"1\n\nTOKEN = '{TOKEN}'\n", "src/a/.gitattributes": "*.dat -diff\n"})
    hooked.write({"src/a/x.dat": f"{ENCODED}\n", "src/a/t.txt": f"{TOKEN[:20]}\u200b{TOKEN[20:]}\n"})
    hooked.git("add", ".")
    refused = hooked.tries("commit", "-m", "x")
    assert refused.returncode == 1
    for place in ("src/a/one.py:3", "src/a/x.dat:1", "src/a/t.txt:1"):
        assert f"SECRET_IN_PAYLOAD: {place} has" in refused.stderr
    assert TOKEN not in refused.stderr + refused.stdout
    hooked.git("reset", "-q", "--hard")

    remote = tmp_path / "remote.git"
    subprocess.run(["git", "init", "-q", "--bare", str(remote)], check=True)
    hooked.git("remote", "add", "origin", str(remote))
    hooked.git("-c", "core.hooksPath=/dev/null", "push", "-q", "origin", "HEAD:main")
    hooked.git("fetch", "-q")
    for text, message in ((f"{TOKEN}\n", "x"), ("3\n", f"without {TOKEN}")):
        hooked.write({"src/a/one.py": text})
        hooked.git("-c", "core.hooksPath=/dev/null", "commit", "-qam", message)
    refused = hooked.tries("push", "origin", "HEAD:main")
    assert refused.returncode == 1
    assert "src/a/one.py:1 in commit" in refused.stderr
    assert "the message of commit" in refused.stderr
    assert TOKEN not in refused.stderr


def test_secrets_are_not_written_by_a_tool(tmp_path: Path) -> None:
    """The full program and the light start give one answer, and no answer has the secret."""
    hooked = Hooked(tmp_path)
    script = Path(orgkernel.__file__).parent / "project/hooks/write_hook.py"
    path = str(hooked.folder / "src/a/one.py")
    calls = {
        "Write": {"file_path": path, "content": f"TOKEN = '{TOKEN}'"},
        "Edit": {"file_path": path, "old_string": "1", "new_string": TOKEN},
        "MultiEdit": {"file_path": path, "edits": [{"old_string": "1", "new_string": f"a {ENCODED}"}]},
        "Bash": {"command": f"echo {TOKEN} >> src/a/one.py"},
    }
    harmless = {"tool_name": "Write", "tool_input": {"file_path": path, "content": DIGEST}}

    full = ["-P", "-c", "from orgkernel.cli import main; main()", "ownership", "hook", "claude-code"]

    def ask(call: dict[str, object], program: list[str]) -> str:
        return subprocess.run(
            [sys.executable, *program], input=json.dumps(call | {"cwd": str(hooked.folder)}), cwd=hooked.folder, text=True,
            env={"CLAUDE_PROJECT_DIR": str(hooked.folder)}, capture_output=True, check=True,
        ).stdout  # fmt: skip

    starts = [(tool, ["-P", str(script)]) for tool in calls] + [("Write", full)]
    assert [ask(harmless, program) for program in (full, ["-P", str(script)])] == ["", ""]
    for tool, program in starts:
        answer = ask({"tool_name": tool, "tool_input": calls[tool]}, program)
        decision = json.loads(answer)["hookSpecificOutput"]
        assert decision["permissionDecision"] == "deny", tool
        assert "SECRET_IN_PAYLOAD" in decision["permissionDecisionReason"]
        assert TOKEN not in answer
