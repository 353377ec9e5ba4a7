"""Answers each line of its input, the path of a folder, with a line of JSON: what the loader of a framework makes of it."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

Agents = dict[str, dict[str, Any]]
"""By the name of each agent: its tools, its model, and the agents to which it may hand work."""


def serve(load: Callable[[Path], Agents]) -> None:
    """Answer until the input ends. What a framework prints goes to standard error."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    for line in sys.stdin:
        try:
            answer: dict[str, Any] = {"agents": load(Path(json.loads(line)))}
        except Exception as error:
            answer = {"refusal": f"{type(error).__name__}: {error}"}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()
