"""Data on stdout: JSON is always UTF-8, and neither JSON nor text contains terminal control characters."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

import click

from orgkernel.diagnostics.wording import printable
from orgkernel.loading.scalars import NumberOutOfRange, resolve_scalar

if TYPE_CHECKING:
    from orgkernel.decisions.reasons import Reason, Why

# Characters that JSON allows in strings, but terminals interpret or UTF-8 rejects. JSON itself escapes those below U+0020.
# They occur only in strings.
_ESCAPED = re.compile(r"[\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_TEXT = "tag:yaml.org,2002:str"


PLAIN_WIDTH = 110
"""The width of tables outside of a terminal."""
_COLOR_OF = {
    "error": "red", "warning": "yellow", "info": "blue",
    "allow": "green", "deny": "red", "ask": "yellow", "conditional": "yellow",
}  # fmt: skip


def has_colors() -> bool:
    """Whether stdout is a terminal whose user wants colors (no-color.org)."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def get_terminal_width() -> int | None:
    """The columns of the terminal; None if stdout is not a terminal."""
    if not sys.stdout.isatty():
        return None
    from shutil import get_terminal_size

    return get_terminal_size().columns


def paint(text: str, word: str) -> str:
    """Color a string by a severity or an outcome, on a terminal with colors."""
    return click.style(text, fg=_COLOR_OF[word], bold=True) if has_colors() else text


def echo_json(text: str) -> None:
    """Print a JSON string, with one newline at its end."""
    click.echo(_escape(text).rstrip("\n").encode() + b"\n", nl=False)


def echo_indented(value: Any, indent: int = 2) -> None:
    """Print a value as indented JSON."""
    import msgspec

    echo_json(msgspec.json.format(msgspec.json.encode(value), indent=indent).decode())


def echo_answer(form: str, value: Any, render: Callable[[], str]) -> None:
    """Print an answer as JSON, or as the string that `render` returns."""
    if form == "json":
        from orgkernel.manifest.v1 import encode

        echo_json(encode(value).decode())
    else:
        click.echo(render(), nl=False)


def join_lines(lines: Iterable[str]) -> str:
    """Lines without terminal control characters."""
    return "".join(f"{printable(line.rstrip())}\n" for line in lines)


def format_count(number: int, noun: str, plural: str = "") -> str:
    """A number of things.

    >>> format_count(1, "file"), format_count(1_200, "file"), format_count(2, "entry", "entries")
    ('1 file', '1,200 files', '2 entries')
    """
    if plural and number != 1:
        return f"{number:,} {plural}"
    return f"{number:,} {noun}" if number == 1 or noun == "info" else f"{number:,} {noun}s"


def list_places(whys: Iterable[Why], indent: str = "      ") -> Iterable[str]:
    """The places of some lines, each once."""
    return dict.fromkeys(f"{indent}{why.file}:{why.line}" for why in whys)


def render_reasons(reasons: Iterable[Reason]) -> Iterator[str]:
    """Reasons with the places that they rest on."""
    for reason in reasons:
        yield f"  because {reason.text}"
        yield from list_places(reason.why)


def render_yaml(value: Any) -> str:
    """A value as YAML that means the same in YAML 1.1 and 1.2."""
    import msgspec
    import yaml

    class Dumper(yaml.SafeDumper):
        def ignore_aliases(self, data: Any) -> bool:
            return True

    Dumper.add_representer(str, _represent_text)
    text: str = yaml.dump(
        msgspec.to_builtins(value), Dumper=Dumper, sort_keys=False, allow_unicode=True, width=110
    )
    return _escape(text)


def _escape(text: str) -> str:
    return _ESCAPED.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def _represent_text(dumper: Any, text: str) -> Any:
    """Quote strings that YAML 1.1 would read as other values. Strings with escapes get double quotes."""
    return dumper.represent_str(text) if _is_plain(text) else dumper.represent_scalar(_TEXT, text, style='"')


def _is_plain(text: str) -> bool:
    try:
        return isinstance(resolve_scalar(text), str) and not _ESCAPED.search(text)
    except NumberOutOfRange:
        return False
