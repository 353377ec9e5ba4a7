"""What an installation weighs, and what it costs to start: each command beside the start of bare Python.

Processor time counts, which hardly depends on what else the machine does.
"""

from __future__ import annotations

import os
import re
import resource
import shutil
import subprocess
import sys
import time
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from statistics import median
from typing import Any

from orgkernel.loading.shipped import get_shipped_folder

_STARTS = 15
# Files older than this are believed by the cache without a look inside.
_SETTLED = 2.5
_ORG = "software_dev"
_MODEL = "devops_specialist"
_OPENING = """
import sys
from orgkernel import Kernel
kernel = Kernel.open(sys.argv[1])
assert len(kernel.organization("software_dev").snapshot.records.posts) == 12
"""
# What a script would do instead: parse the front matter of each file.
_FRONT_MATTER = """
import pathlib, re, sys, yaml
for path in pathlib.Path(sys.argv[1]).rglob("*.md"):
    match = re.match(r"---\\n(.*?)\\n---\\n", path.read_text(encoding="utf-8"), re.DOTALL)
    assert yaml.load(match[1], getattr(yaml, sys.argv[2]))["name"]
"""
_AGENTS, _SKILLS = 250, 200
_PARAGRAPHS = (
    "Read the whole change before you judge a line of it. Name the file, the line and the reason.",
    "## Steps\n\n1. Find the callers of each changed function.\n2. Run the tests of their modules.\n3. Report what failed.",
    "```python\ndef load(path: Path, retries: int = 3) -> dict[str, str]:\n    token = os.environ['SERVICE_TOKEN']\n"
    "    return client.get(path, headers={'Authorization': f'Bearer {token}'}, timeout=30)\n```",
    "Use HTTP/2 where the server offers it, and never a version of TLS below 1.2. Keys rotate every 90 days.",
    "| input | result |\n|---|---|\n| empty list | error E1042 |\n| key: value | the value |",
)
_NAME = re.compile(r"[A-Za-z0-9._-]+")


def start(folder: Path) -> dict[str, Any]:
    """Processor seconds of whole processes, in turns: importing us, and commands on one small organization, cold and warm."""
    tree = folder.parent / _ORG
    shutil.copytree(Path(get_shipped_folder("templates")) / _ORG, tree, dirs_exist_ok=True)
    run = [
        sys.executable,
        "-c",
        "import sys; from orgkernel.cli import main; sys.argv[0] = 'orgkernel'; main()",
    ]
    markdown = _write_markdown(folder.parent / "markdown")
    asked = ["--org", _ORG, "--path", str(tree)]
    commands = {
        "python": [sys.executable, "-c", "pass"],
        "pydantic": [sys.executable, "-c", "from pydantic import BaseModel, Field, ValidationError"],
        "import": [sys.executable, "-c", "import orgkernel"],
        "kernel": [sys.executable, "-c", "from orgkernel import Kernel"],
        "client": [sys.executable, "-c", "from orgkernel import Client"],
        "opened": [sys.executable, "-c", _OPENING, str(_add_roles(tree, 12))],
        "version": [*run, "--version"],
        "front_matter": [sys.executable, "-c", _FRONT_MATTER, str(markdown), "SafeLoader"],
        "front_matter_c": [sys.executable, "-c", _FRONT_MATTER, str(markdown), "CSafeLoader"],
        "check_markdown": [*run, "check", "--no-cache", str(markdown)],
        "check_cold": [*run, "check", "--no-cache", str(tree)],
        "check_warm": [*run, "check", str(tree)],
        "test": [*run, "test", str(tree)],
        "diff": [*run, "diff", str(_edit_copy(tree)), str(tree)],
        "dispatch": [*run, "dispatch", "codegen", *asked],
        "manifest": [*run, "manifest", "codegen_specialist", *asked, "--format", "json"],
    }
    # Compiled modules are part of an installation, and so is a cache that is ours alone.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment["XDG_CACHE_HOME"] = str(folder.parent / "start_cache")
    time.sleep(_SETTLED)
    times: dict[str, list[float]] = {name: [] for name in commands}
    for turn in range(_STARTS + 1):
        for name, command in commands.items():
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run(
                command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True, env=environment
            )
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            if turn:  # the first turn compiles and fills the cache
                times[name].append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    seconds = {name: median(those) for name, those in times.items()}
    return {**seconds, "open": seconds["opened"] - seconds["kernel"]}


def _write_markdown(tree: Path) -> Path:
    """A plugin of agents and skills, each with some pages of instructions."""
    body = "\n\n".join(_PARAGRAPHS * 8)
    for number in range(_AGENTS):
        agent = tree / ".claude" / "agents" / f"agent-{number}.md"
        agent.parent.mkdir(parents=True, exist_ok=True)
        text = f"---\nname: agent-{number}\ndescription: Does part {number} of the work. Use when part {number} is due.\n"
        agent.write_text(
            f"{text}tools: Read, Grep\nmodel: sonnet\n---\n\nPart {number}.\n\n{body}\n", encoding="utf-8"
        )
    for number in range(_SKILLS):
        skill = tree / ".claude" / "skills" / f"skill-{number}" / "SKILL.md"
        skill.parent.mkdir(parents=True, exist_ok=True)
        text = f"---\nname: skill-{number}\ndescription: How part {number} is done. Use when part {number} is due.\n---\n"
        skill.write_text(f"{text}\nPart {number}.\n\n{body}\n", encoding="utf-8")
    return tree


