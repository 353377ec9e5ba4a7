"""`--context`: the circumstances of a question, for the commands that decide about access."""

from __future__ import annotations

from typing import Any

import click
import msgspec

from orgkernel.cli.opening import with_options
from orgkernel.decisions.access.plain_context import build_context
from orgkernel.decisions.access.request import AccessContext
from orgkernel.diagnostics.wording import did_you_mean, listing, quote
from orgkernel.errors import UsageError

# The names of the circumstances: the fields of `AccessContext`.
_CIRCUMSTANCES = tuple(AccessContext.__struct_fields__)

context_option = click.option(
    "--context", "context_json", default="", metavar="JSON",
    help='Circumstances, such as `{"channel": "slack", "peer_kind": ""}`; an empty string says that there is none.',
)  # fmt: skip

input_option = click.option(
    "--input", "input_json", default="", metavar="JSON",
    help='Arguments of the call, such as `{"amount": 120}`; the same as `input` of `--context`.',
)  # fmt: skip

run_options = with_options(
    click.option(
        "--on-behalf-of", metavar="SUBJECT",
        help="Subject that triggered the run; its tools, credentials and data are the upper bound.",
    ),
    click.option("--via", multiple=True, metavar="SUBJECT", help="Subjects that handed the work down, first to last; repeatable."),
    context_option,
)  # fmt: skip
"""Circumstances that only a host knows, for commands that serve one subject during a whole run."""


def parse_context(text: str, input_text: str = "") -> AccessContext:
    """Parse the circumstances of a question, and the arguments of a call, from JSON. Raises `UsageError` for invalid ones."""
    if not (text or input_text):
        return AccessContext()
    fields = _parse_object(text, "the context", 'write `--context \'{"channel": "slack"}\'`') if text else {}
    if input_text:
        if "input" in fields:
            raise UsageError("the input is given twice", "remove `--input`, or `input` from `--context`")
        fields["input"] = parse_input(input_text)
    for name in fields:
        if name not in _CIRCUMSTANCES:
            help = did_you_mean(name, _CIRCUMSTANCES) or f"known names are {listing(_CIRCUMSTANCES)}"
            raise UsageError(f"unknown name {quote(name)} in the context", help)
    return build_context(fields)


def parse_input(text: str) -> dict[str, Any] | None:
    """Parse the arguments of a call from JSON; None for an empty text. Raises `UsageError` for invalid ones."""
    return _parse_object(text, "the input", "write `--input '{\"amount\": 120}'`") if text else None


def _parse_object(text: str, what: str, example: str) -> dict[str, Any]:
    try:
        value = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        raise UsageError(f"{what} is not JSON", example) from None
    if not isinstance(value, dict):
        raise UsageError(f"{what} is not a JSON object", example)
    return value
