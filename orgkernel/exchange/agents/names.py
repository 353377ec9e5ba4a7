"""Ids as names of agents and skills elsewhere: lowercase letters, digits and single hyphens."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping

LONGEST = 64
_PLAIN = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*\Z")
_ESCAPE = re.compile(r"x[0-9a-f]{2}\Z")
_RUN = re.compile(r"[a-z0-9]+|.", re.DOTALL)


def map_names(ids: Iterable[str]) -> Mapping[str, str]:
    """The name of each id: in lower case, with hyphens for underscores; every other character, or all that are in doubt, as `xHEX`.

    No two ids have one name, whatever other ids there are, and whatever their order.

    >>> dict(map_names(["code_reviewer", "Test-runner", "QA", "a_b", "a-b", "x2d"]))
    {'code_reviewer': 'code-reviewer', 'Test-runner': 'test-runner', 'QA': 'qa', 'a_b': 'a-x5f-b', 'a-b': 'a-b', 'x2d': 'x78-2d'}
    """
    plain = {each: each.replace("_", "-").lower() for each in ids}
    shared = Counter(plain.values())
    return {
        each: name if _is_plain(name) and (each == name or shared[name] == 1) else escape_name(each)
        for each, name in plain.items()
    }


def escape_name(each: str) -> str:
    """An id as a name from which it can be read again.

    >>> escape_name("a_b")
    'a-x5f-b'
    """
    words: list[str] = []
    for run in _RUN.findall(each):
        if _PLAIN.match(run) is None:
            words.append(f"x{ord(run):02x}")
        elif _ESCAPE.match(run):
            words += ["x78", run[1:]]
        else:
            words.append(run)
    return "-".join(words)


def _is_plain(name: str) -> bool:
    return _PLAIN.match(name) is not None and not any(map(_ESCAPE.match, name.split("-")))