def _edit_copy(tree: Path) -> Path:
    """A copy of the organization in which one role has a tool more."""
    copy = tree.parent / "before" / _ORG
    shutil.copytree(tree, copy, dirs_exist_ok=True)
    profile = copy / "roles" / "codegen_specialist.yaml"
    text = profile.read_text(encoding="utf-8")
    assert "    - skills_tool\n" in text
    profile.write_text(
        text.replace("    - skills_tool\n", "    - skills_tool\n    - browser_agent\n"), encoding="utf-8"
    )
    return copy


def diff_of_one_file(folder: Path) -> dict[str, Any]:
    """A whole `orgkernel diff git:HEAD` after an edit of one role, with a warm cache: processor seconds and peak memory."""
    run = "import resource, sys; from orgkernel.cli import main; sys.argv[0] = 'orgkernel'\ntry: main()\nexcept SystemExit: pass\n"
    run += "u = resource.getrusage(resource.RUSAGE_SELF); print(u.ru_utime + u.ru_stime, u.ru_maxrss, file=sys.stderr)"
    environment = {**os.environ, "XDG_CACHE_HOME": str(folder.parent / "diff_cache")}
    git = ["git", "-C", str(folder), "-c", "user.name=a", "-c", "user.email=a@example.org"]
    for command in (["init", "--quiet"], ["add", "."], ["commit", "--quiet", "-m", "x"]):
        subprocess.run([*git, *command], check=True, env=environment)
    profile = folder / "roles" / "role_77.yaml"
    text = profile.read_text(encoding="utf-8")
    profile.write_text(
        text.replace("  tools_primary:\n", "  tools_primary:\n    - tool_199\n", 1), encoding="utf-8"
    )
    time.sleep(_SETTLED)
    seconds, peak = [], 0
    for turn in range(4):
        done = subprocess.run(
            [sys.executable, "-c", run, "diff", "git:HEAD", "."],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        assert "gains tool tool_199" in done.stdout, done.stdout
        used, kilobytes = done.stderr.split()[-2:]
        if turn:  # the first turn fills the cache
            seconds.append(float(used))
            peak = max(peak, int(kilobytes))
    shutil.rmtree(folder / ".git")
    profile.write_text(text, encoding="utf-8")
    return {"seconds": median(seconds), "peak_mb": peak / 1024}


def _add_roles(tree: Path, roles: int) -> Path:
    """A copy of the organization with so many roles."""
    copy = tree.parent / "twelve" / _ORG
    shutil.copytree(tree, copy, dirs_exist_ok=True)
    document = copy / "org.yaml"
    text = document.read_text(encoding="utf-8")
    model = (copy / "roles" / f"{_MODEL}.yaml").read_text(encoding="utf-8")
    for number in range(roles - len(list((copy / "roles").iterdir()))):
        name = f"{_MODEL}_{number}"
        text = text.replace(f"      - {_MODEL}\n", f"      - {_MODEL}\n      - {name}\n")
        text = text.replace(f"  {_MODEL}:\n", f"  {name}:\n    role_name: {name}\n  {_MODEL}:\n", 1)
        (copy / "roles" / f"{name}.yaml").write_text(
            model.replace(f"role_id: {_MODEL}", f"role_id: {name}"), encoding="utf-8"
        )
    document.write_text(text, encoding="utf-8")
    return copy


def installation(folder: Path) -> dict[str, Any]:
    """How many packages our default dependencies are, and their megabytes without compiled modules."""
    found: dict[str, Distribution] = {}
    _collect("orgkernel", frozenset(), found, set())
    sizes = [
        Path(str(file.locate())).stat().st_size
        for name, package in found.items()
        if name != "orgkernel"
        for file in package.files or ()
        if file.suffix != ".pyc" and Path(str(file.locate())).is_file()
    ]
    return {"packages": len(found) - 1, "megabytes": sum(sizes) / 1e6}


def _collect(
    name: str,
    extras: frozenset[str],
    found: dict[str, Distribution],
    seen: set[tuple[str, frozenset[str]]],
) -> None:
    key = re.sub(r"[-_.]+", "-", name).lower()
    if (key, extras) in seen:
        return
    seen.add((key, extras))
    try:
        package = distribution(name)
    except PackageNotFoundError:
        return  # for another platform or version of Python
    found[key] = package
    for line in package.requires or ():
        wanted, _, marker = line.partition(";")
        extra = re.search(r"extra\s*==\s*[\"']([^\"']+)", marker)
        if extra and extra[1] not in extras:
            continue
        needed = _NAME.match(wanted)
        asked = re.search(r"\[([^\]]*)\]", wanted)
        if needed:
            inner = frozenset(asked[1].replace(" ", "").split(",")) if asked else frozenset()
            _collect(needed[0], inner, found, seen)
