"""Recognize files by name: package manifests, migrations, files of environment variables."""

from __future__ import annotations

from fnmatch import fnmatchcase
from itertools import pairwise
from typing import Final

from orgkernel.decisions.ownership.paths import Key
from orgkernel.runtime.lazy_patterns import lazy_pattern

MANIFESTS: Final = frozenset(
    [
        "package.json",
        "package-lock.json",
        "npm-shrinkwrap.json",
        "yarn.lock",
        "pnpm-lock.yaml",
        "pnpm-workspace.yaml",
        "bun.lock",
        "bun.lockb",
        "pyproject.toml",
        "setup.py",
        "setup.cfg",
        "pipfile",
        "pipfile.lock",
        "poetry.lock",
        "uv.lock",
        "pdm.lock",
        "cargo.toml",
        "cargo.lock",
        "go.mod",
        "go.sum",
        "go.work",
        "gemfile",
        "gemfile.lock",
        "composer.json",
        "composer.lock",
        "pom.xml",
        "build.gradle",
        "build.gradle.kts",
        "gradle.lockfile",
        "mix.exs",
        "mix.lock",
        "pubspec.yaml",
        "pubspec.lock",
        "package.swift",
        "package.resolved",
        "deno.json",
        "deno.lock",
        "environment.yml",
        "conda-lock.yml",
    ]
)
"""Names of files that list dependencies or pin their versions."""
_MORE_MANIFESTS: Final = ("requirements*.txt", "constraints*.txt", "*.csproj", "*.gemspec")
_MIGRATION_FOLDERS: Final = frozenset({"migrations", "migrate"})
# Suffixes of files that show the form without values, such as `.env.example`.
_ENV: Final = lazy_pattern(r"\.env(rc)?(\..+)?|.+\.env")
_ENV_FORM: Final = lazy_pattern(r".*\.(example|sample|template|dist)")


def is_package_manifest(key: Key) -> bool:
    """Whether a file lists the dependencies of the project, or pins their versions.

    >>> is_package_manifest(("web", "package.json")), is_package_manifest(("web", "package.js"))
    (True, False)
    """
    return key[-1] in MANIFESTS or any(fnmatchcase(key[-1], each) for each in _MORE_MANIFESTS)


def is_migration(key: Key) -> bool:
    """Whether a file is a database migration.

    >>> is_migration(("db", "migrate", "7_cards.rb")), is_migration(("docs", "migrations.md"))
    (True, False)
    """
    folders = key[:-1]
    return not _MIGRATION_FOLDERS.isdisjoint(folders) or ("alembic", "versions") in pairwise(folders)


def is_env_file(key: Key) -> bool:
    """Whether a file contains values of environment variables, which only people read and write.

    >>> is_env_file((".env",)), is_env_file(("web", ".env.local")), is_env_file((".env.example",))
    (True, True, False)
    """
    return _ENV.fullmatch(key[-1]) is not None and _ENV_FORM.fullmatch(key[-1]) is None
