"""The hook of file owners, started as its script starts it: calls as JSON in lines, answers in lines. `null` stands for a call that the
full program has to decide.

It is run by its path, with `python -I -S`, with the folders of the package and of the project.
"""

import os
import sys


def main(package: str, root: str) -> None:
    """Answer the calls on standard input."""
    for name in ("orgkernel", "orgkernel.project", "orgkernel.project.hooks"):
        module = sys.modules[name] = type(sys)(name)
        module.__path__ = [os.path.join(package, *name.split(".")[1:])]
    from orgkernel.project.hooks import quick_answers

    os.environ["CLAUDE_PROJECT_DIR"] = root
    # Time stands still: a slow machine must not make the rules expire.
    now = quick_answers.time.time()
    quick_answers.time = type("_Clock", (), {"time": staticmethod(lambda: now)})
    for line in sys.stdin.buffer:
        answer = quick_answers.answer_quickly(line, package)
        text = "null" if answer is None else quick_answers.json_reader.quote(answer)
        sys.stdout.write(text + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
