"""Chooses findings by their codes (`--select`, `--ignore`), counts them, and shortens long lists of the same kind."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import click

from orgkernel.diagnostics import Diagnostic, Severity
from orgkernel.diagnostics.wording import did_you_mean, quote

_MAX_SHOWN_IN_FULL = 5
"""Number of pieces of information of one kind that are shown in full; of more, only the first ones are."""
_SHOWN_ALIKE = 3
_MAX_ABOUT_AGENTS, _SHOWN_ABOUT_AGENTS = 2, 1
"""The same for information about agents, which a tree with many agents has for each of them."""
_OF_AGENT = "role:"
_OF_WHOLE_TREES = frozenset({"ORG621", "ORG752", "ORG768"})
"""Rules with a warning for most agents or skills of some trees, each with other words."""
_SEPARATOR = re.compile(r"[,\s]+")


class CodeChoice:
    """The findings that are reported: those of some codes, without those of others."""

    def __init__(self, select: Sequence[str], ignore: Sequence[str]) -> None:
        """Codes, beginnings of codes, or names of rules, separated by commas. Raises `click.UsageError` for an unknown one."""
        self._select = tuple(_resolve(select))
        self._ignore = tuple(_resolve(ignore))
        self.is_limited = bool(select or ignore)

    def does_report(self, code: str) -> bool:
        """Whether findings with a code are reported."""
        return (not self._select or code.startswith(self._select)) and not (
            self._ignore and code.startswith(self._ignore)
        )


def _resolve(listed: Iterable[str]) -> Iterator[str]:
    """The codes, or beginnings of codes, for words of the command line."""
    words = [word for text in listed for word in _SEPARATOR.split(text) if word]
    if not words:
        return
    from orgkernel.rules.pages import build_all_pages  # slow to import: it imports every rule

    names = {page.code: page.name for page in build_all_pages().values()}
    by_name = {name: code for code, name in names.items()}
    for word in words:
        upper = word.upper()
        if any(code.startswith(upper) for code in names):
            yield upper
        elif word in by_name:
            yield by_name[word]
        else:
            help = did_you_mean(upper, list(names)) or did_you_mean(word, list(by_name))
            raise click.UsageError(
                f"there is no rule {quote(word)}{f'; {help}' if help else ''}; `orgkernel rule` lists them"
            )


def count_by_code(diagnostics: Iterable[Diagnostic]) -> list[dict[str, object]]:
    """How many findings each rule has, most first."""
    counts = Counter((each.code, each.name, each.severity) for each in diagnostics)
    return [
        {"code": code, "name": name, "severity": severity.value, "count": number}
        for (code, name, severity), number in sorted(counts.items(), key=lambda each: (-each[1], each[0][0]))
    ]


def render_statistics(rows: Sequence[dict[str, object]]) -> str:
    """The counts as aligned lines."""
    width = max((len(str(row["count"])) for row in rows), default=0)
    return "".join(
        f"{row['count']:>{width}}  {row['severity']:<7}  {row['code']}  {row['name']}\n" for row in rows
    )


def shorten(diagnostics: Sequence[Diagnostic]) -> tuple[Sequence[Diagnostic], dict[str, int]]:
    """The findings without repeated information of one kind and without warnings that are repeated word for word, and how many are
    left out, by code. Errors always stay.
    """
    counts = Counter(kind for each in diagnostics if (kind := _get_kind(each)) is not None)
    limits = {
        kind: _SHOWN_ABOUT_AGENTS if kind[1] else _SHOWN_ALIKE
        for kind, number in counts.items()
        if number > (_MAX_ABOUT_AGENTS if kind[1] else _MAX_SHOWN_IN_FULL)
    }
    shown: Counter[tuple[str, bool, str]] = Counter()
    left_out: Counter[str] = Counter()
    kept = []
    for each in diagnostics:
        kind = _get_kind(each)
        if kind is not None and kind in limits:
            shown[kind] += 1
            if shown[kind] > limits[kind]:
                left_out[each.code] += 1
                continue
        kept.append(each)
    return kept, left_out


def _get_kind(diagnostic: Diagnostic) -> tuple[str, bool, str] | None:
    """What makes a finding a repetition of another one: its code, whether it is about one agent, and for a warning its message. None
    for an error.

    Warnings that most agents of a tree have for one reason, such as that they were written for another host, need not
    have the same message. A warning about a misspelled name always stays.
    """
    if diagnostic.severity is Severity.INFO:
        return diagnostic.code, diagnostic.subject.startswith(_OF_AGENT), ""
    if diagnostic.severity is not Severity.WARNING:
        return None
    if diagnostic.code in _OF_WHOLE_TREES and "did you mean" not in diagnostic.help:
        return diagnostic.code, False, ""
    return diagnostic.code, False, diagnostic.message
