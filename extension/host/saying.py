"""Messages to people: lines in the chat's log, and the layer's state in a file that `orgkernel host status` reads."""

from __future__ import annotations

import contextlib
import json
import os
import threading
import time
from typing import Any

from . import places
from .memory import AgentMemory
from .runtime import secret_shapes

_NOTHING = {"loaded": None, "last_error": None, "since": None}
_status: dict[str, dict[str, Any]] = {}
_of_files: set[str] = set()
_told: set[tuple[str, str]] = set()
_MAX_TOLD = 1_000
_MAX_HEADING_LENGTH = 110
"""Maximum length of a heading after the mark of orgkernel. Hosts show 120 characters."""


def say(agent: Any, heading: str, *, content: str = "", kind: str = "info") -> None:
    """Write an entry to the chat's log: the event as its heading, and the reason as its content.

    `kind` is a type that every generation knows. Hosts cut a heading, so a long one is repeated in full as content.
    Secrets are masked.
    """
    heading, content = secret_shapes.mask_secrets(heading), secret_shapes.mask_secrets(content)
    if len(heading) > _MAX_HEADING_LENGTH:
        content = f"{heading}\n{content}".rstrip("\n")
        heading = f"{heading[:_MAX_HEADING_LENGTH].rpartition(' ')[0] or heading[:_MAX_HEADING_LENGTH]}…"
    agent.context.log.log(type=kind, heading=f"[ORG] {heading}", content=content)


def say_once(agent: Any, memory: AgentMemory, heading: str, *, content: str = "", kind: str = "info") -> None:
    """Write an entry to the chat's log, once per agent and heading."""
    if heading not in memory.said:
        memory.said.add(heading)
        say(agent, heading, content=content, kind=kind)


def say_trouble(agent: Any, text: str) -> None:
    """Log an error once in each chat, as a warning."""
    key = (str(getattr(agent.context, "id", "")), text)
    if key not in _told:
        if len(_told) >= _MAX_TOLD:
            _told.clear()
        _told.add(key)
        say(agent, text, kind="warning")


def note_status(
    folder: str, *, loaded: str | None = None, error: str | None = None, of_files: bool = False
) -> str:
    """Keep `status.json`: the loaded digest, and the last error with its time. It is written only when it changes.

    An error `of_files` ends when the files load without an error. Returns the problem if the file cannot be written,
    once; otherwise an empty text.
    """
    known = _status.setdefault(folder, dict(_NOTHING))
    changed = dict(known)
    if loaded is not None:
        changed["loaded"] = loaded
        if error is None and folder in _of_files:
            _of_files.remove(folder)
            changed.update(last_error=None, since=None)
    error = None if error is None else secret_shapes.mask_secrets(error)
    if error is not None and error != known["last_error"]:
        changed.update(last_error=error, since=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()))
    if error is not None:
        (_of_files.add if of_files else _of_files.discard)(folder)
    if changed == known:
        return ""
    _status[folder] = changed
    try:
        _write(os.path.join(folder, places.STATUS), changed)
    except OSError as problem:
        return f"{places.STATUS} cannot be written: {problem.strerror}"
    return ""


def _write(path: str, data: dict[str, Any]) -> None:
    """Write the file in one step, so that readers never see an incomplete file."""
    beside = f"{path}.{os.getpid()}.{threading.get_ident()}.tmp"
    try:
        with open(beside, "w", encoding="utf-8") as file:
            json.dump(data, file, indent=2)
        os.replace(beside, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(beside)
        raise
