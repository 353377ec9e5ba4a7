"""Regular expressions that are compiled when they are first used.

A module with many of them takes ten times as long to import as one without, and most commands use few or none.
"""

from __future__ import annotations

import re
from typing import Any, AnyStr, cast

_METHODS = ("search", "match", "fullmatch", "finditer", "findall", "split", "sub", "subn")


def lazy_pattern(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """What `re.compile` returns, but for its type: functions of `re` take it no more than a name does.

    >>> lazy_pattern("[a-z]+").findall("a bc")
    ['a', 'bc']
    """
    return cast("re.Pattern[AnyStr]", _LazyPattern(pattern, flags))


class _LazyPattern:
    """Has the attributes of the compiled pattern, once one of them was asked for."""

    def __init__(self, pattern: Any, flags: int) -> None:
        self._source = pattern, flags

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)  # of protocols, such as that of copies
        compiled = re.compile(*self._source)
        # From now on the methods are found without this one.
        self.__dict__.update({each: getattr(compiled, each) for each in _METHODS})
        return getattr(compiled, name)
