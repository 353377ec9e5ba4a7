"""Wording of messages: quote user text, shorten lists, and suggest corrections of misspelled words."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping

from orgkernel.runtime.lazy_patterns import lazy_pattern

_MAX_QUOTE_LENGTH = 80
LISTED = 5
"""The number of words of a list that a message names."""
# difflib is quadratic in the words' lengths and linear in their number: 5,000 ids cost 165 ms a word. So only words of
# about the same length that share their beginning or ending are compared, and only so many.
_COMPARED = 200
# This includes direction controls, which make a text look like another one, and characters that can hide a text from a
# reader but not from a model: tags, runs of variation selectors and joiners, and characters without width.
_CONTROL = lazy_pattern(
    r"[\x00-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff"
    r"\U000e0000-\U000e0fff]|[\u200c\u200d]{2,}|[\ufe00-\ufe0f]{2,}"
)
_UNSEEN = lazy_pattern(_CONTROL.pattern.replace(r"\x00-\x1f", r"\x00-\x08\x0b-\x1f", 1))


_SUGGESTION = lazy_pattern(r"did you mean `([^`]+)`\?\Z")


def quote(text: object) -> str:
    """User text in backticks: on one line, control characters escaped, secrets masked, shortened to a readable length."""
    # What is cut off has no effect on what is shown, and a text of megabytes costs nothing.
    shown = clean(str(text)[: 4 * _MAX_QUOTE_LENGTH])
    if len(shown) > _MAX_QUOTE_LENGTH:
        shown = shown[: _MAX_QUOTE_LENGTH - 1] + "…"
    return f"`{shown}`"


def printable(text: str) -> str:
    """Text with control characters escaped, so a file cannot control the reader's terminal."""
    if text.isascii() and text.isprintable():
        return text
    return _CONTROL.sub(_escape_character, text)


def escape_lines(text: str) -> str:
    """Text of several lines with all invisible characters escaped."""
    if text.isascii() and text.isprintable():
        return text
    return _UNSEEN.sub(_escape_character, text)


def _escape_character(match: re.Match[str]) -> str:
    return match[0].encode("unicode_escape", "surrogatepass").decode()


def clean(text: str) -> str:
    """Text on one line, with control characters escaped and secrets masked."""
    from orgkernel.runtime.secret_shapes import mask_secrets  # many messages of a hook quote nothing

    return printable(mask_secrets(text))


def listing(words: Iterable[object], count: int | None = None) -> str:
    """The first five words in backticks, and the number of further ones. `count` is the total, if not all words are
    passed.
    """
    word_list = tuple(words)
    shown = ", ".join(quote(word) for word in word_list[:LISTED])
    more = (len(word_list) if count is None else count) - LISTED
    return f"{shown} and {more} more" if more > 0 else shown


def suggest(word: str, known: Collection[str]) -> str | None:
    """The known word that is most similar to `word`, or None if none is close."""
    return next(iter(_find_nearest(word, known)), None)


def _find_nearest(word: str, known: Collection[str]) -> list[str]:
    """The known words that are most similar to `word`: two if both are equally similar."""
    near = [
        candidate
        for candidate in known
        if abs(len(candidate) - len(word)) <= 3
        and (candidate[:1].lower() == word[:1].lower() or candidate[-3:] == word[-3:])
    ]
    for shared in range(2, len(word)):
        if len(near) <= _COMPARED:
            break
        begin, end = word[:shared], word[-shared:]
        near = [candidate for candidate in near if candidate.startswith(begin) or candidate.endswith(end)]
    from difflib import SequenceMatcher, get_close_matches  # most runs do not need it

    matches = get_close_matches(word, sorted(set(near))[:_COMPARED], n=2, cutoff=0.7)
    if len(matches) < 2:
        return matches
    first, second = (SequenceMatcher(None, each, word).ratio() for each in matches)
    return matches if first == second else matches[:1]


def did_you_mean_tool(word: str, tools: Mapping[str, Iterable[str]]) -> str:
    """Help for an undeclared tool, from its name here or in another runtime; `tools` maps ids to those names.

    >>> did_you_mean_tool("Bash", {"shell": ["Bash"], "bake": []}), did_you_mean_tool("shel", {"shell": []})
    ('did you mean `shell`, which another runtime calls `Bash`?', 'did you mean `shell`?')
    """
    wanted = word.casefold()
    for tool_id, names in tools.items():
        if any(name.casefold() == wanted for name in names):
            return f"did you mean {quote(tool_id)}, which another runtime calls {quote(word)}?"
    return did_you_mean(word, tools)


def did_you_mean(word: str, known: Collection[str]) -> str:
    """Help for a misspelled word; empty if no known word is close.

    >>> did_you_mean("Greb", ["Grep", "Read"]), did_you_mean("agent_3", ["agent_1", "agent_2"])
    ('did you mean `Grep`?', 'did you mean `agent_2` or `agent_1`?')
    """
    nearest = _find_nearest(word, known)
    return f"did you mean {' or '.join(map(quote, nearest))}?" if nearest else ""


def read_suggestion(help: str) -> str | None:
    """The only word that a help suggests. None if it suggests several, or none.

    >>> read_suggestion(did_you_mean("Greb", ["Grep", "Read"])), read_suggestion("did you mean `a` or `b`?")
    ('Grep', None)
    """
    match = _SUGGESTION.match(help)
    return match[1] if match else None
