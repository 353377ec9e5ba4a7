"""The options and the results of a check of `orgkernel doctor`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import msgspec

from orgkernel.errors import OrgkernelError

if TYPE_CHECKING:
    from manifest_api.guards.tls import TlsFiles

CheckStatus = Literal["ok", "warning", "problem"]
Lines = Iterator[tuple[CheckStatus, str, str]]
"""The result of a check, with its help."""


class CheckResult(msgspec.Struct, frozen=True):
    """The result of one check."""

    check: str
    status: CheckStatus
    message: str
    help: str = ""


@dataclass(frozen=True, slots=True)
class CheckupOptions:
    """The options of a checkup, with the same meaning as those of `orgkernel serve`."""

    folder: str
    environment: Mapping[str, str]
    paths: tuple[str, ...] = ()
    store: str | None = None
    host: str = "127.0.0.1"
    needs_key: bool = False
    tls: TlsFiles | None = None
    budget: int = 0
    offline: bool = False


def run_check(name: str, check: Callable[[], Lines]) -> Iterator[CheckResult]:
    """Run a check. An exception becomes a problem, and the other checks continue."""
    try:
        for status, message, help in check():
            yield CheckResult(name, status, message, help)
    except OrgkernelError as error:
        yield CheckResult(name, "problem", error.message, error.help)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        where = f"`{error.filename}`: " if error.filename else ""
        yield CheckResult(name, "problem", f"{where}{reason}", "allow this user to read it")
