"""A cache of encoded answers of one state. It is bounded and thread-safe."""

from __future__ import annotations

import threading
from collections.abc import Hashable

MAX_BYTES = 32 * 1024 * 1024
# The size of the objects around the bytes.
_OVERHEAD = 300


class ManifestCache:
    """The cached answers of one state; the oldest are dropped first. Lookups take no lock."""

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self._max_bytes = max_bytes
        self._putting = threading.Lock()
        self._held: tuple[object, dict[Hashable, bytes]] = (None, {})
        self._bytes = 0

    def __len__(self) -> int:
        return len(self._held[1])

    def find(self, state: object, question: Hashable) -> bytes | None:
        """The cached answer of this state to a question."""
        held_state, answers = self._held
        return answers.get(question) if held_state is state else None

    def put(self, state: object, question: Hashable, answer: bytes) -> None:
        """Cache an answer and drop those of another state. An answer that would fill a quarter of the cache is not kept."""
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
