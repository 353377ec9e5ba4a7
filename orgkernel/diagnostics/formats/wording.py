"""How other programs show a finding: on one line, without control characters and secrets."""

from __future__ import annotations

from orgkernel.diagnostics.diagnostic import Diagnostic
from orgkernel.diagnostics.wording import printable
from orgkernel.runtime.secret_shapes import mask_secrets


def clean(text: str) -> str:
    """Text on one line, control characters written out, secrets masked."""
    return printable(mask_secrets(text))


def sentence(found: Diagnostic) -> str:
    """What is wrong, and in parentheses what to do about it."""
    return clean(f"{found.message} ({found.help})" if found.help else found.message)


def title(found: Diagnostic) -> str:
    """Code and name of the rule."""
    return clean(f"{found.code} {found.name}")
