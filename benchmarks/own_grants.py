"""What a subject's own stored grants and restrictions cost, beside the same questions without any, in turns."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.decisions import ORG, open_governed
from benchmarks.governed import TOOLS
from orgkernel.decisions.access.decide import decide_access
from orgkernel.decisions.access.explain import explain_access
from orgkernel.decisions.access.listing import what_can
from orgkernel.decisions.access.request import AccessContext, AccessRequest
from orgkernel.decisions.evidence.state_view import EMPTY_STATE, Grant, Restriction, StateView
from orgkernel.kernel.kernel import Kernel
from orgkernel.manifest.role import build_role_manifest

GRANTS = 5_000
_ROLE, _SUBJECT = "role_9", "role:role_9"
_OWN, _OTHER = "tool:tool_63", "tool:tool_15"
"""A tool that the role has, and one that it does not have."""
_HERE = AccessContext(now=1_000.0)
_LONGEST, _MOST = 0.5, 2_000
Questions = dict[str, Callable[[StateView], object]]


def _states() -> dict[str, StateView]:
    """Five thousand active rows, of different kinds."""
    numbers = range(GRANTS)

    def granted(resource: Callable[[int], str], **more: Callable[[int], Any]) -> StateView:
        rows = (
            Grant(
                f"g{number:05}",
                _SUBJECT,
                (resource(number),),
                **{"level": "read"} | {name: of(number) for name, of in more.items()},
            )
            for number in numbers
        )
        return StateView(1, grants={_SUBJECT: tuple(rows)})

    def restricted(resource: Callable[[int], str]) -> StateView:
        rows = (Restriction(f"x{number:05}", _SUBJECT, (resource(number),), "read") for number in numbers)
        return StateView(1, restrictions={_SUBJECT: tuple(rows)})

    def one(number: int) -> str:
        return _OTHER

    return {
        "many_tools": granted(lambda number: f"tool:tool_{number % TOOLS}"),
        "one_tool": granted(one, level=lambda number: ("observe", "read", "full")[number % 3]),
        "ends": granted(one, expires_at=lambda number: 2_000.0 + number),
        "waivers": granted(one, waives=lambda number: (("rank",), ("visibility",), ("rank", "qualification"))[number % 3]),
        "all_tools": granted(lambda number: "tool:*"),
        "paths": granted(lambda number: f"{_OTHER}:src/part_{number}/**"),
        "sessions": granted(one, session=lambda number: f"s{number}"),
        "restrictions": restricted(lambda number: f"tool:tool_{number % TOOLS}"),
        "restricted_paths": restricted(lambda number: f"{_OTHER}:src/part_{number}/**"),
    }  # fmt: skip


def _questions(kernel: Kernel) -> Questions:
    view = kernel.organization(ORG).snapshot.index

    def asked(action: str, resource: str) -> AccessRequest:
        return AccessRequest(_SUBJECT, action, resource, _HERE)

    own, other = asked("look", _OWN), asked("look", _OTHER)
    part, most = asked("look", f"{_OTHER}:src/part_7/a.py"), asked("own", _OTHER)
    every = asked("", "")
    return {
        "own": lambda state: decide_access(view, own, state),
        "check": lambda state: decide_access(view, other, state),
        "part": lambda state: decide_access(view, part, state),
        "list": lambda state: what_can(view, _SUBJECT, request=every, state=state),
        "manifest": lambda state: build_role_manifest(view, _ROLE, (), state, _HERE),
        "explain": lambda state: explain_access(view, most, state),
    }


def own_grants(folder: Path) -> dict[str, Any]:
    """Microseconds by what is stored and what is asked; beside each the same question without, asked in turns.

    A list and a manifest are divided by the number of tools that they name.
    """
    questions = _questions(open_governed(folder))
    return {
        name: {question: _in_turns(ask, state) for question, ask in questions.items()}
        for name, state in _states().items()
    }


def _in_turns(ask: Callable[[StateView], Any], state: StateView) -> dict[str, float]:
    first, plain = ask(state), ask(EMPTY_STATE)
    gc.collect()
    gc.disable()
    clock = time.perf_counter
    times: dict[bool, list[float]] = {True: [], False: []}
    end = clock() + _LONGEST
    while clock() < end and len(times[True]) < _MOST:
        for stored in (False, True):
            start = clock()
            ask(state if stored else EMPTY_STATE)
            times[stored].append(clock() - start)
    gc.enable()
    return {
        "stored": median(times[True]) * 1e6 / _size(first),
        "without": median(times[False]) * 1e6 / _size(plain),
    }


def _size(answer: Any) -> int:
    tools = getattr(answer, "tools", answer if isinstance(answer, tuple) else ())
    return max(len(tools), 1)
