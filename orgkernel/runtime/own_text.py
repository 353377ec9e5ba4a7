"""How our own words are known again when they come back: in the history, quoted by a model, escaped as JSON.

Instructions that are written into a conversation are read by every layer that looks at it, ours included; a
classifier that takes them for the task goes round in circles (facts/agent_zero §9, point 13). So each text carries
the fingerprint of its words at its end, and what carries a fitting one is taken out before the text is used.

Standard library only: this module also runs inside hosts.
"""

from __future__ import annotations

import hashlib
import json
import re
from typing import Final

MARK: Final = "[ORG supervisor]"
_OWN: Final = re.compile(re.escape(MARK) + r"\s+(.*?)\s+\[([0-9a-f]{8})\]", re.DOTALL)
# Nothing that steers a terminal or a reader unseen, and no bracket that could be taken for our marks.
_UNPRINTABLE: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]+")


def mark_own_text(body: str) -> tuple[str, str]:
    """The text to say, and its fingerprint. Without double quotes and backslashes, which quoting would change."""
    words = one_line(body).replace('"', "'").replace("\\", "/")
    fingerprint = _fingerprint(words)
    return f"{MARK} {words} [{fingerprint}]", fingerprint


def strip_own_text(text: str) -> str:
    """A text without ours in it; everything else stays as it is, also what only looks like ours."""
    return _OWN.sub(lambda match: "" if _is_own(match) else match[0], text) if MARK in text else text


def one_line(text: str, limit: int | None = None) -> str:
    """Text of somebody else on one line, without what cannot be seen, at most `limit` characters long."""
    words = " ".join(_UNPRINTABLE.sub(" ", text).replace("[", "(").replace("]", ")").split())
    return words if limit is None or len(words) <= limit else f"{words[: limit - 1].rstrip()}…"


def _is_own(match: re.Match[str]) -> bool:
    body, fingerprint = match[1], match[2]
    if _fingerprint(body) == fingerprint:
        return True
    try:  # JSON may have escaped what is not ASCII
        return _fingerprint(json.loads(f'"{body}"', strict=False)) == fingerprint
    except ValueError:
        return False


def _fingerprint(body: str) -> str:
    """Of the words only: a reader may wrap lines."""
    return hashlib.blake2s(" ".join(body.split()).encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()
