"""Typical rules of settings, each with calls that Claude Code refuses because of it and calls that it leaves alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from orgkernel import AccessContext, AccessRequest, Kernel
from tests.support.claude_trees import AGENTS, agent
from tests.support.trees import write_tree

TOOLS = "Read, Grep, Glob, LS, NotebookRead, Edit, MultiEdit, Write, Bash, WebFetch"
# A rule, calls that it denies, and calls that it does not. A call is a tool with a path, or a command in brackets.
ROWS: list[tuple[str, list[str], list[str]]] = [
    ("Read(./.env)", ["Read:.env", "Edit:.env"], ["Read:src/a.py", "Write:b"]),
    ("Read(./.env.*)", ["Read:.env.local"], ["Read:env.md"]),
    ("Read(**/.env)", ["Read:web/.env", "Grep:web/.env"], ["Read:web/a"]),
    ("Read(./secrets/**)", ["Read:secrets/a", "LS:secrets/b"], ["Read:src/secrets.py"]),
    ("Read(secrets/)", ["Read:secrets/a"], ["Read:a"]),
    ("Read(**/*.pem)", ["Read:certs/a.pem"], ["Read:certs/a.txt"]),
    ("Read(./config/credentials.json)", ["Read:config/credentials.json"], ["Read:config/a.json"]),
    ("Read(~/.ssh/**)", ["Read:~/.ssh/id", "Read:/home/a/.ssh/id", "Read:/root/.ssh/id"], ["Read:src/a", "Read:~/notes"]),
    ("Grep(~/.ssh/**)", ["Grep:~/.ssh/id", "Glob:/Users/a/.ssh"], ["Grep:src", "Read:/srv/a/b/c"]),
    ("Glob(~/.ssh/**)", ["Glob:~/.ssh", "LS:~/.ssh"], ["Glob:src"]),
    ("LS(~/.ssh/**)", ["LS:~/.ssh/x", "NotebookRead:~/.ssh/a.ipynb"], ["LS:docs"]),
    ("Read(~/.aws/**)", ["Read:~/.aws/credentials", "Write:~/.aws/config"], ["Write:src/a"]),
    ("Read(~/.gnupg/**)", ["Read:/home/a/.gnupg/x"], ["Read:/home/a/work/p/src/a"]),
    ("Read(~/.netrc)", ["Read:~/.netrc"], ["Read:netrc.md"]),
    ("Read(~/.config/gh/**)", ["Read:~/.config/gh/hosts.yml"], ["Read:~/.config/fish/a"]),
    ("Read(~/.kube/config)", ["Read:~/.kube/config"], ["Read:kube/a"]),
    ("Read(~/.docker/config.json)", ["Read:~/.docker/config.json"], ["Read:docker/a.json"]),
    ("Read(~/Documents/**)", ["Read:~/Documents/a"], ["Read:src/a"]),
    ("Edit(~/.bashrc)", ["Edit:~/.bashrc", "Write:/home/a/.bashrc"], ["Edit:src/a", "Read:~/.bashrc"]),
    ("Edit(~/.zshrc)", ["Write:~/.zshrc"], ["Write:zsh.md"]),
    ("Write(~/.ssh/authorized_keys)", ["Write:~/.ssh/authorized_keys"], ["Write:a"]),
    ("Read(//etc/**)", ["Read:/etc/passwd", "Grep:/etc", "LS:/etc/ssh"], ["Read:src/a", "Read:/srv/a"]),
    ("Read(//etc/shadow)", ["Read:/etc/shadow"], ["Read:/etc/hosts", "Read:a"]),
    ("Edit(//etc/**)", ["Edit:/etc/hosts", "Write:/etc/a"], ["Read:/etc/hosts", "Edit:a"]),
    ("Write(//usr/**)", ["Write:/usr/bin/a"], ["Write:usr.md"]),
    ("Read(//var/log/**)", ["Read:/var/log/syslog"], ["Read:/var/lib/a", "Read:src/a"]),
    ("Read(//proc/**)", ["Read:/proc/1/environ"], ["Read:proc.c"]),
    ("Read(//**/.env)", ["Read:/srv/a/.env", "Read:.env"], ["Read:src/a"]),
    ("Edit(//tmp/**)", ["Write:/tmp/a"], ["Write:tmp.md"]),
    ("Edit(/docs/**)", ["Edit:docs/a.md"], ["Edit:src/docs.py"]),
    ("Edit(.github/**)", ["Write:.github/workflows/a.yml"], ["Write:a.yml"]),
    ("Edit(**/package-lock.json)", ["Edit:web/package-lock.json"], ["Edit:web/package.json"]),
    ("Write(.git/**)", ["Write:.git/config"], ["Write:git.md"]),
    ("Edit(migrations/**)", ["Edit:migrations/1.sql"], ["Edit:src/1.sql", "Read:migrations/1.sql"]),
    ("Bash(rm:*)", ["Bash[rm -rf a]", "Bash[cd a && rm b]"], ["Bash[ls]", "Bash[npm test]"]),
    ("Bash(rm -rf *)", ["Bash[rm -rf a]"], ["Bash[rm a]"]),
    ("Bash(sudo:*)", ["Bash[sudo ls]"], ["Bash[ls]"]),
    ("Bash(git push:*)", ["Bash[git push]", "Bash[git -C a push]"], ["Bash[git status]"]),
    ("Bash(git push --force:*)", ["Bash[git push --force]"], ["Bash[git push]"]),
    ("Bash(git reset --hard:*)", ["Bash[git reset --hard HEAD]"], ["Bash[git reset a]"]),
    ("Bash(curl:*)", ["Bash[curl x]"], ["Bash[ls]"]),
    ("Bash(curl * | bash)", ["Bash[curl x | bash]"], ["Bash[ls]", "Bash[git log | head]"]),
    ("Bash(wget * | sh)", ["Bash[wget -O - x | sh]"], ["Bash[make]"]),
    ("Bash(npm publish:*)", ["Bash[npm publish]"], ["Bash[npm test]"]),
    ("Bash(chmod 777 *)", ["Bash[chmod 777 a]"], ["Bash[chmod 644 a]"]),
    ("Bash(dd:*)", ["Bash[dd if=a of=b]"], ["Bash[ls]"]),
    ("Bash(ssh *)", ["Bash[ssh a]"], ["Bash[ls]"]),
    ("Bash(docker run:*)", ["Bash[docker run a]"], ["Bash[docker ps]"]),
    ("Bash(ls*)", ["Bash[ls -l]", "Bash[lsof]"], ["Bash[cat a]"]),
    ("WebFetch", ["WebFetch"], ["Read:a"]),
]  # fmt: skip


def ask(kernel: Kernel, call: str) -> str:
    tool, bracket, command = call.partition("[")
    context = AccessContext(input={"command": command[:-1]}) if bracket else AccessContext()
    return kernel.can("shop", AccessRequest("role:a", "use", f"tool:{tool}", context)).outcome


def test_there_are_fifty_of_them() -> None:
    """Each is another rule."""
    assert len({rule for rule, _, _ in ROWS}) == 50


@pytest.mark.parametrize(("rule", "denied", "allowed"), ROWS, ids=[row[0] for row in ROWS])
def test_a_typical_rule_is_decided_as_by_its_host(
    rule: str, denied: list[str], allowed: list[str], tmp_path: Path
) -> None:
    """It denies what the host denies, and nothing else here."""
    files = {
        ".claude/settings.json": json.dumps({"permissions": {"deny": [rule]}}),
        f"{AGENTS}/a.md": agent("a", "Use it.", TOOLS),
    }
    kernel = Kernel.open(write_tree(tmp_path / "shop", files))
    assert {call: ask(kernel, call) for call in denied} == dict.fromkeys(denied, "deny")
    assert {call: ask(kernel, call) for call in allowed} == dict.fromkeys(allowed, "allow")
