"""Answers kept as bytes for as long as the registry does not change (design §10).

It stands behind the guards: a request that may not ask never reaches it. Only documented routes fill it, each under
its own name and what it was asked, and it is emptied when the kernel's state is another one.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Answer:
    """An encoded answer and what its headers say."""

    body: bytes
    etag: str
    """Strong: the hash of the bytes."""
    snapshot: str
    stale: bool = False
    next: str | None = None
    """Cursor of the next page."""


class AnswerCache:
    """The most recently used answers of one state, bounded in number and bytes. Used from one event loop."""

    def __init__(self, max_answers: int = 4096, max_bytes: int = 64 * 1024 * 1024) -> None:
        self._max_answers = max_answers
        self._max_bytes = max_bytes
        self._state: object = None
        self._answers: OrderedDict[Hashable, Answer] = OrderedDict()
        self._bytes = 0

    def __len__(self) -> int:
        return len(self._answers)

    def find(self, state: object, question: Hashable) -> Answer | None:
        """The answer this state gave before."""
        if state is not self._state:
            return None
        answer = self._answers.get(question)
        if answer is not None:
            self._answers.move_to_end(question)
        return answer

    def put(self, state: object, question: Hashable, answer: Answer) -> None:
        """Keep an answer; those of another state are dropped. An answer that would fill the cache alone is not kept."""
        if state is not self._state:
            self._state, self._bytes = state, 0
            self._answers.clear()
        if len(answer.body) > self._max_bytes // 4 or question in self._answers:
            return
        self._answers[question] = answer
        self._bytes += len(answer.body)
        while len(self._answers) > self._max_answers or self._bytes > self._max_bytes:
            self._bytes -= len(self._answers.popitem(last=False)[1].body)
