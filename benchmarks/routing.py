"""How well a sentence finds its role, and how long that takes.

`python -m benchmarks.routing` prints the table of `docs/benchmarks.md`. The sentences are in `benchmarks/data/routing`: three
organizations of sixty roles in plain words, requests and messages of many kinds by several authors for two templates, and messages that nobody
should take.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median, quantiles
from typing import Any, NamedTuple

import yaml

from orgkernel import Kernel
from orgkernel.decisions.dispatch.role_texts import get_text_index
from orgkernel.runtime.text_index import RoleTexts, TextIndex, build_index, rank_roles

DATA = Path(__file__).parent / "data/routing"
ORGANIZATIONS = ("furniture", "hospital", "city")
NOBODY = "nobody"
SIZE = 1_000


class Quality(NamedTuple):
    """How many sentences were answered how, as shares."""

    organization: str
    part: str
    sentences: int
    first: float
    """The right role is the first candidate."""
    among_three: float
    right: float
    """The right role takes it."""
    wrong: float
    """Another role takes it."""
    false: float
    """Of the messages that nobody should take, those that a role takes."""


def read(name: str) -> dict[str, Any]:
    """One file of labeled sentences."""
    data: dict[str, Any] = yaml.safe_load((DATA / f"{name}.yaml").read_text(encoding="utf-8"))
    return data


def roles_of(data: dict[str, Any]) -> list[RoleTexts]:
    """The roles of a file: a name and a description, nothing else."""
    return [
        RoleTexts(role_id, (role["name"], role_id), (("name", role["name"]), ("description", role["about"])))
        for role_id, role in data["roles"].items()
    ]


def judge(
    organization: str, part: str, index: TextIndex, rows: Sequence[Sequence[str]], idle: Sequence[str]
) -> Quality:
    """Ask every sentence, and count."""
    first = three = right = wrong = 0
    for role_id, text in rows:
        found = rank_roles(index, text)
        names = [index.roles[each.role] for each in found.ranked]
        # A label such as `co|s2_xo` names every role that is right.
        wanted = role_id.split("|")
        first += any(name in wanted for name in names[:1])
        three += any(name in wanted for name in names[:3])
        if found.outcome == "role":
            right += names[0] in wanted
            wrong += names[0] not in wanted
    false = sum(rank_roles(index, text).outcome == "role" for text in idle)
    number = len(rows)
    return Quality(
        organization,
        part,
        number,
        first / number,
        three / number,
        right / number,
        wrong / number,
        false / len(idle),
    )


def quality() -> Iterator[Quality]:
    """Every organization and template, what was tuned on apart from what was held out."""
    small_talk = read("nobody")
    for name in ORGANIZATIONS:
        data = read(name)
        index = build_index(roles_of(data))
        for part in ("tuned", "held_out"):
            if part in data:
                yield judge(name, part, index, data[part], small_talk[part])
    kernel = Kernel.open()
    for kind in ("templates", "messages", "others", "everyday"):
        for org_id, parts in read(kind).items():
            index = get_text_index(kernel.organization(org_id).snapshot.index)
            for part, rows in parts.items():
                work = [row for row in rows if row[0] != NOBODY]
                idle = [text for role_id, text in rows if role_id == NOBODY] + small_talk[part]
                name = org_id if kind == "templates" else f"{org_id}, {kind}"
                yield judge(name, part, index, work, idle)


def widen(size: int) -> TextIndex:
    """An index of so many roles: those of all organizations, again and again for another district."""
    roles = [role for name in ORGANIZATIONS for role in roles_of(read(name))]
    return build_index(
        [
            RoleTexts(
                f"{role.role_id}_{number // len(roles)}",
                (f"{role.names[0]} {number // len(roles)}",),
                (*role.fields, ("description", f"For district {number // len(roles)}.")),
            )
            for number, role in ((number, roles[number % len(roles)]) for number in range(size))
        ]
    )


def latency(_: Path | None = None, size: int = SIZE) -> dict[str, Any]:
    """Milliseconds to rank the roles for a sentence, each sentence once and new."""
    index = widen(size)
    texts = [
        text
        for name in ORGANIZATIONS
        for part in ("tuned", "held_out")
        for _, text in read(name).get(part, ())
    ]
    times = []
    gc.collect()
    gc.disable()
    for text in texts:
        start = time.perf_counter()
        rank_roles(index, text)
        times.append((time.perf_counter() - start) * 1e3)
    gc.enable()
    return {"roles": size, "median": median(times), "p99": quantiles(times, n=100)[98]}


def render(found: Sequence[Quality]) -> str:
    """The table of the documentation."""
    lines = [
        "| organization | sentences | first | among three | right | wrong | nobody's, with a role |",
        "|---|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {each.organization}, {each.part.replace('_', ' ')} | {each.sentences} | {each.first:.0%} | {each.among_three:.0%} "
        f"| {each.right:.0%} | {each.wrong:.0%} | {each.false:.1%} |"
        for each in found
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    print(render(list(quality())))
    print(latency())
