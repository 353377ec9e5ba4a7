"""The sentences of an answer.

Strings of an organization are data: they cannot end a line, draw a link or hide a character.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import msgspec

from orgkernel.decisions.access.decision import AccessDecision, AccessExplanation, Remedy
from orgkernel.decisions.reasons import Reason, Why
from orgkernel.diagnostics.wording import clean, listing, quote
from orgkernel.errors import OrgkernelError

_APPROVAL = "approval:"
_SHOWN = 3
"""Maximum number of remedies, places and names in a text. The structured answer has more."""
# Characters that end a code block, or begin HTML or a link target, if a host shows JSON as Markdown. They occur only
# inside strings of JSON.
_MARKUP = re.compile(r"`{2,}|(?<=\])\(|<(?=[A-Za-z/!?])")


def clean_value(value: Any) -> Any:
    """A value in plain types, with control characters escaped in every string."""
    return map_texts(msgspec.to_builtins(value), clean)


def map_texts(value: Any, change: Callable[[str], str]) -> Any:
    """A value in plain types with a function applied to every string and every key."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Mapping):
        return {map_texts(key, change): map_texts(each, change) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [map_texts(each, change) for each in value]
    return value


def render_json(data: Any) -> str:
    """A value as JSON without characters that Markdown would interpret."""
    text = msgspec.json.encode(data).decode()
    return _MARKUP.sub(lambda match: "".join(f"\\u{ord(each):04x}" for each in match[0]), text)


def clean_sentence(text: str) -> str:
    """A sentence on one line, in which only code in backticks is Markdown."""
    sentence = clean(text)
    if sentence.count("`") % 2:
        sentence = sentence.replace("`", "'")
    parts = sentence.split("`")
    # Every second part is code, in which nothing is Markdown.
    parts[::2] = [re.sub(r"([<\[\]*])", r"\\\1", each) for each in parts[::2]]
    return "`".join(parts)


def write_error(error: OrgkernelError) -> str:
    """An error and what to do about it."""
    sentence = f"{error.code}: {clean_sentence(error.message)}"
    return f"{sentence}\nwhat to do: {clean_sentence(error.help)}" if error.help else sentence


def list_places(whys: Iterable[Why]) -> str:
    """The lines that something rests on, each once."""
    lines = list(dict.fromkeys(f"{why.file}:{why.line}" for why in whys))
    return f" ({', '.join(map(clean_sentence, lines[:_SHOWN]))})" if lines else ""


def write_reasons(reasons: Iterable[Reason]) -> Iterator[str]:
    """Each reason with its lines."""
    for reason in reasons:
        yield f"because {clean_sentence(reason.text)}{list_places(reason.why)} [{reason.code}]"


def write_decision(
    question: str,
    decision: AccessDecision,
    reasons: Iterable[Reason],
    explanation: AccessExplanation | None = None,
    grantors: tuple[str, ...] = (),
    how_to_ask: str = "",
    waiting: str = "",
) -> str:
    """Write a decision with everything needed to act on it. `waiting` describes the request for an approval."""
    lines = [f"{decision.outcome}: {clean_sentence(question)}", *write_reasons(reasons)]
    todo = [each for each in decision.obligations if not (waiting and each.startswith(_APPROVAL))]
    if todo:
        lines.append(f"to do first: {clean_sentence(', '.join(todo))}")
    if waiting:
        lines.append(waiting)
    if explanation is not None and decision.outcome != "allow":
        remedies = explanation.remedies if explanation.decision.outcome != "allow" else ()
        lines += _render_change(remedies)
        granted = f"{listing(grantors)}, or an operator" if grantors else "an operator"
        if any(change.kind == "grant" for remedy in remedies for change in remedy.changes):
            lines.append(f"who can grant it: {granted}")
        able = explanation.who_can
        if able.subjects:
            lines.append(f"who can do it instead: {listing(able.subjects, able.count)}")
        if how_to_ask:
            lines.append(how_to_ask)
    return "\n".join(lines)


def _render_change(remedies: tuple[Remedy, ...]) -> Iterator[str]:
    for number, remedy in enumerate(remedies[:_SHOWN]):
        yield f"{'smallest change' if number == 0 else 'or'}: {clean_sentence(remedy.text)}"
        yield from (f"  command: {quote_whole(command)}" for command in remedy.commands)
        for edit in remedy.edits:
            under = f" under {quote(edit.under)}" if edit.under else ""
            yield f"  edit {clean_sentence(edit.file)}:{edit.line}: write {quote_whole(edit.write)}{under}"


def quote_whole(text: str) -> str:
    """Quote a string in backticks, on one line and at full length, because half a command would be another command."""
    return f"`{clean(text).replace('`', chr(39))}`"
