"""Encoded answers of one state, for whoever asks for bytes again and again: bounded, and safe between threads."""

from __future__ import annotations

import threading
from collections.abc import Hashable

MAX_BYTES = 32 * 1024 * 1024
# Of the objects around the bytes.
_OVERHEAD = 300


class ManifestCache:
    """What one state answered; the oldest go first. Looking up takes no lock."""

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self._max_bytes = max_bytes
        self._putting = threading.Lock()
        self._held: tuple[object, dict[Hashable, bytes]] = (None, {})
        self._bytes = 0

    def __len__(self) -> int:
        return len(self._held[1])

    def find(self, state: object, question: Hashable) -> bytes | None:
        """The answer this state gave before."""
        held_state, answers = self._held
        return answers.get(question) if held_state is state else None

    def put(self, state: object, question: Hashable, answer: bytes) -> None:
        """Keep an answer; those of another state are dropped. One that would fill a quarter of it is not kept."""
        if len(answer) > self._max_bytes // 4:
            return
        with self._putting:
            held_state, answers = self._held
            if held_state is not state:
                answers = {}
                self._held, self._bytes = (state, answers), 0
            if question in answers:
                return
            answers[question] = answer
            self._bytes += len(answer) + _OVERHEAD
            while self._bytes > self._max_bytes:
                self._bytes -= len(answers.pop(next(iter(answers)))) + _OVERHEAD
