"""A naive interpreter of bills: tokens on ways, moved until nothing moves. It shares no code with the engine.

It knows neither agents nor access: every agent may do everything. Conditions are pairs of an output and the wanted truth.
"""

from __future__ import annotations

from typing import Any

Step = dict[str, Any]
"""`id`, `gateway`, `ways` (target, condition), `condition`, and nothing else."""


def truth(condition: tuple[str, bool] | None, outputs: dict[str, bool]) -> bool | None:
    """Whether a condition holds; None where its output is not known."""
    if condition is None:
        return True
    step, wanted = condition
    return outputs[step] == wanted if step in outputs else None


def interpret(steps: list[Step], reports: dict[str, bool | None]) -> dict[str, set[str]]:
    """The status of each step. `reports` has the steps that are reported as completed, with their one output or None."""
    marks: dict[tuple[str, int], str] = {}
    status: dict[str, str] = {}
    outputs: dict[str, bool] = {}
    into: dict[str, list[tuple[str, int]]] = {step["id"]: [] for step in steps}
    for step in steps:
        for number, (target, _) in enumerate(step["ways"]):
            into[target].append((step["id"], number))
    moved = True
    while moved:
        moved = False
        for position, step in enumerate(steps):
            name = step["id"]
            if name in status:
                continue
            arrived = [marks.get(way) for way in into[name]]
            if None in arrived:
                continue
            # What nothing leads to is passed by, like what no token comes to.
            if (arrived or position > 0) and "token" not in arrived:
                status[name] = "skipped"
                put(marks, step, ["none"] * len(step["ways"]))
                moved = True
                continue
            holds = truth(step["condition"], outputs)
            if holds is None:
                continue
            if holds and name not in reports:
                continue
            status[name] = "completed" if holds else "skipped"
            said = reports.get(name) if holds else None
            if said is not None:
                outputs[name] = said
            put(marks, step, choose(step, outputs))
            moved = True
    ready = {
        step["id"]
        for position, step in enumerate(steps)
        if step["id"] not in status
        and is_reached(step, into, marks, position)
        and truth(step["condition"], outputs)
    }
    return {
        "completed": {name for name, each in status.items() if each == "completed"},
        "skipped": {name for name, each in status.items() if each == "skipped"},
        "may_start": ready,
    }


def is_reached(
    step: Step, into: dict[str, list[tuple[str, int]]], marks: dict[tuple[str, int], str], position: int
) -> bool:
    """Whether every way to a step is marked, and one of them with a token."""
    arrived = [marks.get(way) for way in into[step["id"]]]
    return position == 0 if not arrived else None not in arrived and "token" in arrived


def put(marks: dict[tuple[str, int], str], step: Step, chosen: list[str | None]) -> None:
    """Mark the ways from a step; one that is not known yet stays without a mark."""
    for number, mark in enumerate(chosen):
        if mark is not None:
            marks[step["id"], number] = mark


def choose(step: Step, outputs: dict[str, bool]) -> list[str | None]:
    """What is put on each way from a step that is done."""
    ways = step["ways"]
    if step["gateway"] in ("sequential", "parallel"):
        return ["token"] * len(ways)
    truths = [truth(condition, outputs) for _, condition in ways[:-1]]
    if step["gateway"] == "xor":
        chosen: list[str | None] = []
        for each in truths:
            if each is None:
                return chosen + [None] * (len(ways) - len(chosen))
            if each:
                return [*chosen, "token", *["none"] * (len(ways) - len(chosen) - 1)]
            chosen.append("none")
        return [*chosen, "token"]
    last = "none" if True in truths else None if None in truths else "token"
    return [*("token" if each else None if each is None else "none" for each in truths), last]
