"""Data on stdout: JSON is always UTF-8 and contains no terminal control characters."""

from __future__ import annotations

import re
from typing import Any

import click

from orgkernel.loading.scalars import NumberOutOfRange, resolve_scalar

# Allowed inside a JSON string, but acted on by terminals or rejected by UTF-8. JSON itself escapes characters below U+0020.
# None of these occurs outside of strings.
_ESCAPED = re.compile(r"[\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_TEXT = "tag:yaml.org,2002:str"


def echo_json(text: str) -> None:
    """Print a JSON text, with one newline at its end."""
    click.echo(_escape(text).rstrip("\n").encode() + b"\n", nl=False)


def as_yaml(value: Any) -> str:
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
    """PyYAML quotes texts that YAML 1.1 would read as other values. Texts with escapes need double quotes."""
    return dumper.represent_str(text) if _is_plain(text) else dumper.represent_scalar(_TEXT, text, style='"')


def _is_plain(text: str) -> bool:
    try:
        return isinstance(resolve_scalar(text), str) and not _ESCAPED.search(text)
    except NumberOutOfRange:
        return False
