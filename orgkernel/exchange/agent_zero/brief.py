"""The brief of a role: short, in the second person, limited to facts that change how the role works.

The brief is in the prompt of every model call of the role, so it leaves out facts that the prompt shows anyway:
tools, domains and plans are not listed. It never has more than `MAX_TOKENS` tokens. What does not fit is left out,
the least important first.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from math import ceil
from typing import Final

from orgkernel.documents.records import USER
from orgkernel.manifest.v1 import RoleManifest

MAX_TOKENS: Final = 120
_MAX_NAME_TOKENS: Final = 14

_PIECE = re.compile(r"[A-Za-z]+|[0-9]{1,3}|\s*\n\s*|[^\sA-Za-z0-9]")
_LETTERS_OF_TOKEN: Final = 7


def render_brief(manifest: RoleManifest, delegates_to: Sequence[str]) -> str:
    """The brief of a role. `delegates_to` are ids of the roles that it may hand work to."""
    first = (
        f"You are the {_name(manifest.role_name)} ({_name(manifest.role_id)}) of {_name(manifest.org_name)}."
    )
    last = f"Use only tools shown here. {_describe_way_out(manifest, delegates_to)}"
    left = MAX_TOKENS - estimate_tokens(f"{first}\n{last}")
    delegation = _describe_delegation(manifest, delegates_to, left)
    left -= estimate_tokens(f"\n{delegation}")
    chosen = []
    for sentence in _list_sentences(manifest):
        cost = estimate_tokens(f"\n{sentence}")
        if cost <= left:
            chosen.append(sentence)
            left -= cost
    return "\n".join(each for each in (first, *chosen, delegation, last) if each)


def estimate_tokens(text: str) -> int:
    """Estimate the number of tokens of a string without a tokenizer. The estimate is rather too high than too low."""
    return ceil(sum(map(_weigh, _PIECE.findall(text))))


def _weigh(piece: str) -> float:
    if piece.isascii():
        return ceil(len(piece) / _LETTERS_OF_TOKEN) if piece.isalpha() else 1
    code = ord(piece)
    if code < 0x0590:  # letters of Europe
        return 0.6
    return 1.2 if 0x3040 <= code < 0xD7B0 else 2


def _list_sentences(manifest: RoleManifest) -> Iterator[str]:
    """Further sentences for the brief, the most important first."""
    yield from _complete_sentences([manifest.description])
    yield from _complete_sentences(item.id for item in manifest.standing_orders)
    for lack in _complete_sentences(item.id for item in manifest.does_not_have):
        yield f"You do not have: {lack}"


def _complete_sentences(texts: Iterable[str]) -> Iterator[str]:
    """Each non-empty sentence, on one line with a final period."""
    for text in texts:
        line = " ".join(text.split())
        if line:
            yield line if line[-1] in ".!?" else f"{line}."


def _describe_delegation(manifest: RoleManifest, delegates_to: Sequence[str], left: int) -> str:
    """The roles that it may hand work to, its subordinates first, as many as fit."""
    below = [member.id for member in manifest.subordinates]
    ranked = sorted(delegates_to, key=lambda role_id: role_id not in below)
    for shown in range(len(ranked), 0, -1):
        rest = f" and {len(ranked) - shown} more" if shown < len(ranked) else ""
        text = (
            f"Delegate with `call_subordinate` to one of these profiles: {', '.join(ranked[:shown])}{rest}."
        )
        if estimate_tokens(f"\n{text}") <= left:
            return text
    return ""


def _describe_way_out(manifest: RoleManifest, delegates_to: Sequence[str]) -> str:
    """The sentence that says what the role does with work it cannot do."""
    hand_on = "delegate it, or " if delegates_to else ""
    return (
        f"If you cannot do something, do not work around it: {hand_on}answer with `response`, and say "
        f"what is missing and that {_describe_superior(manifest)} should take over."
    )


def _describe_superior(manifest: RoleManifest) -> str:
    """The superior's name in a sentence. A superior outside the organization has only an id."""
    above = manifest.chain_of_command[0] if manifest.chain_of_command else None
    return "the user" if above is None or above.id == USER else _name(above.name)


def _name(text: str) -> str:
    """A name on one line, cut if it is very long."""
    name = " ".join(text.split())
    if estimate_tokens(name) <= _MAX_NAME_TOKENS:
        return name
    shown = len(name)
    while estimate_tokens(name[:shown]) >= _MAX_NAME_TOKENS:
        shown = shown * 3 // 4
    return f"{name[:shown].rstrip()}…"
