"""The input of the call that a pending request is for, so that its approver sees what is asked.

It is deleted when the request is answered or has expired. With a key in `ORGKERNEL_INPUT_KEY`, it is encrypted in the store.
"""

from __future__ import annotations

import os
from collections.abc import Collection
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import delete, insert, select

from orgkernel.errors import BadStore
from orgkernel.state.tables import request_inputs

if TYPE_CHECKING:
    from cryptography.fernet import Fernet
    from sqlalchemy import Connection

VARIABLE: Final = "ORGKERNEL_INPUT_KEY"
MAX_BYTES: Final = 262_144
"""The longest input that is kept. An approver of a longer one sees only its digest."""
_SEALED = "fernet:"


def insert_input(connection: Connection, request_id: str, tool_input: bytes) -> None:
    """Within a change: keep the input of a request, unless it is too long. Raises `BadStore` for an unusable key."""
    if len(tool_input) > MAX_BYTES:
        return
    cipher = _find_cipher()
    text = tool_input.decode() if cipher is None else _SEALED + cipher.encrypt(tool_input).decode()
    connection.execute(insert(request_inputs).values(request_id=request_id, input=text))


def delete_inputs(connection: Connection, request_ids: Collection[str]) -> None:
    """Within a change: forget the inputs of requests."""
    connection.execute(delete(request_inputs).where(request_inputs.c.request_id.in_(request_ids)))


def find_input(connection: Connection, request_id: str) -> bytes | None:
    """The input of a request; None if none is kept. Raises `BadStore` if it cannot be decrypted."""
    row: Any = connection.scalar(
        select(request_inputs.c.input).where(request_inputs.c.request_id == request_id)
    )
    if row is None or not row.startswith(_SEALED):
        return None if row is None else str(row).encode()
    cipher = _find_cipher()
    if cipher is None:
        raise BadStore("the input of the request is encrypted", f"set {VARIABLE} to the key of the store")
    from cryptography.fernet import InvalidToken

    try:
        return cipher.decrypt(row.removeprefix(_SEALED))
    except InvalidToken:
        raise BadStore("the input of the request has another key", f"set {VARIABLE} to its key") from None


def _find_cipher() -> Fernet | None:
    key = os.environ.get(VARIABLE)
    if not key:
        return None
    try:
        from cryptography.fernet import Fernet
    except ImportError:
        raise BadStore(
            f"{VARIABLE} is set, and encryption needs `cryptography`",
            "install the extra `orgkernel[signing]`",
        ) from None
    try:
        return Fernet(key)
    except ValueError:
        raise BadStore(
            f"{VARIABLE} is not a key",
            "make one with `python -c 'from cryptography.fernet import Fernet; print(Fernet.generate_key().decode())'`",
        ) from None
