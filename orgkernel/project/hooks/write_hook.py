"""The script that a coding agent runs before each write. It passes clearly allowed writes at once, and asks orgkernel about the rest.

It uses the standard library only and is run by its path, because importing orgkernel takes longer than everything here. When
orgkernel is asked, `orgkernel.project.hooks.owned_files` writes the clearly allowed files down for a short time.
"""

import json
import os
import re
import sys
import time

OWNED_FILES = os.path.join(".orgkernel", "owned-files.json")
VARIABLES = ("ORGKERNEL_BRIEF", "ORGKERNEL_HOLDER", "ORGKERNEL_SESSION", "ORGKERNEL_STORE")
PLAIN = r"(?:[A-Za-z0-9_.-]*[A-Za-z0-9_-]/)*[A-Za-z0-9_.-]*[A-Za-z0-9_-]"


def is_surely_allowed(path: str, root: str) -> bool:
    """Whether a path is an owned, plain file that is neither sacred nor claimed by another worker."""
    if not path.startswith(root + "/") or os.path.realpath(path) != path or os.path.realpath(root) != root:
        return False
    relative = path[len(root) + 1 :]
    with open(os.path.join(root, OWNED_FILES), encoding="utf-8") as file:
        owned_files = json.load(file)
    return (
        re.fullmatch(PLAIN, relative) is not None
        and owned_files["python"] == sys.executable
        and time.time() < owned_files["until"]
        and owned_files["said"] == [os.environ.get(name) for name in VARIABLES]
        and all(stamp(each) == written for each, written in owned_files["files"].items())
        and any(re.fullmatch(each, relative) for each in owned_files["owned"])
        and not any(re.fullmatch(each, relative.lower()) for each in owned_files["held"])
    )


def stamp(path: str) -> list[int] | None:
    """The values of a file that change with its content; None if it does not exist."""
    try:
        state = os.stat(path)
    except OSError:
        return None
    return [state.st_mtime_ns, state.st_size, state.st_ino]


def main() -> int:
    """Check the call on standard input. Exit code 0: passed, or answered on stdout; 2: blocked."""
    given = sys.stdin.buffer.read()
    try:
        call = json.loads(given)
        root = os.environ.get("CLAUDE_PROJECT_DIR") or call["cwd"]
        is_of_one_file = call["tool_name"] in ("Write", "Edit", "MultiEdit")
        if is_of_one_file and is_surely_allowed(call["tool_input"]["file_path"], root):
            return 0
    except (AttributeError, KeyError, OSError, RecursionError, TypeError, ValueError, re.error):
        pass  # whatever is strange is asked about
    import subprocess

    ours = "from orgkernel.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-P", "-c", ours, "ownership", "hook", "claude-code"], input=given, check=False
    )
    return 0 if done.returncode == 0 else 2


if __name__ == "__main__":
    sys.exit(main())
