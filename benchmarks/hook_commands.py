"""`python -m benchmarks.hook_commands`: ordinary calls in the two hooks of Claude Code, and commits in the hooks of git, beside the
start of bare Python, in turns.

The hook for roles runs in an organization of 60 roles. The hook for file owners runs in a project with a brief, and decides by the rules
that the full program wrote down a moment before; one row shows what the full program takes.
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import yaml

from benchmarks.claude_hook import HOOK, make_project
from orgkernel.engines import SOME
from orgkernel.project.hooks import claude_settings

STARTS, GOAL = 25, 4.0
OWNERS_HOOK = Path(claude_settings.__file__).with_name("write_hook.py")
FULL = (sys.executable, "-P", "-c", "from orgkernel.cli import main; main()", "ownership", "hook", "claude-code")  # fmt: skip
COMMANDS = (
    "git commit -m 'Say what changed'", "npm test", "pytest -q | tail -5", "git push", "rm -rf build", "cd src && make",
    "cat <<'EOF' > src/a.py\nprint(1)\nEOF", "git push --force",
)  # fmt: skip
_BARE = (sys.executable, "-I", "-S", "-c", "pass")


class Process(NamedTuple):
    """A process, and what it reads."""

    command: Sequence[str]
    given: bytes
    environment: Mapping[str, str]


def make_owned_project(folder: Path) -> None:
    """A project with a brief that owns `src` and `build`."""
    (folder / ".orgkernel").mkdir(parents=True)
    (folder / "src").mkdir()
    brief = {
        "_schema": "orgkernel:brief", "id": "6f1c1d3a-8a52-4d0e-9a3b-5d1b1a1c0001", "mission": "Measure", "purpose": "Figures", "context": {},
        "whats_done": [], "current_task": "Write files", "done_criteria": "They are there", "verify_command": "pytest -q",
        "key_decisions": [], "relevant_memories": [], "ship": False, "spec": {"scope": {"files_owned": ["src/**", "build"]}},
    }  # fmt: skip
    (folder / ".orgkernel/brief.yaml").write_text(yaml.safe_dump(brief), encoding="utf-8")


def build_calls(folder: Path) -> dict[str, dict[str, Any]]:
    """Commands, and edits of a file that is owned and of one that is not."""
    edits = {
        f"Edit {path}": {"tool_name": "Edit", "tool_input": {"file_path": str(folder / path), "old_string": "1", "new_string": "2"}}
        for path in ("src/a.py", "docs/a.md")
    }  # fmt: skip
    commands = {
        each.partition("\n")[0]: {"tool_name": "Bash", "tool_input": {"command": each}} for each in COMMANDS
    }
    return {
        name: {"hook_event_name": "PreToolUse", "cwd": str(folder), **call}
        for name, call in {**commands, **edits}.items()
    }


def measure_processes(processes: Mapping[str, Process], rounds: int) -> dict[str, tuple[float, float]]:
    """The median seconds of each process, and the median of its processor time, run in turns."""
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in processes}
    for _ in range(rounds + 1):
        for name, each in processes.items():
            before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
            subprocess.run(
                each.command, input=each.given, env=dict(each.environment), check=True, capture_output=True
            )
            seconds, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
            used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            times[name].append((seconds, used))
    return {
        name: (statistics.median(each[0] for each in rows[1:]), statistics.median(each[1] for each in rows[1:]))
        for name, rows in times.items()
    }  # fmt: skip


def build_owner_processes(folder: Path, off: str = "") -> dict[str, Process]:
    """A process of the hook for file owners for each call, with an engine or without it."""
    environment = {**os.environ, "CLAUDE_PROJECT_DIR": str(folder), SOME: off}
    hook = (sys.executable, "-I", "-S", str(OWNERS_HOOK))
    return {
        name: Process(hook, json.dumps(call).encode(), environment)
        for name, call in build_calls(folder).items()
    }


def note_rules(folder: Path) -> None:
    """Let the full program write down the rules. They count for a minute."""
    given = json.dumps(build_calls(folder)["npm test"]).encode()
    environment = {**os.environ, "CLAUDE_PROJECT_DIR": str(folder)}
    subprocess.run(FULL, input=given, env=environment, cwd=folder, check=True, capture_output=True)


def build_commit_processes(folder: Path, off: str = "") -> dict[str, Process]:
    """The installed hooks of git for a commit of an owned file and for its message, as git starts them."""
    author = {"GIT_AUTHOR_EMAIL": "worker@example.com"}
    environment = {**os.environ, **author, SOME: off, "GIT_DIR": str(folder / ".git")}
    message = folder / ".git/COMMIT_EDITMSG"
    return {
        name: Process(("sh", "-c", f'cd "$0" && exec .git/hooks/{name} "$@"', str(folder), *words), b"", environment)
        for name, words in (("pre-commit", ()), ("commit-msg", (str(message),)))
    }  # fmt: skip


def make_commit(folder: Path) -> None:
    """A repository with the hooks of git, in which an owned file is staged, and whose rules the full program has stored."""
    git = ("git", "-c", "user.name=worker", "-c", "user.email=worker@example.com")
    install = (sys.executable, "-P", "-c", "from orgkernel.cli import main; main()", "ownership", "install-hooks")  # fmt: skip
    (folder / "src/a.py").write_text("print(1)\n", encoding="utf-8")
    for command in (
        (*git, "init", "-q"), (*git, "add", "src"), (*git, "commit", "-qm", "The first file"), install,
    ):  # fmt: skip
        subprocess.run(command, cwd=folder, check=True, capture_output=True)
    (folder / "src/a.py").write_text("print(2)\n" * 200, encoding="utf-8")
    (folder / ".git/COMMIT_EDITMSG").write_text("Print another number\n", encoding="utf-8")
    subprocess.run((*git, "add", "src"), cwd=folder, check=True)
    measure_processes(build_commit_processes(folder), 1)


def main() -> None:
    """Measure all hooks and print a row for each call."""
    with TemporaryDirectory() as temporary:
        place = Path(os.path.realpath(temporary))
        roles, owned = place / "roles", place / "owned"
        make_project(roles)
        make_owned_project(owned)
        bare = {"bare Python": Process(_BARE, b"", os.environ)}
        build_role_hook = (sys.executable, "-I", "-S", str(HOOK), "PreToolUse", "refuse")
        role_environment = {**os.environ, "CLAUDE_PROJECT_DIR": str(roles)}
        for title, agent in (("a role that may run commands", "role0"), ("a role that may not", "role1")):
            processes = {
                name: Process(build_role_hook, json.dumps({**call, "agent_id": "a", "agent_type": agent}).encode(), role_environment)
                for name, call in build_calls(roles).items()
            }  # fmt: skip
            _print(f"the hook for roles, {title}", measure_processes({**bare, **processes}, STARTS))
        note_rules(owned)
        # The rules count for a minute, so few calls are measured at a time.
        for name, process in build_owner_processes(owned).items():
            note_rules(owned)
            _print(
                f"the hook for file owners: {name}",
                measure_processes({**bare, name: process}, STARTS),
            )
        make_commit(owned)
        _print("the hooks of git", measure_processes({**bare, **build_commit_processes(owned)}, STARTS))
        without = {f"{name} by the full program": each for name, each in build_commit_processes(owned, "light_start").items()}  # fmt: skip
        _print("the hooks of git", measure_processes({**bare, **without}, 5))
        full = build_owner_processes(owned, "light_start")
        _print("the same by the full program", measure_processes({**bare, "npm test": full["npm test"]}, 5))


def _print(title: str, medians: Mapping[str, tuple[float, float]]) -> None:
    print(title)
    bare, bare_used = next(iter(medians.values()))
    for name, (seconds, used) in medians.items():
        print(
            f"  {name:36}{seconds * 1000:8.1f} ms  {seconds / bare:5.2f} ×   processor {used * 1000:7.1f} ms  {used / bare_used:5.2f} × (goal {GOAL})"
        )


if __name__ == "__main__":
    main()
