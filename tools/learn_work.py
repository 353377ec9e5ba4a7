"""Learn what kind of work a message is about: `python -m tools.learn_work` writes `orgkernel/runtime/learned_work.bin`.

The labeled messages are in `benchmarks/data/routing/learned`. Learning takes a minute or two, needs nothing but the standard
library, and always gives the same table. `--check` only says whether the table is of these messages and of the shared domains as
they are now; `--cross-validate` says how well each file is understood by what the other files teach.
"""

from __future__ import annotations

import json
import math
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple
from zlib import Z_FILTERED, compressobj, crc32

from orgkernel import Kernel
from orgkernel.runtime import learned_work
from orgkernel.runtime.learned_work import ROWS, compute_checksum, find_rows
from orgkernel.runtime.request_text import read_request

REPOSITORY = Path(__file__).parents[1]
MESSAGES = REPOSITORY / "benchmarks/data/routing/learned"
TABLE = REPOSITORY / "orgkernel/runtime" / learned_work.TABLE
ROUNDS, STEP, DECAY = 8, 2.0, 1e-5
_LIMIT = 32


class Message(NamedTuple):
    """A labeled message."""

    author: str
    """The file that it is in."""
    label: str
    text: str


class Model(NamedTuple):
    """What was learned, before it is rounded."""

    labels: tuple[str, ...]
    rarities: list[int]
    weights: list[list[float]]


def read_messages() -> Iterator[Message]:
    r"""Every labeled message: a line of its own below `# LABEL`, with `\n` for a line break."""
    for file in sorted(MESSAGES.glob("*.txt")):
        label = ""
        for line in file.read_text(encoding="utf-8").splitlines():
            if line.startswith("# "):
                label = line[2:]
            elif line:
                yield Message(file.stem, label, line.replace("\\n", "\n"))


def learn(messages: Sequence[Message]) -> Model:
    """A multinomial logistic regression by stochastic gradient descent, each message in an order of its own in every round."""
    labels = tuple(sorted({message.label for message in messages}))
    rows = [find_rows(read_request(message.text, {}).asked) for message in messages]
    rarities = _find_rarities(rows)
    vectors = [_weigh(each, rarities) for each in rows]
    weights: list[list[float]] = [[0.0] * len(labels) for _ in range(2 * ROWS)]
    wanted = [labels.index(message.label) for message in messages]
    scale, step, steps = 1.0, 0, ROUNDS * len(messages)
    for turn in range(ROUNDS):
        order = sorted(
            range(len(messages)), key=lambda at: (crc32(f"{turn} {messages[at].text}".encode()), at)
        )
        for at in order:
            vector = vectors[at]
            errors = _guess(vector, weights, len(labels), scale)
            errors[wanted[at]] -= 1.0
            rate = STEP / (1 + 4.0 * step / steps)
            step += 1
            scale *= 1 - rate * DECAY
            for row, value in vector:
                amount = value * rate / scale
                weights[row] = [
                    weight - amount * error for weight, error in zip(weights[row], errors, strict=True)
                ]
    return Model(labels, rarities, [[scale * weight for weight in row] for row in weights])


def _find_rarities(rows: Sequence[tuple[set[int], set[int]]]) -> list[int]:
    held = Counter(row for words, parts in rows for row in (*words, *parts))
    return [
        round(16 * (1 + math.log((1 + len(rows)) / (1 + held[row])))) if row in held else 0
        for row in range(2 * ROWS)
    ]


def _weigh(rows: tuple[set[int], set[int]], rarities: Sequence[int]) -> list[tuple[int, float]]:
    """A message as its features, words and parts each of length one together."""
    vector = []
    for part in rows:
        length = math.sqrt(sum(rarities[row] ** 2 for row in part)) or 1.0
        vector += [(row, rarities[row] / length) for row in sorted(part) if rarities[row]]
    return vector


def _guess(
    vector: Sequence[tuple[int, float]], weights: Sequence[Sequence[float]], width: int, scale: float
) -> list[float]:
    columns = zip(*([value * weight for weight in weights[row]] for row, value in vector), strict=True)
    sums = [scale * sum(column) for column in columns] or [0.0] * width
    most = max(sums)
    found = [math.exp(each - most) for each in sums]
    total = sum(found)
    return [each / total for each in found]


def render(model: Model, messages: Sequence[Message]) -> bytes:
    """The table as a file."""
    weights = bytearray()
    scales = []
    for part in (0, ROWS):
        rows = range(part, part + ROWS)
        amounts = [[model.rarities[row] / 16 * weight for weight in model.weights[row]] for row in rows]
        sizes = sorted(abs(amount) for row in amounts for amount in row if amount)
        scale = sizes[int(0.9995 * len(sizes))] / _LIMIT
        scales.append(float(f"{scale:.6g}"))
        for row in amounts:
            weights += bytes(128 + max(-_LIMIT, min(_LIMIT, round(amount / scale))) for amount in row)
    head = {
        "labels": model.labels,
        "domains": known_domains(model.labels),
        "sources": find_sources(messages),
        "scales": scales,
    }
    table = json.dumps(head).encode() + b"\n" + bytes(min(255, each) for each in model.rarities) + weights
    # What is left of weights has no repeated strings worth looking for: this strategy saves a twentieth.
    compressor = compressobj(9, strategy=Z_FILTERED)
    return compressor.compress(table) + compressor.flush()


def known_domains(labels: Sequence[str]) -> dict[str, int]:
    """The shared domains among the labels, with the checksums of their triggers."""
    domains = Kernel.open().organization("software_dev").snapshot.index.records.domains
    return {label: compute_checksum(domains[label].record.triggers) for label in labels if label in domains}


def find_sources(messages: Sequence[Message]) -> int:
    """A checksum of the messages."""
    return crc32("\n".join(f"{message.label}\t{message.text}" for message in messages).encode())


def is_current() -> bool:
    """Whether the table is of these messages and of the shared domains as they are."""
    learned_work.read_table.cache_clear()
    table = learned_work.read_table()
    return table.sources == find_sources(list(read_messages())) and table.domains == known_domains(
        table.labels
    )


def cross_validate(messages: Sequence[Message]) -> Iterator[tuple[str, int, float]]:
    """Every file with how many of its messages are understood by what the other files teach."""
    for author in sorted({message.author for message in messages}):
        model = learn([message for message in messages if message.author != author])
        asked = [message for message in messages if message.author == author]
        right = 0
        for message in asked:
            vector = _weigh(find_rows(read_request(message.text, {}).asked), model.rarities)
            found = _guess(vector, model.weights, len(model.labels), 1.0)
            right += model.labels[found.index(max(found))] == message.label
        yield author, len(asked), right / len(asked)


def main(arguments: Sequence[str]) -> int:
    """Learn, check or cross-validate."""
    messages = list(read_messages())
    if "--check" in arguments:
        current = is_current()
        print("is current" if current else "learn again: python -m tools.learn_work")
        return not current
    if "--cross-validate" in arguments:
        for author, number, right in cross_validate(messages):
            print(f"{author}: {right:.1%} of {number}", flush=True)
        return 0
    TABLE.write_bytes(render(learn(messages), messages))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
