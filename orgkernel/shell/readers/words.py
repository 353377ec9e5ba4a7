"""Readers of single words, which the command catalog names by their roles: a script, a task, a path that is deleted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from orgkernel.shell.marks import UNKNOWN
from orgkernel.shell.reader import Program, ProgramCall
from orgkernel.shell.readers.files import delete_file, delete_tree
from orgkernel.shell.readers.wrappers import judge_task, run_file


def _run_script(call: ProgramCall) -> str | None:
    return run_file(call, call.args[0], call.args[1:])


def _run_task(call: ProgramCall) -> str | None:
    judge_task(call, call.args[0])
    return UNKNOWN


def _delete_file(call: ProgramCall) -> None:
    delete_file(call, call.args[0])


def _delete_tree(call: ProgramCall) -> None:
    delete_tree(call, call.args[0])


def _run_after_dashes(call: ProgramCall) -> str | None:
    texts = [word.text for word in call.args]
    return call.run(call.args[texts.index("--") + 1 :]) if "--" in texts else UNKNOWN


READERS: Final[Mapping[str, Program]] = {
    "run_script": _run_script,
    "run_task": _run_task,
    "delete_file": _delete_file,
    "delete_tree": _delete_tree,
    "after_dashes": _run_after_dashes,
}
