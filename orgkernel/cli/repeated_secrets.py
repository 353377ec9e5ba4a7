"""Keep secrets from the arguments of a command out of its output, because terminals and CI record output."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Any, TextIO

from orgkernel.runtime.secret_shapes import map_secrets


def without_secrets(stream: TextIO, arguments: Sequence[str]) -> TextIO:
    """The stream itself, or one that masks secrets from the arguments of the command."""
    secrets = map_secrets("\n".join(arguments)) | map_secrets(" ".join(arguments))
    if not secrets or not hasattr(stream, "buffer"):
        return stream
    below: Any = _Overwriting(stream.buffer, secrets)
    return io.TextIOWrapper(below, stream.encoding, "backslashreplace", write_through=True)


class _Overwriting(io.BufferedIOBase):
    """A byte stream in which each write is a complete message, as commands print them."""

    def __init__(self, to: Any, secrets: Mapping[str, str]) -> None:
        import json  # few command lines hold a secret

        self._to = to
        self._masks = {
            form.encode("utf-8", "backslashreplace"): mask.encode()
            for secret, mask in secrets.items()
            for form in (secret, json.dumps(secret, ensure_ascii=False)[1:-1], json.dumps(secret)[1:-1])
        }

    def write(self, written: Any) -> int:
        """Write a message without the secrets."""
        message = bytes(written)
        for secret, mask in self._masks.items():
            message = message.replace(secret, mask)
        self._to.write(message)
        return len(written)

    def writable(self) -> bool:
        """Always."""
        return True

    def isatty(self) -> bool:
        """Whether the wrapped stream is a terminal."""
        return bool(self._to.isatty())

    def fileno(self) -> int:
        """The file descriptor of the wrapped stream."""
        return int(self._to.fileno())

    def flush(self) -> None:
        """Let the stream below write."""
        self._to.flush()
