"""Reviewed definitions of tools. A tool that changes after its review is withheld.

`gateway.lock.json` contains every definition as it was accepted, so its diff is readable. The tools of a new server
are accepted when it is first asked, unless a review is required; every other difference waits for `orgkernel gateway
accept`.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal

import msgspec

from orgkernel.diagnostics.wording import quote
from orgkernel.errors import UsageError
from orgkernel.prepared_types import prepared
from orgkernel.project.replacing import change_alone, replace_file
from orgkernel.runtime.regular_files import read_regular

FILE = "gateway.lock.json"
_VERSION = 1
# Written as JSON escapes, so that a diff shows everything that a model would read.
_UNSEEN = re.compile(
    r"[^\n -~\u00a1-\u00ac\u00ae-\u02ff\u0370-\u0482\u048a-\u0590\u3041-\u3096\u30a0-\u30ff\u4e00-\u9fff\uac00-\ud7a3]"
)

ToolDefinition = Mapping[str, Any]
"""A tool as its server lists it, in the words of MCP."""
Reviewed = Literal["accepted", "new", "changed"]


MAX_FILE_BYTES = 64 * 1024 * 1024
MAX_SERVER_BYTES = 8 * 1024 * 1024
"""Maximum sizes of the file and of the part of one server in bytes, so that no server fills it."""
WAIT_SECONDS = 2.0
"""How long another process may take to accept something."""


class _Server(msgspec.Struct, forbid_unknown_fields=True):
    tools: dict[str, dict[str, Any]]
    withheld: list[str] = []
    """The accepted tools that the server lists differently or no longer, when it was last asked."""
    declared: str = ""
    """Digest of the declaration with which an operator last accepted tools. Empty if only a gateway has accepted them."""


class _Lock(msgspec.Struct, forbid_unknown_fields=True):
    version: int
    servers: dict[str, _Server]


def compute_digest(definition: ToolDefinition) -> str:
    """Compute the digest of a definition over all its fields, in any order."""
    text = json.dumps(definition, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def compute_declaration_digest(server: str, declaration: bytes) -> str:
    """Compute the digest of a declaration. It is slow, because a declaration can contain a secret that could be guessed."""
    return hashlib.scrypt(declaration, salt=server.encode(), n=2**14, r=8, p=1, dklen=32).hex()


class Pins:
    """The reviewed definitions of a file. One process can read what another accepts."""

    def __init__(self, path: str, *, require_review: bool = False) -> None:
        """Raises `UsageError` for a file that cannot be read."""
        self.path = path
        self.require_review = require_review
        self.generation = 0
        """How often the file was read. What was compared with an older one is not to be believed."""
        self._stamp: object = None
        self._servers: dict[str, dict[str, dict[str, Any]]] = {}
        self._withheld: dict[str, frozenset[str]] = {}
        self._declared: dict[str, str] = {}
        self._digests: dict[str, dict[str, str]] = {}
        self._encoded: dict[str, bytes] = {}
        """Encoded parts of the file, keyed by server, so a new server does not require encoding all others again."""
        self.refresh()

    def refresh(self) -> int:
        """Read the file again if it has changed. Returns the generation. Raises `UsageError`."""
        stamp = _read_stamp(self.path)
        if stamp == self._stamp:
            return self.generation
        if stamp is None:
            raise UsageError(
                f"{quote(self.path)} is missing, so the accepted tools are unknown",
                "restore it; or start the gateway again, and it accepts what the servers list then",
            )
        lock = _read(self.path)
        self._servers = {server: dict(each.tools) for server, each in lock.items()}
        self._withheld = {server: frozenset(each.withheld) for server, each in lock.items() if each.withheld}
        self._declared = {server: each.declared for server, each in lock.items() if each.declared}
        self._digests = {server: _map_digests(tools) for server, tools in self._servers.items()}
        self._encoded = {}
        self._stamp = stamp
        self.generation += 1
        return self.generation

    @property
    def servers(self) -> tuple[str, ...]:
        """The servers of which any tools were accepted, by name."""
        return tuple(sorted(self._servers))

    def knows(self, server: str) -> bool:
        """Whether tools of a server were accepted."""
        return server in self._servers

    def definitions(self, server: str) -> Mapping[str, ToolDefinition]:
        """The accepted definitions of a server."""
        return self._servers.get(server, {})

    def withheld(self, server: str) -> frozenset[str]:
        """The accepted tools of a server that were withheld when it was last asked."""
        return self._withheld.get(server, frozenset())

    def is_declaration_accepted(self, server: str, declaration: bytes) -> bool:
        """Whether an operator has accepted tools of a server that was declared in this way."""
        known = self._declared.get(server)
        return known is not None and known == compute_declaration_digest(server, declaration)

    def review(self, server: str, name: str, digest: str) -> Reviewed:
        """Whether a definition is the accepted one."""
        accepted = self._digests.get(server, {}).get(name)
        if accepted is None:
            return "new"
        return "accepted" if accepted == digest else "changed"

    def accept(
        self,
        server: str,
        listed: Mapping[str, ToolDefinition],
        names: Iterable[str] | None = None,
        declaration: bytes = b"",
    ) -> None:
        """Accept the tools that a server lists: all or only some of them. Raises `UsageError`.

        With a `declaration`, a running gateway may use the server as it is declared there. If all are accepted, tools that the server no longer lists are removed.
        """

        def accept_listed(known: _Server) -> _Server:
            tools = dict(known.tools)
            chosen = set(listed) | set(tools) if names is None else set(names)
            for name in chosen:
                if name in listed:
                    tools[name] = dict(listed[name])
                else:
                    tools.pop(name, None)
            declared = compute_declaration_digest(server, declaration) if declaration else known.declared
            return _Server(tools, sorted(set(known.withheld) - chosen), declared)

        self._change(server, accept_listed)

    def note_withheld(self, server: str, names: frozenset[str]) -> None:
        """Note which accepted tools of a server are withheld now, so that no list shows them before it is asked again.

        Raises `UsageError`.
        """
        if names != self.withheld(server):
            self._change(server, lambda known: _Server(known.tools, sorted(names), known.declared))

    def _change(self, server: str, change: Callable[[_Server], _Server]) -> None:
        """Write the part of a server. Raises `UsageError`."""
        try:
            with change_alone(self.path, WAIT_SECONDS):
                self.refresh()
                known = change(self._get_part(server))
                if os.path.islink(self.path):
                    raise ValueError("it is a link")
                encoded = _encode(server, known)
                _require_readable(server, known, encoded)
                for each in self._servers.keys() - self._encoded.keys():
                    self._encoded[each] = _encode(each, self._get_part(each))
                replace_file(self.path, _encode_file({**self._encoded, server: encoded}))
                self._encoded[server] = encoded
                # Written content is not read again: with many servers, each new server would read all of them.
                self._servers = {**self._servers, server: known.tools}
                self._withheld = {**self._withheld, server: frozenset(known.withheld)}
                self._declared = {**self._declared, server: known.declared}
                self._digests[server] = _map_digests(known.tools)
                self._stamp = _read_stamp(self.path)
                self.generation += 1
        except RecursionError:
            raise UsageError(f"a tool of {quote(server)} is nested too deeply", "leave it out") from None
        except (OSError, ValueError) as error:
            raise UsageError(
                f"{quote(self.path)} cannot be written: {_describe_reason(error)}",
                "name another file with `--lock`, or accept the tools where it can be written",
            ) from None

    def _get_part(self, server: str) -> _Server:
        """The part of a server as it was last read or written."""
        return _Server(
            self._servers.get(server, {}), sorted(self.withheld(server)), self._declared.get(server, "")
        )


def _map_digests(tools: Mapping[str, ToolDefinition]) -> dict[str, str]:
    return {name: compute_digest(each) for name, each in tools.items()}


def _require_readable(server: str, part: _Server, encoded: bytes) -> None:
    """Raise `ValueError` for a definition that is too large, or that could not be read back unchanged."""
    if len(encoded) > MAX_SERVER_BYTES:
        raise ValueError(f"the tools of {quote(server)} have more than {MAX_SERVER_BYTES} bytes")
    if _decode(_encode_file({server: encoded})) != {server: part}:
        raise ValueError("it has a number that readers disagree on")


def _encode(server: str, part: _Server) -> bytes:
    """Encode the part of a server. Raises `ValueError` for values that are not valid JSON."""
    fields: dict[str, Any] = {"tools": dict(sorted(part.tools.items()))}
    if part.withheld:
        fields["withheld"] = part.withheld
    if part.declared:
        fields["declared"] = part.declared
    content = {server: fields}
    text = json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False)
    text = _UNSEEN.sub(lambda match: json.dumps(match[0])[1:-1], text)
    return text[2:-2].replace("\n", "\n  ").encode()  # without the braces, and one level deeper


def _encode_file(servers: Mapping[str, bytes]) -> bytes:
    """Encode the content of the file. Raises `ValueError` if it is too large."""
    listed = b",\n  ".join(servers[each] for each in sorted(servers))
    content = b'{\n  "version": %d,\n  "servers": {\n  %b\n  }\n}\n' % (_VERSION, listed)
    if len(content) > MAX_FILE_BYTES:
        raise ValueError(f"it would have more than {MAX_FILE_BYTES} bytes")
    return content


def _decode(content: bytes) -> dict[str, _Server]:
    """Decode a file. Raises `ValueError`, or `UsageError` for another version."""
    try:
        lock = msgspec.json.decode(content, type=prepared(_Lock))
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if lock.version != _VERSION:
        raise UsageError(
            f"the file of accepted tools has the version {lock.version}",
            "upgrade orgkernel, or accept the tools again",
        )
    return lock.servers


def list_changed_fields(old: ToolDefinition, new: ToolDefinition) -> tuple[str, ...]:
    """The fields in which two definitions differ."""
    return tuple(sorted(name for name in {*old, *new} if old.get(name) != new.get(name)))


def _read_stamp(path: str) -> object:
    try:
        status = os.stat(path)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _build_unreadable_error(path, error) from None
    return status.st_ino, status.st_size, status.st_mtime_ns


def _build_unreadable_error(path: str, error: OSError | ValueError) -> UsageError:
    return UsageError(
        f"{quote(path)} cannot be read: {_describe_reason(error)}", "name another file with `--lock`"
    )


def _describe_reason(error: OSError | ValueError) -> str:
    system_message = error.strerror if isinstance(error, OSError) else None
    return (system_message or str(error)).lower()


def _read(path: str) -> dict[str, _Server]:
    try:
        content = read_regular(path, MAX_FILE_BYTES + 1)
    except (OSError, ValueError) as error:
        raise _build_unreadable_error(path, error) from None
    try:
        return _decode(content)
    except ValueError as error:  # msgspec's among them
        raise UsageError(
            f"{quote(path)} is not a file of accepted tools: {error}",
            "restore it, or remove it and accept the tools again",
        ) from None
