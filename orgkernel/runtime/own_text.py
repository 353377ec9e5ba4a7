"""Recognizes orgkernel's own texts when they come back in the history, quoted by a model or escaped as JSON.

orgkernel's supervisor adds instructions to the conversations of a host, and the classifiers of the host and of orgkernel read
all of a conversation. A classifier that mistakes such an
instruction for the task would react to itself again and again. So each text ends with a fingerprint of its words, and
a text with a matching fingerprint is removed before the conversation is used.

Standard library only: this module also runs inside hosts.
"""

from __future__ import annotations

import hashlib
import json
import re
from typing import Final

from .lazy_patterns import lazy_pattern

MARK: Final = "[ORG supervisor]"
_OWN: Final = lazy_pattern(re.escape(MARK) + r"\s+(.*?)\s+\[([0-9a-f]{8})\]", re.DOTALL)
# Control characters and invisible characters; `fold_to_one_line` also replaces brackets, which could fake the mark.
_UNPRINTABLE: Final = lazy_pattern(
    r"[\x00-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e0fff]+"
)


def mark_own_text(body: str) -> tuple[str, str]:
    """Append the fingerprint to a text. Double quotes and backslashes are replaced, because quoting changes them."""
    words = fold_to_one_line(body).replace('"', "'").replace("\\", "/")
    fingerprint = _compute_fingerprint(words)
    return f"{MARK} {words} [{fingerprint}]", fingerprint


def strip_own_text(text: str) -> str:
    """Remove orgkernel's own texts from a text. Everything else stays, even if it only looks like one of them."""
    return _OWN.sub(lambda match: "" if _is_own(match) else match[0], text) if MARK in text else text


def fold_to_one_line(text: str, limit: int | None = None) -> str:
    """Untrusted text on one line, without invisible characters, at most `limit` characters long."""
    words = " ".join(_UNPRINTABLE.sub(" ", text).replace("[", "(").replace("]", ")").split())
    return words if limit is None or len(words) <= limit else f"{words[: limit - 1].rstrip()}…"


def _is_own(match: re.Match[str]) -> bool:
    body, fingerprint = match[1], match[2]
    if _compute_fingerprint(body) == fingerprint:
        return True
    try:  # JSON may have escaped characters outside ASCII
        return _compute_fingerprint(json.loads(f'"{body}"', strict=False)) == fingerprint
    except ValueError:
        return False


def _compute_fingerprint(body: str) -> str:
    """A fingerprint of the words only, because a reader can wrap lines."""
    return hashlib.blake2s(" ".join(body.split()).encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()
