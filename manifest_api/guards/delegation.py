"""The subject that triggered a run and the senders in it, from the headers of a request.

They only narrow the permissions of the credential: each link of a chain passes on what it may use itself, and an
unknown one nothing. So sending them needs no permission, and a header that is left out gives no more than the key
has.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from starlette.requests import Request

from manifest_api.guards.request_head import ON_BEHALF_OF, VIA, read_head
from manifest_api.problems import GIVEN_TWICE, INVALID_REQUEST, RequestRefused, say_invalid
from manifest_api.shapes import InvalidValue
from orgkernel.decisions.access.request import AccessRequest

_SUBJECT: Final = re.compile(r"[a-z]{1,20}:[!-+\--~]{1,150}")
_MAX_COUNT: Final = 16
"""Maximum number of links of a chain."""


def read_delegation(request: Request, subject: str) -> AccessRequest:
    """The circumstances of all questions of a request, without an action. Raises `RequestRefused`."""
    delegation_headers = read_head(request.scope).delegations
    named, via = _read_subjects(delegation_headers, ON_BEHALF_OF), _read_subjects(delegation_headers, VIA)
    if len(named) > 1:
        raise _build_refusal(ON_BEHALF_OF, "names several subjects, but only one subject triggers a run")
    if len(via) > _MAX_COUNT:
        raise _build_refusal(VIA, f"has more than {_MAX_COUNT} links")
    return AccessRequest(subject, "", "", on_behalf_of=named[0] if named else None, via=via)


def _read_subjects(delegation_headers: Mapping[bytes, tuple[bytes, ...]], name: bytes) -> tuple[str, ...]:
    values = delegation_headers.get(name, ())
    if len(values) > 1:
        raise _build_refusal(name, GIVEN_TWICE)
    subjects = tuple(each.strip() for each in values[0].decode("latin-1").split(",")) if values else ()
    for each in subjects:
        if not _SUBJECT.fullmatch(each):
            raise _build_refusal(name, "does not name subjects as `KIND:ID`")
    return subjects


def _build_refusal(name: bytes, message: str) -> RequestRefused:
    where = f"header.{name.decode()}"
    return RequestRefused(
        INVALID_REQUEST,
        say_invalid(f"`{where}`"),
        "write `role:ID` or `agent:ID`, from the first to the last, with commas between them",
        [InvalidValue(where=where, message=message)],
    )
