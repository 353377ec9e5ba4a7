"""A real git repository, made commit by commit."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

_SETTINGS = (
    "user.email=worker@example.org",
    "user.name=worker",
    "commit.gpgsign=false",
    "init.defaultBranch=main",
)


class GitRepository:
    """A repository in a folder that is made."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.git("init", "--quiet")

    def git(self, *arguments: str, input: bytes | None = None, env: Mapping[str, str] | None = None) -> str:
        """Run git; what it prints."""
        settings = [word for each in _SETTINGS for word in ("-c", each)]
        own = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        own |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", **(env or {})}
        done = subprocess.run(
            ["git", *settings, *arguments],
            cwd=self.folder,
            env=own,
            input=input,
            capture_output=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr.decode(errors="replace")
        return done.stdout.decode(errors="surrogateescape").strip()

    def write(self, files: Mapping[str, str | bytes | None]) -> None:
        """Write files. None deletes one."""
        for name, content in files.items():
            path = os.fsencode(self.folder) + b"/" + name.encode("utf-8", "surrogateescape")
            if content is None:
                os.unlink(path)
                continue
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as file:
                file.write(content if isinstance(content, bytes) else content.encode())

    def commit(
        self,
        files: Mapping[str, str | bytes | None] | None = None,
        brief: str | None = None,
        message: str = "work",
    ) -> str:
        """Commit files, and everything else that was changed; the id of the commit."""
        self.write(files or {})
        self.git("add", "--all")
        said = f"{message}\n\nBrief: {brief}" if brief else message
        self.git("commit", "--quiet", "--allow-empty", "--message", said)
        return self.git("rev-parse", "HEAD")
