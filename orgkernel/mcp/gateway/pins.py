"""Reviewed definitions of tools. A server that changes a tool after somebody reviewed it is not believed.

`gateway.lock.json` has every definition as it was accepted, so that a diff of it can be read. The tools of a server that
nobody has seen yet are accepted when it is first asked, unless a review is required; every other difference waits for
`orgkernel gateway accept`.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from typing import Any, Literal

import msgspec

from orgkernel.diagnostics.wording import quote
from orgkernel.errors import UsageError
from orgkernel.loading.files import is_file, read_text
from orgkernel.project.replacing import replace_file

FILE = "gateway.lock.json"
_VERSION = 1

Definition = Mapping[str, Any]
"""A tool as its server lists it, in the words of MCP."""
Reviewed = Literal["accepted", "new", "changed"]


class _Server(msgspec.Struct, forbid_unknown_fields=True):
    tools: dict[str, dict[str, Any]]


class _Lock(msgspec.Struct, forbid_unknown_fields=True):
    version: int
    servers: dict[str, _Server]


def digest_of(definition: Definition) -> str:
    """What tells a definition from any other: all of it counts, in any order."""
    text = json.dumps(definition, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


class Pins:
    """The reviewed definitions of a file. One process may read what another accepts."""

    def __init__(self, path: str, *, require_review: bool = False) -> None:
        """Raises `UsageError` for a file that cannot be read."""
        self.path = path
        self.require_review = require_review
        self._stamp: object = None
        self._servers: dict[str, dict[str, dict[str, Any]]] = {}
        self._digests: dict[str, dict[str, str]] = {}
        self.refresh()

    def refresh(self) -> bool:
        """Read the file again if it has changed. Raises `UsageError`."""
        stamp = _stamp_of(self.path)
        if stamp == self._stamp:
            return False
        self._servers = _read(self.path) if stamp is not None else {}
        self._digests = {
            server: {name: digest_of(each) for name, each in tools.items()}
            for server, tools in self._servers.items()
        }
        self._stamp = stamp
        return True

    @property
    def servers(self) -> tuple[str, ...]:
        """The servers of which any tools were accepted, by name."""
        return tuple(sorted(self._servers))

    def knows(self, server: str) -> bool:
        """Whether any tools of a server were accepted."""
        return server in self._servers

    def definitions(self, server: str) -> Mapping[str, Definition]:
        """The accepted definitions of a server."""
        return self._servers.get(server, {})

    def review(self, server: str, name: str, digest: str) -> Reviewed:
        """Whether a definition is the accepted one."""
        accepted = self._digests.get(server, {}).get(name)
        if accepted is None:
            return "new"
        return "accepted" if accepted == digest else "changed"

    def accept(
        self, server: str, listed: Mapping[str, Definition], names: Iterable[str] | None = None
    ) -> None:
        """Accept the tools of a server as it lists them: all of them, or only some. Raises `UsageError`.

        Of all, those that the server no longer lists are forgotten.
        """
        self.refresh()
        known = dict(self._servers.get(server, {}))
        chosen = set(listed) | set(known) if names is None else set(names)
        for name in chosen:
            if name in listed:
                known[name] = dict(listed[name])
            else:
                known.pop(name, None)
        servers = {**self._servers, server: known}
        content = {
            "version": _VERSION,
            "servers": {
                each: {"tools": dict(sorted(tools.items()))} for each, tools in sorted(servers.items())
            },
        }
        try:
            replace_file(self.path, (json.dumps(content, indent=2, ensure_ascii=False) + "\n").encode())
        except OSError as error:
            raise UsageError(
                f"{quote(self.path)} cannot be written: {(error.strerror or str(error)).lower()}",
                "name another file with `--lock`, or accept the tools where it can be written",
            ) from None
        self.refresh()


def changed_fields(old: Definition, new: Definition) -> tuple[str, ...]:
    """The fields in which two definitions differ."""
    return tuple(sorted(name for name in {*old, *new} if old.get(name) != new.get(name)))


def _stamp_of(path: str) -> object:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns


def _read(path: str) -> dict[str, dict[str, dict[str, Any]]]:
    source = read_text(path, path)
    if source.refusal is not None or not is_file(path):
        raise UsageError(f"{quote(path)} cannot be read", "name another file with `--lock`")
    try:
        lock = msgspec.json.decode(source.text, type=_Lock)
    except (msgspec.DecodeError, msgspec.ValidationError) as error:
        raise UsageError(
            f"{quote(path)} is no file of accepted tools: {error}",
            "restore it, or remove it and accept the tools again",
        ) from None
    if lock.version != _VERSION:
        raise UsageError(
            f"{quote(path)} has the version {lock.version}", "upgrade orgkernel, or accept the tools again"
        )
    return {server: dict(each.tools) for server, each in lock.servers.items()}
