"""The location of a store: a file for SQLite, a URL for PostgreSQL, and the folder of its checkpoints."""

from __future__ import annotations

import hashlib
import os
import re
from dataclasses import dataclass

from orgkernel.diagnostics.wording import quote
from orgkernel.errors import BadStore
from orgkernel.runtime.lazy_patterns import lazy_pattern

DEFAULT = os.path.join(".orgkernel", "state.db")
_SCHEME = lazy_pattern(r"([A-Za-z][A-Za-z0-9+.-]*)://")
_POSTGRESQL = ("postgresql", "postgres", "postgresql+psycopg")
_HELP = "write the path of a file, or `postgresql://USER@HOST/DATABASE`"


@dataclass(frozen=True, slots=True)
class StoreLocation:
    """The location of the rows, and of the checkpoints that prove them."""

    url: str
    """URL of PostgreSQL for SQLAlchemy; empty for SQLite."""
    path: str
    """Path of the file; empty for PostgreSQL."""
    checkpoints: str
    """The folder of keys and checkpoints of the audit."""
    shown: str
    """Location for messages, without the password."""


def parse_location(text: str, folder: str) -> StoreLocation:
    """The location in a setting or option. Relative paths start at `folder`. Raises `BadStore`."""
    scheme = _SCHEME.match(text)
    if scheme is None or scheme[1] == "sqlite":
        path = text if scheme is None else _remove_quotes(text.removeprefix("sqlite://").removeprefix("/"))
        if not path or "\0" in path or path == ":memory:":
            raise BadStore(f"{quote(text)} is not the path of a file", _HELP)
        path = os.path.normpath(os.path.join(folder, path))
        return StoreLocation("", path, f"{path}.audit", path)
    if scheme[1] not in _POSTGRESQL:
        raise BadStore(f"{quote(_hide_password(text))} has an unknown scheme", _HELP)
    rest = text[scheme.end() :]
    name = hashlib.sha256(_hide_password(rest).encode("utf-8", "surrogatepass")).hexdigest()[:12]
    checkpoints = os.path.join(folder, ".orgkernel", f"postgresql-{name}.audit")
    return StoreLocation(
        f"postgresql+psycopg://{rest}", "", checkpoints, _hide_password(f"postgresql://{rest}")
    )


def _remove_quotes(path: str) -> str:
    from urllib.parse import unquote  # most stores are given as a path, and it takes as long as opening one

    return unquote(path)


def _hide_password(url: str) -> str:
    """The URL without its password."""
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(url if "://" in url else f"//{url}")
    except ValueError:
        return url.rpartition("@")[2]
    user, at, host = parts.netloc.rpartition("@")
    shown = parts._replace(netloc=user.partition(":")[0] + at + host).geturl()
    return re.sub(r"(?i)(password=)[^&]*", r"\1…", shown)
