"""Requests with an idempotency key: run once, and answered again with the first response."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import msgspec

from orgkernel.errors import Conflict

if TYPE_CHECKING:
    from orgkernel.kernel.stored import Store

MAX_KEY = 255
_CHANGE_UNKNOWN = '"code":"STORE_BUSY"'


class KeptResponse(msgspec.Struct, frozen=True):
    """The response to the first request with a key."""

    status: int
    headers: str
    """The headers, as a JSON object."""
    body: str


def is_idempotency_key(key: str) -> bool:
    """Whether a text can be a key: 1 to 255 visible ASCII characters."""
    return 0 < len(key) <= MAX_KEY and all("!" <= each <= "~" for each in key)


def digest_request(method: str, path: str, query: bytes, body: bytes) -> str:
    """The digest of a request, which a repetition must have too."""
    parts = (method.encode(), path.encode(), query, body)
    # The length before each part keeps two requests from having one text.
    return "sha256:" + hashlib.sha256(b"".join(b"%d:%s" % (len(each), each) for each in parts)).hexdigest()


def begin_request(store: Store, caller: str, key: str, request_digest: str) -> KeptResponse | None:
    """The response to an earlier request with this key. None if there is none: then the request may run.

    Raises `Conflict`: `IDEMPOTENCY_KEY_REUSED` for a key of another request, `IDEMPOTENCY_KEY_IN_USE` for one whose request has
    no response.
    """
    record = store.idempotency_keys.begin(caller, key, request_digest)
    if record is None:
        return None
    if record.request_digest != request_digest:
        raise Conflict(
            "this idempotency key was used for another request",
            "send each change with a key of its own",
            "IDEMPOTENCY_KEY_REUSED",
        )
    if record.status is None:
        raise Conflict(
            "the first request with this idempotency key has no response yet",
            "try again later; if it never ends, look whether the change was made, and send it with another key if it was not",
            "IDEMPOTENCY_KEY_IN_USE",
        )
    return KeptResponse(record.status, record.headers or "{}", record.response or "")


def finish_request(store: Store, caller: str, key: str, response: KeptResponse) -> None:
    """Keep the response to a request.

    If the server could not answer and changed nothing, the key is free again. After a fault, or a store that was too slow, it is
    unknown whether the change was made, so the key stays taken without a response.
    """
    if response.status == 503 and _CHANGE_UNKNOWN not in response.body:
        store.idempotency_keys.release(caller, key)
    elif response.status < 500:
        store.idempotency_keys.finish(caller, key, response.status, response.headers, response.body)
