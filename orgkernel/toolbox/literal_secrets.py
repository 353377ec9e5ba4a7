"""Secrets in the declaration of a server, by where they stand: its environment, headers, URLs and options.

Every value there can be a secret, whatever it looks like, and is masked in errors, logs and reports. In results, which
are the work of a server, values are left that a result repeats for a good reason: those under a name that states a
place, a language or a format, and short ones of the environment.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final, Literal, NamedTuple

from orgkernel.runtime.url_secrets import MASK, find_url_secrets, mask_urls
from orgkernel.toolbox.masking import Masker
from orgkernel.toolbox.providers import HttpApi, McpServer

SECRET_NAME: Final = re.compile(
    r"key|token|secret|userinfo|passw|pwd|credential|authorization|cookie|signature|\bpat\b|_pat\b|\bsig\b|\bpin\b",
    re.IGNORECASE,
)
"""Names whose values are secrets, however short they are."""
_ORDINARY_NAME: Final = re.compile(
    r"(?:\A|[_.-])(?:path|dirs?|directory|directories|folders?|home|roots?|files?|hosts?|hostname|ports?|urls?|uri|endpoint"
    r"|base|origin|region|zone|locale?|lang|language|tz|timezone|env|environment|mode|level|format|encoding|accept|type"
    r"|agent|version|model|org|organi[sz]ation|owner|repo|repository|project|workspace|team|user|username|email|name|ids?"
    r"|ref|tools|toolsets?|features?|read_?only|debug|verbose|timeout|limit)\Z",
    re.IGNORECASE,
)
_ORDINARY_HEADER: Final = re.compile(
    r"(?:accept|content)(?:-.*)?\Z|(?:.*-)?(?:user-agent|version)\Z", re.IGNORECASE
)
_Place = Literal["header", "url", "environment", "option"]
_MIN_LENGTHS: Final[dict[_Place, int]] = {"header": 1, "url": 1, "option": 1, "environment": 6}
"""Minimum length of values that are masked in errors. Shorter ones of an environment are words such as `true`."""
_MIN_LENGTHS_IN_RESULTS: Final[dict[_Place, int]] = {"header": 6, "url": 6, "option": 6, "environment": 8}
"""The same for results. The `Masker` has a minimum of its own for all values."""
_SCHEME: Final = re.compile(r"(?:Basic|Bearer|Token|ApiKey)\s+", re.IGNORECASE)
_OPTION: Final = re.compile(r"(--?[A-Za-z][\w.-]*)(?:=(.*))?\Z", re.DOTALL)
_PAIR_OPTIONS: Final = frozenset({"-e", "--env", "-H", "--header"})
"""Options that take a name and a value, such as `-e NAME=VALUE` and `--header "NAME: VALUE"`."""
_PAIR: Final = re.compile(r"([\w.-]+)\s*[=:]\s*(.*)\Z", re.DOTALL)


class PlacedValue(NamedTuple):
    """A value in a declaration, the name under which it stands, and its place."""

    name: str
    value: str
    place: _Place


class LiteralMaskers(NamedTuple):
    """The maskers for one server."""

    results: Masker
    texts: Masker
    """For errors, and for everything that is not the work of the server."""


def build_maskers(provider: McpServer | HttpApi, credentials: Mapping[str, str]) -> LiteralMaskers:
    """The maskers for the values of a provider and for credentials."""
    literals = list(find_literals(provider))
    results = [each.value for each in literals if _is_masked_in_results(each)]
    texts = [each.value for each in literals if _is_long_enough(each, _MIN_LENGTHS)]
    return LiteralMaskers(_build_masker(results, credentials), _build_masker([*results, *texts], credentials))


def find_literals(provider: McpServer | HttpApi) -> Iterator[PlacedValue]:
    """All values in places of secrets."""
    for name, value in provider.headers.items():
        yield from _list_header_values(name, value)
    if isinstance(provider, HttpApi):
        yield from _find_in_urls(provider.url)
        return
    for name, value in provider.environment.items():
        yield PlacedValue(name, value, "environment")
        yield from _find_in_urls(value)
    if isinstance(provider.server, str):
        yield from _find_in_urls(provider.server)
    else:
        yield from _find_in_arguments(provider.server[1:])


def mask_target(server: str | tuple[str, ...]) -> str:
    """The URL or the command of a server, without the values in places of secrets.

    >>> mask_target(("run", "--api-key", "abc", "https://a.example/?k=v"))
    'run --api-key *** https://a.example/?k=***'
    """
    if isinstance(server, str):
        return mask_urls(server)
    command, *arguments = server
    secrets = [each.value for each in _find_in_arguments(arguments, with_urls=False) if each.value]
    pattern = re.compile("|".join(map(re.escape, sorted(secrets, key=len, reverse=True))))
    shown = (pattern.sub(MASK, each) if secrets else each for each in arguments)
    return " ".join([command, *map(mask_urls, shown)])


def _find_in_arguments(
    arguments: tuple[str, ...] | list[str], *, with_urls: bool = True
) -> Iterator[PlacedValue]:
    previous = ""
    for argument in arguments:
        option = _OPTION.match(argument)
        name, value = (option[1], option[2] or "") if option else (previous, argument)
        pair = _PAIR.match(value) if name in _PAIR_OPTIONS else None
        if pair is not None:
            yield from _list_header_values(pair[1], pair[2])
        elif value and name and SECRET_NAME.search(name):
            yield PlacedValue(name, value, "option")
        if with_urls:
            yield from _find_in_urls(argument)
        previous = argument if option and not option[2] else ""


def _find_in_urls(text: str) -> Iterator[PlacedValue]:
    return (PlacedValue(name, value, "url") for name, value in find_url_secrets(text))


def _list_header_values(name: str, value: str) -> Iterator[PlacedValue]:
    """The value of a header without its scheme, and the values of URLs in it."""
    yield PlacedValue(name, _SCHEME.sub("", value, count=1), "header")
    yield from _find_in_urls(value)


def _is_masked_in_results(placed: PlacedValue) -> bool:
    if SECRET_NAME.search(placed.name):
        return True
    ordinary = _ORDINARY_HEADER if placed.place == "header" else _ORDINARY_NAME
    return _is_long_enough(placed, _MIN_LENGTHS_IN_RESULTS) and not ordinary.search(placed.name)


def _is_long_enough(placed: PlacedValue, least: Mapping[_Place, int]) -> bool:
    """Whether a value is masked although it is short. Under a name that states a secret it always is."""
    return len(placed.value) >= least[placed.place] or bool(SECRET_NAME.search(placed.name))


def _build_masker(values: list[str], credentials: Mapping[str, str]) -> Masker:
    return Masker({**credentials, **{f"literal {number}": each for number, each in enumerate(values)}})
