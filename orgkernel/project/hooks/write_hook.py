"""The script that a coding agent runs before each write and each command. It passes clearly allowed writes, and commands that clearly
only read, at once, and asks orgkernel about the rest.

It uses the standard library only and is run by its path, because importing orgkernel takes longer than everything here. When
orgkernel is asked, `orgkernel.project.hooks.owned_files` writes the clearly allowed files down for a short time.
"""

import json
import os
import re
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

OWNED_FILES = os.path.join(".orgkernel", "owned-files.json")
VARIABLES = ("ORGKERNEL_BRIEF", "ORGKERNEL_HOLDER", "ORGKERNEL_SESSION", "ORGKERNEL_STORE")
PLAIN = r"(?:[A-Za-z0-9_.-]*[A-Za-z0-9_-]/)*[A-Za-z0-9_.-]*[A-Za-z0-9_-]"


READING_PROGRAMS = "reading_programs.json"
LONGEST = 2_000
# Redirections that write no file.
SILENCED = r"(?:[0-9&]?>>?[ \t]*/dev/null|[0-9]?>&[0-9])(?![^\s;|&])"


def is_surely_allowed(path: str, root: str) -> bool:
    """Whether a path is an owned, plain file that is neither sacred nor claimed by another worker."""
    if not path.startswith(root + "/") or os.path.realpath(path) != path or os.path.realpath(root) != root:
        return False
    relative = path[len(root) + 1 :]
    owned_files = read_current(root)
    return (
        owned_files is not None
        and re.fullmatch(PLAIN, relative) is not None
        and any(re.fullmatch(each, relative) for each in owned_files["owned"])
        and not any(re.fullmatch(each, relative.lower()) for each in owned_files["held"])
    )


def read_current(root: str) -> "dict[str, Any] | None":
    """The owned files, if nothing that they depend on has changed."""
    with open(os.path.join(root, OWNED_FILES), encoding="utf-8") as file:
        owned_files: dict[str, Any] = json.load(file)
    is_current = (
        owned_files["python"] == sys.executable
        and time.time() < owned_files["until"]
        and owned_files["said"] == [os.environ.get(name) for name in VARIABLES]
        and all(stamp(each) == written for each, written in owned_files["files"].items())
    )
    return owned_files if is_current else None


def does_surely_read(command: str, root: str) -> bool:
    """Whether every program in a command only reads, as far as the command catalog knows."""
    if len(command) > LONGEST or read_current(root) is None:
        return False
    text = re.sub(SILENCED, " ", command)
    if ">" in text or "\\" in text:
        return False
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(here))))
    from orgkernel.project.hooks.claude_hook.prefixes import does_write
    from orgkernel.runtime.commands import read_words

    commands = read_words(text)
    if not commands:
        return False
    with open(os.path.join(here, READING_PROGRAMS), encoding="utf-8") as file:
        programs = {name: row["writing"] for row in json.load(file) for name in row["names"]}
    for each in commands:
        words = list(each.words)
        if any("\0" in word for word in words):
            return False
        name = " ".join(words[:2])
        number = 2 if name in programs else 1
        writing = programs.get(name, programs.get(words[0]))
        # The words are folded, so a letter counts in either case.
        if writing is None or does_write(
            words[number:], {**writing, "letters": writing["letters"].casefold()}
        ):
            return False
    return True


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
        if call["tool_name"] == "Bash" and does_surely_read(call["tool_input"]["command"], root):
            return 0
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
