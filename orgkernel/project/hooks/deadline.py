"""End a hook before its host stops waiting for it: the host would let the call pass, and the hook refuses it."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

SECONDS: Final = 45
"""The hosts wait for 60 seconds. The rest is for the start of the process on a busy machine."""


class OutOfTime(BaseException):
    """The call takes too long to decide. No handler of errors may catch this, because a call could pass then."""


class Deadline:
    """Raises `OutOfTime` in the main thread, if its block takes too long. Windows has no such signal, so nothing happens there."""

    def __enter__(self) -> None:
        # The module `signal` takes longer to import than most answers.
        import _signal  # type: ignore[import-not-found]

        if hasattr(_signal, "setitimer"):
            _signal.signal(_signal.SIGALRM, _raise)
            _signal.setitimer(_signal.ITIMER_REAL, SECONDS)

    def __exit__(self, *_: object) -> None:
        import _signal

        if hasattr(_signal, "setitimer"):
            _signal.setitimer(_signal.ITIMER_REAL, 0)


def _raise(number: int, frame: object) -> None:
    raise OutOfTime
