"""`python -m benchmarks.file_audit`: the audit of a range of 2,000 files beside `git diff --name-only`, and the hook of a
coding agent beside the start of bare Python. Each pair is measured in turns.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import yaml

FILES, COMMITS, WORKERS, ROUNDS, STARTS = 2_000, 20, 4, 5, 15
_ID = "6f1c1d3a-8a52-4d0e-9a3b-5d1b1a1c000{}"
_HOOK = Path(__file__).parents[1] / "orgkernel" / "project" / "hooks" / "write_hook.py"
_ORGKERNEL = (sys.executable, "-P", "-c", "from orgkernel.cli import main; main()")


def make_repository(folder: Path) -> list[str]:
    """A repository where four workers change 2,000 files in twenty commits; their briefs."""
    _git(folder, "init", "--quiet")
    _git(folder, "commit", "--quiet", "--allow-empty", "-m", "start")
    _git(folder, "tag", "start")
    for commit in range(COMMITS):
        worker = commit % WORKERS
        for number in range(FILES // COMMITS):
            path = folder / f"part{worker}/deep{commit}/file{number}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{commit} {number}\n" * 20, encoding="utf-8")
        _git(folder, "add", ".")
        _git(folder, "commit", "--quiet", "-m", f"work\n\nBrief: {_ID.format(worker)}")
    return [_write_brief(folder.parent / f"{worker}.yaml", worker) for worker in range(WORKERS)]


def _write_brief(path: Path, worker: int) -> str:
    brief = {
        "_schema": "orgkernel:brief", "id": _ID.format(worker), "mission": "Measure", "purpose": "Figures", "context": {},
        "whats_done": [], "current_task": "Write files", "done_criteria": "They are there", "verify_command": "pytest -q",
        "key_decisions": [], "relevant_memories": [], "ship": False,
        "spec": {"scope": {"files_owned": [f"part{worker}/**"]}},
    }  # fmt: skip
    path.write_text(yaml.safe_dump(brief), encoding="utf-8")
    return str(path)


def _git(folder: Path, *arguments: str) -> None:
    named = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *named, *arguments], cwd=folder, check=True, capture_output=True)


def measure(
    ways: Mapping[str, Sequence[str]], folder: Path, rounds: int, given: bytes = b""
) -> dict[str, float]:
    """The median seconds of each command, run in turns."""
    times: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(rounds + 1):
        for name, command in ways.items():
            start = time.perf_counter()
            subprocess.run(command, cwd=folder, input=given, check=True, capture_output=True)
            times[name].append(time.perf_counter() - start)
    # The first time, files and caches are cold.
    return {name: statistics.median(each[1:]) for name, each in times.items()}


def main() -> None:
    """Measure both pairs and print a row for each command."""
    with TemporaryDirectory() as temporary:
        folder = Path(os.path.realpath(temporary)) / "project"
        folder.mkdir()
        briefs = make_repository(folder)
        named = [word for each in briefs for word in ("--brief", each)]
        _print(
            f"{FILES:,} files in {COMMITS} commits of {WORKERS} workers",
            measure(
                {
                    "git diff --name-only": ("git", "diff", "--name-only", "start", "HEAD"),
                    "orgkernel ownership audit": (
                        *_ORGKERNEL,
                        "ownership",
                        "audit",
                        "--base",
                        "start",
                        *named,
                    ),
                },
                folder,
                ROUNDS,
            ),
        )
        (folder / ".orgkernel").mkdir()
        (folder / ".orgkernel/brief.yaml").write_bytes(Path(briefs[0]).read_bytes())
        path = str(folder / "part0/new.py")
        call = {"cwd": str(folder), "tool_name": "Write", "tool_input": {"file_path": path, "content": ""}}
        ways = {
            "bare Python": (sys.executable, "-c", "pass"),
            "the hook": (sys.executable, "-I", "-S", str(_HOOK)),
        }
        _print("a write that may go on", measure(ways, folder, STARTS, json.dumps(call).encode()))


def _print(what: str, found: Mapping[str, float]) -> None:
    print(what)
    first = next(iter(found.values()))
    for name, seconds in found.items():
        print(f"  {name:24} {seconds * 1000:8.1f} ms   {seconds / first:.2f} ×")


if __name__ == "__main__":
    main()
