"""The script that git runs before a commit (`pre-commit`) and with its message (`commit-msg`).

It is run by its path, without installed packages, and the orgkernel package is not initialized, because that takes longer than most
answers. What `quick_commits` does not surely allow, the full program decides and explains.
"""

import gc
import os
import sys

gc.disable()
_PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))


def start() -> None:
    """Check the commit, and end the process. Exit codes: 0 passed, 1 refused."""
    for name in ("orgkernel", "orgkernel.project", "orgkernel.project.hooks"):
        package = sys.modules[name] = type(sys)(name)
        package.__path__ = [os.path.join(_PACKAGE, *name.split(".")[1:])]
    from orgkernel.project.hooks.quick_answers import FULL_PROGRAM
    from orgkernel.project.hooks.quick_commits import is_allowed

    hook, *arguments = sys.argv[1:]
    if is_allowed(hook, arguments, _PACKAGE):
        os._exit(0)  # to take the modules apart again would take longer than most answers
    words = [sys.executable, *FULL_PROGRAM, "ownership", "hook", hook, "--", *arguments]
    os.execv(sys.executable, words)


if __name__ == "__main__":
    start()
