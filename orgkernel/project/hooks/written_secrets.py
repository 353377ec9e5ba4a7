"""The secrets in what a tool call of a coding agent writes or runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from orgkernel.runtime.secret_shapes import UNSEARCHED, find_secrets, may_hold_secrets

_TEXTS: Final = ("content", "new_string", "new_source", "command")


def explain_secrets(tool_input: Mapping[str, Any]) -> Iterator[str]:
    """Why a call is denied: one sentence for each secret in its texts. No value is repeated."""
    for name, text in _list_texts(tool_input):
        if not may_hold_secrets(text):
            continue
        for secret in find_secrets(text):
            if secret.what != UNSEARCHED:
                yield (
                    f"SECRET_IN_PAYLOAD: `{name}` contains `{secret.masked}`, which looks like {secret.what}. Revoke it if it is "
                    "real, and read it at run time from the environment or a vault, by its name."
                )


def _list_texts(tool_input: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name in _TEXTS:
        if isinstance(text := tool_input.get(name), str):
            yield name, text
    edits = tool_input.get("edits")
    for edit in edits if isinstance(edits, list) else ():
        if isinstance(edit, dict) and isinstance(text := edit.get("new_string"), str):
            yield "new_string", text
