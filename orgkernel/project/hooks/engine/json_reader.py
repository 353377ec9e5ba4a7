"""Read and write JSON without the `json` package, whose import takes longer than everything else that the hook does.

Its parser in C is used as the package uses it. Where that is not there, and if this engine is off, the package is.
"""

from __future__ import annotations

from orgkernel.engines import is_on

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_SPACE = " \t\n\r"


class _Context:
    """What the parser asks of its decoder."""

    strict = True
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int = int

    def __init__(self) -> None:
        self.memo: dict[str, str] = {}

    @staticmethod
    def parse_constant(name: str) -> Any:
        """NaN and infinities are not valid JSON."""
        raise ValueError(f"{name} is not valid JSON")


def parse(content: bytes) -> Any:
    """The value of a JSON text in UTF-8; what `json.loads` returns, except numbers that JSON does not have, such as `NaN`.

    Raises ValueError or RecursionError.
    """
    text = content.decode("utf-8-sig")
    try:
        if not is_on("json_reader"):
            return _parse_with_json(text)
        from _json import make_scanner
    except ImportError:
        return _parse_with_json(text)
    start = len(text) - len(text.lstrip(_SPACE))
    try:
        # The parser asks any object for these names.
        value, end = make_scanner(_Context())(text, start)  # type: ignore[arg-type]
    except StopIteration:
        raise ValueError("it ends too early") from None
    except SystemError:
        # The parser takes its exception from `json.decoder`, which is not imported here.
        raise ValueError("it is not JSON") from None
    if text[end:].strip(_SPACE):
        raise ValueError("there is text after it")
    return value


def quote(text: str) -> str:
    """A text as a JSON string in ASCII."""
    try:
        if not is_on("json_reader"):
            return _quote_with_json(text)
        from _json import encode_basestring_ascii
    except ImportError:
        return _quote_with_json(text)
    quoted: str = encode_basestring_ascii(text)
    return quoted


def _parse_with_json(text: str) -> Any:
    from json import loads

    return loads(text, parse_constant=_Context.parse_constant)


def _quote_with_json(text: str) -> str:
    from json import dumps

    return dumps(text)
