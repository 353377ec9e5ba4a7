"""The card key in a file, and earlier public keys, which still verify old signatures for a while.

`FILE` contains the private key. `FILE.before.json` contains the former public keys, each with the time until which
it is published.
"""

from __future__ import annotations

import contextlib
import json
import os
from typing import Any

import msgspec

from orgkernel.diagnostics.wording import quote
from orgkernel.errors import UsageError
from orgkernel.exchange.a2a.signing import CardSigner, create_key
from orgkernel.prepared_types import prepared
from orgkernel.private_files import can_others_use, write_new
from orgkernel.runtime.regular_files import FileIdentity, NotRegular, find_identity, read_regular

_MAX_BYTES = 64 * 1024
_MAX_FORMER_KEYS = 8
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)


class FormerKey(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A public key that signed cards before."""

    jwk: dict[str, str]
    until: float
    """Seconds since 1970-01-01 UTC."""


class CardKeys:
    """The keys in a file. They are read again when the file or its list of former keys changes."""

    def __init__(self, path: str) -> None:
        """Raises `UsageError` for a file that cannot be used."""
        self.path = path
        self._seen: tuple[FileIdentity | None, ...] = ()
        self._signer, self._former = self._read()

    def signer(self) -> CardSigner:
        """The signer with the current key."""
        self._refresh()
        return self._signer

    def published(self, now: float) -> dict[str, Any]:
        """The public keys that verify cards at a time, as a JWKS: first the current key, then the former ones."""
        self._refresh()
        former = [each.jwk for each in self._former if now < each.until]
        return {"keys": [self._signer.public_key, *former]}

    def _refresh(self) -> None:
        """Read the files again if they have changed. Files that cannot be used change nothing."""
        if self._read_identities() != self._seen:
            with contextlib.suppress(UsageError):
                self._signer, self._former = self._read()

    def _read(self) -> tuple[CardSigner, tuple[FormerKey, ...]]:
        self._seen = self._read_identities()
        return CardSigner(_read_private(self.path)), _read_former(_beside(self.path))

    def _read_identities(self) -> tuple[FileIdentity | None, ...]:
        return find_identity(self.path), find_identity(_beside(self.path))


def create_card_key(path: str) -> CardSigner:
    """Make a key in a file that must not exist. Raises `UsageError`."""
    content = create_key()
    try:
        write_new(path, content)
    except OSError as error:
        raise UsageError(
            f"the key {quote(path)} cannot be written: {(error.strerror or str(error)).lower()}",
            "name a new file; `orgkernel key card rotate` replaces a key",
        ) from None
    return CardSigner(content)


def rotate_card_key(path: str, now: float, until: float) -> CardSigner:
    """Replace the card key. The old public key is published until the given time. Raises `UsageError`."""
    signer = CardSigner(_read_private(path))
    former = [each for each in _read_former(_beside(path)) if now < each.until]
    kept = [FormerKey(signer.public_key, until), *former][:_MAX_FORMER_KEYS]
    content = create_key()
    try:
        # First the list: publishing a key too early is harmless, but an unpublished key cannot verify signatures.
        _replace(_beside(path), msgspec.json.encode(kept) + b"\n")
        _replace(path, content)
    except OSError as error:
        raise UsageError(
            f"the key {quote(path)} cannot be replaced: {(error.strerror or str(error)).lower()}"
        ) from None
    return CardSigner(content)


def render_keys(keys: dict[str, Any]) -> str:
    """Render a JWKS as JSON."""
    return json.dumps(keys, indent=2) + "\n"


def _beside(path: str) -> str:
    return f"{path}.before.json"


def _replace(path: str, content: bytes) -> None:
    new = f"{path}.new"
    if os.path.lexists(new):
        os.unlink(new)
    write_new(new, content)
    os.rename(new, path)


def _read_private(path: str) -> bytes:
    """The content of a key file that only its owner and a group can read. Raises `UsageError`."""
    content = _read(path)
    if can_others_use(path):
        raise UsageError(
            f"the key {quote(path)} can be read or written by other users of this machine",
            f"own it, and run `chmod 600 {path}`; if they may have read it, make a new one",
        )
    return content


def _read_former(path: str) -> tuple[FormerKey, ...]:
    if not os.path.lexists(path):
        return ()
    try:
        return tuple(msgspec.json.decode(_read(path), type=prepared(list[FormerKey])))
    except (msgspec.MsgspecError, UnicodeDecodeError):
        raise UsageError(f"{quote(path)} is not a list of former keys", "restore it, or remove it") from None


def _read(path: str) -> bytes:
    try:
        return read_regular(path, _MAX_BYTES)
    except NotRegular:
        raise UsageError(f"the key {quote(path)} is not a regular file") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "its name cannot be used"
        raise UsageError(f"the key {quote(path)} cannot be read: {reason.lower()}") from None
