"""The errors of a server as exceptions: those that `Kernel` and the operations raise for the same reason."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from orgkernel.errors import NoAnswer, OrgkernelError, Refused, StoreError, TooManyRequests
from orgkernel.prepared_types import prepared

_TOO_MANY, _SERVER_ERROR = 429, 500


class _Problem(msgspec.Struct, frozen=True):
    detail: str = ""
    code: str = ""
    help: str = ""


def read_problem(status: int, body: bytes) -> OrgkernelError:
    """The exception for an answer with an error: the class with the code of the problem document, `TooManyRequests` or `Refused` for any other
    refusal, and `NoAnswer` for a failure of the server.
    """
    try:
        problem = msgspec.json.decode(body, type=prepared(_Problem))
    except msgspec.DecodeError:
        problem = _Problem()
    if not problem.code:
        return NoAnswer(f"the server answered with status {status}", "see whether it is an orgkernel server")
    known = {each.code: each for each in _list_errors(OrgkernelError)}.get(problem.code)
    if known is not None:
        return known(problem.detail, problem.help)
    if status >= _SERVER_ERROR:
        kind = StoreError if problem.code.startswith("STORE_") else NoAnswer
        return kind(problem.detail, problem.help)
    refusal = TooManyRequests if status == _TOO_MANY else Refused
    return refusal(problem.detail, problem.help, problem.code)


def _list_errors(root: type[OrgkernelError]) -> Iterator[type[OrgkernelError]]:
    for each in root.__subclasses__():
        if each.__module__ == root.__module__:
            yield each
            yield from _list_errors(each)
