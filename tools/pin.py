"""`make pin`: write the commits of actions and the digests of base images into the files that name them.

An action keeps its major version: the newest release of it is taken. A base image keeps its tag.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path

WORKFLOWS = tuple(sorted(Path(".github/workflows").glob("*.yml")))
IMAGES = (Path("deploy/Containerfile"), Path("deploy/compose.yaml"))
_ACTION = re.compile(r"uses: (?P<name>[\w.-]+/[\w.-]+)@[0-9a-f]{40} # v(?P<major>\d+)(?:\.\d+)*")
_IMAGE = re.compile(r"(?P<begins>FROM |image: )(?P<tag>[\w./-]+:[\w.-]+)(?:@sha256:[0-9a-f]{64})?")
_RELEASE = re.compile(r"([0-9a-f]{40})\trefs/tags/v(\d+)\.(\d+)\.(\d+)(\^\{\})?")


def pin_actions(text: str, find_tags: Callable[[str], str]) -> str:
    """A workflow with the newest commits. `find_tags` is what `git ls-remote --tags` says of a repository."""

    def newest(match: re.Match[str]) -> str:
        releases: dict[tuple[int, int, int], str] = {}
        for commit, *version, _ in sorted(
            _RELEASE.findall(find_tags(match["name"])), key=lambda found: found[4]
        ):
            major, minor, patch = map(int, version)
            releases[major, minor, patch] = commit  # a signed tag is followed by the commit it is for
        mine = [version for version in releases if version[0] == int(match["major"])]
        if not mine:
            return match[0]
        version = max(mine)
        return f"uses: {match['name']}@{releases[version]} # v{'.'.join(map(str, version))}"

    return _ACTION.sub(newest, text)


def pin_images(text: str, find_digest: Callable[[str], str]) -> str:
    """A container or compose file with today's digests."""
    return _IMAGE.sub(lambda match: f"{match['begins']}{match['tag']}@{find_digest(match['tag'])}", text)


@cache
def _tags(repository: str) -> str:
    return _output("git", "ls-remote", "--tags", f"https://github.com/{repository}")


@cache
def _digest(image: str) -> str:
    return _output(
        "docker", "buildx", "imagetools", "inspect", "--format", "{{.Manifest.Digest}}", image
    ).strip()


def _output(*command: str) -> str:
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def _rewrite(paths: Iterable[Path], pin: Callable[[str], str]) -> None:
    for path in paths:
        before = path.read_text(encoding="utf-8")
        after = pin(before)
        if after != before:
            path.write_text(after, encoding="utf-8")
            print(f"wrote {path}")


if __name__ == "__main__":
    _rewrite(WORKFLOWS, lambda text: pin_actions(text, _tags))
    _rewrite(IMAGES, lambda text: pin_images(text, _digest))
