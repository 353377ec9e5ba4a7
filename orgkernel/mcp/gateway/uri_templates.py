"""Match the URI of a resource with a template of a server (RFC 6570).

A value cannot leave its part of the template: a simple expression has no slash, and no segment is `.` or `..`. A template must
begin with a literal scheme, so that no server claims the URIs of all others. The time is at most proportional to the length of
the URI times the number of parts, because both come from others.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple
from urllib.parse import unquote

_MAX_PARTS: Final = 64
_MAX_LENGTH: Final = 4_096
"""Characters of a template, and of a URI that is compared with one."""
_PARTS: Final = re.compile(r"\{([+#./;?&]?)([^{}]*)\}|([^{}]+)")
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_NEVER: Final = frozenset(map(chr, range(33))) | {"\\", "\x7f"}
_RESERVED: Final = _NEVER | frozenset("/?#")
_FORBIDDEN: Final = {
    "": _RESERVED, "+": _NEVER, "#": _NEVER, ".": _RESERVED, "/": _RESERVED, ";": _RESERVED, "?": _RESERVED, "&": _RESERVED,
}  # fmt: skip
"""The characters that the value of an expression cannot have, by its operator."""


class _Expression(NamedTuple):
    """A part of a template that has a value."""

    lead: str
    """The character before the value; empty if there is none."""
    forbidden: frozenset[str]


_Part = str | _Expression


def does_template_match(template: object, uri: str) -> bool:
    """Whether a URI has the form of a template."""
    if not isinstance(template, str) or len(template) > _MAX_LENGTH or len(uri) > _MAX_LENGTH:
        return False
    parts = _parse_template(template)
    if parts is None or not _is_inside(uri):
        return False
    places = {0}
    for part in parts:
        if isinstance(part, str):
            places = {place + len(part) for place in places if uri.startswith(part, place)}
        else:
            places = _match_expression(part, uri, places)
    return len(uri) in places


@lru_cache(maxsize=1_024)
def _parse_template(template: str) -> tuple[_Part, ...] | None:
    """The parts of a template. None if it is not one, or has no literal scheme."""
    matches = [*_PARTS.finditer(template)]
    if len(matches) > _MAX_PARTS or "".join(match[0] for match in matches) != template:
        return None
    parts: list[_Part] = []
    for match in matches:
        if match[3] is not None:
            parts.append(match[3])
            continue
        operator, names = match[1], match[2]
        is_list = "," in names or names.endswith("*")
        repeated = frozenset(operator) if operator in ("/", ".", ";") and is_list else frozenset()
        parts.append(_Expression("" if operator == "+" else operator, _FORBIDDEN[operator] - repeated))
    is_bound = bool(parts) and isinstance(parts[0], str) and _SCHEME.match(parts[0]) is not None
    return tuple(parts) if is_bound else None


def _match_expression(part: _Expression, uri: str, places: set[int]) -> set[int]:
    """The places after the value of an expression, which can also be missing."""
    reached = set(places)
    for place in sorted(places):
        if part.lead and not uri.startswith(part.lead, place):
            continue
        start = place + len(part.lead)
        while start <= len(uri):
            if start in reached and start != place:
                break  # the rest was reached from an earlier place
            reached.add(start)
            if start == len(uri) or uri[start] in part.forbidden:
                break
            start += 1
    return reached


def _is_inside(uri: str) -> bool:
    """Whether no segment of a URI leads elsewhere, once its escapes are read."""
    segments = re.split(r"[/\\?#]", unquote(uri))
    return not {".", ".."}.intersection(segments)
