"""The script in the settings of Claude Code: `run.py EVENT ON_ERROR`.

It starts without installed packages. The orgkernel package is not initialized, because that takes longer than
everything here.
"""

import os
import sys

_PACKAGE = os.path.realpath(os.path.join(os.path.realpath(__file__), *[os.pardir] * 4))


def start() -> int:
    """Answer the event on standard input, and return the exit code."""
    package = type(sys)("orgkernel")
    package.__path__ = [_PACKAGE]
    sys.modules["orgkernel"] = package
    from orgkernel.project.hooks.claude_hook import secret_reads
    from orgkernel.project.hooks.claude_hook.answering import main

    secret_reads.prepare = _install_stand_ins
    return main(sys.argv[1:])


def _install_stand_ins() -> None:
    from orgkernel.project.hooks.engine.stand_ins import install

    install(_PACKAGE)


if __name__ == "__main__":
    sys.exit(start())
