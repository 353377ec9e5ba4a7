"""The checkers of other ecosystems, each in an environment of its own that the Makefile makes."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.support.patience import PATIENCE
from tests.support.trees import REPOSITORY

INTEROP = REPOSITORY / ".venv" / "interop" / "bin" / "python"
_SCRIPT = Path(__file__).with_name("a2a_sdk.py")


class Rejected(Exception):
    """What a checker says is wrong."""


class Checker:
    """A process that answers questions."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def ask(self, ask: str, **question: Any) -> str:
        """The answer. Raises `Rejected`."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"ask": ask, **question}) + "\n")
        self._process.stdin.flush()
        said = json.loads(self._process.stdout.readline())
        if "error" in said:
            raise Rejected(said["error"])
        return str(said["answer"])


@contextmanager
def a2a_sdk() -> Iterator[Checker]:
    """A2A's SDK."""
    if not INTEROP.exists():
        pytest.skip("the checkers of other ecosystems are not installed: run `make .venv/interop.stamp`")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    process = subprocess.Popen(
        [str(INTEROP), str(_SCRIPT)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    )  # fmt: skip
    try:
        yield Checker(process)
    finally:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.close()
        process.wait(PATIENCE)
        process.stdout.close()
