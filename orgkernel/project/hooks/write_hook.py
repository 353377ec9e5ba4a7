"""The script that a coding agent runs before each write and each command.

It is run by its path, without installed packages, and the orgkernel package is not initialized, because that takes longer than most
answers. What `quick_answers` cannot decide, the full program decides.
"""

import gc
import os
import sys

gc.disable()
_PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))


def start() -> int:
    """Check the call on standard input. Exit code 0: passed, or answered on stdout; 2: blocked."""
    for name in ("orgkernel", "orgkernel.project", "orgkernel.project.hooks"):
        package = sys.modules[name] = type(sys)(name)
        package.__path__ = [os.path.join(_PACKAGE, *name.split(".")[1:])]
    from orgkernel.project.hooks.deadline import SECONDS, Deadline, OutOfTime

    try:
        with Deadline():
            return _answer()
    except OutOfTime:
        sys.stderr.write(
            f"orgkernel: the call is refused, because to decide it takes more than {SECONDS} seconds\n"
        )
        return 2


def _answer() -> int:
    from orgkernel.project.hooks.quick_answers import FULL_PROGRAM, answer_quickly

    given = sys.stdin.buffer.read()
    answer = answer_quickly(given, _PACKAGE)
    if answer is not None:
        sys.stdout.write(answer)
        sys.stdout.flush()
        os._exit(0)  # to take the modules apart again would take longer than most answers
    import subprocess

    done = subprocess.run(
        [sys.executable, *FULL_PROGRAM, "ownership", "hook", "claude-code"], input=given, check=False
    )
    return 0 if done.returncode == 0 else 2


if __name__ == "__main__":
    sys.exit(start())
