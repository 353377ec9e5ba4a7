"""Regular expressions that are compiled on first use.

Compiling many patterns would make an import ten times slower, and most commands use few or none of them.
"""

from __future__ import annotations

import re
from typing import Any, AnyStr, cast

_METHODS = ("search", "match", "fullmatch", "finditer", "findall", "split", "sub", "subn")


def lazy_pattern(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """A pattern that compiles on first use. Use its methods: functions of `re` do not accept it.

    >>> lazy_pattern("[a-z]+").findall("a bc")
    ['a', 'bc']
    """
    return cast("re.Pattern[AnyStr]", _LazyPattern(pattern, flags))


class _LazyPattern:
    """Gets the attributes of the compiled pattern on the first access to one of them."""

    def __init__(self, pattern: Any, flags: int) -> None:
        self._source = pattern, flags

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)  # protocol methods, such as those of `copy`
        compiled = re.compile(*self._source)
        # From now on the methods are found without this one.
        self.__dict__.update({each: getattr(compiled, each) for each in _METHODS})
        return getattr(compiled, name)
