"""What `pip install orgkernel` brings: how many packages, how large, and what each extra adds."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from importlib.metadata import Distribution, distribution
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.support.trees import REPOSITORY

MOST_PACKAGES = 38
MOST_BYTES = 60_000_000
"""Of the files that pip writes, without the modules that Python compiles from them, which differ with each version."""
PROJECT: dict[str, Any] = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))
DEFAULT: list[str] = PROJECT["project"]["dependencies"]
EXTRAS: dict[str, list[str]] = PROJECT["project"]["optional-dependencies"]


def find_all(required: list[str]) -> dict[str, Distribution]:
    """The installed packages that these requirements bring, by name."""
    packages: dict[str, Distribution] = {}
    pending = [(Requirement(each), "") for each in required]
    done: set[tuple[str, str]] = set()
    while pending:
        requirement, extra = pending.pop()
        if requirement.marker is not None and not requirement.marker.evaluate({"extra": extra}):
            continue
        name = canonicalize_name(requirement.name)
        packages[name] = distribution(name)
        for wanted in ("", *requirement.extras):
            if (name, wanted) not in done:
                done.add((name, wanted))
                pending += ((Requirement(each), wanted) for each in packages[name].requires or ())
    return packages


def count_bytes(package: Distribution) -> int:
    paths = (package.locate_file(file) for file in package.files or () if file.suffix != ".pyc")
    return sum(path.stat().st_size for path in paths if path.exists())  # type: ignore[attr-defined]


def count_own_bytes() -> int:
    """What the wheel holds, as `pyproject.toml` says."""
    wheel = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]
    folders = (REPOSITORY / folder for folder in (*wheel["packages"], *wheel["force-include"]))
    excluded = [REPOSITORY / path for path in wheel["exclude"]]
    files = (
        path
        for folder in folders
        for path in folder.rglob("*")
        if path.suffix != ".pyc" and not any(path.is_relative_to(each) for each in excluded)
    )
    return sum(path.stat().st_size for path in files if path.is_file())


def locked_names(file: str) -> set[str]:
    text = (REPOSITORY / "requirements" / file).read_text(encoding="utf-8")
    return {canonicalize_name(name) for name in re.findall(r"^([\w.-]+)==", text, re.MULTILINE)}


def test_the_default_is_small() -> None:
    """At most 38 packages and 60 MB with orgkernel itself. The largest are named if there are more."""
    packages = find_all(DEFAULT)
    sizes = {name: count_bytes(package) for name, package in packages.items()} | {
        "orgkernel": count_own_bytes()
    }
    assert len(sizes) <= MOST_PACKAGES, sorted(sizes)
    assert sum(sizes.values()) <= MOST_BYTES, sorted(sizes.items(), key=lambda each: -each[1])[:10]
    assert all(sizes.values()), "a package without files was not counted"


def test_the_locked_default_is_what_is_counted() -> None:
    """`run.lock` has these packages and those that build orgkernel, and no others."""
    built = find_all(PROJECT["dependency-groups"]["build"])
    assert locked_names("run.lock") == find_all(DEFAULT).keys() | built.keys()


def test_the_default_brings_nothing_of_an_extra() -> None:
    """Each extra but `all` adds at least one package."""
    default = find_all(DEFAULT).keys()
    for extra, required in EXTRAS.items():
        if extra != "all":
            assert find_all(required).keys() - default, extra


def test_all_is_every_extra() -> None:
    """`orgkernel[all]` names each of the others."""
    (everything,) = map(Requirement, EXTRAS["all"])
    assert (everything.name, everything.extras) == ("orgkernel", EXTRAS.keys() - {"all"})


def test_every_extra_is_explained() -> None:
    """The page about installing has a row for each, and none for another."""
    page = (REPOSITORY / "docs/how-to/install.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)) == set(EXTRAS)


def test_hints_name_extras_that_exist() -> None:
    """Code and pages that say `orgkernel[NAME]`, or `install the extra`, mean one of ours."""
    assert set(_named_extras()) <= set(EXTRAS)


def _named_extras() -> Iterator[str]:
    for folder, pattern in (
        ("orgkernel", "*.py"),
        ("manifest_api", "*.py"),
        ("docs", "*.md"),
        ("deploy", "*"),
    ):
        for path in (REPOSITORY / folder).rglob(pattern):
            if path.is_file() and "adr" not in path.parts:
                for names in re.findall(r"(?:orgkernel|'\.)\[([\w,]+)\]", path.read_text(encoding="utf-8")):
                    yield from names.split(",")
