"""Build the circumstances of a request from plain values, such as those of a JSON object."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from orgkernel.decisions.access.request import AccessContext
from orgkernel.diagnostics.validation_text import describe_unfit
from orgkernel.diagnostics.wording import quote
from orgkernel.errors import UsageError
from orgkernel.prepared_types import prepared


def build_context(values: Mapping[str, Any]) -> AccessContext:
    """The context from some values, whose names the caller has checked. Raises `UsageError` for a bad value."""
    try:
        return msgspec.convert(values, prepared(AccessContext))
    except msgspec.ValidationError as error:
        message, place = describe_unfit(error)
        raise UsageError(
            f"the context has a bad value at {quote(place.removeprefix('.'))}: {message}"
        ) from None
