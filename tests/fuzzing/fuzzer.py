"""A fuzzer that keeps what it learned: each text that a reader answered in a new way is kept and changed further."""

from __future__ import annotations

import hashlib
import random
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from tests.fuzzing.readers import FuzzedReader

MOST_SECONDS = 2.0
"""The limit for one text, with room for a busy machine."""
_MOST_BYTES = 20_000
_PIECES = (
    *(bytes([each]) for each in b"{}[],:-?&*!|>%@`#'\"\\ \n\t\r\0~<=.()/$;"),
    b"---\n", b"\r\n", b": ", b"- ", b"&a ", b"*a", b"<<: ", b"!!str ", b"null", b"true", b"0x1f", b"1e400", b"9" * 30, b"/* ", b"*/", b"//",
    b"\\u0000", b"\\ud800", b"{{", b"${X}", b"../../x.md", b"\xef\xbb\xbf", b"\xff", b"\xed\xa0\x80", b"\xe2\x80\xa8", b"[" * 200, b'{"a":' * 200,
)  # fmt: skip


class FuzzResult(NamedTuple):
    """What a run found."""

    texts: int
    kept: int
    failures: tuple[Path, ...]
    """The texts that raised an error or took too long."""
    slowest: float
    """Seconds for the slowest text."""


def fuzz(reader: FuzzedReader, corpus: Path, seconds: float, seed: int) -> FuzzResult:
    """Read changed texts for some seconds. The corpus is a folder that later runs begin with."""
    corpus.mkdir(parents=True, exist_ok=True)
    chance = random.Random(seed)
    pool = [*reader.seeds, *(path.read_bytes() for path in sorted(corpus.glob("*.txt")))]
    answers = {_answer(reader.read, text)[0] for text in pool}
    failures: list[Path] = []
    texts, slowest, end = 0, 0.0, time.monotonic() + seconds
    while time.monotonic() < end:
        text = _change(chance, pool)
        answer, taken, error = _answer(reader.read, text)
        texts, slowest = texts + 1, max(slowest, taken)
        name = hashlib.sha256(text).hexdigest()[:16]
        if error or taken > MOST_SECONDS:
            failures.append(corpus / f"{name}.failure")
            failures[-1].write_bytes(text)
        elif answer not in answers:
            pool.append(text)
            (corpus / f"{name}.txt").write_bytes(text)
        answers.add(answer)
    return FuzzResult(texts, len(pool) - len(reader.seeds), tuple(failures), slowest)


def _answer(read: Callable[[bytes], object], text: bytes) -> tuple[str, float, bool]:
    """What a reader answers, the seconds it took, and whether it raised an error."""
    begin = time.process_time()  # other work on the machine must not make a reader look slow
    try:
        answer, is_error = repr(read(text)), False
    except Exception as error:  # any error is what is looked for
        answer, is_error = f"{type(error).__name__}: {error}"[:80], True
    return answer, time.process_time() - begin, is_error


def _change(chance: random.Random, pool: Sequence[bytes]) -> bytes:
    text = bytearray(chance.choice(pool))
    for _ in range(chance.randint(1, 4)):
        begin = chance.randint(0, len(text))
        end = min(len(text), begin + chance.choice((0, 1, 2, 8, 40)))
        text[begin:end] = next(_choose_pieces(chance, pool, bytes(text[begin:end])))
    return bytes(text[:_MOST_BYTES])


def _choose_pieces(chance: random.Random, pool: Sequence[bytes], before: bytes) -> Iterator[bytes]:
    """What replaces a piece of a text: nothing, itself several times, a hard piece, noise, or a piece of another text."""
    other = chance.choice(pool)
    at = chance.randint(0, len(other))
    yield chance.choice(
        (
            b"",
            before * chance.randint(2, 20),
            chance.choice(_PIECES),
            chance.randbytes(3),
            other[at : at + 60],
        )
    )
