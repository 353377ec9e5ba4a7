"""`python -m benchmarks.secrets`: labeled texts with and without secrets, and what is found in them, by what.

The recipes of the texts are in `benchmarks/data/secrets`; `--seed` makes others of the same recipes.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections import Counter
from collections.abc import Callable, Iterable
from typing import NamedTuple

from benchmarks.secret_texts import SEED, harmless_texts, secret_texts
from orgkernel.rules.hygiene.known_tokens import find_known_tokens, is_installed, scan_for_tokens
from orgkernel.runtime.likely_secrets import find_likely
from orgkernel.runtime.secret_shapes import find_secrets

Place = tuple[int, int]
Finder = Callable[[str], Iterable[Place]]
GROUPS = ("shapes", "others", "assigned")


class Found(NamedTuple):
    """What one way found."""

    secrets: dict[str, tuple[int, int]]
    """Of each group of secrets: how many were found, and how many there are."""
    alarms: dict[str, int]
    """Of each group of harmless texts in which something was found: in how many."""
    harmless: int
    microseconds: tuple[float, ...]


def ours(text: str) -> Iterable[Place]:
    """What a document and a contract are refused for without the library."""
    return [(each.start, each.end) for each in find_secrets(text)]


def library(text: str) -> Iterable[Place]:
    """What the library alone finds."""
    return [(each.start, each.end) for each in scan_for_tokens(text)]


def both(text: str) -> Iterable[Place]:
    """What a document is refused for with the library."""
    return [*ours(text), *((each.start, each.end) for each in find_known_tokens(text))]


def mask(text: str) -> Iterable[Place]:
    """What is masked before anything is written."""
    return [*ours(text), *((each.start, each.end) for each in find_likely(text))]


WAYS: dict[str, Finder] = {"our shapes": ours, "kingfisher": library, "both": both, "masked": mask}


def measure(find: Finder, seed: int = SEED) -> Found:
    """Look through all texts in one way."""
    found, there, alarms = Counter[str](), Counter[str](), Counter[str]()
    microseconds = []
    for each in secret_texts(seed):
        start = time.perf_counter()
        places = list(find(each.text))
        microseconds.append((time.perf_counter() - start) * 1e6)
        there[each.group] += 1
        found[each.group] += any(start < each.end and end > each.start for start, end in places)
    harmless = harmless_texts(seed)
    for text in harmless:
        alarms[text.group] += any(True for _ in find(text.text))
    return Found(
        {group: (found[group], there[group]) for group in GROUPS},
        {group: number for group, number in alarms.items() if number},
        len(harmless),
        tuple(microseconds),
    )


def main() -> None:
    """Print the table of `docs/how-to/keep-secrets-out.md`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=SEED)
    seed = parser.parse_args().seed
    print(
        "| found by | named shapes | other issuers | assigned values | false alarms |\n|---|---|---|---|---|"
    )
    for name, find in WAYS.items():
        if name in ("kingfisher", "both") and not is_installed():
            print(f"| {name} | not installed: `pip install 'orgkernel[secrets]'` | | | |")
            continue
        if name != "our shapes":
            list(
                find("pul-0123456789abcdef0123456789abcdef01234567")
            )  # Load the rules, which is not measured.
        said = measure(find, seed)
        shares = " | ".join(f"{found} of {there}" for found, there in said.secrets.values())
        print(f"| {name} | {shares} | {sum(said.alarms.values())} of {said.harmless} |")
        print(f"  {said.alarms}, a text in {statistics.median(said.microseconds):.0f} µs (median)")


if __name__ == "__main__":
    main()
