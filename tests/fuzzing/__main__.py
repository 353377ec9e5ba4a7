"""Fuzz every reader for a stated time: `python -m tests.fuzzing --seconds 3600`. `make fuzz` does.

The corpus of each reader is in `.cache/fuzzing/READER`. A text that fails is kept there as `*.failure`.
"""

from __future__ import annotations

import argparse
import sys
import time

from tests.fuzzing.fuzzer import fuzz
from tests.fuzzing.readers import list_readers
from tests.support.trees import REPOSITORY

CORPUS = REPOSITORY / ".cache" / "fuzzing"


def main() -> int:
    """Print a row for each reader, as docs/benchmarks.md has them. 1 if a text failed."""
    readers = list_readers()
    parser = argparse.ArgumentParser(description="Fuzz the readers of text from outside.")
    parser.add_argument("--seconds", type=float, default=3600, help="for each reader")
    parser.add_argument("--only", nargs="*", default=[], choices=[*readers], help="readers")
    parser.add_argument("--seed", type=int, default=None, help="by default another one each time")
    arguments = parser.parse_args()
    seed = arguments.seed if arguments.seed is not None else time.time_ns()
    print(f"seed {seed}", file=sys.stderr)
    print("| reader | texts | kept | slowest | failures |\n|---|---|---|---|---|", flush=True)
    failed = False
    for name in arguments.only or readers:
        result = fuzz(readers[name](), CORPUS / name, arguments.seconds, seed)
        failed = failed or bool(result.failures)
        shown = ", ".join(each.name for each in result.failures[:5]) or "none"
        print(
            f"| {name} | {result.texts:,} | {result.kept} | {result.slowest * 1000:.0f} ms | {shown} |",
            flush=True,
        )
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
