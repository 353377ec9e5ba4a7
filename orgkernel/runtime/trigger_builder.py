"""The parts of a trigger as they are read, to the compiled tree, checking names and kinds on the way.

Every expression is a number, a flag or a condition. The kind of a name comes from its entry in
`trigger_names.py`. An unknown name fits anywhere, so that one misspelling is one problem.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

from .trigger_names import ALIASES, NAMES, find_trigger_name, suggest_trigger_name
from .trigger_problems import JOIN, NameUse, ProblemKind, TriggerProblem
from .triggers import MAX_DEPTH, MAX_NUMBER, TriggerTree

_Kind: TypeAlias = Literal["number", "flag", "condition", "unknown", "truth"]


class Part(NamedTuple):
    """A piece of a trigger: its compiled tree, what kind of value it has, its place in the text and its depth."""

    tree: TriggerTree
    kind: _Kind
    start: int
    end: int
    depth: int = 1


class Builder:
    """Builds one trigger, a part after those it is made of."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.uses: list[NameUse] = []
        self.problems: list[TriggerProblem] = []

    def finish(self, part: Part) -> Part:
        """Check the whole trigger, which must be a condition, and put what was found in reading order."""
        self._expect_condition(part)
        self.uses.sort(key=lambda use: use.start)
        self.problems.sort(key=lambda problem: (problem.start, problem.end))
        return part

    def name(self, word: str, start: int, end: int) -> Part:
        entry = find_trigger_name(word)
        self.uses.append(NameUse(word, start, end, entry.name if entry else None, word in ALIASES))
        if entry is None:
            truth = word in ("true", "false")
            self._report(
                "unknown-name", f"name `{word}` is unknown in triggers", start, end, _suggest_name(word)
            )
            return Part(["name", word], "truth" if truth else "unknown", start, end)
        leaf = "flag" if entry.kind == "flag" else "name"
        return Part([leaf, entry.name], entry.kind, start, end)

    def number(self, digits: str, start: int, end: int) -> Part:
        value = float(digits) if "." in digits else int(digits)
        if value > MAX_NUMBER:
            self._report(
                "syntax", f"number `{_shorten(digits)}` is larger than {MAX_NUMBER}", start, end, None
            )
        return Part(["number", value], "number", start, end)

    def negative(self, start: int, part: Part) -> Part:
        self._expect_number(part)
        return self._join("neg", [part], "number", start)

    def arithmetic(self, left: Part, sign: str, right: Part) -> Part:
        self._expect_number(left)
        self._expect_number(right)
        return self._join(sign, [left, right], "number")

    def comparison(self, parts: list[Part], signs: list[str]) -> Part:
        with_truth = any(part.kind == "truth" for part in parts)
        for part in parts:
            if not (with_truth and part.kind == "flag"):  # `flag == true` is one mistake, reported at `true`
                self._expect_number(part)
        if len(signs) > 1:
            texts = [self.text[part.start : part.end] for part in parts]
            pairs = [f"{texts[at]} {sign} {texts[at + 1]}" for at, sign in enumerate(signs)]
            start, end = parts[0].start, parts[-1].end
            message = f"`{_shorten(self.text[start:end])}` chains {len(signs)} comparisons"
            self._report("type", message, start, end, f"write `{' AND '.join(pairs)}`")
        return self._join(signs[0], parts, "condition")

    def negated(self, start: int, part: Part) -> Part:
        self._expect_condition(part)
        return self._join("not", [part], "condition", start)

    def joined(self, operator: Literal["and", "or"], parts: list[Part]) -> Part:
        for part in parts:
            self._expect_condition(part)
        return self._join(operator, parts, "condition")

    def _join(self, operator: str, parts: list[Part], kind: _Kind, start: int | None = None) -> Part:
        start, end = parts[0].start if start is None else start, parts[-1].end
        depth = 1 + max(part.depth for part in parts)
        if depth == MAX_DEPTH + 1:  # once per branch that grows too deep
            self._report("syntax", f"trigger nests more than {MAX_DEPTH} levels deep", start, end, None)
        return Part([operator, *(part.tree for part in parts)], kind, start, end, depth)

    def _expect_number(self, part: Part) -> None:
        if part.kind == "flag":
            shown = self._show(part)
            advice = f"write `{shown}` alone, or `NOT {shown}`"
            self._report("type", f"`{shown}` is a flag, not a number", part.start, part.end, advice)
        elif part.kind == "condition":
            message = f"`{self._show(part)}` is a condition, not a number"
            self._report("type", message, part.start, part.end, JOIN)

    def _expect_condition(self, part: Part) -> None:
        if part.kind == "number":
            shown = self._show(part)
            advice = f"compare it with a limit, as in `{shown} >= …`"
            self._report("type", f"`{shown}` is a number, not a condition", part.start, part.end, advice)

    def _show(self, part: Part) -> str:
        return _shorten(self.text[part.start : part.end])

    def _report(self, kind: ProblemKind, message: str, start: int, end: int, advice: str | None) -> None:
        self.problems.append(TriggerProblem(kind, message, start, end, advice))


def _shorten(text: str) -> str:
    """User text for a one-line message."""
    line = " ".join(text.split())
    return line if len(line) <= 60 else f"{line[:59]}…"


def _suggest_name(word: str) -> str:
    if word in ("true", "false"):
        return "write the flag alone, or `NOT` before it"
    suggestion = suggest_trigger_name(word)
    if suggestion:
        return f"did you mean `{suggestion}`?"
    shown = list(NAMES)[:5]
    return f"use one of {', '.join(f'`{name}`' for name in shown)} and {len(NAMES) - len(shown)} more"
