"""Which engines are on. An engine is code in an `engine` package: it gives the same answers as plain code
elsewhere, but faster.

`ORGKERNEL_ENGINES=off` switches all of them off, and `ORGKERNEL_DISABLE_ENGINES=http_client,row_inserts` those it names.
Answers are the same either way (ADR 0073). The environment is read once, when this module is imported. The hook of
Claude Code imports it, so it imports nothing that a started Python does not have.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

ENGINES = {
    "fast_path": "evaluations over HTTP without the routing of the framework",
    "gateway_calls": "calls of tools over HTTP, read and answered without the MCP SDK",
    "static_rows": "lists of rights from two numbers, where documents alone decide",
    "row_inserts": "rows of the audit and counts of calls, written without SQLAlchemy",
    "http_client": "calls of tools of HTTP servers, sent without a session of the MCP SDK",
    "json_reader": "JSON in the hook of Claude Code without the `json` package",
    "digests": "digests in the hook of Claude Code without `hashlib`",
    "light_start": "writes and commands in the hook of file owners, without the libraries of the full program",
    "glob_matcher": "plain paths and globs in the hook of Claude Code without regular expressions",
}
"""What each engine does, by its name."""
ALL = "ORGKERNEL_ENGINES"
SOME = "ORGKERNEL_DISABLE_ENGINES"


def read_disabled(environment: Mapping[str, str]) -> frozenset[str]:
    """The engines that an environment switches off. Warns of names that no engine has."""
    if environment.get(ALL, "").strip().lower() == "off":
        return frozenset(ENGINES)
    names = frozenset(environment.get(SOME, "").replace(",", " ").split())
    if unknown := names.difference(ENGINES):
        import warnings

        known = ", ".join(sorted(ENGINES))
        text = f"{SOME} names engines that do not exist: {', '.join(sorted(unknown))}; engines are {known}"
        warnings.warn(text, RuntimeWarning, stacklevel=2)
    return names


_disabled = set(read_disabled(os.environ))


def is_on(name: str) -> bool:
    """Whether an engine may answer."""
    return name not in _disabled


class EnginesOff:
    """Within `with EnginesOff("row_inserts"):` some engines are off, for tests and benchmarks of both ways.

    It counts for what is built or asked within it, in all threads of this process.
    """

    def __init__(self, *names: str) -> None:
        self._names = frozenset(names) - _disabled

    def __enter__(self) -> None:
        _disabled.update(self._names)

    def __exit__(self, *_: object) -> None:
        _disabled.difference_update(self._names)
