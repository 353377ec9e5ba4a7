"""Compare the arguments of a call with the tests of a policy (docs/access.md, "Arguments").

Error policy: fails closed. A result is None if an argument cannot be compared: the tool may choose a value for an argument that
is left out, and hosts and texts can be written in ways that tools read differently. What cannot be compared matches a policy that
denies or asks.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import gt, lt
from typing import Any, Final, NamedTuple

from orgkernel.diagnostics.wording import quote
from orgkernel.documents.records import ArgumentTest, Tool
from orgkernel.runtime.paths import is_inside, may_touch

ArgumentTests = Sequence[tuple[str, ArgumentTest]]
"""Names of arguments with their tests, all of which a call has to pass."""
Passing = bool | None
"""Whether a value passes a test; None if that cannot be known."""
_MISSING: Final = object()
# Without a user name, a backslash, an escape, or a letter outside of ASCII, for which readers of URLs disagree.
_URL: Final = re.compile(
    r"[A-Za-z][A-Za-z0-9+.-]*://([A-Za-z0-9.-]+)(?::[0-9]{0,5})?(?:[/?#][!-~]*)?", re.ASCII
)

_NUMBER: Final = re.compile(r"[0-9]+|0x[0-9a-f]*")
_ADDRESS: Final = re.compile(r"(?:(?:0|[1-9][0-9]{0,2})\.){3}(?:0|[1-9][0-9]{0,2})")


class StatedInput(NamedTuple):
    """The input of a call, for the tests of policies."""

    values: Mapping[str, Any]
    optional: frozenset[str]
    """Arguments that can be left out without a default, according to the input schema of the tool."""
    root: str | None
    """The folder that relative paths start at, if the organization declares it."""
    is_outside: bool = False
    """Whether the input is assumed to fail the tests of every policy."""

    def match(self, tests: ArgumentTests) -> Passing:
        """Whether the input passes every test."""
        if self.is_outside:
            return False
        return _join(self._test(name, test) for name, test in tests)

    def list_unknown(self, tests: ArgumentTests) -> tuple[str, ...]:
        """The arguments for which it is unknown whether they pass."""
        return tuple(name for name, test in tests if self._test(name, test) is None)

    def is_missing(self, name: str) -> bool:
        """Whether an argument is left out."""
        return name not in self.values

    def _test(self, name: str, test: ArgumentTest) -> Passing:
        value = self.values.get(name, _MISSING)
        if value is _MISSING or value is None:
            return False if name in self.optional else None
        if not isinstance(value, list | tuple):
            return does_value_pass(test, value, self.root)
        # A call with several values passes if one of them does.
        results = [does_value_pass(test, each, self.root) for each in value]
        return True if True in results else None if None in results else False


OUTSIDE: Final = StatedInput({}, frozenset(), None, is_outside=True)
"""An input that no policy is about."""


def find_optional_arguments(tool: Tool) -> frozenset[str]:
    """The arguments that have no value if a call leaves them out: declared, not required, and without a default."""
    schema = tool.input_schema
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    if not isinstance(schema, Mapping) or not isinstance(properties, Mapping):
        return frozenset()
    required = schema.get("required")
    needed = frozenset(required) if isinstance(required, list | tuple) else frozenset()
    return frozenset(
        name
        for name, each in properties.items()
        if name not in needed and isinstance(each, Mapping) and not {"default", "$ref", "allOf"} & each.keys()
    )


def _join(results: Iterable[Passing]) -> Passing:
    """Whether all are true: False if one certainly is not, else None if one is unknown."""
    unknown = False
    for result in results:
        if result is False:
            return False
        unknown = unknown or result is None
    return None if unknown else True


def _negate(result: Passing) -> Passing:
    return None if result is None else not result


def does_value_pass(test: ArgumentTest, value: Any, root: str | None = None) -> Passing:
    """Whether a single value passes a test."""
    return _join(_iterate_results(test, value, root))


def _iterate_results(test: ArgumentTest, value: Any, root: str | None) -> Iterator[Passing]:
    if test.one_of:
        yield _is_listed(value, test.one_of)
    if test.none_of:
        yield _negate(_is_listed(value, test.none_of))
    if test.matches:
        yield _does_match(value, test.matches)
    if test.not_matches:
        yield _negate(_does_match(value, test.not_matches))
    if test.host_in:
        yield _is_host_in(value, test.host_in)
    if test.host_not_in:
        yield _negate(_is_host_in(value, test.host_not_in))
    if test.under:
        yield _is_under(value, test.under, root)
    if test.not_under:
        yield _negate(_is_under(value, test.not_under, root))
    if test.more_than is not None:
        yield _compare(gt, value, test.more_than)
    if test.less_than is not None:
        yield _compare(lt, value, test.less_than)
    if test.longer_than is not None:
        yield len(value) > test.longer_than if isinstance(value, str) else None


def _compare(holds: Callable[[float, float], bool], value: Any, limit: float) -> Passing:
    """Only a number is compared: a tool can read a text as any number."""
    return holds(value, limit) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _read_text(value: Any) -> str | None:
    if isinstance(value, str):
        return value
    return json.dumps(value) if isinstance(value, bool | int | float) else None


def _is_listed(value: Any, words: Iterable[str]) -> Passing:
    text = _read_text(value)
    words = tuple(words)
    if text is None:
        return None
    if text in words:
        return True
    # A tool may ignore case and surrounding spaces.
    return None if text.strip().casefold() in {word.strip().casefold() for word in words} else False


def _does_match(value: Any, patterns: Iterable[str]) -> Passing:
    text = _read_text(value)
    if text is None:
        return None
    patterns = tuple(patterns)
    if any(_match_pattern(text, pattern) for pattern in patterns):
        return True
    folded = text.strip().casefold()
    return None if any(_match_pattern(folded, pattern.strip().casefold()) for pattern in patterns) else False


def _match_pattern(text: str, pattern: str) -> bool:
    """Whether a pattern with stars matches the whole text, in time proportional to both lengths for each part."""
    first, *rest = pattern.split("*")
    if not rest:
        return text == pattern
    *middle, last = rest
    if len(text) < len(first) + len(last) or not (text.startswith(first) and text.endswith(last)):
        return False
    position, end = len(first), len(text) - len(last)
    for part in middle:
        found_at = text.find(part, position, end)
        if found_at < 0:
            return False
        position = found_at + len(part)
    return True


def read_host(value: Any) -> str | None:
    """The host of a URL in lower case; None if readers of URLs could find another one.

    >>> read_host("https://API.example.com:8443/v1?q=1"), read_host("https://example.com@evil.org/"), read_host("example.com")
    ('api.example.com', None, None)
    """
    match = _URL.fullmatch(value) if isinstance(value, str) else None
    if match is None or "\\" in value:
        return None
    host = match[1].lower().rstrip(".")
    # `2130706433` and `0x7f.1` are addresses for some readers and names for others.
    if _NUMBER.fullmatch(host.rpartition(".")[2]) and not _ADDRESS.fullmatch(host):
        return None
    return host


def _is_host_in(value: Any, hosts: Iterable[str]) -> Passing:
    host = read_host(value)
    if host is None:
        return None
    return any(
        host.endswith(each[1:].lower()) if each.startswith("*.") else host == each.lower() for each in hosts
    )


def _is_under(value: Any, globs: Iterable[str], root: str | None) -> Passing:
    if not isinstance(value, str):
        return None
    globs = tuple(globs)
    if any(is_inside(value, glob, root) for glob in globs):
        return True
    return None if any(may_touch(value, glob, root) for glob in globs) else False


# -- words -------------------------------------------------------------------------------------------------------------


def describe_tests(tests: ArgumentTests) -> str:
    """The tests in words, joined by "and".

    >>> describe_tests([("amount", ArgumentTest(more_than=500)), ("url", ArgumentTest(host_not_in=("example.com",)))])
    '`amount` is more than 500 and the host of `url` is not `example.com`'
    """
    return " and ".join(text for name, test in tests for text in _describe_test(quote(name), test))


def _describe_test(name: str, test: ArgumentTest) -> Iterator[str]:
    for values, verb in (
        (test.one_of, f"{name} is"),
        (test.none_of, f"{name} is not"),
        (test.matches, f"{name} matches"),
        (test.not_matches, f"{name} does not match"),
        (test.host_in, f"the host of {name} is"),
        (test.host_not_in, f"the host of {name} is not"),
        (test.under, f"{name} is a path in"),
        (test.not_under, f"{name} is a path outside of"),
    ):
        if values:
            yield f"{verb} {' or '.join(map(quote, values))}"
    if test.more_than is not None:
        yield f"{name} is more than {test.more_than:g}"
    if test.less_than is not None:
        yield f"{name} is less than {test.less_than:g}"
    if test.longer_than is not None:
        yield f"{name} is longer than {test.longer_than} characters"
